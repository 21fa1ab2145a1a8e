//! A list of organizations that is too long for one answer, and clients that read it slowly (organizations contract 3.1).

use gatehouse_tests::{Installation, Storage};
use serde_json::json;

use crate::slow_reader::{MANY, SlowReader, assert_whole, crowd, name};

/// One instance has to answer all requests.
const SETTINGS: &str = "[limits]
instances = 1
";

/// An installation with many organizations.
fn crowded() -> Installation {
    let installation = Installation::start(Storage::Memory, SETTINGS).unwrap();
    crowd(&installation);
    installation
}

#[test]
fn h3_slow_readers_of_long_lists_hold_no_instance_and_get_all_of_it() {
    let installation = crowded();
    let token = installation.root_token();
    let ask = |_| SlowReader::ask(&installation, token);
    let readers: Vec<_> = (0..4).map(ask).collect();
    for number in 0..50 {
        let target = format!("/api/v2/organizations/{}", name(number));
        assert_eq!(installation.as_root("GET", &target, None).status, 200);
    }
    for reader in readers {
        let received = reader.read();
        assert!(received.is_whole);
        assert_whole(&serde_json::from_slice(&received.body).unwrap());
    }
    // Over HTTP/1.1 too, where the parts come in chunks.
    let list = installation.as_root("GET", "/api/v2/organizations", None);
    assert_eq!(list.header("transfer-encoding"), Some("chunked"));
    assert_whole(&list.json());
}

#[test]
fn t9_a_token_for_the_addresses_of_its_client_reads_a_long_list_to_its_end() {
    let installation = crowded();
    let write = |path: &str, body| {
        let written = installation.as_root("POST", path, Some(&body));
        assert!(written.status < 300, "{path}: {written:?}");
        written.json()
    };
    let everything = "path \"*\" { capabilities = [\"read\", \"list\"] }";
    write("/v1/sys/policies/acl/all", json!({"policy": everything}));
    let role = json!({"allowed_policies": ["all"], "token_bound_cidrs": ["127.0.0.1"]});
    write("/v1/auth/token/roles/local", role);
    let token = write("/v1/auth/token/create/local", json!({"policies": ["all"]}));
    let token = token["auth"]["client_token"].as_str().unwrap();
    let received = SlowReader::ask(&installation, token).read();
    assert!(received.is_whole);
    assert_whole(&serde_json::from_slice(&received.body).unwrap());
}

#[test]
fn a_long_list_whose_token_ends_is_cut_off_and_does_not_look_complete() {
    let installation = crowded();
    let made = json!({"policies": ["root"], "ttl": "1h"});
    let made = installation.as_root("POST", "/v1/auth/token/create", Some(&made));
    let token = made.json()["auth"]["client_token"]
        .as_str()
        .unwrap()
        .to_owned();
    let mut reader = SlowReader::ask(&installation, &token);
    // The answer begins when its first part has been made; the window takes some of that alone.
    reader.wait_for_beginning();
    let ended = installation.send("POST", "/v1/auth/token/revoke-self", Some(&token), None);
    assert_eq!(ended.status, 204);
    let received = reader.read();
    assert!(!received.is_whole);
    let body = String::from_utf8(received.body).unwrap();
    assert!(body.contains(&name(0)) && !body.contains(&name(MANY - 1)));
}
