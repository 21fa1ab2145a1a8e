//! Settings from environment variables, which the host sets for this component alone.

use std::env;

use zeroize::Zeroizing;

use crate::{Compatibility, Settings};

pub(super) fn from_environment() -> Settings {
    let defaults = Settings::default();
    let text = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    Settings {
        token_url: text("GATEHOUSE_GOOGLE_TOKEN_URL"),
        sts_url: text("GATEHOUSE_GOOGLE_STS_URL"),
        iam_credentials_url: text("GATEHOUSE_GOOGLE_IAM_CREDENTIALS_URL"),
        metadata_host: text("GATEHOUSE_GOOGLE_METADATA_HOST"),
        application_default_credentials: text("GATEHOUSE_GOOGLE_APPLICATION_CREDENTIALS")
            .map(Zeroizing::new),
        advertised_address: text("GATEHOUSE_ADVERTISED_ADDRESS"),
        compatibility: Compatibility::from_names(
            &text("GATEHOUSE_COMPATIBILITY").unwrap_or_default(),
        ),
        universe_domain: text("GATEHOUSE_GOOGLE_UNIVERSE_DOMAIN")
            .unwrap_or(defaults.universe_domain),
        allowed_hosts: text("GATEHOUSE_GOOGLE_ALLOWED_HOSTS")
            .unwrap_or_default()
            .split(',')
            .map(str::trim)
            .filter(|host| !host.is_empty())
            .map(str::to_owned)
            .collect(),
        allow_http_loopback: text("GATEHOUSE_GOOGLE_ALLOW_HTTP_LOOPBACK").as_deref()
            == Some("true"),
        user_agent: text("GATEHOUSE_GOOGLE_USER_AGENT").unwrap_or(defaults.user_agent),
    }
}
