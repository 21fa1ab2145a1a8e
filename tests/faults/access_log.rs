//! The access log: a line for each answer, known by the name that its answer bears.

use gatehouse_tests::{Installation, Storage};
use serde_json::{Value, json};

#[test]
fn every_answer_leaves_a_line_by_its_name_and_no_secret_is_in_it() {
    let mut installation =
        Installation::start(Storage::Memory, "[log]\naccess = \"stdout\"\n").unwrap();
    installation.set_up_login().unwrap();
    let root = installation.root_token().to_owned();
    let canaries = ["canary-role", "canary-token", "canary-query", "canary-body"];
    let asked = [
        (
            "POST",
            "/v1/auth/gcp/role/canary-role",
            "/v1/auth/{mount}/role/{name}",
        ),
        // Old clients put a token into the path itself, which is no route here.
        ("PUT", "/v1/auth/token/revoke/canary-token", ""),
        (
            "GET",
            "/api/v2/organizations/canary-role?q=canary-query",
            "/api/v2/organizations/{name}",
        ),
        ("GET", "/v1/sys/health", "/v1/sys/health"),
        ("GET", "/v1/nowhere/canary-role", ""),
    ];
    let mut named = Vec::new();
    for (method, path, route) in asked {
        let body = (method == "POST").then(
            || json!({"type": "iam", "bound_service_accounts": "*", "policies": "canary-body"}),
        );
        let answer = installation.send(method, path, Some(&root), body.as_ref());
        let id = answer.header("x-request-id").unwrap().to_owned();
        if answer.status == 200 && path.starts_with("/v1/auth") {
            assert_eq!(answer.json()["request_id"], id);
        }
        named.push((id, method, route, answer.status));
    }
    // It is written to its end when the server ends.
    assert_eq!(installation.server().terminate().unwrap(), Some(0));
    let lines = installation.output_lines().unwrap();
    for canary in canaries.into_iter().chain([root.as_str()]) {
        assert!(lines.iter().all(|line| !line.contains(canary)), "{lines:?}");
    }
    let lines: Vec<Value> = lines
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for (id, method, route, status) in named {
        let of_it: Vec<&Value> = lines
            .iter()
            .filter(|line| line["request_id"] == id)
            .collect();
        let [line] = of_it[..] else {
            panic!("{id}: {of_it:?}")
        };
        assert_eq!(line["method"], method, "{line}");
        assert_eq!(line["route"].as_str().unwrap_or_default(), route, "{line}");
        assert_eq!(line["status"], status, "{line}");
        assert_eq!(line["client"], "127.0.0.1");
        assert_eq!(line["http"], "HTTP/1.1");
        assert!(line["microseconds"].as_u64().unwrap() > 0, "{line}");
        assert!(line["bytes"].is_u64(), "{line}");
    }
}
