//! The services that the adapter needs from its host: one database, and one value of configuration.

use gatehouse_ports::StoreError;
use zeroize::Zeroizing;

/// The longest text of a host that an error repeats, in bytes.
const MAXIMUM_TEXT_BYTES: usize = 200;

/// A value that a statement takes or answers.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A whole number.
    Integer(i64),
    /// Text.
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
    /// Null. Numbers with a fraction, which no table has, are read as null as well.
    Null,
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// A row of an answer, by column.
pub type Row = Vec<Value>;

/// Why a database did not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DatabaseError {
    /// The host knows no database of the label.
    #[error("no database stands behind the label")]
    NoSuchDatabase,
    /// The component may not open the label.
    #[error("the label is not declared for this component")]
    AccessDenied,
    /// The connection is not valid any more.
    #[error("the connection is not valid")]
    InvalidConnection,
    /// The database has reached its capacity.
    #[error("database or disk is full")]
    Full,
    /// Anything else, in the host's words, which are SQLite's.
    #[error("{0}")]
    Io(String),
}

impl DatabaseError {
    /// True if another connection held what the statement needs, and nothing was done.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Io(text) if text.contains("is locked"))
    }

    /// True if the connection was closed before anything was done. A server of libSQL closes one that was idle for ten seconds.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        const ENDED: [&str; 3] = [
            "STREAM_EXPIRED",
            "an invalid baton",
            "Stream for this baton was closed",
        ];
        match self {
            Self::InvalidConnection => true,
            Self::Io(text) => ENDED.iter().any(|sign| text.contains(sign)),
            _ => false,
        }
    }

    /// True if the connection cannot be used any more, and the statement may have been executed: the answer of a server of libSQL was lost, or it
    /// got the same request twice.
    #[must_use]
    pub fn has_lost_connection(&self) -> bool {
        const LOST: [&str; 2] = ["http error", USED_BATON];
        matches!(self, Self::Io(text) if LOST.iter().any(|sign| text.contains(sign)))
    }

    /// True if the database has none of our tables, or the instance that began to make them was cut off before the last one.
    #[must_use]
    pub fn is_without_tables(&self) -> bool {
        matches!(self, Self::Io(text) if text.contains("no such table: gatehouse_store"))
    }

    /// True if clients of the database may not make a setting, as with a server of libSQL.
    #[must_use]
    pub fn is_not_for_clients(&self) -> bool {
        matches!(self, Self::Io(text) if text.contains("unsupported statement"))
    }

    /// The error for a caller of the store, with a way to mend it.
    #[must_use]
    pub fn at(self, label: &str) -> StoreError {
        StoreError::Unavailable(match &self {
            Self::NoSuchDatabase => format!(
                "no SQLite database stands behind the label {label}: declare [sqlite_database.{label}] in the runtime \
                 configuration of the host"
            ),
            Self::AccessDenied => format!(
                "the host denies the SQLite database {label}: add {label:?} to sqlite_databases of the component in the \
                 application's manifest, and let the dependency inherit sqlite_databases"
            ),
            Self::InvalidConnection => format!(
                "the host has closed the SQLite database {label}; it is opened again. With libSQL, correct its url in the runtime \
                 configuration"
            ),
            Self::Full => in_words(label, FULL),
            Self::Io(text) => match CURES.iter().find(|(sign, _)| text.contains(sign)) {
                Some((_, cure)) => in_words(label, cure),
                None => format!("the SQLite database {label} failed: {}", cut(text)),
            },
        })
    }
}

/// The refusal of a server of libSQL to execute a request that it got before.
const USED_BATON: &str = "a baton that has already been used";

const FULL: &str = "is full, or its disk is: make room; nothing was written";

