//! The parts of a request that the gateway reads before it decides anything: paths, query strings and JSON texts.
//!
//! The first byte selects the parser. Properties (SEC-A2, H11, J21, V1): nothing panics; a path that is served has one spelling, which
//! no second decoding changes; and a JSON text that is accepted is also one for another parser, with the same value.

#![no_main]

mod other_parser;

use gatehouse_gateway::path::{CanonicalPath, plain_spelling};
use gatehouse_gateway::query;
use gatehouse_json::{self as json, MAXIMUM_DEPTH};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((choice, input)) = input.split_first() else {
        return;
    };
    match choice % 3 {
        0 => {
            if let Ok(text) = std::str::from_utf8(input) {
                path(text);
            }
        }
        1 => {
            if let Ok(text) = std::str::from_utf8(input) {
                pairs(text);
            }
        }
        _ => documents(input),
    }
});

fn path(raw: &str) {
    if let Ok(path) = CanonicalPath::parse(raw) {
        let text = path.as_str();
        assert!(!text.contains(['\\', '\0']), "{raw:?} became {text:?}");
        assert!(
            !text.contains("%2F") && !text.contains("%2e"),
            "{raw:?} became {text:?}"
        );
        if !text.is_empty() {
            for segment in text.split('/') {
                assert!(
                    !["", ".", ".."].contains(&segment),
                    "{raw:?} became {text:?}"
                );
            }
        }
    }
    if let Ok(plain) = plain_spelling(raw) {
        // One slash leads: with two, a browser would take what follows for a host.
        assert!(
            plain.starts_with('/') && !plain.starts_with("//"),
            "{raw:?} became {plain:?}"
        );
        assert!(
            CanonicalPath::parse(&plain).is_ok(),
            "{raw:?} became {plain:?}"
        );
    }
}

fn pairs(text: &str) {
    let all = query::pairs(text).count();
    let gathered: usize = query::gathered(text)
        .iter()
        .map(|(_, values)| values.len())
        .sum();
    assert_eq!(all, gathered);
}

fn documents(body: &[u8]) {
    if let Ok(value) = json::document(body, MAXIMUM_DEPTH) {
        let json::Plain(plain) = serde_json::from_slice(body).expect("a document is JSON");
        assert_eq!(value, plain);
        assert_eq!(Some(value), other_parser::value(body));
    }
    if json::object(body).is_ok_and(|members| !members.is_empty()) {
        assert!(
            json::document(body, MAXIMUM_DEPTH) != Err(json::JsonError::DuplicateMember),
            "a member is given twice"
        );
    }
}
