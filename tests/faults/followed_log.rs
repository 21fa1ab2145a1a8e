//! An operator who follows the server's log over HTTP, until the server is sealed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use gatehouse_fake_google::{Endpoint, Fault};
use gatehouse_tests::{Installation, Program, Storage};

#[test]
fn a_line_about_a_request_names_it_at_every_level_and_in_both_formats() {
    for (format, name) in [("text", "id=\""), ("json", "\"id\":\"")] {
        let program = Program::gatehouse().logging_at("warn");
        let settings = format!("[log]\nformat = {format:?}\n");
        let mut installation =
            Installation::start_program(program, Storage::Memory, &settings).unwrap();
        installation.set_up_login().unwrap();
        let google = installation.google();
        google.set_fault(Endpoint::ServiceAccount, Fault::unavailable());
        let refused = installation.login().unwrap();
        assert_eq!(refused.status, 503, "{refused:?}");
        let id = refused.header("x-request-id").unwrap();
        assert_eq!(installation.server().terminate().unwrap(), Some(0));

        let log = installation.configuration().with_extension("toml.log");
        let log = std::fs::read_to_string(log).unwrap();
        let mut lines = log.lines();
        let line = lines.find(|line| line.contains("google API unavailable"));
        assert!(
            line.is_some_and(|line| line.contains(&format!("{name}{id}\""))),
            "{id}: {log}"
        );
    }
}

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

    // A server that stops ends the body properly: clients that follow its log do not hold it up.
    assert_eq!(installation.server().terminate().unwrap(), Some(0));
    let mut end = String::new();
    answer.read_to_string(&mut end).unwrap();
    assert!(end.ends_with("0\r\n\r\n"), "{end}");
}
