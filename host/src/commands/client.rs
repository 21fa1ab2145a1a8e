//! How commands reach a running server.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use bytes::Bytes;
use clap::Args;
use gatehouse::outbound::client_configuration;
use http::{Request, Response};
use http_body_util::{BodyExt, Full, Limited};
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use url::Url;

/// Most that an answer may hold.
const MAXIMUM_ANSWER: usize = 1 << 20;

/// Where a server is, and whom to believe that it is the one.
#[derive(Debug, Args)]
pub(super) struct RemoteServer {
    /// Where the server is
    #[arg(
        long,
        value_name = "URL",
        env = "GATEHOUSE_ADDR",
        default_value = "http://127.0.0.1:8200"
    )]
    pub(super) address: Url,
    /// PEM file with certificate authorities to trust beside those of the system
    #[arg(long, value_name = "FILE", env = "GATEHOUSE_CACERT")]
    pub(super) ca_file: Option<PathBuf>,
}

impl RemoteServer {
    /// The address of `path` at the server.
    pub(super) fn target(&self, path: &str) -> Result<Url> {
        let target = self.address.join(path);
        target.with_context(|| format!("{} is not the address of a server", self.address))
    }

    /// Sends `request` and reads the whole answer.
    ///
    /// # Errors
    ///
    /// When the server cannot be reached, is not believed, or has not answered within `time`.
    pub(super) async fn send(
        &self,
        request: Request<Full<Bytes>>,
        time: Duration,
    ) -> Result<Response<Bytes>> {
        let answer = tokio::time::timeout(time, self.exchange(request)).await;
        answer.with_context(|| format!("{} did not answer in time", self.address))?
    }

    async fn exchange(&self, request: Request<Full<Bytes>>) -> Result<Response<Bytes>> {
        let tls = client_configuration("--ca-file", self.ca_file.as_deref())?;
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_http1()
            .build();
        let client = Client::builder(TokioExecutor::new()).build(connector);
        let target = request.uri().clone();
        let answer = client
            .request(request)
            .await
            .with_context(|| format!("{target} cannot be reached"))?;
        let (head, body) = answer.into_parts();
        let body = Limited::new(body, MAXIMUM_ANSWER).collect().await;
        let body = body.map_err(|error| anyhow::anyhow!("the answer cannot be read: {error}"))?;
        Ok(Response::from_parts(head, body.to_bytes()))
    }
}
