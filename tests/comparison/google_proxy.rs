//! The proxy that leads a reference to the fake Google: it knows Google by its names alone, whatever its mount is configured with.

use std::net::SocketAddr;

use gatehouse_fake_google::FakeGoogle;
use gatehouse_tests::TlsListener;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, copy_bidirectional};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

/// The names by which the method of Vault asks Google.
const NAMES: [&str; 5] = [
    "oauth2.googleapis.com",
    "www.googleapis.com",
    "iam.googleapis.com",
    "compute.googleapis.com",
    "cloudresourcemanager.googleapis.com",
];

/// Starts a proxy for TLS whose every connection ends at the fake Google, with a certificate of its own.
pub fn google_proxy(google: &FakeGoogle) -> TlsListener {
    google.set_proxied(true);
    let google = google.address();
    TlsListener::start(&NAMES, move |client, acceptor| {
        lead(client, acceptor, google)
    })
}

/// Answers one `CONNECT`, and leads what comes through it to the fake Google without TLS.
async fn lead(client: TcpStream, acceptor: TlsAcceptor, google: SocketAddr) -> std::io::Result<()> {
    let mut client = BufReader::new(client);
    let mut first = String::new();
    client.read_line(&mut first).await?;
    let mut line = String::new();
    while client.read_line(&mut line).await? > 2 {
        line.clear();
    }
    let name = first
        .strip_prefix("CONNECT ")
        .and_then(|rest| rest.split_once(":443 "));
    if !name.is_some_and(|(name, _)| NAMES.contains(&name)) {
        return client.write_all(b"HTTP/1.1 502 Bad Gateway\r\n\r\n").await;
    }
    client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
    let mut client = acceptor.accept(client).await?;
    let mut google = TcpStream::connect(google).await?;
    copy_bidirectional(&mut client, &mut google).await?;
    Ok(())
}
