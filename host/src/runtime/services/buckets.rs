//! Buckets that fill by themselves, shared by all instances (SEC-R1, R2).
//!
//! A bucket is kept as one point in time: when it will be full again (the generic cell rate algorithm of ATM networks). Taking one out moves
//! that point; there is room as long as it does not lie further ahead than a whole bucket takes to fill. Libraries count one key at
//! a time, and here a login counts for its source and for its mount together or for neither.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

pub use super::bindings::gatehouse::host::rate_limits::{Bucket, Level};

/// Buckets that are remembered at the least; up to twice as many are in memory, some 32 bytes each.
const REMEMBERED: usize = 500_000;

/// Rate limits of one process, or of several that share them.
pub struct Buckets {
    /// Among how many servers a bucket is divided.
    servers: Box<dyn Fn() -> usize + Send + Sync>,
    /// The zero of all points in time.
    start: Instant,
    /// The keys come from callers that are not trusted, so no caller may know which of them collide.
    hasher: RandomState,
    fills: Mutex<Fills>,
}

impl Default for Buckets {
    fn default() -> Self {
        Self::divided_among(|| 1)
    }
}

impl Buckets {
    /// Buckets that are divided among as many servers as `servers` says at each moment. No server asks another one. All of them together let
    /// no more through than one bucket would, unless there are more servers than a bucket holds, since each lets one through at least. They
    /// let less through where clients do not spread over them.
    pub fn divided_among(servers: impl Fn() -> usize + Send + Sync + 'static) -> Self {
        Self {
            servers: Box::new(servers),
            start: Instant::now(),
            hasher: RandomState::new(),
            fills: Mutex::new(Fills::new(REMEMBERED)),
        }
    }

    /// Takes one out of each bucket if all have one, and says how far they are filled then. The WIT interface is the specification.
    ///
    /// # Errors
    ///
    /// The milliseconds after which a retry is worthwhile.
    pub fn take(&self, buckets: &[Bucket]) -> Result<Vec<Level>, u32> {
        let now = self.start.elapsed();
        let servers = u32::try_from((self.servers)()).unwrap_or(u32::MAX).max(1);
        let shares: Vec<(u64, Bucket)> = buckets
            .iter()
            .map(|bucket| (self.hasher.hash_one(&bucket.key), share(bucket, servers)))
            .collect();
        let buckets: Vec<(u64, &Bucket)> =
            shares.iter().map(|(key, share)| (*key, share)).collect();
        // The state is whole even after a panic elsewhere: nothing in here panics between two of its steps.
        let mut fills = self.fills.lock().unwrap_or_else(PoisonError::into_inner);
        fills.take(now, &buckets)
    }
}

/// The times at which the buckets will be full, in two generations: the buckets that were asked for lately, and those of before. When the
/// young are too many, the old are forgotten; a forgotten bucket is full.
struct Fills {
    young: HashMap<u64, Duration>,
    old: HashMap<u64, Duration>,
    limit: usize,
}

impl Fills {
    fn new(limit: usize) -> Self {
        Self {
            young: HashMap::new(),
            old: HashMap::new(),
            limit,
        }
    }

    fn take(&mut self, now: Duration, buckets: &[(u64, &Bucket)]) -> Result<Vec<Level>, u32> {
        let mut taken = Vec::with_capacity(buckets.len());
        let mut levels = Vec::with_capacity(buckets.len());
        let mut wait = Duration::ZERO;
        for (key, bucket) in buckets {
            let interval = interval(bucket);
            let full_at = self.full_at(*key).max(now).saturating_add(interval);
            let latest = now.saturating_add(interval.saturating_mul(bucket.burst.max(1)));
            wait = wait.max(full_at.saturating_sub(latest));
            taken.push((*key, full_at));
            levels.push(Level {
                remaining: whole(latest.saturating_sub(full_at), interval).min(bucket.burst),
                full_in: milliseconds(full_at.saturating_sub(now)),
            });
        }
        if wait > Duration::ZERO {
            return Err(milliseconds(wait));
        }
        for (key, full_at) in taken {
            self.remember(key, full_at);
        }
        Ok(levels)
    }

