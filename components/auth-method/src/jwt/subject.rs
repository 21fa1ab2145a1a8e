//! The claim `sub`: the account that a token is about.

/// Longest e-mail address of a service account, in bytes.
const MAXIMUM_EMAIL_BYTES: usize = 320;
/// Longest unique id, in digits.
const MAXIMUM_ID_DIGITS: usize = 32;

/// A service account's e-mail address or unique id, of a shape that is safe to ask Google about (contract 4.3, SEC-G5).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Subject(String);

impl Subject {
    /// `None` when `text` has another shape.
    pub(crate) fn new(text: &str) -> Option<Self> {
        (is_unique_id(text) || is_email(text)).then(|| Self(text.to_owned()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// True if it is an address and not an id.
    pub(crate) fn is_email(&self) -> bool {
        self.0.contains('@')
    }
}

fn is_unique_id(text: &str) -> bool {
    (1..=MAXIMUM_ID_DIGITS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_email(text: &str) -> bool {
    let allowed = |part: &str| {
        let plain = |byte: u8| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'.' || byte == b'-'
        };
        !part.is_empty() && part.bytes().all(plain)
    };
    text.len() <= MAXIMUM_EMAIL_BYTES
        && text
            .split_once('@')
            .is_some_and(|(local, domain)| allowed(local) && allowed(domain))
}

#[cfg(test)]
mod tests {
    use super::Subject;

    #[test]
    fn g5_ids_and_plain_addresses_are_subjects() {
        for text in [
            "1",
            "123456789012345678901",
            "dev@p1.iam.gserviceaccount.com",
            "42-compute@developer.gserviceaccount.com",
        ] {
            assert!(Subject::new(text).is_some(), "{text}");
        }
    }

    #[test]
    fn g5_traversal_and_injection_are_no_subjects() {
        let long_id = "1".repeat(33);
        let long_email = format!("{}@b", "a".repeat(319));
        for text in [
            "",
            "@",
            "a@",
            "@b",
            "a@b@c",
            "../../x@y",
            "a@b/..",
            "a@b/keys",
            "a%2fb@c",
            "A@b",
            "a@B",
            "a b@c",
            " a@b",
            "a@b ",
            "a@b\n",
            "a@b\r\nHost: x",
            "a@b?x=1",
            "a@b#x",
            "a@b;x",
            "a@b:443",
            "http://a@b",
            "a\0@b",
            "д@b",
            "a+b@c",
            "a_b@c",
            "-",
            "12a",
            "1.2",
            "+1",
            "１２３",
            &long_id,
            &long_email,
        ] {
            assert!(Subject::new(text).is_none(), "{text:?}");
        }
        assert!(Subject::new(&"1".repeat(32)).is_some());
        assert!(Subject::new(&format!("{}@b", "a".repeat(318))).is_some());
    }
}
