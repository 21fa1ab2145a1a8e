//! The proxy that leads a reference to the fake Google: it knows Google by its names alone, whatever its mount is configured with.

use std::net::SocketAddr;
use std::path::PathBuf;

use gatehouse_fake_google::FakeGoogle;
use gatehouse_tests::tls_acceptor;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio_rustls::TlsAcceptor;

/// The names by which the method of Vault asks Google.
const NAMES: [&str; 5] = [
    "oauth2.googleapis.com",
    "www.googleapis.com",
    "iam.googleapis.com",
    "compute.googleapis.com",
    "cloudresourcemanager.googleapis.com",
];

/// A proxy for TLS whose every connection ends at the fake Google, with a certificate of its own.
pub struct GoogleProxy {
    address: SocketAddr,
    folder: tempfile::TempDir,
    _runtime: Runtime,
}

impl GoogleProxy {
    pub fn start(google: &FakeGoogle) -> Self {
        google.set_proxied(true);
        let folder = tempfile::tempdir().unwrap();
        let acceptor = tls_acceptor(&NAMES, &folder.path().join("authority.pem"));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let google = google.address();
        runtime.spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                // A connection that fails is the caller's to notice.
                tokio::spawn(lead(client, acceptor.clone(), google));
            }
        });
        Self {
            address,
            folder,
            _runtime: runtime,
        }
    }

    /// For `HTTPS_PROXY`.
    pub fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    /// For `SSL_CERT_FILE`.
    pub fn authority(&self) -> PathBuf {
        self.folder.path().join("authority.pem")
    }
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
