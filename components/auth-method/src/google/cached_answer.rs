//! A cached answer of Google, and how long it may be used for which purpose (contract 8.1, 8.2; SEC-G7, G8, N8, N9).
//!
//! It carries its own times, so that the memory of one instance and the cache of all apply the same rules. Times are milliseconds
//! since 1970, durations milliseconds.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::call_error::CallError;

/// Between two questions because of something that an answer lacks, and for as long an absence is believed.
const ASK_AGAIN_AFTER: u64 = 30_000;
/// A failure to reach Google is the answer to every caller for so long when nothing older can be used. Not [`ASK_AGAIN_AFTER`], because
/// logins must recover within 5 s of an outage (SEC-N7); three tries in 5 s are still fewer than one call per second.
const OUTAGE_REMEMBERED: u64 = 5_000;
/// A failure is kept for so long for the logins that wait for it, also when no other login is to go by it.
const HELD_FOR_WAITERS: u64 = 1_000;

/// The meaning of a failure for the thing that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nature {
    /// Nothing: Google could not be reached, or its answer made no sense. Its earlier answer is still valid.
    Outage,
    /// Google says that there is no such thing.
    Absence,
    /// Google does not tell, and may at any time; what it told before no longer counts.
    Refusal,
    /// Google gives no answer now, and may at any time. Its earlier answer stays valid for as long as it was.
    Reticence,
    /// Nothing: something on our side, such as the credentials, is in the way, and may be mended at any time.
    Obstacle,
    /// Nothing, and others may well fare better.
    OwnTrouble,
}

/// Why a question has no answer.
pub(super) trait Failure: Clone + Serialize + DeserializeOwned + From<CallError> {
    fn nature(&self) -> Nature;
}

/// A good answer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound(serialize = "A: Serialize", deserialize = "A: DeserializeOwned"))]
struct Answer<A> {
    #[serde(serialize_with = "serialize_shared", deserialize_with = "into_arc")]
    value: Arc<A>,
    asked_at: u64,
    fresh_until: u64,
}

/// The last question failed.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Setback<E> {
    error: E,
    at: u64,
    /// Until when no login asks again after a question without an answer.
    until: u64,
}

/// The last good answer, unless Google has taken it back, and how the last question went.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound(
    serialize = "A: Serialize, E: Serialize",
    deserialize = "A: DeserializeOwned, E: DeserializeOwned"
))]
pub(super) struct Known<A, E> {
    answer: Option<Answer<A>>,
    setback: Option<Setback<E>>,
    /// When Google was last asked, with or without success.
    asked_at: u64,
}

/// An answer or a failure to go by.
#[derive(Debug)]
pub(super) struct Found<A, E> {
    pub(super) value: Arc<A>,
    /// Why a later question than the one that this answers failed, if it did.
    pub(super) setback: Option<E>,
    /// True if Google was asked since this login needed it.
    pub(super) is_new: bool,
}

/// The next step about a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    Nothing,
    /// There is something to go by, and one login should ask anew.
    Renewal,
    /// There is no answer, or it lacks what is looked for.
    Answer,
}

impl<A, E> Default for Known<A, E> {
    fn default() -> Self {
        Self {
            answer: None,
            setback: None,
            asked_at: 0,
        }
    }
}

impl<A> Clone for Answer<A> {
    fn clone(&self) -> Self {
        Self {
            value: Arc::clone(&self.value),
            ..*self
        }
    }
}

impl<A, E: Clone> Clone for Known<A, E> {
    fn clone(&self) -> Self {
        Self {
            answer: self.answer.clone(),
            setback: self.setback.clone(),
            asked_at: self.asked_at,
        }
    }
}

impl<A> Answer<A> {
    /// From when on it should be replaced although it is fresh: when `share` thousandths of its life are over.
    const fn ages_at(&self, share: u64) -> u64 {
        let life = self.fresh_until.saturating_sub(self.asked_at);
        self.asked_at
            .saturating_add(life.saturating_mul(share) / 1000)
    }
}

