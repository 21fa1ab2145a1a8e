//! The work that is due about the keys of an open store: new ones, sealing records again, and raising the counter of the witness (SEC-K4, K9).

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use gatehouse_store::{Tended, UnsealError};

use super::following::follow;
use super::store::Store;
use super::witness::Witness;
use crate::runtime::services::Seal;

/// How often something may be due.
const INTERVAL: Duration = Duration::from_secs(60);
/// The pause while there is more to be sealed anew.
const WHILE_AT_WORK: Duration = Duration::from_secs(1);

/// Looks after the keys of one store.
pub struct Upkeep {
    store: Arc<Store>,
    seal: Arc<dyn Seal>,
    witness: Option<Witness>,
    /// When the store was last counted since it was opened.
    counted: Option<Instant>,
}

impl Upkeep {
    pub(super) const fn new(
        store: Arc<Store>,
        seal: Arc<dyn Seal>,
        witness: Option<Witness>,
    ) -> Self {
        Self {
            store,
            seal,
            witness,
            counted: None,
        }
    }

    /// Counts a store that is open by now, so that every start shows.
    pub(super) async fn begin(&mut self) -> Result<()> {
        if !self.store.is_sealed() {
            self.count().await?;
        }
        Ok(())
    }

    /// Does what is due, and follows the other servers that share the store, until `stop` is ready.
    pub async fn repeat(mut self, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        let following = follow(Arc::clone(&self.store), Arc::clone(&self.seal));
        let mut following = std::pin::pin!(following);
        loop {
            let pause = tokio::select! {
                pause = self.run() => pause,
                () = &mut following => INTERVAL,
            };
            tokio::select! {
                () = &mut stop => break,
                () = tokio::time::sleep(pause) => {}
                () = &mut following => {}
            }
        }
        if !self.store.is_sealed()
            && let Err(error) = self.count().await
        {
            tracing::error!("the counter of the store could not be raised: {error:#}");
        }
    }

    /// Does what is due, and says after how long to look again.
    pub async fn run(&mut self) -> Duration {
        if self.store.is_sealed() {
            self.counted = None;
            return WHILE_AT_WORK;
        }
        let counted = self.counted.map(|counted| counted.elapsed());
        if counted.is_none_or(|elapsed| elapsed >= INTERVAL)
            && let Err(error) = self.count().await
        {
            tracing::error!("the counter of the store could not be raised: {error:#}");
        }
        match self.store.tend_keys().await {
            Ok(tended) => {
                tell(&tended);
                if tended.more { WHILE_AT_WORK } else { INTERVAL }
            }
            Err(error) => {
                tracing::error!(%error, "the keys of the store could not be looked after");
                INTERVAL
            }
        }
    }

    /// Counts the store, and then tells the witness: it never knows of more than the store has.
    async fn count(&mut self) -> Result<()> {
        self.counted = Some(Instant::now());
        if let Some(witness) = &self.witness {
            witness.check(self.store.generation().await?)?;
            match self.store.advance_generation().await {
                Ok(counted) => witness.write(counted)?,
                // It will count once it is finished, and may be given up before.
                Err(UnsealError::Unfinished) => self.counted = None,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

fn tell(tended: &Tended) {
    if let Some(term) = tended.rotated {
        tracing::info!(%term, "a new key seals the store: one was due");
    }
    if tended.retired {
        tracing::info!("all records are sealed by the newest key; the earlier ones were dropped");
    }
    if tended.blocked {
        tracing::error!(
            "a record does not open, so the earlier keys are kept; restore the store from a backup"
        );
    }
}
