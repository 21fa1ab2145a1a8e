//! How commands come to a server: its address, whom to believe that it is the one, and the token.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;
use gatehouse::outbound::client_configuration;
use http::header;
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use url::Url;
use zeroize::Zeroizing;

use super::client::Server;

/// Where the token is looked for, in this order; the latter two are what other clients of the server use.
pub(in crate::commands) const TOKEN_VARIABLES: [&str; 3] =
    ["GATEHOUSE_TOKEN", "BAO_TOKEN", "VAULT_TOKEN"];

/// Most bytes of a file that holds a token.
const MAXIMUM_TOKEN_FILE: u64 = 8 << 10;

/// Where the server is that is to be brought into the described state.
#[derive(Debug, Args)]
pub(in crate::commands) struct ServerArguments {
    /// Where the server is
    #[arg(
        long,
        value_name = "URL",
        env = "GATEHOUSE_ADDR",
        default_value = "http://127.0.0.1:8200"
    )]
    address: Url,
    /// Certificates, in PEM, of authorities that are believed beside the system's
    #[arg(long, value_name = "FILE", env = "GATEHOUSE_CA_FILE")]
    ca_file: Option<PathBuf>,
    /// File with the token; without it, the token is read from GATEHOUSE_TOKEN, BAO_TOKEN or VAULT_TOKEN
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

impl ServerArguments {
    /// The server, with the token that its user has.
    ///
    /// # Errors
    ///
    /// When there is no token, or a file cannot be used.
    pub(in crate::commands) fn connect(&self) -> Result<Server> {
        Connection {
            address: &self.address,
            ca_file: self.ca_file.as_deref(),
            token_file: self.token_file.as_deref(),
            token_variables: &TOKEN_VARIABLES,
            namespace: None,
        }
        .open()
    }
}

/// How a server is reached.
pub(in crate::commands) struct Connection<'a> {
    /// Scheme, host and port, and a path before that of the API, if there is one.
    pub(in crate::commands) address: &'a Url,
    pub(in crate::commands) ca_file: Option<&'a Path>,
    pub(in crate::commands) token_file: Option<&'a Path>,
    /// Where the token is looked for without a file, in this order.
    pub(in crate::commands) token_variables: &'a [&'a str],
    /// The namespace of every request, where the server has such.
    pub(in crate::commands) namespace: Option<&'a str>,
}

impl Connection<'_> {
    /// The server at the other end. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// When there is no token, or a file cannot be used.
    pub(in crate::commands) fn open(&self) -> Result<Server> {
        ensure!(
            matches!(self.address.scheme(), "http" | "https")
                && self.address.has_host()
                && self.address.username().is_empty()
                && self.address.password().is_none(),
            "the address of a server begins with http:// or https:// and holds no user"
        );
        let token = self.token()?;
        let header_value = |text: &str| {
            let value = header::HeaderValue::from_str(text.trim());
            value.map(|mut value| {
                value.set_sensitive(true);
                value
            })
        };
        let token =
            header_value(&token).context("the token contains characters that no token can have")?;
        let namespace = self.namespace.map(header_value).transpose();
        let namespace =
            namespace.context("the namespace contains characters that no namespace can have")?;
        let trust = client_configuration("--ca-file", self.ca_file)?;
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(trust)
            .https_or_http()
            .enable_http1()
            .build();
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Ok(Server::at(self.address.clone(), client, token, namespace))
    }

    fn token(&self) -> Result<Zeroizing<String>> {
        if let Some(path) = self.token_file {
            let text = read_bounded(path, MAXIMUM_TOKEN_FILE)?;
            let text = Zeroizing::new(text.trim().to_owned());
            ensure!(!text.is_empty(), "{} holds no token", path.display());
            return Ok(text);
        }
        let names = self.token_variables;
        let token = names
            .iter()
            .filter_map(|name| std::env::var(name).ok())
            .find(|token| !token.trim().is_empty());
        let token = token.with_context(|| {
            format!(
                "no token for {}: set {}, or name a file that holds it",
                self.address,
                names.join(" or ")
            )
        })?;
        Ok(Zeroizing::new(token))
    }
}

/// The text of a file that may hold a secret.
///
/// # Errors
///
/// When it cannot be read, is longer than `maximum` bytes, or is not UTF-8. The error shows nothing of it.
pub(super) fn read_bounded(path: &Path, maximum: u64) -> Result<Zeroizing<String>> {
    use std::io::Read as _;

    let named = || format!("cannot read {}", path.display());
    let file = std::fs::File::open(path).with_context(named)?;
    let mut text = Zeroizing::new(String::new());
    let read = file
        .take(maximum.saturating_add(1))
        .read_to_string(&mut text);
    let read = read.with_context(named)?;
    ensure!(
        u64::try_from(read).is_ok_and(|read| read <= maximum),
        "{} is longer than {maximum} bytes",
        path.display()
    );
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_SUCH_VARIABLE: &str = "GATEHOUSE_TEST_NO_SUCH_VARIABLE";

    /// Why no connection without a token is made to this address.
    fn refusal(address: &str) -> String {
        let connection = Connection {
            address: &address.parse().unwrap(),
            ca_file: None,
            token_file: None,
            token_variables: &[NO_SUCH_VARIABLE],
            namespace: None,
        };
        connection.open().err().unwrap().to_string()
    }

    #[test]
    fn an_address_names_no_user_and_a_token_is_needed() {
        for address in ["ftp://host/", "https://user:secret@host/"] {
            let text = refusal(address);
            assert!(text.contains("http://"), "{text}");
            assert!(!text.contains("secret"), "{text}");
        }
        let text = refusal("http://host");
        assert!(text.contains(NO_SUCH_VARIABLE), "{text}");
    }

    #[test]
    fn a_file_longer_than_allowed_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        std::fs::write(&path, "1234").unwrap();
        assert_eq!(*read_bounded(&path, 4).unwrap(), "1234");
        let refused = read_bounded(&path, 3).unwrap_err().to_string();
        assert!(refused.contains("longer than 3 bytes"), "{refused}");
    }
}
