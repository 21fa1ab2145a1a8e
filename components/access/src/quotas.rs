//! Quotas: how much there may be at once of what callers make (SEC-T12).
//!
//! A quota of n is n numbered places in the store, and whatever counts takes one of them in the commit that makes it, on the condition
//! that no token has it, keeps it as long as it lives, and gives it back in the commit that ends it. So there are never more than n; a
//! place ends with its token, since the store drops both at the same time, and nothing that has expired ever counts; and there is no
//! number that could drift from the truth.
//!
//! Places are taken at random and at first unseen, so a login reads nothing more than without a quota, writes one small record more, and
//! two logins collide only where they draw the same number: no record is shared by all. Whoever drew a place that was taken looks at a
//! few others, then at [`LAST_LOOK`] at once, and is refused when none of these is free. A quota of no more than that is exact; a greater
//! one may refuse when fewer than about one place in a hundred is free, and never later than when it is full. No cost depends on how
//! many tokens there are.
//!
//! Tokens that a mount cut off count no more: the places belong to the mount's generation. A quota that is lowered does not see those
//! above the new number; they end in their time.

use std::num::NonZeroU32;

use gatehouse_ports::{Clock, Random, RandomError, Store};
use gatehouse_storage::{Record, StorageError, Transaction};
use serde::{Deserialize, Serialize};

use crate::api::Failure;
use crate::service::AccessService;

/// Places looked at when the one that was drawn is taken.
const FIRST_LOOK: u32 = 16;
/// Places looked at before a quota is said to be full: as many as one read of a store may ask for, or nearly.
const LAST_LOOK: u32 = 1000;

/// Stands in a place that is taken. What holds the place knows it; nothing leads from here to there.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct PlaceRecord {}

impl Record for PlaceRecord {
    const SCHEMA: u16 = 1;
}

/// The places of one quota.
pub(crate) struct Quota {
    /// The beginning of the keys of its places, up to their numbers.
    prefix: String,
    places: NonZeroU32,
}

impl Quota {
    /// `places` places below `name`, which is part of a key and ends in no `/`.
    pub(crate) fn new(name: &str, places: NonZeroU32) -> Self {
        Self {
            prefix: format!("quota/{name}/"),
            places,
        }
    }

    /// For how many there is room.
    pub(crate) const fn most(&self) -> u32 {
        self.places.get()
    }

    fn key(&self, number: u32) -> String {
        format!("{}{number}", self.prefix)
    }

    /// Numbers of places in random order: `count` draws, or all places, from a random one on, where there are no more.
    fn drawn(&self, random: &impl Random, count: u32) -> Result<Vec<u32>, RandomError> {
        let mut bytes = vec![0; 4 * count as usize];
        random.fill(&mut bytes)?;
        let draws = bytes.chunks_exact(4).map(|chunk| {
            let number = chunk
                .iter()
                .fold(0, |number: u32, byte| number << 8 | u32::from(*byte));
            number % self.places
        });
        if count < self.places.get() {
            return Ok(draws.collect());
        }
        let start = draws.into_iter().next().unwrap_or_default();
        Ok((start..self.places.get()).chain(0..start).collect())
    }
}

/// Takes a place, or keeps it until a new point in time. A commit that takes it requires that it is absent.
pub(crate) fn put_place(
    transaction: &mut Transaction,
    place: &str,
    expires_at: Option<u64>,
) -> Result<(), StorageError> {
    transaction.put_until(place, &PlaceRecord {}, expires_at)?;
    Ok(())
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// The key of a place of `quota` that may be free; `None` where the quota is full. The first attempt draws without looking, since
    /// places are mostly free; an attempt after a conflict looks.
    pub(crate) fn place_in(
        &self,
        quota: &Quota,
        first_attempt: bool,
    ) -> Result<Option<String>, Failure> {
        if first_attempt {
            let drawn = quota.drawn(&self.random, 1)?;
            return Ok(drawn.first().map(|number| quota.key(*number)));
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
                return Ok(Some(key));
            }
        }
        Ok(None)
    }
}
