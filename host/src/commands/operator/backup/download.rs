//! A backup that a running server makes.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use http::{Request, StatusCode, header};
use http_body_util::{BodyExt, Empty, Limited};
use serde_json::Value;
use tokio::time::timeout;

use crate::commands::client::{RemoteServer, Token};

/// How long the server may take before its answer, and between two parts of it.
const PATIENCE: Duration = Duration::from_secs(60);

/// Most that a refusal may hold.
const MAXIMUM_REFUSAL: usize = 1 << 20;

/// The media type of a backup, by which it is told from a page of something in between.
const MEDIA_TYPE: &str = "application/octet-stream";

/// Hands the backup of `server` to `take`, part after part.
///
/// # Errors
///
/// When the server cannot be reached, refuses, or does not finish; or `take` fails.
pub(super) async fn download(
    server: &RemoteServer,
    token: &Token,
    mut take: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let address = server.address();
    let request = Request::builder()
        .uri(server.target("/v1/sys/backup").as_str())
        .header("x-vault-token", token.header()?)
        .body(Empty::<Bytes>::new())?;
    let client = server.client()?;
    let late = || format!("{address} did not answer in time");
    let answer = timeout(PATIENCE, client.request(request)).await;
    let answer = answer.with_context(late)?;
    let answer = answer.with_context(|| format!("{address} cannot be reached"))?;
    let (head, mut body) = answer.into_parts();
    if !head.status.is_success() {
        let body = Limited::new(body, MAXIMUM_REFUSAL);
        let body = timeout(PATIENCE, body.collect()).await.with_context(late)?;
        let body = body.map(|body| body.to_bytes()).unwrap_or_default();
        bail!("{}", refusal(head.status, &body));
    }
    let media_type = head.headers.get(header::CONTENT_TYPE);
    if media_type.is_none_or(|media_type| media_type != MEDIA_TYPE) {
        bail!("{address} answered with something other than a backup");
    }
    while let Some(frame) = timeout(PATIENCE, body.frame()).await.with_context(late)? {
        let frame = frame.context("the backup was cut off: the server's log says why")?;
        if let Ok(bytes) = frame.into_data() {
            take(&bytes)?;
        }
    }
    Ok(())
}

/// The server's reason for a backup that it does not give.
fn refusal(status: StatusCode, body: &[u8]) -> String {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let errors = body.get("errors").and_then(Value::as_array);
    let errors = errors.into_iter().flatten().filter_map(Value::as_str);
    let errors: Vec<&str> = errors.collect();
    format!("the server answered {status}: {}", errors.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_what_the_server_says() {
        let text = refusal(
            StatusCode::FORBIDDEN,
            br#"{"errors":["permission denied"]}"#,
        );
        assert_eq!(text, "the server answered 403 Forbidden: permission denied");
        let text = refusal(StatusCode::BAD_GATEWAY, b"<html>");
        assert_eq!(text, "the server answered 502 Bad Gateway: ");
    }
}
