//! The rate limit of a caller's requests (contract 1.9).

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use gatehouse_gateway::host::{Bucket, Level, RateLimits};

use super::*;

const LIST: &str = "/api/v2/organizations";

/// Buckets that never refill.
#[derive(Clone, Default)]
struct Draining(Arc<Mutex<HashMap<String, u32>>>);

impl RateLimits for Draining {
    fn take(&self, buckets: &[Bucket]) -> Result<Vec<Level>, u32> {
        let mut left = self.0.lock().unwrap();
        let [bucket] = buckets else {
            panic!("{buckets:?}");
        };
        let left = left.entry(bucket.key.clone()).or_insert(bucket.burst);
        *left = left.checked_sub(1).ok_or(1_400_u32)?;
        Ok(vec![Level {
            remaining: *left,
            full_in: 250,
        }])
    }
}

struct Limited {
    world: World,
    buckets: Draining,
}

fn limited() -> Limited {
    limiting(true)
}

/// A hosted world with or without rate limits.
fn limiting(api_rate_limiting: bool) -> Limited {
    let buckets = Draining::default();
    let host = Host {
        rate_limits: Box::new(buckets.clone()),
        ..Host::default()
    };
    let settings = Settings {
        edition: Edition::Hosted,
        api_rate_limiting,
        ..Settings::default()
    };
    let world = world_on(host, settings);
    Limited { world, buckets }
}

impl Limited {
    fn get(&self, target: &str, token: Option<&str>, peer: &str) -> Response {
        let mut sent = request(Method::Get, target, token);
        sent.peer = Some(peer.parse().unwrap());
        self.world.handle(&sent)
    }

    /// The answer to the first request beyond the limit.
    fn exceed(&self, token: Option<&str>, peer: &str) -> Response {
        for _ in 0..30 {
            assert_ne!(self.get(LIST, token, peer).status, 429);
        }
        self.get(LIST, token, peer)
    }
}

fn rate_headers(response: &Response) -> [&str; 3] {
    [
        "x-ratelimit-limit",
        "x-ratelimit-remaining",
        "x-ratelimit-reset",
    ]
    .map(|name| response.header(name).unwrap())
}

#[test]
fn r4_contract_1_9_who_exceeds_the_rate_is_told_so_exactly() {
    let limited = limited();
    let refused = limited.exceed(Some(ROOT), "192.0.2.1");
    assert_eq!(refused.status, 429);
    assert_eq!(
        text(&refused),
        r#"{"errors":[{"status":"429","title":"Too many requests","detail":"You have exceeded the API's rate limit."}]}"#
    );
    assert_eq!(refused.header("content-type"), Some(JSON_API));
    assert_eq!(refused.header("retry-after"), Some("2"));
    assert_eq!(rate_headers(&refused), ["30", "0", "2"]);
    assert_eq!(refused.header("tfp-api-version"), Some("2.6"));
}

#[test]
fn contract_1_9_a_refused_request_does_nothing_and_leaves_no_record() {
    let limited = limited();
    limited.exceed(Some(ROOT), "192.0.2.1");
    limited.world.server.audit.take();
    let created = limited
        .world
        .create(&json!({"name": "acme", "email": "a@b"}));
    assert_eq!(created.status, 429);
    assert_eq!(limited.world.store.commits(), 0);
    assert!(limited.world.server.audit.take().is_empty());
}

#[test]
fn r4_contract_1_9_callers_are_counted_apart_wherever_they_come_from() {
    let limited = limited();
    assert_eq!(limited.exceed(Some(ROOT), "192.0.2.1").status, 429);
    assert_eq!(limited.get(LIST, Some(ROOT), "192.0.2.2").status, 429);
    let rules: &[(&str, &[&str])] = &[("organizations", &["list"])];
    let other = limited.world.token("other", rules);
    assert_eq!(limited.get(LIST, Some(&other), "192.0.2.1").status, 200);
    assert_eq!(limited.get(LIST, None, "192.0.2.1").status, 401);
}

#[test]
fn contract_1_9_the_token_of_a_user_counts_for_the_user() {
    let limited = limited();
    let ada = json!({"data": {"type": "users", "attributes": {"username": "ada", "email": "a@b"}}});
    let made = limited
        .world
        .send(Method::Post, "/api/v2/admin/users", Some(&ada));
    let made = body(&made);
    let token = made["meta"]["token"].as_str().unwrap();
    let refused = limited.exceed(Some(token), "192.0.2.1");
    assert_eq!((refused.status, rate_headers(&refused)[0]), (429, "30"));
    let bucket = format!("api/caller/user/{}", made["data"]["id"].as_str().unwrap());
    assert_eq!(limited.buckets.0.lock().unwrap()[&bucket], 0);
}

