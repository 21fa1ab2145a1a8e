//! Identifiers: a prefix that tells the kind, and 16 letters and digits that cannot be guessed (contract section 5).
//!
//! New ones are in base58, for clients take an identifier with another character for a name. Those made before have all letters and
//! digits, and stay valid.

use gatehouse_ports::{Random, RandomError};
use zeroize::Zeroizing;

/// All letters and digits but `0`, `O`, `I` and `l`.
const ALPHABET: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const RANDOM_CHARACTERS: usize = 16;

/// As many digits of a hash as a number of 128 bits has.
const HASH_DIGITS: usize = 32;

/// So many bytes nearly always have as many characters as an identifier takes, and a host is asked once.
const DRAWN_AT_ONCE: usize = 24;

/// Bytes from here on are drawn again: below it every character is equally likely.
const FAIR_BELOW: u8 = 232;

/// `prefix`, then 16 random letters and digits.
pub fn random_identifier(prefix: &str, random: &impl Random) -> Result<String, RandomError> {
    let mut identifier = String::with_capacity(prefix.len() + RANDOM_CHARACTERS);
    identifier.push_str(prefix);
    random_characters(&mut identifier, RANDOM_CHARACTERS, random)?;
    Ok(identifier)
}

/// The 16 letters and digits that follow from a hash, given in hexadecimal with at least 32 digits.
pub fn characters_of_hash(hash: &str) -> String {
    let digits = hash.get(..HASH_DIGITS).unwrap_or(hash);
    let mut number = u128::from_str_radix(digits, 16).unwrap_or_default();
    let base = ALPHABET.len() as u128;
    let mut characters = String::with_capacity(RANDOM_CHARACTERS);
    // 58^16 is far less than 2^128, so every character is as good as equally likely.
    for _ in 0..RANDOM_CHARACTERS {
        let place = usize::try_from(number % base).unwrap_or_default();
        characters.extend(ALPHABET.get(place).map(|character| char::from(*character)));
        number /= base;
    }
    characters
}

/// Appends `count` random letters and digits of base58 to `text`, each of them equally likely.
pub fn random_characters(
    text: &mut String,
    count: usize,
    random: &impl Random,
) -> Result<(), RandomError> {
    let length = text.len() + count;
    let mut bytes = Zeroizing::new([0; DRAWN_AT_ONCE]);
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

/// True if `text` could have come from [`random_identifier`] with this prefix.
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

/// True if `text` has the form of an identifier of any kind: it is then safe in a key.
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
    use gatehouse_ports::doubles::{NoRandom, SeededRandom};

    #[test]
    fn an_identifier_is_its_prefix_and_sixteen_letters_and_digits() {
        let random = SeededRandom::new(7);
        let first = random_identifier("org-", &random).unwrap();
        let second = random_identifier("org-", &random).unwrap();
        assert!(is_identifier("org-", &first), "{first}");
        assert_ne!(first, second);
    }

    #[test]
    fn contract_5_new_identifiers_are_in_base58() {
        let random = SeededRandom::new(58);
        let mut seen = std::collections::BTreeSet::new();
        for number in 0..200_u32 {
            let hash = format!("{:064x}", u128::MAX / u128::from(number + 1));
            let of_hash = characters_of_hash(&hash[32..]);
            for identifier in [
                random_identifier("team-", &random).unwrap(),
                format!("user-{of_hash}"),
            ] {
                let characters = characters_of(&identifier);
                assert_eq!(characters.len(), 16, "{identifier}");
                assert!(!characters.contains(['0', 'O', 'I', 'l']), "{identifier}");
                assert!(well_formed(&identifier), "{identifier}");
                seen.extend(characters.bytes());
            }
        }
        assert_eq!(seen.len(), 58, "every other letter and digit is used");
    }

    #[test]
    fn contract_5_identifiers_of_before_stay_valid() {
        for old in ["team-0OIl0OIl0OIl0OIl", "team-0123456789abcdef"] {
            assert!(is_identifier("team-", old) && well_formed(old), "{old}");
        }
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
        assert_eq!(random_identifier("org-", &NoRandom), Err(RandomError));
    }
}
