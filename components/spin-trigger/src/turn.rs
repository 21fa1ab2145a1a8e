//! Turns: an instance does one thing at a time, and takes other requests in while one waits for its client.

use std::cell::Cell;
use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
use spin_sdk::wit_bindgen::{backpressure_dec, backpressure_inc, yield_async};

use crate::patience;

/// How often the host is let on before a client counts as one that has to be waited for. What has arrived with the head of a request is
/// handed over in fewer, so a request that is there whole is served before its instance takes another in.
const PROMPT_ROUNDS: usize = 8;

/// Requests of one instance that wait for their clients beside others, at most: each holds as much as a body may have. Spin offers as
/// many to one instance, unless it is told to offer more.
const MAXIMUM_WAITING: usize = 16;

thread_local! {
    static WAITING: Cell<usize> = const { Cell::new(0) };
}

/// While a turn is held, the host begins no other request in this instance and uses other instances for those.
///
/// The capabilities are called synchronously, so a request that waits for its store or for Google blocks its whole instance, and those in
/// it that wait for their clients wait for it as well. A request that came in then would do so from the beginning.
pub struct Turn {
    is_held: bool,
}

impl Turn {
    /// Stops the host from beginning further requests here. Must be called before the first await of a request: until then nothing else
    /// runs in the instance.
    pub fn take() -> Self {
        backpressure_inc();
        Self { is_held: true }
    }

    /// Waits for the outcome of what a client has to do within `limit`; `None` where it takes longer. If it takes long, the host may begin other
    /// requests here meanwhile. The turn is held again afterwards.
    pub async fn waiting_for<T>(
        &mut self,
        limit: Duration,
        client: impl Future<Output = T>,
    ) -> Option<T> {
        let mut client = pin!(client);
        for _ in 0..PROMPT_ROUNDS {
            if let Either::Left((outcome, _)) = select(client.as_mut(), pin!(yield_async())).await {
                return Some(outcome);
            }
        }
        // A timer costs the host more than the rounds before it, in which most clients are done.
        let sleep = async |time: Duration| {
            spin_sdk::time::sleep(time).await;
        };
        let client = patience::in_time(limit, patience::stood_still, sleep, client);
        let Some(_place) = WaitingSlot::take() else {
            return client.await;
        };
        self.let_go();
        let outcome = client.await;
        backpressure_inc();
        self.is_held = true;
        // The host has to see it before anything blocks: it would leave requests to an instance that cannot begin them.
        yield_async().await;
        outcome
    }

    fn let_go(&mut self) {
        if std::mem::take(&mut self.is_held) {
            backpressure_dec();
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.let_go();
    }
}

/// A slot of a request that waits for its client.
struct WaitingSlot(());

impl WaitingSlot {
    fn take() -> Option<Self> {
        WAITING.with(|waiting| {
            let taken = waiting.get();
            (taken < MAXIMUM_WAITING).then(|| {
                waiting.set(taken + 1);
                Self(())
            })
        })
    }
}

impl Drop for WaitingSlot {
    fn drop(&mut self) {
        WAITING.with(|waiting| waiting.set(waiting.get().saturating_sub(1)));
    }
}
