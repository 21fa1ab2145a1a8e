//! A request that is sent piece by piece.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use gatehouse_tests::{Installation, ROLE};
use serde_json::{Value, json};

/// A machine under load is no failure, a server that answers no client is.
const PATIENCE: Duration = Duration::from_secs(120);

/// A POST whose body has been sent in part.
pub struct SlowRequest {
    connection: TcpStream,
    rest: Vec<u8>,
}

impl SlowRequest {
    /// Sends the head and the beginning of the body.
    pub fn begin(
        installation: &Installation,
        path: &str,
        token: Option<&str>,
        body: &Value,
    ) -> Self {
        let body = body.to_string();
        let token = token.map_or_else(String::new, |token| format!("X-Vault-Token: {token}\r\n"));
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\n{token}Content-Length: {}\r\nConnection: close\r\n\r\n",
            installation.address(),
            body.len()
        );
        let mut connection = TcpStream::connect(installation.address()).unwrap();
        connection.set_read_timeout(Some(PATIENCE)).unwrap();
        connection.write_all(head.as_bytes()).unwrap();
        let mut slow = Self {
            connection,
            rest: body.into_bytes(),
        };
        slow.send(10);
        slow
    }

    /// A login, begun.
    pub fn login(installation: &Installation) -> Self {
        let body = json!({"role": ROLE, "jwt": installation.login_jwt().unwrap()});
        Self::begin(installation, "/v1/auth/gcp/login", None, &body)
    }

    /// A request that needs no other server, begun.
    pub fn lookup(installation: &Installation) -> Self {
        let token = installation.root_token();
        let body = json!({"token": token});
        Self::begin(installation, "/v1/auth/token/lookup", Some(token), &body)
    }

    /// Sends more of the body.
    pub fn send(&mut self, bytes: usize) {
        let bytes = bytes.min(self.rest.len());
        let piece: Vec<u8> = self.rest.drain(..bytes).collect();
        self.connection.write_all(&piece).unwrap();
    }

    /// Sends the rest, and gives the first line of the answer.
    pub fn finish(mut self) -> String {
        self.send(usize::MAX);
        self.answer()
    }

    /// The first line of the answer.
    pub fn answer(mut self) -> String {
        let mut answer = String::new();
        self.connection.read_to_string(&mut answer).unwrap();
        answer.lines().next().unwrap_or_default().to_owned()
    }

    /// True if nothing of an answer is there yet.
    pub fn is_unanswered(&self) -> bool {
        self.connection.set_nonblocking(true).unwrap();
        let peeked = self.connection.peek(&mut [0]);
        self.connection.set_nonblocking(false).unwrap();
        peeked.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    }
}
