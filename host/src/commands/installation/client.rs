//! A server's API, as a client has it.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use bytes::Bytes;
use gatehouse::listener::RequestHandler as _;
use gatehouse::server::ComponentHandler;
use gatehouse_ports::organizations_api::MEDIA_TYPE;
use http::{Method, Request, StatusCode, header};
use http_body::Body;
use http_body_util::{BodyExt, Full, Limited};
use serde_json::Value;
use url::Url;

use super::report::shown;
use crate::commands::client::{HttpClient, RemoteServer, ServerArguments, Token};

/// Most bytes that an answer may hold: a list of a hundred thousand names is far below that.
const MAXIMUM_ANSWER: usize = 32 << 20;

/// How many keys of a list are asked for at once.
const PAGE: usize = 1000;

/// Most keys of a list altogether.
const MAXIMUM_KEYS: usize = 1_000_000;

const TIMEOUT: Duration = Duration::from_secs(30);

/// A server whose API is used.
pub(in crate::commands) struct Server {
    transport: Transport,
    address: Url,
    token: header::HeaderValue,
    namespace: Option<header::HeaderValue>,
}

/// The way of a request to its server.
enum Transport {
    Network(Box<HttpClient<Full<Bytes>>>),
    /// The server of this process.
    Here(Arc<ComponentHandler>),
}

/// A path of the API: its segments, which are escaped when it is sent.
pub(super) type Segments = Vec<String>;

/// The segments of `path`, with a name behind them that may hold anything.
pub(super) fn below(path: &str, name: &str) -> Segments {
    let mut segments: Segments = path.split('/').map(str::to_owned).collect();
    segments.push(name.to_owned());
    segments
}

/// The segments of a path without a name.
pub(super) fn fixed(path: &str) -> Segments {
    path.split('/').map(str::to_owned).collect()
}

/// An answer of success or of refusal.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    /// Null where there is none, or none in JSON.
    pub(super) body: Value,
}

impl Answer {
    /// `data` of the answer.
    ///
    /// # Errors
    ///
    /// With the server's words, when it refused.
    pub(super) fn data(mut self) -> Result<Value> {
        self.ensure_success()?;
        Ok(self
            .body
            .get_mut("data")
            .map(Value::take)
            .unwrap_or_default())
    }

    /// `data` of the answer; `None` where there is no such thing.
    ///
    /// # Errors
    ///
    /// When the server refused otherwise; the message is the server's.
    pub(super) fn found(self) -> Result<Option<Value>> {
        match self.status {
            StatusCode::NOT_FOUND | StatusCode::NO_CONTENT => Ok(None),
            _ => self.data().map(Some),
        }
    }

    /// The warnings that came with a success.
    ///
    /// # Errors
    ///
    /// With the server's words, when it refused.
    pub(super) fn warnings(&self) -> Result<Vec<String>> {
        self.ensure_success()?;
        let warnings = self.body.get("warnings").and_then(Value::as_array);
        let texts = warnings.into_iter().flatten().filter_map(Value::as_str);
        Ok(texts.map(str::to_owned).collect())
    }

    pub(super) fn ensure_success(&self) -> Result<()> {
        if self.status.is_success() {
            return Ok(());
        }
        let text = |error: &Value| -> Option<String> {
            let text = error
                .as_str()
                .or_else(|| error.get("detail")?.as_str())
                .or_else(|| error.get("title")?.as_str())?;
            Some(shown(text.trim()))
        };
        let errors = self.body.get("errors").and_then(Value::as_array);
        let texts: Vec<String> = errors.into_iter().flatten().filter_map(text).collect();
        if texts.is_empty() {
            bail!("the server answered {}", self.status);
        }
        bail!("the server answered {}: {}", self.status, texts.join("; "))
    }
}

impl Server {
    /// The server that the arguments name, with the token that its user has. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// As [`Self::at`], and when there is no token.
    pub(in crate::commands) fn from_arguments(arguments: &ServerArguments) -> Result<Self> {
        let remote = &arguments.remote;
        let token = arguments.token(&format!("for {}", remote.address()))?;
        Self::at(remote, &token, None)
    }

