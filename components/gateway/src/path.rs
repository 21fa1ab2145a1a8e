//! The only code that decodes and checks a request's path, before routing and before any policy sees it (SEC-A2).
//!
//! Policies and handlers use the same bytes: those of the path decoded once, in which an encoded slash counts as a slash. A path with needless
//! slashes or dots is never served. The client is redirected to the plain spelling if it wrote them in the open, and refused if any part of the path
//! hides them in an encoding.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// The path that unwraps answers.
pub(crate) const UNWRAP_PATH: &str = "sys/wrapping/unwrap";

/// A path that has been decoded once and is unambiguous.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CanonicalPath {
    text: String,
    trailing_slash: bool,
}

/// The reason why a path is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// It does not start with a slash.
    #[error("path must start with '/'")]
    NotAbsolute,
    /// A `%` without two hexadecimal digits after it.
    #[error("path has a '%' that is not followed by two hexadecimal digits")]
    BrokenEncoding,
    /// An encoding of an encoded character, such as `%252F`: a proxy or a client that decodes again would see another path.
    #[error("path must not be encoded twice")]
    EncodedTwice,
    /// A `\`, encoded or not.
    #[error("path must not contain a backslash")]
    Backslash,
    /// The decoded bytes are not UTF-8.
    #[error("path is not UTF-8 once decoded")]
    NotUtf8,
    /// Control characters, including NUL, or invisible characters.
    #[error("path contains non-printable characters")]
    NonPrintable,
    /// Two slashes in a row.
    #[error("path must not contain an empty segment ('//')")]
    EmptySegment,
    /// `.` or `..` as a segment, in any spelling.
    #[error("path must not contain '.' or '..' as a segment")]
    DotSegment,
}

impl CanonicalPath {
    /// Decodes and checks the path of a request target.
    ///
    /// # Errors
    ///
    /// [`PathError`] names the first fault that makes the path ambiguous.
    pub fn parse(raw: &str) -> Result<Self, PathError> {
        let raw = raw.strip_prefix('/').ok_or(PathError::NotAbsolute)?;
        check_encoding(raw)?;
        let decoded = percent_decode_str(raw)
            .decode_utf8()
            .map_err(|_| PathError::NotUtf8)?;
        if decoded.contains('\\') {
            return Err(PathError::Backslash);
        }
        if is_encoded(decoded.as_bytes()) {
            return Err(PathError::EncodedTwice);
        }
        if !decoded.chars().all(is_printable) {
            return Err(PathError::NonPrintable);
        }
        let (text, trailing_slash) = match decoded.strip_suffix('/') {
            Some(text) => (text, true),
            None => (decoded.as_ref(), false),
        };
        if !text.is_empty() || trailing_slash {
            for segment in text.split('/') {
                match segment {
                    "" => return Err(PathError::EmptySegment),
                    "." | ".." => return Err(PathError::DotSegment),
                    _ => {}
                }
            }
        }
        Ok(Self {
            text: text.to_owned(),
            trailing_slash,
        })
    }

    /// The decoded path without its leading slash and its trailing slash, if any; empty for `/`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// True if the path was sent with a slash at its end.
    #[must_use]
    pub const fn has_trailing_slash(&self) -> bool {
        self.trailing_slash
    }

    /// The part of the path after `prefix` and a slash, if the path begins with them. `prefix` has no slashes at its ends.
    #[must_use]
    pub fn below(&self, prefix: &str) -> Option<&str> {
        self.text.strip_prefix(prefix)?.strip_prefix('/')
    }

    /// The decoded path with its trailing slash, if it had one.
    #[must_use]
    pub fn with_trailing_slash(&self) -> Cow<'_, str> {
        if self.trailing_slash {
            Cow::Owned(format!("{}/", self.text))
        } else {
            Cow::Borrowed(&self.text)
        }
    }
}

/// The plain spelling of a path with empty segments or segments of dots: the same path without them, still encoded, if that path can be served
/// (contract 1.1, rule 4). It never leads to another server, since it begins with a single slash.
///
/// # Errors
///
/// [`PathError`] of the path, if dots or slashes are hidden in an encoding, or if the plain spelling cannot be served either.
pub fn plain_spelling(raw: &str) -> Result<String, PathError> {
    let mut kept: Vec<&str> = Vec::new();
    for segment in raw.split('/') {
        if has_encoded_slash(segment) {
            // The needless parts would be known only after decoding, and the plain spelling would then have to be encoded again.
            return CanonicalPath::parse(raw).map(|_| raw.to_owned());
        }
        match segment {
            "" | "." => {}
            ".." => {
                kept.pop();
            }
            segment if is_dots(segment) => {
                return Err(PathError::DotSegment);
            }
            segment => kept.push(segment),
        }
    }
    let mut plain = format!("/{}", kept.join("/"));
    if raw.ends_with('/') && !kept.is_empty() {
        plain.push('/');
    }
    CanonicalPath::parse(&plain).map(|_| plain)
}

