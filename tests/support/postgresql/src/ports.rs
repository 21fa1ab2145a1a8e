//! Ports of loopback for the servers of tests.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering};

/// Where the ports begin that are given out, and how many there are. The system gives higher ones to clients: a server whose port is among
/// those may find it taken when it starts again, and a client that connects to it meanwhile can end up talking to itself.
const FIRST: u16 = 20_000;
const COUNT: u16 = 10_000;

/// A port of 127.0.0.1 that no program listens at. The port after it is left free, for OpenBao listens there as well.
///
/// # Panics
///
/// When none is free.
#[must_use]
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Test programs that run at one time start in different places.
    let offset = u16::try_from(std::process::id() % u32::from(COUNT)).unwrap_or_default();
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    let candidates = std::iter::repeat_with(|| {
        let step = NEXT.fetch_add(2, Ordering::Relaxed) % COUNT;
        FIRST + (offset + step) % COUNT
    });
    let mut candidates = candidates.take(usize::from(COUNT / 2));
    let found = candidates.find(|port| is_free(port) && is_free(&(port + 1)));
    found.expect("a port between 20000 and 30000 is free")
}
