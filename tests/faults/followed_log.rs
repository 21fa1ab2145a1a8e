//! An operator who follows the server's log over HTTP, until the server is sealed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use gatehouse_tests::{Installation, Storage};

#[test]
fn an_operator_sees_lines_as_they_are_logged_and_the_end_of_the_server() {
    let mut installation = Installation::start(Storage::Memory, "").unwrap();
    let mut stream = TcpStream::connect(installation.address()).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    let request = format!(
        "GET /v1/sys/monitor?log_format=json HTTP/1.1\r\nHost: x\r\nX-Vault-Token: {}\r\nConnection: close\r\n\r\n",
        installation.root_token()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = BufReader::new(stream);
    let mut line = String::new();
    answer.read_line(&mut line).unwrap();
    assert_eq!(line, "HTTP/1.1 200 OK\r\n");

    let rotated = installation.as_root("PUT", "/v1/sys/rotate", None);
    assert_eq!(rotated.status, 204, "{}", rotated.body);
    while !line.contains("a new key seals the store: a caller asked for it term=") {
        line.clear();
        assert_ne!(
            answer.read_line(&mut line).unwrap(),
            0,
            "the end came first"
        );
    }
    assert!(line.contains(r#""@level":"info""#), "{line}");
    let name = rotated.header("x-request-id").unwrap();
    assert!(line.contains(&format!("request_id={name}")), "{line}");

    // A server that stops ends the body as a whole one: it is not held up by those who follow its log.
    assert_eq!(installation.server().terminate().unwrap(), Some(0));
    let mut end = String::new();
    answer.read_to_string(&mut end).unwrap();
    assert!(end.ends_with("0\r\n\r\n"), "{end}");
}
