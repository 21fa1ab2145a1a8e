//! The way from a command to a running server: its address, the authorities that vouch for its identity, and the token.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use bytes::Bytes;
use clap::Args;
use gatehouse::outbound::client_configuration;
use http::{HeaderValue, Request, Response};
use http_body::Body;
use http_body_util::{BodyExt, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use url::Url;
use zeroize::Zeroizing;

use super::bounded_file::read_bounded;

/// The environment variable with the address of the server.
const ADDRESS_VARIABLE: &str = "GATEHOUSE_ADDR";

/// The environment variable with the name of the file with certificate authorities.
const CA_FILE_VARIABLE: &str = "GATEHOUSE_CACERT";

/// The environment variables that may hold the token, in the order in which they are read; other clients of the server use the latter two.
pub(super) const TOKEN_VARIABLES: [&str; 3] = ["GATEHOUSE_TOKEN", "BAO_TOKEN", "VAULT_TOKEN"];

/// Most bytes of an answer.
const MAXIMUM_ANSWER: usize = 1 << 20;

/// Most bytes of a file that holds a token.
const MAXIMUM_TOKEN_FILE: u64 = 8 << 10;

/// The client that sends requests with bodies of type `B`.
pub(super) type HttpClient<B> = Client<HttpsConnector<HttpConnector>, B>;

/// The address of a server, and the authorities that vouch for its identity.
#[derive(Debug, Args)]
pub(super) struct RemoteServer {
    /// Where the server is, with the path before that of its API if a proxy puts one there
    #[arg(
        long,
        value_name = "URL",
        env = ADDRESS_VARIABLE,
        default_value = "http://127.0.0.1:8200"
    )]
    address: Url,
    /// PEM file with certificate authorities to trust beside those of the system
    #[arg(long, value_name = "FILE", env = CA_FILE_VARIABLE)]
    ca_file: Option<PathBuf>,
}

/// A server, with a token for it.
#[derive(Debug, Args)]
pub(super) struct ServerArguments {
    #[command(flatten)]
    pub(super) remote: RemoteServer,
    /// File with the token; without it, the token is read from GATEHOUSE_TOKEN, BAO_TOKEN or VAULT_TOKEN
    #[arg(long, value_name = "FILE")]
    pub(super) token_file: Option<PathBuf>,
}

impl ServerArguments {
    /// The token; `whose` names the wanted one in the message of an error.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub(super) fn token(&self, whose: &str) -> Result<Token> {
        Token::find(self.token_file.as_deref(), &TOKEN_VARIABLES, whose)
    }
}

impl RemoteServer {
    pub(super) const fn new(address: Url, ca_file: Option<PathBuf>) -> Self {
        Self { address, ca_file }
    }

    /// The server at `address`; the environment may name the address, the CA file, or both. `None` where no address is named.
    ///
    /// # Errors
    ///
    /// When the address in the environment is malformed.
    pub(super) fn or_of_environment(
        address: Option<&Url>,
        ca_file: Option<&Path>,
    ) -> Result<Option<Self>> {
        let address = match (address, std::env::var(ADDRESS_VARIABLE)) {
            (Some(address), _) => address.clone(),
            (None, Ok(text)) if !text.is_empty() => {
                let address = Url::parse(&text);
                address.with_context(|| format!("{ADDRESS_VARIABLE} is no address of a server"))?
            }
            (None, _) => return Ok(None),
        };
        let of_environment = || std::env::var_os(CA_FILE_VARIABLE).filter(|file| !file.is_empty());
        let ca_file = ca_file.map(Path::to_owned);
        let ca_file = ca_file.or_else(|| of_environment().map(PathBuf::from));
        Ok(Some(Self { address, ca_file }))
    }

    pub(super) const fn address(&self) -> &Url {
        &self.address
    }

    /// The address of `path`, which begins with a slash, at the server.
    pub(super) fn target(&self, path: &str) -> Url {
        let mut target = self.address.clone();
        target.set_query(None);
        target.set_fragment(None);
        target.set_path(&format!(
            "{}{path}",
            self.address.path().trim_end_matches('/')
        ));
        target
    }

    /// The client for requests to the server.
    ///
    /// # Errors
    ///
    /// When the address is not that of a server, or the certificates cannot be read.
    pub(super) fn client<B>(&self) -> Result<HttpClient<B>>
    where
        B: Body + Send,
        B::Data: Send,
    {
        ensure!(
            matches!(self.address.scheme(), "http" | "https")
                && self.address.has_host()
                && self.address.username().is_empty()
                && self.address.password().is_none(),
            "the address of a server begins with http:// or https:// and holds no user"
        );
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(client_configuration("--ca-file", self.ca_file.as_deref())?)
            .https_or_http()
            .enable_http1()
            .build();
        Ok(Client::builder(TokioExecutor::new()).build(connector))
    }

