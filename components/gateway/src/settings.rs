//! The decisions of the operator about the front.

use std::num::NonZeroU32;
use std::time::Duration;

use gatehouse_access_api::RootTokenHash;
use gatehouse_orgs_api::Edition;

use crate::host::Bucket;

/// Settings of a [`crate::Gateway`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The product that the organizations protocol behaves as. The capability behind it must be of the same edition.
    pub edition: Edition,
    /// The release of the auth protocol that clients are told they talk to; `X.Y.Z` without suffix, for clients parse it.
    pub compatibility_version: String,
    /// The kind of store as `sys/seal-status` tells it: the word of Vault's where that has the same kind.
    pub storage_type: String,
    /// How often one address may try to log in; IPv6 addresses count by their first 64 bits (SEC-R2). `None` for as often as it likes.
    pub login_rate_per_source: Option<Rate>,
    /// How often all together may try to log in at one mount.
    pub login_rate_per_mount: Option<Rate>,
    /// True if requests of the organizations protocol are limited at all. If they are, site administrators decide how.
    pub api_rate_limiting: bool,
    /// True if the organizations protocol insists on its media type where it otherwise is lenient: for plain JSON, and for writes without a
    /// body (contract 1.4).
    pub strict_media_type: bool,
    /// How long `sys/health` may say that the server is active without asking the store again, where the seal is automatic; `None`: it asks
    /// every time.
    pub health_reuse: Option<Duration>,
    /// Who may initialize the server, and so gets the first root token.
    pub initializer: Initializer,
}

/// The callers who may initialize a server (SEC-A8).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Initializer {
    /// The first caller of `sys/init`.
    #[default]
    AnyCaller,
    /// A caller that presents the token of this hash, which becomes the first root token.
    HolderOf(RootTokenHash),
    /// No caller, until the operator has chosen a token.
    NoCaller,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            edition: Edition::SelfHosted,
            compatibility_version: "1.21.0".to_owned(),
            storage_type: "gatehouse".to_owned(),
            login_rate_per_source: None,
            login_rate_per_mount: None,
            api_rate_limiting: false,
            strict_media_type: false,
            health_reuse: None,
            initializer: Initializer::AnyCaller,
        }
    }
}

/// How often something may happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// In the long run.
    pub per_second: NonZeroU32,
    /// At once, from a source that has been idle.
    pub burst: NonZeroU32,
}

impl Rate {
    /// Reads `50/100`: so many in a second, so many at once.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let (per_second, burst) = text.split_once('/')?;
        Some(Self {
            per_second: per_second.parse().ok()?,
            burst: burst.parse().ok()?,
        })
    }

    /// The bucket called `key` that fills at this rate.
    pub(crate) const fn bucket(self, key: String) -> Bucket {
        Bucket {
            key,
            events: self.per_second.get(),
            period: 1000,
            burst: self.burst.get(),
        }
    }
}
