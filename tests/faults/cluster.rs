//! Several servers on one database.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use gatehouse_postgres_server::PostgresServer;
use gatehouse_tests::{Answer, Installation, ServerProcess, Storage};
use rustix::process::{Signal, kill_process};
use serde_json::Value;

/// Longer than a server counts as running after it was seen, than two pauses between beats, and than a database needs on a busy machine that
/// has ended without a word.
const PATIENCE: Duration = Duration::from_secs(300);

/// Servers on one database. The first is the installation's own.
pub struct Cluster {
    pub installation: Installation,
    pub others: Vec<ServerProcess>,
}

impl Cluster {
    /// So many servers, each with these settings.
    pub fn start(servers: usize, settings: &str) -> Self {
        let installation = Installation::start(Storage::Postgres, settings).unwrap();
        let others = (1..servers).map(|_| installation.another_server().unwrap());
        Self {
            others: others.collect(),
            installation,
        }
    }

    /// All of them, the first one first.
    pub fn servers(&mut self) -> Vec<&ServerProcess> {
        let first: &ServerProcess = self.installation.server();
        std::iter::once(first).chain(&self.others).collect()
    }

    /// Sends a request as the operator to one of the servers.
    pub fn as_root(&self, server: usize, method: &str, path: &str, body: Option<&Value>) -> Answer {
        let token = Some(self.installation.root_token());
        match server.checked_sub(1) {
            None => self.installation.send(method, path, token, body),
            Some(other) => self.others[other].send(method, path, token, body),
        }
    }

    /// The addresses of the servers that one of them lists as active.
    pub fn listed(&self, server: usize) -> BTreeSet<String> {
        let answer = answer_of(|| self.as_root(server, "GET", "/v1/sys/ha-status", None));
        assert_eq!(answer.status, 200, "{answer:?}");
        let data = &answer.json()["data"]["nodes"];
        let nodes = data.as_array().expect("a list").iter();
        let active = nodes.filter(|node| node["active_node"] == true);
        let address = |node: &Value| node["api_address"].as_str().unwrap().to_owned();
        active.map(address).collect()
    }

    /// A metric of one of the servers.
    pub fn metric(&self, server: usize, name: &str) -> Option<f64> {
        let path = "/v1/sys/metrics?format=prometheus";
        let answer = answer_of(|| self.as_root(server, "GET", path, None));
        let line = answer.body.lines().find(|line| line.starts_with(name));
        line?.rsplit(' ').next()?.parse().ok()
    }

    /// Waits until every server lists as many.
    pub fn await_all_listed(&self) {
        let all = self.others.len() + 1;
        await_that("every server lists all", || {
            (0..all).all(|server| self.listed(server).len() == all)
        });
    }
}

/// The stopped processes of a database, which continue when this is dropped.
pub struct Stopped<'d>(&'d PostgresServer);

impl<'d> Stopped<'d> {
    /// Stops all of them: connections are accepted, and no answer comes.
    pub fn stop(database: &'d PostgresServer) -> Self {
        // The stopped server makes no process that the list would miss.
        database.signal(Signal::STOP);
        let stopped = Self(database);
        stopped.signal(Signal::STOP);
        stopped
    }

    fn signal(&self, signal: Signal) {
        for process in self.0.processes() {
            // One of its children may have ended since.
            let _ = kill_process(process, signal);
        }
    }
}

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        self.signal(Signal::CONT);
    }
}

/// Waits until `holds`, which is `what` is waited for.
#[track_caller]
pub fn await_that(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        thread::sleep(Duration::from_millis(200));
    }
}

/// The answer to a request, which is sent again while the database is too busy for it, or away: a 503 accepts no token, and acknowledges nothing.
pub fn answer_of(send: impl Fn() -> Answer) -> Answer {
    let mut answer = send();
    await_that("a request is answered", || {
        if answer.status == 503 {
            answer = send();
        }
        answer.status != 503
    });
    answer
}
