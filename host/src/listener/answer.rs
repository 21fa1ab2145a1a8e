//! The bodies of answers: at once, or in parts that are made while the client reads.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::Stream;
use http_body::{Body, Frame, SizeHint};

use super::activity::{Activity, OpenBody};

/// Why a body ends before it is complete. Over HTTP/1.1 the connection ends with it in the middle of its chunks, over HTTP/2 the stream, so that
/// no client takes it for whole. HTTP/1.0 is the exception: there the end of the connection is the end of the body, and one that is cut off
/// looks complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the rest of the answer could not be made")]
pub struct CutOffError;

type Parts = Pin<Box<dyn Stream<Item = Result<Bytes, CutOffError>> + Send>>;

/// The body of an answer.
pub struct AnswerBody {
    /// The bytes that are there and not handed out.
    ready: Bytes,
    /// The parts that are still to be made; `None` where there is nothing more. The next one is asked for when all before it has been taken.
    rest: Option<Parts>,
    /// Marks the body as open at its connection, while something is still to be made.
    open: Option<OpenBody>,
}

impl AnswerBody {
    /// A body that begins with `first` and continues with `rest`.
    pub fn in_parts(
        first: Bytes,
        rest: impl Stream<Item = Result<Bytes, CutOffError>> + Send + 'static,
    ) -> Self {
        Self {
            ready: first,
            rest: Some(Box::pin(rest)),
            open: None,
        }
    }

    /// The same on a connection, which is not idle while the client takes part after part, nor while one is being made.
    pub(super) fn sent_by(mut self, activity: &Arc<Activity>) -> Self {
        if self.rest.is_some() {
            self.open = Some(activity.open_body());
        }
        self
    }

    /// Notes that nothing more is to be made.
    fn end(&mut self) {
        self.rest = None;
        self.open = None;
    }
}

impl From<Bytes> for AnswerBody {
    fn from(whole: Bytes) -> Self {
        Self {
            ready: whole,
            rest: None,
            open: None,
        }
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = CutOffError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, CutOffError>>> {
        if let Some(open) = &self.open {
            open.asked_for();
        }
        loop {
            if !self.ready.is_empty() {
                let data = std::mem::take(&mut self.ready);
                return Poll::Ready(Some(Ok(Frame::data(data))));
            }
            let Some(rest) = &mut self.rest else {
                return Poll::Ready(None);
            };
            match rest.as_mut().poll_next(context) {
                Poll::Pending => {
                    if let Some(open) = &self.open {
                        open.in_the_making();
                    }
                    return Poll::Pending;
                }
                Poll::Ready(Some(Ok(part))) => self.ready = part,
                Poll::Ready(Some(Err(error))) => {
                    self.end();
                    return Poll::Ready(Some(Err(error)));
                }
                Poll::Ready(None) => self.end(),
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.ready.is_empty() && self.rest.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        let known = self.ready.len() as u64;
        match self.rest {
            None => SizeHint::with_exact(known),
            Some(_) => {
                let mut hint = SizeHint::new();
                hint.set_lower(known);
                hint
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream;
    use http_body_util::BodyExt;

    use super::*;

    fn parts(all: &[Result<&'static str, CutOffError>]) -> AnswerBody {
        let rest: Vec<_> = all
            .iter()
            .map(|part| part.map(|text| Bytes::from_static(text.as_bytes())))
            .collect();
        AnswerBody::in_parts(Bytes::from_static(b"first "), stream::iter(rest))
    }

    #[tokio::test]
    async fn parts_follow_each_other_and_empty_ones_are_passed_over() {
        let body = parts(&[Ok("second "), Ok(""), Ok("third"), Ok("")]);
        assert_eq!(body.size_hint().exact(), None);
        assert_eq!(
            body.collect().await.unwrap().to_bytes(),
            "first second third"
        );
    }

    #[tokio::test]
    async fn a_part_that_cannot_be_made_cuts_the_body_off() {
        let mut body = parts(&[Ok("second"), Err(CutOffError), Ok("never")]);
        assert!(body.frame().await.unwrap().is_ok());
        assert!(body.frame().await.unwrap().is_ok());
        assert_eq!(body.frame().await.unwrap().unwrap_err(), CutOffError);
        assert!(body.frame().await.is_none());
    }

    #[tokio::test]
    async fn a_whole_body_has_its_length() {
        let body = AnswerBody::from(Bytes::from_static(b"whole"));
        assert_eq!(body.size_hint().exact(), Some(5));
        assert_eq!(body.collect().await.unwrap().to_bytes(), "whole");
        assert!(AnswerBody::from(Bytes::new()).is_end_stream());
    }
}