    /// The server at the other end; `namespace` is that of every request, where the server has such. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// When the address, the certificates, the token or the namespace cannot be used.
    pub(in crate::commands) fn at(
        remote: &RemoteServer,
        token: &Token,
        namespace: Option<&str>,
    ) -> Result<Self> {
        let namespace = namespace.map(header::HeaderValue::from_str).transpose();
        let namespace =
            namespace.context("the namespace contains characters that no namespace can have")?;
        Ok(Self {
            transport: Transport::Network(Box::new(remote.client()?)),
            address: remote.address().clone(),
            token: token.header()?,
            namespace,
        })
    }

    /// The server of this process, with a token.
    ///
    /// # Errors
    ///
    /// When the token contains characters that no token can have.
    pub(in crate::commands) fn here(handler: Arc<ComponentHandler>, token: &str) -> Result<Self> {
        let mut token = header::HeaderValue::from_str(token)?;
        token.set_sensitive(true);
        Ok(Self {
            transport: Transport::Here(handler),
            address: Url::parse("http://localhost")?,
            token,
            namespace: None,
        })
    }

    /// Where the server is.
    pub(in crate::commands) fn address(&self) -> &Url {
        &self.address
    }

    /// Reads what is below `/v1/`.
    ///
    /// # Errors
    ///
    /// When there is no answer, or the path holds an invalid segment.
    pub(super) async fn read(&self, segments: &[String]) -> Result<Answer> {
        self.send(Method::GET, &self.target("v1", segments)?, None)
            .await
    }

    /// Writes what is below `/v1/`.
    ///
    /// # Errors
    ///
    /// When there is no answer, or the path holds an invalid segment.
    pub(super) async fn write(&self, segments: &[String], fields: &Value) -> Result<Answer> {
        self.send(Method::POST, &self.target("v1", segments)?, Some(fields))
            .await
    }

    /// Sends a request below `/api/v2/`.
    ///
    /// # Errors
    ///
    /// When there is no answer, or the path holds an invalid segment.
    pub(super) async fn organizations(
        &self,
        method: Method,
        segments: &[String],
        document: Option<&Value>,
    ) -> Result<Answer> {
        let mut below = vec!["v2".to_owned()];
        below.extend_from_slice(segments);
        self.send(method, &self.target("api", &below)?, document)
            .await
    }

    /// All keys of a list below `/v1/`, in the server's order; none where there is no list. A server that knows no pages gives all at once.
    ///
    /// # Errors
    ///
    /// When a page is refused, or the list does not end.
    pub(super) async fn list(&self, segments: &[String]) -> Result<Vec<String>> {
        let mut target = self.target("v1", segments)?;
        let mut keys: Vec<String> = Vec::new();
        let mut known = std::collections::HashSet::new();
        let limit = PAGE.to_string();
        loop {
            target.query_pairs_mut().clear().extend_pairs([
                ("list", "true"),
                ("limit", limit.as_str()),
                ("after", keys.last().map_or("", String::as_str)),
            ]);
            let page = self.send(Method::GET, &target, None).await?.found()?;
            let page = page.unwrap_or_default();
            let page = page.get("keys").and_then(Value::as_array);
            let before = keys.len();
            for key in page.into_iter().flatten().filter_map(Value::as_str) {
                if known.insert(key.to_owned()) {
                    keys.push(key.to_owned());
                }
            }
            ensure!(
                keys.len() <= MAXIMUM_KEYS,
                "the list is longer than {MAXIMUM_KEYS} keys"
            );
            // A server that knows no pages repeats itself.
            if keys.len().saturating_sub(before) != PAGE {
                return Ok(keys);
            }
        }
    }

    /// The URL of a path. Segments may hold anything but what a server or a proxy between would take for something else.
    fn target(&self, root: &str, segments: &[String]) -> Result<Url> {
        let mut target = self.address.clone();
        target.set_query(None);
        target.set_fragment(None);
        let mut path = target
            .path_segments_mut()
            .map_err(|()| anyhow::anyhow!("the address of the server can have no path"))?;
        path.pop_if_empty().push(root);
        for segment in segments {
            ensure!(
                !matches!(segment.as_str(), "" | "." | "..")
                    && !segment.chars().any(char::is_control),
                "\"{}\" cannot be part of a path",
                shown(segment)
            );
            path.push(segment);
        }
        drop(path);
        Ok(target)
    }

