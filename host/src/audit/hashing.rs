//! From what the front says to what a sink shows: every text is hashed unless it is named (SEC-L2).

use std::collections::HashSet;
use std::fmt::Write as _;
use std::ops::Range;

use aws_lc_rs::hmac::{HMAC_SHA256, Key, sign};
use serde::de::IgnoredAny;
use zeroize::Zeroizing;

/// The prefix of the hash of a text.
const PREFIX: &str = "hmac-sha256:";

/// Members whose texts are hashed in requests and answers alike, at any depth (contract 6.5).
const ALWAYS_HASHED: [&str; 4] = ["jwt", "credentials", "token", "client_token"];

/// Members of every record that the host writes itself.
const RESERVED: [&str; 5] = ["sequence", "time", "type", "node", "hash"];

/// Bytes beyond which a document is not taken.
const LONGEST_DOCUMENT: usize = 16 << 20;

/// Bytes beyond which a record is not taken: a hash is longer than the text that it stands for, and a line has to be short enough to be
/// found again at the end of a file.
const LONGEST_RECORD: usize = 32 << 20;

/// How deep a document may be.
const MAXIMUM_DEPTH: usize = 128;

/// A document that is no JSON object, too large, too deep, or has a member that the host writes itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the document of an audit record is malformed or too large")]
pub(super) struct Malformed;

/// The key of a sink.
pub(super) struct TextHasher(Key);

impl TextHasher {
    /// A hasher under this key.
    pub(super) fn new(key: &Zeroizing<String>) -> Self {
        Self(Key::new(HMAC_SHA256, key.as_bytes()))
    }

    /// The hash that a record shows in place of `text`.
    pub(super) fn hash(&self, text: &str) -> String {
        let tag = sign(&self.0, text.as_bytes());
        format!("{PREFIX}{:x}", base16ct::HexDisplay(tag.as_ref()))
    }
}

/// A document that can be shown under any key.
pub(super) struct Document<'a> {
    text: &'a str,
    clear: HashSet<&'a str>,
}

impl<'a> Document<'a> {
    /// `clear` are the JSON pointers to what stays readable.
    pub(super) fn new(text: &'a str, clear: &'a [String]) -> Result<Self, Malformed> {
        let is_object = text.trim_ascii_start().starts_with('{');
        if text.len() > LONGEST_DOCUMENT || !is_object {
            return Err(Malformed);
        }
        serde_json::from_str::<IgnoredAny>(text).map_err(|_| Malformed)?;
        Ok(Self {
            text,
            clear: clear.iter().map(String::as_str).collect(),
        })
    }

    /// The members of the object as a sink with this key shows them, on one line.
    pub(super) fn members(&self, hasher: &TextHasher) -> Result<String, Malformed> {
        let mut writer = Writer {
            text: self.text,
            at: 0,
            pointer: String::new(),
            depth: 0,
            clear: &self.clear,
            hasher,
            shown: String::with_capacity(self.text.len() * 2),
        };
        writer.value(Standing::Hashed)?;
        if writer.shown.len() > LONGEST_RECORD {
            return Err(Malformed);
        }
        let members = writer.shown.strip_prefix('{');
        let members = members.and_then(|rest| rest.strip_suffix('}'));
        members.map(str::to_owned).ok_or(Malformed)
    }
}

/// The treatment of the texts of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// They are hashed unless something in it is named.
    Hashed,
    /// They stay readable.
    Clear,
    /// They are hashed, whatever is named.
    AlwaysHashed,
}

/// Copies a text that is known to be JSON. Numbers keep every digit: they are not read.
struct Writer<'a> {
    text: &'a str,
    at: usize,
    /// To the value at hand.
    pointer: String,
    depth: usize,
    clear: &'a HashSet<&'a str>,
    hasher: &'a TextHasher,
    shown: String,
}

