//! Identifiers: a prefix that tells the kind, and 16 letters and digits that nobody can guess (contract section 5).

use gatehouse_ports::{Random, RandomError};
use zeroize::Zeroizing;

const ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const RANDOM_CHARACTERS: usize = 16;

/// Bytes from here on are drawn again: below it every character is equally likely.
const FAIR_BELOW: u8 = 248;

/// `prefix`, then 16 random letters and digits.
pub fn random_identifier(prefix: &str, random: &impl Random) -> Result<String, RandomError> {
    let mut identifier = String::with_capacity(prefix.len() + RANDOM_CHARACTERS);
    identifier.push_str(prefix);
    random_characters(&mut identifier, RANDOM_CHARACTERS, random)?;
    Ok(identifier)
}

/// Appends `count` random letters and digits to `text`, each of them equally likely.
pub fn random_characters(
    text: &mut String,
    count: usize,
    random: &impl Random,
) -> Result<(), RandomError> {
    let length = text.len() + count;
    let mut bytes = Zeroizing::new([0; RANDOM_CHARACTERS]);
    while text.len() < length {
        random.fill(bytes.as_mut_slice())?;
        let characters = bytes
            .iter()
            .filter(|byte| **byte < FAIR_BELOW)
            .filter_map(|byte| ALPHABET.get(usize::from(*byte) % ALPHABET.len()))
            .map(|character| char::from(*character));
        text.extend(characters.take(length - text.len()));
    }
    Ok(())
}

/// Whether `text` could have come from [`random_identifier`] with this prefix.
pub fn is_identifier(prefix: &str, text: &str) -> bool {
    text.strip_prefix(prefix).is_some_and(|characters| {
        characters.len() == RANDOM_CHARACTERS
            && characters.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// The letters and digits of an identifier, without what tells the kind.
pub fn characters_of(identifier: &str) -> &str {
    identifier
        .rsplit_once('-')
        .map_or(identifier, |(_, characters)| characters)
}

/// Whether `text` has the form of an identifier, whatever of: it is then safe in a key.
pub fn well_formed(text: &str) -> bool {
    text.rsplit_once('-').is_some_and(|(kind, characters)| {
        !kind.is_empty()
            && kind.bytes().all(|byte| byte.is_ascii_lowercase())
            && is_identifier("", characters)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_ports::doubles::SeededRandom;

    #[test]
    fn an_identifier_is_its_prefix_and_sixteen_letters_and_digits() {
        let random = SeededRandom::new(7);
        let first = random_identifier("org-", &random).unwrap();
        let second = random_identifier("org-", &random).unwrap();
        assert!(is_identifier("org-", &first), "{first}");
        assert_ne!(first, second);
    }

    #[test]
    fn what_is_no_identifier_is_told_apart() {
        for text in [
            "",
            "org-",
            "org-123",
            "prj-Zk3nQ8vT1pYw6RbC",
            "org-Zk3nQ8vT1pYw6Rb/",
        ] {
            assert!(!is_identifier("org-", text), "{text}");
        }
    }

    #[test]
    fn a_source_that_fails_makes_no_identifier() {
        struct Broken;
        impl Random for Broken {
            fn fill(&self, _: &mut [u8]) -> Result<(), RandomError> {
                Err(RandomError)
            }
        }
        assert_eq!(random_identifier("org-", &Broken), Err(RandomError));
    }
}
