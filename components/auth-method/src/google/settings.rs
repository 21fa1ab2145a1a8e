//! The decisions of the server's operator about calls to Google, which no caller of the API can change (contract 8.5).

use gatehouse_ports::CallableHosts;
use zeroize::Zeroizing;

/// Settings of the server's operator. The default is Google itself over HTTPS, and nothing else.
///
/// It has no `Debug`: it may hold a private key.
#[derive(Clone)]
pub struct Settings {
    /// Where access tokens come from; `None` for `https://oauth2.<universe domain>/token`. Its host must be allowed like any other.
    pub token_url: Option<String>,
    /// Where identity tokens are exchanged; `None` for `https://sts.<universe domain>/v1/token`.
    pub sts_url: Option<String>,
    /// Base URL of the API that lets one account act as another; `None` for `https://iamcredentials.<universe domain>`.
    pub iam_credentials_url: Option<String>,
    /// Host, with a port where it is not 80, of the metadata server; `None` when there is none.
    pub metadata_host: Option<String>,
    /// Text of the server's application default credentials, a JSON object; `None` when there is no such file.
    pub application_default_credentials: Option<Zeroizing<String>>,
    /// Where clients and Google find this server, such as `https://gatehouse.example.com:8200`.
    pub advertised_address: Option<String>,
    /// The deliberate differences from the reference that are taken back.
    pub compatibility: Compatibility,
    /// Parent of the names of Google's API hosts.
    pub universe_domain: String,
    /// Hosts that may be called beside Google's API hosts: `[scheme://]host[:port]`, where a host that begins with `*.` stands for
    /// everything below. An entry of another form allows nothing.
    pub allowed_hosts: Vec<String>,
    /// True if loopback addresses may be called, with plain HTTP too.
    pub allow_http_loopback: bool,
    /// The `user-agent` header of every call.
    pub user_agent: String,
}

/// Deliberate differences from the reference that an operator has taken back (contract 11). All of them weaken the method.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Compatibility {
    /// D1: `allow_gce_inference` of a role has no effect.
    pub ignore_allow_gce_inference: bool,
    /// D2: tokens that Google signed have to meet the role's `max_jwt_exp`.
    pub bound_google_signed_lifetime: bool,
    /// D4: a token without `aud` is for every role.
    pub accept_missing_audience: bool,
    /// D5: an `aud` that only ends in `vault/<role>` is enough, without a slash before it.
    pub accept_audience_without_boundary: bool,
    /// D6: `iss`, `nbf` and `iat` are not looked at.
    pub ignore_issuer_and_beginning: bool,
}

impl Compatibility {
    /// Those that `names` (words between hyphens, names between commas) switches on; unknown names are without effect.
    #[must_use]
    pub fn from_names(names: &str) -> Self {
        let on = |wanted: &str| names.split(',').any(|name| name.trim() == wanted);
        Self {
            ignore_allow_gce_inference: on("ignore-allow-gce-inference"),
            bound_google_signed_lifetime: on("bound-google-signed-lifetime"),
            accept_missing_audience: on("accept-missing-audience"),
            accept_audience_without_boundary: on("accept-audience-without-boundary"),
            ignore_issuer_and_beginning: on("ignore-issuer-and-beginning"),
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            token_url: None,
            sts_url: None,
            iam_credentials_url: None,
            metadata_host: None,
            application_default_credentials: None,
            advertised_address: None,
            compatibility: Compatibility::default(),
            universe_domain: "googleapis.com".to_owned(),
            allowed_hosts: Vec::new(),
            allow_http_loopback: false,
            user_agent: concat!("gatehouse/", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}

impl Settings {
    /// The URL that access tokens come from.
    #[must_use]
    pub fn token_url(&self) -> String {
        self.token_url
            .clone()
            .unwrap_or_else(|| format!("https://oauth2.{}/token", self.universe_domain))
    }

    /// The URL that identity tokens are exchanged at.
    pub(super) fn sts_url(&self) -> String {
        self.sts_url
            .clone()
            .unwrap_or_else(|| format!("https://sts.{}/v1/token", self.universe_domain))
    }

    /// The base URL of the API that lets one account act as another.
    pub(super) fn iam_credentials_url(&self) -> String {
        self.iam_credentials_url
            .clone()
            .unwrap_or_else(|| format!("https://iamcredentials.{}", self.universe_domain))
    }

    /// The hosts that may be called, leaving addresses of this machine and of metadata servers aside.
    pub(super) fn callable_hosts(&self) -> CallableHosts {
        let operator = self.allowed_hosts.iter();
        let operator = operator.filter_map(|host| host.trim().parse().ok());
        CallableHosts::new(&self.universe_domain, operator.collect())
    }
}
