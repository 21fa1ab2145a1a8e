//! The servers that share a store.
//!
//! Each says every few seconds that it runs, and learns at the same time which others do. All times are the store's, so that servers whose
//! clocks disagree agree about who runs; what each one's own clock shows is told beside them.

use std::time::Duration;

use gatehouse_ports::StoreError;

use crate::Answer;

/// How long a server counts as running after it was last seen. Three beats fit into it.
pub const LIVE_FOR: Duration = Duration::from_secs(15);
/// After which time without a word nothing is remembered of a server.
pub const FORGOTTEN_AFTER: Duration = Duration::from_secs(5 * 60);

/// A server, as it presents itself to the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// A random text of one process. The next process of the same machine has another one: what a process that was killed has left behind
    /// is never taken for its successor's, and a copied folder or image makes no second server of the same id.
    pub id: String,
    /// The name that its operator knows it by.
    pub name: String,
    /// Scheme, host and port at which clients reach this one server; `None` where that is not known.
    pub address: Option<String>,
    /// The version of its program.
    pub version: String,
}

/// A server that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveNode {
    /// The server.
    pub node: Node,
    /// When it was seen first, in milliseconds since 1970 by the store's clock.
    pub started_at: u64,
    /// When it was seen last, by the same clock.
    pub seen_at: u64,
    /// The time of its own clock then.
    pub clock: u64,
}

/// The servers that run, and the time at which they did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roll {
    /// By the store's clock, in milliseconds since 1970.
    pub now: u64,
    /// The longest running first, the one that asks among them; 256 at most.
    pub live: Vec<LiveNode>,
}

/// The list of the servers that share a store. Calls are answered within two seconds.
pub trait Roster: Send + Sync + 'static {
    /// Notes that `node` runs and that its clock shows `clock`, in milliseconds since 1970, and answers which servers run.
    fn beat<'a>(&'a self, node: &'a Node, clock: u64) -> Answer<'a, Result<Roll, StoreError>>;

    /// Takes or keeps the lease of `work` for `time`; answers false where another server has it. Who has a lease may still find that another
    /// one has followed, after a pause of its own: it makes work done once as a rule, and is no guard.
    fn take_lease<'a>(
        &'a self,
        work: &'a str,
        node: &'a Node,
        time: Duration,
    ) -> Answer<'a, Result<bool, StoreError>>;

    /// Notes that `node` runs no more, and ends its leases.
    fn leave<'a>(&'a self, node: &'a Node) -> Answer<'a, Result<(), StoreError>>;

    /// True if the store could not be reached when it was last needed, which was a moment ago.
    fn is_away(&self) -> bool;
}
