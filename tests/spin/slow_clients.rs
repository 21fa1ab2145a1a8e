//! Clients that send their bodies slowly, or never to the end: an instance waits for one of them at a time, and others are opened.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use gatehouse_tests::{Installation, Storage};
use serde_json::json;

use crate::HOST;

/// More than twice as many as Spin offers to one instance at one time.
const SLOW: usize = 32;
/// Requests between two pieces of the slow bodies, from this many clients at one time.
const OTHERS: usize = 8;
/// A machine under load is no failure, a server that answers nobody is.
const PATIENCE: Duration = Duration::from_secs(60);

/// A login whose body has been sent in part.
struct SlowLogin {
    connection: TcpStream,
    rest: Vec<u8>,
}

impl SlowLogin {
    fn begin(installation: &Installation) -> Self {
        let body = json!({"role": "dev", "jwt": installation.login_jwt().unwrap()}).to_string();
        let mut connection = TcpStream::connect(installation.address()).unwrap();
        connection.set_read_timeout(Some(PATIENCE)).unwrap();
        let head = format!(
            "POST /v1/auth/gcp/login HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            installation.address(),
            body.len()
        );
        connection.write_all(head.as_bytes()).unwrap();
        let mut slow = Self {
            connection,
            rest: body.into_bytes(),
        };
        slow.send(10);
        slow
    }

    fn send(&mut self, bytes: usize) {
        let bytes = bytes.min(self.rest.len());
        let piece: Vec<u8> = self.rest.drain(..bytes).collect();
        self.connection.write_all(&piece).unwrap();
    }

    /// Sends the rest, and gives the first line of the answer.
    fn finish(mut self) -> String {
        self.send(usize::MAX);
        let mut answer = String::new();
        self.connection.read_to_string(&mut answer).unwrap();
        answer.lines().next().unwrap_or_default().to_owned()
    }
}

/// Many at once, each of whom is answered in time.
fn assert_others_are_answered(installation: &Installation) {
    let url = format!(
        "http://{}/v1/auth/token/lookup-self",
        installation.address()
    );
    std::thread::scope(|scope| {
        for _ in 0..OTHERS {
            scope.spawn(|| {
                let client = reqwest::blocking::Client::builder()
                    .timeout(PATIENCE)
                    .build()
                    .unwrap();
                for _ in 0..5 {
                    let request = client.get(&url);
                    let request = request.header("X-Vault-Token", installation.root_token());
                    let answer = request.send().expect("an answer in time");
                    assert_eq!(answer.status().as_u16(), 200);
                }
            });
        }
    });
}

fn prepared() -> Installation {
    let installation = Installation::start_program(HOST.program(), Storage::Memory, "").unwrap();
    installation.set_up_login().unwrap();
    installation
}

#[test]
fn slow_bodies_hold_up_nobody_and_are_answered_in_the_end() {
    let installation = prepared();
    let mut slow: Vec<SlowLogin> = (0..SLOW).map(|_| SlowLogin::begin(&installation)).collect();
    for _ in 0..3 {
        assert_others_are_answered(&installation);
        slow.iter_mut().for_each(|login| login.send(10));
    }
    for login in slow {
        assert_eq!(login.finish(), "HTTP/1.1 200 OK");
    }
    assert_others_are_answered(&installation);
}

#[test]
fn clients_that_go_away_in_the_middle_take_nothing_with_them() {
    let installation = prepared();
    for _ in 0..4 {
        let slow: Vec<SlowLogin> = (0..SLOW).map(|_| SlowLogin::begin(&installation)).collect();
        assert_others_are_answered(&installation);
        drop(slow);
    }
    assert_others_are_answered(&installation);
    assert_eq!(installation.login().unwrap().status, 200);
}
