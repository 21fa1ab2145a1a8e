//! Following the other servers that share the store: their keys, and an order to seal all of them (SEC-K4, A8).

use std::sync::Arc;
use std::time::Duration;

use gatehouse_ports::StoreError;
use gatehouse_store::Backend as _;
use tokio::time::{MissedTickBehavior, interval};

use super::store::Store;
use crate::runtime::services::{Seal, SealError};

/// Orders all servers that share the store to seal themselves.
pub(super) async fn order_seal(store: &Store) -> Result<(), SealError> {
    if !store.is_shared() {
        return Ok(());
    }
    let ordered = store.order_seal().await;
    ordered.map_err(|error| SealError::Unavailable(error.to_string()))
}

/// How often the store is asked.
const INTERVAL: Duration = Duration::from_secs(1);

/// Follows the other servers indefinitely. Where no other server can have the store, nothing is asked.
pub(super) async fn follow(store: Arc<Store>, seal: Arc<dyn Seal>) {
    if !store.is_shared() {
        return std::future::pending().await;
    }
    let mut ticks = interval(INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        follow_once(&store, &*seal).await;
    }
}

/// A store that does not answer is no reason to seal: every request fails by itself then.
pub(super) async fn follow_once(store: &Store, seal: &dyn Seal) {
    if store.is_seal_ordered().await == Ok(true) {
        tracing::warn!("all servers that share the store were ordered to seal themselves");
        close(seal).await;
        return;
    }
    match store.follow_others().await {
        Ok(true) => tracing::info!("the keys that another server has made were taken over"),
        Err(StoreError::Sealed) => tracing::error!(
            "another server has replaced the root key and this one came too late for the new one: the store is sealed; unseal it with the new key"
        ),
        Ok(false) | Err(_) => {}
    }
}

async fn close(seal: &dyn Seal) {
    // There is no other remedy for a failure here, and the next look tries again.
    if let Err(error) = seal.seal().await {
        tracing::error!(?error, "the store could not be sealed");
    }
}
