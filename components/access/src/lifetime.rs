//! TTL arithmetic (contract 5.3): pure functions over whole seconds.

use crate::api::{Cap, Lifetime, TokenWarning};

/// System-wide default lease, in seconds.
pub(crate) const SYSTEM_DEFAULT_LEASE_TTL: u64 = 768 * 60 * 60;
/// System-wide maximum lease, in seconds.
pub(crate) const SYSTEM_MAX_LEASE_TTL: u64 = 768 * 60 * 60;

/// Everything that a token's next time to live depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms {
    /// Now.
    pub(crate) now: u64,
    /// When the token was issued; equal to `now` for a new one.
    pub(crate) issued: u64,
    /// The mount's default lease in force.
    pub(crate) mount_default: u64,
    /// The mount's maximum lease in force.
    pub(crate) mount_max: u64,
    /// The wishes of the role or the creator, with the explicit maximum that was fixed at creation.
    pub(crate) lifetime: Lifetime,
    /// The time to live that a renewal asks for; 0 for none in particular.
    pub(crate) increment: u64,
}

/// A time to live, and what was cut on the way to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GrantedTtl {
    /// Seconds from now; never 0.
    pub(crate) ttl: u64,
    /// In the order in which the cuts were made.
    pub(crate) warnings: Vec<TokenWarning>,
}

/// Nothing of the longest life is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PastMaxTtlError;

impl Terms {
    /// The time to live that these terms grant from now on.
    pub(crate) fn grant(&self) -> Result<GrantedTtl, PastMaxTtlError> {
        let Lifetime {
            ttl,
            max_ttl,
            explicit_max_ttl,
            period,
        } = self.lifetime;
        let max = [Some(self.mount_max), set(max_ttl), set(explicit_max_ttl)]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or(self.mount_max);
        let mut warnings = Vec::new();

        let (wanted, longest_life) = if period > 0 {
            if period > max {
                warnings.push(TokenWarning::PeriodCapped(Cap {
                    asked: period,
                    effective_max_ttl: max,
                }));
            }
            (period.min(max), set(explicit_max_ttl))
        } else {
            let wanted = set(self.increment)
                .or(set(ttl))
                .unwrap_or(self.mount_default);
            (wanted, Some(max))
        };

        let mut granted = wanted;
        if let Some(longest_life) = longest_life {
            let left = self
                .issued
                .saturating_add(longest_life)
                .saturating_sub(self.now);
            if left < wanted {
                warnings.push(TokenWarning::TtlCapped(Cap {
                    asked: wanted,
                    effective_max_ttl: left,
                }));
                granted = left;
            }
        }
        if granted == 0 {
            return Err(PastMaxTtlError);
        }
        Ok(GrantedTtl {
            ttl: granted,
            warnings,
        })
    }
}

