//! The rate limits of logins, and the metrics about logins (SEC-R1, R3, L6).

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};

use gatehouse_access::Settings as Quotas;
use gatehouse_auth_method::{LoginError, RotationError};
use gatehouse_gateway::host::{Bucket, Host, Level, Metrics, RateLimits};
use gatehouse_gateway::settings::Rate;
use gatehouse_gateway::{Method, Settings};
use gatehouse_orgs_api::Edition;
use gatehouse_ports::StoreError;

use serde_json::json;

use super::server::{Answer, ROOT, Server, identity, request};

/// Rate limits that admit a number of events, and then none for 2,500 ms.
#[derive(Default)]
struct Allowance {
    left: Mutex<u32>,
    asked: Mutex<Vec<Vec<Bucket>>>,
}

/// A double that the test shares with the server.
struct Shared<T>(Arc<T>);

impl RateLimits for Shared<Allowance> {
    fn take(&self, buckets: &[Bucket]) -> Result<Vec<Level>, u32> {
        self.0.asked.lock().unwrap().push(buckets.to_vec());
        let mut left = self.0.left.lock().unwrap();
        if *left == 0 {
            return Err(2_500);
        }
        *left -= 1;
        Ok(Vec::new())
    }
}

const EXPOSITION: &str = "# TYPE gatehouse_logins_total counter\ngatehouse_logins_total 1\n";

/// The number of logins by outcome.
#[derive(Default)]
struct Counted(Mutex<BTreeMap<String, u64>>);

/// The gauge with the number of live tokens.
const TOKENS_LIVE: &str = "tokens-live";
/// The gauge with the next end of a plan.
const PLAN_ENDS: &str = "plan-ends";
/// The gauge with the time at which Google's keys were fetched.
const KEYS_FETCHED: &str = "google-keys-fetched";
/// The gauge with the creation time of the newest key of identity tokens.
const IDENTITY_KEY_MADE: &str = "identity-token-key-made";
/// The gauge with the time of the next rotation of a mount's key.
const ROTATION_DUE: &str = "rotation-due";
/// All gauges that the gateway sets.
const GAUGES: [&str; 5] = [
    TOKENS_LIVE,
    PLAN_ENDS,
    KEYS_FETCHED,
    IDENTITY_KEY_MADE,
    ROTATION_DUE,
];

impl Metrics for Shared<Counted> {
    fn count(&self, counter: &str, labels: &[(&str, &str)], by: u64) {
        assert_eq!(
            (counter, labels.len(), labels[0].0),
            ("logins", 1, "outcome")
        );
        let mut counted = self.0.0.lock().unwrap();
        *counted.entry(labels[0].1.to_owned()).or_default() += by;
    }

    fn set(&self, gauge: &str, value: u64) {
        assert!(GAUGES.contains(&gauge), "{gauge}");
        self.0.0.lock().unwrap().insert(gauge.to_owned(), value);
    }

    fn exposition(&self) -> String {
        EXPOSITION.to_owned()
    }
}

struct Watched {
    server: Server,
    allowance: Arc<Allowance>,
    counted: Arc<Counted>,
}

fn watched(per_source: Option<&str>, per_mount: Option<&str>, allowed: u32) -> Watched {
    watched_with(rates(per_source, per_mount), allowed, Quotas::DEFAULT)
}

fn rates(per_source: Option<&str>, per_mount: Option<&str>) -> Settings {
    Settings {
        login_rate_per_source: per_source.and_then(Rate::from_text),
        login_rate_per_mount: per_mount.and_then(Rate::from_text),
        ..Settings::default()
    }
}

fn watched_with(settings: Settings, allowed: u32, quotas: Quotas) -> Watched {
    let allowance = Arc::new(Allowance {
        left: Mutex::new(allowed),
        ..Allowance::default()
    });
    let counted = Arc::new(Counted::default());
    let host = Host {
        rate_limits: Box::new(Shared(Arc::clone(&allowance))),
        metrics: Box::new(Shared(Arc::clone(&counted))),
        ..Host::default()
    };
    let server = Server::with_quotas(host, settings, quotas);
    let server = server.initialize().enable_method();
    Watched {
        server,
        allowance,
        counted,
    }
}

