//! A standby that takes the place of its primary while servers run, and the old primary continues, ends, or stays silent (SEC-S1, S7, S9).

use std::fs;

use gatehouse_postgres_server::{PostgresServer, blocking};
use gatehouse_tests::{Answer, Installation, Program, ServerProcess};
use serde_json::json;

use crate::cluster::{Stopped, answer_of, await_that};

/// A server whose database has a synchronous standby, and is told of both.
struct Pair {
    installation: Installation,
    standby: PostgresServer,
}

impl Pair {
    fn start() -> Self {
        let database = PostgresServer::start_blocking(&[]);
        let mut installation =
            Installation::start_over(Program::gatehouse(), database, "").unwrap();
        assert_eq!(installation.server().terminate().unwrap(), Some(0));
        let standby = blocking(installation.database().start_standby());
        let pair = Self {
            installation,
            standby,
        };
        let [old, new] = pair.hosts();
        pair.configure(&format!("{old}/"), &format!("{old},{new}/"));
        let mut pair = pair;
        pair.installation.run().unwrap();
        pair
    }

    fn hosts(&self) -> [String; 2] {
        let ports = [self.installation.database().port(), self.standby.port()];
        ports.map(|port| format!("127.0.0.1:{port}"))
    }

    /// Changes the configuration of servers that start from now on.
    fn configure(&self, from: &str, to: &str) {
        let file = self.installation.configuration();
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(file, text.replace(from, to)).unwrap();
    }

    fn make_token(&self) -> String {
        let body = json!({"policies": ["default"]});
        let path = "/v1/auth/token/create";
        let made = answer_of(|| self.installation.as_root("POST", path, Some(&body)));
        assert_eq!(made.status, 200, "{made:?}");
        let token = &made.json()["auth"]["client_token"];
        token.as_str().unwrap().to_owned()
    }

    fn look_up(&self, token: &str) -> Answer {
        let path = "/v1/auth/token/lookup-self";
        self.installation.send("GET", path, Some(token), None)
    }

    fn health(&self) -> Answer {
        let path = "/v1/sys/health";
        self.installation.send("GET", path, None, None)
    }

    /// Asserts that the server reads and writes where `revoked` was revoked. Until its next beat it may still meet connections to the old
    /// primary, and then accepts nothing.
    fn assert_follows(&self, revoked: &str) {
        let refused = answer_of(|| self.look_up(revoked));
        assert_eq!(refused.status, 403, "{refused:?}");
        let token = self.make_token();
        let found = answer_of(|| self.look_up(&token));
        assert_eq!(found.status, 200, "{found:?}");
    }

    /// Promotes the standby, and starts a server at it; the first server is told nothing.
    fn promote(&self) -> ServerProcess {
        blocking(self.standby.promote());
        let [old, new] = self.hosts();
        self.configure(&format!("{old},{new}/"), &format!("{new},{old}/"));
        self.installation.another_server().unwrap()
    }
}

fn revoke(server: &ServerProcess, token: &str) {
    let path = "/v1/auth/token/revoke-self";
    let revoked = answer_of(|| server.send("POST", path, Some(token), None));
    assert_eq!(revoked.status, 204, "{revoked:?}");
}

#[test]
fn s7_s9_a_server_left_at_an_old_primary_stops_serving_and_follows_when_that_has_ended() {
    let pair = Pair::start();
    let token = pair.make_token();
    let moved = pair.promote();
    revoke(&moved, &token);

    // For two beats at most the server may still read from the old primary. One refusal may be that of a busy machine.
    let mut refused = 0;
    await_that(
        "the server knows that its database confirms nothing",
        || {
            let looked_up = pair.look_up(&token).status;
            assert!(matches!(looked_up, 200 | 503), "{looked_up}");
            match looked_up == 503 && pair.health().status == 503 {
                true => refused += 1,
                false => refused = 0,
            }
            refused == 10
        },
    );
    for _ in 0..20 {
        for refused in [pair.look_up(&token), pair.health()] {
            assert_eq!(refused.status, 503, "{refused:?}");
            assert_eq!(refused.header("retry-after"), Some("1"), "{refused:?}");
        }
    }
    let live = pair.installation.send("GET", "/api/v2/ping", None, None);
    assert_eq!(live.status, 204, "{live:?}");

    pair.installation.database().stop();
    await_that("the server has found the new primary", || {
        pair.health().status == 200
    });
    pair.assert_follows(&token);
    // The old primary is started again so that the test can end it like any other.
    pair.installation.database().start_again();
}

#[test]
fn s7_s8_a_server_whose_primary_stays_silent_follows_its_standby() {
    let pair = Pair::start();
    let token = pair.make_token();
    let silent = Stopped::stop(pair.installation.database());
    await_that("the server says that its database is away", || {
        pair.health().status == 503
    });
    let moved = pair.promote();
    revoke(&moved, &token);
    await_that("the server has found the new primary", || {
        pair.health().status == 200
    });
    pair.assert_follows(&token);

    // The old one comes back, and is not read again.
    drop(silent);
    for _ in 0..20 {
        let refused = answer_of(|| pair.look_up(&token));
        assert_eq!(refused.status, 403, "{refused:?}");
    }
}
