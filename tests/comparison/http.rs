//! Requests and answers as they are on the wire: no client's library cleans a path or adds a field.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::runtime::Runtime;

/// One request, all its values filled in.
#[derive(Debug)]
pub struct Request {
    pub method: String,
    /// Path and query.
    pub target: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub content_type: String,
    pub location: String,
    pub body: String,
}

/// Sends requests to one address.
pub struct Sender {
    address: String,
    client: Client<HttpConnector, Full<Bytes>>,
    runtime: Runtime,
}

impl Sender {
    /// For the server at this host and port.
    pub fn new(address: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        Self {
            address: address.to_owned(),
            client: Client::builder(TokioExecutor::new()).build_http(),
            runtime,
        }
    }

    /// Sends one request and reads the whole answer.
    pub fn send(&self, request: &Request) -> Answer {
        let mut message = http::Request::builder()
            .method(request.method.as_str())
            .uri(format!("http://{}{}", self.address, request.target));
        for (name, value) in &request.headers {
            message = message.header(name, value);
        }
        let body = Full::new(Bytes::from(request.body.clone()));
        let message = message.body(body).unwrap();
        self.runtime.block_on(async {
            let (head, body) = self.client.request(message).await.unwrap().into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            let header = |name| {
                let value = head.headers.get(name);
                value.map_or_else(String::new, |value| value.to_str().unwrap().to_owned())
            };
            Answer {
                status: head.status.as_u16(),
                content_type: header("content-type"),
                location: header("location"),
                body: String::from_utf8_lossy(&body).into_owned(),
            }
        })
    }
}
