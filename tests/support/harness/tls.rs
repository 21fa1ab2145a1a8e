//! TLS in front of servers that speak plain HTTP, with certificates of the tests' own.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio_rustls::TlsAcceptor;

/// Takes connections for all `names`, with a certificate that is written to the file `authority` for those who are to trust it.
pub fn tls_acceptor(names: &[&str], authority: &Path) -> TlsAcceptor {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let made = rcgen::generate_simple_self_signed(names).unwrap();
    std::fs::write(authority, made.cert.pem()).unwrap();
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], PrivateKeyDer::Pkcs8(key))
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

/// A listener for TLS that leads each connection to a server without TLS.
pub struct TlsFront {
    address: SocketAddr,
    folder: tempfile::TempDir,
    _runtime: Runtime,
}

impl TlsFront {
    /// Listens for `localhost`, before the server at `server`, a host and a port.
    pub fn before(server: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let acceptor = tls_acceptor(&["localhost"], &folder.path().join(AUTHORITY));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let server = server.to_owned();
        runtime.spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                // A connection that fails is the client's to notice.
                tokio::spawn(lead(client, acceptor.clone(), server.clone()));
            }
        });
        Self {
            address,
            folder,
            _runtime: runtime,
        }
    }

    /// The address of the front, as a client that trusts its authority names it.
    pub fn url(&self) -> String {
        format!("https://localhost:{}", self.address.port())
    }

    /// The PEM file of the certificate that a client has to trust.
    pub fn authority(&self) -> PathBuf {
        self.folder.path().join(AUTHORITY)
    }
}

const AUTHORITY: &str = "authority.pem";

async fn lead(client: TcpStream, acceptor: TlsAcceptor, server: String) -> std::io::Result<()> {
    let mut client = acceptor.accept(client).await?;
    let mut server = TcpStream::connect(server).await?;
    copy_bidirectional(&mut client, &mut server).await?;
    Ok(())
}
