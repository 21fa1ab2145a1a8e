//! An issuer of identity tokens that is not Google: it signs, and publishes its keys by OpenID Connect Discovery.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use gatehouse_fake_google::{Claims, SigningKey, WorkloadIdentityProvider};
use http::{Response, StatusCode};
use http_body_util::Full;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;

pub const SUBJECT: &str = "plugin-identity:root:auth:auth_gcp_44cbb160";

/// An issuer at an address of its own.
pub struct Issuer {
    pub url: String,
    pub key: SigningKey,
    documents: Arc<Mutex<Documents>>,
}

/// The documents that it publishes.
struct Documents {
    discovery: Value,
    key_set: Value,
}

impl Issuer {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1/identity", listener.local_addr().unwrap());
        let key = SigningKey::generate("issuer").unwrap();
        let documents = Arc::new(Mutex::new(Documents {
            discovery: json!({ "issuer": url, "jwks_uri": format!("{url}/.well-known/keys") }),
            key_set: json!({ "keys": [key.jwk()] }),
        }));
        tokio::spawn(serve(listener, Arc::clone(&documents)));
        Self {
            url,
            key,
            documents,
        }
    }

    /// A provider of Google's for this issuer.
    pub fn provider(&self) -> WorkloadIdentityProvider {
        WorkloadIdentityProvider::new(402_615_379_128, "pool", "gatehouse", &self.url)
    }

    /// The keys as it publishes them.
    pub fn key_set(&self) -> Value {
        json!({ "keys": [self.key.jwk()] })
    }

    pub fn publish_discovery(&self, discovery: Value) {
        self.documents.lock().unwrap().discovery = discovery;
    }

    pub fn publish_key_set(&self, key_set: Value) {
        self.documents.lock().unwrap().key_set = key_set;
    }

    /// The claims of an honest token for this audience.
    pub fn claims(&self, audience: &str) -> Claims {
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap()
            .as_secs();
        let claims = json!({
            "iss": self.url, "sub": SUBJECT, "aud": [audience], "iat": now, "nbf": now, "exp": now + 3600,
        });
        claims.as_object().unwrap().clone()
    }
}

async fn serve(listener: TcpListener, documents: Arc<Mutex<Documents>>) {
    while let Ok((stream, _)) = listener.accept().await {
        let documents = Arc::clone(&documents);
        let service = service_fn(move |request: http::Request<hyper::body::Incoming>| {
            let documents = documents.lock().unwrap();
            let body = match request.uri().path() {
                "/v1/identity/.well-known/openid-configuration" => Some(&documents.discovery),
                "/v1/identity/.well-known/keys" => Some(&documents.key_set),
                _ => None,
            };
            let mut response = Response::new(Full::<Bytes>::default());
            match body {
                Some(body) => *response.body_mut() = Full::from(body.to_string()),
                None => *response.status_mut() = StatusCode::NOT_FOUND,
            }
            async move { Ok::<_, Infallible>(response) }
        });
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}