/// 0 means no limit.
fn set(seconds: u64) -> Option<u64> {
    (seconds > 0).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HOUR: u64 = 3600;
    const NOW: u64 = 1_000_000;

    fn fresh(lifetime: Lifetime) -> Terms {
        Terms {
            now: NOW,
            issued: NOW,
            mount_default: SYSTEM_DEFAULT_LEASE_TTL,
            mount_max: SYSTEM_MAX_LEASE_TTL,
            lifetime,
            increment: 0,
        }
    }

    fn lifetime(ttl: u64, max_ttl: u64, explicit_max_ttl: u64, period: u64) -> Lifetime {
        Lifetime {
            ttl,
            max_ttl,
            explicit_max_ttl,
            period,
        }
    }

    fn ttl_of(terms: Terms) -> u64 {
        terms.grant().unwrap().ttl
    }

    #[test]
    fn a_new_token_gets_what_the_limits_leave() {
        let rows = [
            (lifetime(0, 0, 0, 0), 768 * HOUR),
            (lifetime(HOUR, 0, 0, 0), HOUR),
            (lifetime(2 * HOUR, HOUR, 0, 0), HOUR),
            (lifetime(2 * HOUR, 0, HOUR, 0), HOUR),
            (lifetime(2 * HOUR, 4 * HOUR, HOUR, 0), HOUR),
            (lifetime(9999 * HOUR, 0, 0, 0), 768 * HOUR),
            (lifetime(0, HOUR, 0, 0), HOUR),
            (lifetime(HOUR, 0, 0, 2 * HOUR), 2 * HOUR),
            (lifetime(0, HOUR, 0, 100 * HOUR), HOUR),
            (lifetime(0, 0, HOUR, 100 * HOUR), HOUR),
            (lifetime(0, 0, 0, 9999 * HOUR), 768 * HOUR),
        ];
        for (asked, expected) in rows {
            assert_eq!(ttl_of(fresh(asked)), expected, "{asked:?}");
        }
    }

    #[test]
    fn a_cut_is_reported_with_what_was_asked_and_what_applies() {
        let cut = fresh(lifetime(9999 * HOUR, 0, 0, 0)).grant().unwrap();
        let expected = TokenWarning::TtlCapped(Cap {
            asked: 9999 * HOUR,
            effective_max_ttl: 768 * HOUR,
        });
        assert_eq!(cut.warnings, [expected]);
        let cut = fresh(lifetime(0, HOUR, 0, 100 * HOUR)).grant().unwrap();
        let expected = TokenWarning::PeriodCapped(Cap {
            asked: 100 * HOUR,
            effective_max_ttl: HOUR,
        });
        assert_eq!(cut.warnings, [expected]);
        assert_eq!(fresh(lifetime(HOUR, 0, 0, 0)).grant().unwrap().warnings, []);
    }

    #[test]
    fn a_renewal_cannot_pass_issue_time_plus_maximum() {
        let mut terms = fresh(lifetime(2 * HOUR, 3 * HOUR, 0, 0));
        terms.now = terms.issued + 2 * HOUR;
        assert_eq!(ttl_of(terms), HOUR);
        terms.increment = HOUR / 2;
        assert_eq!(ttl_of(terms), HOUR / 2);
        terms.now = terms.issued + 3 * HOUR;
        assert_eq!(terms.grant(), Err(PastMaxTtlError));
    }

    #[test]
    fn a_periodic_token_renews_for_ever_unless_an_explicit_maximum_ends_it() {
        let mut terms = fresh(lifetime(0, 0, 0, HOUR));
        terms.now = terms.issued + 100_000 * HOUR;
        assert_eq!(ttl_of(terms), HOUR);
        terms.lifetime.explicit_max_ttl = 10 * HOUR;
        terms.now = terms.issued + 9 * HOUR + 1;
        assert_eq!(ttl_of(terms), HOUR - 1);
        terms.now = terms.issued + 10 * HOUR;
        assert_eq!(terms.grant(), Err(PastMaxTtlError));
    }

    #[test]
    fn an_increment_does_not_move_a_periodic_token() {
        let mut terms = fresh(lifetime(0, 0, 0, HOUR));
        terms.increment = 5 * HOUR;
        assert_eq!(ttl_of(terms), HOUR);
    }

    /// The rules once more, as bounds on the end of life.
    fn model(terms: &Terms) -> Option<u64> {
        let unlimited = |limit: u64| if limit == 0 { u64::MAX } else { limit };
        let Lifetime {
            ttl,
            max_ttl,
            explicit_max_ttl,
            period,
        } = terms.lifetime;
        let max = terms
            .mount_max
            .min(unlimited(max_ttl))
            .min(unlimited(explicit_max_ttl));
        let end = if period > 0 {
            let end = terms.now + period.min(max);
            end.min(terms.issued.saturating_add(unlimited(explicit_max_ttl)))
        } else {
            let wanted = [terms.increment, ttl, terms.mount_default]
                .into_iter()
                .find(|wanted| *wanted > 0)
                .unwrap();
            (terms.now + wanted).min(terms.issued + max)
        };
        (end > terms.now).then(|| end - terms.now)
    }

    fn limit() -> impl Strategy<Value = u64> {
        prop_oneof![Just(0), 1..50_u64]
    }

    proptest! {
        #[test]
        fn t7_agrees_with_the_model_over_all_combinations(
            age in 0..60_u64, mount_default in 1..50_u64, mount_max in 1..50_u64,
            ttl in limit(), max_ttl in limit(), explicit_max_ttl in limit(), period in limit(), increment in limit(),
        ) {
            let terms = Terms {
                now: NOW + age,
                issued: NOW,
                mount_default,
                mount_max,
                lifetime: lifetime(ttl, max_ttl, explicit_max_ttl, period),
                increment,
            };
            prop_assert_eq!(terms.grant().ok().map(|granted| granted.ttl), model(&terms));
        }
    }
}
