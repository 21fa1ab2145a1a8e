//! One address that tries to log in again and again (SEC-R1).

use gatehouse_tests::{Installation, Storage};
use serde_json::json;

const SETTINGS: &str = "[limits]
login_rate_per_source = 1
login_burst_per_source = 5
login_rate_per_mount = \"none\"
";

#[test]
fn r1_a_flood_of_logins_is_answered_429_and_everything_else_goes_on() {
    let installation = Installation::start(Storage::Memory, SETTINGS).unwrap();
    installation.set_up_login().unwrap();
    let login = json!({ "role": "nobody", "jwt": "a.b.c" });
    let attempts: Vec<_> = (0..40)
        .map(|_| installation.send("PUT", "/v1/auth/gcp/login", None, Some(&login)))
        .collect();
    let refused: Vec<_> = attempts.iter().filter(|it| it.status == 429).collect();
    assert!(!refused.is_empty());
    assert_eq!(attempts.first().map(|it| it.status), Some(400));
    for answer in refused {
        assert_eq!(answer.body, r#"{"errors":["rate limit quota exceeded"]}"#);
        assert_eq!(answer.header("retry-after"), Some("1"));
    }

    let get = |path| installation.as_root("GET", path, None);
    assert_eq!(get("/v1/auth/token/lookup-self").status, 200);
    let metrics = get("/v1/sys/metrics?format=prometheus").body;
    let counted = |outcome: &str| {
        let line = format!("gatehouse_logins_total{{outcome=\"{outcome}\"}} ");
        let number = metrics.lines().find_map(|found| found.strip_prefix(&line));
        number.map_or(0, |number| number.parse::<usize>().unwrap())
    };
    assert_eq!(
        counted("rate-limited") + counted("role") + counted("malformed-jwt"),
        40
    );
}
