//! The records of all stores, in memory or kept in a file as well.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

#[derive(Default)]
pub struct Records {
    stores: BTreeMap<String, BTreeMap<String, Vec<u8>>>,
    journal: Option<File>,
}

const PUT: u8 = 1;
const DELETE: u8 = 0;

impl Records {
    /// The records that earlier writes have left in the file at `path`. A write that was cut off at its end does not count.
    pub fn in_file(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let mut journal = options.create(true).read(true).append(true).open(path)?;
        let mut bytes = Vec::new();
        journal.read_to_end(&mut bytes)?;
        let mut records = Self::default();
        let mut rest = bytes.as_slice();
        let mut whole = 0;
        while let Some((write, behind)) = parse(rest) {
            match write {
                (label, key, Some(value)) => records.put(&label, &key, value),
                (label, key, None) => records.remove(&label, &key),
            }
            whole = bytes.len() - behind.len();
            rest = behind;
        }
        journal.set_len(whole as u64)?;
        records.journal = Some(journal);
        Ok(records)
    }

    pub fn get(&self, label: &str, key: &str) -> Option<&Vec<u8>> {
        self.stores.get(label)?.get(key)
    }

    pub fn keys(&self, label: &str) -> Vec<String> {
        let store = self.stores.get(label);
        store
            .into_iter()
            .flatten()
            .map(|(key, _)| key.clone())
            .collect()
    }

    pub fn put(&mut self, label: &str, key: &str, value: Vec<u8>) {
        self.write_down(PUT, &[label.as_bytes(), key.as_bytes(), &value]);
        let store = self.stores.entry(label.to_owned()).or_default();
        store.insert(key.to_owned(), value);
    }

    pub fn remove(&mut self, label: &str, key: &str) {
        self.write_down(DELETE, &[label.as_bytes(), key.as_bytes(), b""]);
        if let Some(store) = self.stores.get_mut(label) {
            store.remove(key);
        }
    }

    fn write_down(&mut self, kind: u8, parts: &[&[u8]]) {
        let Some(journal) = &mut self.journal else {
            return;
        };
        let mut line = vec![kind];
        for part in parts {
            line.extend_from_slice(&(part.len() as u64).to_be_bytes());
            line.extend_from_slice(part);
        }
        journal
            .write_all(&line)
            .expect("the file of the double takes writes");
    }
}

type Write = (String, String, Option<Vec<u8>>);

fn parse(bytes: &[u8]) -> Option<(Write, &[u8])> {
    let (kind, rest) = bytes.split_first()?;
    let (label, rest) = part(rest)?;
    let (key, rest) = part(rest)?;
    let (value, rest) = part(rest)?;
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
    let value = (*kind == PUT).then(|| value.to_vec());
    Some(((text(label)?, text(key)?, value), rest))
}

fn part(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    rest.split_at_checked(usize::try_from(u64::from_be_bytes(*length)).ok()?)
}
