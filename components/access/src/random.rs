//! Identifiers that cannot be guessed or repeated.

use gatehouse_ports::{Random, RandomError};
use zeroize::Zeroizing;

use crate::api::{ClientToken, ROOT_TOKEN_CHARACTERS};

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The beginning of every generated service token.
pub(crate) const SERVICE_TOKEN_PREFIX: &str = "hvs.";
/// The beginning of every batch token, and of no other.
pub(crate) const BATCH_TOKEN_PREFIX: &str = "hvb.";

/// Characters of 62 kinds that carry 256 random bits (SEC-T1).
const TOKEN_CHARACTERS: usize = ROOT_TOKEN_CHARACTERS - SERVICE_TOKEN_PREFIX.len();
const ACCESSOR_CHARACTERS: usize = 24;

/// A new service token.
pub(crate) fn client_token(random: &impl Random) -> Result<ClientToken, RandomError> {
    let mut text = String::with_capacity(SERVICE_TOKEN_PREFIX.len() + TOKEN_CHARACTERS);
    text.push_str(SERVICE_TOKEN_PREFIX);
    push_base62(random, &mut text, TOKEN_CHARACTERS)?;
    Ok(ClientToken::new(text))
}

/// A new accessor, independent of its token.
pub(crate) fn accessor(random: &impl Random) -> Result<String, RandomError> {
    let mut text = String::with_capacity(ACCESSOR_CHARACTERS);
    push_base62(random, &mut text, ACCESSOR_CHARACTERS)?;
    Ok(text)
}

/// The accessor that `digest` stands for: of what looks random, it looks like one of [`accessor`].
pub(crate) fn accessor_from(digest: &[u8; 32]) -> String {
    let (words, _) = digest.as_chunks::<8>();
    let mut text = String::with_capacity(ACCESSOR_CHARACTERS);
    for word in words {
        // Of 64 bits the characters take 36, so one is more likely than another by a few parts in a thousand million.
        let mut rest = u64::from_be_bytes(*word);
        for _ in 0..ACCESSOR_CHARACTERS / words.len() {
            let character = BASE62.get((rest % 62) as usize);
            text.extend(character.copied().map(char::from));
            rest /= 62;
        }
    }
    text
}

/// Characters of what [`uuid`] gives.
pub(crate) const UUID_LENGTH: usize = 36;

/// A new random UUID.
pub(crate) fn uuid(random: &impl Random) -> Result<String, RandomError> {
    let mut bytes = [0; 16];
    random.fill(&mut bytes)?;
    Ok(uuid::Builder::from_random_bytes(bytes)
        .into_uuid()
        .to_string())
}

/// Eight hexadecimal digits, for names that only have to differ.
pub(crate) fn eight_digits(random: &impl Random) -> Result<String, RandomError> {
    let mut bytes = [0; 4];
    random.fill(&mut bytes)?;
    Ok(base16ct::lower::encode_string(&bytes))
}

/// Appends `count` characters, each of the 62 with the same probability.
fn push_base62(random: &impl Random, text: &mut String, count: usize) -> Result<(), RandomError> {
    let mut bytes = Zeroizing::new([0_u8; 64]);
    let mut missing = count;
    while missing > 0 {
        random.fill(bytes.as_mut_slice())?;
        // Bytes from 248 on are skipped: 248 is the largest multiple of 62, so the others are spread evenly.
        let characters = bytes
            .iter()
            .filter(|byte| **byte < 248)
            .filter_map(|byte| BASE62.get(usize::from(byte % 62)));
        for character in characters.take(missing) {
            text.push(char::from(*character));
            missing -= 1;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_ports::doubles::SeededRandom;
    use std::collections::BTreeSet;

    #[test]
    fn t1_tokens_have_their_prefix_and_length_and_do_not_repeat() {
        let random = SeededRandom::new(1);
        let mut seen = BTreeSet::new();
        for _ in 0..100_000 {
            let token = client_token(&random).unwrap();
            let body = token.expose().strip_prefix("hvs.").unwrap();
            assert_eq!(body.len(), 43);
            assert!(body.bytes().all(|byte| byte.is_ascii_alphanumeric()));
            assert_eq!(token.expose().len(), ROOT_TOKEN_CHARACTERS);
            assert!(seen.insert(token.expose().to_owned()));
        }
    }

    #[test]
    fn t1_a_token_takes_256_bits_and_the_accessor_of_a_chosen_one_takes_its_own() {
        // 62 kinds of characters, each as likely as the others.
        assert!((62_f64).log2() * TOKEN_CHARACTERS as f64 >= 256.0);
        let random = SeededRandom::new(4);
        let token = client_token(&random).unwrap();
        let accessor = accessor(&random).unwrap();
        for part in accessor.as_bytes().windows(6) {
            let part = std::str::from_utf8(part).unwrap();
            assert!(!token.expose().contains(part));
        }
    }

    #[test]
    fn accessors_have_24_characters_wherever_they_come_from() {
        let random = SeededRandom::new(2);
        assert_eq!(accessor(&random).unwrap().len(), 24);
        let mut kinds = BTreeSet::new();
        for _ in 0..500 {
            let mut digest = [0; 32];
            random.fill(&mut digest).unwrap();
            let accessor = accessor_from(&digest);
            assert_eq!(accessor.len(), 24);
            kinds.extend(accessor.chars());
        }
        assert_eq!(kinds.len(), 62);
        assert_eq!(accessor_from(&[0; 32]), "0".repeat(24));
    }

    #[test]
    fn every_character_appears() {
        let random = SeededRandom::new(3);
        let mut text = String::new();
        push_base62(&random, &mut text, 6200).unwrap();
        let kinds: BTreeSet<char> = text.chars().collect();
        assert_eq!(kinds.len(), 62);
    }
}
