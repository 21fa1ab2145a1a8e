//! The form that an HTTP/1 header block must have before the HTTP library sees it (SEC-H2, H5).
//!
//! The library resolves ambiguities that this server refuses: a length beside a transfer coding, a length given twice,
//! a line that ends in a bare line feed. So every header block is checked here first.

use std::mem::MaybeUninit;

use http::uri::Authority;
use httparse::{Header, Status};

use super::request_error::RequestError;

/// Header fields for which there is room without allocating.
const FIELDS_ON_STACK: usize = 128;

/// The limits of a header block.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeadLimits {
    pub(super) bytes: usize,
    pub(super) fields: usize,
    pub(super) target_bytes: usize,
}

/// The body that follows a header block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyFraming {
    /// This many bytes.
    Length(u64),
    /// Chunks, whose end only the HTTP library knows.
    Chunked,
}

/// The result of looking at the beginning of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Head {
    /// The header block is not complete yet.
    Incomplete,
    /// The header block takes `length` bytes.
    Complete { length: usize, body: BodyFraming },
}

/// Looks at the beginning of a message. `searched` bytes of it are known to hold no end of a header block, so that a block
/// that comes byte by byte costs no more than one that comes at once.
///
/// # Errors
///
/// When the message must not be passed on, as soon as that is certain.
pub(super) fn examine(
    message: &[u8],
    searched: usize,
    limits: HeadLimits,
) -> Result<Head, RequestError> {
    first_line_within(message, limits)?;
    let Some(length) = end_of_head(message, searched)? else {
        return still_within(message, limits).map(|()| Head::Incomplete);
    };
    if length > limits.bytes {
        return Err(too_large(message, limits));
    }
    let head = message.get(..length).unwrap_or(message);
    if limits.fields <= FIELDS_ON_STACK {
        let mut fields = [const { MaybeUninit::uninit() }; FIELDS_ON_STACK];
        let fields = fields.get_mut(..limits.fields).unwrap_or_default();
        examine_whole(head, fields, limits)
    } else {
        let mut fields = vec![MaybeUninit::uninit(); limits.fields];
        examine_whole(head, &mut fields, limits)
    }
}

/// The number of bytes up to and including the empty line that ends the header block. Empty lines before the request line do not count.
fn end_of_head(message: &[u8], searched: usize) -> Result<Option<usize>, RequestError> {
    let blank = message
        .iter()
        .take_while(|byte| matches!(byte, b'\r' | b'\n'))
        .count();
    // The four bytes that end a block may straddle the border.
    let from = searched.saturating_sub(3).max(blank);
    for line_feed in memchr::memchr_iter(b'\n', message.get(from..).unwrap_or_default()) {
        let line = message.get(..from + line_feed).unwrap_or_default();
        let Some(line) = line.strip_suffix(b"\r") else {
            return Err(RequestError::Malformed(
                "a line ends without a carriage return",
            ));
        };
        if line.len() > blank && line.ends_with(b"\r\n") {
            return Ok(Some(from + line_feed + 1));
        }
    }
    Ok(None)
}

fn still_within(message: &[u8], limits: HeadLimits) -> Result<(), RequestError> {
    if message.len() >= limits.bytes {
        return Err(too_large(message, limits));
    }
    Ok(())
}

/// Refuses a first line that could hold no target within the limit, complete or not: so a long method is refused however the
/// message is cut into pieces.
fn first_line_within(message: &[u8], limits: HeadLimits) -> Result<(), RequestError> {
    // Method and version take little beside the target.
    const BESIDE_TARGET: usize = 64;
    let longest_line = limits.target_bytes.saturating_add(BESIDE_TARGET);
    if message.len() > longest_line && first_line_exceeds(message, longest_line) {
        return Err(RequestError::TargetTooLong);
    }
    Ok(())
}

fn too_large(message: &[u8], limits: HeadLimits) -> RequestError {
    if first_line_exceeds(message, limits.target_bytes) {
        RequestError::TargetTooLong
    } else {
        RequestError::HeadersTooLarge
    }
}

fn first_line_exceeds(message: &[u8], bytes: usize) -> bool {
    message
        .get(..bytes)
        .is_some_and(|start| memchr::memchr(b'\n', start).is_none())
}

