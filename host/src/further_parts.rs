//! Answers that come in parts: each is asked of the components when the client has taken those before.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http::Request;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};

use crate::listener::{AnswerBody, CutOffError};
use crate::metrics::ServerMetrics;
use crate::runtime::exchange::{BodyPart, BodyRest, ResumeError, ServeError};
use crate::runtime::pool::Pool;

/// How often the pool is asked for a part while all its instances are busy, and the pause in between: without the part, the answer so far
/// would be lost as well.
const ATTEMPTS: usize = 20;
const PAUSE: Duration = Duration::from_millis(250);

/// How many answers without an end there may be at one time. Each asks for a part twice a second, even if there is nothing to tell.
const MAXIMUM_FOLLOWERS: usize = 64;

/// The clients that read an answer without an end.
pub(crate) struct Followers(Arc<Semaphore>);

impl Default for Followers {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAXIMUM_FOLLOWERS)))
    }
}

impl Followers {
    /// The place of an answer that continues with `rest`; none where that has an end.
    ///
    /// # Errors
    ///
    /// [`ServeError::Overloaded`] when all places are taken.
    pub(crate) fn admit(
        &self,
        rest: &BodyRest,
    ) -> Result<Option<OwnedSemaphorePermit>, ServeError> {
        if rest.wait.is_zero() {
            return Ok(None);
        }
        let place = Arc::clone(&self.0).try_acquire_owned();
        place.map(Some).map_err(|_| ServeError::Overloaded)
    }
}

/// The state that is needed to continue an answer.
pub(crate) struct FurtherParts {
    pub(crate) pool: Arc<Pool>,
    pub(crate) metrics: Arc<ServerMetrics>,
    /// Without its body, which is not read again.
    pub(crate) request: Arc<Request<Bytes>>,
    /// How long a part may take, the wait for an instance included.
    pub(crate) time: Duration,
    /// Turns true when the server stops.
    pub(crate) stopping: watch::Receiver<bool>,
    /// Held to the end of the answer.
    pub(crate) _place: Option<OwnedSemaphorePermit>,
}

impl FurtherParts {
    /// The body that begins with `first` and continues with `rest`.
    pub(crate) fn after(self, first: Bytes, rest: BodyRest) -> AnswerBody {
        let parts = stream::try_unfold((self, Some(rest)), async |(mut further, rest)| {
            let Some(rest) = rest else {
                return Ok(None);
            };
            if further.is_over(&rest).await {
                return Ok(None);
            }
            let part = further.at(rest.continuation).await?;
            Ok(Some((part.bytes, (further, part.rest))))
        });
        AnswerBody::in_parts(first, parts)
    }

    /// Waits as long as `rest` says. Answers true if the body is over: one without an end is, once the server stops.
    async fn is_over(&mut self, rest: &BodyRest) -> bool {
        if rest.wait.is_zero() {
            return false;
        }
        tokio::select! {
            () = sleep(rest.wait) => false,
            // An error says that the server is gone.
            _ = self.stopping.wait_for(|stopping| *stopping) => true,
        }
    }

    async fn at(&self, continuation: Vec<u8>) -> Result<BodyPart, CutOffError> {
        let made = match timeout(self.time, self.made_at(continuation)).await {
            Ok(made) => made,
            Err(_) => Err(ServeError::TimedOut(self.time)),
        };
        made.map_err(|failure| {
            self.report(&failure);
            CutOffError
        })
    }

    async fn made_at(&self, continuation: Vec<u8>) -> Result<BodyPart, ServeError> {
        for _ in 0..ATTEMPTS {
            let request = Arc::clone(&self.request);
            match self.pool.resume(request, continuation.clone()).await {
                Err(ServeError::Overloaded) => sleep(PAUSE).await,
                made => return made,
            }
        }
        Err(ServeError::Overloaded)
    }

    /// Tells the operator why an answer was cut off. The refusal of a caller that may not read on is no failure, and is not counted as one.
    fn report(&self, failure: &ServeError) {
        const MESSAGE: &str = "an answer was cut off";
        match failure {
            ServeError::NotResumed(ResumeError::Refused) => {
                tracing::debug!(error = %failure, "{MESSAGE}");
                return;
            }
            ServeError::Overloaded => tracing::warn!(error = %failure, "{MESSAGE}"),
            ServeError::TimedOut(_) | ServeError::NotResumed(_) | ServeError::Failed(_) => {
                tracing::error!(error = %failure, "{MESSAGE}");
            }
        }
        self.metrics.unanswered(failure);
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;
    use crate::runtime::pool::tests::{held_up, pool, request};
    use crate::runtime::services::Metrics;

    const WITHOUT_END: Duration = Duration::from_millis(500);

    fn rest(wait: Duration) -> BodyRest {
        BodyRest {
            continuation: Vec::new(),
            wait,
        }
    }

    fn further(metrics: &Arc<ServerMetrics>, place: Option<OwnedSemaphorePermit>) -> FurtherParts {
        let (_, stopping) = watch::channel(false);
        FurtherParts {
            pool: pool(1),
            metrics: Arc::clone(metrics),
            request: request(),
            time: Duration::from_secs(60),
            stopping,
            _place: place,
        }
    }

    /// How many failures of components for `reason` are counted.
    fn failures(metrics: &ServerMetrics, reason: &str) -> u64 {
        let series = format!("gatehouse_component_failures_total{{reason=\"{reason}\"}} ");
        let text = metrics.exposition();
        let count = text.lines().find_map(|line| line.strip_prefix(&series));
        count.unwrap().parse().unwrap()
    }

    #[tokio::test]
    async fn one_follower_too_many_is_refused_until_another_one_ends() {
        let followers = Followers::default();
        let metrics = Arc::new(ServerMetrics::new());
        let place = followers.admit(&rest(WITHOUT_END)).unwrap();
        let body = further(&metrics, place).after(Bytes::new(), rest(WITHOUT_END));
        let others: Vec<_> = (1..MAXIMUM_FOLLOWERS)
            .map(|_| followers.admit(&rest(WITHOUT_END)).unwrap())
            .collect();
        let refused = followers.admit(&rest(WITHOUT_END));
        assert!(matches!(refused, Err(ServeError::Overloaded)));
        let list = followers.admit(&rest(Duration::ZERO));
        assert!(list.unwrap().is_none(), "a list has an end");
        drop(body);
        assert!(followers.admit(&rest(WITHOUT_END)).unwrap().is_some());
        drop(others);
    }

    #[tokio::test]
    async fn an_answer_that_the_server_cannot_go_on_with_is_counted_and_a_refused_one_is_not() {
        let metrics = Arc::new(ServerMetrics::new());
        let refused = ServeError::NotResumed(ResumeError::Refused);
        further(&metrics, None).report(&refused);
        assert_eq!(failures(&metrics, "cut-off"), 0);
        // The component of this pool gives no answers in parts.
        let body = further(&metrics, None).after(Bytes::new(), rest(Duration::ZERO));
        assert_eq!(body.collect().await.unwrap_err(), CutOffError);
        assert_eq!(failures(&metrics, "cut-off"), 1);
    }

    #[tokio::test]
    async fn a_part_that_gets_no_instance_in_time_cuts_the_answer_off() {
        let metrics = Arc::new(ServerMetrics::new());
        let mut further = further(&metrics, None);
        further.time = Duration::from_millis(20);
        let _other = held_up(&further.pool).await;
        let body = further.after(Bytes::new(), rest(Duration::ZERO));
        assert_eq!(body.collect().await.unwrap_err(), CutOffError);
        assert_eq!(failures(&metrics, "timed-out"), 1);
    }
}
