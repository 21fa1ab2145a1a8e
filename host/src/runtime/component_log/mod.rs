//! The standard error of components, as lines of the host's own log.
//!
//! A component's text can hold what a client sent. So it never reaches the terminal or the log as it is: every line becomes one
//! event under the target [`TARGET`], cut, and with everything escaped that could pass for another line or move a cursor.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

use crate::one_line::escaped;

/// The target of the events, for filters such as `warn,gatehouse::component=info`.
const TARGET: &str = "gatehouse::component";

/// Bytes of a line beyond which the rest of it is left out.
const LONGEST_LINE: usize = 4 << 10;

/// Bytes that a component may hand over at one time.
const WRITE_PERMIT: usize = 64 << 10;

/// The standard error of one instance. Clones write to the same line.
#[derive(Clone, Default)]
pub(super) struct ComponentLog(Arc<Mutex<UnfinishedLine>>);

impl ComponentLog {
    fn write(&self, bytes: &[u8]) {
        let mut line = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        line.add(bytes, log);
    }
}

fn log(line: &str) {
    tracing::warn!(target: TARGET, "{line}");
}

/// The line that has begun and not ended, up to [`LONGEST_LINE`].
#[derive(Default)]
struct UnfinishedLine {
    start: Vec<u8>,
    is_cut: bool,
}

impl UnfinishedLine {
    /// Takes more bytes and hands out every line that they end.
    fn add(&mut self, bytes: &[u8], mut emit: impl FnMut(&str)) {
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (part, after) = rest.split_at(end);
            self.extend(part);
            self.finish(&mut emit);
            rest = after.get(1..).unwrap_or_default();
        }
        self.extend(rest);
    }

    fn extend(&mut self, part: &[u8]) {
        let room = LONGEST_LINE - self.start.len();
        self.is_cut |= part.len() > room;
        self.start
            .extend_from_slice(part.get(..room).unwrap_or(part));
    }

    /// Hands out the line, unless it is blank, and begins a new one.
    fn finish(&mut self, mut emit: impl FnMut(&str)) {
        let text = String::from_utf8_lossy(&self.start);
        if !text.trim().is_empty() {
            let mut line = escaped(text.trim_end_matches('\r'));
            if self.is_cut {
                line.push_str("...");
            }
            emit(&line);
        }
        self.start.clear();
        self.is_cut = false;
    }
}

/// The part of a line after which an instance ended, usually by a trap, is logged too.
impl Drop for UnfinishedLine {
    fn drop(&mut self) {
        self.finish(log);
    }
}

impl IsTerminal for ComponentLog {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for ComponentLog {
    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }

    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for ComponentLog {
    async fn ready(&mut self) {}
}

#[wasmtime_wasi::async_trait]
impl OutputStream for ComponentLog {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        Self::write(self, &bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(WRITE_PERMIT)
    }
}

impl AsyncWrite for ComponentLog {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Self::write(&self, bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests;
