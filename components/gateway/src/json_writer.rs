//! Writes the JSON of long answers, such as lists of organizations.
//!
//! `serde_json` looks at every character of every text, and of every name of a member, for one to escape. Organizations have a hundred names each, so
//! that was a sixth of the time that a page of their list took. Here texts are looked through eight characters at a time; those in which there is
//! something to escape, and numbers, are left to `serde_json`.

use serde::Serialize;
use serde_json::Value;

/// A value that writes itself as JSON.
pub(crate) trait WriteJson {
    /// Appends the JSON of the value to `out`.
    fn write_json(&self, out: &mut Vec<u8>);
}

/// A value that writes itself as members of an object.
pub(crate) trait WriteMembers {
    /// Adds the members of the value to `object`.
    fn write_members(&self, object: &mut ObjectWriter<'_>);
}

/// An object that is being written.
pub(crate) struct ObjectWriter<'a> {
    out: &'a mut Vec<u8>,
    is_empty: bool,
}

/// Appends an object with the members that `write` adds.
pub(crate) fn write_object(out: &mut Vec<u8>, write: impl FnOnce(&mut ObjectWriter<'_>)) {
    out.push(b'{');
    let mut object = ObjectWriter {
        out,
        is_empty: true,
    };
    write(&mut object);
    object.out.push(b'}');
}

/// JSON that is written once and used often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written(Vec<u8>);

impl Written {
    /// An object with the members that `write` adds.
    pub(crate) fn object(write: impl FnOnce(&mut ObjectWriter<'_>)) -> Self {
        let mut out = Vec::new();
        write_object(&mut out, write);
        Self(out)
    }
}

impl ObjectWriter<'_> {
    /// Begins a member, whose value must be appended to what this returns.
    fn begin(&mut self, name: &str) -> &mut Vec<u8> {
        if !std::mem::take(&mut self.is_empty) {
            self.out.push(b',');
        }
        write_text(self.out, &[name]);
        self.out.push(b':');
        self.out
    }

    /// Adds a member.
    pub(crate) fn member(&mut self, name: &str, value: &(impl WriteJson + ?Sized)) {
        value.write_json(self.begin(name));
    }

    /// Adds a member that is the text which these parts make together.
    pub(crate) fn text_of(&mut self, name: &str, parts: &[&str]) {
        write_text(self.begin(name), parts);
    }

    /// Adds a member that is an object with the members that `write` adds.
    pub(crate) fn object(&mut self, name: &str, write: impl FnOnce(&mut ObjectWriter<'_>)) {
        write_object(self.begin(name), write);
    }
}

/// The JSON of no value.
pub(crate) const NULL: &[u8] = b"null";

/// Appends the text which these parts make together.
fn write_text(out: &mut Vec<u8>, parts: &[&str]) {
    out.push(b'"');
    for part in parts {
        let begin = out.len();
        if !append_plain(out, part.as_bytes()) {
            out.truncate(begin);
            write_serialized(out, part);
            // Without the quotation marks around it.
            out.pop();
            out.remove(begin);
        }
    }
    out.push(b'"');
}

/// Appends a value as `serde_json` writes it.
fn write_serialized(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    // Texts, numbers, lists and maps with texts as keys always serialize, and writing to a vector always succeeds.
    let _ = serde_json::to_writer(out, value);
}

impl WriteJson for bool {
    fn write_json(&self, out: &mut Vec<u8>) {
        if *self {
            out.extend_from_slice(b"true");
        } else {
            out.extend_from_slice(b"false");
        }
    }
}

impl WriteJson for u64 {
    fn write_json(&self, out: &mut Vec<u8>) {
        write_serialized(out, self);
    }
}

impl WriteJson for str {
    fn write_json(&self, out: &mut Vec<u8>) {
        write_text(out, &[self]);
    }
}

impl WriteJson for &str {
    fn write_json(&self, out: &mut Vec<u8>) {
        (**self).write_json(out);
    }
}

impl WriteJson for Value {
    fn write_json(&self, out: &mut Vec<u8>) {
        write_serialized(out, self);
    }
}

impl WriteJson for Written {
    fn write_json(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0);
    }
}

impl<T: WriteJson> WriteJson for Vec<T> {
    fn write_json(&self, out: &mut Vec<u8>) {
        out.push(b'[');
        for (place, item) in self.iter().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            item.write_json(out);
        }
        out.push(b']');
    }
}

