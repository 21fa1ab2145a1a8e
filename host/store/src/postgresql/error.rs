//! Why a database cannot be used, or did not answer.

use std::fmt;

use gatehouse_ports::StoreError;
use tokio_postgres::error::{Severity, SqlState};

use super::remedy::{causes, remedy};

/// Why a database cannot be the store.
#[derive(Debug, thiserror::Error)]
pub enum PostgresError {
    /// The address of the database is malformed.
    #[error("the address of the database cannot be used: {0}")]
    Address(String),
    /// The connection would leave the machine without TLS.
    #[error(
        "the database is on another machine and its address says sslmode=disable; remove that: the connection is always encrypted, and the \
         server's certificate verified"
    )]
    Unencrypted,
    /// No connection came about, for the reason in the text, which says what mends it.
    #[error("the database cannot be reached: {0}")]
    Unreachable(String),
    /// The server could lose what it acknowledged.
    #[error(
        "the database server runs with {setting} = {value}, and could lose what it acknowledged; set {setting} = on"
    )]
    Unsafe {
        /// The setting of the database server.
        setting: &'static str,
        /// Its value.
        value: String,
    },
    /// The database may only be read.
    #[error(
        "the database takes no writes: it is a standby, or default_transaction_read_only is on; name the primary, or several hosts of which \
         one is the primary"
    )]
    ReadOnly,
    /// None of several hosts may be written.
    #[error(
        "none of the {hosts} hosts in storage.url takes writes: those that answer are standbys, or default_transaction_read_only is on there; \
         start the primary, promote a standby, or name the primary too"
    )]
    NoPrimary {
        /// How many hosts the address names.
        hosts: usize,
    },
    /// Server or pooler do not keep the settings of a session.
    #[error(
        "the settings of a session get lost; a pooler between this server and the database must lend out connections by session, not by \
         transaction or statement"
    )]
    SessionLost,
    /// The server is too old.
    #[error("the database server is of version {0}; it must be PostgreSQL 14 or newer")]
    OldServer(i32),
    /// The server speaks the protocol, but the statements are not made for it.
    #[error(
        "the database server is {0}, where a commit that waited for another one may not see what that has changed; name a database of a \
         PostgreSQL server"
    )]
    OtherEngine(&'static str),
    /// The database is empty.
    #[error(
        "the database has no tables of Gatehouse yet; run `gatehouse operator database migrate`, or set storage.migrate = true"
    )]
    NoSchema,
    /// The tables are older than this code.
    #[error(
        "the tables in the database are of version {found} and this program needs {KNOWN}; make a backup and run `gatehouse operator database \
         migrate`, or set storage.migrate = true", KNOWN = super::statements::KNOWN_SCHEMA
    )]
    OlderSchema {
        /// The version in the database.
        found: i64,
    },
    /// The tables are newer than this code (SEC-S12).
    #[error(
        "the tables in the database are of version {found} and this program knows {KNOWN}; run the newer program that made them",
        KNOWN = super::statements::KNOWN_SCHEMA
    )]
    NewerSchema {
        /// The version in the database.
        found: i64,
    },
    /// Another program uses the name.
    #[error(
        "the database has a schema `gatehouse` that holds something else; name a database of its own for Gatehouse"
    )]
    ForeignSchema,
    /// The user of the database lacks a right.
    #[error(
        "the user of the database may not do this: {0}; grant the right, or run it as the owner of the database"
    )]
    NotPermitted(String),
    /// A server has the installation, and the caller needs it alone.
    #[error(
        "another server uses this database (from {address}, since {since}); this needs it alone: stop all its servers first"
    )]
    InUse {
        /// The address from which it is connected.
        address: String,
        /// The time at which it connected.
        since: String,
    },
    /// A command for stopped servers, or a server of an earlier version, has the installation alone.
    #[error(
        "a command for stopped servers, or a server of an earlier version, has this database alone (from {address}, since {since}); let it \
         end first"
    )]
    HeldAlone {
        /// The address from which it is connected.
        address: String,
        /// The time at which it connected.
        since: String,
    },
    /// The database refused, for another reason.
    #[error("the database refused: {0}")]
    Refused(String),
}

/// The outcome of one statement that has no answer.
#[derive(Debug, Clone)]
pub enum Failure {
    /// It was rolled back because of a conflict with concurrent work. A retry at once is worthwhile.
    Again(String),
    /// It was not sent. A retry on another connection is worthwhile.
    NotSent(String),
    /// It may have been executed.
    Unknown(String),
    /// It was not executed, for want of a connection or of time. A retry at once would fare no better.
    Busy(String),
    /// It was not executed, and a retry would not be either.
    Refused(String),
}

impl Failure {
    /// The failure of a statement that was sent.
    pub fn of_statement(error: &tokio_postgres::Error) -> Self {
        let text = describe(error);
        let Some(refusal) = error.as_db_error() else {
            return Self::Unknown(text);
        };
        match *refusal.code() {
            SqlState::T_R_SERIALIZATION_FAILURE | SqlState::T_R_DEADLOCK_DETECTED => {
                Self::Again(text)
            }
            SqlState::T_R_STATEMENT_COMPLETION_UNKNOWN => Self::Unknown(text),
            // It has taken as long as a statement may.
            SqlState::QUERY_CANCELED => Self::Busy(text),
            // The session ends, perhaps between the commit and its acknowledgement.
            _ if refusal.parsed_severity() != Some(Severity::Error) => Self::Unknown(text),
            _ => Self::Refused(text),
        }
    }

    /// True if the database gave no answer, or none in time: a retry of the same statement may get one later.
    pub const fn is_absence(&self) -> bool {
        !matches!(self, Self::Refused(_))
    }

    /// The failure of a step before the statement itself was sent.
    pub fn before_statement(error: &tokio_postgres::Error) -> Self {
        match Self::of_statement(error) {
            Self::Unknown(text) => Self::NotSent(text),
            other => other,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Again(text) => write!(formatter, "others kept changing the same records: {text}"),
            Self::NotSent(text) | Self::Unknown(text) | Self::Busy(text) | Self::Refused(text) => {
                formatter.write_str(text)
            }
        }
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        Self::Unavailable(format!("the database failed: {failure}"))
    }
}

/// The error in words, without details, which may hold keys or values, and what mends it where that is known.
pub fn describe(error: &tokio_postgres::Error) -> String {
    let text = match error.as_db_error() {
        Some(refusal) => format!("{} ({})", refusal.message(), refusal.code().code()),
        None => with_causes(error),
    };
    match remedy(error) {
        Some(remedy) => format!("{text}; {remedy}"),
        None => text,
    }
}

fn with_causes(error: &tokio_postgres::Error) -> String {
    let mut text = error.to_string();
    for cause in causes(error) {
        let cause = cause.to_string();
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

pub(super) fn unavailable(message: impl ToString) -> StoreError {
    StoreError::Unavailable(message.to_string())
}

pub(super) fn unreadable(error: tokio_postgres::Error) -> StoreError {
    unavailable(describe(&error))
}
