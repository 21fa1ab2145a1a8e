//! How long tokens live: one table of all that counts (contract 5.3, SEC-T7).

use crate::server::{HOUR, ROOT, Server};
use gatehouse_access::{
    Cap, CreateRequest, MountTuning, Mounts as _, RenewError, Renewal as _, TokenLookup as _,
    TokenWarning,
};

/// The lifetime that a creator asks for: time to live, explicit maximum and period, each 0 for nothing.
type Asked = [u64; 3];

/// Default and maximum lease of the mount, 0 for the system's.
type Leases = [u64; 2];

const SYSTEM: Leases = [0, 0];
const MONTH: u64 = 768 * HOUR;

fn server_with([default_lease_ttl, max_lease_ttl]: Leases) -> Server {
    let server = Server::ready();
    let tuning = MountTuning {
        default_lease_ttl: Some(default_lease_ttl),
        max_lease_ttl: Some(max_lease_ttl),
        ..MountTuning::default()
    };
    server.access.tune_mount("token/", &tuning).unwrap();
    server
}

fn request([ttl, explicit_max_ttl, period]: Asked) -> CreateRequest {
    let signed = |seconds: u64| i64::try_from(seconds).ok().filter(|it| *it > 0);
    CreateRequest {
        policies: Some(vec!["default".to_owned()]),
        ttl: signed(ttl),
        explicit_max_ttl: signed(explicit_max_ttl),
        period: signed(period),
        ..CreateRequest::default()
    }
}

fn ttl_capped(asked: u64, effective_max_ttl: u64) -> Option<TokenWarning> {
    Some(TokenWarning::TtlCapped(Cap {
        asked,
        effective_max_ttl,
    }))
}

fn period_capped(asked: u64, effective_max_ttl: u64) -> Option<TokenWarning> {
    Some(TokenWarning::PeriodCapped(Cap {
        asked,
        effective_max_ttl,
    }))
}

#[test]
fn contract_5_3_a_new_token_gets_what_is_asked_for_within_all_limits() {
    let h = HOUR;
    let rows: [(Leases, Asked, u64, Option<TokenWarning>); 22] = [
        (SYSTEM, [0, 0, 0], MONTH, None),
        (SYSTEM, [h, 0, 0], h, None),
        (SYSTEM, [MONTH, 0, 0], MONTH, None),
        (
            SYSTEM,
            [MONTH + 1, 0, 0],
            MONTH,
            ttl_capped(MONTH + 1, MONTH),
        ),
        (SYSTEM, [0, h, 0], h, ttl_capped(MONTH, h)),
        (SYSTEM, [h, 2 * h, 0], h, None),
        (SYSTEM, [2 * h, h, 0], h, ttl_capped(2 * h, h)),
        (SYSTEM, [0, 2 * MONTH, 0], MONTH, None),
        (SYSTEM, [0, 0, h], h, None),
        (SYSTEM, [2 * h, 0, h], h, None),
        (SYSTEM, [h, 0, 2 * h], 2 * h, None),
        (SYSTEM, [0, 2 * h, h], h, None),
        (SYSTEM, [0, h, 2 * h], h, period_capped(2 * h, h)),
        (
            SYSTEM,
            [0, 0, MONTH + 1],
            MONTH,
            period_capped(MONTH + 1, MONTH),
        ),
        ([h, 0], [0, 0, 0], h, None),
        ([h, 0], [2 * h, 0, 0], 2 * h, None),
        ([h, 2 * h], [3 * h, 0, 0], 2 * h, ttl_capped(3 * h, 2 * h)),
        ([h, 2 * h], [0, 3 * h, 0], h, None),
        (
            [h, 2 * h],
            [0, 0, 3 * h],
            2 * h,
            period_capped(3 * h, 2 * h),
        ),
        ([h, 2 * h], [3 * h, h, 0], h, ttl_capped(3 * h, h)),
        ([0, 2 * MONTH], [0, 0, 0], MONTH, None),
        ([0, 2 * MONTH], [2 * MONTH, 0, 0], 2 * MONTH, None),
    ];
    for (leases, asked, ttl, warning) in rows {
        let server = server_with(leases);
        let issued = server.child(ROOT, &request(asked));
        assert_eq!(issued.grant.lease_duration, ttl, "{leases:?} {asked:?}");
        assert_eq!(
            issued.grant.warnings,
            Vec::from_iter(warning),
            "{leases:?} {asked:?}"
        );
        let token = issued.reference();
        let shown = server.access.lookup_token(&token).unwrap();
        assert_eq!((shown.ttl, shown.creation_ttl), (ttl, ttl));
        assert_eq!(shown.expire_time, Some(shown.creation_time + ttl));
        server.advance(ttl - 1);
        assert!(server.is_valid(issued.client_token.as_str()));
        server.advance(1);
        assert!(!server.is_valid(issued.client_token.as_str()));
    }
}