fn login(server: &Server, role: &str) -> Answer {
    let body = format!(r#"{{"role":"{role}","jwt":"a.b.c"}}"#);
    server.send(Method::Put, "auth/gcp/login", None, &body)
}

#[test]
fn r1_a_login_takes_from_its_source_and_its_mount_before_anything_else_is_done() {
    let watched = watched(Some("50/100"), Some("5/7"), 1);
    watched.server.script.login.is(Ok(identity()));
    login(&watched.server, "dev").expect(200);
    let asked = watched.allowance.asked.lock().unwrap()[0].clone();
    let accessor = watched.server.get("sys/auth").expect(200).data();
    let bucket = |key: String, events, burst| Bucket {
        key,
        events,
        period: 1000,
        burst,
    };
    let id = accessor["gcp/"]["uuid"].as_str().unwrap();
    assert_eq!(
        asked,
        [
            bucket("login/source/192.0.2.1".to_owned(), 50, 100),
            bucket(format!("login/mount/{id}"), 5, 7),
        ]
    );

    let commits = watched.server.commits();
    watched.server.audit.take();
    let refused = login(&watched.server, "dev");
    refused.refused(429, "rate limit quota exceeded");
    assert_eq!(refused.0.header("retry-after"), Some("3"));
    assert_eq!(watched.server.commits(), commits);
    let records = watched.server.audit.take();
    assert!(records.is_empty(), "a flood fills no log");
    assert_eq!(
        *watched.counted.0.lock().unwrap(),
        BTreeMap::from([("success".to_owned(), 1), ("rate-limited".to_owned(), 1)])
    );
}

#[test]
fn r3_who_asks_too_often_learns_nothing_about_roles_and_bodies() {
    let watched = watched(Some("1/1"), None, 0);
    let known = login(&watched.server, "dev");
    let unknown = login(&watched.server, "nobody");
    let malformed = watched
        .server
        .send(Method::Put, "auth/gcp/login", None, "{");
    assert_eq!(known.0, unknown.0);
    assert_eq!(known.0, malformed.0);
    known.refused(429, "rate limit quota exceeded");
}

#[test]
fn r1_only_logins_are_limited() {
    let watched = watched(Some("1/1"), Some("1/1"), 0);
    watched.server.get("auth/token/lookup-self").expect(200);
    watched.server.list("auth/gcp/role").expect(404);
    assert!(watched.allowance.asked.lock().unwrap().is_empty());
}

#[test]
fn without_limits_nobody_is_asked() {
    let watched = watched(None, None, 0);
    watched.server.script.login.is(Ok(identity()));
    login(&watched.server, "dev").expect(200);
    assert!(watched.allowance.asked.lock().unwrap().is_empty());
}

#[test]
fn l6_refused_logins_are_counted_by_their_reason() {
    let watched = watched(None, None, 0);
    let script = &watched.server.script;
    for error in [
        LoginError::SignatureInvalid,
        LoginError::RoleNotFound("dev".to_owned()),
        LoginError::Expired,
    ] {
        script.login.is(Err(error));
        login(&watched.server, "dev").expect(400);
    }
    watched
        .server
        .send(Method::Put, "auth/gcp/login", None, "{")
        .expect(400);
    let counted = watched.counted.0.lock().unwrap().clone();
    let expected = ["lifetime", "malformed-request", "role", "signature"];
    assert_eq!(counted.keys().collect::<Vec<_>>(), expected);
    assert!(counted.values().all(|number| *number == 1));
}

#[test]
fn l6_the_host_is_told_how_many_tokens_live() {
    let watched = watched(None, None, 0);
    watched.server.run_background();
    let told = || watched.counted.0.lock().unwrap().get(TOKENS_LIVE).copied();
    assert_eq!(told(), Some(1), "the root token");
    let created = r#"{"policies":["default"]}"#;
    watched
        .server
        .post("auth/token/create", created)
        .expect(200);
    watched.server.run_background();
    assert_eq!(told(), Some(2));
}

#[test]
fn l6_the_host_is_told_by_background_work_how_old_keys_are_and_when_plans_end() {
    for (edition, told_of_plans) in [(Edition::Hosted, Some(0)), (Edition::SelfHosted, None)] {
        let settings = Settings {
            edition,
            ..Settings::default()
        };
        let watched = watched_with(settings, 0, Quotas::DEFAULT);
        watched.server.script.due_keys.is(Ok(Some(1_700)));
        watched.server.run_background();
        let counted = watched.counted.0.lock().unwrap();
        assert_eq!(counted.get(IDENTITY_KEY_MADE), Some(&1_700));
        assert_eq!(counted.get(PLAN_ENDS).copied(), told_of_plans);
    }
}

/// A server with two mounts of the method.
fn watched_with_two_mounts() -> Watched {
    let watched = watched(None, None, 0);
    let enabled = watched.server.post("sys/auth/more", r#"{"type":"gcp"}"#);
    enabled.expect(204);
    watched
}

#[test]
fn l6_the_host_is_told_when_the_next_rotation_is_due_though_it_fails() {
    let watched = watched_with_two_mounts();
    let server = &watched.server;
    let told = || {
        server.run_background();
        watched.counted.0.lock().unwrap()[ROTATION_DUE]
    };
    assert_eq!(told(), 0, "no mount has a key");
    // One of the two methods has a key, whose rotation fails.
    server.script.next_rotation.is(Ok(Some(1_700)));
    server
        .script
        .due_rotation
        .is(Err(RotationError::AnswerUnreadable));
    assert_eq!(told(), 1_700);
    let failed = StoreError::Unavailable("disk full".to_owned());
    server.script.next_rotation.is(Err(failed.into()));
    assert_eq!(told(), 0, "the other is asked all the same");
}

#[test]
fn l6_each_answer_tells_how_old_the_keys_of_google_are() {
    let watched = watched_with_two_mounts();
    let server = &watched.server;
    let told = || {
        server.get("sys/metrics").expect(200);
        watched.counted.0.lock().unwrap()[KEYS_FETCHED]
    };
    assert_eq!(told(), 0, "before the first login");
    // One of the two methods has keys.
    server.script.keys_fetched.is(Ok(Some(1_700_000_999)));
    assert_eq!(told(), 1_700_000);
    let failed = StoreError::Unavailable("disk full".to_owned());
    server.script.keys_fetched.is(Err(failed.into()));
    assert_eq!(told(), 0, "the other numbers are shown all the same");
}

#[test]
fn l6_metrics_are_shown_to_who_may_read_them() {
    let watched = watched(None, None, 0);
    let server = &watched.server;
    let shown = server.get("sys/metrics?format=prometheus");
    assert_eq!((shown.0.status, shown.text().as_str()), (200, EXPOSITION));
    assert_eq!(
        shown.0.header("content-type"),
        Some("text/plain; version=0.0.4; charset=utf-8")
    );
    for accepted in [
        "application/openmetrics-text;version=1.0.0,*/*;q=0.1",
        "prometheus/telemetry",
        "Text/Plain;version=0.0.4",
    ] {
        let mut scrape = request(Method::Get, "sys/metrics", "");
        scrape.headers.push("X-Vault-Token", ROOT);
        scrape.headers.push("Accept", accepted);
        assert_eq!(server.handle(&scrape).0, shown.0, "{accepted}");
    }
    let summary = server.get("sys/metrics").expect(200).json();
    let counter = json!({"Name": "gatehouse_logins_total", "Count": 1, "Rate": 0.0, "Sum": 1.0,
        "Min": 0.0, "Max": 0.0, "Mean": 1.0, "Stddev": 0.0, "Labels": {}});
    assert_eq!(
        summary,
        json!({"Timestamp": "2026-11-21 10:00:00 +0000 UTC", "Gauges": [], "Points": [],
            "Counters": [counter], "Samples": []})
    );
    server.get("sys/metrics?format=statsd").expect(400);
    server.post("sys/metrics", "{}").expect(405);
    let stranger = server.handle(&request(Method::Get, "sys/metrics", ""));
    stranger.refused(403, "permission denied");
}

#[test]
fn t12_a_login_over_the_quota_of_live_tokens_is_429_and_counted() {
    let quotas = |per_mount, per_role| Quotas {
        live_tokens_per_mount: NonZeroU32::new(per_mount),
        live_tokens_per_role: NonZeroU32::new(per_role),
        ..Quotas::DEFAULT
    };
    for (quotas, whose) in [
        (
            quotas(2, 0),
            "auth method has 2; revoke some, wait until some end, or raise limits.live_tokens_per_mount",
        ),
        (
            quotas(0, 2),
            "role has 2; revoke some, wait until some end, or raise limits.live_tokens_per_role",
        ),
    ] {
        let watched = watched_with(Settings::default(), u32::MAX, quotas);
        let server = &watched.server;
        let attempt = || {
            server.script.login.is(Ok(identity()));
            login(server, "dev")
        };
        attempt().expect(200);
        attempt().expect(200);
        let keys = server.access_store.keys();
        let text = format!("quota of live tokens exceeded: this {whose}");
        attempt().refused(429, &text);
        assert_eq!(server.access_store.keys(), keys);
        let counted = watched.counted.0.lock().unwrap().clone();
        assert_eq!((counted["success"], counted["quota"]), (2, 1));
    }
}
