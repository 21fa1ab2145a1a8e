//! The certificate authorities that are trusted on outgoing connections.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

/// Why the trusted authorities could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The file with further authorities cannot be used.
    #[error("{setting}: {path} holds no usable certificate: {reason}")]
    CaFile {
        /// The setting that names the file.
        setting: &'static str,
        /// The file.
        path: PathBuf,
        /// The flaw.
        reason: String,
    },
    /// The TLS library refused its own settings.
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] rustls::Error),
}

/// TLS 1.2 and 1.3, verified against the operating system's authorities and those of `ca_file` (SEC-N4), which the setting called `setting`
/// names.
///
/// # Errors
///
/// When the file cannot be used or TLS cannot be set up.
pub fn client_configuration(
    setting: &'static str,
    ca_file: Option<&Path>,
) -> Result<ClientConfig, TrustError> {
    let mut roots = RootCertStore::empty();
    let native = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(native.certs);
    if let Some(path) = ca_file {
        add_file(&mut roots, setting, path)?;
    }
    if roots.is_empty() {
        tracing::warn!(
            "the operating system has no certificate authorities; no https call can succeed without {setting}"
        );
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    Ok(ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth())
}

fn add_file(
    roots: &mut RootCertStore,
    setting: &'static str,
    path: &Path,
) -> Result<(), TrustError> {
    let unusable = |reason: String| TrustError::CaFile {
        setting,
        path: path.to_owned(),
        reason,
    };
    let certificates: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(|error| unusable(error.to_string()))?;
    if certificates.is_empty() {
        return Err(unusable("it has no CERTIFICATE section".to_owned()));
    }
    for certificate in certificates {
        roots
            .add(certificate)
            .map_err(|error| unusable(error.to_string()))?;
    }
    Ok(())
}
