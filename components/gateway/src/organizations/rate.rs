//! The rate limit of a caller's requests, and the header fields about it in every answer (contract 1.9, 1.3).

use std::cell::{Cell, OnceCell};
use std::num::NonZeroU32;

use gatehouse_orgs_api::{self as orgs, Principal};
use gatehouse_ports::IpAddress;
use sha2::{Digest, Sha256};

use super::api_error::ApiError;
use crate::host::{Level, RateLimits};
use crate::http::Response;
use crate::settings::Rate;
use crate::{Settings, source};

/// The requests per second where no site administrator has set another number.
const DEFAULT_PER_SECOND: NonZeroU32 = NonZeroU32::MIN.saturating_add(29);

/// The number of requests that each caller may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ApiRate {
    /// True if there is a limit.
    enabled: bool,
    /// The sustained rate, and also the burst.
    per_second: NonZeroU32,
}

impl ApiRate {
    /// The rate from the server's settings alone.
    const fn from_settings(settings: &Settings) -> Self {
        Self {
            enabled: settings.api_rate_limiting,
            per_second: DEFAULT_PER_SECOND,
        }
    }

    /// The same, combined with the settings of site administrators. A limit that the server's settings switch off stays off.
    fn with(self, of_site: orgs::ApiRate) -> Self {
        let per_second = u32::try_from(of_site.per_second).unwrap_or(u32::MAX);
        Self {
            enabled: self.enabled && of_site.enabled,
            per_second: NonZeroU32::new(per_second).unwrap_or(NonZeroU32::MIN),
        }
    }
}

/// The callers whose requests are counted together.
#[derive(Debug, Clone, Copy)]
pub(super) enum RateKey<'k> {
    /// The requests of one user, with any of their tokens, or of a team, an organization or an entity.
    Caller(&'k str),
    /// The requests without a valid token from one IPv4 address or one IPv6 network.
    Address(Option<IpAddress>),
}

/// The name under which the requests of one caller are counted, whichever token the caller presents. The requests of a workload without an entity are
/// counted by its token. A batch token has no accessor, so its digest is used.
pub(super) fn name_of(principal: &Principal, accessor: &str, token: &str) -> String {
    match principal {
        Principal::User(user) => format!("user/{}", user.id),
        Principal::Team(team) => format!("team/{}", team.id),
        Principal::Organization(id) => format!("organization/{id}"),
        Principal::AuditReader(id) => format!("audit/{id}"),
        Principal::Installation => "installation".to_owned(),
        Principal::Workload(Some(entity)) => format!("entity/{entity}"),
        Principal::Workload(None) if accessor.is_empty() => {
            let digest = base16ct::lower::encode_string(&Sha256::digest(token));
            format!("batch/{digest}")
        }
        Principal::Workload(None) => format!("accessor/{accessor}"),
    }
}

/// Counts one request, and keeps the numbers for its answer.
pub(super) struct RateLimiter<'h> {
    rate_limits: &'h dyn RateLimits,
    by_settings: ApiRate,
    /// The rate in force, once it is known.
    rate: OnceCell<ApiRate>,
    /// The level of the bucket, once the request has been counted.
    level: Cell<Option<Level>>,
    /// The seconds that the caller has to wait after a request beyond the limit.
    wait: Cell<Option<u32>>,
}

impl<'h> RateLimiter<'h> {
    /// The limiter of a request that has not been counted yet.
    pub(super) fn new(rate_limits: &'h dyn RateLimits, settings: &Settings) -> Self {
        Self {
            rate_limits,
            by_settings: ApiRate::from_settings(settings),
            rate: OnceCell::new(),
            level: Cell::new(None),
            wait: Cell::new(None),
        }
    }

    /// Determines the rate in force, unless it is determined already or rates are switched off. `of_site` returns the settings of site
    /// administrators. Where it cannot, the server's settings alone apply: a store that cannot be read makes the request fail too.
    pub(super) fn settle(&self, of_site: impl FnOnce() -> Option<orgs::ApiRate>) {
        if self.by_settings.enabled {
            let by_settings = self.by_settings;
            self.rate
                .get_or_init(|| of_site().map_or(by_settings, |rate| by_settings.with(rate)));
        }
    }

