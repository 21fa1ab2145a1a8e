//! Spin's changes of a request before the component sees it.

use std::net::SocketAddr;

use anyhow::{Context, Result, bail, ensure};
use http::header::{CONNECTION, HOST};
use http::uri::{Authority, Scheme};
use http::{HeaderName, HeaderValue, Request, Uri};

/// The route of the manifests.
const ROUTE: &str = "/...";

/// Gives the request an absolute URI, and behind the fields of the client those of Spin. A field that a client sends under a name of
/// Spin's stays, before Spin's own.
///
/// # Errors
///
/// When the request names no host or two of them, or a field is not UTF-8.
pub fn prepare<B>(request: &mut Request<B>, client: SocketAddr) -> Result<()> {
    request.headers_mut().remove(CONNECTION);
    set_uri(request)?;
    for (name, value) in request.headers() {
        ensure!(
            std::str::from_utf8(value.as_bytes()).is_ok(),
            "the value of {name} is not UTF-8"
        );
    }
    let host = request.headers().get(HOST);
    let host = match host {
        Some(host) => std::str::from_utf8(host.as_bytes())?.to_owned(),
        None => "localhost".to_owned(),
    };
    let uri = request.uri();
    let target = uri.path_and_query().map_or("", |target| target.as_str());
    let added = [
        ("spin-path-info", uri.path().to_owned()),
        ("spin-full-url", format!("http://{host}{target}")),
        ("spin-matched-route", ROUTE.to_owned()),
        ("spin-base-path", "/".to_owned()),
        ("spin-raw-component-route", ROUTE.to_owned()),
        ("spin-component-route", String::new()),
        ("spin-client-addr", client.to_string()),
    ];
    for (name, value) in added {
        let value = HeaderValue::try_from(value)?;
        let name = HeaderName::from_static(name);
        request.headers_mut().append(name, value);
    }
    Ok(())
}

fn set_uri<B>(request: &mut Request<B>) -> Result<()> {
    let mut parts = request.uri().clone().into_parts();
    let in_header: Option<Authority> = match request.headers().get(HOST) {
        Some(host) => Some(host.to_str()?.parse().context("the host is none")?),
        None => None,
    };
    let authority = match (in_header, parts.authority.take()) {
        (None, None) => bail!("the request names no host"),
        (Some(one), Some(other)) => {
            ensure!(one == other, "the request names two hosts");
            one
        }
        (Some(authority), None) | (None, Some(authority)) => authority,
    };
    parts.authority = Some(authority);
    parts.scheme = Some(Scheme::HTTP);
    *request.uri_mut() = Uri::from_parts(parts)?;
    Ok(())
}
