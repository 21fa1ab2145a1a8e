//! Sinks as a server uses them, and logs as an auditor finds them.

mod failures;
mod sinks;
mod tampering;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use super::*;

/// A private folder with the settings of a sink in it.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn log(&self) -> PathBuf {
        self.path("audit.log")
    }

    fn settings(&self) -> AuditSinkSettings {
        AuditSinkSettings {
            name: "main".to_owned(),
            kind: AuditSinkType::File,
            path: Some(self.log()),
            key_file: None,
            sync: true,
            timeout: Duration::from_secs(5),
        }
    }

    fn open(&self) -> Sinks {
        Sinks::open(&[self.settings()]).unwrap()
    }
}

fn entry(document: &str) -> AuditEntry {
    AuditEntry {
        side: Side::Request,
        document: document.to_owned(),
        clear: vec!["/clear".to_owned()],
    }
}

async fn write(sinks: &Sinks, number: usize) -> Result<(), AuditError> {
    let document = serde_json::json!({"n": number, "clear": "c", "secret": "s"});
    sinks.write(entry(&document.to_string())).await
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

fn records(path: &Path) -> Vec<Value> {
    let text = text(path);
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn verified(path: &Path) -> Verified {
    verify(&[path.to_owned()], Expectations::default()).unwrap()
}

/// A writer to a file that is no regular one, in the place of a sink's own.
fn sink_of(place: &Place, output: fs::File, timeout: Duration) -> Result<Sinks, Reason> {
    let settings = AuditSinkSettings {
        timeout,
        ..place.settings()
    };
    let hasher = key::hasher(None).unwrap();
    let sink = Sink::start(&settings, hasher, Writer::of_stream(output))?;
    Ok(Sinks {
        sinks: vec![sink],
        node: String::new(),
    })
}
