//! The record of a history: clients' requests and their answers, with the moments around them.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::checker::{Call, Ending, Model, Violation, check};
use crate::server::{Answer, Reply};

/// Records the calls of many threads.
pub struct Recorder<M: Model> {
    model: M,
    began: Instant,
    calls: Mutex<Vec<Call<M::Operation, M::Outcome>>>,
}

impl<M: Model> Recorder<M>
where
    M::Operation: Clone,
    M::Outcome: Clone,
{
    /// A history that begins now.
    pub fn new(model: M) -> Self {
        Self {
            model,
            began: Instant::now(),
            calls: Mutex::default(),
        }
    }

    /// Records `operation`, which `send` sends and whose answer `read` reads. The outcome, where there is one.
    pub fn call(
        &self,
        operation: M::Operation,
        send: impl FnOnce() -> Reply,
        read: impl FnOnce(&Answer) -> M::Outcome,
    ) -> Option<M::Outcome> {
        let invoked = self.now();
        let reply = send();
        let returned = self.now();
        let ending = match reply {
            // Too many writers at once, or a store that does not answer: the last attempt may have been applied all the same.
            Reply::Answer(answer) if answer.status == 503 => Ending::Unknown,
            Reply::Answer(answer) => Ending::Returned(returned, read(&answer)),
            Reply::Lost => Ending::Unknown,
            Reply::Unsent => return None,
        };
        let outcome = match &ending {
            Ending::Returned(_, outcome) => Some(outcome.clone()),
            Ending::Unknown => None,
        };
        let call = Call {
            invoked,
            operation,
            ending,
        };
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.push(call);
        outcome
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// The calls so far, in the order in which they ended.
    pub fn calls(&self) -> Vec<Call<M::Operation, M::Outcome>> {
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.clone()
    }

    /// How many calls there are so far.
    pub fn count(&self) -> usize {
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.len()
    }

    /// Checks what is recorded.
    ///
    /// # Errors
    ///
    /// When it is not linearizable.
    pub fn check(&self) -> Result<(), Violation> {
        check(&self.model, self.calls())
    }
}
