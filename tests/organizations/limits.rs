//! The rate limit (contract 1.9), on a server that has one.

use serde_json::json;

use crate::documents::resource;
use crate::server::{Edition, Server};
use crate::session::Reply;

/// Asks until the limit is met, and returns the last answer, which is a refusal.
fn ask_until_refused(ask: impl Fn() -> Reply, limit: usize) -> Reply {
    // The bucket fills while the requests are under way, so it takes more of them than it holds.
    (0..50 * limit)
        .map(|_| ask())
        .find(|reply| reply.status == 429)
        .expect("a refusal")
}

#[test]
fn a_client_is_told_in_numbers_when_to_ask_again() {
    const LIMIT: usize = 2;
    let server = Server::start(Edition::Hosted, "[limits]\napi_rate_limiting = true");
    let administrator = server.administrator();
    // The users are made before the limit, which holds for the administrator who makes them as well.
    let [somebody, other] = [(); 2].map(|()| server.bearer(&server.user(false)));
    let settings = json!({"api-rate-limiting-enabled": true, "api-rate-limit": LIMIT});
    administrator
        .patch(
            "admin/general-settings",
            &resource("general-settings", settings),
        )
        .expect(200);
    let refused = ask_until_refused(|| somebody.get("account/details"), LIMIT);
    let expected = json!({"errors": [{
        "status": "429",
        "title": "Too many requests",
        "detail": "You have exceeded the API's rate limit.",
    }]});
    assert_eq!(refused.json(), expected);
    let number = |name: &str| -> f64 { refused.header(name).unwrap().parse().unwrap() };
    assert_eq!(number("x-ratelimit-limit"), 2.0);
    assert_eq!(number("x-ratelimit-remaining"), 0.0);
    assert_eq!(refused.header("x-ratelimit-reset"), Some("1"));
    assert_eq!(refused.header("retry-after"), Some("1"));
    // Other users have limits of their own.
    let reply = other.get("account/details").expect(200);
    assert_eq!(reply.header("x-ratelimit-limit"), Some("2"));
}
