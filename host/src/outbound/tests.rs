//! The outgoing client against servers on loopback.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::{Request, Response};
use http_body_util::{BodyExt, Empty, Full};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody};

use super::*;
use crate::settings::Settings;

fn outbound(settings: &str) -> Outbound {
    let text = format!("storage.type = \"memory\"\n{settings}");
    let settings = Settings::from_text(&text, Vec::new(), Vec::new()).unwrap();
    Outbound::new(&settings.google, &settings.limits).unwrap()
}

/// Settings that open loopback, with more keys for `[google]` and `[limits]`.
fn open_loopback(google: &str, limits: &str) -> Outbound {
    outbound(&format!(
        "[google]\nallow_http_loopback = true\n{google}\n[limits]\n{limits}"
    ))
}

fn get(url: &str) -> Request<WasiBody> {
    Request::get(url)
        .body(Empty::new().map_err(|never| match never {}).boxed_unsync())
        .unwrap()
}

fn post(url: &str, body: &'static str) -> Request<WasiBody> {
    Request::post(url)
        .body(
            Full::from(body)
                .map_err(|never| match never {})
                .boxed_unsync(),
        )
        .unwrap()
}

async fn text(answer: Response<WasiBody>) -> String {
    let bytes = answer.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A server whose connections are each given to `serve`; it counts them.
async fn server<F>(
    serve: impl Fn(TcpStream) -> F + Send + 'static,
) -> (SocketAddr, Arc<AtomicUsize>)
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&connections);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            counter.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(serve(stream));
        }
    });
    (address, connections)
}

/// Answers every request of a connection with `answer`, and with the request itself as the body where it is empty.
async fn answering(answer: &'static str) -> (SocketAddr, Arc<AtomicUsize>) {
    server(move |mut stream| async move {
        let mut request = vec![0; 4096];
        while let Ok(read @ 1..) = stream.read(&mut request).await {
            let whole = if answer.is_empty() {
                let request = String::from_utf8_lossy(&request[..read]);
                format!("HTTP/1.1 200 OK\r\ncontent-length: {read}\r\n\r\n{request}")
            } else {
                answer.to_owned()
            };
            if stream.write_all(whole.as_bytes()).await.is_err() {
                return;
            }
        }
    })
    .await
}

#[tokio::test]
async fn n1_only_hosts_on_the_list_are_called() {
    let (address, connections) = answering("").await;
    let outbound = open_loopback("", "");
    for url in [
        "https://example.com/",
        "https://googleapis.com.example.com/",
        "https://www.googleapis.com:8443/",
        "https://user@www.googleapis.com/",
        "http://www.googleapis.com/",
        "http://example.com/",
        "http://192.0.2.1/",
    ] {
        let refused = outbound.send(get(url), None).await;
        assert!(matches!(refused, Err(Error::HttpRequestDenied)), "{url}");
    }
    assert!(
        outbound
            .send(get(&format!("http://{address}/")), None)
            .await
            .is_ok()
    );
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}

#[test]
fn g15_n1_hosts_that_anybody_can_write_to_are_not_called_unless_the_operator_names_them() {
    let policy = |google: &str| {
        let text = format!("storage.type = \"memory\"\n[google]\n{google}");
        let settings = Settings::from_text(&text, Vec::new(), Vec::new()).unwrap();
        Policy::new(&settings.google)
    };
    let admits = |google: &str, url: &str| policy(google).admit(&url.parse().unwrap()).is_ok();
    for url in [
        "https://www.googleapis.com/oauth2/v1/certs",
        "https://oauth2.googleapis.com/token",
        "https://restricted.googleapis.com/oauth2/v1/certs",
        "https://iam.europe-west3.rep.googleapis.com/v1/",
        "https://compute-vpcsc1.p.googleapis.com/compute/v1/",
    ] {
        assert!(admits("", url), "{url}");
    }
    // The address behind this name is a private one by its nature.
    let url = "https://compute-vpcsc1.p.googleapis.com/compute/v1/";
    assert_eq!(
        policy("").admit(&url.parse().unwrap()),
        Ok(super::policy::Grant::Operator)
    );
    for url in [
        "https://storage.googleapis.com/bucket/oauth2/v1/certs",
        "https://bucket.storage.googleapis.com/oauth2/v1/certs",
        "https://firebasestorage.googleapis.com/v0/b/bucket/o/x",
        "https://accounts.google.com/",
    ] {
        assert!(!admits("", url), "{url}");
        let host = url.split('/').nth(2).unwrap();
        assert!(
            admits(&format!("allowed_hosts = [\"{host}\"]"), url),
            "{url}"
        );
    }
}

