//! Patience with clients: a bounded time, of which nothing is used up while the instance stands still.

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

thread_local! {
    static STOOD_STILL: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    /// Clients that are waited for.
    static WAITED_FOR: Cell<usize> = const { Cell::new(0) };
}

/// Does `work`, during which nothing else in this instance runs, and counts its time as standstill. Without a client whose time it could
/// take nothing is counted, which saves most requests two calls of the host.
pub fn standing_still<T>(work: impl FnOnce() -> T) -> T {
    if WAITED_FOR.with(Cell::get) == 0 {
        return work();
    }
    let began = Instant::now();
    let outcome = work();
    STOOD_STILL.with(|total| total.set(total.get().saturating_add(began.elapsed())));
    outcome
}

/// A client that is waited for, as long as this lives.
struct Wait(());

impl Wait {
    fn begin() -> Self {
        WAITED_FOR.with(|clients| clients.set(clients.get().saturating_add(1)));
        Self(())
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        WAITED_FOR.with(|clients| clients.set(clients.get().saturating_sub(1)));
    }
}

/// How long this instance has stood still while clients were waited for, since it began.
#[must_use]
pub fn stood_still() -> Duration {
    STOOD_STILL.with(Cell::get)
}

/// The outcome of `client` if it comes within `limit`; `None` where it takes longer. The time in which the instance stood still by
/// `stood_still` is not the client's, and is added to the limit.
pub async fn in_time<T>(
    limit: Duration,
    stood_still: impl Fn() -> Duration,
    sleep: impl AsyncFn(Duration),
    client: impl Future<Output = T>,
) -> Option<T> {
    let mut client = pin!(client);
    let _wait = Wait::begin();
    let mut left = limit;
    loop {
        let before = stood_still();
        let mut late = pin!(sleep(left));
        let outcome = poll_fn(|context| match client.as_mut().poll(context) {
            Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
            Poll::Pending => late.as_mut().poll(context).map(|()| None),
        });
        if let Some(outcome) = outcome.await {
            return Some(outcome);
        }
        left = stood_still().saturating_sub(before);
        if left.is_zero() {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::future::{pending, ready};
    use std::task::{Context, Waker};

    use super::*;

    const LIMIT: Duration = Duration::from_secs(30);

    /// The outcome of a client, where the instance stands still for these seconds during one sleep after the other, and how long was slept.
    fn outcome<T>(
        standstills: &[u64],
        client: impl Future<Output = T>,
    ) -> (Option<Option<T>>, Vec<Duration>) {
        let total = Cell::new(Duration::ZERO);
        let sleeps = RefCell::new(Vec::new());
        let waiting = in_time(
            LIMIT,
            || total.get(),
            async |time| {
                let number = sleeps.borrow().len();
                sleeps.borrow_mut().push(time);
                let seconds = standstills.get(number).copied().unwrap_or_default();
                total.set(total.get() + Duration::from_secs(seconds));
            },
            client,
        );
        let mut context = Context::from_waker(Waker::noop());
        let polled = match pin!(waiting).poll(&mut context) {
            Poll::Ready(outcome) => Some(outcome),
            Poll::Pending => None,
        };
        (polled, sleeps.into_inner())
    }

    #[test]
    fn a_client_that_is_there_is_not_late_however_long_the_instance_stood_still() {
        assert_eq!(outcome(&[3600], ready(7)).0, Some(Some(7)));
    }

    #[test]
    fn a_client_that_stays_away_has_the_time_in_which_the_instance_stood_still_besides() {
        let (late, slept) = outcome(&[20, 5], pending::<()>());
        assert_eq!(late, Some(None));
        assert_eq!(slept, [30, 20, 5].map(Duration::from_secs));
    }

    #[test]
    fn work_is_counted_as_standstill_only_while_a_client_is_waited_for() {
        let pause = Duration::from_millis(2);
        let work = || standing_still(|| std::thread::sleep(pause));
        let before = stood_still();
        work();
        assert_eq!(stood_still(), before);

        let mut waiting = pin!(in_time(LIMIT, stood_still, |_| pending(), pending::<()>()));
        let mut context = Context::from_waker(Waker::noop());
        assert!(waiting.as_mut().poll(&mut context).is_pending());
        work();
        assert!(stood_still() - before >= pause);
    }

    #[test]
    fn a_client_that_is_given_up_is_not_waited_for_any_more() {
        {
            let mut waiting = pin!(in_time(LIMIT, stood_still, |_| pending(), pending::<()>()));
            let mut context = Context::from_waker(Waker::noop());
            assert!(waiting.as_mut().poll(&mut context).is_pending());
        }
        assert_eq!(WAITED_FOR.with(Cell::get), 0);
    }
}
