//! The lease of a first start that is under way.

use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use crate::init_marker::{RENEWED_EVERY, renew};
use crate::{Backend, Guard, SealedBackend};

/// Renews a lease until it is dropped.
pub struct Renewal(Option<JoinHandle<()>>);

impl Renewal {
    /// Begins to renew the lease of the mark of `guard`, at the latest until `until`. Where no other host can have the store, nothing has to
    /// be renewed.
    pub fn start<B: Backend>(store: &Arc<SealedBackend<B>>, guard: Guard, until: Instant) -> Self {
        if !store.backend().is_shared() {
            return Self(None);
        }
        // Without a runtime the lease is not renewed, and a first start has to be over within it.
        let runtime = Handle::try_current().ok();
        let store = Arc::clone(store);
        Self(runtime.map(|runtime| {
            runtime.spawn(async move {
                while Instant::now() < until {
                    sleep(RENEWED_EVERY).await;
                    // A store that is away now may be back in time.
                    if renew(store.backend(), &guard).await == Ok(false) {
                        return;
                    }
                }
            })
        }))
    }
}

impl Drop for Renewal {
    fn drop(&mut self) {
        if let Some(renewing) = &self.0 {
            renewing.abort();
        }
    }
}