    /// True if [`Self::settle`] still needs the settings of site administrators.
    pub(super) fn lacks_rate(&self) -> bool {
        self.by_settings.enabled && self.rate.get().is_none()
    }

    fn rate(&self) -> ApiRate {
        self.rate.get().copied().unwrap_or(self.by_settings)
    }

    /// Counts the request.
    ///
    /// # Errors
    ///
    /// [`ApiError::RateLimited`] if the request is beyond the limit.
    pub(super) fn admit(&self, key: RateKey<'_>) -> Result<(), ApiError> {
        let rate = self.rate();
        if !rate.enabled {
            return Ok(());
        }
        let key = match key {
            RateKey::Caller(caller) => format!("api/caller/{caller}"),
            RateKey::Address(address) => format!("api/source/{}", source::network(address)),
        };
        let rate = Rate {
            per_second: rate.per_second,
            burst: rate.per_second,
        };
        match self.rate_limits.take(&[rate.bucket(key)]) {
            Ok(levels) => {
                if let [level] = levels.as_slice() {
                    self.level.set(Some(*level));
                }
                Ok(())
            }
            Err(wait) => {
                // Clients wait until the reset, so this is the time until the next request is admitted, not until the bucket is full. Some clients
                // look at no other header, and give up after a number of retries, so it equals the time that the others are told to wait.
                let seconds = wait.div_ceil(1000).max(1);
                self.level.set(Some(Level {
                    remaining: 0,
                    full_in: 0,
                }));
                self.wait.set(Some(seconds));
                Err(ApiError::RateLimited { seconds })
            }
        }
    }

    /// Adds the header fields about the limit. All three values are plain numbers, since clients fail on anything else. A limit of 0 means no limit
    /// to them.
    pub(super) fn with_headers(&self, response: Response) -> Response {
        let rate = self.rate();
        let limit = if rate.enabled {
            rate.per_second.get()
        } else {
            0
        };
        let untouched = Level {
            remaining: limit,
            full_in: 0,
        };
        let level = self.level.get().unwrap_or(untouched);
        let wait = self.wait.get().map(|seconds| seconds.to_string());
        let reset = wait.unwrap_or_else(|| in_seconds(level.full_in));
        response
            .with_header("x-ratelimit-limit", limit.to_string())
            .with_header("x-ratelimit-remaining", level.remaining.to_string())
            .with_header("x-ratelimit-reset", reset)
    }
}

