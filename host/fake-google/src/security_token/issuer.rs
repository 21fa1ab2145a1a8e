//! Fetching an issuer's keys, as Google does from the internet (OpenID Connect Discovery 1.0, 4).

use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::jwk::KeySet;

/// Longest document that is read, in bytes.
const DOCUMENT_LIMIT: usize = 256 * 1024;
/// Longest time for one document.
const DEADLINE: Duration = Duration::from_secs(10);

/// Why there are no keys.
#[derive(Debug, thiserror::Error)]
pub(super) enum DiscoveryError {
    #[error("Error connecting to the given credential's issuer.")]
    Unreachable,
    #[error("The issuer's discovery document or key set is malformed.")]
    Malformed,
    #[error("The issuer in the discovery document does not match the provider's issuer.")]
    OtherIssuer,
}

#[derive(Deserialize)]
struct Discovery {
    issuer: String,
    jwks_uri: String,
}

/// The keys that an issuer publishes now, at its own address or at another origin.
///
/// Plain HTTP only: the fake lives on loopback, and so do its issuers.
pub(super) async fn discover(issuer: &str, origin: Option<&str>) -> Result<KeySet, DiscoveryError> {
    let base = issuer.strip_suffix('/').unwrap_or(issuer);
    let url = format!("{base}/.well-known/openid-configuration");
    let discovery: Discovery = fetch(&url, origin).await?;
    if discovery.issuer != issuer {
        return Err(DiscoveryError::OtherIssuer);
    }
    fetch(&discovery.jwks_uri, origin).await
}

async fn fetch<T: DeserializeOwned>(url: &str, origin: Option<&str>) -> Result<T, DiscoveryError> {
    let url = url_at(url, origin).ok_or(DiscoveryError::Malformed)?;
    let body = tokio::time::timeout(DEADLINE, get(&url))
        .await
        .map_err(|_| DiscoveryError::Unreachable)??;
    serde_json::from_slice(&body).map_err(|_| DiscoveryError::Malformed)
}

/// The same path at another origin; none when the URL has no path to keep.
fn url_at(url: &str, origin: Option<&str>) -> Option<String> {
    let Some(origin) = origin else {
        return Some(url.to_owned());
    };
    let uri: Uri = url.parse().ok()?;
    Some(format!("{origin}{}", uri.path_and_query()?))
}

async fn get(url: &str) -> Result<Bytes, DiscoveryError> {
    let request = Request::get(url)
        .body(Full::<Bytes>::default())
        .map_err(|_| DiscoveryError::Unreachable)?;
    let response = Client::builder(TokioExecutor::new())
        .build_http()
        .request(request)
        .await
        .map_err(|_| DiscoveryError::Unreachable)?;
    if response.status() != StatusCode::OK {
        return Err(DiscoveryError::Unreachable);
    }
    Limited::new(response.into_body(), DOCUMENT_LIMIT)
        .collect()
        .await
        .map(http_body_util::Collected::to_bytes)
        .map_err(|_| DiscoveryError::Malformed)
}
