//! Dropping what nothing reads any more, beside the commits.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::shared::{CALL_TIME, Shared, SincePurge};
use super::statements::{BEGIN_PURGE, LOCK_PURGE, PURGE_ENTRIES, PURGE_OUTCOMES};

/// After how many changes expired entries are dropped, and after which time where there are fewer.
const CHANGES_PER_PURGE: usize = 64;
const PURGE_INTERVAL: Duration = Duration::from_secs(10);
/// How many rows one purge drops, so that it holds no commit up.
const PURGE_ROWS: i64 = 1000;

impl Shared {
    /// True for the one caller who is to purge now, having committed so many changes.
    pub(super) fn begins_purge(&self, changes: usize) -> bool {
        let mut since = self
            .since_purge
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        since.changes = since.changes.saturating_add(changes);
        let is_due = since.changes >= CHANGES_PER_PURGE || since.began.elapsed() >= PURGE_INTERVAL;
        if !is_due || self.is_purging.swap(true, Ordering::AcqRel) {
            return false;
        }
        *since = SincePurge {
            began: Instant::now(),
            changes: 0,
        };
        true
    }

    /// Drops what nothing reads any more, a bounded number of rows. What fails is left to the next one.
    pub(super) async fn purge(&self) {
        let now = self.clock.certain_milliseconds();
        let now = i64::try_from(now).unwrap_or(i64::MAX);
        if let Ok(client) = self.connections.get().await {
            let purge = async {
                client.batch_execute(BEGIN_PURGE).await?;
                let locked = client.query_one(LOCK_PURGE, &[]).await?;
                if locked.try_get(0)? {
                    client.execute(PURGE_ENTRIES, &[&now, &PURGE_ROWS]).await?;
                    client.execute(PURGE_OUTCOMES, &[&PURGE_ROWS]).await?;
                }
                client.batch_execute("commit").await
            };
            let purged = tokio::time::timeout(CALL_TIME, purge).await;
            if !matches!(purged, Ok(Ok::<(), tokio_postgres::Error>(()))) {
                // It may be in the middle of a transaction.
                drop(deadpool_postgres::Object::take(client));
            }
        }
        self.is_purging.store(false, Ordering::Release);
    }
}
