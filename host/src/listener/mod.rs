//! The server's front: sockets, TLS, HTTP/1.1 and HTTP/2, and their bounds (SEC sections 2 and 9).
//!
//! A request is taken in whole, within its limits, before the [`RequestHandler`] sees it. Its answer is a whole too, or comes in parts that
//! are asked for when the client has taken those before. So a slow client costs a connection and nothing else; one that takes no part within
//! `limits.idle_timeout` is cut off, whatever else it does on the connection.

mod access_log;
mod activity;
mod admission;
mod answer;
mod connection;
mod framing;
mod guarded_stream;
mod handler;
mod limits;
mod peer;
mod request_error;
mod request_id;
mod service;
mod tls;

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

pub use access_log::{ACCESS_LOG, Route};
pub use answer::{AnswerBody, CutOffError};
pub use handler::RequestHandler;
pub use request_error::RequestError;
pub use request_id::RequestId;
pub(crate) use request_id::in_request;
pub use tls::{Certificate, CertificateError};

use crate::settings::{LimitsSettings, ListenerSettings};
use admission::Admission;
use connection::Protocol;
use limits::Limits;
use peer::TrustedProxies;
use service::Shared;

/// How long to wait when the system has no room for another connection.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(50);

/// The probes of an idle connection: how long it is idle before the first, how far apart they are, and how many without an answer end it. A
/// client that follows the log may have nothing to say for days, and one whose machine is gone says nothing either.
const KEEPALIVE: TcpKeepalive = TcpKeepalive::new()
    .with_time(Duration::from_secs(60))
    .with_interval(Duration::from_secs(10))
    .with_retries(3);

/// Looks at the beginning of a message as a connection with the default limits does, without a connection. Answers how many bytes the header
/// block takes, or `None` where it is not complete yet. For tests that make up messages (SEC-V1).
///
/// # Errors
///
/// When the message is refused.
pub fn head_of(message: &[u8], searched: usize) -> Result<Option<usize>, RequestError> {
    let limits = framing::HeadLimits {
        bytes: 16 << 10,
        fields: 100,
        target_bytes: 8 << 10,
    };
    Ok(match framing::examine(message, searched, limits)? {
        framing::Head::Incomplete => None,
        framing::Head::Complete { length, .. } => Some(length),
    })
}

/// The address of the client whose request comes from `socket` with these headers, where `proxies` are trusted (SEC-H9). For tests that
/// make up headers (SEC-V1).
///
/// # Errors
///
/// When a trusted proxy names no client.
pub fn client_of(
    socket: IpAddr,
    headers: &http::HeaderMap,
    proxies: &[ipnet::IpNet],
) -> Result<IpAddr, RequestError> {
    TrustedProxies::new(proxies).client(socket, headers)
}

/// Why nothing can be served.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The address cannot be listened on.
    #[error("listener.address: cannot listen on {address}: {reason}")]
    Address {
        /// The address wanted.
        address: SocketAddr,
        /// Why it cannot be had.
        reason: io::Error,
    },
    /// TLS cannot be set up.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
}

/// An address that is listened on.
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    certificate: Option<Arc<Certificate>>,
    tls: Option<TlsAcceptor>,
    limits: Limits,
    proxies: TrustedProxies,
}

impl Listener {
    /// Begins to listen; connections wait until [`Listener::serve`].
    ///
    /// # Errors
    ///
    /// When the address is taken or not ours, or the certificate cannot be used.
    pub async fn bind(
        settings: &ListenerSettings,
        limits: &LimitsSettings,
    ) -> Result<Self, ListenError> {
        let certificate = settings
            .tls_files()
            .map(|(certificate_file, key_file)| Certificate::read(&certificate_file, &key_file))
            .transpose()?;
        let tls = certificate
            .as_ref()
            .map(|certificate| certificate.server_configuration())
            .transpose()?
            .map(|configuration| TlsAcceptor::from(Arc::new(configuration)));
        let unusable = |reason| ListenError::Address {
            address: settings.address,
            reason,
        };
        let socket = TcpListener::bind(settings.address)
            .await
            .map_err(unusable)?;
        let address = socket.local_addr().map_err(unusable)?;
        Ok(Self {
            socket,
            address,
            certificate,
            tls,
            limits: Limits::new(settings, limits),
            proxies: TrustedProxies::new(&settings.trusted_proxies),
        })
    }