fn examine_whole<'a>(
    head: &'a [u8],
    fields: &mut [MaybeUninit<Header<'a>>],
    limits: HeadLimits,
) -> Result<Head, RequestError> {
    let mut request = httparse::Request::new(&mut []);
    match request.parse_with_uninit_headers(head, fields) {
        Ok(Status::Complete(length)) if length == head.len() => {}
        Ok(_) => {
            return Err(RequestError::Malformed(
                "the header block has an unexpected end",
            ));
        }
        Err(httparse::Error::TooManyHeaders) => return Err(RequestError::HeadersTooLarge),
        Err(httparse::Error::HeaderName) => {
            return Err(RequestError::Malformed("a header name is not valid"));
        }
        Err(httparse::Error::HeaderValue) => {
            return Err(RequestError::Malformed("a header value is not valid"));
        }
        Err(httparse::Error::Version) => {
            return Err(RequestError::Malformed("the HTTP version is not supported"));
        }
        Err(_) => return Err(RequestError::Malformed("the request line is not valid")),
    }
    if request
        .path
        .is_some_and(|target| target.len() > limits.target_bytes)
    {
        return Err(RequestError::TargetTooLong);
    }
    let is_http_11 = request.version == Some(1);
    let body = examine_fields(request.headers, is_http_11)?;
    Ok(Head::Complete {
        length: head.len(),
        body,
    })
}

