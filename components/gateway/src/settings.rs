//! The operator's settings of the front.

use std::num::NonZeroU32;
use std::time::Duration;

use gatehouse_access_api::RootTokenHash;
use gatehouse_orgs_api::Edition;

use crate::host::Bucket;

/// Settings of a [`crate::Gateway`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The product whose behaviour the organizations protocol follows. The capability behind it must have the same edition.
    pub edition: Edition,
    /// The release of the auth protocol that is reported to clients: `X.Y.Z` without suffix, since clients parse it.
    pub compatibility_version: String,
    /// The kind of store that `sys/seal-status` reports: Vault's word for it, where Vault has the same kind.
    pub storage_type: String,
    /// The limit on login attempts from one address; IPv6 addresses count by their first 64 bits (SEC-R2). `None` means no limit.
    pub login_rate_per_source: Option<Rate>,
    /// The limit on login attempts of all callers together at one mount. `None` means no limit.
    pub login_rate_per_mount: Option<Rate>,
    /// True if requests of the organizations protocol are limited at all. Site administrators then set the limit.
    pub api_rate_limiting: bool,
    /// True if the organizations protocol insists on its media type even where it is otherwise lenient: for plain JSON, and for writes without a body
    /// (contract 1.4).
    pub strict_media_type: bool,
    /// The time for which `sys/health` may report that the server is active without asking the store again, where the seal is automatic. `None` means
    /// that it asks the store each time.
    pub health_reuse: Option<Duration>,
    /// The callers that may initialize the server, and so get the first root token.
    pub initializer: Initializer,
}

/// The callers who may initialize a server (SEC-A8).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Initializer {
    /// The first caller of `sys/init`, with any token or none.
    #[default]
    AnyCaller,
    /// A caller that presents the token with this hash. That token becomes the first root token.
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

/// A rate limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// The sustained rate.
    pub per_second: NonZeroU32,
    /// The burst that an idle source may use at once.
    pub burst: NonZeroU32,
}

impl Rate {
    /// Reads `50/100`: events per second, and the burst.
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
