//! `[audit.NAME]`: where requests and answers are recorded, one section for each sink (SEC-L4).

use std::path::PathBuf;
use std::time::Duration;

use super::source::{Section, Sources};
use super::value::{SettingValue, named_choices};

/// The kinds of sink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditSinkType {
    /// A file of this machine.
    File,
    /// The standard output of the server.
    Stdout,
}

named_choices!(
    AuditSinkType,
    "\"file\" or \"stdout\"",
    File = "file",
    Stdout = "stdout"
);

/// `[audit.NAME]`: one sink.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditSinkSettings {
    /// The last part of the section's name: letters, digits, `-` and `_`.
    pub name: String,
    /// The kind of sink. Default `file`.
    pub kind: AuditSinkType,
    /// The log of a sink of type `file`. Needed for that, and for nothing else.
    pub path: Option<PathBuf>,
    /// File with the key under which the sink hashes texts, made at the first start. Default `NAME.hmac-key` in the folder of the
    /// log. A sink of type `stdout` without it has another key after each start, so that its hashes cannot be compared.
    pub key_file: Option<PathBuf>,
    /// True if each record of a file is on disk before the request continues (SEC-L1). Default true; false leaves that to the operating
    /// system, and a loss of power may lose records of requests that were served.
    pub sync: bool,
    /// How long a record may take before the sink has failed. Default 5 s.
    pub timeout: Duration,
}

impl AuditSinkSettings {
    /// The name of the group of sections.
    pub(super) const GROUP: &'static str = "audit";

    /// All sinks, sorted by name.
    pub(super) fn read_all(sources: &mut Sources) -> Vec<Self> {
        let names = sources.names_in(Self::GROUP);
        let read = |name: String| {
            let section = &mut sources.section(format!("{}.{name}", Self::GROUP));
            Self::read(name, section)
        };
        names.into_iter().map(read).collect()
    }

    fn read(name: String, section: &mut Section<'_>) -> Self {
        Self {
            name,
            kind: section.value("type", AuditSinkType::File),
            path: section.optional("path"),
            key_file: section.optional("key_file"),
            sync: section.value("sync", true),
            timeout: section.value("timeout", Duration::from_secs(5)),
        }
    }

    /// The name that messages use for it: the section's name.
    #[must_use]
    pub fn section(&self) -> String {
        format!("{}.{}", Self::GROUP, self.name)
    }

    /// Where the key is kept; `None` where it is not.
    #[must_use]
    pub fn key_path(&self) -> Option<PathBuf> {
        let beside = || {
            let file = format!("{}.hmac-key", self.name);
            self.path.as_ref().map(|path| path.with_file_name(file))
        };
        self.key_file.clone().or_else(beside)
    }
}
