//! `[google]`: how Google is reached, and as whom.

use std::path::{Path, PathBuf};

use url::Url;

use super::kind::SettingKind;
use super::source::Section;
use super::value::SettingValue;
use crate::outbound::AllowedHost;

/// `[google]`: the operator's overrides for calls to Google, which no API call can change (contract 8.5).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoogleSettings {
    /// OAuth token endpoint in place of Google's.
    pub token_url: Option<Url>,
    /// Security token service in place of Google's.
    pub sts_url: Option<Url>,
    /// Base of the IAM credentials API in place of Google's.
    pub iam_credentials_url: Option<Url>,
    /// Host, with a port where it is not 80, of the metadata server. Default `GCE_METADATA_HOST`, else `169.254.169.254`; after
    /// `none` no metadata server can be reached.
    pub metadata_host: Option<String>,
    /// File with the credentials of mounts that have none of their own. Default `GOOGLE_APPLICATION_CREDENTIALS`, else the file of
    /// the `gcloud` command where there is one (contract 8.4); after `none` no file.
    pub application_credentials: Option<PathBuf>,
    /// Domain in place of `googleapis.com` in every default host name, for sovereign clouds.
    pub universe_domain: String,
    /// Hosts beyond Google's that may be called, such as `private.example.com`, `*.example.com:8443`. They may be in
    /// private networks, and `custom_endpoint` may name them.
    pub allowed_hosts: Vec<AllowedHost>,
    /// Allows plain HTTP to this machine, on any port, for development and tests. Default false.
    pub allow_http_loopback: bool,
    /// PEM file with certificate authorities that are trusted beside those of the operating system.
    pub ca_file: Option<PathBuf>,
    /// The value of the `User-Agent` header of calls.
    pub user_agent: String,
}

/// The domain of Google's API hosts in the public cloud.
pub const DEFAULT_UNIVERSE_DOMAIN: &str = "googleapis.com";

/// Where Google's metadata server answers, without a name that another resolver could answer.
const METADATA_HOST: &str = "169.254.169.254";

/// Where `gcloud auth application-default login` leaves its file, below the home directory.
const CREDENTIALS_OF_GCLOUD: &str = ".config/gcloud/application_default_credentials.json";

fn credentials_of_gcloud(home: &str) -> Option<PathBuf> {
    let path = Path::new(home).join(CREDENTIALS_OF_GCLOUD);
    path.exists().then_some(path)
}

impl GoogleSettings {
    /// The hosts that may be called beside Google's: those allowed, and those that the operator's own URLs name. Each stands once.
    #[must_use]
    pub fn hosts_of_operator(&self) -> Vec<AllowedHost> {
        let in_urls = [&self.token_url, &self.sts_url, &self.iam_credentials_url];
        let in_urls = in_urls
            .into_iter()
            .flatten()
            .filter_map(AllowedHost::of_url);
        let mut hosts: Vec<AllowedHost> = Vec::new();
        for host in self.allowed_hosts.iter().cloned().chain(in_urls) {
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        hosts
    }

    pub(super) fn read(section: &mut Section<'_>) -> Self {
        Self {
            token_url: section.optional("token_url"),
            sts_url: section.optional("sts_url"),
            iam_credentials_url: section.optional("iam_credentials_url"),
            metadata_host: section.value_or_foreign(
                "metadata_host",
                "GCE_METADATA_HOST",
                Some(METADATA_HOST.to_owned()),
            ),
            application_credentials: {
                let of_gcloud = section.foreign("HOME").and_then(credentials_of_gcloud);
                section.value_or_foreign(
                    "application_credentials",
                    "GOOGLE_APPLICATION_CREDENTIALS",
                    of_gcloud,
                )
            },
            universe_domain: section.value("universe_domain", DEFAULT_UNIVERSE_DOMAIN.to_owned()),
            allowed_hosts: section.value("allowed_hosts", Vec::new()),
            allow_http_loopback: section.value("allow_http_loopback", false),
            ca_file: section.optional("ca_file"),
            user_agent: section.value(
                "user_agent",
                concat!("Gatehouse/", env!("CARGO_PKG_VERSION")).to_owned(),
            ),
        }
    }
}

impl SettingValue for AllowedHost {
    const EXPECTED: &'static str =
        "a host such as \"private.example.com\", \"*.example.com\" or \"http://127.0.0.1:8080\"";
    const KIND: &'static SettingKind = &SettingKind::Host;

    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn to_text(&self) -> String {
        format!("\"{self}\"")
    }
}