fn examine_fields(fields: &[Header<'_>], is_http_11: bool) -> Result<BodyFraming, RequestError> {
    let mut length = None;
    let mut chunked = false;
    let mut host = false;
    for field in fields {
        let value = str::from_utf8(field.value).map_err(|_| RequestError::HeaderNotText)?;
        if field.name.eq_ignore_ascii_case("content-length") {
            let parsed = parse_length(value).ok_or(RequestError::Malformed(
                "the content length is not a number",
            ))?;
            if length.replace(parsed).is_some() {
                return Err(RequestError::Malformed("the content length is given twice"));
            }
        } else if field.name.eq_ignore_ascii_case("transfer-encoding") {
            if chunked || !value.eq_ignore_ascii_case("chunked") {
                return Err(RequestError::Malformed(
                    "the only transfer coding is chunked",
                ));
            }
            chunked = true;
        } else if field.name.eq_ignore_ascii_case("host") {
            if host || value.contains('@') || value.parse::<Authority>().is_err() {
                return Err(RequestError::Malformed(
                    "the host header is not exactly one host",
                ));
            }
            host = true;
        }
    }
    match (chunked, length) {
        (true, Some(_)) => Err(RequestError::Malformed(
            "a content length beside a transfer coding",
        )),
        (true, None) if !is_http_11 => {
            Err(RequestError::Malformed("a transfer coding in HTTP/1.0"))
        }
        _ if is_http_11 && !host => Err(RequestError::Malformed("the host header is missing")),
        (true, None) => Ok(BodyFraming::Chunked),
        (false, length) => Ok(BodyFraming::Length(length.unwrap_or(0))),
    }
}

/// Digits only; a sign or a list, which number parsers and HTTP libraries differ about, is not a length.
fn parse_length(value: &str) -> Option<u64> {
    let is_digits = value.bytes().all(|byte| byte.is_ascii_digit());
    is_digits.then(|| value.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: HeadLimits = HeadLimits {
        bytes: 16 << 10,
        fields: 100,
        target_bytes: 8 << 10,
    };

    fn whole(message: &[u8]) -> Result<Head, RequestError> {
        examine(message, 0, LIMITS)
    }

    fn body(message: &str) -> BodyFraming {
        match whole(message.as_bytes()) {
            Ok(Head::Complete { length, body }) => {
                assert_eq!(length, message.find("\r\n\r\n").unwrap() + 4);
                body
            }
            other => panic!("{other:?} for {message:?}"),
        }
    }

    #[test]
    fn h5_a_first_line_that_is_too_long_is_refused_however_it_comes() {
        let message = format!("{} / HTTP/1.1\r\nHost: h\r\n\r\n", "A".repeat(9_000));
        let message = message.as_bytes();
        for end in [8_300, 9_005, message.len()] {
            assert_eq!(
                whole(&message[..end]),
                Err(RequestError::TargetTooLong),
                "{end}"
            );
        }
    }

    #[test]
    fn the_body_follows_from_length_or_coding() {
        assert_eq!(
            body("GET / HTTP/1.1\r\nHost: h\r\n\r\n"),
            BodyFraming::Length(0)
        );
        assert_eq!(
            body("POST / HTTP/1.1\r\nHost: h:8200\r\nContent-Length: 12\r\n\r\nhello"),
            BodyFraming::Length(12)
        );
        assert_eq!(
            body("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n"),
            BodyFraming::Chunked
        );
        assert_eq!(body("GET / HTTP/1.0\r\n\r\n"), BodyFraming::Length(0));
    }

    #[test]
    fn h5_ambiguous_or_malformed_framing_is_refused() {
        let start = "POST / HTTP/1.1\r\nHost: h\r\n";
        for rest in [
            "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
            "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
            "Content-Length: 5\r\nContent-Length: 5\r\n\r\n",
            "Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
            "Content-Length: 5, 5\r\n\r\n",
            "Content-Length: +5\r\n\r\n",
            "Content-Length: -1\r\n\r\n",
            "Content-Length: 0x5\r\n\r\n",
            "Content-Length:\r\n\r\n",
            "Content-Length: 99999999999999999999\r\n\r\n",
            "Transfer-Encoding: gzip, chunked\r\n\r\n",
            "Transfer-Encoding: identity\r\n\r\n",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
            "Transfer-Encoding : chunked\r\n\r\n",
            "Content-Length : 5\r\n\r\n",
            "X: a\r\n folded\r\n\r\n",
            "X: a\rb\r\n\r\n",
            "X: a\0b\r\n\r\n",
            "X: a\nContent-Length: 5\r\n\r\n",
            "Host: other\r\n\r\n",
            "Na me: x\r\n\r\n",
            ": x\r\n\r\n",
        ] {
            let message = format!("{start}{rest}");
            let verdict = whole(message.as_bytes());
            assert!(
                matches!(verdict, Err(RequestError::Malformed(_))),
                "{verdict:?} for {rest:?}"
            );
        }
        for message in [
            "GET / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
            "GET / HTTP/2.0\r\nHost: h\r\n\r\n",
            "GET /\r\n\r\n",
            "GET  / HTTP/1.1\r\nHost: h\r\n\r\n",
            "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
        ] {
            let verdict = whole(message.as_bytes());
            assert!(
                matches!(verdict, Err(RequestError::Malformed(_))),
                "{verdict:?} for {message:?}"
            );
        }
    }

    #[test]
    fn h2_header_values_outside_utf8_are_refused() {
        let message = b"GET / HTTP/1.1\r\nHost: h\r\nX: \xff\r\n\r\n";
        assert_eq!(whole(message), Err(RequestError::HeaderNotText));
        assert!(whole("GET / HTTP/1.1\r\nHost: h\r\nX: ü\r\n\r\n".as_bytes()).is_ok());
    }

    #[test]
    fn h2_blocks_fields_and_targets_have_limits() {
        let with_fields = |count| {
            let fields: String = (0..count)
                .map(|number| format!("X-{number}: y\r\n"))
                .collect();
            whole(format!("GET / HTTP/1.1\r\nHost: h\r\n{fields}\r\n").as_bytes())
        };
        assert!(with_fields(99).is_ok());
        assert_eq!(with_fields(100), Err(RequestError::HeadersTooLarge));

        let with_target = |length: usize| {
            whole(
                format!(
                    "GET /{} HTTP/1.1\r\nHost: h\r\n\r\n",
                    "a".repeat(length - 1)
                )
                .as_bytes(),
            )
        };
        assert!(with_target(8 << 10).is_ok());
        assert_eq!(with_target((8 << 10) + 1), Err(RequestError::TargetTooLong));
        assert_eq!(with_target(20 << 10), Err(RequestError::TargetTooLong));

        let with_value = |length| {
            whole(
                format!(
                    "GET / HTTP/1.1\r\nHost: h\r\nX: {}\r\n\r\n",
                    "a".repeat(length)
                )
                .as_bytes(),
            )
        };
        assert!(with_value(15 << 10).is_ok());
        assert_eq!(with_value(16 << 10), Err(RequestError::HeadersTooLarge));
    }

    #[test]
    fn an_endless_block_is_refused_before_its_end() {
        let endless_target = format!("GET /{}", "a".repeat(9 << 10));
        assert_eq!(
            whole(endless_target.as_bytes()),
            Err(RequestError::TargetTooLong)
        );
        let endless_fields = format!("GET / HTTP/1.1\r\nHost: h\r\nX: {}", "a".repeat(16 << 10));
        assert_eq!(
            whole(endless_fields.as_bytes()),
            Err(RequestError::HeadersTooLarge)
        );
    }

    #[test]
    fn a_block_is_found_wherever_the_pieces_are_cut() {
        let message = b"\r\nPOST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc";
        let end = message.len() - 3;
        let mut searched = 0;
        for available in 1..=message.len() {
            let verdict = examine(&message[..available], searched, LIMITS);
            if available < end {
                assert_eq!(verdict, Ok(Head::Incomplete), "at {available}");
            } else {
                let body = BodyFraming::Length(3);
                assert_eq!(
                    verdict,
                    Ok(Head::Complete { length: end, body }),
                    "at {available}"
                );
            }
            searched = available.min(end - 1);
        }
    }
}