    /// Sends `request` and reads the whole answer.
    ///
    /// # Errors
    ///
    /// When the server cannot be reached, is not believed, or has not answered within `time`.
    pub(super) async fn send(
        &self,
        request: Request<Full<Bytes>>,
        time: Duration,
    ) -> Result<Response<Bytes>> {
        let client = self.client()?;
        let answer = tokio::time::timeout(time, exchange(&client, request)).await;
        answer.with_context(|| format!("{} did not answer in time", self.address))?
    }
}

async fn exchange(
    client: &HttpClient<Full<Bytes>>,
    request: Request<Full<Bytes>>,
) -> Result<Response<Bytes>> {
    let target = request.uri().clone();
    let answer = client
        .request(request)
        .await
        .with_context(|| format!("{target} cannot be reached"))?;
    let (head, body) = answer.into_parts();
    let body = Limited::new(body, MAXIMUM_ANSWER).collect().await;
    let body = body.map_err(|error| anyhow::anyhow!("the answer cannot be read: {error}"))?;
    Ok(Response::from_parts(head, body.to_bytes()))
}

/// A token, without the space and the line ends around it.
pub(super) struct Token(Zeroizing<String>);

impl Token {
    /// The token in `file`, or else in the first of `variables` that holds one.
    ///
    /// # Errors
    ///
    /// When there is none; `whose` names the wanted one in the message.
    pub(super) fn find(file: Option<&Path>, variables: &[&str], whose: &str) -> Result<Self> {
        if let Some(path) = file {
            let text = read_bounded(path, MAXIMUM_TOKEN_FILE)?;
            let token = Self::in_text(&text);
            return token.with_context(|| format!("{} holds no token", path.display()));
        }
        let texts = variables.iter().filter_map(|name| std::env::var(name).ok());
        let token = texts
            .map(Zeroizing::new)
            .find_map(|text| Self::in_text(&text));
        token.with_context(|| {
            format!(
                "no token {whose}: set {}, or name a file that holds it",
                variables.join(" or ")
            )
        })
    }

    fn in_text(text: &str) -> Option<Self> {
        let token = text.trim();
        (!token.is_empty()).then(|| Self(Zeroizing::new(token.to_owned())))
    }

    /// The value of `X-Vault-Token`.
    pub(super) fn header(&self) -> Result<HeaderValue> {
        Self::secret(&self.0)
    }

    /// The value of `Authorization`.
    pub(super) fn bearer(&self) -> Result<HeaderValue> {
        Self::secret(&Zeroizing::new(format!("Bearer {}", *self.0)))
    }

    fn secret(text: &str) -> Result<HeaderValue> {
        let Ok(mut value) = HeaderValue::from_str(text) else {
            bail!("the token contains characters that no token can have");
        };
        value.set_sensitive(true);
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_SUCH_VARIABLE: &str = "GATEHOUSE_TEST_NO_SUCH_VARIABLE";

    fn server(address: &str) -> RemoteServer {
        RemoteServer::new(address.parse().unwrap(), None)
    }

    #[test]
    fn an_address_names_no_user() {
        for address in ["ftp://host/", "https://user:secret@host/"] {
            let refused = server(address).client::<Full<Bytes>>().unwrap_err();
            let text = refused.to_string();
            assert!(text.contains("http://"), "{text}");
            assert!(!text.contains("secret"), "{text}");
        }
    }

    #[test]
    fn the_path_of_an_address_stays_before_that_of_the_api() {
        for (address, target) in [
            ("https://proxy", "https://proxy/v1/sys/health"),
            ("https://proxy/gate", "https://proxy/gate/v1/sys/health"),
            (
                "https://proxy/gate/?a#b",
                "https://proxy/gate/v1/sys/health",
            ),
        ] {
            assert_eq!(server(address).target("/v1/sys/health").as_str(), target);
        }
    }

    #[test]
    fn a_token_has_no_space_around_it_and_an_empty_one_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        std::fs::write(&path, " hvs.token\r\n").unwrap();
        let token = Token::find(Some(&path), &[], "for it").unwrap();
        assert_eq!(token.header().unwrap(), "hvs.token");
        assert_eq!(token.bearer().unwrap(), "Bearer hvs.token");
        assert!(token.header().unwrap().is_sensitive());
        std::fs::write(&path, "\n").unwrap();
        let none = Token::find(Some(&path), &[], "for it").err().unwrap();
        assert!(none.to_string().ends_with("holds no token"), "{none}");
        let none = Token::find(None, &[NO_SUCH_VARIABLE], "for it");
        let none = none.err().unwrap().to_string();
        assert!(none.contains(NO_SUCH_VARIABLE), "{none}");
        let odd = Token::in_text("hvs.a\nb").unwrap();
        let refused = odd.header().unwrap_err().to_string();
        assert!(!refused.contains("hvs"), "{refused}");
    }
}
