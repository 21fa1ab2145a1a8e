//! The services that the adapter needs from its host: a database, and two values of configuration.

use gatehouse_ports::StoreError;
use zeroize::Zeroizing;

/// The longest text of a database that an error repeats, in bytes.
const MAXIMUM_TEXT_BYTES: usize = 200;

/// A value that a statement takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parameter {
    /// `int8`.
    Number(i64),
    /// `text`.
    Text(String),
    /// `bytea`.
    Bytes(Vec<u8>),
    /// `int8[]`.
    Numbers(Vec<Option<i64>>),
    /// `text[]`.
    Texts(Vec<String>),
}

/// A value that a statement answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// `boolean`.
    Boolean(bool),
    /// `int8`.
    Number(i64),
    /// `text`.
    Text(String),
    /// `bytea`.
    Bytes(Vec<u8>),
    /// Null, and every value of a type that no statement of the adapter answers.
    Null,
}

/// A row of an answer, by column.
pub type Row = Vec<Value>;

/// Why a database did not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DatabaseError {
    /// The host has no address of a database.
    #[error("no address is set")]
    NoAddress,
    /// No connection was made. Nothing was sent.
    #[error("no connection is made")]
    Unreachable,
    /// The connection, or the answer, was lost: the statement may have been executed.
    #[error("the answer was lost")]
    Lost,
    /// The database refused the statement, and has undone its effects.
    #[error("the database refused: {message} ({code})")]
    Refused {
        /// Its SQLSTATE.
        code: String,
        /// The database's words.
        message: String,
    },
}

impl DatabaseError {
    /// True if other statements were in the way of this one, which may succeed on a retry.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        // Serialization failure, deadlock, lock timeout.
        matches!(self, Self::Refused { code, .. } if matches!(code.as_str(), "40001" | "40P01" | "55P03"))
    }

    /// True if the statement may have been executed: its answer was lost, or the database ended the session on its way.
    #[must_use]
    pub fn leaves_outcome_open(&self) -> bool {
        match self {
            Self::Lost => true,
            Self::Refused { code, .. } => code.starts_with("57P") || code.starts_with("08"),
            Self::NoAddress | Self::Unreachable => false,
        }
    }

    /// True if the tables do not exist.
    #[must_use]
    pub fn lacks_tables(&self) -> bool {
        // No such schema, table, function or column.
        matches!(self, Self::Refused { code, .. } if matches!(code.as_str(), "3F000" | "42P01" | "42883" | "42703"))
    }
}

impl From<DatabaseError> for StoreError {
    /// The error for a caller of the store, with a way to mend it.
    fn from(error: DatabaseError) -> Self {
        Self::Unavailable(match &error {
            DatabaseError::NoAddress => {
                "no PostgreSQL database is named: set the variable postgres_url of the application".to_owned()
            }
            DatabaseError::Unreachable => "the PostgreSQL database cannot be reached: see that it runs, that postgres_url leads to it with a \
                 user and password that it knows, and that allowed_outbound_hosts of the application names its host and port"
                .to_owned(),
            DatabaseError::Lost => "the connection to the PostgreSQL database was lost".to_owned(),
            DatabaseError::Refused { code, message } => match CURES.iter().find(|(class, _)| code.starts_with(class)) {
                Some((_, cure)) => format!("the PostgreSQL database {cure}"),
                None => format!("the PostgreSQL database refused ({code}): {}", cut(message)),
            },
        })
    }
}

/// Beginnings of SQLSTATEs, and the cure for each.
const CURES: [(&str, &str); 9] = [
    (
        "25006",
        "takes no changes: it is a standby, or set to read only; name the primary in postgres_url",
    ),
    (
        "28",
        "refuses the user of postgres_url, or the password: correct them",
    ),
    (
        "3D000",
        "does not exist under the name in postgres_url: create it",
    ),
    (
        "40",
        "has too many commits at once: commits that touch the same keys were refused again and again",
    ),
    (
        "42501",
        "denies something to the user of postgres_url: give it the right to create a schema in the database, or ownership of the schema gatehouse_spin",
    ),
    ("53100", "has a full disk: make room; nothing was written"),
    (
        "53300",
        "has no connection to spare: raise max_connections, or run fewer servers",
    ),
    (
        "55P03",
        "had a lock taken for too long: end what has the tables of the schema gatehouse_spin locked",
    ),
    (
        "57014",
        "took longer for a statement than it may: look after its load, and its statement_timeout",
    ),
];

fn cut(text: &str) -> &str {
    let end = text.floor_char_boundary(MAXIMUM_TEXT_BYTES);
    text.get(..end).unwrap_or_default()
}

/// A connection to a database, as far as a host offers it: of a pool, which takes it back when it is dropped.
pub trait Database {
    /// Executes one statement that answers at least one row, as a transaction of its own. Its parameters stand as `$1` and so on. If a
    /// statement answers no row, Spin 4.1 waits for one indefinitely.
    ///
    /// # Errors
    ///
    /// When the host or the database fails.
    fn query(&self, statement: &str, parameters: &[Parameter]) -> Result<Vec<Row>, DatabaseError>;

    /// The same for a statement whose rows are not read, if it has any.
    ///
    /// # Errors
    ///
    /// When the host or the database fails.
    fn execute(&self, statement: &str, parameters: &[Parameter]) -> Result<(), DatabaseError>;
}

/// The source of connections and configuration.
pub trait Host {
    /// A connection to the database.
    type Database: Database;

    /// Lends a connection.
    ///
    /// # Errors
    ///
    /// When no address is set, or no connection is made.
    fn connect(&self) -> Result<Self::Database, DatabaseError>;

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
    fn each_failure_names_its_cure_and_repeats_no_long_text() {
        let refused = |code: &str| DatabaseError::Refused {
            code: code.to_owned(),
            message: "é".repeat(500),
        };
        for (error, cure) in [
            (DatabaseError::NoAddress, "set the variable postgres_url"),
            (DatabaseError::Unreachable, "allowed_outbound_hosts"),
            (DatabaseError::Lost, "was lost"),
            (refused("25006"), "name the primary"),
            (refused("28P01"), "the password"),
            (refused("3D000"), "create it"),
            (refused("40001"), "commits at once"),
            (refused("42501"), "the right to create"),
            (refused("53100"), "make room"),
            (refused("53300"), "max_connections"),
            (refused("55P03"), "a lock"),
            (refused("57014"), "statement_timeout"),
            (refused("XX000"), "refused (XX000): é"),
        ] {
            let StoreError::Unavailable(told) = StoreError::from(error) else {
                panic!("it is unavailable");
            };
            assert!(told.contains(cure), "{told}");
            assert!(told.len() < 300, "{told}");
        }
    }
}
