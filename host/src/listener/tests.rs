//! The listener over real sockets.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

use super::*;
use crate::settings::Settings;

/// Answers with the method, the target, the peer and the size of the body; `/slow` once it is let go.
#[derive(Default)]
pub(super) struct Echo {
    calls: AtomicUsize,
    let_go: Notify,
}

impl RequestHandler for Echo {
    async fn handle(
        &self,
        request: Request<Bytes>,
        peer: IpAddr,
    ) -> Result<Response<AnswerBody>, RequestError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        if request.uri().path() == "/slow" {
            self.let_go.notified().await;
        }
        if request.uri().path() == "/v1/busy" {
            return Err(RequestError::Overloaded);
        }
        if request.uri().path() == "/never" {
            std::future::pending::<()>().await;
        }
        let text = format!(
            "{} {} {peer} {}",
            request.method(),
            request.uri().path(),
            request.body().len()
        );
        Ok(Response::new(Bytes::from(text).into()))
    }
}

pub(super) struct Running {
    pub(super) address: SocketAddr,
    handler: Arc<Echo>,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

pub(super) async fn start(more_settings: &str) -> Running {
    let text = format!(
        "storage.type = \"memory\"\n[listener]\naddress = \"127.0.0.1:0\"\n{more_settings}"
    );
    let settings = Settings::from_text(&text, Vec::new(), Vec::new()).unwrap();
    let listener = Listener::bind(&settings.listener, &settings.limits)
        .await
        .unwrap();
    let address = listener.local_address();
    let handler = Arc::new(Echo::default());
    let (stop, stopped) = oneshot::channel();
    let serving = tokio::spawn(listener.serve(Arc::clone(&handler), async {
        let _ = stopped.await;
    }));
    Running {
        address,
        handler,
        stop,
        serving,
    }
}

impl Running {
    /// Sends bytes on a connection of their own and returns everything that comes until it is closed.
    pub(super) async fn exchange(&self, message: impl AsRef<[u8]>) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(message.as_ref()).await.unwrap();
        read_to_end(&mut stream).await
    }

    pub(super) fn calls(&self) -> usize {
        self.handler.calls.load(Ordering::SeqCst)
    }

    /// Returns once the handler has so many requests.
    async fn has_calls(&self, calls: usize) {
        while self.calls() < calls {
            tokio::task::yield_now().await;
        }
    }
}

async fn read_to_end(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    timeout(Duration::from_secs(10), stream.read_to_end(&mut answer))
        .await
        .expect("the server ends the connection")
        .unwrap();
    String::from_utf8(answer).unwrap()
}

pub(super) fn statuses(answers: &str) -> Vec<&str> {
    answers
        .split("HTTP/1.1 ")
        .skip(1)
        .map(|rest| &rest[..3])
        .collect()
}

pub(super) const CLOSE: &str = "Host: h\r\nConnection: close\r\n";

#[tokio::test]
async fn h12_an_answer_has_the_fixed_headers_and_no_server_version() {
    let server = start("").await;
    let answer = server
        .exchange(format!("GET /v1/x HTTP/1.1\r\n{CLOSE}\r\n"))
        .await;
    let lower = answer.to_ascii_lowercase();
    assert_eq!(statuses(&answer), ["200"]);
    assert!(
        lower.contains("\r\ncache-control: no-store\r\n"),
        "{answer}"
    );
    assert!(
        lower.contains("\r\nx-content-type-options: nosniff\r\n"),
        "{answer}"
    );
    assert!(!lower.contains("\r\nserver:"), "{answer}");
    assert!(!lower.contains("strict-transport-security"), "{answer}");
    assert!(answer.ends_with("GET /v1/x 127.0.0.1 0"), "{answer}");
}

#[tokio::test]
async fn requests_in_a_pipeline_are_answered_in_order() {
    let server = start("").await;
    let answer = server
        .exchange(format!(
            "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhelloGET /b HTTP/1.1\r\n{CLOSE}\r\n"
        ))
        .await;
    assert_eq!(statuses(&answer), ["200", "200"]);
    assert!(answer.contains("POST /a 127.0.0.1 5"), "{answer}");
    assert!(answer.ends_with("GET /b 127.0.0.1 0"), "{answer}");
}

