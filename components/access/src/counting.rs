//! The number of live service tokens, for the metrics: a walk over all of them, a bounded part at each call.
//!
//! No number is kept up to date beside the tokens: every login would write it, and it would drift as tokens expire.

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Attempt, Record, Records, Transaction, commit_with_retries};
use serde::{Deserialize, Serialize};

use crate::api::ServiceError;
use crate::records::{TOKEN_PREFIX, TokenRecord};
use crate::service::AccessService;

/// Tokens looked at in one round.
const ROUND: u32 = 200;
/// Such rounds in one call.
const ROUNDS: usize = 100;

/// Key of the [`CountRecord`].
const COUNT_KEY: &str = "token-count";

/// The progress of the count.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct CountRecord {
    /// The key of the last token that was looked at; `None` where the next call begins a count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    position: Option<String>,
    /// The live tokens up to there.
    counted: u64,
    /// The result of the last complete count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    total: Option<u64>,
}

impl Record for CountRecord {
    const SCHEMA: u16 = 1;
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// Counts a further part; see [`System::count_tokens`](crate::api::System::count_tokens).
    pub(crate) fn count_further(&self) -> Result<Option<u64>, ServiceError> {
        self.hasher()?;
        let before = self.records.get::<CountRecord>(COUNT_KEY)?;
        let before = before.map_or_else(CountRecord::default, |found| found.record);
        let after = self.counted_from(before.clone())?;
        if after != before {
            // Of two concurrent counts, the later commit wins: the count continues from its position, with its number.
            commit_with_retries(&self.clock, &self.random, || {
                let mut transaction = Transaction::new();
                transaction.put(COUNT_KEY, &after)?;
                Ok::<_, ServiceError>(Attempt::from_commit(self.records.commit(transaction), ())?)
            })?;
        }
        Ok(after.total)
    }

    fn counted_from(&self, mut count: CountRecord) -> Result<CountRecord, ServiceError> {
        for _ in 0..ROUNDS {
            let store = self.records.store();
            let page = store.scan(TOKEN_PREFIX, count.position.as_deref(), ROUND)?;
            let last = page.items.last().map(|item| item.key.clone());
            let mut tokens = Vec::with_capacity(page.items.len());
            for item in page.items {
                tokens.extend(Records::<S>::load::<TokenRecord>(Some(item.entry))?);
            }
            let foundations = self.foundations(tokens.iter().map(|token| &token.record))?;
            let live = tokens.iter().filter(|it| foundations.carry(&it.record));
            count.counted += live.count() as u64;
            if !page.more {
                return Ok(CountRecord {
                    total: Some(count.counted),
                    ..CountRecord::default()
                });
            }
            count.position = last;
        }
        Ok(count)
    }
}