    /// Where it listens; the port is the real one where port 0 was asked for.
    #[must_use]
    pub fn local_address(&self) -> SocketAddr {
        self.address
    }

    /// The certificate, for reading it again, where clients come by TLS.
    #[must_use]
    pub fn certificate(&self) -> Option<Arc<Certificate>> {
        self.certificate.clone()
    }

    /// Serves clients by `handler` until `stop` is ready; then takes no more connections, lets the requests in progress finish
    /// within `limits.drain_timeout`, and returns (SEC-O1).
    pub async fn serve<H: RequestHandler>(
        self,
        handler: Arc<H>,
        stop: impl Future<Output = ()> + Send,
    ) {
        let drain_timeout = self.limits.drain_timeout;
        // Every connection holds a receiver, so the sender learns when the last one has ended.
        let (stopping, stopped) = watch::channel(false);
        let certificate = self.certificate.clone();
        tokio::select! {
            () = stop => {}
            never = self.accept(handler, stopped) => match never {},
            never = follow(certificate) => match never {},
        }
        stopping.send_replace(true);
        if timeout(drain_timeout, stopping.closed()).await.is_err() {
            tracing::warn!(
                connections = stopping.receiver_count(),
                "limits.drain_timeout has passed; requests in progress are cut off"
            );
        }
    }

    async fn accept<H: RequestHandler>(
        self,
        handler: Arc<H>,
        stopping: watch::Receiver<bool>,
    ) -> Infallible {
        let admission = Arc::new(Admission::new(
            self.limits.connections,
            self.limits.connections_per_address,
        ));
        let shared = Arc::new(Shared {
            handler,
            limits: self.limits,
            proxies: self.proxies,
            is_tls: self.tls.is_some(),
        });
        loop {
            let (stream, address) = match self.socket.accept().await {
                Ok(accepted) => accepted,
                Err(error) => {
                    await_room(&error).await;
                    continue;
                }
            };
            let address = address.ip().to_canonical();
            let counted = (!shared.proxies.contain(address)).then_some(address);
            let Some(slot) = admission.admit(counted) else {
                tracing::debug!(%address, "connection refused: there are too many");
                continue;
            };
            let shared = Arc::clone(&shared);
            let stopping = stopping.clone();
            let tls = self.tls.clone();
            tokio::spawn(async move {
                let _slot = slot;
                serve_stream(stream, address, tls, shared, stopping).await;
            });
        }
    }
}

async fn follow(certificate: Option<Arc<Certificate>>) -> Infallible {
    match certificate {
        Some(certificate) => certificate.follow_files().await,
        None => std::future::pending().await,
    }
}

/// Returns at once for an error of a single connection. Where the system has no room, waits so that it can find some (SEC-H4).
async fn await_room(error: &io::Error) {
    let concerns_one_connection = matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Interrupted
    );
    if !concerns_one_connection {
        tracing::warn!("cannot accept connections: {error}");
        sleep(ACCEPT_BACKOFF).await;
    }
}

/// Sends packets at once, and probes idle connections. A system that refuses either works without it.
fn set_pace_of_packets(stream: &TcpStream) {
    // Otherwise answers that take two packets may wait for an acknowledgement.
    let _ = stream.set_nodelay(true);
    let _ = SockRef::from(stream).set_tcp_keepalive(&KEEPALIVE);
}

async fn serve_stream<H: RequestHandler>(
    stream: TcpStream,
    address: IpAddr,
    tls: Option<TlsAcceptor>,
    shared: Arc<Shared<H>>,
    stopping: watch::Receiver<bool>,
) {
    set_pace_of_packets(&stream);
    let Some(tls) = tls else {
        connection::serve(stream, address, None, shared, stopping).await;
        return;
    };
    match timeout(shared.limits.tls_handshake_timeout, tls.accept(stream)).await {
        Ok(Ok(stream)) => {
            let protocol = match stream.get_ref().1.alpn_protocol() {
                Some(b"h2") => Protocol::Http2,
                _ => Protocol::Http1,
            };
            connection::serve(stream, address, Some(protocol), shared, stopping).await;
        }
        Ok(Err(error)) => tracing::debug!(%address, "TLS handshake failed: {error}"),
        Err(_) => tracing::debug!(%address, "TLS handshake took too long"),
    }
}

#[cfg(test)]
mod floods;
#[cfg(test)]
mod slow_readers;
#[cfg(test)]
mod tests;
