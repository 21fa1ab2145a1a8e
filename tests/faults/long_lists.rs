//! A list of organizations that is too long for one answer, and clients that read it slowly (contract 3.1).

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use gatehouse_tests::{Installation, Storage};
use serde_json::{Value, json};

/// More than a socket takes before its client reads, in parts of some 500.
const MANY: usize = 6_000;

/// One instance has to answer all requests.
const SETTINGS: &str = "[limits]
instances = 1
";

/// An installation with many organizations.
fn crowded() -> Installation {
    let installation = Installation::start(Storage::Memory, SETTINGS).unwrap();
    for number in 0..MANY {
        let document = json!({"data": {"type": "organizations", "attributes": {
            "name": name(number),
            "email": "ops@example.com",
        }}});
        let made = installation.as_root("POST", "/api/v2/organizations", Some(&document));
        assert_eq!(made.status, 201, "{}", made.body);
    }
    installation
}

fn name(number: usize) -> String {
    format!("org-{number:04}")
}

/// Asks for the list without pages; nothing of the answer is read.
fn asked(installation: &Installation, token: &str) -> TcpStream {
    let mut stream = TcpStream::connect(installation.address()).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    let request = format!(
        "GET /api/v2/organizations HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

/// Everything that comes, and the document in it where it is complete.
fn read(mut stream: TcpStream) -> (String, Option<Value>) {
    let mut answer = Vec::new();
    // A connection that is reset ends the answer as one that is closed does.
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8(answer).unwrap();
    let document = document_of(&answer);
    (answer, document)
}

/// The JSON in an answer in chunks; `None` without the last chunk.
fn document_of(answer: &str) -> Option<Value> {
    let (_, mut chunks) = answer.split_once("\r\n\r\n")?;
    let mut body = String::new();
    loop {
        let (length, rest) = chunks.split_once("\r\n")?;
        let length = usize::from_str_radix(length, 16).ok()?;
        if length == 0 {
            return serde_json::from_str(&body).ok();
        }
        body.push_str(rest.get(..length)?);
        chunks = rest.get(length..)?.strip_prefix("\r\n")?;
    }
}

#[test]
fn h3_slow_readers_of_long_lists_hold_no_instance_and_get_all_of_it() {
    let installation = crowded();
    let token = installation.root_token().to_owned();
    let readers: Vec<_> = (0..4).map(|_| asked(&installation, &token)).collect();
    for number in 0..50 {
        let target = format!("/api/v2/organizations/{}", name(number));
        assert_eq!(installation.as_root("GET", &target, None).status, 200);
    }
    let expected: Vec<String> = (0..MANY).map(name).collect();
    for reader in readers {
        let (answer, document) = read(reader);
        assert!(answer.starts_with("HTTP/1.1 200 "));
        let document = document.unwrap();
        let data = document["data"].as_array().unwrap().iter();
        let found: Vec<_> = data.map(|item| item["id"].as_str().unwrap()).collect();
        assert_eq!(found, expected);
    }
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
    let reader = asked(&installation, &token);
    // The first byte of the answer is there when its head has been made; the socket takes a part of the list alone.
    let mut first = [0];
    assert_eq!(reader.peek(&mut first).unwrap(), 1);
    let ended = installation.send("POST", "/v1/auth/token/revoke-self", Some(&token), None);
    assert_eq!(ended.status, 204);
    let (answer, document) = read(reader);
    assert!(answer.starts_with("HTTP/1.1 200 "));
    assert_eq!(document, None);
    assert!(answer.contains(&name(0)) && !answer.contains(&name(MANY - 1)));
}
