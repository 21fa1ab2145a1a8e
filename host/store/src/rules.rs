//! The rules that every backend of this crate applies alike.

use std::sync::Arc;

use gatehouse_ports::Clock;

/// The clock by which entries expire.
pub type SharedClock = Arc<dyn Clock + Send + Sync>;

/// How many entries a commit may purge beyond those it writes: more than it can add, so that a backlog shrinks.
const PURGE_HEAD_START: usize = 32;

/// How many expired entries may be dropped together with `changes` changes.
pub fn purge_budget(changes: usize) -> usize {
    changes.saturating_mul(2).saturating_add(PURGE_HEAD_START)
}
