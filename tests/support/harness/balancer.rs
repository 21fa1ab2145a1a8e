//! A balancer before several servers, which gives each request to the next of them, also those of one connection.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::RwLock;

/// A running balancer. It ends when it is dropped.
pub struct Balancer {
    address: SocketAddr,
    turns: Arc<Turns>,
    _runtime: tokio::runtime::Runtime,
}

struct Turns {
    /// Read until a request is answered: servers are changed between requests.
    servers: RwLock<Vec<String>>,
    next: AtomicUsize,
    client: Client<HttpConnector, Full<Bytes>>,
}

impl Balancer {
    /// Starts a balancer before the servers at these addresses, `http://HOST:PORT`.
    ///
    /// # Errors
    ///
    /// When loopback has no port.
    pub fn start(servers: Vec<String>) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let listener = runtime.block_on(TcpListener::bind(("127.0.0.1", 0)))?;
        let address = listener.local_addr()?;
        let turns = Arc::new(Turns {
            servers: RwLock::new(servers),
            next: AtomicUsize::new(0),
            client: Client::builder(TokioExecutor::new()).build_http(),
        });
        runtime.spawn(accept(listener, Arc::clone(&turns)));
        Ok(Self {
            address,
            turns,
            _runtime: runtime,
        })
    }

    /// Where it listens, `http://HOST:PORT`.
    pub fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Has other servers take turns from now on. Returns when all requests that were given to earlier ones are answered.
    pub fn replace_servers(&self, servers: Vec<String>) {
        *self.turns.servers.blocking_write() = servers;
    }

    /// How many requests it has given to servers.
    pub fn requests(&self) -> usize {
        self.turns.next.load(Ordering::Relaxed)
    }
}

async fn accept(listener: TcpListener, turns: Arc<Turns>) -> Infallible {
    loop {
        if let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, Arc::clone(&turns)));
        }
    }
}

async fn serve(stream: TcpStream, turns: Arc<Turns>) {
    let service = service_fn(move |request| {
        let turns = Arc::clone(&turns);
        async move { Ok::<_, Infallible>(turns.forward(request).await) }
    });
    let connections = Builder::new(TokioExecutor::new());
    // A client that goes away is none of the balancer's faults.
    let _ = connections
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

impl Turns {
    /// The answer of the next server, or 502.
    async fn forward(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let servers = self.servers.read().await;
        let turn = self.next.fetch_add(1, Ordering::Relaxed) % servers.len();
        let answered = self.ask(&servers[turn], request).await;
        answered.unwrap_or_else(|error| {
            let mut response = Response::new(Full::from(error.to_string()));
            *response.status_mut() = StatusCode::BAD_GATEWAY;
            response
        })
    }

    async fn ask(&self, server: &str, request: Request<Incoming>) -> Result<Response<Full<Bytes>>> {
        let (mut head, body) = request.into_parts();
        let target = head.uri.path_and_query().map_or("/", |it| it.as_str());
        head.uri = format!("{server}{target}").parse::<Uri>()?;
        let body = Full::new(body.collect().await?.to_bytes());
        let answer = self.client.request(Request::from_parts(head, body)).await?;
        let (head, body) = answer.into_parts();
        let body = body.collect().await?.to_bytes();
        Ok(Response::from_parts(head, Full::new(body)))
    }
}
