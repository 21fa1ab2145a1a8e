//! Where a mount's access tokens come from.

use zeroize::Zeroizing;

use crate::config::CredentialsRecord;

/// Where a mount's access tokens come from, with what is needed to ask for one.
///
/// It has no `Debug`: it holds secrets.
pub(crate) enum Source {
    /// A stored service-account key.
    Key(CredentialsRecord),
    /// An identity token of this server, to be exchanged.
    Federation(Federation),
    /// The application default credentials of the server.
    ApplicationDefault,
}

/// The values that federation needs.
///
/// It has no `Debug`: it holds a token.
pub(crate) struct Federation {
    /// Says which mount this is.
    pub(crate) identity_token: Zeroizing<String>,
    /// As configured: the provider of a workload identity pool.
    pub(crate) audience: String,
    /// The service account to act as.
    pub(crate) service_account_email: String,
    /// Seconds that the access token is to live.
    pub(crate) lifetime: u64,
}
