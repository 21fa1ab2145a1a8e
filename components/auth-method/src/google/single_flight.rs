//! Single-flight: only one of all instances at a time asks Google a given question (contract 8.1, rule 6; SEC-G8, N8).
//!
//! Every instance keeps answers in its own memory and in the cache that it shares with the others. An instance that needs an answer that
//! neither has puts its claim into the shared entry and asks Google. The others wait for the answer, or for the claim to run out.
//! Without a shared cache every claim succeeds, and each instance asks.

use std::sync::Arc;
use std::time::Duration;

use gatehouse_ports::rules::jittered;
use gatehouse_ports::{Clock, Http, MAXIMUM_VALUE_BYTES, Random, Version};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use super::cached_answer::{Failure, Found, Known, Nature, Need};
use super::call_error::CallError;
use super::slot::CacheSlot;
use super::{Api, Google};

/// Milliseconds that a claim lasts: one question with its retries, and a margin. It expires, since its holder may have crashed.
const CLAIM_LASTS: u64 = 12_000;
/// The pause between two checks for the end of another instance's claim: the first one, and the longest.
const POLLS: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(50));
/// Swaps of one entry that may be lost to others before it is left alone.
const MAXIMUM_LOST_SWAPS: u32 = 8;
/// When an answer is renewed at the earliest and at the latest, in thousandths of its life.
const RENEWAL: (u64, u64) = (800, 900);

/// A question whose answer instances share.
pub(super) struct SharedQuestion<'a, A, E> {
    /// The API that is to blame when there is no answer in time.
    pub(super) api: Api,
    /// The kind of the question, as a segment of the shared key.
    pub(super) kind: &'static str,
    /// The name of the subject that it is about; empty where a mount has only one.
    pub(super) name: &'a str,
    /// The place where this instance keeps the answer.
    pub(super) slot: &'a CacheSlot<A, E>,
    /// Milliseconds that an answer serves beyond its life while Google cannot be reached.
    pub(super) stale_for: u64,
}

/// The part of one question that instances share. Times are milliseconds since 1970.
#[derive(Serialize, Deserialize)]
#[serde(bound(
    serialize = "A: Serialize, E: Serialize",
    deserialize = "A: DeserializeOwned, E: DeserializeOwned"
))]
struct Shared<A, E> {
    known: Known<A, E>,
    /// The end of the claim of the instance that is asking; 0 when none is.
    claimed_until: u64,
}

impl<A, E> Default for Shared<A, E> {
    fn default() -> Self {
        Self {
            known: Known::default(),
            claimed_until: 0,
        }
    }
}

