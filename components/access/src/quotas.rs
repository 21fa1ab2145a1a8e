//! Quotas: how much there may be at once of what callers make (SEC-T12).
//!
//! A quota of n is n numbered slots in the store, and whatever counts takes one of them in the commit that makes it, on the condition
//! that no token has it, keeps it as long as it lives, and gives it back in the commit that ends it. So there are never more than n; a
//! slot ends with its token, since the store drops both at the same time, and nothing that has expired ever counts; and there is no
//! number that could drift from the truth.
//!
//! Places are taken at random and at first unseen, so a login reads nothing more than without a quota, writes one small record more, and
//! two logins collide only where they draw the same number: no record is shared by all. A login that drew a slot that was taken looks at a
//! few others, then at [`LAST_LOOK`] at once, and is refused when none of these is free. A quota of no more than that is exact; a greater
//! one may refuse when fewer than about one slot in a hundred is free, and never later than when it is full. No cost depends on how
//! many tokens there are.
//!
//! A great quota of tokens counts a sample. A login under one takes its slot only one time in so many, and the slots are as many fewer;
//! but every login requires the slot that it drew to be free, so that all are refused when all slots are taken. So nearly every login
//! writes the record of its token and nothing else. The sample is random and no caller sees who is in it, so it is as large a part of the
//! live tokens even after they have ended. Of the [`SAMPLE`] slots that a sample has at least, [`MARGIN`] standard deviations of the number
//! of those that are taken when the quota is used up are left out: with a probability of all but a few in 100,000 it says that it is full
//! before it is exceeded, and it refuses when fewer than about one in twenty are left. A smaller quota counts each token, which costs a
//! record for each.
//!
//! The slots of a sample are the first ones of the whole quota, of which the tokens of releases that counted each have as large a part
//! as of all. So a sample that they began is right from the start.
//!
//! Tokens that a mount cut off count no more: the slots belong to the mount's generation. A quota that is lowered does not see those
//! above the new number; they end in their time.

use std::num::NonZeroU32;

use gatehouse_ports::{Clock, Random, RandomError, Store};
use gatehouse_storage::{Record, StorageError, Transaction};
use serde::{Deserialize, Serialize};

use crate::api::ServiceError;
use crate::service::AccessService;

/// Places looked at when the one that was drawn is taken.
const FIRST_LOOK: u32 = 16;
/// Places looked at before a quota is said to be full: as many as one read of a store may ask for, or nearly.
const LAST_LOOK: u32 = 1000;

/// How many slots a quota has at least that counts a sample.
const SAMPLE: u32 = 16_384;
/// By how many standard deviations the number of tokens in a sample may be wrong before a quota is exceeded.
const MARGIN: u32 = 4;

/// Marks a slot as taken. The record that holds the slot names it; nothing leads from the slot to that record.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct PlaceRecord {}

impl Record for PlaceRecord {
    const SCHEMA: u16 = 1;
}

/// The slots of one quota.
pub(crate) struct Quota {
    /// The prefix of the keys of its slots, up to their numbers.
    prefix: String,
    slots: NonZeroU32,
    /// For how many each slot stands.
    weight: NonZeroU32,
}

/// A slot that was drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QuotaSlot {
    /// Has to be absent in the commit.
    pub(crate) key: String,
    /// True if what is made has to take it, false if it is not in the sample.
    pub(crate) counts: bool,
}

impl Quota {
    /// `most` slots below `name`, which is part of a key and ends in no `/`.
    pub(crate) fn new(name: &str, most: NonZeroU32) -> Self {
        Self {
            prefix: format!("quota/{name}/"),
            slots: most,
            weight: NonZeroU32::MIN,
        }
    }

    /// The same for `most`, which are counted by a sample if they are many.
    pub(crate) fn by_sample(name: &str, most: NonZeroU32) -> Self {
        let exact = Self::new(name, most);
        let Some(weight) = NonZeroU32::new(most.get() / SAMPLE).filter(|it| it.get() > 1) else {
            return exact;
        };
        let slots = most.get() / weight;
        let slots = slots.saturating_sub(MARGIN * slots.isqrt());
        Self {
            slots: NonZeroU32::new(slots).unwrap_or(NonZeroU32::MIN),
            weight,
            ..exact
        }
    }