    async fn send(&self, method: Method, target: &Url, body: Option<&Value>) -> Result<Answer> {
        let media_type = match target.path().contains("/api/v2/") {
            true => MEDIA_TYPE,
            false => "application/json",
        };
        let mut request = Request::builder()
            .method(method)
            .uri(target.as_str())
            .header(header::CONTENT_TYPE, media_type)
            .header("X-Vault-Request", "true")
            .header("X-Vault-Token", self.token.clone());
        if media_type == MEDIA_TYPE {
            let bearer = [b"Bearer ".as_slice(), self.token.as_bytes()].concat();
            let mut bearer = header::HeaderValue::from_bytes(&bearer)?;
            bearer.set_sensitive(true);
            request = request.header(header::AUTHORIZATION, bearer);
        }
        if let Some(namespace) = &self.namespace {
            request = request.header("X-Vault-Namespace", namespace.clone());
        }
        let body = body.map(Value::to_string).unwrap_or_default();
        let request = request.body(Bytes::from(body))?;
        let answer = tokio::time::timeout(TIMEOUT, self.exchange(request)).await;
        answer.with_context(|| format!("{} did not answer in time", self.address))?
    }

    async fn exchange(&self, request: Request<Bytes>) -> Result<Answer> {
        let (status, body) = match &self.transport {
            Transport::Network(client) => {
                let answer = client.request(request.map(Full::new)).await;
                let answer =
                    answer.with_context(|| format!("{} cannot be reached", self.address))?;
                let (head, body) = answer.into_parts();
                (head.status, whole(body).await?)
            }
            Transport::Here(handler) => {
                let answer = handler.handle(request, Ipv4Addr::LOCALHOST.into()).await?;
                let (head, body) = answer.into_parts();
                (head.status, whole(body).await?)
            }
        };
        Ok(Answer {
            status,
            body: serde_json::from_slice(&body).unwrap_or_default(),
        })
    }
}

/// The body of an answer, which may be as long as one is allowed to be.
async fn whole<B>(body: B) -> Result<Bytes>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let body = Limited::new(body, MAXIMUM_ANSWER).collect().await;
    let body = body.map_err(|error| anyhow::anyhow!("the answer cannot be read: {error}"))?;
    Ok(body.to_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(address: &str) -> Server {
        let folder = tempfile::tempdir().unwrap();
        let token_file = folder.path().join("token");
        std::fs::write(&token_file, "hvs.token\n").unwrap();
        let remote = RemoteServer::new(address.parse().unwrap(), None);
        let token = Token::find(Some(&token_file), &[], "").unwrap();
        Server::at(&remote, &token, None).unwrap()
    }

    #[test]
    fn names_are_escaped_in_paths_and_stay_one_segment() {
        let server = server("https://gatehouse.example:8200/behind/");
        let target = |name: &str| server.target("v1", &below("sys/policies/acl", name));
        let path = target("a/b?c#d%2e e").unwrap();
        assert_eq!(
            path.path(),
            "/behind/v1/sys/policies/acl/a%2Fb%3Fc%23d%252e%20e"
        );
        assert_eq!(path.query(), None);
        assert_eq!(server.token, "hvs.token");
        assert!(server.token.is_sensitive());
    }

    #[test]
    fn names_that_change_a_path_are_refused() {
        let server = server("http://127.0.0.1:8200");
        for name in ["", ".", "..", "a\nb", "\u{7f}", "a\u{1b}[2J"] {
            let refused = server.target("v1", &below("auth/gcp/role", name));
            let text = refused.unwrap_err().to_string();
            assert!(text.ends_with("cannot be part of a path"), "{text}");
            assert!(!text.chars().any(char::is_control), "{text:?}");
        }
    }

    #[test]
    fn a_refusal_is_told_in_the_words_of_the_server_on_one_line() {
        let answer = |status, body: &str| Answer {
            status: StatusCode::from_u16(status).unwrap(),
            body: serde_json::from_str(body).unwrap(),
        };
        let refused = answer(403, r#"{"errors":["permission denied\u001b[2J"]}"#);
        assert_eq!(
            refused.data().unwrap_err().to_string(),
            "the server answered 403 Forbidden: permission denied\\u{1b}[2J"
        );
        let refused = answer(
            422,
            r#"{"errors":[{"title":"x","detail":"Email is invalid"}]}"#,
        );
        assert!(
            refused
                .warnings()
                .unwrap_err()
                .to_string()
                .ends_with(": Email is invalid")
        );
        assert!(answer(404, r#"{"errors":[]}"#).found().unwrap().is_none());
        let warned = answer(200, r#"{"warnings":["mind this"]}"#);
        assert_eq!(warned.warnings().unwrap(), ["mind this"]);
    }
}
