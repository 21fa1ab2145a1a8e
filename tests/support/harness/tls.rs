//! Listeners for TLS on loopback, with certificates of the tests' own.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio_rustls::TlsAcceptor;

const AUTHORITY: &str = "authority.pem";

/// A listener that ends when it is dropped.
pub struct TlsListener {
    address: SocketAddr,
    folder: tempfile::TempDir,
    _runtime: Runtime,
}

impl TlsListener {
    /// Gives each connection to `handle`, with the acceptor of a certificate for `names`.
    ///
    /// # Panics
    ///
    /// When nothing can be listened to on loopback.
    pub fn start<F>(
        names: &[&str],
        handle: impl Fn(TcpStream, TlsAcceptor) -> F + Send + 'static,
    ) -> Self
    where
        F: Future<Output = io::Result<()>> + Send + 'static,
    {
        let folder = tempfile::tempdir().unwrap();
        let acceptor = acceptor(names, &folder.path().join(AUTHORITY));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        runtime.spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                // The client notices a connection that fails.
                tokio::spawn(handle(client, acceptor.clone()));
            }
        });
        Self {
            address,
            folder,
            _runtime: runtime,
        }
    }

    /// Forwards each connection for `localhost` to the server at `server`, a host and a port, without TLS.
    ///
    /// # Panics
    ///
    /// As [`Self::start`].
    pub fn before(server: &str) -> Self {
        let server = server.to_owned();
        Self::start(&["localhost"], move |client, acceptor| {
            let server = server.clone();
            async move {
                let mut client = acceptor.accept(client).await?;
                let mut server = TcpStream::connect(server).await?;
                copy_bidirectional(&mut client, &mut server).await?;
                Ok(())
            }
        })
    }

    /// The address that it listens at.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The PEM file of the certificate that clients have to trust.
    pub fn authority(&self) -> PathBuf {
        self.folder.path().join(AUTHORITY)
    }
}

/// Takes connections for all names, with a certificate that is written to a file for the clients that must trust it.
fn acceptor(names: &[&str], authority: &Path) -> TlsAcceptor {
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
