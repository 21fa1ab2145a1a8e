//! The chain: each line holds its number, and a hash of itself and of everything before it (SEC-L3).
//!
//! A line is `{"sequence":7,` and the members of a record, `,"hash":"` and 64 hexadecimal digits, `"}`. The hash is SHA-256 over the 32 bytes
//! of the hash before it and the line up to where its own begins. For the first line of a chain, the hash before it is 32 bytes of zero.

use std::fmt;
use std::str::FromStr;

use aws_lc_rs::digest::{Context, Digest, SHA256, SHA256_OUTPUT_LEN};

/// The text before the number of a line.
const SEQUENCE: &str = "{\"sequence\":";
/// The text before the hash of a line.
const HASH: &str = ",\"hash\":\"";
/// The text after the hash of a line.
const END: &str = "\"}";
/// Bytes that the hash takes at the end of a line, with what surrounds it.
const TAIL_BYTES: usize = HASH.len() + 2 * SHA256_OUTPUT_LEN + END.len();

/// A link of the chain.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Link([u8; SHA256_OUTPUT_LEN]);

impl Link {
    /// The hash before the first line of all.
    pub const NONE: Self = Self([0; SHA256_OUTPUT_LEN]);

    /// The hash of these bytes alone.
    pub(super) fn hash(digest: &Digest) -> Self {
        let mut link = Self::NONE;
        for (to, from) in link.0.iter_mut().zip(digest.as_ref()) {
            *to = *from;
        }
        link
    }

    /// The link of a line that begins with `start` and comes after this one.
    fn next(&self, start: &[u8]) -> Self {
        let mut context = Context::new(&SHA256);
        context.update(&self.0);
        context.update(start);
        Self::hash(&context.finish())
    }
}

impl fmt::Display for Link {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:x}", base16ct::HexDisplay(&self.0))
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// A text that is no hash of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected 64 hexadecimal digits")]
pub struct NotALink;

impl FromStr for Link {
    type Err = NotALink;

    fn from_str(text: &str) -> Result<Self, NotALink> {
        let mut link = Self::NONE;
        // Only lower case is valid: a hash then has one spelling, so that a change of any byte of a line shows.
        match base16ct::lower::decode(text, &mut link.0) {
            Ok(bytes) if bytes.len() == SHA256_OUTPUT_LEN => Ok(link),
            _ => Err(NotALink),
        }
    }
}

/// The state of a chain after its last line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chain {
    /// The number of the next line.
    pub next: u64,
    /// The link of the last line.
    pub head: Link,
}

impl Chain {
    /// A chain without a line.
    pub const EMPTY: Self = Self {
        next: 0,
        head: Link::NONE,
    };

    /// Appends the line with these members, which begin with a quotation mark and do not end with a comma, and its end of line.
    pub(super) fn add(&mut self, members: &str, lines: &mut Vec<u8>) {
        let begin = lines.len();
        lines.extend_from_slice(format!("{SEQUENCE}{},", self.next).as_bytes());
        lines.extend_from_slice(members.as_bytes());
        let link = self.head.next(lines.get(begin..).unwrap_or_default());
        lines.extend_from_slice(format!("{HASH}{link}{END}\n").as_bytes());
        self.next = self.next.saturating_add(1);
        self.head = link;
    }

    /// True if a line is the next one.
    pub(super) fn follows(&self, line: &Line<'_>) -> bool {
        line.sequence == self.next && self.head.next(line.start) == line.link
    }

    /// The chain that ends with a line.
    pub(super) const fn after(line: &Line<'_>) -> Self {
        Self {
            next: line.sequence.saturating_add(1),
            head: line.link,
        }
    }
}

/// A line taken apart. It is not known to follow another one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    /// Its number.
    pub(super) sequence: u64,
    /// Its link.
    pub(super) link: Link,
    /// Everything up to where the hash begins.
    start: &'a [u8],
}

impl<'a> Line<'a> {
    /// Reads a line without its end of line; `None` where it does not have the form of one.
    pub(super) fn read(line: &'a [u8]) -> Option<Self> {
        let (start, tail) = line.split_at_checked(line.len().checked_sub(TAIL_BYTES)?)?;
        let link = tail
            .strip_prefix(HASH.as_bytes())?
            .strip_suffix(END.as_bytes())?;
        let link = std::str::from_utf8(link).ok()?.parse().ok()?;
        let rest = start.strip_prefix(SEQUENCE.as_bytes())?;
        let digits = rest.split(|byte| *byte == b',').next()?;
        let sequence = std::str::from_utf8(digits).ok()?.parse().ok()?;
        Some(Self {
            sequence,
            link,
            start,
        })
    }