/// The outcome of the renewal of a token that was asked for so, after some time and with an increment.
#[test]
fn contract_5_3_a_renewal_never_passes_what_was_fixed_at_creation() {
    let h = HOUR;
    let rows: [(Leases, Asked, u64, u64, u64); 19] = [
        (SYSTEM, [h, 0, 0], h - 1, 0, h),
        (SYSTEM, [h, 0, 0], 60, 2 * h, 2 * h),
        (SYSTEM, [h, 0, 0], 60, 30, 30),
        (SYSTEM, [h, 0, 0], 60, MONTH, MONTH - 60),
        (SYSTEM, [0, 0, 0], h, 0, MONTH - h),
        (SYSTEM, [0, 0, 0], MONTH - 1, 0, 1),
        (SYSTEM, [h, 2 * h, 0], h / 2, 0, h),
        (SYSTEM, [h, h, 0], h / 2, 0, h / 2),
        (SYSTEM, [h, h, 0], h / 2, 5 * h, h / 2),
        (SYSTEM, [h, h, 0], h - 1, 0, 1),
        (SYSTEM, [0, 0, h], h / 2, 0, h),
        (SYSTEM, [0, 0, h], h / 2, 5 * h, h),
        (SYSTEM, [0, 0, h], h / 2, 1, h),
        (SYSTEM, [0, 3 * h, 2 * h], 2 * h - 1, 0, h + 1),
        (SYSTEM, [0, h, 2 * h], h - 1, 0, 1),
        ([h, 2 * h], [0, 0, 0], h / 2, 0, h),
        ([h, 2 * h], [0, 0, 0], h / 2, 9 * h, 3 * h / 2),
        ([h, 2 * h], [2 * h, 0, 0], 2 * h - 1, 0, 1),
        ([h, 2 * h], [0, 0, 9 * h], 2 * h - 1, 0, 2 * h),
    ];
    for (leases, asked, passed, increment, expected) in rows {
        let server = server_with(leases);
        let issued = server.child(ROOT, &request(asked));
        let token = issued.reference();
        server.advance(passed);
        let renewed = server.access.renew_token(&token, increment, None);
        let ttl = renewed.unwrap().lease_duration;
        assert_eq!(ttl, expected, "{leases:?} {asked:?} {passed} {increment}");
    }
}

/// Brings the longest lease of the mount down to `max_lease_ttl`.
fn lower(server: &Server, max_lease_ttl: u64) {
    let tuning = MountTuning {
        max_lease_ttl: Some(max_lease_ttl),
        default_lease_ttl: Some(60),
        ..MountTuning::default()
    };
    server.access.tune_mount("token/", &tuning).unwrap();
}

#[test]
fn contract_5_3_a_periodic_token_lives_as_long_as_it_is_renewed() {
    let server = server_with(SYSTEM);
    let issued = server.child(ROOT, &request([0, 0, HOUR]));
    let token = issued.reference();
    for _ in 0..2_000 {
        server.advance(HOUR - 1);
        assert!(server.access.renew_token(&token, 0, None).is_ok());
    }
    lower(&server, 60);
    let renewed = server.access.renew_token(&token, 0, None).unwrap();
    assert_eq!(renewed.lease_duration, 60);
}

#[test]
fn contract_5_3_a_mount_whose_limit_was_lowered_renews_nothing_older() {
    let server = server_with(SYSTEM);
    let issued = server.child(ROOT, &request([HOUR, 0, 0]));
    server.advance(HOUR / 2);
    lower(&server, HOUR / 2);
    let token = issued.reference();
    let refused = server.access.renew_token(&token, 0, None);
    assert_eq!(refused, Err(RenewError::PastMaxTtl));
    assert!(server.is_valid(issued.client_token.as_str()));
}
