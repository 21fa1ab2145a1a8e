//! The ceremonies of share holders, and the key that seals the stored data (contract 6.1, SEC-K2, K4).

mod doubles;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gatehouse_access::ROOT_TOKEN_CHARACTERS;
use gatehouse_gateway::Method;
use serde_json::{Value, json};

use self::doubles::{NONCE, Server, VERIFICATION, revealed, share};
use super::recorder::{Fails, Recorder};
use super::server::{Answer, request};

#[test]
fn k2_enough_shares_make_a_root_token_that_only_the_password_reveals() {
    let server = Server::new();
    let idle = json!({
        "nonce": "", "started": false, "progress": 0, "required": 2, "complete": false,
        "encoded_token": "", "encoded_root_token": "", "pgp_fingerprint": "", "otp": "",
        "otp_length": ROOT_TOKEN_CHARACTERS,
    });
    assert_eq!(server.get("sys/generate-root/attempt"), idle);
    server
        .give("sys/generate-root/update", 1, NONCE)
        .refused(400, "no root generation in progress");
    let begun = server.put(
        "sys/generate-root/attempt",
        json!({"otp": "", "pgp_key": ""}),
    );
    let begun = begun.expect(200).json();
    assert_eq!(
        (&begun["started"], &begun["nonce"]),
        (&json!(true), &json!(NONCE))
    );
    let password = &begun["otp"];
    let shown = password.as_str().unwrap();
    assert_eq!(shown.len(), ROOT_TOKEN_CHARACTERS);
    assert!(shown.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    assert_eq!(server.get("sys/generate-root/attempt")["otp"], "");
    server
        .put("sys/generate-root/attempt", json!({}))
        .refused(400, "root generation already in progress");

    let one = server.give("sys/generate-root/update", 1, NONCE);
    let one = one.expect(200).json();
    assert_eq!(
        (&one["progress"], &one["complete"]),
        (&json!(1), &json!(false))
    );
    server.give("sys/generate-root/update", 1, NONCE).refused(
        400,
        "given key has already been provided during this generation operation",
    );
    server.give("sys/generate-root/update", 2, "other").refused(
        400,
        &format!(
            "incorrect nonce supplied; nonce for this root generation operation is \"{NONCE}\""
        ),
    );
    let key = json!({"key": "ab".repeat(8), "nonce": NONCE});
    server
        .put("sys/generate-root/update", key)
        .refused(400, "invalid key: key is shorter than minimum 16 bytes");
    let done = server.give("sys/generate-root/update", 3, NONCE);
    let done = done.expect(200).json();
    assert_eq!(
        (&done["complete"], &done["progress"]),
        (&json!(true), &json!(2))
    );
    assert_eq!(done["encoded_token"], done["encoded_root_token"]);
    let token = revealed(&done["encoded_token"], password);
    assert!(token.starts_with("hvs.") && token != server.root);
    let looked_up = server.send(Method::Get, "auth/token/lookup-self", &token, &Value::Null);
    let data = &looked_up.expect(200).json()["data"];
    assert_eq!(
        (&data["policies"], &data["ttl"]),
        (&json!(["root"]), &json!(0))
    );
    assert_eq!(server.get("sys/generate-root/attempt"), idle);
}

#[test]
fn openbao_finds_the_same_ceremonies_at_its_own_paths() {
    let server = Server::new();
    let status = server.get("sys/generate-root-token/attempt");
    assert_eq!(status["data"]["required"], 2);
    let otp = "o".repeat(ROOT_TOKEN_CHARACTERS);
    server
        .put("sys/generate-root-token/attempt", json!({"otp": otp}))
        .expect(200);
    server
        .give("sys/generate-root-token/update", 1, NONCE)
        .expect(200);
    let done = server.give("sys/generate-root-token/update", 2, NONCE);
    let done = done.expect(200).json();
    let token = revealed(&done["data"]["encoded_token"], &json!(otp));
    assert!(token.starts_with("hvs."));

    let init = "sys/rotate/root/init";
    let asked = json!({"secret_shares": 2, "secret_threshold": 2});
    server.put(init, asked.clone()).expect(403);
    let begun = server.send(Method::Post, init, &server.root, &asked);
    assert_eq!(begun.expect(200).json()["data"]["n"], 2);
    let cancelled = server.send(Method::Delete, init, &server.root, &Value::Null);
    cancelled.expect(204);
}

#[test]
fn k2_a_wrong_share_or_a_password_of_another_length_makes_no_token() {
    let server = Server::new();
    server
        .put("sys/generate-root/attempt", json!({"otp": "short"}))
        .refused(400, "OTP string is wrong length");
    server
        .put("sys/generate-root/attempt", json!({"pgp_key": "a key"}))
        .refused(400, "pgp_key is not supported: leave it out");
    server
        .put("sys/generate-root/attempt", json!({}))
        .expect(200);
    server
        .give("sys/generate-root/update", 1, NONCE)
        .expect(200);
    server.give("sys/generate-root/update", 77, NONCE).refused(
        400,
        "root generation aborted: the shares do not yield the key",
    );
    let cancelled = server.send(
        Method::Delete,
        "sys/generate-root/attempt",
        "",
        &Value::Null,
    );
    cancelled.expect(204);
    assert_eq!(server.get("sys/generate-root/attempt")["started"], false);
}

#[test]
fn a_stranger_cannot_cancel_and_cannot_ask_without_end() {
    let server = Server::new();
    server
        .put("sys/generate-root/attempt", json!({}))
        .expect(200);
    let stranger = || {
        let mut stranger = request(Method::Delete, "sys/generate-root/attempt", "");
        stranger.peer = Some("198.51.100.7".parse().unwrap());
        Answer(server.gateway.handle(&stranger))
    };
    let refused = stranger().expect(400);
    assert!(refused.text().contains("ten minutes"), "{}", refused.text());
    server.holders.edit(|script| script.requests_left = 0);
    let limited = stranger().expect(429);
    assert!(limited.text().contains("rate limit"));
}

#[test]
fn k4_shares_are_replaced_with_and_without_verification() {
    let server = Server::new();
    let status = json!({
        "nonce": "", "started": false, "t": 0, "n": 0, "progress": 0, "required": 2,
        "pgp_fingerprints": null, "backup": false, "verification_required": false,
    });
    assert_eq!(server.get("sys/rekey/init"), status);
    for (asked, text) in [
        (
            json!({"secret_shares": 2, "secret_threshold": 3}),
            "provided threshold greater than the total shares",
        ),
        (
            json!({"secret_shares": 1, "secret_threshold": 1, "pgp_keys": ["a"]}),
            "pgp_keys is not supported: leave it out",
        ),
        (
            json!({"secret_shares": 1, "secret_threshold": 1, "backup": true}),
            "backup is not supported: new shares are shown once and kept nowhere",
        ),
        (
            json!({}),
            "invalid rekey seal configuration: there are 1 to 255 shares, of which 2 to all unseal, or 1 of 1",
        ),
    ] {
        server.put("sys/rekey/init", asked).refused(400, text);
    }
    let asked = |verification: bool| json!({"secret_shares": 2, "secret_threshold": 2, "require_verification": verification});
    let begun = server
        .put("sys/rekey/init", asked(false))
        .expect(200)
        .json();
    assert_eq!(
        (&begun["t"], &begun["n"], &begun["nonce"]),
        (&json!(2), &json!(2), &json!(NONCE))
    );
    let one = server.give("sys/rekey/update", 1, NONCE).expect(200).json();
    assert_eq!(one["progress"], 1);
    let made = server.give("sys/rekey/update", 2, NONCE).expect(200).json();
    let base64 = [share(9), share(10)].map(|share| STANDARD.encode(share));
    assert_eq!(made["keys_base64"], json!(base64));
    assert_eq!(made["keys"], json!(["09".repeat(33), "0a".repeat(33)]));
    assert_eq!(
        (&made["complete"], &made["verification_required"]),
        (&json!(true), &json!(false))
    );

    server
        .send(Method::Get, "sys/rekey/verify", "", &Value::Null)
        .refused(400, "no rekey configuration found");
    server.put("sys/rekey/init", asked(true)).expect(200);
    server.give("sys/rekey/update", 1, NONCE).expect(200);
    let made = server.give("sys/rekey/update", 3, NONCE).expect(200).json();
    assert_eq!(made["verification_nonce"], VERIFICATION);
    let verify = |number| server.give("sys/rekey/verify", number, VERIFICATION);
    assert_eq!(verify(9).expect(200).json()["progress"], 1);
    verify(1).refused(
        400,
        "rekey verification failed; incorrect key shares supplied",
    );
    verify(9).expect(200);
    let done = verify(10).expect(200).json();
    assert_eq!(done, json!({"nonce": VERIFICATION, "complete": true}));
    server
        .send(Method::Get, "sys/rekey/backup", "", &Value::Null)
        .refused(400, "no backed-up keys found");
    server
        .send(Method::Get, "sys/rekey-recovery-key/init", "", &Value::Null)
        .refused(
            400,
            "recovery rekeying not supported: there are no recovery keys",
        );
}

#[test]
fn a_key_file_has_no_ceremonies_and_the_refusal_names_the_command_that_does_it() {
    let server = super::server::Server::initialized();
    for (path, command) in [
        ("sys/generate-root/attempt", "operator generate-root"),
        ("sys/rekey/init", "operator rekey"),
    ] {
        let refused = server.send(Method::Get, path, None, "").expect(400);
        assert!(refused.text().contains(command), "{}", refused.text());
    }
}

#[test]
fn k4_the_key_is_shown_and_rotated_by_those_who_may() {
    let server = Server::new();
    let send = |method, path: &str, body: Value| server.send(method, path, &server.root, &body);
    server.put("sys/rotate", json!({})).expect(403);
    assert_eq!(server.holders.edit(|script| script.rotations), 0);
    for path in ["sys/rotate", "sys/rotate/keyring"] {
        send(Method::Put, path, json!({})).expect(204);
    }
    let status = send(Method::Get, "sys/key-status", Value::Null);
    let status = status.expect(200).json();
    for shown in [&status, &status["data"]] {
        assert_eq!(shown["term"], 3);
        assert_eq!(shown["install_time"], "2026-11-21T08:18:30.123Z");
        assert_eq!(shown["encryptions"], 42);
    }
    send(Method::Get, "sys/rotate", Value::Null).expect(405);
}

#[test]
fn k4_the_policy_of_rotation_is_kept_within_its_bounds() {
    let server = Server::new();
    let send = |method, path: &str, body: Value| server.send(method, path, &server.root, &body);
    let read = || {
        send(Method::Get, "sys/rotate/config", Value::Null)
            .expect(200)
            .json()
    };
    let default = json!({"max_operations": 3_865_470_566_u64, "enabled": true, "interval": 0});
    assert_eq!(read()["data"], default);
    let asked = json!({"interval": "25h", "max_operations": 1_000_000, "enabled": false});
    send(Method::Post, "sys/rotate/config", asked).expect(204);
    let set = json!({"max_operations": 1_000_000, "enabled": false, "interval": "25h0m0s"});
    assert_eq!(read()["data"], set);
    for (asked, text) in [
        (
            json!({"interval": "23h"}),
            "interval must be greater or equal to 24h0m0s",
        ),
        (
            json!({"max_operations": 3_865_470_567_u64}),
            "max_operations must be in the range [1000000,3865470566]",
        ),
        (
            json!({"max_operations": 999_999}),
            "max_operations must be in the range [1000000,3865470566]",
        ),
    ] {
        send(Method::Post, "sys/rotate/config", asked).refused(400, text);
    }
    assert_eq!(read()["data"], set);
}

#[test]
fn l1_a_root_token_whose_answer_cannot_be_recorded_ends_at_once() {
    let recorder = Recorder::default();
    let server = Server::new().recorded_by(&recorder);
    let accessors = || {
        let target = "auth/token/accessors?list=true";
        let listed = server.send(Method::Get, target, &server.root, &Value::Null);
        listed.expect(200).json()["data"]["keys"].clone()
    };
    let before = accessors();
    assert_eq!(before.as_array().unwrap().len(), 1);
    for family in ["generate-root", "generate-root-token"] {
        let attempt = format!("sys/{family}/attempt");
        let update = format!("sys/{family}/update");
        let otp = "o".repeat(ROOT_TOKEN_CHARACTERS);
        server.put(&attempt, json!({"otp": otp})).expect(200);
        server.give(&update, 1, NONCE).expect(200);
        recorder.fails(Fails::ForAnswers);
        server.give(&update, 2, NONCE).expect(500);
        recorder.fails(Fails::Never);
        assert_eq!(accessors(), before, "{family}");
    }
    // A recorded token stays valid.
    let attempt = json!({"otp": "o".repeat(ROOT_TOKEN_CHARACTERS)});
    server.put("sys/generate-root/attempt", attempt).expect(200);
    server
        .give("sys/generate-root/update", 1, NONCE)
        .expect(200);
    server
        .give("sys/generate-root/update", 2, NONCE)
        .expect(200);
    assert_eq!(accessors().as_array().unwrap().len(), 2);
}
