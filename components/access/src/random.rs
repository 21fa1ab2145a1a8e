//! Identifiers that cannot be guessed or repeated.

use gatehouse_ports::{Random, RandomError};
use zeroize::Zeroizing;

use crate::api::{BASE62, ClientToken, ROOT_TOKEN_CHARACTERS, SERVICE_TOKEN_PREFIX};

/// Characters of 62 kinds that carry 256 random bits (SEC-T1).
const TOKEN_CHARACTERS: usize =
    ROOT_TOKEN_CHARACTERS - SERVICE_TOKEN_PREFIX.len() - MOMENT_CHARACTERS;
/// Characters of an accessor that is independent of its token.
const ACCESSOR_CHARACTERS: usize = 24;
/// Characters of an accessor that is derived from its token: the time the token was made, then a part of its hash. The length tells the two
/// kinds of accessors apart.
const GENERATED_ACCESSOR_CHARACTERS: usize = MOMENT_CHARACTERS + 18;
/// 64-bit words of a hash that go into an accessor.
const WORDS: usize = 3;
/// Characters of a moment: milliseconds since 1970 in base 62, the highest digit first.
const MOMENT_CHARACTERS: usize = 8;

/// A new service token, which is made at `now`, in milliseconds since 1970.
///
/// The time comes first, so that records of tokens that are made together lie together in the store, which then writes far fewer
/// pages (docs/performance.md). It is not a secret, since a lookup tells it.
pub(crate) fn client_token(random: &impl Random, now: u64) -> Result<ClientToken, RandomError> {
    let mut text = String::with_capacity(ROOT_TOKEN_CHARACTERS);
    text.push_str(SERVICE_TOKEN_PREFIX);
    push_moment(&mut text, now);
    push_base62(random, &mut text, TOKEN_CHARACTERS)?;
    Ok(ClientToken::new(text))
}

fn push_moment(text: &mut String, moment: u64) {
    for place in (0..MOMENT_CHARACTERS as u32).rev() {
        let digit = (moment / 62_u64.pow(place)) % 62;
        let character = BASE62.get(digit as usize);
        text.extend(character.copied().map(char::from));
    }
}

/// The characters of the moment that a `text` of this many letters and digits begins with; `None` for every other text.
fn moment_characters(text: &str, count: usize) -> Option<&str> {
    let has_form = text.len() == count && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    text.get(..MOMENT_CHARACTERS).filter(|_| has_form)
}

/// The characters of the moment in a text of exactly the form that [`client_token`] gives; `None` for every other text. The form alone
/// decides under which key a token's record is stored, so only one key is read for it.
pub(crate) fn moment_characters_of_token(text: &str) -> Option<&str> {
    let rest = text.strip_prefix(SERVICE_TOKEN_PREFIX)?;
    moment_characters(rest, MOMENT_CHARACTERS + TOKEN_CHARACTERS)
}

/// The time at which the token of this accessor was made, if the accessor is derived from its token.
pub(crate) fn moment_of(accessor: &str) -> Option<u64> {
    let value = |character| BASE62.binary_search(&character).unwrap_or_default() as u64;
    let characters = moment_characters(accessor, GENERATED_ACCESSOR_CHARACTERS)?;
    Some(
        characters
            .bytes()
            .fold(0, |moment, character| moment * 62 + value(character)),
    )
}

/// A new accessor, independent of its token.
pub(crate) fn accessor(random: &impl Random) -> Result<String, RandomError> {
    let mut text = String::with_capacity(ACCESSOR_CHARACTERS);
    push_base62(random, &mut text, ACCESSOR_CHARACTERS)?;
    Ok(text)
}

/// The accessor of the token with this hash and this moment, which [`moment_characters_of_token`] gave.
pub(crate) fn accessor_from(moment: &str, digest: &[u8; 32]) -> String {
    let mut text = String::with_capacity(GENERATED_ACCESSOR_CHARACTERS);
    text.push_str(moment);
    let (words, _) = digest.as_chunks::<8>();
    for word in words.iter().take(WORDS) {
        // The characters take 36 of 64 bits, so some are more likely than others by a few parts in a thousand million.
        let mut rest = u64::from_be_bytes(*word);
        for _ in 0..(GENERATED_ACCESSOR_CHARACTERS - MOMENT_CHARACTERS) / WORDS {
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
            let token = client_token(&random, 1_764_000_000_000).unwrap();
            let body = token.expose().strip_prefix("hvs.").unwrap();
            assert_eq!(body.len(), 8 + 43);
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
        let token = client_token(&random, 0).unwrap();
        let accessor = accessor(&random).unwrap();
        for part in accessor.as_bytes().windows(6) {
            let part = std::str::from_utf8(part).unwrap();
            assert!(!token.expose().contains(part));
        }
    }

    #[test]
    fn accessors_tell_by_their_length_whether_they_follow_from_their_token() {
        let random = SeededRandom::new(2);
        let independent = accessor(&random).unwrap();
        assert_eq!((independent.len(), moment_of(&independent)), (24, None));
        let mut kinds = BTreeSet::new();
        for _ in 0..500 {
            let mut digest = [0; 32];
            random.fill(&mut digest).unwrap();
            let accessor = accessor_from("00001234", &digest);
            assert_eq!(accessor.len(), 26);
            kinds.extend(accessor.chars().skip(8));
        }
        assert_eq!(kinds.len(), 62);
        assert_eq!(accessor_from("00000000", &[0; 32]), "0".repeat(26));
    }

    #[test]
    fn the_accessor_of_a_token_tells_when_it_was_made_in_an_order_that_is_that_of_time() {
        let random = SeededRandom::new(5);
        let mut last = String::new();
        for now in [
            0,
            1,
            61,
            62,
            1_764_000_000_000,
            1_764_000_000_001,
            62_u64.pow(8) - 1,
        ] {
            let token = client_token(&random, now).unwrap();
            let moment = moment_characters_of_token(token.expose()).unwrap();
            let accessor = accessor_from(moment, &[7; 32]);
            assert_eq!(moment_of(&accessor), Some(now));
            assert!(last < accessor);
            last = accessor;
        }
    }

    #[test]
    fn only_texts_of_exactly_their_form_pass_for_generated_tokens() {
        let rest = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmno";
        let token = format!("hvs.{rest}");
        assert_eq!(moment_characters_of_token(&token), Some("01234567"));
        for text in [
            "",
            "hvs.",
            "hvs.00001234",
            rest,
            &format!("hvb.{rest}"),
            &format!("HVS.{rest}"),
            &format!("s.{rest}xx"),
            &format!("{token}x"),
            &token[..54],
            &format!("hvs.{}", &rest[..43]),
            &token.replace('8', "-"),
            &token.replace("89", "\u{e9}"),
            &token.replace("01", "\u{e9}"),
        ] {
            assert_eq!(moment_characters_of_token(text), None, "{text}");
        }
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
