//! Answers that come in parts: each is asked of the components when the client has taken those before.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http::Request;
use tokio::sync::watch;
use tokio::time::sleep;

use crate::listener::{AnswerBody, CutOffError};
use crate::metrics::ServerMetrics;
use crate::runtime::pool::{BodyPart, BodyRest, Pool, ServeError};

/// How often, and how far apart, the pool is asked for a part while all its instances are busy: what has been answered so far would be lost
/// with the rest.
const ATTEMPTS: usize = 20;
const PAUSE: Duration = Duration::from_millis(250);

/// What it takes to go on with an answer.
pub(crate) struct FurtherParts {
    pub(crate) pool: Arc<Pool>,
    pub(crate) metrics: Arc<ServerMetrics>,
    pub(crate) request: Arc<Request<Bytes>>,
    /// Turns true when the server stops.
    pub(crate) stopping: watch::Receiver<bool>,
}

impl FurtherParts {
    /// The body that begins with `first`.
    pub(crate) fn after(self, first: BodyPart) -> AnswerBody {
        let Some(rest) = first.rest else {
            return first.bytes.into();
        };
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
        AnswerBody::in_parts(first.bytes, parts)
    }

    /// Waits as long as `rest` says. A body that would go on for ever is over when the server stops.
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
        let mut failure = ServeError::Overloaded;
        for _ in 0..ATTEMPTS {
            let request = Arc::clone(&self.request);
            match self.pool.resume(request, continuation.clone()).await {
                Ok(part) => return Ok(part),
                Err(ServeError::Overloaded) => sleep(PAUSE).await,
                Err(error) => {
                    failure = error;
                    break;
                }
            }
        }
        tracing::warn!(error = %failure, "an answer was cut off");
        self.metrics.unanswered(&failure);
        Err(CutOffError)
    }
}
