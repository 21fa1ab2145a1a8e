//! A connection whose HTTP/1 header blocks are checked before the HTTP library reads them.
//!
//! A block that is refused never reaches the library. In its place the library reads [`STAND_IN`], an empty request whose
//! only answer is the refusal, after which the connection ends. So every refusal is a proper answer, and no ambiguity is
//! left to be resolved twice.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use super::framing::{BodyFraming, Head, HeadLimits, examine};
use super::request_error::{Dialect, RequestError};

/// The message that the HTTP library reads instead of a refused one.
const STAND_IN: &[u8] = b"GET / HTTP/1.1\r\nHost: refused\r\n\r\n";

/// How long, and for how many bytes, a client that was refused is listened to, so that it can read the answer.
const LINGER_TIME: Duration = Duration::from_secs(1);
const LINGER_BYTES: usize = 4 << 20;

/// Tells the service of a connection which of its requests is a stand-in.
#[derive(Debug, Default)]
pub(super) struct RefusedMessage(OnceLock<(u64, RequestError, Dialect)>);

impl RefusedMessage {
    /// Tells if message number `ordinal` of the connection, counted from one, was refused.
    pub(super) fn refusal_of(&self, ordinal: u64) -> Option<(RequestError, Dialect)> {
        self.0
            .get()
            .filter(|(refused, ..)| *refused == ordinal)
            .map(|(_, refusal, dialect)| (*refusal, *dialect))
    }
}

/// The meaning of the next bytes of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The beginning of a message; so many bytes have been searched for its end in vain.
    Head { searched: usize },
    /// The rest of a body of known length.
    Body { remaining: u64 },
    /// Nothing that concerns the guard. The service ends the connection after the message.
    Unchecked,
    /// A message was refused; nothing more is read.
    Refused,
}

/// The checked connection. It checks what is read; what is written passes.
pub(super) struct GuardedStream<S> {
    stream: S,
    limits: HeadLimits,
    header_timeout: Duration,
    phase: Phase,
    /// Bytes that have been read and not handed out.
    held: BytesMut,
    /// How many of them have been checked.
    checked: usize,
    header_timer: Option<Pin<Box<Sleep>>>,
    messages: u64,
    refused: Arc<RefusedMessage>,
    linger: Option<Linger>,
}

struct Linger {
    timer: Pin<Box<Sleep>>,
    remaining: usize,
}

enum Step {
    /// So many bytes, from the front, may be handed out.
    HandOut(usize),
    /// There is nothing to hand out before more has been read.
    ReadMore,
}

impl<S> GuardedStream<S> {
    /// Checks every message on `stream`, of which `held` has been read already.
    pub(super) fn checked(
        stream: S,
        held: BytesMut,
        limits: HeadLimits,
        header_timeout: Duration,
    ) -> (Self, Arc<RefusedMessage>) {
        let refused = Arc::new(RefusedMessage::default());
        let guarded = Self {
            stream,
            limits,
            header_timeout,
            phase: Phase::Head { searched: 0 },
            held,
            checked: 0,
            header_timer: None,
            messages: 0,
            refused: Arc::clone(&refused),
            linger: None,
        };
        (guarded, refused)
    }

    /// Passes everything on, beginning with `held`.
    pub(super) fn unchecked(stream: S, held: BytesMut, limits: HeadLimits) -> Self {
        let (guarded, _) = Self::checked(stream, held, limits, Duration::MAX);
        Self {
            phase: Phase::Unchecked,
            ..guarded
        }
    }

    /// Checks the bytes that come next.
    fn check(&mut self, bytes: &[u8]) -> Result<Step, RequestError> {
        match self.phase {
            Phase::Head { searched } => match examine(bytes, searched, self.limits)? {
                Head::Incomplete => {
                    self.phase = Phase::Head {
                        searched: bytes.len(),
                    };
                    Ok(Step::ReadMore)
                }
                Head::Complete { length, body } => {
                    self.messages += 1;
                    self.header_timer = None;
                    self.phase = match body {
                        BodyFraming::Length(remaining) => Phase::Body { remaining },
                        BodyFraming::Chunked => Phase::Unchecked,
                    };
                    let body = bytes.len() - length;
                    Ok(Step::HandOut(length + self.take_body(body)))
                }
            },
            Phase::Body { .. } | Phase::Unchecked => Ok(Step::HandOut(self.take_body(bytes.len()))),
            Phase::Refused => Ok(Step::ReadMore),
        }
    }

