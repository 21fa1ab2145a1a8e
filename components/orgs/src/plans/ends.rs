//! The next end of a plan, for the metrics: a walk over all organizations, a bounded part at each call.

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Attempt, Record, Transaction, commit_with_retries, decode};
use serde::{Deserialize, Serialize};

use crate::record::{ORGANIZATION_PREFIX, OrganizationRecord};
use crate::{Orgs, ServiceError};

/// Organizations looked at in one round.
const ROUND: u32 = 200;
/// Such rounds in one call.
const ROUNDS: usize = 25;

/// Key of the [`EndsRecord`].
const ENDS_KEY: &str = "plan-ends";

/// How far the walk has come. Points in time are milliseconds since 1970.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct EndsRecord {
    /// The key of the last organization that was looked at; `None` where the next call begins a walk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    position: Option<String>,
    /// The next end among the organizations up to there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    found: Option<u64>,
    /// The result of the last walk that came to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    next: Option<u64>,
}

impl Record for EndsRecord {
    const SCHEMA: u16 = 1;
}

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    /// Looks further; see [`Subscriptions::next_plan_end`](crate::Subscriptions::next_plan_end).
    pub(super) fn look_for_plan_ends(&self) -> Result<Option<u64>, ServiceError> {
        let before = self.records.get::<EndsRecord>(ENDS_KEY)?;
        let before = before.map_or_else(EndsRecord::default, |found| found.record);
        let after = self.ends_from(before.clone())?;
        if after != before {
            // Of two concurrent walks the later commit counts: the next call continues from its place, with the end that it has found.
            commit_with_retries(&self.clock, &self.random, || {
                let mut transaction = Transaction::new();
                transaction.put(ENDS_KEY, &after)?;
                Ok::<_, ServiceError>(Attempt::from_commit(self.records.commit(transaction), ())?)
            })?;
        }
        // An end that has passed since is not returned, and the one after it only once a walk has found it.
        let now = self.clock.now_milliseconds();
        Ok(after.next.filter(|end| now < *end))
    }

    fn ends_from(&self, mut walk: EndsRecord) -> Result<EndsRecord, ServiceError> {
        let now = self.clock.now_milliseconds();
        for _ in 0..ROUNDS {
            let store = self.records.store();
            let page = store.scan(ORGANIZATION_PREFIX, walk.position.as_deref(), ROUND)?;
            for item in &page.items {
                let organization: OrganizationRecord = decode(&item.entry.value)?;
                let end = organization.subscription.end_at();
                let ends = walk.found.into_iter().chain(end);
                walk.found = ends.filter(|end| now < *end).min();
            }
            if !page.more {
                return Ok(EndsRecord {
                    next: walk.found,
                    ..EndsRecord::default()
                });
            }
            walk.position = page.items.into_iter().next_back().map(|item| item.key);
        }
        Ok(walk)
    }
}
