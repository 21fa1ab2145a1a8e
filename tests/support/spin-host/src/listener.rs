//! Connections of clients, over HTTP/1.1 and HTTP/2 without TLS.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, Result};
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use wasmtime_wasi_http::{Error, WasiBody};

use crate::handler::Handler;
use crate::request::prepare;

/// Spin answers these by itself.
const WELL_KNOWN: &str = "/.well-known/spin/";

/// Serves until the process is told to stop.
///
/// # Errors
///
/// When signals cannot be received, or connections cannot be accepted: Spin's server ends at the first that it cannot accept.
pub async fn serve(listener: TcpListener, handler: Handler) -> Result<()> {
    let handler = Arc::new(handler);
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = terminate.recv() => return Ok(()),
            _ = interrupt.recv() => return Ok(()),
        };
        let (stream, client) = accepted.context("a connection cannot be accepted")?;
        let _ = stream.set_nodelay(true);
        let handler = Arc::clone(&handler);
        tokio::spawn(async move {
            let service = service_fn(move |request| answer(Arc::clone(&handler), request, client));
            let served = Builder::new(TokioExecutor::new())
                .serve_connection(TokioIo::new(stream), service)
                .await;
            if let Err(error) = served {
                tracing::debug!("a connection has ended: {error}");
            }
        });
    }
}

async fn answer(
    handler: Arc<Handler>,
    request: Request<Incoming>,
    client: SocketAddr,
) -> Result<Response<WasiBody>> {
    if let Some(own) = request.uri().path().strip_prefix(WELL_KNOWN) {
        let status = match own {
            "health" => StatusCode::OK,
            _ => StatusCode::NOT_FOUND,
        };
        return Ok(empty(status));
    }
    let mut request = request.map(|body| body.map_err(Error::Hyper).boxed_unsync());
    // As in Spin, an error here ends the connection.
    prepare(&mut request, client)?;
    match handler.handle(request).await {
        Ok(answer) => Ok(answer),
        Err(error) => {
            tracing::error!("a request has failed: {error:?}");
            Ok(empty(StatusCode::INTERNAL_SERVER_ERROR))
        }
    }
}

fn empty(status: StatusCode) -> Response<WasiBody> {
    let body = Empty::<Bytes>::new().map_err(|never| match never {});
    let mut response = Response::new(body.boxed_unsync());
    *response.status_mut() = status;
    response
}