    fn full_at(&self, key: u64) -> Duration {
        let known = self.young.get(&key).or_else(|| self.old.get(&key));
        known.copied().unwrap_or_default()
    }

    fn remember(&mut self, key: u64, full_at: Duration) {
        if self.young.len() >= self.limit && !self.young.contains_key(&key) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, full_at);
    }
}

/// The share of one of several servers in a bucket: it fills so much slower, and holds so much less, but one at least.
fn share(bucket: &Bucket, servers: u32) -> Bucket {
    Bucket {
        key: String::new(),
        events: bucket.events,
        period: bucket.period.saturating_mul(servers),
        burst: (bucket.burst / servers).max(1),
    }
}

/// The time in which a bucket gains one.
fn interval(bucket: &Bucket) -> Duration {
    Duration::from_millis(bucket.period.max(1).into()) / bucket.events.max(1)
}

/// How many intervals fit into a time.
fn whole(time: Duration, interval: Duration) -> u32 {
    let intervals = time.as_nanos().checked_div(interval.as_nanos());
    intervals.map_or(u32::MAX, |intervals| {
        u32::try_from(intervals).unwrap_or(u32::MAX)
    })
}

/// Whole microseconds, rounded up to milliseconds: clocks are no finer than that.
fn milliseconds(time: Duration) -> u32 {
    u32::try_from(time.as_micros().div_ceil(1000)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(events: u32, burst: u32) -> Bucket {
        Bucket {
            key: String::new(),
            events,
            period: 1000,
            burst,
        }
    }

    fn at(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    fn wait(taken: Result<Vec<Level>, u32>) -> Option<u32> {
        taken.err()
    }

    #[test]
    fn r1_a_burst_is_taken_at_once_and_then_one_for_each_interval() {
        let mut fills = Fills::new(10);
        let bucket = bucket(10, 3);
        let mut take = |now| wait(fills.take(at(now), &[(1, &bucket)]));
        assert_eq!([take(0), take(0), take(0)], [None; 3]);
        assert_eq!(take(0), Some(100));
        assert_eq!(take(60), Some(40));
        assert_eq!(take(100), None);
        assert_eq!(take(100), Some(100));
        // After a rest the burst is there again, and no more than that.
        let after = 60_000;
        assert_eq!([take(after), take(after), take(after)], [None; 3]);
        assert_eq!(take(after), Some(100));
    }

    #[test]
    fn contract_1_9_what_remains_is_told_and_when_the_bucket_is_full_again() {
        let mut fills = Fills::new(10);
        let (slow, quick) = (bucket(10, 3), bucket(30, 30));
        let mut take = |now| {
            let levels = fills.take(at(now), &[(1, &slow), (2, &quick)]);
            levels.map(|levels| {
                let level = |level: &Level| (level.remaining, level.full_in);
                levels.iter().map(level).collect::<Vec<_>>()
            })
        };
        assert_eq!(take(0), Ok(vec![(2, 100), (29, 34)]));
        assert_eq!(take(0), Ok(vec![(1, 200), (28, 67)]));
        assert_eq!(take(150), Ok(vec![(1, 150), (29, 34)]));
        assert_eq!(take(150), Ok(vec![(0, 250), (28, 67)]));
        assert_eq!(take(150), Err(50));
        assert_eq!(take(60_000), Ok(vec![(2, 100), (29, 34)]));
    }

    #[test]
    fn r1_who_is_refused_by_one_bucket_takes_nothing_out_of_the_others() {
        let mut fills = Fills::new(10);
        let (small, large) = (bucket(1, 1), bucket(1, 2));
        assert_eq!(wait(fills.take(at(0), &[(1, &small), (2, &large)])), None);
        for _ in 0..5 {
            assert_eq!(
                wait(fills.take(at(0), &[(1, &small), (2, &large)])),
                Some(1000)
            );
        }
        assert_eq!(wait(fills.take(at(0), &[(2, &large)])), None);
        assert_eq!(wait(fills.take(at(0), &[(2, &large)])), Some(1000));
    }

    #[test]
    fn r2_a_million_sources_leave_a_bounded_number_of_buckets_and_the_latest_are_kept() {
        let mut fills = Fills::new(1000);
        let bucket = bucket(1, 1);
        for source in 0..1_000_000 {
            assert_eq!(wait(fills.take(at(0), &[(source, &bucket)])), None);
        }
        assert!(fills.young.len() + fills.old.len() <= 2000);
        assert_eq!(wait(fills.take(at(0), &[(999_999, &bucket)])), Some(1000));
        assert_eq!(wait(fills.take(at(0), &[(999_001, &bucket)])), Some(1000));
        assert_eq!(wait(fills.take(at(0), &[(0, &bucket)])), None);
    }

    #[test]
    fn r1_a_bucket_that_is_asked_for_all_the_time_is_not_forgotten_among_strangers() {
        let mut fills = Fills::new(100);
        let (mount, source) = (bucket(1, 5000), bucket(1, 1));
        for number in 0..5000 {
            let asked = [(u64::MAX, &mount), (number, &source)];
            assert_eq!(wait(fills.take(at(0), &asked)), None);
        }
        assert!(fills.take(at(0), &[(u64::MAX, &mount)]).is_err());
    }

    #[test]
    fn numbers_beyond_reason_do_no_harm() {
        let mut fills = Fills::new(10);
        let most = Bucket {
            key: String::new(),
            events: u32::MAX,
            period: u32::MAX,
            burst: u32::MAX,
        };
        let none = Bucket {
            events: 0,
            period: 0,
            burst: 0,
            ..most.clone()
        };
        assert_eq!(wait(fills.take(Duration::MAX, &[(1, &most)])), None);
        assert_eq!(wait(fills.take(at(0), &[(2, &none)])), None);
        assert_eq!(wait(fills.take(at(0), &[(2, &none)])), Some(1));
    }

    #[test]
    fn r1_servers_that_share_a_store_let_through_together_what_one_would() {
        let hour = Bucket {
            key: "login/mount/gcp".to_owned(),
            events: 60,
            period: 3_600_000,
            burst: 12,
        };
        let through = |servers: usize| {
            let each = (0..servers).map(|_| Buckets::divided_among(move || servers));
            let taken = each.map(|buckets| {
                let taken = std::iter::from_fn(|| buckets.take(std::slice::from_ref(&hour)).ok());
                taken.count()
            });
            taken.sum::<usize>()
        };
        assert_eq!([1, 2, 3, 4].map(through), [12; 4]);
        // Each server lets one through.
        assert_eq!(through(20), 20);
    }

    #[test]
    fn r1_a_share_fills_as_much_slower_as_there_are_servers() {
        let servers = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(3));
        let counted = std::sync::Arc::clone(&servers);
        let buckets =
            Buckets::divided_among(move || counted.load(std::sync::atomic::Ordering::SeqCst));
        let hour = Bucket {
            key: String::new(),
            events: 60,
            period: 3_600_000,
            burst: 3,
        };
        let hour = std::slice::from_ref(&hour);
        let levels = buckets.take(hour).unwrap();
        assert_eq!(levels[0].remaining, 0);
        let three_minutes = 3 * 60_000;
        assert!((three_minutes - 1000..=three_minutes).contains(&levels[0].full_in));
        // A server that is alone again continues from what it has taken.
        servers.store(1, std::sync::atomic::Ordering::SeqCst);
        assert!(buckets.take(hour).is_err());
        servers.store(0, std::sync::atomic::Ordering::SeqCst);
        assert!(buckets.take(hour).is_err(), "it counts itself");
    }

    #[test]
    fn buckets_are_told_apart_by_their_keys() {
        let buckets = Buckets::default();
        let of = |key: &str| Bucket {
            key: key.to_owned(),
            events: 1,
            period: 3_600_000,
            burst: 1,
        };
        assert_eq!(wait(buckets.take(&[of("a")])), None);
        assert!(buckets.take(&[of("a")]).is_err());
        assert_eq!(wait(buckets.take(&[of("b")])), None);
    }
}