#[tokio::test]
async fn a_request_that_comes_byte_by_byte_is_served() {
    let server = start("").await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    for byte in format!("POST /a HTTP/1.1\r\n{CLOSE}Content-Length: 3\r\n\r\nabc").bytes() {
        stream.write_all(&[byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    let answer = read_to_end(&mut stream).await;
    assert!(answer.ends_with("POST /a 127.0.0.1 3"), "{answer}");
}

#[tokio::test]
async fn h1_a_body_over_the_limit_is_refused_however_it_is_framed() {
    let server = start("body_limit = 10").await;
    let within = server
        .exchange(format!(
            "POST /a HTTP/1.1\r\n{CLOSE}Content-Length: 10\r\n\r\n0123456789"
        ))
        .await;
    assert_eq!(statuses(&within), ["200"]);
    let within = server
        .exchange("POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n0\r\n\r\n")
        .await;
    assert_eq!(statuses(&within), ["200"]);
    assert_eq!(server.calls(), 2);

    let announced = server
        .exchange("POST /v1/a HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\n\r\n01234567890")
        .await;
    assert_eq!(statuses(&announced), ["413"]);
    assert!(
        announced
            .to_ascii_lowercase()
            .contains("\r\nconnection: close\r\n"),
        "{announced}"
    );
    assert!(
        announced.ends_with("{\"errors\":[\"the request body is too large\"]}"),
        "{announced}"
    );
    let chunked = server
        .exchange(
            "POST /api/v2/a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n012345\r\n6\r\n012345\r\n0\r\n\r\n",
        )
        .await;
    assert_eq!(statuses(&chunked), ["413"]);
    assert!(chunked.contains("application/vnd.api+json"), "{chunked}");
    assert_eq!(server.calls(), 2);
}

#[tokio::test]
async fn h1_a_client_in_the_middle_of_a_large_body_can_read_its_refusal() {
    let server = start("").await;
    let body = vec![b'x'; 3 << 20];
    let mut message = format!(
        "POST /v1/a HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    message.extend(body);
    assert_eq!(statuses(&server.exchange(message).await), ["413"]);
}

#[tokio::test]
async fn h2_large_headers_and_targets_are_refused() {
    let server = start("").await;
    let fields: String = (0..101)
        .map(|number| format!("X-{number}: y\r\n"))
        .collect();
    let many = server
        .exchange(format!("GET /v1/a HTTP/1.1\r\nHost: h\r\n{fields}\r\n"))
        .await;
    assert_eq!(statuses(&many), ["431"]);
    let large = format!(
        "GET /v1/a HTTP/1.1\r\nHost: h\r\nX: {}\r\n\r\n",
        "a".repeat(17 << 10)
    );
    assert_eq!(statuses(&server.exchange(large).await), ["431"]);
    let long = format!(
        "GET /api/v2/{} HTTP/1.1\r\nHost: h\r\n\r\n",
        "a".repeat(9 << 10)
    );
    let answer = server.exchange(long).await;
    assert_eq!(statuses(&answer), ["414"]);
    assert!(answer.contains("\"status\":\"414\""), "{answer}");
    assert_eq!(server.calls(), 0);
}

#[tokio::test]
async fn h2_header_values_that_are_no_text_get_400() {
    let server = start("").await;
    for byte in [0x80, 0xbf, 0xc0, 0xfe, 0xff] {
        let mut message = b"GET / HTTP/1.1\r\nHost: h\r\nX: ".to_vec();
        message.push(byte);
        message.extend(b"\r\n\r\n");
        assert_eq!(
            statuses(&server.exchange(message).await),
            ["400"],
            "{byte:#x}"
        );
    }
    assert_eq!(server.calls(), 0);
}

#[tokio::test]
async fn h5_an_ambiguous_request_gets_one_answer_and_the_end_of_the_connection() {
    let server = start("").await;
    let smuggled = "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n";
    for head in [
        "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n",
        "Content-Length: 4\r\nContent-Length: 4\r\n",
        "Content-Length: 4\r\nContent-Length: 40\r\n",
        "Content-Length : 4\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "X: a\r\n b\r\n",
        "X: a\0b\r\n",
        "X: a\rb\r\n",
        "X: a\nY: b\r\n",
    ] {
        let answer = server
            .exchange(format!(
                "POST /v1/a HTTP/1.1\r\nHost: h\r\n{head}\r\n0\r\n\r\n{smuggled}"
            ))
            .await;
        assert_eq!(statuses(&answer), ["400"], "{head:?}: {answer}");
        assert!(
            answer.contains("{\"errors\":[\"malformed request: "),
            "{answer}"
        );
    }
    assert_eq!(server.calls(), 0);
}

#[tokio::test]
async fn h5_a_refusal_comes_after_the_answers_to_the_requests_before_it() {
    let server = start("").await;
    let requests = "GET /slow HTTP/1.1\r\nHost: h\r\n\r\nGET /b HTTP/1.1\r\nHost : h\r\n\r\nGET /c HTTP/1.1\r\n\r\n";
    let let_go = async {
        server.has_calls(1).await;
        server.handler.let_go.notify_one();
    };
    let (answer, ()) = tokio::join!(server.exchange(requests), let_go);
    assert_eq!(statuses(&answer), ["200", "400"]);
    assert_eq!(server.calls(), 1);
}

#[tokio::test]
async fn h5_a_chunked_request_is_the_last_of_its_connection() {
    let server = start("").await;
    let answer = server
        .exchange(
            "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\n\r\n",
        )
        .await;
    assert_eq!(statuses(&answer), ["200"]);
    assert!(answer.ends_with("POST /a 127.0.0.1 3"), "{answer}");
    assert_eq!(server.calls(), 1);
}

#[tokio::test]
async fn h3_slow_clients_are_cut_off() {
    let server = start("[limits]\nheader_timeout = \"100ms\"\nbody_timeout = \"100ms\"").await;
    assert_eq!(server.exchange("").await, "");
    assert_eq!(
        statuses(&server.exchange("GET /v1/a HTTP/1.1\r\nHost:").await),
        ["408"]
    );
    let body = "POST /v1/a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nabc";
    assert_eq!(statuses(&server.exchange(body).await), ["408"]);
    assert_eq!(server.calls(), 0);
    // With the usual time for a head, however late this machine reads it.
    let server = start("[limits]\nidle_timeout = \"100ms\"").await;
    let idle = server.exchange("GET /a HTTP/1.1\r\nHost: h\r\n\r\n").await;
    assert_eq!(statuses(&idle), ["200"]);
}

#[tokio::test]
async fn h3_a_request_without_an_answer_in_time_gets_503() {
    let server = start("[limits]\nrequest_timeout = \"100ms\"").await;
    let answer = server
        .exchange("GET /never HTTP/1.1\r\nHost: h\r\n\r\n")
        .await;
    assert_eq!(statuses(&answer), ["503"]);
    assert!(
        answer
            .to_ascii_lowercase()
            .contains("\r\nretry-after: 1\r\n"),
        "{answer}"
    );
}

#[tokio::test]
async fn a_handler_without_an_answer_keeps_the_connection() {
    let server = start("").await;
    let answer = server
        .exchange(format!(
            "GET /v1/busy HTTP/1.1\r\nHost: h\r\n\r\nGET /a HTTP/1.1\r\n{CLOSE}\r\n"
        ))
        .await;
    assert_eq!(statuses(&answer), ["503", "200"]);
    assert!(
        answer.contains("{\"errors\":[\"the server is busy; try again\"]}"),
        "{answer}"
    );
}

#[tokio::test]
async fn h3_connections_from_one_address_are_limited() {
    let server = start("[limits]\nconnections_per_address = 1").await;
    let mut first = TcpStream::connect(server.address).await.unwrap();
    first
        .write_all(b"GET /a HTTP/1.1\r\nHost: h\r\n\r\n")
        .await
        .unwrap();
    let mut start_of_answer = [0; 12];
    first.read_exact(&mut start_of_answer).await.unwrap();
    let mut second = TcpStream::connect(server.address).await.unwrap();
    let refused = second.read(&mut [0; 1]).await;
    assert!(matches!(refused, Ok(0) | Err(_)), "{refused:?}");
}

#[tokio::test]
async fn h9_the_peer_is_the_socket_unless_a_trusted_proxy_says_otherwise() {
    let message = format!("GET /a HTTP/1.1\r\n{CLOSE}X-Forwarded-For: 198.51.100.7\r\n\r\n");
    let direct = start("").await;
    assert!(
        direct
            .exchange(&message)
            .await
            .ends_with("GET /a 127.0.0.1 0")
    );

    let behind = start("trusted_proxies = [\"127.0.0.0/8\"]").await;
    assert!(
        behind
            .exchange(&message)
            .await
            .ends_with("GET /a 198.51.100.7 0")
    );
    let silent = behind
        .exchange(format!("GET /v1/a HTTP/1.1\r\n{CLOSE}\r\n"))
        .await;
    assert_eq!(statuses(&silent), ["400"]);
    assert_eq!(behind.calls(), 1);
}

#[tokio::test]
async fn connect_is_refused() {
    let server = start("").await;
    let answer = server
        .exchange("CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n")
        .await;
    assert_eq!(statuses(&answer), ["405"]);
    assert_eq!(server.calls(), 0);
}

#[tokio::test]
async fn http2_without_tls_is_served_within_the_same_limits() {
    let server = start("body_limit = 10").await;
    let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new())
        .http2_only(true)
        .build_http();
    let send = |path: String, body: &'static str, header: Vec<u8>| {
        let request = Request::post(format!("http://{}{path}", server.address))
            .header("x", header)
            .body(Full::from(body))
            .unwrap();
        client.request(request)
    };
    let good = send("/a".into(), "0123456789", b"y".to_vec())
        .await
        .unwrap();
    assert_eq!(
        (good.status().as_u16(), good.version()),
        (200, http::Version::HTTP_2)
    );
    assert_eq!(good.headers()["x-content-type-options"], "nosniff");
    let large = send("/v1/a".into(), "01234567890", b"y".to_vec())
        .await
        .unwrap();
    assert_eq!(large.status(), 413);
    let long = send(format!("/{}", "a".repeat(9 << 10)), "", b"y".to_vec())
        .await
        .unwrap();
    assert_eq!(long.status(), 414);
    let no_text = send("/a".into(), "", vec![0xff]).await.unwrap();
    assert_eq!(no_text.status(), 400);
    let headers = send("/a".into(), "", vec![b'y'; 17 << 10]).await.unwrap();
    assert_eq!(headers.status(), 431);
    assert_eq!(server.calls(), 1);
}

#[tokio::test]
async fn h6_a_client_that_abandons_requests_without_end_loses_its_connection() {
    let server = start("[limits]\nhttp2_resets = 20\nhttp2_resets_per_second = 1").await;
    let stream = TcpStream::connect(server.address).await.unwrap();
    let (mut sender, connection) = hyper::client::conn::http2::handshake(
        TokioExecutor::new(),
        hyper_util::rt::TokioIo::new(stream),
    )
    .await
    .unwrap();
    let ended = tokio::spawn(connection);
    for _ in 0..200 {
        let request = Request::get(format!("http://{}/never", server.address))
            .body(Full::<Bytes>::default())
            .unwrap();
        if sender.ready().await.is_err() {
            break;
        }
        let calls = server.calls();
        let abandoned = sender.send_request(request);
        let arrived = async {
            while server.calls() == calls {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            _ = abandoned => {}
            () = arrived => {}
        }
    }
    timeout(Duration::from_secs(10), ended)
        .await
        .expect("the server cuts the connection")
        .unwrap()
        .ok();
    assert!(
        server.calls() < 100,
        "{} requests reached the handler",
        server.calls()
    );
}

#[tokio::test]
async fn o1_stopping_lets_requests_finish_and_takes_no_more() {
    let server = start("").await;
    let mut busy = TcpStream::connect(server.address).await.unwrap();
    busy.write_all(b"GET /slow HTTP/1.1\r\nHost: h\r\n\r\n")
        .await
        .unwrap();
    let mut idle = TcpStream::connect(server.address).await.unwrap();
    idle.write_all(b"GET /a HTTP/1.1\r\nHost: h\r\n\r\n")
        .await
        .unwrap();
    server.has_calls(2).await;
    server.stop.send(()).unwrap();
    assert_eq!(statuses(&read_to_end(&mut idle).await), ["200"]);
    // By now the server stops, and the request is still under way.
    server.handler.let_go.notify_one();
    let answer = read_to_end(&mut busy).await;
    assert!(answer.ends_with("GET /slow 127.0.0.1 0"), "{answer}");
    timeout(Duration::from_secs(10), server.serving)
        .await
        .unwrap()
        .unwrap();
    assert!(TcpStream::connect(server.address).await.is_err());
}

#[tokio::test]
async fn o1_requests_that_do_not_finish_are_cut_off() {
    let server = start("[limits]\ndrain_timeout = \"100ms\"").await;
    let mut stuck = TcpStream::connect(server.address).await.unwrap();
    stuck
        .write_all(b"GET /never HTTP/1.1\r\nHost: h\r\n\r\n")
        .await
        .unwrap();
    server.has_calls(1).await;
    server.stop.send(()).unwrap();
    timeout(Duration::from_secs(10), server.serving)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(read_to_end(&mut stuck).await, "");
}

#[tokio::test]
async fn h7_tls_serves_both_versions_and_a_certificate_can_be_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate_file, key_file) = (
        folder.path().join("cert.pem"),
        folder.path().join("key.pem"),
    );
    let write_pair = || {
        let pair = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        std::fs::write(&certificate_file, pair.cert.pem()).unwrap();
        std::fs::write(&key_file, pair.signing_key.serialize_pem()).unwrap();
        pair.cert.der().clone()
    };
    let first = write_pair();
    let text = format!(
        "storage.type = \"memory\"\n[listener]\naddress = \"127.0.0.1:0\"\ntls_cert_file = {certificate_file:?}\ntls_key_file = {key_file:?}"
    );
    let settings = Settings::from_text(&text, Vec::new(), Vec::new()).unwrap();
    let listener = Listener::bind(&settings.listener, &settings.limits)
        .await
        .unwrap();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, listener.local_address().port()));
    let certificate = listener.certificate().unwrap();
    tokio::spawn(listener.serve(Arc::new(Echo::default()), std::future::pending()));

    let answer = https_get(address, &first, true).await.unwrap();
    assert_eq!(answer.version(), http::Version::HTTP_2);
    assert!(answer.headers().contains_key("strict-transport-security"));
    let answer = https_get(address, &first, false).await.unwrap();
    assert_eq!(answer.version(), http::Version::HTTP_11);

    let second = write_pair();
    certificate.reload().unwrap();
    assert!(https_get(address, &second, true).await.is_ok());
    assert!(https_get(address, &first, true).await.is_err());

    std::fs::write(&key_file, "no key").unwrap();
    assert!(certificate.reload().is_err());
    assert!(https_get(address, &second, true).await.is_ok());
}

pub(super) async fn https_get(
    address: SocketAddr,
    trusted: &rustls::pki_types::CertificateDer<'static>,
    http2: bool,
) -> Result<Response<hyper::body::Incoming>, hyper_util::client::legacy::Error> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let builder = hyper_rustls::HttpsConnectorBuilder::new()
        .with_tls_config(tls)
        .https_only();
    let connector = if http2 {
        builder.enable_all_versions().build()
    } else {
        builder.enable_http1().build()
    };
    let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).build(connector);
    let url = format!("https://localhost:{}/a", address.port());
    client.get(url.parse().unwrap()).await
}
