//! Patience with clients: a bounded time, of which nothing is used up while the instance stands still.

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

thread_local! {
    static STOOD_STILL: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Does `work`, during which nothing else in this instance runs, and counts its time as standstill.
pub fn standing_still<T>(work: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let outcome = work();
    STOOD_STILL.with(|total| total.set(total.get().saturating_add(began.elapsed())));
    outcome
}

/// How long this instance has stood still since it began.
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
    fn work_is_counted_as_standstill() {
        let before = stood_still();
        let pause = Duration::from_millis(2);
        standing_still(|| std::thread::sleep(pause));
        assert!(stood_still() - before >= pause);
    }
}
