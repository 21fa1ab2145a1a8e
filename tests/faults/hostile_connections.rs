//! SEC-H14: whatever comes over a connection, it gets at most one answer, no 5xx, and the next client is served.

use std::io::Write;
use std::net::{Shutdown, TcpStream};

use gatehouse_tests::Installation;

use crate::hostile_requests::{answered, installation, sent};

/// Sends bytes and nothing after them, which the server is told, and reads what comes.
fn raw(installation: &Installation, bytes: &[u8]) -> String {
    let stream = sent(installation, bytes);
    let _ = stream.shutdown(Shutdown::Write);
    answered(stream)
}

#[test]
fn h5_ambiguous_framing_gets_at_most_one_answer() {
    let installation = installation();
    let requests: [&[u8]; 8] = [
        b"POST /v1/auth/gcp/login HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /v1/sys/health HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST /v1/auth/gcp/login HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}GET /v1/sys/health HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST /v1/auth/gcp/login HTTP/1.1\r\nHost: x\r\nContent-Length: +2\r\n\r\n{}",
        b"POST /v1/auth/gcp/login HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n{}",
        b"GET /v1/sys/health HTTP/1.1\r\nHost : x\r\n\r\n",
        b"GET /v1/sys/health HTTP/1.1\r\nHost: x\r\nX: a\r\n b\r\n\r\n",
        b"GET /v1/sys/health\x00 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ];
    for request in requests {
        let answer = raw(&installation, request);
        let answers = answer.matches("HTTP/1.1 ").count();
        assert!(
            answers <= 1,
            "{:?}: {answer}",
            String::from_utf8_lossy(request)
        );
        assert!(!answer.starts_with("HTTP/1.1 5"), "{answer}");
    }
    assert_eq!(
        installation
            .send("GET", "/v1/sys/health", None, None)
            .status,
        200
    );
}

#[test]
fn h3_clients_that_send_nothing_do_not_keep_others_from_being_served() {
    let installation = installation();
    let mut idle = Vec::new();
    for _ in 0..400 {
        let mut stream = TcpStream::connect(installation.address()).unwrap();
        stream
            .write_all(
                b"POST /v1/auth/gcp/login HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
            )
            .unwrap();
        idle.push(stream);
    }
    for _ in 0..50 {
        let health = installation.send("GET", "/v1/sys/health", None, None);
        assert_eq!(health.status, 200);
    }
    drop(idle);
}