impl<H: Http, C: Clock, R: Random> Google<'_, H, C, R> {
    /// The answer or failure to use: the known one if it suffices, else that of `fetch`, whose answer comes with the milliseconds that it is fresh.
    ///
    /// `has` tells whether an answer holds what the caller looks for; the answer that is returned may still lack it.
    pub(super) fn consult<A, E>(
        &self,
        question: &SharedQuestion<'_, A, E>,
        has: impl Fn(&A) -> bool,
        fetch: impl FnOnce() -> Result<(A, u64), E>,
    ) -> Result<Found<A, E>, E>
    where
        A: Serialize + DeserializeOwned,
        E: Failure,
    {
        let began = self.clock.now_milliseconds();
        let own = question.slot.get(question.name, began).unwrap_or_default();
        if self.need(question, &own, began, &has) == Need::Nothing
            && let Some(outcome) = own.outcome(began, question.stale_for)
        {
            return outcome;
        }
        let key = self.shared_key(question);
        let (mut has_waited, mut lost_swaps) = (false, 0);
        loop {
            let (shared, version) = self.shared::<A, E>(&key);
            let now = self.clock.now_milliseconds();
            let known = own.clone().or_newer(shared.known);
            let outcome = known.outcome(now, question.stale_for);
            let is_asked_elsewhere = is_claimed(shared.claimed_until, now);
            let settled = match self.need(question, &known, now, &has) {
                Need::Nothing => true,
                Need::Renewal => is_asked_elsewhere,
                // An instance that waited shares the failure, as it would have shared the answer.
                Need::Answer => has_waited && known.failed_since(began),
            };
            if settled && let Some(mut outcome) = outcome {
                if let Ok(found) = &mut outcome {
                    found.is_new = has_waited;
                }
                question.keep(known, now);
                return outcome;
            }
            if is_asked_elsewhere {
                has_waited = true;
                self.wait_for_change(&key, version, shared.claimed_until)
                    .ok_or(CallError::Unavailable(question.api))?;
                continue;
            }
            let claimed_until = now.saturating_add(CLAIM_LASTS);
            let claim = Shared {
                known: known.clone(),
                claimed_until,
            };
            if !self.swap(question, &key, version, &claim) && lost_swaps < MAXIMUM_LOST_SWAPS {
                lost_swaps += 1;
                continue;
            }
            return self.ask_google(question, &key, known, claimed_until, now, fetch);
        }
    }

    /// Asks Google, and shares the answer with the instances that wait for it.
    fn ask_google<A, E>(
        &self,
        question: &SharedQuestion<'_, A, E>,
        key: &str,
        known: Known<A, E>,
        claimed_until: u64,
        asked_at: u64,
        fetch: impl FnOnce() -> Result<(A, u64), E>,
    ) -> Result<Found<A, E>, E>
    where
        A: Serialize + DeserializeOwned,
        E: Failure,
    {
        let error = match fetch() {
            Ok((value, lifetime)) => {
                let value = Arc::new(value);
                let known = Known::answered(Arc::clone(&value), asked_at, lifetime);
                self.publish(question, key, known.clone(), claimed_until);
                question.keep(known, asked_at);
                return Ok(Found {
                    value,
                    setback: None,
                    is_new: true,
                });
            }
            Err(error) => error,
        };
        let now = self.clock.now_milliseconds();
        let concerns_others = match error.nature() {
            Nature::OwnTrouble => false,
            // A question that was cut off because its asker ran out of time says nothing about Google.
            Nature::Outage => self.deadline.time_left(self.clock).is_some(),
            Nature::Absence | Nature::Refusal | Nature::Reticence | Nature::Obstacle => true,
        };
        let after = known.clone().failed(error.clone(), asked_at, now);
        if concerns_others {
            self.publish(question, key, after.clone(), claimed_until);
            question.keep(after.clone(), now);
        } else {
            self.publish(question, key, known, claimed_until);
        }
        after.outcome(now, question.stale_for).unwrap_or(Err(error))
    }

    /// Ends the claim that lasts until `claimed_until`, and shares `known` unless a newer answer is shared already.
    fn publish<A, E>(
        &self,
        question: &SharedQuestion<'_, A, E>,
        key: &str,
        known: Known<A, E>,
        claimed_until: u64,
    ) where
        A: Serialize + DeserializeOwned,
        E: Failure,
    {
        for _ in 0..MAXIMUM_LOST_SWAPS {
            let (shared, version) = self.shared::<A, E>(key);
            let is_ours = shared.claimed_until == claimed_until;
            let published = Shared {
                known: shared.known.or_newer(known.clone()),
                claimed_until: if is_ours { 0 } else { shared.claimed_until },
            };
            if self.swap(question, key, version, &published) {
                return;
            }
        }
    }

    /// Makes all instances forget an answer that `is_refused`. Another one stays: an instance may have fetched it since.
    pub(super) fn forget<A, E>(
        &self,
        question: &SharedQuestion<'_, A, E>,
        is_refused: impl Fn(&A) -> bool,
    ) where
        A: Serialize + DeserializeOwned,
        E: Failure,
    {
        let now = self.clock.now_milliseconds();
        if let Some(known) = question.slot.get(question.name, now) {
            question.keep(known.without(&is_refused), now);
        }
        let key = self.shared_key(question);
        for _ in 0..MAXIMUM_LOST_SWAPS {
            let (shared, version) = self.shared::<A, E>(&key);
            if version.is_none() || !shared.known.fresh(now).is_some_and(&is_refused) {
                return;
            }
            let forgotten = Shared {
                known: shared.known.without(&is_refused),
                ..shared
            };
            if self.swap(question, &key, version, &forgotten) {
                return;
            }
        }
    }

    /// Waits until the entry is no longer at `version`, at most until `until`. `None` when this login's own deadline has passed.
    fn wait_for_change(&self, key: &str, version: Option<Version>, until: u64) -> Option<()> {
        let (mut pause, longest) = POLLS;
        while self.clock.now_milliseconds() < until {
            let left = self.deadline.time_left(self.clock)?;
            let half = pause / 2;
            self.clock
                .sleep((half + jittered(half, self.random)).min(left));
            pause = (pause * 2).min(longest);
            if self.cache.get(key).map(|entry| entry.version) != version {
                break;
            }
        }
        Some(())
    }

    fn need<A, E: Failure>(
        &self,
        question: &SharedQuestion<'_, A, E>,
        known: &Known<A, E>,
        now: u64,
        has: impl Fn(&A) -> bool,
    ) -> Need {
        known.need(now, has, question.stale_for, self.renewal_share())
    }

    /// The point at which this instance renews, in thousandths of an answer's life: random, so that not all instances renew at once.
    fn renewal_share(&self) -> u64 {
        *self.memory.renewal_share.get_or_init(|| {
            let (earliest, latest) = RENEWAL;
            let mut byte = [0];
            // A failure leaves the earliest point, which is as good as any other.
            let _ = self.random.fill(&mut byte);
            let [byte] = byte;
            earliest + (latest - earliest) * u64::from(byte) / 255
        })
    }

    /// Names are digested: callers choose them, and keys are short and plain.
    fn shared_key<A, E>(&self, question: &SharedQuestion<'_, A, E>) -> String {
        let mut key = format!("{}{}", self.memory.shared_prefix, question.kind);
        if !question.name.is_empty() {
            key.push('/');
            key.push_str(&base16ct::lower::encode_string(&Sha256::digest(
                question.name,
            )));
        }
        key
    }

    /// The newer of what this instance knows and what instances share.
    pub(super) fn known<A, E>(&self, question: &SharedQuestion<'_, A, E>) -> Known<A, E>
    where
        A: DeserializeOwned,
        E: Failure,
    {
        let own = question
            .slot
            .get(question.name, self.clock.now_milliseconds());
        let (shared, _) = self.shared::<A, E>(&self.shared_key(question));
        own.unwrap_or_default().or_newer(shared.known)
    }

    /// The shared state now. An entry that cannot be read counts as absent, and will be replaced.
    fn shared<A, E>(&self, key: &str) -> (Shared<A, E>, Option<Version>)
    where
        A: DeserializeOwned,
        E: DeserializeOwned,
    {
        let Some(entry) = self.cache.get(key) else {
            return (Shared::default(), None);
        };
        let value = Zeroizing::new(entry.value);
        let shared = serde_json::from_slice(&value).unwrap_or_default();
        (shared, Some(entry.version))
    }

    /// True if no other instance was first. An answer that cannot be shared stays in this instance.
    fn swap<A, E>(
        &self,
        question: &SharedQuestion<'_, A, E>,
        key: &str,
        version: Option<Version>,
        shared: &Shared<A, E>,
    ) -> bool
    where
        A: Serialize,
        E: Failure,
    {
        let Ok(value) = serde_json::to_vec(shared).map(Zeroizing::new) else {
            return true;
        };
        if value.len() > MAXIMUM_VALUE_BYTES {
            return true;
        }
        let over_at = shared.known.over_at(question.stale_for);
        let expires_at = over_at.max(shared.claimed_until);
        self.cache.swap(key, version, &value, expires_at)
    }
}

/// True while an instance is asking at `now`. A claim that would last longer than [`CLAIM_LASTS`] is invalid.
const fn is_claimed(until: u64, now: u64) -> bool {
    now < until && until <= now.saturating_add(CLAIM_LASTS)
}

impl<A, E: Failure> SharedQuestion<'_, A, E> {
    fn keep(&self, known: Known<A, E>, now: u64) {
        let over_at = known.over_at(self.stale_for);
        self.slot.keep(self.name, known, over_at, now);
    }
}
