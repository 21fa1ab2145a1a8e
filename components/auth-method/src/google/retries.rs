//! The budget of retries for all calls together (SEC-N6).

use std::sync::atomic::{AtomicU32, Ordering};

/// The price of one retry, in tenths of a call.
const PRICE: u32 = 10;
/// The budget of an instance at first.
const AT_FIRST: u32 = 2 * PRICE;
/// The budget that it can save.
const AT_MOST: u32 = 10 * PRICE;

/// Lets one call in ten be tried again in the long run, so that retries cannot make an outage worse.
///
/// Each call adds a tenth of a retry; a quiet instance can afford two at first, and ten at a time after many good calls.
#[derive(Debug)]
pub(crate) struct RetryBudget(AtomicU32);

impl Default for RetryBudget {
    fn default() -> Self {
        Self(AtomicU32::new(AT_FIRST))
    }
}

impl RetryBudget {
    /// For a call that is not a retry.
    pub(super) fn earn(&self) {
        let earned = |saved: u32| Some(saved.saturating_add(1).min(AT_MOST));
        // The closure never declines.
        let _ = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, earned);
    }

    /// Pays for a retry; whether there was enough.
    pub(super) fn spend(&self) -> bool {
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |saved| {
                saved.checked_sub(PRICE)
            })
            .is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::RetryBudget;

    /// Calls per question when `failures` of 100 tries fail, evenly spread.
    fn amplification(failures: u64, questions: u64) -> f64 {
        let budget = RetryBudget::default();
        let mut calls = 0_u64;
        for _ in 0..questions {
            budget.earn();
            for retry in 0..=2 {
                calls += 1;
                let failed = calls * failures % 100 < failures;
                if !failed || retry == 2 || !budget.spend() {
                    break;
                }
            }
        }
        #[allow(clippy::cast_precision_loss, reason = "small numbers")]
        let ratio = calls as f64 / questions as f64;
        ratio
    }

    #[test]
    fn n6_retries_amplify_calls_by_a_tenth_at_most() {
        for (failures, least, most) in [(1, 1.005, 1.02), (10, 1.09, 1.102), (100, 1.09, 1.102)] {
            let ratio = amplification(failures, 10_000);
            assert!((least..most).contains(&ratio), "{failures} %: {ratio}");
        }
    }

    #[test]
    fn n6_savings_are_bounded() {
        let budget = RetryBudget::default();
        (0..100_000).for_each(|_| budget.earn());
        assert_eq!((0..100).filter(|_| budget.spend()).count(), 10);
    }
}