/// Milliseconds as a decimal number of seconds.
fn in_seconds(milliseconds: u32) -> String {
    let seconds = format!("{}.{:03}", milliseconds / 1000, milliseconds % 1000);
    let significant = seconds.trim_end_matches('0').trim_end_matches('.');
    significant.to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use gatehouse_orgs_api::TeamReference;

    use super::*;
    use crate::host::Bucket;

    /// A double that always answers the same, and keeps the buckets that it was asked for.
    struct Answering(Result<Vec<Level>, u32>, Mutex<Vec<Bucket>>);

    impl RateLimits for Answering {
        fn take(&self, buckets: &[Bucket]) -> Result<Vec<Level>, u32> {
            self.1.lock().unwrap().extend_from_slice(buckets);
            self.0.clone()
        }
    }

    fn answering(answer: Result<Level, u32>) -> Answering {
        Answering(answer.map(|level| vec![level]), Mutex::new(Vec::new()))
    }

    fn limiter(limits: &Answering, per_second: u64, enabled: bool) -> RateLimiter<'_> {
        let settings = Settings {
            api_rate_limiting: enabled,
            ..Settings::default()
        };
        let limiter = RateLimiter::new(limits, &settings);
        limiter.settle(|| {
            Some(orgs::ApiRate {
                enabled: true,
                per_second,
            })
        });
        limiter
    }

    #[test]
    fn the_rate_is_asked_for_once_and_not_where_no_rate_is_in_force() {
        let limits = answering(Err(1));
        for is_on in [true, false] {
            let settings = Settings {
                api_rate_limiting: is_on,
                ..Settings::default()
            };
            let fresh = RateLimiter::new(&limits, &settings);
            assert_eq!(fresh.lacks_rate(), is_on);
            fresh.settle(|| None);
            assert!(!fresh.lacks_rate());
        }
    }

    fn headers(limiter: &RateLimiter<'_>) -> [String; 3] {
        let response = limiter.with_headers(Response::new(200, "x", Vec::new()));
        ["limit", "remaining", "reset"].map(|name| {
            let header = response.header(&format!("x-ratelimit-{name}"));
            header.unwrap().to_owned()
        })
    }

    #[test]
    fn r4_contract_1_9_a_bucket_for_each_caller_with_the_burst_of_its_rate() {
        let limits = answering(Err(1));
        let limiter = limiter(&limits, 7, true);
        for (key, name) in [
            (RateKey::Caller("user-1"), "api/caller/user-1"),
            (RateKey::Address(None), "api/source/unknown"),
            (
                RateKey::Address(Some("192.0.2.1".parse().unwrap())),
                "api/source/192.0.2.1",
            ),
            (
                RateKey::Address(Some("2001:db8:1:2:3::4".parse().unwrap())),
                "api/source/2001:db8:1:2::",
            ),
        ] {
            let refused = limiter.admit(key);
            assert_eq!(refused, Err(ApiError::RateLimited { seconds: 1 }));
            let expected = Bucket {
                key: name.to_owned(),
                events: 7,
                period: 1000,
                burst: 7,
            };
            assert_eq!(limits.1.lock().unwrap().pop(), Some(expected));
        }
    }

    #[test]
    fn contract_1_3_every_header_is_a_plain_number() {
        let level = Level {
            remaining: 12,
            full_in: 400,
        };
        let limits = answering(Ok(level));
        let limiter = limiter(&limits, 30, true);
        assert_eq!(headers(&limiter), ["30", "30", "0"]);
        limiter.admit(RateKey::Caller("a")).unwrap();
        assert_eq!(headers(&limiter), ["30", "12", "0.4"]);
    }

    #[test]
    fn contract_1_9_who_must_wait_is_told_the_same_whole_seconds_twice() {
        for (wait, seconds) in [
            (0, "1"),
            (1, "1"),
            (23, "1"),
            (1000, "1"),
            (1001, "2"),
            (2500, "3"),
            (u32::MAX, "4294968"),
        ] {
            let limits = answering(Err(wait));
            let limiter = limiter(&limits, 30, true);
            let error = limiter.admit(RateKey::Caller("a")).unwrap_err();
            assert_eq!(headers(&limiter), ["30", "0", seconds]);
            let response = limiter.with_headers(error.response());
            assert_eq!(response.header("retry-after"), Some(seconds), "{wait}");
        }
    }

    #[test]
    fn contract_1_9_without_a_limit_nothing_is_counted_and_clients_are_told_none() {
        let limits = answering(Err(1));
        let limiter = limiter(&limits, 30, false);
        assert_eq!(limiter.admit(RateKey::Address(None)), Ok(()));
        assert!(limits.1.lock().unwrap().is_empty());
        assert_eq!(headers(&limiter), ["0", "0", "0"]);
    }

    #[test]
    fn milliseconds_are_told_in_seconds() {
        let told = [0, 9, 400, 1000, 60_000, 61_020].map(in_seconds);
        assert_eq!(told, ["0", "0.009", "0.4", "1", "60", "61.02"]);
    }

    #[test]
    fn contract_1_9_tokens_of_one_identity_count_together() {
        let team = |id: &str| {
            Principal::Team(TeamReference {
                id: id.to_owned(),
                organization: "org-1".to_owned(),
            })
        };
        let workload = |entity: Option<&str>| Principal::Workload(entity.map(str::to_owned));
        for (principal, accessor, name) in [
            (team("team-1"), "a", "team/team-1"),
            (team("team-1"), "b", "team/team-1"),
            (
                Principal::Organization("org-1".to_owned()),
                "a",
                "organization/org-1",
            ),
            (
                Principal::AuditReader("org-1".to_owned()),
                "a",
                "audit/org-1",
            ),
            (Principal::Installation, "a", "installation"),
            (workload(Some("1-2")), "a", "entity/1-2"),
            (workload(Some("1-2")), "", "entity/1-2"),
            (workload(None), "a", "accessor/a"),
        ] {
            assert_eq!(name_of(&principal, accessor, "secret"), name);
        }
        let batch = name_of(&workload(None), "", "secret");
        assert!(batch.starts_with("batch/") && !batch.contains("secret"));
        assert_ne!(batch, name_of(&workload(None), "", "other"));
    }
}
