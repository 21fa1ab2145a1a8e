//! Many clients at one time.

use std::ops::ControlFlow;
use std::sync::Barrier;
use std::thread;

use fastrand::Rng;

use crate::server::Server;

/// Something of a server that many clients use at one time.
pub trait Object: Sync {
    /// Does one thing that `choice` picks. Breaks off when the server has gone.
    fn act(&self, server: &dyn Server, choice: &mut Rng) -> ControlFlow<()>;
}

/// Has `clients` threads do up to `calls` things each, all starting at one moment. What they choose follows from `seed`.
pub fn drive(object: &dyn Object, server: &dyn Server, clients: usize, calls: usize, seed: u64) {
    drive_while(object, server, clients, calls, seed, |_| ());
}

/// The same, while this thread does `meanwhile`, which can ask if a client is still at work.
pub fn drive_while(
    object: &dyn Object,
    server: &dyn Server,
    clients: usize,
    calls: usize,
    seed: u64,
    meanwhile: impl FnOnce(&dyn Fn() -> bool),
) {
    let mut seeds = Rng::with_seed(seed);
    let seeds: Vec<u64> = (0..clients).map(|_| seeds.u64(..)).collect();
    let act = |client: usize| {
        let mut choice = Rng::with_seed(seeds[client]);
        let mut act = || object.act(server, &mut choice);
        let _ = (0..calls).try_for_each(|_| act());
    };
    together(clients, act, meanwhile);
}

/// Has this many threads do `one_thing` each at one moment, by their numbers; returns their results.
///
/// # Panics
///
/// When one of them does.
pub fn all_at_once<T: Send>(clients: usize, one_thing: impl Fn(usize) -> T + Sync) -> Vec<T> {
    together(clients, one_thing, |_| ())
}

fn together<T: Send>(
    clients: usize,
    act: impl Fn(usize) -> T + Sync,
    meanwhile: impl FnOnce(&dyn Fn() -> bool),
) -> Vec<T> {
    let start = Barrier::new(clients);
    let act = |client| {
        start.wait();
        act(client)
    };
    thread::scope(|scope| {
        let act = &act;
        let threads: Vec<_> = (0..clients)
            .map(|client| scope.spawn(move || act(client)))
            .collect();
        meanwhile(&|| threads.iter().any(|thread| !thread.is_finished()));
        let outcomes = threads.into_iter().map(|thread| thread.join());
        outcomes
            .map(|outcome| outcome.expect("a client panicked"))
            .collect()
    })
}
