//! SEC-H14: whatever is sent, there is no 5xx, nothing hangs, nothing is stored, and the next client is served.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use gatehouse_tests::{Answer, Installation, Storage};
use serde_json::json;

use crate::HOST;

/// How many bytes of a body are read.
const BODY_LIMIT: usize = 1 << 20;

pub fn installation() -> Installation {
    let installation = Installation::start_program(HOST.program(), Storage::Memory, "").unwrap();
    installation.set_up_login().unwrap();
    installation
}

/// A connection over which bytes were sent as they are.
pub fn sent(installation: &Installation, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(installation.address()).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    // The server may have answered and closed before it has read everything.
    let _ = stream.write_all(bytes);
    stream
}

/// The bytes that come until the server closes the connection.
pub fn answered(mut stream: TcpStream) -> String {
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn raw(installation: &Installation, bytes: &[u8]) -> String {
    answered(sent(installation, bytes))
}

fn post(installation: &Installation, path: &str, body: &[u8]) -> (u16, String) {
    let client = reqwest::blocking::Client::new();
    let answer = client
        .post(format!("http://{}{path}", installation.address()))
        .header("X-Vault-Token", installation.root_token())
        .header(
            "Authorization",
            format!("Bearer {}", installation.root_token()),
        )
        .header("Content-Type", "application/vnd.api+json")
        .body(body.to_vec())
        .send()
        .unwrap();
    (answer.status().as_u16(), answer.text().unwrap())
}

const WRITES: [&str; 5] = [
    "/v1/auth/gcp/login",
    "/v1/auth/gcp/config",
    "/v1/auth/gcp/role/other",
    "/v1/auth/token/create",
    "/api/v2/organizations",
];

#[test]
fn h11_bodies_that_are_not_acceptable_json_get_a_clear_4xx_and_store_nothing() {
    let installation = installation();
    let roles = installation.as_root("LIST", "/v1/auth/gcp/role", None);
    let deep = [b"{\"data\":".repeat(200), b"1".to_vec(), b"}".repeat(200)].concat();
    let bodies: [(&str, Vec<u8>); 7] = [
        ("not JSON", b"{not json".to_vec()),
        ("an array", b"[1,2]".to_vec()),
        ("a text", b"\"text\"".to_vec()),
        ("too deep", deep),
        ("not UTF-8", b"{\"role\":\"\xff\xfe\"}".to_vec()),
        ("cut off", b"{\"role\":\"dev\"".to_vec()),
        // Read whole all the same: what a server leaves unread can cost the client its answer.
        ("a byte too large", vec![b'x'; BODY_LIMIT + 1]),
    ];
    for path in WRITES {
        for (what, body) in &bodies {
            let (status, text) = post(&installation, path, body);
            assert!(
                (400..500).contains(&status),
                "{path}, {what}: {status} {text}"
            );
            assert!(text.contains("errors"), "{path}, {what}: {text}");
            if body.len() > BODY_LIMIT {
                assert_eq!(status, 413, "{path}: {text}");
            }
        }
    }
    let keys = |answer: &Answer| answer.json()["data"]["keys"].clone();
    let after = installation.as_root("LIST", "/v1/auth/gcp/role", None);
    assert_eq!(keys(&after), keys(&roles));
    let organizations = installation.as_root("GET", "/api/v2/organizations", None);
    assert_eq!(organizations.json()["data"], json!([]));
}

#[test]
fn h14_a_client_that_hangs_up_before_the_answer_costs_nobody_else_anything() {
    let installation = installation();
    let body = json!({"role": "dev", "jwt": installation.login_jwt().unwrap()}).to_string();
    let request = format!(
        "POST /v1/auth/gcp/login HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    for cut in [request.len(), request.len() - 1, request.len() / 2, 20, 1] {
        for _ in 0..50 {
            let mut stream = TcpStream::connect(installation.address()).unwrap();
            stream.write_all(&request.as_bytes()[..cut]).unwrap();
        }
    }
    let login = installation.login().unwrap();
    assert_eq!(login.status, 200, "{login:?}");
}

#[test]
fn h9_a_client_cannot_choose_its_own_address() {
    let installation = installation();
    let role = json!({
        "type": "iam", "bound_service_accounts": "*", "token_bound_cidrs": "10.9.8.7/32",
    });
    let written = installation.as_root("POST", "/v1/auth/gcp/role/bound", Some(&role));
    assert_eq!(written.status, 200, "{written:?}");
    let google = installation.google();
    let jwt = google
        .sign_login_jwt(gatehouse_tests::WORKLOAD, "bound")
        .unwrap();
    let body = json!({"role": "bound", "jwt": jwt}).to_string();
    for forged in [
        "X-Gatehouse-Peer",
        "x-gatehouse-peer",
        "X-Forwarded-For",
        "Forwarded",
        "X-Real-Ip",
    ] {
        let answer = reqwest::blocking::Client::new()
            .post(format!(
                "http://{}/v1/auth/gcp/login",
                installation.address()
            ))
            .header(forged, "10.9.8.7")
            .header(forged, "10.9.8.7")
            .body(body.clone())
            .send()
            .unwrap();
        assert_eq!(answer.status().as_u16(), 403, "{forged}");
    }
    assert_eq!(
        google.calls(gatehouse_fake_google::Endpoint::ServiceAccount),
        0
    );
}

#[test]
fn h8_no_page_of_another_origin_may_read_an_answer() {
    let installation = installation();
    for path in [
        "/v1/sys/health",
        "/v1/auth/gcp/login",
        "/api/v2/organizations",
    ] {
        for method in ["OPTIONS", "GET", "POST"] {
            let head = format!(
                "{method} {path} HTTP/1.1\r\nHost: x\r\nOrigin: https://evil.example\r\nAccess-Control-Request-Method: POST\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
            );
            let answer = raw(&installation, head.as_bytes()).to_ascii_lowercase();
            assert!(answer.starts_with("http/1.1 "), "{answer}");
            assert!(!answer.contains("access-control-"), "{answer}");
        }
    }
}

#[test]
fn h14_random_bytes_never_get_a_5xx() {
    let installation = installation();
    // SplitMix64: the same bytes in every run.
    let mut state: u64 = 0x1234_5678;
    let mut next = move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    };
    let pieces = [
        "auth",
        "gcp",
        "login",
        "role",
        "dev",
        "sys",
        "policies",
        "acl",
        "token",
        "..",
        "%2e",
        "%2F",
        "%00",
        "\u{e9}",
        "organizations",
        "api",
        "v1",
        "v2",
        "*",
        "+",
        "{{identity.entity.id}}",
        "a b",
        "?list=true",
        "&",
        "=",
    ];
    let methods = [
        "GET", "LIST", "PUT", "POST", "DELETE", "PATCH", "HEAD", "OPTIONS", "BREW",
    ];
    for _ in 0..2_000 {
        let mut path = String::from(if next() % 2 == 0 { "/v1" } else { "/api/v2" });
        for _ in 0..next() % 6 {
            path.push('/');
            path.push_str(pieces[(next() % pieces.len() as u64) as usize]);
        }
        let length = (next() % 40) as usize;
        let body: Vec<u8> = (0..length).map(|_| next() as u8).collect();
        let method = methods[(next() % methods.len() as u64) as usize];
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\nX-Vault-Token: {}\r\nAuthorization: Bearer {0}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n",
            installation.root_token()
        );
        let answer = raw(&installation, &[head.as_bytes(), &body].concat());
        assert!(
            answer.starts_with("HTTP/1.1 ") && !answer.starts_with("HTTP/1.1 5"),
            "{method} {path}: {answer}"
        );
    }
    assert_eq!(
        installation
            .send("GET", "/v1/sys/health", None, None)
            .status,
        200
    );
}
