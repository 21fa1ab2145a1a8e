//! The head of an HTTP/1 message, as the listener looks at it before the HTTP library does.
//!
//! The first byte says where the message is cut. Properties (SEC-H2, H5, V1): nothing panics; a head that is accepted is whole, has one
//! length and one host at most, and is accepted alike whatever follows it; and a message that comes in two pieces is judged as one that
//! comes at once.
//!
//! The host is too much to be built with instrumentation. This part of it needs nothing of the rest, and is compiled here from its files.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[allow(dead_code)]
#[path = "../../../host/src/listener/framing.rs"]
mod framing;
#[allow(dead_code)]
#[path = "../../../host/src/listener/request_error.rs"]
mod request_error;

use framing::{BodyFraming, Head, HeadLimits, examine};

const LIMITS: HeadLimits = HeadLimits {
    bytes: 1024,
    fields: 20,
    target_bytes: 256,
};

fuzz_target!(|input: &[u8]| {
    let Some((cut, message)) = input.split_first() else {
        return;
    };
    let whole = examine(message, 0, LIMITS);
    if let Ok(Head::Complete { length, body }) = whole {
        let head = &message[..length];
        assert!(length <= LIMITS.bytes && head.ends_with(b"\r\n\r\n"));
        assert_eq!(examine(head, 0, LIMITS), whole, "what follows has no say");
        check(head, body);
    }

    let cut = message.len() * usize::from(*cut) / 256;
    match examine(&message[..cut], 0, LIMITS) {
        Ok(Head::Incomplete) => assert_eq!(examine(message, cut, LIMITS).ok(), whole.ok()),
        Ok(complete) => assert_eq!(Ok(complete), whole),
        // It is refused as soon as that is certain, which may be for another reason than the whole.
        Err(_) => assert!(whole.is_err()),
    }
});

/// Reads a head that was taken by the plainest reading: a line a field, and a colon in it.
fn check(head: &[u8], body: BodyFraming) {
    let text = String::from_utf8_lossy(head).to_ascii_lowercase();
    // Empty lines before the request line are let pass, also those that end in a line feed alone.
    let fields: Vec<(&str, &str)> = text
        .trim_start_matches(['\r', '\n'])
        .split("\r\n")
        .skip(1)
        .filter_map(|line| line.split_once(':'))
        .collect();
    assert!(fields.len() <= LIMITS.fields);
    let values = |name: &str| -> Vec<&str> {
        let named = fields.iter().filter(|(found, _)| *found == name);
        named.map(|(_, value)| value.trim()).collect()
    };
    assert!(values("host").len() <= 1);
    match (
        &values("content-length")[..],
        &values("transfer-encoding")[..],
    ) {
        ([], []) => assert_eq!(body, BodyFraming::Length(0)),
        ([length], []) => {
            assert!(length.bytes().all(|byte| byte.is_ascii_digit()));
            let length = length.parse().expect("a length that was taken");
            assert_eq!(body, BodyFraming::Length(length));
        }
        ([], ["chunked"]) => assert_eq!(body, BodyFraming::Chunked),
        other => panic!("two lengths were taken: {other:?}"),
    }
}