#[tokio::test]
async fn n2_loopback_is_refused_in_every_spelling_unless_the_setting_opens_it() {
    let (address, connections) = answering("").await;
    let port = address.port();
    let outbound = outbound("[google]\nallowed_hosts = [\"localtest.me\"]");
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
    ] {
        let refused = outbound
            .send(get(&format!("http://{host}:{port}/")), None)
            .await;
        assert!(matches!(refused, Err(Error::HttpRequestDenied)), "{host}");
    }
    assert_eq!(connections.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn n2_metadata_and_link_local_addresses_are_refused_whatever_is_allowed() {
    let outbound = open_loopback(
        "metadata_host = \"none\"\nallowed_hosts = [\"http://169.254.169.254\", \"169.254.169.254\", \"metadata.google.internal\", \"http://metadata.google.internal\"]",
        "",
    );
    for url in [
        "http://169.254.169.254/computeMetadata/v1/",
        "https://169.254.169.254/",
        "https://2852039166/",
        "https://[::ffff:169.254.169.254]/",
        "https://[fe80::1]/",
        "https://[fd00:ec2::254]/",
        "http://metadata.google.internal/computeMetadata/v1/",
        "https://metadata.google.internal/",
        "https://METADATA.google.internal./",
        "https://metadata.goog/",
    ] {
        let refused = outbound.send(get(url), None).await;
        assert!(matches!(refused, Err(Error::HttpRequestDenied)), "{url}");
    }
}

#[test]
fn n2_the_metadata_server_that_the_operator_names_is_open_for_metadata_alone() {
    let google = "[google]\nmetadata_host = \"169.254.169.254\"";
    let text = format!("storage.type = \"memory\"\n{google}");
    let settings = Settings::from_text(&text, Vec::new(), Vec::new()).unwrap();
    let policy = Policy::new(&settings.google);
    let admits = |url: &str| policy.admit(&url.parse().unwrap()).is_ok();
    assert!(admits(
        "http://169.254.169.254/computeMetadata/v1/instance/service-accounts/default/token"
    ));
    assert!(!admits("http://169.254.169.254/latest/meta-data"));
    assert!(!admits("https://169.254.169.254/computeMetadata/v1/"));
    assert!(!admits("http://169.254.169.253/computeMetadata/v1/"));
}

#[test]
fn n2_the_address_of_googles_metadata_server_is_open_unless_it_is_switched_off() {
    let token = "http://169.254.169.254/computeMetadata/v1/instance/service-accounts/default/token";
    for (google, is_open) in [("", true), ("metadata_host = \"none\"", false)] {
        let text = format!("storage.type = \"memory\"\n[google]\n{google}");
        let settings = Settings::from_text(&text, Vec::new(), Vec::new()).unwrap();
        let policy = Policy::new(&settings.google);
        assert_eq!(policy.admit(&token.parse().unwrap()).is_ok(), is_open);
    }
}

#[test]
fn n2_addresses_behind_names_follow_who_named_the_host() {
    use super::policy::Grant;
    let text = "storage.type = \"memory\"\n";
    let settings = Settings::from_text(text, Vec::new(), Vec::new()).unwrap();
    let policy = Policy::new(&settings.google);
    let admits = |grant, address: &str| policy.admit_address(grant, address.parse().unwrap());
    for address in ["8.8.8.8", "2607:f8b0::1"] {
        assert_eq!(admits(Grant::Google, address), Ok(()), "{address}");
    }
    for address in [
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "100.64.0.1",
        "fd12::1",
        "::ffff:10.0.0.1",
        "64:ff9b::a00:1",
    ] {
        assert_eq!(
            admits(Grant::Google, address),
            Err(DestinationError::PrivateNetwork),
            "{address}"
        );
        assert_eq!(admits(Grant::Operator, address), Ok(()), "{address}");
        assert_eq!(
            admits(Grant::Loopback, address),
            Err(DestinationError::PlainHttp),
            "{address}"
        );
    }
    for address in [
        "169.254.169.254",
        "fe80::1",
        "fd00:ec2::254",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::",
        "64:ff9b:1:a9fe:a9:fe00::",
        "64:ff9b:1:ffff:ffff:ffff:ffff:ffff",
        "fd20:ce::254",
        "100.100.100.200",
    ] {
        assert_eq!(
            admits(Grant::Operator, address),
            Err(DestinationError::Metadata),
            "{address}"
        );
    }
    for address in ["127.0.0.1", "::1", "127.255.0.1", "2002:7f00:1::"] {
        assert_eq!(
            admits(Grant::Operator, address),
            Err(DestinationError::Loopback),
            "{address}"
        );
        assert_eq!(
            admits(Grant::Google, address),
            Err(DestinationError::Loopback),
            "{address}"
        );
    }
    for address in ["0.0.0.0", "224.0.0.1", "255.255.255.255", "::", "ff02::1"] {
        assert_eq!(
            admits(Grant::Operator, address),
            Err(DestinationError::NotAHost),
            "{address}"
        );
        assert_eq!(
            admits(Grant::Loopback, address),
            Err(DestinationError::NotAHost),
            "{address}"
        );
    }
}

#[tokio::test]
async fn n2_a_permitted_name_that_leads_to_loopback_is_refused_when_connecting() {
    // Every system resolves its own name for loopback; by another spelling it passes the first gate only.
    let outbound = outbound("[google]\nallowed_hosts = [\"ip6-localhost\", \"localhost6\"]");
    for host in ["ip6-localhost", "localhost6"] {
        if tokio::net::lookup_host((host, 0)).await.is_ok() {
            let refused = outbound.send(get(&format!("https://{host}/")), None).await;
            assert!(
                matches!(refused, Err(Error::DestinationIpProhibited)),
                "{host}: {:?}",
                refused.err()
            );
        }
    }
}

#[tokio::test]
async fn n3_redirects_are_handed_out_and_not_followed() {
    let (address, connections) = answering(
        "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n",
    )
    .await;
    let answer = open_loopback("", "")
        .send(get(&format!("http://{address}/")), None)
        .await
        .unwrap();
    assert_eq!(answer.status(), 302);
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn n4_tls_to_an_unknown_authority_is_refused_and_ca_file_opens_it() {
    let pair = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::try_from(pair.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let tls = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![pair.cert.der().clone()], key)
        .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(tls));
    let (address, _) = server(move |stream| {
        let acceptor = acceptor.clone();
        async move {
            if let Ok(mut stream) = acceptor.accept(stream).await {
                let _ = stream.read(&mut [0; 4096]).await;
                let _ = stream
                    .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
                    .await;
                let _ = stream.shutdown().await;
            }
        }
    })
    .await;

    let url = format!("https://localhost:{}/", address.port());
    let refused = open_loopback("", "").send(get(&url), None).await;
    assert!(
        matches!(refused, Err(Error::TlsCertificateError)),
        "{:?}",
        refused.err()
    );

    let folder = tempfile::tempdir().unwrap();
    let ca_file = folder.path().join("ca.pem");
    std::fs::write(&ca_file, pair.cert.pem()).unwrap();
    let trusting = open_loopback(&format!("ca_file = {ca_file:?}"), "");
    assert_eq!(
        text(trusting.send(get(&url), None).await.unwrap()).await,
        "ok"
    );

    let wrong_name = format!("https://127.0.0.1:{}/", address.port());
    assert!(trusting.send(get(&wrong_name), None).await.is_err());
}

#[tokio::test]
async fn n5_an_answer_over_the_limit_is_refused_however_it_is_framed() {
    let limits = "outbound_response_bytes = 8";
    let (announced, _) = answering("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n123456789").await;
    let (chunked, _) =
        answering("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n12345\r\n5\r\n12345\r\n0\r\n\r\n").await;
    let (within, _) = answering("HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n12345678").await;
    let outbound = open_loopback("", limits);
    for address in [announced, chunked] {
        let refused = outbound
            .send(get(&format!("http://{address}/")), None)
            .await;
        assert!(
            matches!(refused, Err(Error::HttpResponseBodySize(Some(8)))),
            "{:?}",
            refused.err()
        );
    }
    let answer = outbound
        .send(get(&format!("http://{within}/")), None)
        .await
        .unwrap();
    assert_eq!(text(answer).await, "12345678");
}

#[tokio::test]
async fn n5_silent_and_slow_servers_run_into_the_timeout() {
    let (silent, _) = server(|mut stream| async move {
        let _ = stream.read(&mut [0; 4096]).await;
        std::future::pending::<()>().await;
    })
    .await;
    let (slow, _) = server(|mut stream| async move {
        let _ = stream.read(&mut [0; 4096]).await;
        let _ = stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n123")
            .await;
        std::future::pending::<()>().await;
    })
    .await;
    let outbound = open_loopback("", "outbound_timeout = \"200ms\"");
    let refused = outbound.send(get(&format!("http://{silent}/")), None).await;
    assert!(
        matches!(refused, Err(Error::ConnectionReadTimeout)),
        "{:?}",
        refused.err()
    );
    let refused = outbound.send(get(&format!("http://{slow}/")), None).await;
    assert!(
        matches!(refused, Err(Error::HttpResponseTimeout)),
        "{:?}",
        refused.err()
    );
}

#[tokio::test]
async fn n5_a_component_can_wait_less_and_a_zero_timeout_does_no_harm() {
    let (silent, _) = server(|mut stream| async move {
        let _ = stream.read(&mut [0; 4096]).await;
        std::future::pending::<()>().await;
    })
    .await;
    let outbound = open_loopback("", "");
    for timeout in [Duration::ZERO, Duration::from_millis(50)] {
        let options = RequestOptions {
            first_byte_timeout: Some(timeout),
            connect_timeout: Some(timeout),
            between_bytes_timeout: Some(timeout),
        };
        let refused = outbound
            .send(get(&format!("http://{silent}/")), Some(options))
            .await;
        assert!(refused.is_err());
    }
}

#[tokio::test]
async fn connections_are_used_again() {
    let (address, connections) = answering("").await;
    let outbound = open_loopback("user_agent = \"Tester/1\"", "");
    let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
    // Three of four connections were there before.
    for requests in 1.. {
        let request = post(&format!("http://{address}/token"), "grant_type=x");
        let echoed = text(outbound.send(request, None).await.unwrap()).await;
        assert!(echoed.starts_with("POST /token HTTP/1.1\r\n"), "{echoed}");
        assert!(echoed.contains("user-agent: Tester/1\r\n"), "{echoed}");
        assert!(echoed.contains(&format!("host: {address}\r\n")), "{echoed}");
        let opened = connections.load(Ordering::SeqCst);
        if requests >= 20 && opened <= requests / 4 {
            break;
        }
        let now = tokio::time::Instant::now();
        assert!(now < deadline, "{opened} connections");
        // The pool takes a connection back in a task of its own, which may come after the next request.
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn calls_in_flight_to_one_host_are_limited() {
    let (silent, connections) = server(|mut stream| async move {
        let _ = stream.read(&mut [0; 4096]).await;
        std::future::pending::<()>().await;
    })
    .await;
    let (well, _) = answering("").await;
    let outbound = open_loopback("", "outbound_calls_per_host = 2");
    let url = format!("http://{silent}/");
    let calls = futures_util::future::join_all((0..4).map(|_| outbound.send(get(&url), None)));
    // Calls that begin once all the others have.
    let later = async {
        while connections.load(Ordering::SeqCst) < 2 {
            tokio::task::yield_now().await;
        }
        for _ in 0..10 {
            let answer = outbound.send(get(&format!("http://{well}/")), None).await;
            text(answer.unwrap()).await;
        }
    };
    tokio::select! {
        biased;
        _ = calls => panic!("a silent server has answered"),
        () = later => {}
    }
    assert_eq!(connections.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_refused_connection_is_told_apart_from_a_denied_call() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let refused = open_loopback("", "")
        .send(get(&format!("http://{address}/")), None)
        .await;
    assert!(
        matches!(refused, Err(Error::ConnectionRefused)),
        "{:?}",
        refused.err()
    );
}

/// Open loopback under a clock that stands until it is moved on; the seconds it has moved.
fn with_standing_clock() -> (Outbound, Arc<AtomicUsize>) {
    let text = "storage.type = \"memory\"\ngoogle.allow_http_loopback = true";
    let settings = Settings::from_text(text, Vec::new(), Vec::new()).unwrap();
    let start = tokio::time::Instant::now();
    let seconds = Arc::new(AtomicUsize::new(0));
    let moved = Arc::clone(&seconds);
    let now = move || start + Duration::from_secs(1) * moved.load(Ordering::SeqCst) as u32;
    let outbound = Outbound::with_clock(&settings.google, &settings.limits, Arc::new(now));
    (outbound.unwrap(), seconds)
}

#[tokio::test]
async fn n7_a_host_that_fails_is_left_alone_but_for_a_probe_and_others_are_not() {
    for failure in [
        "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 429 Too Many Requests\r\ncontent-length: 0\r\n\r\n",
        "not HTTP at all\r\n\r\n",
    ] {
        let (failing, _) = answering(failure).await;
        let (well, _) = answering("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n").await;
        let (outbound, seconds) = with_standing_clock();
        let call = |address: SocketAddr| outbound.send(get(&format!("http://{address}/")), None);
        let is_shut = async || matches!(call(failing).await, Err(Error::ConnectionRefused));
        for _ in 0..20 {
            assert!(!is_shut().await);
            assert_eq!(call(well).await.unwrap().status(), 404);
        }
        assert!(is_shut().await);
        assert_eq!(call(well).await.unwrap().status(), 404);
        seconds.store(1, Ordering::SeqCst);
        assert!(!is_shut().await, "a probe");
        assert!(is_shut().await, "no second one");
    }
}

#[tokio::test]
async fn n7_calls_that_are_denied_say_nothing_about_a_host() {
    let (address, _) = answering("").await;
    let outbound = open_loopback("", "");
    for _ in 0..40 {
        let denied = outbound.send(get(&format!("ftp://{address}/")), None).await;
        assert!(matches!(denied, Err(Error::HttpRequestDenied)));
    }
    let answer = outbound.send(get(&format!("http://{address}/")), None);
    assert!(answer.await.is_ok());
}

#[test]
fn t6_the_date_of_an_answer_is_read_and_nonsense_is_no_date() {
    use super::client::date_of;
    let dated = |date: &'static str| {
        let value = http::HeaderValue::from_static(date);
        date_of(&http::HeaderMap::from_iter([(http::header::DATE, value)]))
    };
    let written = dated("Sun, 06 Nov 1994 08:49:37 GMT");
    assert_eq!(written, Some(784_111_777_000));
    assert_eq!(dated("soon"), None);
    assert_eq!(dated("Wed, 31 Dec 1969 23:59:59 GMT"), None);
    assert_eq!(date_of(&http::HeaderMap::new()), None);
}
