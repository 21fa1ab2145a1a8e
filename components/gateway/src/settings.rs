//! What the operator decides about the front.

use gatehouse_orgs::Edition;

/// Settings of a [`crate::Gateway`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Which product the organizations protocol behaves as.
    pub edition: Edition,
    /// The release of the auth protocol that clients are told they talk to; `X.Y.Z` without suffix, for clients parse it.
    pub compatibility_version: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            edition: Edition::SelfHosted,
            compatibility_version: "1.21.0".to_owned(),
        }
    }
}