impl<T: WriteJson> WriteJson for Option<T> {
    fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Some(value) => value.write_json(out),
            None => out.extend_from_slice(NULL),
        }
    }
}

/// Appends a text that has no character which JSON escapes; false where it has one, and only a part of the text was appended.
///
/// The texts are short. Eight characters at a time are moved by one instruction; copying a slice is a call out of WebAssembly.
fn append_plain(out: &mut Vec<u8>, text: &[u8]) -> bool {
    const WORD: usize = size_of::<u64>();
    out.reserve(text.len() + WORD);
    let (words, rest) = text.as_chunks::<WORD>();
    for word in words {
        if has_escaped(u64::from_ne_bytes(*word)) {
            return false;
        }
        out.extend_from_slice(word);
    }
    let mut last = [b' '; WORD];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    let end = out.len() + rest.len();
    out.extend_from_slice(&last);
    out.truncate(end);
    !has_escaped(u64::from_ne_bytes(last))
}

/// True if one of the eight characters of a word is one that JSON escapes: a control character, a quotation mark or a backslash.
///
/// A byte below `n` borrows from its highest bit when `n` is subtracted, and a byte is equal to another if both differ by less than one. A borrow that
/// goes on into the next byte can only follow a byte for which this is true already.
const fn has_escaped(word: u64) -> bool {
    const EACH: u64 = u64::MAX / 0xff;
    const HIGHEST: u64 = EACH * 0x80;
    const fn below(word: u64, n: u8) -> u64 {
        word.wrapping_sub(EACH * n as u64) & !word & HIGHEST
    }
    const fn equal(word: u64, byte: u8) -> u64 {
        below(word ^ (EACH * byte as u64), 1)
    }
    below(word, b' ') | equal(word, b'"') | equal(word, b'\\') != 0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written(parts: &[&str]) -> String {
        let mut out = Vec::new();
        write_text(&mut out, parts);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_character_is_escaped_as_serde_json_does_at_every_place() {
        let near_to_escaped = ['\u{1f}', ' ', '!', '"', '#', '[', '\\', ']', '\u{7f}', 'é'];
        for character in (0..=0x24f).filter_map(char::from_u32) {
            for (after, before) in near_to_escaped
                .iter()
                .flat_map(|it| (0..10).map(move |n| (it, n)))
            {
                let text = format!("{}{character}{after}", "a".repeat(before));
                assert_eq!(written(&[&text]), json!(text).to_string(), "{text:?}");
            }
        }
    }

    #[test]
    fn an_object_has_the_members_that_were_added() {
        let mut out = Vec::new();
        let written = Written::object(|object| object.member("a", &1_u64));
        write_object(&mut out, |object| {
            object.member("text", "a\"b");
            object.member("none", &None::<&str>);
            object.text_of("path", &["/a/", "b\\"]);
            object.member("yes", &true);
            object.member("no", &false);
            object.member("number", &u64::MAX);
            object.member("list", &vec![json!(1), json!(null)]);
            object.member("written", &written);
            object.object("empty", |_| {});
            object.object("within", |within| within.member("a", &None::<bool>));
        });
        let expected = r#"{"text":"a\"b","none":null,"path":"/a/b\\","yes":true,"no":false,"number":18446744073709551615,"list":[1,null],"written":{"a":1},"empty":{},"within":{"a":null}}"#;
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
