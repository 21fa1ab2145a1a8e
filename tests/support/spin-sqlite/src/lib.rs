//! A double of `spin:sqlite`, as Spin 3.6 and 4.1 have it in their own process, for tests and for the host that stands in for Spin.
//!
//! As there, every call of `open` makes a connection of its own to the file of the label; a connection executes one statement at a time,
//! waits up to five seconds for others where it is not told otherwise, and may not attach files. Errors are those of SQLite, in its words.
//! Tests can make another client of the same databases, and decide the outcome of each statement and the [nature](Nature) of the
//! databases.

mod connection;
mod host;

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use gatehouse_storage_adapter::sqlite::DatabaseError;
use tempfile::TempDir;

pub use connection::Connection;
pub use host::AdapterHost;

/// The outcome of one statement, as a test has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is executed.
    Proceed,
    /// It fails and does nothing.
    Fail(DatabaseError),
    /// It is executed, and its answer is lost on the way.
    LoseAnswer(DatabaseError),
}

/// The kind of database behind the labels of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Nature {
    /// Files that Spin opens itself.
    #[default]
    Files,
    /// The same, which may be read and not written.
    ReadOnlyFiles,
    /// The same, on a disk that has no room for them to grow.
    FullFiles,
    /// A server of libSQL, which makes settings itself: clients may ask and not set. A connection that lost an answer is of no use any more.
    LibSql {
        /// Its `pragma synchronous`.
        synchronous: i64,
        /// Statements that a connection executes before the server ends it, as one does when it has rested for ten seconds.
        statements: u64,
    },
}

impl Nature {
    /// A server that waits for its disk, and ends connections often.
    pub const LIBSQL: Self = Self::LibSql {
        synchronous: 2,
        statements: 32,
    };
}

/// The words of Spin's libSQL client for an answer of the server that was lost on the way.
#[must_use]
pub fn lost_answer() -> DatabaseError {
    let text = "Hrana: `http error: `connection closed before message completed``";
    DatabaseError::Io(text.to_owned())
}

/// The words of the same client when the server refuses to execute a request that it has had before: a connection continues with a baton
/// that each answer renews.
#[must_use]
pub fn used_baton() -> DatabaseError {
    let text = "Hrana: `api error: `Received a baton that has already been used``";
    DatabaseError::Io(text.to_owned())
}

impl FromStr for Nature {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "files" => Ok(Self::Files),
            "read-only" => Ok(Self::ReadOnlyFiles),
            "full" => Ok(Self::FullFiles),
            "libsql" => Ok(Self::LIBSQL),
            _ => Err("expected files, read-only, full or libsql".to_owned()),
        }
    }
}

type Intercept = Arc<dyn Fn(&str) -> Verdict + Send + Sync>;

/// The databases of an application, as one client sees them. Clones are the same client.
#[derive(Clone)]
pub struct Databases {
    files: Arc<Files>,
    nature: Nature,
    intercept: Arc<Mutex<Option<Intercept>>>,
}

struct Files {
    folder: PathBuf,
    labels: Vec<String>,
    /// A folder of their own, where they have no other.
    _own: Option<TempDir>,
}

impl Databases {
    /// Databases that are removed with the last client.
    ///
    /// # Panics
    ///
    /// When there is no room for a folder.
    #[must_use]
    pub fn new(labels: &[&str]) -> Self {
        let own = tempfile::tempdir().expect("a folder for databases");
        Self::over(own.path().to_owned(), labels, Some(own))
    }

    /// Databases in `folder`, which exists.
    #[must_use]
    pub fn in_folder(folder: &Path, labels: &[&str]) -> Self {
        Self::over(folder.to_owned(), labels, None)
    }

    fn over(folder: PathBuf, labels: &[&str], own: Option<TempDir>) -> Self {
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        Self {
            files: Arc::new(Files {
                folder,
                labels,
                _own: own,
            }),
            nature: Nature::Files,
            intercept: Arc::default(),
        }
    }

    /// The same databases, as a client sees them where they are of that nature.
    #[must_use]
    pub fn with(self, nature: Nature) -> Self {
        Self { nature, ..self }
    }

    /// The file of a label.
    #[must_use]
    pub fn path(&self, label: &str) -> PathBuf {
        self.files.folder.join(format!("{label}.sqlite"))
    }

    /// Another client of the same databases, for which nothing goes wrong.
    #[must_use]
    pub fn another_client(&self) -> Self {
        Self {
            files: self.files.clone(),
            nature: Nature::Files,
            intercept: Arc::default(),
        }
    }

    /// Has `intercept` decide about every statement of this client from now on, by its text.
    pub fn intercept(&self, intercept: impl Fn(&str) -> Verdict + Send + Sync + 'static) {
        let mut place = self
            .intercept
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *place = Some(Arc::new(intercept));
    }

    /// A connection to the database behind `label`.
    ///
    /// # Errors
    ///
    /// When it is not declared, or its file cannot be opened.
    pub fn open(&self, label: &str) -> Result<Connection, DatabaseError> {
        if !self.files.labels.iter().any(|known| known == label) {
            return Err(DatabaseError::AccessDenied);
        }
        Connection::open(self.clone(), &self.path(label))
    }

    pub(crate) fn verdict(&self, statement: &str) -> Verdict {
        let intercept = self
            .intercept
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        intercept.map_or(Verdict::Proceed, |intercept| intercept(statement))
    }
}
