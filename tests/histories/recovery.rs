//! Servers that have been disturbed serve again.

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::disturbance::Servers;

/// For a server to find its database again.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until every server says that it is healthy.
pub fn await_all_serving(servers: &Servers) {
    let deadline = Instant::now() + PATIENCE;
    while !all_serve(servers) {
        assert!(Instant::now() < deadline, "a server does not serve again");
        sleep(Duration::from_millis(100));
    }
}

fn all_serve(servers: &Servers) -> bool {
    let health = "/v1/sys/health";
    let first = servers.installation.send("GET", health, None, None);
    let further = servers.further.iter();
    let further = further.map(|server| server.send("GET", health, None, None));
    std::iter::once(first)
        .chain(further)
        .all(|answer| answer.status == 200)
}
