//! Instances that are used again, one call at a time.
//!
//! **Reuse contract.** An instance serves one call at a time, and a bounded number of them one after the other. An instance that
//! traps, runs out of time, leaves handles behind or is cut off is dropped; the call it served fails alone. Guest memory therefore
//! outlives a call: components keep nothing there but caches (and a test looks for more), and one that was handed shares of the
//! root key is dropped after its answer.

use std::sync::{Mutex, MutexGuard, PoisonError};

use wasmtime::Store;

use super::state::InstanceState;

/// One instance: its store, and `exports` to call it by.
pub(crate) struct Instance<E> {
    /// The store that the instance lives in.
    pub(crate) store: Store<InstanceState>,
    /// How it is called.
    pub(crate) exports: E,
    served: usize,
}

impl<E> Instance<E> {
    /// An instance that has served nothing yet.
    pub(crate) const fn new(store: Store<InstanceState>, exports: E) -> Self {
        Self {
            store,
            exports,
            served: 0,
        }
    }

    /// Begins to count the time of a call. To be called before each.
    pub(crate) fn begin(&mut self) {
        self.store.data_mut().begin_request();
        self.store.set_epoch_deadline(1);
    }
}

/// The instances that wait for their next call.
pub(crate) struct Idle<E> {
    instances: Mutex<Vec<Instance<E>>>,
    reuse: usize,
}

impl<E> Idle<E> {
    /// None yet; each may serve `reuse` calls.
    pub(crate) const fn new(reuse: usize) -> Self {
        Self {
            instances: Mutex::new(Vec::new()),
            reuse,
        }
    }

    /// An instance to call. The one used last comes first: its memory is warm, and what is not needed stays cold.
    pub(crate) fn pop(&self) -> Option<Instance<E>> {
        self.lock().pop()
    }

    /// Takes an instance back that has answered its call as it should; drops it if it must not serve another one.
    pub(crate) fn give_back(&self, mut instance: Instance<E>) {
        instance.store.data_mut().end_request();
        instance.served = instance.served.saturating_add(1);
        if instance.served < self.reuse && instance.store.data().holds_nothing() {
            self.lock().push(instance);
        }
    }

    // Nothing panics while it is held.
    fn lock(&self) -> MutexGuard<'_, Vec<Instance<E>>> {
        self.instances
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
