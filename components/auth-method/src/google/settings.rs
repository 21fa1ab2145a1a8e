//! What the server's operator decides about calls to Google, and no caller of the API can change (contract 8.5).

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
    /// Which deliberate differences from the reference are taken back.
    pub compatibility: Compatibility,
    /// Parent of the names of Google's API hosts.
    pub universe_domain: String,
    /// Hosts that may be called beside those of Google: names or addresses, `*.` before a name for everything below it.
    pub allowed_hosts: Vec<String>,
    /// Whether loopback addresses may be called, with plain HTTP too.
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

    /// Whether `host` is a host of Google's.
    pub(super) fn is_of_google(&self, host: &str) -> bool {
        is_below(host, &self.universe_domain)
    }

    /// Whether the operator lets `host` be called with TLS, leaving loopback and link-local addresses aside.
    pub(super) fn allows_host(&self, host: &str) -> bool {
        self.is_of_google(host)
            || self.allowed_hosts.iter().any(|allowed| {
                let allowed = allowed.trim();
                match allowed.strip_prefix("*.") {
                    Some(parent) => is_below(host, parent),
                    None => host.eq_ignore_ascii_case(allowed),
                }
            })
    }
}

fn is_below(host: &str, parent: &str) -> bool {
    let Some(split) = host.len().checked_sub(parent.len()) else {
        return false;
    };
    match (host.get(..split), host.get(split..)) {
        (Some(label), Some(tail)) => label.ends_with('.') && tail.eq_ignore_ascii_case(parent),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::Settings;

    #[test]
    fn n1_only_hosts_of_google_and_of_the_operator_are_allowed() {
        let settings = Settings {
            allowed_hosts: vec![
                "google.internal.example".to_owned(),
                "*.corp.example".to_owned(),
            ],
            ..Settings::default()
        };
        for host in [
            "iam.googleapis.com",
            "www.googleapis.com",
            "compute.private.googleapis.com",
            "google.internal.example",
            "GOOGLE.internal.example",
            "a.corp.example",
        ] {
            assert!(settings.allows_host(host), "{host}");
        }
        for host in [
            "googleapis.com",
            "evilgoogleapis.com",
            "googleapis.com.evil.example",
            "corp.example",
            "a.google.internal.example",
            "example.com",
            "",
        ] {
            assert!(!settings.allows_host(host), "{host}");
        }
    }
}
