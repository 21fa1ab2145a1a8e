//! `sys/tools`.

use serde_json::json;

use super::server::{Server, listed};

const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

#[test]
fn hashes_are_those_of_the_standard() {
    let server = Server::initialized();
    for (path, body, sum) in [
        ("hash", "{}", EMPTY),
        ("hash", r#"{"input":"YWJj"}"#, ABC),
        (
            "hash/sha2-256",
            r#"{"input":"YWJj","algorithm":"sha2-512"}"#,
            ABC,
        ),
        (
            "hash",
            r#"{"input":"YWJj","algorithm":"sha2-224"}"#,
            "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7",
        ),
        (
            "hash/sha2-384",
            r#"{"input":"YWJj"}"#,
            "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
        ),
        (
            "hash/sha2-512",
            r#"{"input":"YWJj"}"#,
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        ),
        (
            "hash",
            r#"{"input":"YWJj","format":"base64"}"#,
            "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=",
        ),
    ] {
        let answer = server.post(&format!("sys/tools/{path}"), body).expect(200);
        assert_eq!(answer.data(), json!({ "sum": sum }), "{path} {body}");
    }
    let warned = server.post("sys/tools/hash", r#"{"q":1}"#).expect(200);
    assert_eq!(
        warned.warnings(),
        ["Endpoint ignored these unrecognized parameters: [q]"]
    );
}

#[test]
fn random_bytes_have_the_length_and_the_form_that_is_asked_for() {
    let server = Server::initialized();
    for (path, body, length) in [
        ("random", "{}", 44),
        ("random/5", "{}", 8),
        ("random/4", r#"{"bytes":8}"#, 8),
        ("random", r#"{"bytes":3,"format":"hex"}"#, 6),
        ("random/platform", "{}", 44),
        ("random/all/6", "{}", 8),
        ("random", r#"{"bytes":131072,"format":"hex"}"#, 262_144),
    ] {
        let answer = server.post(&format!("sys/tools/{path}"), body).expect(200);
        let data = answer.data();
        assert_eq!(
            data["random_bytes"].as_str().unwrap().len(),
            length,
            "{path}"
        );
    }
    let one = || server.post("sys/tools/random", "{}").data();
    assert_ne!(one(), one());
    let seal = server.post("sys/tools/random/seal", "{}").expect(200);
    assert_eq!(
        seal.warnings(),
        ["no seal/entropy augmentation available, using platform entropy source"]
    );
    let source = server.post("sys/tools/random", r#"{"source":"seal"}"#);
    assert_eq!(
        source.expect(200).warnings(),
        [
            "Endpoint replaced the value of these parameters with the values captured from the endpoint's path: [source]"
        ]
    );
}

#[test]
fn refusals_have_their_texts() {
    let server = Server::initialized();
    for (path, body, text) in [
        ("random/0", "{}", "'bytes' cannot be less than 1"),
        (
            "random",
            r#"{"bytes":-1,"format":"x"}"#,
            "'bytes' cannot be less than 1",
        ),
        ("random/131073", "{}", "'bytes' should be less than 131072"),
        (
            "random/x",
            "{}",
            "error parsing url-set byte count: strconv.Atoi: parsing \"x\": invalid syntax",
        ),
        (
            "random/platform/x",
            "{}",
            "error parsing url-set byte count: strconv.Atoi: parsing \"x\": invalid syntax",
        ),
        (
            "random",
            r#"{"format":"x"}"#,
            "unsupported encoding format \"x\"; must be \"hex\" or \"base64\"",
        ),
        ("hash/md5", "{}", "unsupported algorithm md5"),
        ("hash/sha2-256/x", "{}", "unsupported algorithm sha2-256/x"),
        ("hash", r#"{"algorithm":""}"#, "unsupported algorithm "),
        (
            "hash",
            r#"{"format":"x"}"#,
            "unsupported encoding format x; must be \"hex\" or \"base64\"",
        ),
        (
            "hash",
            r#"{"input":"%","algorithm":"md5"}"#,
            "unable to decode input as base64: illegal base64 data at input byte 0",
        ),
        (
            "hash",
            r#"{"input":"YWJjYW%j"}"#,
            "unable to decode input as base64: illegal base64 data at input byte 6",
        ),
    ] {
        server
            .post(&format!("sys/tools/{path}"), body)
            .refused(400, text);
    }
    server
        .get("sys/tools/hash")
        .refused(405, &listed("unsupported operation"));
    server
        .post("sys/tools/x", "{}")
        .refused(404, &listed("unsupported path"));
}
