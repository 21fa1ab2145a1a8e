//! The access log: a line for each answer, known by the name that its answer bears.

use std::time::{Duration, Instant};

use gatehouse_tests::{Installation, Storage};
use rustix::process::{Pid, Signal, kill_process};
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

#[test]
fn a_file_that_is_rotated_goes_on_in_a_new_one_after_a_hangup() {
    let folder = tempfile::tempdir().unwrap();
    let (path, old) = (folder.path().join("access.log"), folder.path().join("old"));
    let settings = format!("[log]\naccess = {:?}\n", path.display().to_string());
    let mut installation = Installation::start(Storage::Memory, &settings).unwrap();
    let ask = |installation: &Installation| {
        let answer = installation.send("GET", "/v1/sys/health", None, None);
        answer.header("x-request-id").unwrap().to_owned()
    };
    let before = ask(&installation);
    std::fs::rename(&path, &old).unwrap();
    let id = i32::try_from(installation.server().id()).unwrap();
    kill_process(Pid::from_raw(id).unwrap(), Signal::HUP).unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    while !path.is_file() {
        assert!(Instant::now() < deadline, "the file is not opened again");
        std::thread::sleep(Duration::from_millis(20));
    }
    let after = ask(&installation);
    let metrics = installation.as_root("GET", "/v1/sys/metrics?format=prometheus", None);
    let none_lost = "gatehouse_access_log_lost_lines_total 0";
    assert!(metrics.body.lines().any(|line| line == none_lost));
    assert_eq!(installation.server().terminate().unwrap(), Some(0));
    let lines_of = |id: &str| {
        let text =
            std::fs::read_to_string(&old).unwrap() + &std::fs::read_to_string(&path).unwrap();
        text.matches(id).count()
    };
    assert_eq!((lines_of(&before), lines_of(&after)), (1, 1));
    assert!(std::fs::read_to_string(&path).unwrap().contains(&after));
}
