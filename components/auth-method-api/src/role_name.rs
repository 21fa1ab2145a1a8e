//! Names of roles.

/// Longest name of a role, in bytes.
const MAXIMUM_BYTES: usize = 128;

/// A name that a role can have, in lower case (contract 3.1, SEC-G17): word characters, and between the first and the last of them also dots
/// and hyphens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleName(String);

impl RoleName {
    /// `None` when no role can have that name.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let bytes = text.as_bytes();
        let (first, last) = (bytes.first()?, bytes.last()?);
        let inner = |byte: &u8| is_word(byte) || *byte == b'.' || *byte == b'-';
        let fits = bytes.len() <= MAXIMUM_BYTES
            && is_word(first)
            && is_word(last)
            && bytes.iter().all(inner);
        fits.then(|| Self(text.to_ascii_lowercase()))
    }

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::RoleName;

    #[test]
    fn contract_3_1_names() {
        for (given, stored) in [
            ("dev", "dev"),
            ("Dev-1.x_Y", "dev-1.x_y"),
            ("_", "_"),
            ("7", "7"),
        ] {
            assert_eq!(RoleName::new(given).unwrap().as_str(), stored);
        }
        let long = "a".repeat(129);
        for bad in [
            "", "-a", "a-", ".a", "a.", "a b", "a/b", "ä", "a\0", "../x", &long,
        ] {
            assert_eq!(RoleName::new(bad), None, "{bad}");
        }
        assert!(RoleName::new(&"a".repeat(128)).is_some());
    }
}
