//! The database of an installation under Spin that keeps its records in PostgreSQL.
//!
//! One connection, made as that of a server, carries all that a command reads or writes, so that one transaction holds it together: a backup is of
//! the moment at which its transaction began to read, and a restore counts with the end of its own, or not at all.

mod error;
mod link;

use std::sync::Arc;

use gatehouse_ports::{OsRandom, SystemClock};
use gatehouse_storage_adapter::postgres::{PostgresAdapter, whole};
use rustls::ClientConfig;

pub use error::SpinDatabaseError;

use self::link::{Link, LinkHost};
use super::SpinError;
use super::part::{NAMESPACES, Part};
use crate::postgresql::Address;
use crate::{Namespace, RootKey};

/// The database of an installation under Spin, whose schema `gatehouse_spin` has its records.
#[derive(Clone)]
pub struct SpinDatabase {
    address: Address,
}

impl SpinDatabase {
    /// The database at this address, which may hold the password: the text of the variable `postgres_url`. The connection to another machine
    /// is encrypted and the certificate of the server verified by `tls`, whatever the address says.
    ///
    /// # Errors
    ///
    /// When the address is malformed, or asks for a connection that could be listened to. No part of a password is in the error.
    pub fn new(address: &str, tls: &Arc<ClientConfig>) -> Result<Self, SpinError> {
        let address = Address::read_with_password(address.trim_ascii(), tls);
        let address = address.map_err(SpinDatabaseError::from)?;
        Ok(Self { address })
    }

    /// The records of all capabilities that have any, as they are at this moment.
    pub(super) fn open_to_read(&self, seal_key: &RootKey) -> Result<DatabaseParts, SpinError> {
        let link = Link::open(&self.address)?;
        whole::begin_to_read(&link)?;
        with_records(&link, seal_key)
    }

    /// The same, to change them while Spin runs.
    pub(super) fn open_to_write(&self, seal_key: &RootKey) -> Result<DatabaseParts, SpinError> {
        with_records(&Link::open(&self.address)?, seal_key)
    }

    /// Makes sure that the database can be filled.
    pub(super) fn look(&self) -> Result<FreeDatabase, SpinError> {
        let link = Link::open(&self.address)?;
        require_empty(&link)?;
        Ok(FreeDatabase { link })
    }
}

/// The records of an installation.
pub(super) struct DatabaseParts {
    pub(super) access: Box<dyn Part>,
    pub(super) others: Vec<(Namespace, Box<dyn Part>)>,
}

/// A database that had no records when it was looked at.
pub(super) struct FreeDatabase {
    link: Link,
}

impl FreeDatabase {
    /// Begins to fill it. From now on no other program does.
    pub(super) fn fill(self, seal_key: &RootKey) -> Result<FilledDatabase, SpinError> {
        let link = self.link;
        whole::begin_to_fill(&link)?;
        // Another program may have been first.
        require_empty(&link)?;
        let mut parts = Vec::new();
        for namespace in NAMESPACES {
            parts.push((namespace, part(namespace, &link, seal_key)?));
        }
        Ok(FilledDatabase { link, parts })
    }
}

/// A database that is being filled, by one transaction. Dropping this undoes it.
pub(super) struct FilledDatabase {
    link: Link,
    parts: Vec<(Namespace, Box<dyn Part>)>,
}

impl FilledDatabase {
    pub(super) fn part(&self, namespace: Namespace) -> Option<&dyn Part> {
        let (_, part) = self.parts.iter().find(|(known, _)| *known == namespace)?;
        Some(&**part)
    }

    /// Makes all of it count.
    pub(super) fn finish(self) -> Result<(), SpinError> {
        let done = whole::commit(&self.link);
        done.map_err(|error| match error.leaves_outcome_open() {
            true => SpinDatabaseError::OutcomeUnknown.into(),
            false => error.into(),
        })
    }
}

/// The records of `namespace` by the adapter for this database, opened; they get a keyring where there is none.
fn part(namespace: Namespace, link: &Link, seal_key: &RootKey) -> Result<Box<dyn Part>, SpinError> {
    let host = LinkHost::new(link.clone(), seal_key);
    let adapter = PostgresAdapter::new(host, namespace.label(), SystemClock, OsRandom);
    let part: Box<dyn Part> = Box::new(adapter);
    part.open()?;
    Ok(part)
}

/// The records of all capabilities that have any.
fn with_records(link: &Link, seal_key: &RootKey) -> Result<DatabaseParts, SpinError> {
    let holdings = whole::holdings(link, &NAMESPACES.map(Namespace::label))?;
    let (mut access, mut others) = (None, Vec::new());
    for (namespace, holding) in NAMESPACES.into_iter().zip(holdings) {
        if !holding.has_keyring {
            if holding.has_entries {
                let label = namespace.label();
                return Err(SpinDatabaseError::NoKeyring { label }.into());
            }
            continue;
        }
        let part = part(namespace, link, seal_key)?;
        match namespace {
            Namespace::Access => access = Some(part),
            other => others.push((other, part)),
        }
    }
    // The access capability has the identity of the installation.
    let access = access.ok_or(SpinDatabaseError::NoInstallation)?;
    Ok(DatabaseParts { access, others })
}

fn require_empty(link: &Link) -> Result<(), SpinError> {
    let holdings = whole::holdings(link, &NAMESPACES.map(Namespace::label))?;
    let has_any = |holding: &whole::Holding| holding.has_keyring || holding.has_entries;
    match holdings.iter().any(has_any) {
        true => Err(SpinDatabaseError::NotEmpty.into()),
        false => Ok(()),
    }
}
