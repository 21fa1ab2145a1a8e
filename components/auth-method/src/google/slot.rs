//! One kind of answer in the cache of an instance: bounded, and each entry with its end.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::bounded::Bounded;
use super::cached_answer::Known;

/// The answers to one kind of question that an instance knows, by the name of the subject.
pub(super) struct CacheSlot<A, E>(Mutex<Bounded<Known<A, E>>>);

impl<A, E: Clone> CacheSlot<A, E> {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self(Mutex::new(Bounded::with_capacity(capacity)))
    }

    /// The state of knowledge at `now`.
    pub(super) fn get(&self, name: &str, now: u64) -> Option<Known<A, E>> {
        lock(&self.0).get(name, now)
    }

    /// Remembers `known` until `over_at`.
    pub(super) fn keep(&self, name: &str, known: Known<A, E>, over_at: u64, now: u64) {
        lock(&self.0).insert(name, known, over_at, now);
    }
}

/// Locks are held for a look or a change, never while Google is asked.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