impl Writer<'_> {
    fn value(&mut self, around: Standing) -> Result<(), Malformed> {
        if self.shown.len() > LONGEST_RECORD {
            return Err(Malformed);
        }
        let standing = match around {
            Standing::Hashed if self.clear.contains(self.pointer.as_str()) => Standing::Clear,
            around => around,
        };
        match self.next()? {
            b'{' => self.nested(b'}', |writer, _| writer.member(standing)),
            b'[' => self.nested(b']', |writer, index| {
                let whole = writer.pointer.len();
                // A String takes everything.
                let _ = write!(writer.pointer, "/{index}");
                writer.value(standing)?;
                writer.pointer.truncate(whole);
                Ok(())
            }),
            b'"' => {
                let token = self.string()?;
                self.show_text(token, standing);
                Ok(())
            }
            _ => {
                let rest = self.text.get(self.at..).ok_or(Malformed)?;
                let ends =
                    |byte: u8| matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace();
                let length = rest.bytes().position(ends).unwrap_or(rest.len());
                self.shown.push_str(rest.get(..length).ok_or(Malformed)?);
                self.at += length;
                Ok(())
            }
        }
    }

    /// An object or a list up to its last byte, which is `close`.
    fn nested(
        &mut self,
        close: u8,
        mut element: impl FnMut(&mut Self, usize) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        self.depth += 1;
        if self.depth > MAXIMUM_DEPTH {
            return Err(Malformed);
        }
        self.copy()?;
        let mut index = 0;
        while self.next()? != close {
            if index > 0 {
                self.copy()?;
            }
            element(self, index)?;
            index += 1;
        }
        self.copy()?;
        self.depth -= 1;
        Ok(())
    }

    fn member(&mut self, around: Standing) -> Result<(), Malformed> {
        if self.next()? != b'"' {
            return Err(Malformed);
        }
        let token = self.string()?;
        let token = self.text.get(token).ok_or(Malformed)?;
        let name = serde_json::from_str::<String>(token);
        // Bytes that are no text in Unicode are shown as text.
        let name = name.unwrap_or_else(|_| self.hasher.hash(token));
        if self.depth == 1 && RESERVED.contains(&name.as_str()) {
            return Err(Malformed);
        }
        push_escaped(&mut self.shown, &name);
        if self.next()? != b':' {
            return Err(Malformed);
        }
        self.copy()?;
        let whole = self.pointer.len();
        self.pointer.push('/');
        self.pointer
            .push_str(&name.replace('~', "~0").replace('/', "~1"));
        let is_secret = ALWAYS_HASHED
            .iter()
            .any(|secret| name.eq_ignore_ascii_case(secret));
        self.value(if is_secret {
            Standing::AlwaysHashed
        } else {
            around
        })?;
        self.pointer.truncate(whole);
        Ok(())
    }

    /// The first byte after white space.
    fn next(&mut self) -> Result<u8, Malformed> {
        let rest = self.text.as_bytes().get(self.at..).ok_or(Malformed)?;
        let blank = rest.iter().position(|byte| !byte.is_ascii_whitespace());
        let blank = blank.ok_or(Malformed)?;
        self.at += blank;
        rest.get(blank).copied().ok_or(Malformed)
    }

    /// Copies the structural byte at hand.
    fn copy(&mut self) -> Result<(), Malformed> {
        let byte = self.next()?;
        self.shown.push(char::from(byte));
        self.at += 1;
        Ok(())
    }

    /// Where the string at hand is, quotation marks included.
    fn string(&mut self) -> Result<Range<usize>, Malformed> {
        let begin = self.at;
        let rest = self.text.as_bytes().get(begin + 1..).ok_or(Malformed)?;
        let mut escaped = false;
        let end = rest.iter().position(|byte| {
            let ends = *byte == b'"' && !escaped;
            escaped = *byte == b'\\' && !escaped;
            ends
        });
        self.at = begin + end.ok_or(Malformed)? + 2;
        Ok(begin..self.at)
    }

    fn show_text(&mut self, token: Range<usize>, standing: Standing) {
        let token = self.text.get(token).unwrap_or_default();
        match serde_json::from_str::<String>(token) {
            Ok(text) if standing == Standing::Clear => push_escaped(&mut self.shown, &text),
            Ok(text) => push_escaped(&mut self.shown, &self.hasher.hash(&text)),
            // Half of a surrogate pair: no text, and hashed as it was written.
            Err(_) => push_escaped(&mut self.shown, &self.hasher.hash(token)),
        }
    }
}

/// Writes a JSON string in which nothing can pass for the end of a line, move a cursor, or turn the direction of reading.
fn push_escaped(shown: &mut String, text: &str) {
    shown.push('"');
    for character in text.chars() {
        match character {
            '"' => shown.push_str("\\\""),
            '\\' => shown.push_str("\\\\"),
            character if is_unsafe(character) => {
                // A String takes everything.
                let _ = write!(shown, "\\u{:04x}", u32::from(character));
            }
            character => shown.push(character),
        }
    }
    shown.push('"');
}

