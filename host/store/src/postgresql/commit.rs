//! A commit, as the statement takes it, and as it answers.

use gatehouse_ports::{Change, Check, Put, Requirement};
use tokio_postgres::Row;

use super::error::{Failure, describe};
use super::values::to_database;

/// Lists of one length each for what is checked, and for what is put.
pub struct Commit<'a> {
    pub checked: Vec<&'a str>,
    pub required: Vec<Option<i64>>,
    pub put: Vec<&'a str>,
    pub values: Vec<&'a [u8]>,
    pub ends: Vec<Option<i64>>,
    pub deleted: Vec<&'a str>,
}

impl<'a> Commit<'a> {
    /// The commit that makes `changes` where `checks` hold.
    pub fn new(checks: &'a [Check], changes: &'a [Change]) -> Self {
        let required = |check: &Check| match check.requirement {
            Requirement::Absent => None,
            Requirement::AtVersion(version) => Some(to_database(version)),
        };
        let mut commit = Self {
            checked: checks.iter().map(|check| check.key.as_str()).collect(),
            required: checks.iter().map(required).collect(),
            put: Vec::with_capacity(changes.len()),
            values: Vec::with_capacity(changes.len()),
            ends: Vec::with_capacity(changes.len()),
            deleted: Vec::new(),
        };
        for change in changes {
            match change {
                Change::Delete(key) => commit.deleted.push(key),
                Change::Put(Put {
                    key,
                    value,
                    expires_at,
                }) => {
                    commit.put.push(key);
                    commit.values.push(value);
                    // Beyond what fits lies a time that does not come.
                    commit
                        .ends
                        .push(expires_at.and_then(|end| i64::try_from(end).ok()));
                }
            }
        }
        commit
    }
}

/// The answer of a commit.
pub struct Outcome {
    /// The first key whose check failed.
    pub failed: Option<String>,
    pub applied: bool,
    /// False if the session is not what it was made when it was prepared: nothing was applied then.
    pub prepared: bool,
    /// False if the guard was lost.
    pub guarded: bool,
}

impl Outcome {
    /// Reads the one row of the answer.
    ///
    /// # Errors
    ///
    /// When there is none, or it is another one: then it is not known what became of the commit.
    pub fn read(rows: &[Row]) -> Result<Self, Failure> {
        let no_answer = || Failure::Unknown("a commit has one answer".to_owned());
        let row = rows.first().ok_or_else(no_answer)?;
        let unreadable = |error: tokio_postgres::Error| Failure::Unknown(describe(&error));
        Ok(Self {
            failed: row.try_get(0).map_err(unreadable)?,
            applied: row.try_get(1).map_err(unreadable)?,
            prepared: row.try_get(2).map_err(unreadable)?,
            guarded: row.try_get(3).map_err(unreadable)?,
        })
    }
}