    /// How many of the next `available` bytes belong to the body.
    fn take_body(&mut self, available: usize) -> usize {
        let Phase::Body { remaining } = self.phase else {
            return if self.phase == Phase::Unchecked {
                available
            } else {
                0
            };
        };
        let taken = usize::try_from(remaining)
            .unwrap_or(usize::MAX)
            .min(available);
        let remaining = remaining - taken as u64;
        self.phase = if remaining == 0 {
            Phase::Head { searched: 0 }
        } else {
            Phase::Body { remaining }
        };
        taken
    }

    fn check_held(&mut self) -> Step {
        let held = std::mem::take(&mut self.held);
        let step = self.check(&held);
        self.held = held;
        match step {
            Ok(step) => {
                if let Step::HandOut(bytes) = step {
                    self.checked = bytes;
                }
                step
            }
            Err(refusal) => self.refuse(refusal),
        }
    }

    /// Puts the stand-in in the place of the message that begins in `held`.
    fn refuse(&mut self, refusal: RequestError) -> Step {
        let dialect = self.dialect_of_held();
        // Nothing is read after a refusal, so there is never a second one.
        let _ = self.refused.0.set((self.messages + 1, refusal, dialect));
        self.phase = Phase::Refused;
        self.header_timer = None;
        self.held.clear();
        self.held.extend_from_slice(STAND_IN);
        self.checked = STAND_IN.len();
        Step::HandOut(STAND_IN.len())
    }

    fn dialect_of_held(&self) -> Dialect {
        let held: &[u8] = &self.held;
        let target = held.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
        Dialect::serving(str::from_utf8(target).unwrap_or(""))
    }

    fn hand_out(&mut self, buffer: &mut ReadBuf<'_>) {
        let bytes = self.checked.min(buffer.remaining());
        buffer.put_slice(self.held.get(..bytes).unwrap_or_default());
        self.held.advance(bytes);
        self.checked -= bytes;
    }

    /// True if the time for the header block that has begun is over.
    fn is_header_late(&mut self, context: &mut Context<'_>) -> bool {
        if !matches!(self.phase, Phase::Head { .. }) || self.held.is_empty() {
            return false;
        }
        let timeout = self.header_timeout;
        let timer = self
            .header_timer
            .get_or_insert_with(|| Box::pin(sleep(timeout)));
        timer.as_mut().poll(context).is_ready()
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for GuardedStream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            if this.checked > 0 {
                this.hand_out(buffer);
                return Poll::Ready(Ok(()));
            }
            if !this.held.is_empty() && matches!(this.check_held(), Step::HandOut(1..)) {
                continue;
            }
            if this.phase == Phase::Refused {
                return Poll::Pending;
            }

            let start = buffer.filled().len();
            match Pin::new(&mut this.stream).poll_read(context, buffer) {
                Poll::Ready(read) => read?,
                Poll::Pending if this.is_header_late(context) => {
                    this.refuse(RequestError::HeaderTimeout);
                    continue;
                }
                Poll::Pending => return Poll::Pending,
            }
            let fresh = buffer.filled().get(start..).unwrap_or_default();
            if fresh.is_empty() {
                return Poll::Ready(Ok(()));
            }

            // The usual case: all of a message comes at once and is passed on without being copied.
            let kept = if this.held.is_empty() {
                match this.check(fresh) {
                    Ok(Step::HandOut(bytes)) => bytes,
                    Ok(Step::ReadMore) => 0,
                    Err(refusal) => {
                        this.held.extend_from_slice(fresh);
                        buffer.set_filled(start);
                        this.refuse(refusal);
                        continue;
                    }
                }
            } else {
                0
            };
            this.held
                .extend_from_slice(fresh.get(kept..).unwrap_or_default());
            buffer.set_filled(start + kept);
            if kept > 0 {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for GuardedStream<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    /// Ends the sending half. A client in the middle of a message is then listened to for a moment: closing at once would
    /// make its system discard the answer it has not read yet.
    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.linger.is_none() {
            ready!(Pin::new(&mut this.stream).poll_shutdown(context))?;
            if matches!(this.phase, Phase::Head { .. }) {
                return Poll::Ready(Ok(()));
            }
        }
        let linger = this.linger.get_or_insert_with(|| Linger {
            timer: Box::pin(sleep(LINGER_TIME)),
            remaining: LINGER_BYTES,
        });
        let mut space = [0; 4096];
        while linger.remaining > 0 && linger.timer.as_mut().poll(context).is_pending() {
            let mut discarded = ReadBuf::new(&mut space);
            ready!(Pin::new(&mut this.stream).poll_read(context, &mut discarded))?;
            match discarded.filled().len() {
                0 => break,
                bytes => linger.remaining = linger.remaining.saturating_sub(bytes),
            }
        }
        Poll::Ready(Ok(()))
    }
}
