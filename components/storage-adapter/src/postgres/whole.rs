//! The database as a whole, for programs that copy an installation from it or into it on a connection of their own.

use gatehouse_ports::StoreError;

use super::database::{Database, DatabaseError, Parameter, Value};
use super::statements::{
    self, BEGIN_TO_FILL, BEGIN_TO_READ, CHECK_TRANSACTION, COMMIT, HAS_TABLES, LOCK_TABLES,
    SHOW_STORES, TAKE_GATE,
};

/// The parts of one store that a database has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Holding {
    /// True if it was opened before.
    pub has_keyring: bool,
    /// True if it has entries.
    pub has_entries: bool,
}

/// Begins a transaction on this connection that changes nothing. All its reads are of the moment of the first one.
///
/// # Errors
///
/// When the database fails.
pub fn begin_to_read(database: &impl Database) -> Result<(), DatabaseError> {
    database.execute(BEGIN_TO_READ, &[])
}

/// Begins a transaction on this connection in which stores are filled, by as many commits as that takes, and makes the tables where they
/// are missing. Until it ends, no instance opens a new store, and none commits.
///
/// # Errors
///
/// When the database fails, or other sessions have its tables locked.
pub fn begin_to_fill(database: &impl Database) -> Result<(), DatabaseError> {
    database.execute(BEGIN_TO_FILL, &[])?;
    database.execute(&statements::create(), &[])?;
    // In the order of a commit.
    database.execute(TAKE_GATE, &[])?;
    database.execute(LOCK_TABLES, &[])
}

/// Ends the transaction, after which everything that it has written counts.
///
/// # Errors
///
/// When the database fails, or failed before. Nothing is written then, except where the error
/// [leaves that open](DatabaseError::leaves_outcome_open).
pub fn commit(database: &impl Database) -> Result<(), DatabaseError> {
    database.query(CHECK_TRANSACTION, &[])?;
    database.execute(COMMIT, &[])
}

/// The parts of the stores called `labels` that the database has, in the order of `labels`.
///
/// # Errors
///
/// When the database fails, or has tables of another kind.
pub fn holdings(database: &impl Database, labels: &[&str]) -> Result<Vec<Holding>, StoreError> {
    let altered = || {
        let text = "the PostgreSQL database has tables in the schema gatehouse_spin that are not of this software";
        StoreError::Unavailable(text.to_owned())
    };
    let has_tables = database.query(HAS_TABLES, &[])?;
    if has_tables.first().map(Vec::as_slice) != Some(&[Value::Boolean(true)]) {
        return Ok(labels.iter().map(|_| Holding::default()).collect());
    }
    let labels = labels.iter().map(|label| (*label).to_owned()).collect();
    let rows = database.query(SHOW_STORES, &[Parameter::Texts(labels)]);
    let rows = rows.map_err(|error| match error.lacks_tables() {
        true => altered(),
        false => error.into(),
    })?;
    let holding = |row: Vec<Value>| match row[..] {
        [Value::Boolean(has_keyring), Value::Boolean(has_entries)] => Ok(Holding {
            has_keyring,
            has_entries,
        }),
        _ => Err(altered()),
    };
    rows.into_iter().map(holding).collect()
}
