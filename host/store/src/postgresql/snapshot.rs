//! The content of the database at one point in time.

use std::time::Duration;

use gatehouse_ports::{StoreError, Version};
use tokio::time::timeout;
use tokio_postgres::{Row, Statement};

use super::address::Address;
use super::confirmation::Confirmation;
use super::error::{unavailable, unreadable};
use super::session::{Parameters, Session, require_confirmed};
use super::statements::{BEGIN_SNAPSHOT, SHOW_VERSIONS, SNAPSHOT_PAGE};
use super::values::{from_database, number};
use crate::backend::{SNAPSHOT_PAGE_BYTES, SNAPSHOT_PAGE_ENTRIES, StoredEntry};
use crate::{Answer, Namespace, Snapshot};

/// The longest that the database may take to begin.
const BEGINNING: Duration = Duration::from_secs(30);

/// A transaction that only reads, on a connection of its own, so that requests have all of the others. It holds no locks, and the database
/// keeps what it may still read.
pub struct TransactionSnapshot {
    session: Session,
    page: Statement,
    last_version: Version,
}

impl TransactionSnapshot {
    /// The content as it is now.
    ///
    /// # Errors
    ///
    /// When the database does not answer, or does not confirm writes.
    pub async fn begin(address: &Address, confirmation: &Confirmation) -> Result<Self, StoreError> {
        let begin = async {
            let (session, server) = Session::open(address).await.map_err(unavailable)?;
            let client = &session.client;
            let confirmed = require_confirmed(client, server, confirmation).await;
            confirmed.map_err(unavailable)?;
            let begun = client.batch_execute(BEGIN_SNAPSHOT).await;
            begun.map_err(unreadable)?;
            let row = client.query_one(SHOW_VERSIONS, &[]).await;
            let row = row.map_err(unreadable)?;
            Ok(Self {
                last_version: from_database(row.try_get(0).map_err(unreadable)?),
                page: client.prepare(SNAPSHOT_PAGE).await.map_err(unreadable)?,
                session,
            })
        };
        let late = |_| unavailable("the database takes too long to begin a snapshot");
        timeout(BEGINNING, begin).await.map_err(late)?
    }

    async fn read(
        &self,
        namespace: Namespace,
        after: Option<&str>,
    ) -> Result<Vec<StoredEntry>, StoreError> {
        let namespace = number(namespace);
        // No key is empty, so all keys come after that.
        let after = after.unwrap_or_default();
        let entries = i64::try_from(SNAPSHOT_PAGE_ENTRIES).unwrap_or(i64::MAX);
        let bytes = i64::try_from(SNAPSHOT_PAGE_BYTES).unwrap_or(i64::MAX);
        let parameters: Parameters<'_> = &[&namespace, &after, &entries, &bytes];
        let rows = self.session.client.query(&self.page, parameters).await;
        let entries = rows.and_then(|rows| rows.iter().map(entry).collect());
        entries.map_err(unreadable)
    }
}

fn entry(row: &Row) -> Result<StoredEntry, tokio_postgres::Error> {
    let end: Option<i64> = row.try_get(2)?;
    Ok(StoredEntry {
        key: row.try_get(0)?,
        value: row.try_get(1)?,
        expires_at: end.map(|end| u64::try_from(end).unwrap_or_default()),
    })
}

impl Snapshot for TransactionSnapshot {
    fn page<'a>(
        &'a mut self,
        namespace: Namespace,
        after: Option<&'a str>,
    ) -> Answer<'a, Result<Vec<StoredEntry>, StoreError>> {
        Box::pin(async move { self.read(namespace, after).await })
    }

    fn last_version(&self) -> Version {
        self.last_version
    }
}
