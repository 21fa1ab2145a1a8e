//! What the server's operator decides about calls to Google, and no caller of the API can change (contract 8.5).

/// Settings of the server's operator. The default is Google itself over HTTPS, and nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Where access tokens come from; `None` for `https://oauth2.<universe domain>/token`. Its host must be allowed like any other.
    pub token_url: Option<String>,
    /// Parent of the names of Google's API hosts.
    pub universe_domain: String,
    /// Hosts that may be called beside those of Google: names or addresses, `*.` before a name for everything below it.
    pub allowed_hosts: Vec<String>,
    /// Whether loopback addresses may be called, with plain HTTP too.
    pub allow_http_loopback: bool,
    /// The `user-agent` header of every call.
    pub user_agent: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            token_url: None,
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

    /// Whether the operator lets `host` be called with TLS, leaving loopback and link-local addresses aside.
    pub(super) fn allows_host(&self, host: &str) -> bool {
        is_below(host, &self.universe_domain)
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