/// Signs in SQLite's words, and the cure for each.
const CURES: [(&str, &str); 10] = [
    ("is full", FULL),
    (
        "is locked",
        "is locked by another program: end what has the file open, such as a tool or a second Spin that writes to it",
    ),
    (
        "readonly database",
        "cannot be written: give the user that runs Spin the right to write to the file and to its folder",
    ),
    (
        "unable to open",
        "cannot be opened: see to it that the path in the runtime configuration leads to a file, and that the user that runs Spin \
         may write to its folder",
    ),
    ("malformed", "is damaged: put a backup in its place"),
    (
        "not a database",
        "is no database of SQLite: correct its path in the runtime configuration",
    ),
    (
        "disk I/O error",
        "cannot be read or written: look after the disk that it is on",
    ),
    (
        "http error",
        "cannot be reached: see to it that its server runs, and that its url in the runtime configuration leads there. What was to be \
         written may have been: read before repeating",
    ),
    (
        USED_BATON,
        "got a statement twice from the network, and its first answer was lost. What was to be written may have been: read before \
         repeating",
    ),
    (
        "AUTH_",
        "refuses the token: correct it in the runtime configuration",
    ),
];

fn in_words(label: &str, cure: &str) -> String {
    format!("the SQLite database {label} {cure}")
}

fn cut(text: &str) -> &str {
    let end = text.floor_char_boundary(MAXIMUM_TEXT_BYTES);
    text.get(..end).unwrap_or_default()
}

/// A connection to a database, as far as every host offers it.
pub trait Database {
    /// Executes one statement as a transaction of its own. Its parameters stand as `?`, in their order.
    ///
    /// # Errors
    ///
    /// When the host fails.
    fn execute(&self, statement: &str, parameters: &[Value]) -> Result<Vec<Row>, DatabaseError>;
}

/// The source of databases and configuration.
pub trait Host {
    /// A database of this host.
    type Database: Database;

    /// Opens the database behind `label`.
    ///
    /// # Errors
    ///
    /// When there is none, or it is denied.
    fn open(&self, label: &str) -> Result<Self::Database, DatabaseError>;

    /// The text of the key that seals the store; `None` where the host has none.
    ///
    /// # Errors
    ///
    /// When the host fails, in its words.
    fn seal_key(&self) -> Result<Option<Zeroizing<String>>, String>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_names_the_database_and_its_cure_and_repeats_no_long_text() {
        let io = |text: &str| DatabaseError::Io(text.to_owned());
        for (error, cure) in [
            (DatabaseError::NoSuchDatabase, "[sqlite_database.orgs]"),
            (DatabaseError::AccessDenied, "sqlite_databases"),
            (DatabaseError::InvalidConnection, "opened again"),
            (DatabaseError::Full, "make room"),
            (io("database or disk is full"), "make room"),
            (io("database is locked"), "end what has the file open"),
            (
                io("attempt to write a readonly database"),
                "the right to write",
            ),
            (
                io("unable to open database file: /x"),
                "runtime configuration",
            ),
            (io("database disk image is malformed"), "backup"),
            (io("file is not a database"), "correct its path"),
            (io("disk I/O error"), "the disk"),
            (io("Hrana: `http error: `gone``"), "its server runs"),
            (
                io("Hrana: `api error: `Received a baton that has already been used``"),
                "read before repeating",
            ),
            (io("Hrana: `api error: `AUTH_JWT_INVALID``"), "the token"),
            (io(&"é".repeat(500)), "failed: é"),
        ] {
            let StoreError::Unavailable(told) = error.at("orgs") else {
                panic!("it is unavailable");
            };
            assert!(told.contains("orgs") && told.contains(cure), "{told}");
            assert!(told.len() < 300, "{told}");
        }
    }

    #[test]
    fn a_connection_is_gone_where_its_end_is_told_before_anything_is_done() {
        let io = |text: &str| DatabaseError::Io(text.to_owned());
        let expired = r#"Hrana: `api error: `{"message":"The stream has expired due to inactivity","code":"STREAM_EXPIRED"}``"#;
        for gone in [
            DatabaseError::InvalidConnection,
            io(expired),
            io("Hrana: `api error: `Received an invalid baton``"),
        ] {
            assert!(gone.is_gone(), "{gone}");
        }
        for unknown in [
            io("Hrana: `http error: `connection closed before message completed``"),
            io("Hrana: `api error: `Received a baton that has already been used``"),
        ] {
            assert!(
                !unknown.is_gone() && unknown.has_lost_connection(),
                "{unknown}"
            );
        }
        assert!(!DatabaseError::Full.is_gone());
    }
}
