//! Answers of Google, and tokens before their signature is looked at.
//!
//! The first byte selects the reader; where a question belongs to an answer, it is the first line of the rest. Properties (SEC-G6,
//! J5, J6, J8, J10, V1): nothing panics; a reader finds the same as another parser; and an answer about another account or instance than
//! the requested one is refused.

#![no_main]

mod other_parser;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use gatehouse_auth_method::untrusted;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((choice, input)) = input.split_first() else {
        return;
    };
    match choice % 4 {
        0 => keys(input),
        1 => about(input, untrusted::service_account, &["email", "uniqueId"]),
        2 => about(input, untrusted::instance, &["name"]),
        _ => {
            if let Ok(token) = std::str::from_utf8(input) {
                jwt(token);
            }
        }
    }
});

fn keys(body: &[u8]) {
    if let Some(usable) = untrusted::key_set(body) {
        let document = other_parser::value(body).expect("key documents are JSON");
        assert!(
            document
                .as_object()
                .is_some_and(|keys| usable <= keys.len())
        );
    }
}

/// Reads an answer about what the first line asks for, which one of `names` must repeat.
fn about(input: &[u8], read: fn(&[u8], &str) -> bool, names: &[&str]) {
    let mut lines = input.splitn(2, |byte| *byte == b'\n');
    let (Some(asked), Some(body)) = (lines.next(), lines.next()) else {
        return;
    };
    let Ok(asked) = std::str::from_utf8(asked) else {
        return;
    };
    if read(body, asked) {
        let answer = other_parser::value(body).expect("answers are JSON");
        assert!(names.iter().any(|name| answer[name] == asked));
    }
}

fn jwt(token: &str) {
    let Ok(key_id) = untrusted::jwt(token) else {
        return;
    };
    let parts: Vec<&str> = token.trim_ascii().split('.').collect();
    assert_eq!(parts.len(), 3);
    let bytes: Vec<Vec<u8>> = parts
        .iter()
        .map(|part| {
            let bytes = URL_SAFE_NO_PAD.decode(part).expect("parts are base64url");
            assert!(!bytes.is_empty() && URL_SAFE_NO_PAD.encode(&bytes) == *part);
            bytes
        })
        .collect();
    let header = other_parser::value(&bytes[0]).expect("a header is JSON");
    let claims = other_parser::value(&bytes[1]).expect("claims are JSON");
    assert_eq!(header["alg"], "RS256");
    assert_eq!(header["kid"], key_id.as_str());
    assert!((1..=256).contains(&key_id.len()));
    assert!(key_id.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
    for member in ["crit", "b64", "zip"] {
        assert!(header.get(member).is_none(), "{member}");
    }
    assert!(claims.is_object());
}