    /// True if what is made now is in the sample.
    fn counts(&self, random: &impl Random) -> Result<bool, RandomError> {
        if self.weight == NonZeroU32::MIN {
            return Ok(true);
        }
        let mut bytes = [0; 4];
        random.fill(&mut bytes)?;
        Ok(u32::from_be_bytes(bytes) % self.weight == 0)
    }

    fn key(&self, number: u32) -> String {
        format!("{}{number}", self.prefix)
    }

    /// Numbers of slots in random order: `count` draws, or all slots, from a random one on, where there are no more.
    fn drawn(&self, random: &impl Random, count: u32) -> Result<Vec<u32>, RandomError> {
        let mut bytes = vec![0; 4 * count as usize];
        random.fill(&mut bytes)?;
        let draws = bytes.chunks_exact(4).map(|chunk| {
            let number = chunk
                .iter()
                .fold(0, |number: u32, byte| number << 8 | u32::from(*byte));
            number % self.slots
        });
        if count < self.slots.get() {
            return Ok(draws.collect());
        }
        let start = draws.into_iter().next().unwrap_or_default();
        Ok((start..self.slots.get()).chain(0..start).collect())
    }
}

/// Takes a slot, or keeps it until a new point in time. A commit that takes it requires that it is absent.
pub(crate) fn put_slot(
    transaction: &mut Transaction,
    slot: &str,
    expires_at: Option<u64>,
) -> Result<(), StorageError> {
    transaction.put_until(slot, &PlaceRecord {}, expires_at)?;
    Ok(())
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// A slot of `quota` that may be free; `None` where the quota is full. The first attempt draws without looking, since
    /// slots are mostly free; an attempt after a conflict looks.
    pub(crate) fn slot_in(
        &self,
        quota: &Quota,
        first_attempt: bool,
    ) -> Result<Option<QuotaSlot>, ServiceError> {
        let counts = quota.counts(&self.random)?;
        if first_attempt {
            let drawn = quota.drawn(&self.random, 1)?;
            return Ok(drawn.first().map(|number| QuotaSlot {
                key: quota.key(*number),
                counts,
            }));
        }
        for look in [FIRST_LOOK, LAST_LOOK] {
            let drawn = quota.drawn(&self.random, look)?;
            let keys: Vec<String> = drawn.into_iter().map(|it| quota.key(it)).collect();
            let entries = self.read_all(keys.iter())?;
            let free = keys
                .into_iter()
                .zip(entries)
                .find(|(_, entry)| entry.is_none());
            if let Some((key, _)) = free {
                return Ok(Some(QuotaSlot { key, counts }));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_ports::doubles::SeededRandom;

    fn sampled(most: u32) -> Quota {
        Quota::by_sample("q", NonZeroU32::new(most).unwrap())
    }

    #[test]
    fn t12_a_sample_stands_for_no_more_than_the_quota_and_for_nearly_all_of_it() {
        for most in [1, 2, 1_000, SAMPLE, 2 * SAMPLE - 1] {
            let quota = sampled(most);
            assert_eq!((quota.slots.get(), quota.weight.get()), (most, 1));
        }
        for most in [2 * SAMPLE, 100_000, 1_000_000, 50_000_000, u32::MAX] {
            let quota = sampled(most);
            assert!((SAMPLE / 2..2 * SAMPLE).contains(&quota.slots.get()));
            let stands_for = u64::from(quota.slots.get()) * u64::from(quota.weight.get());
            let most = u64::from(most);
            assert!((most * 95 / 100..most).contains(&stands_for), "{most}");
        }
    }

    #[test]
    fn t12_a_quota_is_not_exceeded_before_its_sample_is_full() {
        let random = SeededRandom::new(1);
        for most in [2 * SAMPLE, 100_000, 1_000_000] {
            let quota = sampled(most);
            let counted = (0..most).filter(|_| quota.counts(&random).unwrap()).count();
            assert!(counted > quota.slots.get() as usize, "{most}: {counted}");
        }
    }
}
