//! A commit, as the statement takes it.

use gatehouse_ports::{Change, Check, Requirement};

use super::to_database;

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
                Change::Delete { key } => commit.deleted.push(key),
                Change::Put {
                    key,
                    value,
                    expires_at,
                } => {
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
