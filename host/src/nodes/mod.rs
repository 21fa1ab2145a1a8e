//! The servers that share this server's store, as far as it knows: which of them run, whose clock differs, and which does the work of all.
//!
//! A server says every few seconds that it runs. No promise to a client depends on that: tokens and records are read from the store at every
//! request. The list of the servers depends on it, the share of the limits that each server takes, and the choice of the one that does the
//! background work. That work is done once as a rule, and does no harm if it is done twice.

mod outage;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gatehouse_ports::{Clock, OsRandom, Random, RandomError};
use gatehouse_store::{LIVE_FOR, LiveNode, Node, Roll, Roster};
use tokio::time::{Instant, sleep};

use crate::runtime::services::{SharedStore, SharingNode, SharingNodes};
use outage::Outage;

/// The pause between two beats.
const BEAT: Duration = Duration::from_secs(5);
/// The pause after a beat that failed.
const BEAT_AGAIN: Duration = Duration::from_secs(1);
/// How long the lease of the background work lasts unless it is renewed. A server that no longer runs has lost it by then.
const LEASE: Duration = LIVE_FOR;
/// The work that one server does for all.
const BACKGROUND: &str = "background";
/// By how much a clock may differ from the store's.
const TOLERATED: Duration = Duration::from_secs(2);

/// The observer of the findings about the servers, which shows them.
pub trait NodesWatch: Send + Sync {
    /// How many servers run, and by how many milliseconds this one's clock is ahead of the store's; negative where it is behind.
    fn counted(&self, live: usize, clock_ahead: i64);

    /// True if this server does the background work of all.
    fn works(&self, works: bool);
}

/// The introduction of a server to the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Introduction {
    /// The name that its operator knows it by.
    pub name: String,
    /// Scheme, host and port at which clients reach it; `None` where that is not known, or not yet.
    pub address: Option<String>,
    /// True if it does background work at all.
    pub works: bool,
}

/// The servers that share a store, seen from one of them.
pub struct Nodes {
    roster: Arc<dyn Roster>,
    clock: Arc<dyn Clock + Send + Sync>,
    watch: Arc<dyn NodesWatch>,
    /// True if this server takes the lease of the background work when it can.
    takes_work: bool,
    state: Mutex<State>,
}

struct State {
    own: SharingNode,
    id: String,
    answered_in: Duration,
    others: Vec<LiveNode>,
    /// The time until which this server does the background work.
    works_until: Option<Instant>,
    /// True if the operator was told that the clock differs.
    differs: bool,
    /// The failures that the operator was told of since the store was reached.
    outage: Outage,
}

impl Nodes {
    /// This server among those of `roster`, with an id of its own. `clock` is that of its machine, as it is: one that was made steady would
    /// show what the other servers' clocks did to it.
    ///
    /// # Errors
    ///
    /// When there is no randomness.
    pub fn new(
        roster: Arc<dyn Roster>,
        introduction: Introduction,
        clock: Arc<dyn Clock + Send + Sync>,
        watch: Arc<dyn NodesWatch>,
    ) -> Result<Self, RandomError> {
        let mut id = [0; 16];
        OsRandom.fill(&mut id)?;
        let now = clock.now_milliseconds();
        let own = SharingNode {
            name: introduction.name,
            address: introduction.address,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: now,
            seen_at: now,
            clock_ahead: 0,
        };
        let id = format!("{:x}", base16ct::HexDisplay(&id));
        let name = &own.name;
        tracing::info!(id, name, "the store may be shared with other servers");
        watch.works(false);
        Ok(Self {
            roster,
            clock,
            watch,
            takes_work: introduction.works,
            state: Mutex::new(State {
                own,
                id,
                answered_in: Duration::ZERO,
                others: Vec::new(),
                works_until: None,
                differs: false,
                outage: Outage::default(),
            }),
        })
    }

    /// Notes at which address clients reach this server, for the next beat to tell.
    pub fn is_at(&self, address: Option<String>) {
        self.lock().own.address = address;
    }

    /// Says that this server runs, learns which others do, and takes or keeps the lease of the background work.
    ///
    /// # Errors
    ///
    /// When the store cannot be reached. Earlier findings still count, except for the lease, which runs out.
    pub async fn beat(&self) -> Result<(), gatehouse_ports::StoreError> {
        let node = self.node();
        let (began, before) = (Instant::now(), self.clock.now_milliseconds());
        let answer = self.roster.beat(&node, before).await;
        self.note(&node, before, began.elapsed(), answer.as_ref().ok());
        answer?;
        if self.takes_work {
            let began = Instant::now();
            let taken = self.roster.take_lease(BACKGROUND, &node, LEASE).await;
            let until = taken?.then(|| began + LEASE);
            self.lock().works_until = until;
        }
        self.watch.works(self.works());
        Ok(())
    }

