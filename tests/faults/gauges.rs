//! Gauges that components set, as an operator reads them (SEC-L6).

use std::time::{SystemTime, UNIX_EPOCH};

use gatehouse_tests::{Installation, Storage};

const KEYS_FETCHED: &str = "gatehouse_google_keys_fetched_timestamp_seconds";

fn gauge(installation: &Installation, name: &str) -> u64 {
    let metrics = installation.as_root("GET", "/v1/sys/metrics?format=prometheus", None);
    assert_eq!(metrics.status, 200, "{metrics:?}");
    let begin = format!("{name} ");
    let found = metrics.body.lines().find_map(|it| it.strip_prefix(&begin));
    found.unwrap().parse().unwrap()
}

fn seconds() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap().as_secs()
}

#[test]
fn l6_when_the_keys_of_google_were_fetched_is_shown_from_the_first_login_on() {
    let installation = Installation::start(Storage::Memory, "").unwrap();
    installation.set_up_login().unwrap();
    assert_eq!(gauge(&installation, KEYS_FETCHED), 0);
    let before = seconds();
    assert_eq!(installation.login().unwrap().status, 200);
    let fetched = gauge(&installation, KEYS_FETCHED);
    assert!((before..=seconds()).contains(&fetched), "{fetched}");
    // The next login needs no others.
    assert_eq!(installation.login().unwrap().status, 200);
    assert_eq!(gauge(&installation, KEYS_FETCHED), fetched);
}