/// Control characters, separators of lines, and marks of direction; all of them have at most 16 bits.
fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn hasher() -> TextHasher {
        TextHasher::new(&Zeroizing::new("key".to_owned()))
    }

    fn shown(document: &str, clear: &[&str]) -> Result<Value, Malformed> {
        let clear: Vec<String> = clear.iter().map(|&pointer| pointer.to_owned()).collect();
        let members = Document::new(document, &clear)?.members(&hasher())?;
        let line = format!("{{{members}}}");
        assert!(!line.contains(char::is_control), "{line:?}");
        Ok(serde_json::from_str(&line).unwrap())
    }

    #[test]
    fn l2_every_text_is_hashed_unless_it_is_named() {
        let document = json!({
            "a": "x", "b": {"c": "x", "d": ["x", {"e": "y"}]},
            "n": 1, "t": true, "z": null, "empty": "",
        });
        let hash = |text: &str| json!(hasher().hash(text));
        let all = shown(&document.to_string(), &[]).unwrap();
        let expected = json!({
            "a": hash("x"), "b": {"c": hash("x"), "d": [hash("x"), {"e": hash("y")}]},
            "n": 1, "t": true, "z": null, "empty": hash(""),
        });
        assert_eq!(all, expected);

        let some = shown(&document.to_string(), &["/a", "/b/d/1"]).unwrap();
        assert_eq!(some["a"], "x");
        assert_eq!(
            some["b"],
            json!({"c": hash("x"), "d": [hash("x"), {"e": "y"}]})
        );
        let whole = shown(&document.to_string(), &["/b"]).unwrap();
        assert_eq!(whole["b"], document["b"]);
        assert_eq!(whole["a"], hash("x"));
    }

    #[test]
    fn l2_a_hash_is_hmac_sha256_under_the_key() {
        assert_eq!(
            hasher().hash("The quick brown fox jumps over the lazy dog"),
            "hmac-sha256:f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8"
        );
    }

    #[test]
    fn contract_6_5_four_members_are_hashed_whoever_names_them() {
        for name in ["jwt", "credentials", "token", "client_token", "JWT"] {
            let document = json!({"data": {name: "s", "deep": [{name: {"in": "s"}}]}}).to_string();
            let pointer = format!("/data/{name}");
            let shown = shown(&document, &["/data", &pointer]).unwrap();
            assert!(!shown.to_string().contains(r#""s""#), "{shown}");
        }
    }

    #[test]
    fn a_pointer_means_one_place() {
        let document = r#"{"a":{"b":"x","b/c":"y","b~c":"z"},"ab":"w","a/b":"v"}"#;
        let clear = ["/a/b", "/a/b~1c", "/a/b~0c", "/nowhere"];
        let shown = shown(document, &clear).unwrap();
        assert_eq!(shown["a"], json!({"b": "x", "b/c": "y", "b~c": "z"}));
        assert!(shown["ab"].as_str().unwrap().starts_with(PREFIX));
        assert!(shown["a/b"].as_str().unwrap().starts_with(PREFIX));
    }

    #[test]
    fn l3_nothing_in_a_record_can_pass_for_another_line() {
        let nasty = "a\r\nb\u{1b}[31m\u{9b}1A\u{7f}\u{2028}\u{202e}\u{0}\"\\é🦀";
        let document = json!({"clear": nasty, nasty: 1}).to_string();
        let pretty = document.replace(',', "\r\n , \t");
        let clear = ["/clear".to_owned()];
        let members = Document::new(&pretty, &clear).unwrap();
        let members = members.members(&hasher()).unwrap();
        assert!(!members.chars().any(is_unsafe), "{members:?}");
        let read: Value = serde_json::from_str(&format!("{{{members}}}")).unwrap();
        assert_eq!(read, json!({"clear": nasty, nasty: 1}));
    }

    #[test]
    fn numbers_keep_every_digit() {
        let document = r#"{"n":112233445566778899001,"x":1.50,"e":-1E+3}"#;
        let members = Document::new(document, &[]).unwrap();
        let members = members.members(&hasher()).unwrap();
        assert_eq!(format!("{{{members}}}"), document);
    }

    #[test]
    fn half_of_a_surrogate_pair_is_hashed_as_it_was_written() {
        let shown = shown(r#"{"a":"\ud800","\ud800":1}"#, &["/a"]).unwrap();
        assert_eq!(shown["a"], hasher().hash(r#""\ud800""#));
    }

    #[test]
    fn what_is_no_object_is_refused() {
        let deep = format!("{}{}", "{\"a\":".repeat(200), "1") + &"}".repeat(200);
        for document in ["", "[]", "\"a\"", "{", "{}x", "{\"a\":}", &deep] {
            let refused = shown(document, &[]);
            assert_eq!(refused, Err(Malformed), "{document:.20}");
        }
        for reserved in RESERVED {
            let document = json!({reserved: 1}).to_string();
            assert_eq!(shown(&document, &[]), Err(Malformed));
        }
        assert!(shown(r#"{"a":{"hash":1}}"#, &[]).is_ok());
        let long = json!({"a": "x".repeat(LONGEST_DOCUMENT)}).to_string();
        assert_eq!(shown(&long, &[]), Err(Malformed));
    }

    #[test]
    fn a_document_that_hashes_make_too_long_is_refused() {
        let hash = hasher().hash("").len();
        let texts = LONGEST_RECORD / (hash + 3) + 1;
        let document = json!({"a": vec![""; texts]}).to_string();
        assert!(document.len() < LONGEST_DOCUMENT);
        assert_eq!(shown(&document, &[]), Err(Malformed));
        // One byte that a readable text shows as six.
        let document = json!({"clear": "\u{7f}".repeat(LONGEST_RECORD / 6 + 1)}).to_string();
        assert!(document.len() < LONGEST_DOCUMENT);
        assert!(shown(&document, &[]).is_ok());
        assert_eq!(shown(&document, &["/clear"]), Err(Malformed));
    }
}
