//! The heads of HTTP/1 messages (SEC-H2, H5).

use gatehouse::listener::head_of;
use proptest::collection::vec;
use proptest::prelude::*;

/// Longest header block that the default limits admit.
const LONGEST: usize = 16 << 10;

/// A part of a message: what belongs there, what nearly does, and anything.
fn part() -> impl Strategy<Value = Vec<u8>> {
    let known = prop::sample::select(vec![
        "GET / HTTP/1.1\r\n",
        "POST /v1/auth/gcp/login?a=b HTTP/1.1\r\n",
        "GET / HTTP/1.0\r\n",
        "Host: a.example\r\n",
        "host: b\r\n",
        "Content-Length: 5\r\n",
        "content-length:5\r\n",
        "Content-Length: +5\r\n",
        "Content-Length: 5, 5\r\n",
        "Transfer-Encoding: chunked\r\n",
        "transfer-encoding: gzip, chunked\r\n",
        "X: y\r\n",
        "X : y\r\n",
        " folded\r\n",
        "X: y\n",
        "X: y\r",
        "\r\n",
        "\r\n\r\n",
        "\n",
        "\r",
        "hello",
    ]);
    prop_oneof![
        12 => known.prop_map(|text| text.as_bytes().to_vec()),
        1 => vec(any::<u8>(), 0..40),
        1 => (any::<u8>(), 0_usize..20_000).prop_map(|(byte, times)| vec![byte; times]),
    ]
}

/// Mostly with a beginning and an end, or hardly any would be taken.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let begun = any::<bool>();
    (begun, vec(part(), 0..8), any::<bool>()).prop_map(|(begun, parts, ended)| {
        let begin = if begun {
            "GET /x HTTP/1.1\r\nHost: a\r\n"
        } else {
            ""
        };
        let end = if ended { "\r\n" } else { "" };
        [begin.as_bytes(), &parts.concat(), end.as_bytes()].concat()
    })
}

/// The names of the fields in a header block that was taken, and what follows the colon.
fn fields(head: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(head).to_ascii_lowercase();
    let lines = text.split("\r\n").filter_map(|line| line.split_once(':'));
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.trim().to_owned());
    lines.map(owned).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn v1_h5_a_head_that_is_taken_has_one_length_and_one_host(message in message()) {
        let Ok(Some(length)) = head_of(&message, 0) else {
            return Ok(());
        };
        prop_assert!(length <= message.len().min(LONGEST));
        let head = &message[..length];
        prop_assert!(head.ends_with(b"\r\n\r\n"));
        let fields = fields(head);
        let values = |name: &str| -> Vec<&str> {
            let named = fields.iter().filter(|(found, _)| found == name);
            named.map(|(_, value)| value.as_str()).collect()
        };
        let (lengths, codings) = (values("content-length"), values("transfer-encoding"));
        prop_assert!(lengths.len() + codings.len() <= 1, "{lengths:?} {codings:?}");
        prop_assert!(lengths.iter().flat_map(|length| length.bytes()).all(|byte| byte.is_ascii_digit()));
        prop_assert!(codings.iter().all(|coding| *coding == "chunked"));
        prop_assert!(values("host").len() <= 1);
        // The bytes after the block have no say in it.
        prop_assert_eq!(head_of(head, 0), Ok(Some(length)));
    }

    #[test]
    fn v1_h2_a_head_that_comes_in_pieces_is_the_one_that_comes_at_once(
        message in message(),
        cuts in vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let whole = head_of(&message, 0);
        let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(message.len() + 1)).collect();
        ends.push(message.len());
        ends.sort_unstable();
        let mut searched = 0;
        for end in ends {
            let found = head_of(&message[..end], searched);
            match found {
                Ok(None) => searched = end,
                Ok(Some(_)) => {
                    prop_assert_eq!(&found, &whole);
                    return Ok(());
                }
                // It is refused as soon as that is certain, which may be for another reason than the whole.
                Err(_) => {
                    prop_assert!(whole.is_err(), "{found:?} {whole:?}");
                    return Ok(());
                }
            }
        }
        prop_assert_eq!(whole, Ok(None));
    }

    #[test]
    fn v1_h5_no_bytes_are_too_odd_to_be_judged(
        message in vec(any::<u8>(), 0..600),
        searched in 0_usize..1_000,
    ) {
        if let Ok(Some(length)) = head_of(&message, searched) {
            prop_assert!(length <= message.len());
        }
    }
}
