//! One connection from its first byte to its end.

use std::convert::Infallible;
use std::io;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulConnection;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};

use super::activity::Activity;
use super::guarded_stream::GuardedStream;
use super::handler::RequestHandler;
use super::service::{Exchange, Shared};

/// The first bytes of a client that speaks HTTP/2 without having agreed on it.
const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// How long a connection that was asked to end may take to do so while it has no request.
const FAREWELL: Duration = Duration::from_secs(5);

/// The version of HTTP that a connection speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    /// HTTP/1.0 or 1.1.
    Http1,
    /// HTTP/2.
    Http2,
}

/// Serves `stream` until the client ends it, a limit is reached, or `stopping` turns true and the requests in progress are done.
/// Where `protocol` was not agreed on during the handshake, the first bytes tell it.
pub(super) async fn serve<H: RequestHandler, S>(
    mut stream: S,
    socket: IpAddr,
    protocol: Option<Protocol>,
    shared: Arc<Shared<H>>,
    stopping: watch::Receiver<bool>,
) where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let limits = shared.limits;
    let mut held = BytesMut::new();
    let protocol = match protocol {
        Some(protocol) => protocol,
        None => {
            let mut stopped = stopping.clone();
            let recognized = tokio::select! {
                recognized = timeout(limits.header_timeout, recognize(&mut stream, &mut held)) => recognized,
                _ = stopped.wait_for(|stopping| *stopping) => return,
            };
            let Ok(Ok(protocol)) = recognized else {
                return;
            };
            protocol
        }
    };

    let activity = Arc::new(Activity::new(
        limits.http2_resets,
        limits.http2_resets_per_second,
        limits.request_timeout,
    ));
    let mut exchange = Exchange {
        shared,
        socket,
        activity: Arc::clone(&activity),
        refused: None,
    };
    match protocol {
        Protocol::Http1 => {
            let (stream, refused) =
                GuardedStream::checked(stream, held, limits.head, limits.header_timeout);
            exchange.refused = Some(refused);
            let exchange = Arc::new(exchange);
            let service = service_fn(move |request| {
                let exchange = Arc::clone(&exchange);
                async move { Ok::<_, Infallible>(exchange.serve(request).await) }
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                // The guarded stream times header blocks, and the driver idle connections.
                .header_read_timeout(None)
                .max_headers(limits.head.fields)
                .max_buf_size(MINIMUM_BUFFER.max(limits.head.bytes))
                .serve_connection(TokioIo::new(stream), service);
            drive(connection, &activity, limits.idle_timeout, stopping).await;
        }
        Protocol::Http2 => {
            let stream = GuardedStream::unchecked(stream, held, limits.head);
            let exchange = Arc::new(exchange);
            let service = service_fn(move |request| {
                let exchange = Arc::clone(&exchange);
                async move { Ok::<_, Infallible>(exchange.serve(request).await) }
            });
            let connection = http2::Builder::new(TokioExecutor::new())
                .timer(TokioTimer::new())
                .max_concurrent_streams(limits.http2_streams)
                .max_header_list_size(u32::try_from(limits.head.bytes).unwrap_or(u32::MAX))
                .max_pending_accept_reset_streams(limits.http2_resets)
                .max_local_error_reset_streams(limits.http2_resets)
                .serve_connection(TokioIo::new(stream), service);
            drive(connection, &activity, limits.idle_timeout, stopping).await;
        }
    }
}

/// The smallest read buffer that the HTTP library accepts.
const MINIMUM_BUFFER: usize = 8 << 10;

/// Reads until the bytes can only be one of the two versions.
async fn recognize<S: AsyncRead + Unpin>(
    stream: &mut S,
    held: &mut BytesMut,
) -> io::Result<Protocol> {
    held.reserve(MINIMUM_BUFFER);
    loop {
        let compared = held.len().min(HTTP2_PREFACE.len());
        if held.get(..compared) != HTTP2_PREFACE.get(..compared) {
            return Ok(Protocol::Http1);
        }
        if compared == HTTP2_PREFACE.len() {
            return Ok(Protocol::Http2);
        }
        if stream.read_buf(held).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// Runs a connection, and ends it when it is idle, when its client leaves a part of an answer untaken or abandons too much, or when the server
/// stops.
async fn drive<C>(
    connection: C,
    activity: &Activity,
    idle_timeout: Duration,
    mut stopping: watch::Receiver<bool>,
) where
    C: GracefulConnection,
    C::Error: std::fmt::Display,
{
    let mut connection = pin!(connection);
    let mut next_look = pin!(sleep_until(Instant::now() + idle_timeout));
    let mut ending = false;
    loop {
        tokio::select! {
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    tracing::debug!("connection ended: {error}");
                }
                return;
            }
            () = activity.exhausted() => {
                tracing::debug!("connection cut: its client abandoned too many requests");
                return;
            }
            signal = stopping.changed() => {
                // The sender goes away when the time to finish is over.
                if signal.is_err() {
                    return;
                }
                connection.as_mut().graceful_shutdown();
                ending = true;
                next_look.as_mut().reset(Instant::now() + FAREWELL);
            }
            () = next_look.as_mut() => {
                // One stream that is not taken ends the connection with all others: the HTTP library gives no hold of one alone. They have the
                // time of the farewell to finish.
                let (idle, untaken) = if ending {
                    (FAREWELL, idle_timeout.saturating_add(FAREWELL))
                } else {
                    (idle_timeout, idle_timeout)
                };
                let idle = idle.saturating_sub(activity.idle_for());
                let untaken = untaken.saturating_sub(activity.untaken_for());
                let left = idle.min(untaken);
                if !left.is_zero() {
                    next_look.as_mut().reset(Instant::now() + left);
                } else if ending {
                    return;
                } else {
                    connection.as_mut().graceful_shutdown();
                    ending = true;
                    next_look.as_mut().reset(Instant::now() + FAREWELL);
                }
            }
        }
    }
}