    /// Beats every few seconds until `stop` is ready.
    pub async fn repeat(&self, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        loop {
            let outcome = self.beat().await;
            let pause = if outcome.is_err() { BEAT_AGAIN } else { BEAT };
            self.tell(outcome);
            tokio::select! {
                () = &mut stop => return,
                () = sleep(pause) => {}
            }
        }
    }

    /// Tells the operator that the store cannot be reached, again for each new reason, and when it can be reached again.
    fn tell(&self, outcome: Result<(), gatehouse_ports::StoreError>) {
        match outcome {
            Err(error) => {
                let is_news = self.lock().outage.is_news(&error);
                if is_news {
                    tracing::error!(%error, "this server cannot say that it runs, nor learn which others do");
                }
            }
            Ok(()) => {
                let has_ended = self.lock().outage.end();
                if has_ended {
                    tracing::info!("the store can be reached again");
                }
            }
        }
    }

    /// Says that this server runs no more, and lets another one do the background work.
    pub async fn leave(&self) {
        self.lock().works_until = None;
        if let Err(error) = self.roster.leave(&self.node()).await {
            tracing::warn!(%error, "this server could not say that it ends; for some seconds the others count it among them");
        }
    }

    /// How many servers run, this one included.
    pub fn live(&self) -> usize {
        self.lock().others.len() + 1
    }

    /// True if this server does the background work of all now.
    pub fn works(&self) -> bool {
        let until = self.lock().works_until;
        until.is_some_and(|until| Instant::now() < until)
    }

    fn node(&self) -> Node {
        let state = self.lock();
        Node {
            id: state.id.clone(),
            name: state.own.name.clone(),
            address: state.own.address.clone(),
            version: state.own.version.clone(),
        }
    }

    fn note(&self, node: &Node, before: u64, took: Duration, roll: Option<&Roll>) {
        let Some(roll) = roll else {
            let works = self.works();
            return self.watch.works(works);
        };
        let mut state = self.lock();
        state.answered_in = took;
        let (own, others): (Vec<_>, Vec<_>) = roll
            .live
            .iter()
            .cloned()
            .partition(|live| live.node.id == node.id);
        if let Some(own) = own.first() {
            (state.own.started_at, state.own.seen_at) = (own.started_at, own.seen_at);
        }
        let changed = ids(&state.others) != ids(&others);
        state.others = others;
        // The store looked at its clock somewhere in between.
        let half = milliseconds(took) / 2;
        let ahead = before.cast_signed() + half - roll.now.cast_signed();
        state.own.clock_ahead = ahead;
        let differs = ahead.saturating_abs() - half > milliseconds(TOLERATED);
        let was = std::mem::replace(&mut state.differs, differs);
        let live = state.others.len() + 1;
        drop(state);
        self.watch.counted(live, ahead);
        if changed {
            tracing::info!(live, "the servers that share the store have changed");
        }
        match (was, differs) {
            (false, true) => tracing::error!(
                milliseconds_ahead = ahead,
                "the clock of this machine differs from the database's by more than 2 s: tokens end too early or too late here; have both set by NTP"
            ),
            (true, false) => {
                tracing::info!("the clock of this machine agrees with the database's again")
            }
            _ => {}
        }
    }

    // The state is whole even after a panic elsewhere: nothing in here panics between two of its steps.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SharedStore for Nodes {
    fn nodes(&self) -> Option<SharingNodes> {
        let state = self.lock();
        Some(SharingNodes {
            this: state.own.clone(),
            answered_in: u32::try_from(state.answered_in.as_millis()).unwrap_or(u32::MAX),
            others: state.others.iter().take(255).map(shown).collect(),
        })
    }

    fn is_away(&self) -> bool {
        self.roster.is_away()
    }
}

fn shown(live: &LiveNode) -> SharingNode {
    SharingNode {
        name: live.node.name.clone(),
        address: live.node.address.clone(),
        version: live.node.version.clone(),
        started_at: live.started_at,
        seen_at: live.seen_at,
        clock_ahead: live.clock.cast_signed() - live.seen_at.cast_signed(),
    }
}

fn ids(nodes: &[LiveNode]) -> Vec<&str> {
    nodes.iter().map(|live| live.node.id.as_str()).collect()
}

fn milliseconds(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