#[test]
fn contract_1_9_what_a_caller_may_not_see_counts_for_the_caller_too() {
    let limited = limited();
    let token = limited.world.token("nothing", &[]);
    let acme = "/api/v2/organizations/acme";
    let mut left = 30;
    for (target, status) in [(acme, 404), (LIST, 200), (acme, 404)] {
        let response = limited.get(target, Some(&token), "192.0.2.1");
        left -= 1;
        assert_eq!(response.status, status);
        assert_eq!(rate_headers(&response), ["30", &left.to_string(), "0.25"]);
    }
    assert_eq!(limited.buckets.0.lock().unwrap().len(), 1);
}

#[test]
fn contract_1_9_without_a_valid_token_the_address_counts_and_429_comes_before_401() {
    let limited = limited();
    assert_eq!(limited.exceed(None, "2001:db8:1:2::1").status, 429);
    for token in [None, Some("no-such-token")] {
        assert_eq!(limited.get(LIST, token, "2001:db8:1:2:3::4").status, 429);
        assert_eq!(limited.get(LIST, token, "2001:db8:1:3::1").status, 401);
    }
    // Strangers at the same address do not use up the limit of a token's holder.
    assert_eq!(limited.get(LIST, Some(ROOT), "2001:db8:1:2::1").status, 200);
}

#[test]
fn contract_1_3_every_answer_tells_the_rate_and_ping_and_unknown_routes_take_nothing() {
    let limited = limited();
    for (method, target, status) in [
        (Method::Get, "/api/v2/ping", 204),
        (Method::Get, "/.well-known/terraform.json", 200),
        (Method::Get, "/api/v2/frob", 404),
        (Method::Get, "/api/v2//", 404),
        (Method::Post, "/api/v2/ping", 404),
    ] {
        for _ in 0..40 {
            let response = limited.world.handle(&request(method, target, None));
            assert_eq!(response.status, status, "{target}");
            assert_eq!(rate_headers(&response), ["30", "30", "0"], "{target}");
        }
    }
    let large = with_body(
        request(Method::Post, LIST, Some(ROOT)),
        Some(JSON_API),
        " ".repeat(gatehouse_gateway::MAXIMUM_BODY_BYTES + 1),
    );
    let large = limited.world.handle(&large);
    assert_eq!((large.status, rate_headers(&large)[0]), (413, "30"));
    assert!(limited.buckets.0.lock().unwrap().is_empty());
}

#[test]
fn contract_1_9_switched_off_nothing_is_counted_and_clients_are_told_no_limit() {
    let Limited { world, buckets } = limiting(false);
    for _ in 0..40 {
        let response = world.get(LIST);
        assert_eq!(response.status, 200);
        assert_eq!(rate_headers(&response), ["0", "0", "0"]);
    }
    assert!(buckets.0.lock().unwrap().is_empty());
}

#[test]
fn contract_1_9_site_administrators_say_how_many_requests_there_are() {
    let limited = limited();
    let settings = |attributes: Value| {
        let document = json!({"data": {"attributes": attributes}});
        let target = "/api/v2/admin/general-settings";
        limited.world.send(Method::Patch, target, Some(&document))
    };
    assert_eq!(settings(json!({"api-rate-limit": 50})).status, 200);
    let listed = limited.get(LIST, None, "192.0.2.1");
    assert_eq!(rate_headers(&listed)[..2], ["50", "49"]);
    assert_eq!(
        settings(json!({"api-rate-limiting-enabled": false})).status,
        200
    );
    for _ in 0..60 {
        assert_eq!(limited.get(LIST, None, "192.0.2.1").status, 401);
    }
    assert_eq!(rate_headers(&limited.get(LIST, None, "192.0.2.1"))[0], "0");
}

#[test]
fn contract_4_16_reads_of_the_description_count_against_the_address_and_leave_no_record() {
    let limited = limited();
    limited.world.server.audit.take();
    for _ in 0..30 {
        let response = limited.get("/api/v2/openapi.json", None, "192.0.2.1");
        assert_eq!(response.status, 200);
    }
    for token in [None, Some(ROOT)] {
        let refused = limited.get("/api/v2/openapi.json", token, "192.0.2.1");
        assert_eq!(refused.status, 429);
    }
    let elsewhere = limited.get("/api/v2/openapi.json", None, "192.0.2.2");
    assert_eq!(elsewhere.status, 200);
    assert!(limited.world.server.audit.take().is_empty());
}
