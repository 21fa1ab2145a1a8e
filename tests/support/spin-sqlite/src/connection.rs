//! One connection, and the values that pass over it.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use gatehouse_storage_adapter::sqlite::native::{self, Answer};
use gatehouse_storage_adapter::sqlite::{DatabaseError, Value};
use rusqlite::OpenFlags;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

use crate::{Databases, Nature, Verdict, used_baton};

/// The words of Spin's libSQL client for a statement that it does not send.
const UNSUPPORTED: &str = "unsupported statement";
/// The words of the same client when the server refuses to continue with a connection.
const EXPIRED: &str = r#"Hrana: `api error: `{"message":"The stream has expired due to inactivity","code":"STREAM_EXPIRED"}``"#;

/// A connection to a database. Clones are the same connection.
#[derive(Clone)]
pub struct Connection {
    of: Databases,
    connection: Arc<Mutex<rusqlite::Connection>>,
    /// Statements that it was sent.
    sent: Arc<AtomicU64>,
    /// True once an answer was lost, and with it the baton of the next statement.
    has_lost_baton: Arc<AtomicBool>,
}

impl Connection {
    pub(crate) fn open(of: Databases, path: &Path) -> Result<Self, DatabaseError> {
        let flags = match of.nature {
            // As SQLite falls back to where the file is not writable.
            Nature::ReadOnlyFiles => OpenFlags::SQLITE_OPEN_READ_ONLY,
            _ => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
        };
        let flags = flags | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = rusqlite::Connection::open_with_flags(path, flags)?;
        match of.nature {
            Nature::Files | Nature::ReadOnlyFiles => {}
            // It cannot be set below the pages that there are.
            Nature::FullFiles => {
                let asked = "pragma max_page_count = 1";
                let _pages: i64 = connection.query_row(asked, [], |row| row.get(0))?;
            }
            Nature::LibSql { synchronous, .. } => {
                connection.pragma_update(None, "synchronous", synchronous)?;
            }
        }
        let deny_files = |context: AuthContext<'_>| match context.action {
            AuthAction::Attach { filename } if !matches!(filename, "" | ":memory:") => {
                Authorization::Deny
            }
            _ => Authorization::Allow,
        };
        // An authorizer can be set on a connection that is open, as this one is.
        let _ = connection.authorizer(Some(deny_files));
        Ok(Self {
            of,
            connection: Arc::new(Mutex::new(connection)),
            sent: Arc::default(),
            has_lost_baton: Arc::default(),
        })
    }

    /// Executes one statement.
    ///
    /// # Errors
    ///
    /// When SQLite does, in its words, or the test.
    pub fn execute(&self, statement: &str, parameters: &[Value]) -> Result<Answer, DatabaseError> {
        if let Nature::LibSql { statements, .. } = self.of.nature {
            if statement.starts_with("pragma") && statement.contains('=') {
                return Err(DatabaseError::Io(UNSUPPORTED.to_owned()));
            }
            if self.has_lost_baton.load(Ordering::Relaxed) {
                return Err(used_baton());
            }
            if self.sent.fetch_add(1, Ordering::Relaxed) >= statements {
                return Err(DatabaseError::Io(EXPIRED.to_owned()));
            }
        }
        match self.of.verdict(statement) {
            Verdict::Proceed => native::execute(&self.lock(), statement, parameters),
            Verdict::Fail(error) => Err(error),
            Verdict::LoseAnswer(error) => {
                self.has_lost_baton.store(true, Ordering::Relaxed);
                native::execute(&self.lock(), statement, parameters)?;
                Err(error)
            }
        }
    }

    /// The number of rows that the last statement changed.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.lock().changes()
    }

    /// The row that was inserted last.
    #[must_use]
    pub fn last_insert_rowid(&self) -> i64 {
        self.lock().last_insert_rowid()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, rusqlite::Connection> {
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