impl<A, E: Failure> Known<A, E> {
    /// The next step at `now`. `has` tells whether an answer holds what is looked for; `stale_for` is how long an answer that is no
    /// longer fresh serves while Google cannot be reached; `share` is when to renew, in thousandths of an answer's life.
    pub(super) fn need(
        &self,
        now: u64,
        has: impl Fn(&A) -> bool,
        stale_for: u64,
        share: u64,
    ) -> Need {
        let asked_lately = now < self.asked_at.saturating_add(ASK_AGAIN_AFTER);
        if let Some(answer) = &self.answer {
            if now < answer.fresh_until {
                return match (asked_lately, has(&answer.value)) {
                    (true, _) => Need::Nothing,
                    (false, false) => Need::Answer,
                    (false, true) if now < answer.ages_at(share) => Need::Nothing,
                    (false, true) => Need::Renewal,
                };
            }
            if asked_lately && now < answer.fresh_until.saturating_add(stale_for) {
                return Need::Nothing;
            }
        }
        match &self.setback {
            Some(setback) if now < setback.until => Need::Nothing,
            _ => Need::Answer,
        }
    }

    /// The answer or failure to go by at `now`; `None` when nothing is known.
    pub(super) fn outcome(&self, now: u64, stale_for: u64) -> Option<Result<Found<A, E>, E>> {
        let setback = self.setback.as_ref().map(|setback| setback.error.clone());
        match self.serving(now, stale_for) {
            Some(answer) => Some(Ok(Found {
                value: Arc::clone(&answer.value),
                setback,
                is_new: false,
            })),
            None => setback.map(Err),
        }
    }

    /// True if a question has failed since `since`.
    pub(super) fn failed_since(&self, since: u64) -> bool {
        self.setback
            .as_ref()
            .is_some_and(|setback| since <= setback.at)
    }

    /// The state of knowledge after Google, asked at `asked_at`, gave `value`, which is fresh for `lifetime`.
    pub(super) const fn answered(value: Arc<A>, asked_at: u64, lifetime: u64) -> Self {
        Self {
            answer: Some(Answer {
                value,
                asked_at,
                fresh_until: asked_at.saturating_add(lifetime),
            }),
            setback: None,
            asked_at,
        }
    }

    /// The state of knowledge after a question of `asked_at` failed at `at`.
    pub(super) fn failed(self, error: E, asked_at: u64, at: u64) -> Self {
        let nature = error.nature();
        let remembered_for = match nature {
            Nature::Outage | Nature::Reticence => OUTAGE_REMEMBERED,
            Nature::Absence => ASK_AGAIN_AFTER,
            Nature::Refusal | Nature::Obstacle | Nature::OwnTrouble => 0,
        };
        // The present word of Google counts, however fresh the opposite is.
        let stands = !matches!(nature, Nature::Absence | Nature::Refusal);
        Self {
            answer: self.answer.filter(|_| stands),
            setback: Some(Setback {
                error,
                at,
                until: at.saturating_add(remembered_for),
            }),
            asked_at,
        }
    }

    /// This or `other`, whichever is of the later question; `other` of two of the same time.
    pub(super) fn or_newer(self, other: Self) -> Self {
        if other.asked_at < self.asked_at {
            self
        } else {
            other
        }
    }

    /// The same without its answer if that is one that `is_refused`.
    pub(super) fn without(self, is_refused: impl Fn(&A) -> bool) -> Self {
        Self {
            answer: self.answer.filter(|answer| !is_refused(&answer.value)),
            ..self
        }
    }

    /// The answer, if it is fresh at `now`.
    pub(super) fn fresh(&self, now: u64) -> Option<&A> {
        self.answer
            .as_ref()
            .filter(|answer| now < answer.fresh_until)
            .map(|answer| &*answer.value)
    }

    /// When the answer that serves at `now` was asked for.
    pub(super) fn answer_asked_at(&self, now: u64, stale_for: u64) -> Option<u64> {
        Some(self.serving(now, stale_for)?.asked_at)
    }

    /// The answer, as long as it serves: while it is fresh, and `stale_for` longer.
    fn serving(&self, now: u64, stale_for: u64) -> Option<&Answer<A>> {
        let serves = |answer: &&Answer<A>| now < answer.fresh_until.saturating_add(stale_for);
        self.answer.as_ref().filter(serves)
    }

    /// From when on nothing of it is of any use.
    pub(super) fn over_at(&self, stale_for: u64) -> u64 {
        let answer = self.answer.as_ref();
        let answer = answer.map_or(0, |answer| answer.fresh_until.saturating_add(stale_for));
        let setback = self.setback.as_ref().map_or(0, |setback| {
            setback
                .until
                .max(setback.at.saturating_add(HELD_FOR_WAITERS))
        });
        answer.max(setback)
    }
}