    /// The host's own note in this line; `None` for any other line.
    pub(super) fn note(&self) -> Option<Note> {
        let mut object = self.start.to_vec();
        object.push(b'}');
        serde_json::from_slice::<Note>(&object)
            .ok()
            .filter(|note| note.kind == NOTE)
    }
}

/// The type of the lines that the host itself writes.
const NOTE: &str = "log";

/// A line about the log itself.
#[derive(Debug, serde::Deserialize)]
pub(super) struct Note {
    #[serde(rename = "type")]
    kind: String,
    /// The event.
    pub(super) event: Event,
    /// For [`Event::Begins`]: the link of the line before, in another file.
    #[serde(default)]
    pub(super) previous: Option<String>,
    /// The number of bytes after the line before that belong to no line.
    #[serde(default)]
    pub(super) torn_bytes: Option<u64>,
    /// Their SHA-256.
    #[serde(default)]
    pub(super) torn_sha256: Option<String>,
}

/// An event of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Event {
    /// A file begins.
    Begins,
    /// The server continues a file, after a start or a failure.
    Resumes,
}

/// The members of the line with which a file begins.
pub(super) fn begins(time: &str, previous: Link, torn: Option<&Torn>) -> String {
    let previous = format!(r#","previous":"{previous}""#);
    note(time, "begins", &previous, torn)
}

/// The members of the line with which a file is continued.
pub(super) fn resumes(time: &str, torn: Option<&Torn>) -> String {
    note(time, "resumes", "", torn)
}

fn note(time: &str, event: &str, more: &str, torn: Option<&Torn>) -> String {
    let torn = torn.map(|torn| {
        let (bytes, hash) = (torn.bytes, torn.hash());
        format!(r#","torn_bytes":{bytes},"torn_sha256":"{hash}""#)
    });
    let torn = torn.unwrap_or_default();
    format!(r#""time":"{time}","type":"{NOTE}","event":"{event}"{more}{torn}"#)
}

/// The bytes that a write which was cut off left after the last line. They stay; the next line says how many they are.
#[derive(Clone)]
pub(super) struct Torn {
    pub(super) bytes: u64,
    context: Context,
}

impl Torn {
    /// Nothing but a missing end of line.
    pub(super) fn new() -> Self {
        Self {
            bytes: 0,
            context: Context::new(&SHA256),
        }
    }

    /// Adds bytes to it.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        self.context.update(bytes);
    }

    /// True if only an end of line is missing.
    pub(super) const fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// The SHA-256 of all its bytes.
    pub(super) fn hash(&self) -> Link {
        Link::hash(&self.context.clone().finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(count: u64) -> Vec<u8> {
        let mut lines = Vec::new();
        let mut chain = Chain::EMPTY;
        for number in 0..count {
            chain.add(&format!("\"n\":{number}"), &mut lines);
        }
        lines
    }

    #[test]
    fn l3_each_line_is_an_object_that_follows_the_one_before() {
        let mut chain = Chain::EMPTY;
        let all = lines(3);
        let text = String::from_utf8(all).unwrap();
        for (number, line) in text.lines().enumerate() {
            let object: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(object["sequence"], number);
            assert_eq!(object["n"], number);
            let read = Line::read(line.as_bytes()).unwrap();
            assert!(chain.follows(&read));
            assert_eq!(object["hash"], read.link.to_string());
            chain = Chain::after(&read);
            assert!(!chain.follows(&read), "a line does not follow itself");
        }
    }

    #[test]
    fn a_link_has_one_spelling() {
        let link = Chain::EMPTY.head.next(b"x");
        let text = link.to_string();
        assert_eq!(text.parse(), Ok(link));
        for other in [
            text.to_uppercase(),
            text[1..].to_owned(),
            format!("{text}0"),
        ] {
            assert_eq!(other.parse::<Link>(), Err(NotALink), "{other}");
        }
    }

    #[test]
    fn notes_say_what_happened_to_the_log() {
        let mut chain = Chain::EMPTY;
        let mut torn = Torn::new();
        torn.add(b"abc");
        for members in [begins("t", Link::NONE, None), resumes("t", Some(&torn))] {
            let mut line = Vec::new();
            chain.add(&members, &mut line);
            let line = Line::read(line.trim_ascii_end()).unwrap();
            let note = line.note().unwrap();
            match note.event {
                Event::Begins => assert_eq!(note.previous, Some("0".repeat(64))),
                Event::Resumes => {
                    assert_eq!(note.torn_bytes, Some(3));
                    assert!(note.torn_sha256.unwrap().starts_with("ba7816bf8f01cfea"));
                }
            }
        }
        let mut line = Vec::new();
        chain.add(r#""type":"request","event":"begins""#, &mut line);
        assert!(Line::read(line.trim_ascii_end()).unwrap().note().is_none());
    }
}
