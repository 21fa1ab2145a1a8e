//! The same listener, gateway, capabilities, barrier and store in memory, without WebAssembly between them.

use std::io::{Read, Write};
use std::net::{IpAddr, TcpStream};
use std::path::Path;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context as TaskContext, Poll, Waker};

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use gatehouse::listener::{AnswerBody, Listener, RequestError, RequestHandler};
use gatehouse::settings::Settings;
use gatehouse_access::AccessService;
use gatehouse_auth_method::{AuthMethodService, Settings as GoogleSettings};
use gatehouse_gateway::Gateway;
use gatehouse_gateway::http::{Headers, Method, Request};
use gatehouse_orgs::Orgs;
use gatehouse_ports::{
    Change, Check, CommitError, Entry, Http, HttpError, HttpRequest, HttpResponse, NoCache,
    OsRandom, Page, Store, StoreError, SystemClock,
};
use gatehouse_store::{Backend, MemoryBackend, Namespace, PrivateStore, RootKey, SealedBackend};
use gatehouse_tests::Program;

/// The argument that turns this program into a server.
pub const MODE: &str = "--serve-natively";

/// This program as a server.
pub fn program() -> Result<Program> {
    Ok(Program {
        path: std::env::current_exe()?,
        arguments: vec![MODE.to_owned()],
        needs_database: false,
        has_children: false,
        first_root_token: None,
    })
}

type NativeGateway = Gateway<
    AuthMethodService<NativeStore, NoCache, LoopbackHttp, SystemClock, OsRandom>,
    AccessService<NativeStore, SystemClock, OsRandom>,
    Orgs<NativeStore, SystemClock, OsRandom>,
>;

/// Serves with the settings of a configuration file, until the process is ended.
pub fn serve(configuration: &Path) -> Result<()> {
    let settings = Settings::load(configuration, [], [])?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let clock = Arc::new(SystemClock);
        let sealed = SealedBackend::new(MemoryBackend::new(clock.clone()), clock);
        sealed.unseal(&RootKey::generate(&OsRandom)?).await?;
        let backend: Arc<dyn Backend> = Arc::new(sealed);
        let store = |namespace| NativeStore(PrivateStore::new(Arc::clone(&backend), namespace));
        let google = GoogleSettings {
            token_url: settings.google.token_url.as_ref().map(ToString::to_string),
            allow_http_loopback: settings.google.allow_http_loopback,
            ..GoogleSettings::default()
        };
        let gateway = Gateway::new(
            AuthMethodService::new(
                store(Namespace::AuthMethod),
                NoCache,
                LoopbackHttp,
                SystemClock,
                OsRandom,
                google,
            ),
            AccessService::new(store(Namespace::Access), SystemClock, OsRandom),
            Orgs::new(store(Namespace::Orgs), SystemClock, OsRandom),
            gatehouse_gateway::Settings::default(),
        );
        let listener = Listener::bind(&settings.listener, &settings.limits).await?;
        let handler = NativeHandler(Mutex::new(gateway));
        listener
            .serve(Arc::new(handler), std::future::pending())
            .await;
        Ok(())
    })
}

// One core serves, so the lock is never waited for.
struct NativeHandler(Mutex<NativeGateway>);

impl RequestHandler for NativeHandler {
    async fn handle(
        &self,
        request: http::Request<Bytes>,
        peer: IpAddr,
    ) -> Result<http::Response<AnswerBody>, RequestError> {
        let (parts, body) = request.into_parts();
        let mut headers = Headers::new();
        for (name, value) in &parts.headers {
            headers.push(name.as_str(), String::from_utf8_lossy(value.as_bytes()));
        }
        let request = Request {
            id: None,
            method: Method::named(parts.method.as_str()),
            path: parts.uri.path().to_owned(),
            query: parts.uri.query().unwrap_or_default().to_owned(),
            headers,
            body: body.to_vec(),
            peer: Some(peer.into()),
        };
        let gateway = self.0.lock().expect("no request panics");
        let mut answer = gateway.handle(&request);
        // A bench may hold a list whole. The log, which has no end, is not told here: its lines are not kept.
        while let Some(rest) = answer.rest.take() {
            let part = gateway.resume(&request, &rest.continuation);
            let part = part.map_err(|_| RequestError::Internal)?;
            answer.body.extend(part.body);
            answer.rest = part.rest;
        }
        drop(gateway);
        let mut response = http::Response::builder().status(answer.status);
        for (name, value) in &answer.headers {
            response = response.header(name, value);
        }
        Ok(response
            .body(Bytes::from(answer.body).into())
            .expect("a valid answer"))
    }
}

/// A store whose answers are always ready, as those of a backend in memory are.
struct NativeStore(PrivateStore);

fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut TaskContext::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("a backend in memory never waits"),
    }
}

impl Store for NativeStore {
    fn get(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        ready(self.0.get(keys))
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError> {
        ready(self.0.scan(prefix, after, limit))
    }

    fn commit(&self, checks: Vec<Check>, changes: Vec<Change>) -> Result<(), CommitError> {
        ready(self.0.commit(checks, changes))
    }
}

/// Plain HTTP/1.1 to loopback, enough for the few calls that a bench makes before its caches are warm.
struct LoopbackHttp;

impl Http for LoopbackHttp {
    fn send(&self, request: &HttpRequest) -> Result<HttpResponse, HttpError> {
        exchange(request).map_err(|error| HttpError::Failed(error.to_string()))
    }
}

fn exchange(request: &HttpRequest) -> Result<HttpResponse> {
    let rest = request
        .url
        .strip_prefix("http://")
        .context("plain HTTP only")?;
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let mut stream = TcpStream::connect(authority)?;
    let method = match request.method {
        gatehouse_ports::Method::Get => "GET",
        gatehouse_ports::Method::Post => "POST",
        gatehouse_ports::Method::Delete => "DELETE",
    };
    let mut head =
        format!("{method} /{path} HTTP/1.1\r\nhost: {authority}\r\nconnection: close\r\n");
    for (name, value) in &request.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("content-length: {}\r\n\r\n", request.body.len()));
    stream.write_all(head.as_bytes())?;
    stream.write_all(&request.body)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let Some(end) = answer.windows(4).position(|four| four == b"\r\n\r\n") else {
        bail!("the answer is cut off");
    };
    let head = std::str::from_utf8(&answer[..end])?;
    let status = head.split(' ').nth(1).context("no status")?.parse()?;
    let headers = head.lines().skip(1).filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_ascii_lowercase(), value.trim().to_owned()))
    });
    Ok(HttpResponse {
        status,
        headers: headers.collect(),
        body: answer[end + 4..].to_vec(),
    })
}