fn serialize_shared<A: Serialize, S: Serializer>(
    value: &Arc<A>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    value.as_ref().serialize(serializer)
}

fn into_arc<'de, A: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Arc<A>, D::Error> {
    A::deserialize(deserializer).map(Arc::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::google::{Api, ApiError};

    const HOUR: u64 = 3_600_000;
    const SHARE: u64 = 850;

    fn known() -> Known<u32, ApiError> {
        Known::answered(Arc::new(7), 0, HOUR)
    }

    fn outage() -> ApiError {
        CallError::Unavailable(Api::Iam).into()
    }

    fn need(known: &Known<u32, ApiError>, now: u64, wanted: u32) -> Need {
        known.need(now, |value| *value == wanted, HOUR, SHARE)
    }

    fn value(known: &Known<u32, ApiError>, now: u64) -> Option<u32> {
        known.outcome(now, HOUR)?.ok().map(|found| *found.value)
    }

    #[test]
    fn n8_a_fresh_answer_is_renewed_late_in_its_life() {
        for (now, expected) in [
            (0, Need::Nothing),
            (HOUR * 85 / 100 - 1, Need::Nothing),
            (HOUR * 85 / 100, Need::Renewal),
            (HOUR - 1, Need::Renewal),
            (HOUR, Need::Answer),
        ] {
            assert_eq!(need(&known(), now, 7), expected, "{now}");
        }
        let failed = known().failed(outage(), HOUR - 60_000, HOUR - 50_000);
        assert_eq!(need(&failed, HOUR - 30_001, 7), Need::Nothing);
        assert_eq!(need(&failed, HOUR - 30_000, 7), Need::Renewal);
        assert_eq!(value(&failed, HOUR - 30_000), Some(7));
    }

    #[test]
    fn g8_what_an_answer_lacks_is_asked_for_once_in_30_s() {
        assert_eq!(need(&known(), 29_999, 8), Need::Nothing);
        assert_eq!(need(&known(), 30_000, 8), Need::Answer);
    }

    #[test]
    fn n9_a_stale_answer_serves_while_questions_fail_and_no_longer_than_allowed() {
        assert_eq!(need(&known(), HOUR, 7), Need::Answer);
        let failed = known().failed(outage(), HOUR, HOUR + 10_000);
        assert_eq!(need(&failed, HOUR + 29_999, 7), Need::Nothing);
        assert_eq!(need(&failed, HOUR + 30_000, 7), Need::Answer);
        assert_eq!(value(&failed, 2 * HOUR - 1), Some(7));
        assert_eq!(value(&failed, 2 * HOUR), None);
        assert!(failed.outcome(HOUR, 0).is_some_and(|it| it.is_err()));
    }

    #[test]
    fn n7_an_outage_is_the_answer_for_5_s() {
        let failed = Known::default().failed(outage(), 0, 10_000);
        assert_eq!(need(&failed, 14_999, 7), Need::Nothing);
        assert_eq!(need(&failed, 15_000, 7), Need::Answer);
    }

    #[test]
    fn g7_googles_no_ends_what_was_known() {
        let refusal = |status| {
            ApiError::Refused(crate::ApiRefusal {
                status,
                message: String::new(),
                reason: String::new(),
            })
        };
        for (status, remembered) in [(404, Need::Nothing), (403, Need::Answer)] {
            let refused = known().failed(refusal(status), 1000, 1000);
            assert_eq!(value(&refused, 1000), None);
            assert_eq!(need(&refused, 1000, 7), remembered);
            assert_eq!(need(&refused, 31_000, 7), Need::Answer);
        }
    }

    #[test]
    fn the_later_question_counts() {
        let newer = Known::answered(Arc::new(8), 5, HOUR);
        assert_eq!(value(&known().or_newer(newer.clone()), 5), Some(8));
        assert_eq!(value(&newer.or_newer(known()), 5), Some(8));
    }

    #[test]
    fn it_comes_back_from_json_as_it_was() {
        let failed = known().failed(outage(), HOUR, HOUR);
        let text = serde_json::to_string(&failed).unwrap();
        let back: Known<u32, ApiError> = serde_json::from_str(&text).unwrap();
        assert_eq!(value(&back, HOUR + 1), Some(7));
        assert_eq!(serde_json::to_string(&back).unwrap(), text);
    }
}
