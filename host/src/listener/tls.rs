//! TLS for clients (SEC-H7): versions 1.2 and 1.3, and a certificate that can be replaced while the server runs.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use x509_cert::der::Decode as _;

/// How often the files are looked at.
const FILE_CHECK_PERIOD: Duration = Duration::from_secs(30);

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// The certificate file is unreadable or has no certificate.
    #[error("listener.tls_cert_file: {path}: {reason}")]
    Certificate {
        /// The file.
        path: PathBuf,
        /// The flaw.
        reason: String,
    },
    /// The key file is unreadable or has no private key. Nothing of its content is told.
    #[error("listener.tls_key_file: {path}: {reason}")]
    Key {
        /// The file.
        path: PathBuf,
        /// The flaw.
        reason: String,
    },
    /// Certificate and key do not fit together, or their kind is not supported.
    #[error("listener.tls_cert_file and listener.tls_key_file cannot be used together: {0}")]
    Pair(#[from] rustls::Error),
}

/// The server's certificate, read again on demand.
#[derive(Debug)]
pub struct Certificate {
    certificate_file: PathBuf,
    key_file: PathBuf,
    provider: Arc<CryptoProvider>,
    current: RwLock<Arc<CertifiedKey>>,
}

impl Certificate {
    /// Reads the PEM files.
    ///
    /// # Errors
    ///
    /// When they cannot be used.
    pub fn read(certificate_file: &Path, key_file: &Path) -> Result<Arc<Self>, CertificateError> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let current = load(certificate_file, key_file, &provider)?;
        Ok(Arc::new(Self {
            certificate_file: certificate_file.to_owned(),
            key_file: key_file.to_owned(),
            provider,
            current: RwLock::new(Arc::new(current)),
        }))
    }

    /// Reads the files again; connections from now on see the new certificate.
    ///
    /// # Errors
    ///
    /// When they cannot be used; the old certificate stays.
    pub fn reload(&self) -> Result<(), CertificateError> {
        let fresh = load(&self.certificate_file, &self.key_file, &self.provider)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(fresh);
        Ok(())
    }

    /// When the certificate in use ends, in seconds since 1970; `None` where it does not tell.
    pub(crate) fn ends_at(&self) -> Option<u64> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        let leaf = x509_cert::Certificate::from_der(current.end_entity_cert().ok()?).ok()?;
        let end = leaf.tbs_certificate().validity().not_after;
        Some(end.to_unix_duration().as_secs())
    }

    /// Reads the files again whenever one of them has changed.
    pub(super) async fn follow_files(self: Arc<Self>) -> Infallible {
        let mut seen = self.file_times();
        loop {
            tokio::time::sleep(FILE_CHECK_PERIOD).await;
            let now = self.file_times();
            if now == seen {
                continue;
            }
            seen = now;
            match self.reload() {
                Ok(()) => tracing::info!("the TLS certificate was read again"),
                Err(error) => tracing::error!("the old TLS certificate stays in use: {error}"),
            }
        }
    }

    fn file_times(&self) -> [Option<SystemTime>; 2] {
        [&self.certificate_file, &self.key_file].map(|file| {
            std::fs::metadata(file)
                .and_then(|metadata| metadata.modified())
                .ok()
        })
    }

    /// The settings of the handshake, which offers HTTP/2 and HTTP/1.1.
    pub(super) fn server_configuration(self: &Arc<Self>) -> Result<ServerConfig, CertificateError> {
        let resolver: Arc<dyn ResolvesServerCert> = Arc::<Self>::clone(self);
        let mut configuration = ServerConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(resolver);
        configuration.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(configuration)
    }
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(
            &self.current.read().unwrap_or_else(PoisonError::into_inner),
        ))
    }
}

fn load(
    certificate_file: &Path,
    key_file: &Path,
    provider: &CryptoProvider,
) -> Result<CertifiedKey, CertificateError> {
    let unusable = |reason: String| CertificateError::Certificate {
        path: certificate_file.to_owned(),
        reason,
    };
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(certificate_file)
        .and_then(Iterator::collect)
        .map_err(|error| unusable(error.to_string()))?;
    if chain.is_empty() {
        return Err(unusable("it has no CERTIFICATE section".to_owned()));
    }
    let key = PrivateKeyDer::from_pem_file(key_file).map_err(|error| CertificateError::Key {
        path: key_file.to_owned(),
        reason: error.to_string(),
    })?;
    Ok(CertifiedKey::from_der(chain, key, provider)?)
}