fn has_encoded_slash(segment: &str) -> bool {
    segment.contains("%2F") || segment.contains("%2f")
}

/// True if a segment is `.` or `..` once decoded.
fn is_dots(segment: &str) -> bool {
    let decoded: Cow<'_, [u8]> = percent_decode_str(segment).into();
    matches!(decoded.as_ref(), b"." | b"..")
}

fn check_encoding(raw: &str) -> Result<(), PathError> {
    let mut after_percents = raw.split('%').skip(1);
    if after_percents.all(|rest| begins_with_hexadecimal(rest.as_bytes())) {
        Ok(())
    } else {
        Err(PathError::BrokenEncoding)
    }
}

fn is_encoded(decoded: &[u8]) -> bool {
    let mut after_percents = decoded.split(|byte| *byte == b'%').skip(1);
    after_percents.any(begins_with_hexadecimal)
}

fn begins_with_hexadecimal(bytes: &[u8]) -> bool {
    matches!(bytes, [high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
}

/// True for visible characters. Invisible ones would make two different names look the same to an operator.
fn is_printable(character: char) -> bool {
    let invisible = matches!(
        character,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{ffff}'
            | '\u{e000}'..='\u{f8ff}' | '\u{e0000}'..
    );
    let space = character != ' ' && character.is_whitespace();
    !(character.is_control() || invisible || space)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(raw: &str) -> String {
        CanonicalPath::parse(raw).unwrap().text
    }

    #[test]
    fn a2_plain_and_once_encoded_spellings_are_the_same_path() {
        for raw in [
            "/v1/auth/gcp/role/dev",
            "/v1/auth/gcp/role/d%65v",
            "/%761/auth/gcp/role/dev",
            "/v1/auth/gcp/role/dev/",
        ] {
            assert_eq!(text(raw), "v1/auth/gcp/role/dev", "{raw}");
        }
    }

    #[test]
    fn a2_an_encoded_slash_is_a_slash() {
        for raw in [
            "/v1/auth/cloud%2Fgcp/role/dev",
            "/v1/auth%2fcloud/gcp%2Frole%2Fdev",
            "/v1%2Fauth%2Fcloud%2Fgcp%2Frole%2Fdev%2F",
        ] {
            assert_eq!(text(raw), "v1/auth/cloud/gcp/role/dev", "{raw}");
        }
        assert!(
            CanonicalPath::parse("/v1/a%2F")
                .unwrap()
                .has_trailing_slash()
        );
        for (raw, error) in [
            ("/v1/..%2fx", PathError::DotSegment),
            ("/v1/x%2F..", PathError::DotSegment),
            ("/v1/%2e%2e%2fx", PathError::DotSegment),
            ("/v1/x%2F%2Fy", PathError::EmptySegment),
            ("/v1/x/%2Fy", PathError::EmptySegment),
            ("/%2Fv1/x", PathError::EmptySegment),
        ] {
            assert_eq!(CanonicalPath::parse(raw), Err(error), "{raw}");
            assert_eq!(plain_spelling(raw), Err(error), "{raw}");
        }
    }

    #[test]
    fn a2_what_is_encoded_twice_is_refused() {
        for raw in [
            "/v1/a%252Fb",
            "/v1/a%25%32Fb",
            "/v1/%252e%252e/x",
            "/v1/a%255cb",
            "/v1/a%25252Fb",
            "/v1/a%2541",
        ] {
            let parsed = CanonicalPath::parse(raw);
            assert_eq!(parsed, Err(PathError::EncodedTwice), "{raw}");
        }
        assert_eq!(text("/v1/100%25"), "v1/100%");
        assert_eq!(text("/v1/50%25%20off"), "v1/50% off");
    }

    #[test]
    fn a2_dot_segments_are_refused_in_every_spelling() {
        for raw in ["/v1/./x", "/v1/../x", "/v1/x/..", "/v1/x/.", "/..", "/."] {
            assert_eq!(
                CanonicalPath::parse(raw),
                Err(PathError::DotSegment),
                "{raw}"
            );
        }
        for raw in [
            "/v1/%2e/x",
            "/v1/%2E%2e/x",
            "/v1/.%2e/x",
            "/v1/%2e%2E/",
            "/v1/x/%2e./",
        ] {
            assert_eq!(
                CanonicalPath::parse(raw),
                Err(PathError::DotSegment),
                "{raw}"
            );
        }
        assert_eq!(text("/v1/.../x"), "v1/.../x");
        assert_eq!(text("/v1/.well-known"), "v1/.well-known");
    }

    #[test]
    fn a2_empty_segments_are_refused() {
        for raw in ["//", "//v1/x", "/v1//x", "/v1/x//", "/v1///"] {
            assert_eq!(
                CanonicalPath::parse(raw),
                Err(PathError::EmptySegment),
                "{raw}"
            );
        }
    }

    #[test]
    fn contract_1_1_the_plain_spelling_has_no_needless_slashes_and_dots() {
        for (raw, plain) in [
            ("/v1//sys/auth", "/v1/sys/auth"),
            ("//v1/sys///auth//", "/v1/sys/auth/"),
            ("/v1/./sys/auth", "/v1/sys/auth"),
            ("/v1/x/../sys/auth/.", "/v1/sys/auth"),
            ("/v1/x/..", "/v1"),
            ("/v1/x/../", "/v1/"),
            ("/../../v1/x", "/v1/x"),
            ("//evil.example/v1", "/evil.example/v1"),
            ("/v1//a%20b", "/v1/a%20b"),
            ("//", "/"),
        ] {
            assert_eq!(plain_spelling(raw).as_deref(), Ok(plain), "{raw}");
        }
    }

    #[test]
    fn a2_encoded_dots_and_what_cannot_be_served_have_no_plain_spelling() {
        for (raw, error) in [
            ("/v1//%2e%2e/x", PathError::DotSegment),
            ("/v1/%2E/../x", PathError::DotSegment),
            ("/v1/.%2e/../x", PathError::DotSegment),
            ("/v1//a%2Fb", PathError::EmptySegment),
            ("/v1/a%2F../../b", PathError::DotSegment),
            ("/v1//a%00", PathError::NonPrintable),
        ] {
            assert_eq!(plain_spelling(raw), Err(error), "{raw}");
        }
    }

    #[test]
    fn a2_backslashes_are_refused() {
        for raw in ["/v1/a%5Cb", "/v1/a%5cb", "/v1/..%5cx", "/v1/a\\b"] {
            let parsed = CanonicalPath::parse(raw);
            assert_eq!(parsed, Err(PathError::Backslash), "{raw}");
        }
    }

    #[test]
    fn a2_what_cannot_be_printed_is_refused() {
        for raw in [
            "/v1/a%00",
            "/v1/%09x",
            "/v1/a%0d%0a",
            "/v1/%7f",
            "/v1/%e2%80%8b",
            "/v1/%c2%a0",
        ] {
            assert_eq!(
                CanonicalPath::parse(raw),
                Err(PathError::NonPrintable),
                "{raw}"
            );
        }
        assert_eq!(text("/v1/caf%C3%A9 x"), "v1/café x");
    }

    #[test]
    fn a2_broken_encodings_are_refused() {
        for raw in ["/v1/%", "/v1/%2", "/v1/%zz", "/v1/%u002f"] {
            assert_eq!(
                CanonicalPath::parse(raw),
                Err(PathError::BrokenEncoding),
                "{raw}"
            );
        }
        for raw in ["/v1/%ff", "/v1/%c0%af", "/v1/%c0%ae%c0%ae"] {
            assert_eq!(CanonicalPath::parse(raw), Err(PathError::NotUtf8), "{raw}");
        }
        assert_eq!(CanonicalPath::parse("v1/x"), Err(PathError::NotAbsolute));
        assert_eq!(CanonicalPath::parse(""), Err(PathError::NotAbsolute));
    }

    #[test]
    fn a_trailing_slash_is_kept_apart() {
        let path = CanonicalPath::parse("/v1/roles/").unwrap();
        assert!(path.has_trailing_slash());
        assert_eq!(path.with_trailing_slash(), "v1/roles/");
        assert_eq!(path.below("v1"), Some("roles"));
        assert_eq!(path.below("v"), None);
        let root = CanonicalPath::parse("/").unwrap();
        assert_eq!((root.as_str(), root.has_trailing_slash()), ("", false));
    }
}
