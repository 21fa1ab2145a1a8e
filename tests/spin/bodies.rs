//! Bodies of requests, announced in the head or not.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use gatehouse_tests::{Host, Installation};

use crate::slow_clients::prepared_on;

/// A machine under load is no failure, a server that does not answer is.
const PATIENCE: Duration = Duration::from_secs(60);

/// The answer to a request with the root token, head and body.
fn answer(installation: &Installation, request_line: &str, framing: &str, body: &str) -> String {
    let head = format!(
        "{request_line} HTTP/1.1\r\nHost: {}\r\nX-Vault-Token: {}\r\nConnection: close\r\n{framing}\r\n",
        installation.address(),
        installation.root_token(),
    );
    let mut connection = TcpStream::connect(installation.address()).unwrap();
    connection.set_read_timeout(Some(PATIENCE)).unwrap();
    connection.write_all((head + body).as_bytes()).unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    answer
}

fn chunked(body: &str) -> String {
    format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len())
}

#[test]
fn a_body_is_read_where_it_counts_and_makes_no_difference_where_it_does_not() {
    const CHUNKED: &str = "Transfer-Encoding: chunked\r\n";
    for host in [Host::Spin4, Host::Spin3] {
        let installation = prepared_on(host);
        for (framing, body) in [
            ("", String::new()),
            ("Content-Length: 0\r\n", String::new()),
            ("Content-Length: 2\r\n", "{}".to_owned()),
            (CHUNKED, chunked("{}")),
        ] {
            let found = answer(
                &installation,
                "GET /v1/auth/token/lookup-self",
                framing,
                &body,
            );
            assert!(found.starts_with("HTTP/1.1 200 OK"), "{framing}: {found}");
            assert!(found.contains("\"path\":\"auth/token/root\""), "{found}");
        }
        let policy = chunked(r#"{"policy": "path \"a\" { capabilities = [\"read\"] }"}"#);
        let path = "/v1/sys/policies/acl/of-chunks";
        let written = answer(&installation, &format!("POST {path}"), CHUNKED, &policy);
        assert!(written.starts_with("HTTP/1.1 204 No Content"), "{written}");
        let kept = installation.as_root("GET", path, None).json();
        assert_eq!(
            kept["data"]["policy"],
            "path \"a\" { capabilities = [\"read\"] }"
        );
    }
}

/// A request whose body does not arrive as a whole, and what is answered to it.
fn late_answer(installation: &Installation, path: &str) -> String {
    answer(
        installation,
        &format!("POST {path}"),
        "Content-Length: 9\r\n",
        "form",
    )
}

#[test]
fn a_body_that_is_late_is_told_in_the_form_of_what_was_asked() {
    let assert_told = |host: Host| {
        let installation = prepared_on(host);
        std::thread::scope(|scope| {
            for (path, media_type, said) in [
                (
                    "/ui/explain",
                    "text/html; charset=utf-8",
                    "<p>What happened: the request body took too long.</p>",
                ),
                (
                    "/api/v2/organizations",
                    "application/vnd.api+json",
                    r#""title":"request timeout""#,
                ),
                (
                    "/v1/sys/auth/x",
                    "application/json",
                    r#"{"errors":["the request body took too long"]}"#,
                ),
            ] {
                let installation = &installation;
                scope.spawn(move || {
                    let found = late_answer(installation, path);
                    assert!(
                        found.starts_with("HTTP/1.1 408 Request Timeout"),
                        "{path}: {found}"
                    );
                    let head = found.to_ascii_lowercase();
                    let media_type = format!("content-type: {media_type}\r\n");
                    assert!(head.contains(&media_type), "{path}: {found}");
                    assert!(found.contains(said), "{path}: {found}");
                });
            }
        });
    };
    std::thread::scope(|scope| {
        for host in [Host::Spin4, Host::Spin3] {
            scope.spawn(move || assert_told(host));
        }
    });
}
