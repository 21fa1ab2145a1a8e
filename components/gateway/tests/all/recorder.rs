//! An audit log that keeps its records, fails on demand, and checks every record: in no test may a secret be in a readable text (SEC-L2).

use std::sync::{Arc, Mutex};

use gatehouse_gateway::host::{AuditEntry, AuditError, AuditLog, AuditSink, Side};
use serde_json::Value;

use super::server::ROOT;

/// The texts that no readable text may hold.
const SECRETS: [&str; 2] = [ROOT, "-----BEGIN"];

/// The beginnings of tokens. A short text with such a beginning is not a token.
const TOKEN_BEGINNINGS: [&str; 3] = ["hvs.", "hvb.", ".atlasv1."];

fn is_secret(text: &str) -> bool {
    // This path and this command contain `root-token`, which is also the root token of these tests.
    let text = text
        .replace("generate-root-token", "")
        .replace("operator root-token", "");
    let holds_token = |beginning: &&str| {
        let rest = text.split_once(*beginning).map(|(_, rest)| rest);
        rest.is_some_and(|rest| rest.len() > 16)
    };
    SECRETS.iter().any(|secret| text.contains(secret)) || TOKEN_BEGINNINGS.iter().any(holds_token)
}

/// The members that stay hashed in every case.
const ALWAYS_HASHED: [&str; 4] = ["jwt", "credentials", "token", "client_token"];

/// A record as the front wrote it.
#[derive(Debug, Clone)]
pub struct Record {
    pub side: Side,
    pub document: Value,
    clear: Vec<String>,
}

impl Record {
    /// Every text that stays readable, with its pointer.
    pub fn readable(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        collect(&self.document, "", false, &self.clear, &mut found);
        found
    }

    /// The readable text at a pointer.
    pub fn text(&self, pointer: &str) -> Option<String> {
        let found = self.readable().into_iter().find(|(at, _)| at == pointer);
        found.map(|(_, text)| text)
    }
}

fn collect(
    value: &Value,
    pointer: &str,
    is_clear: bool,
    clear: &[String],
    found: &mut Vec<(String, String)>,
) {
    let is_clear = is_clear || clear.iter().any(|named| named == pointer);
    match value {
        Value::String(text) if is_clear => found.push((pointer.to_owned(), text.clone())),
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                collect(
                    element,
                    &format!("{pointer}/{index}"),
                    is_clear,
                    clear,
                    found,
                );
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                if !ALWAYS_HASHED.contains(&name.as_str()) {
                    collect(member, &format!("{pointer}/{name}"), is_clear, clear, found);
                }
            }
        }
        _ => {}
    }
}

/// The records that the log refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fails {
    #[default]
    Never,
    Always,
    ForAnswers,
}

#[derive(Default)]
struct Kept {
    records: Vec<Record>,
    fails: Fails,
}

/// The log of one server. Clones share their records.
#[derive(Clone, Default)]
pub struct Recorder(Arc<Mutex<Kept>>);

impl Recorder {
    /// Takes the records since the last call.
    pub fn take(&self) -> Vec<Record> {
        std::mem::take(&mut self.0.lock().unwrap().records)
    }

    pub fn fails(&self, fails: Fails) {
        self.0.lock().unwrap().fails = fails;
    }
}

impl AuditLog for Recorder {
    fn is_on(&self) -> bool {
        true
    }

    fn write(&self, entry: AuditEntry) -> Result<(), AuditError> {
        let record = Record {
            side: entry.side,
            // A body that is passed on may contain an unpaired surrogate, which this parser does not accept as text.
            document: serde_json::from_str(&entry.document)
                .or_else(|_| serde_json::from_str(&entry.document.replace("\\ud", "\\u0")))
                .unwrap(),
            clear: entry.clear,
        };
        for (pointer, text) in record.readable() {
            assert!(!is_secret(&text), "{pointer}: {text}");
        }
        let mut kept = self.0.lock().unwrap();
        kept.records.push(record);
        match (kept.fails, entry.side) {
            (Fails::Always, _) | (Fails::ForAnswers, Side::Response) => Err(AuditError::NoSink),
            _ => Ok(()),
        }
    }

    fn sinks(&self) -> Vec<AuditSink> {
        vec![AuditSink {
            name: "main".to_owned(),
            kind: "file".to_owned(),
            description: String::new(),
            options: vec![("file_path".to_owned(), "/var/log/audit.log".to_owned())],
        }]
    }

    fn hash(&self, sink: &str, text: &str) -> Option<String> {
        (sink == "main").then(|| format!("hmac-sha256:{}", text.len()))
    }
}
