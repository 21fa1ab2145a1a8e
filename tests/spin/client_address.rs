//! Where a client is, is what Spin itself says: the last of the fields of that name.

use gatehouse_tests::{Host, Installation, Storage, WORKLOAD};
use serde_json::{Value, json};

/// An address that the tests do not come from.
const ELSEWHERE: &str = "192.0.2.1";

/// The status of a login under `role` with further header fields.
fn login(installation: &Installation, role: &str, headers: &[(&str, &str)]) -> (u16, Value) {
    let jwt = installation
        .google()
        .sign_login_jwt(WORKLOAD, role)
        .unwrap();
    let url = format!("http://{}/v1/auth/gcp/login", installation.address());
    let body = json!({"role": role, "jwt": jwt});
    let mut request = reqwest::blocking::Client::new()
        .post(url)
        .body(body.to_string());
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let answer = request.send().unwrap();
    let status = answer.status().as_u16();
    (
        status,
        serde_json::from_str(&answer.text().unwrap()).unwrap(),
    )
}

fn assert_only_spin_is_believed(host: Host) {
    let installation = Installation::start_program(host.program(), Storage::Memory, "").unwrap();
    installation.set_up_login().unwrap();
    for (role, bound) in [("here", "127.0.0.0/8"), ("elsewhere", ELSEWHERE)] {
        let body = json!({
            "type": "iam",
            "bound_service_accounts": WORKLOAD,
            "token_bound_cidrs": bound,
        });
        let path = format!("/v1/auth/gcp/role/{role}");
        let written = installation.as_root("POST", &path, Some(&body));
        assert!(written.status < 300, "{written:?}");
    }
    let address = format!("{ELSEWHERE}:50000");
    let forgeries: [&[(&str, &str)]; 5] = [
        &[],
        &[("spin-client-addr", &address)],
        &[
            ("spin-client-addr", &address),
            ("spin-client-addr", &address),
        ],
        &[("x-gatehouse-peer", ELSEWHERE)],
        &[("x-forwarded-for", ELSEWHERE), ("x-real-ip", ELSEWHERE)],
    ];
    for forgery in forgeries {
        let (status, answer) = login(&installation, "here", forgery);
        assert_eq!(status, 200, "{forgery:?}: {answer}");
        let (status, answer) = login(&installation, "elsewhere", forgery);
        assert!((400..500).contains(&status), "{forgery:?}: {answer}");
    }
}

#[test]
fn h9_no_field_of_a_client_says_where_it_is() {
    assert_only_spin_is_believed(Host::Spin4);
}

#[test]
fn h9_no_field_of_a_client_says_where_it_is_on_spin_3() {
    assert_only_spin_is_believed(Host::Spin3);
}
