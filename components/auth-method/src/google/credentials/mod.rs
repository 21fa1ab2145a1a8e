//! From a mount's credentials to an access token (contract 2.6, 8.4).

mod application_default;
mod federation;
mod key_file;
mod token_answer;

pub(crate) use federation::Federation;

use gatehouse_ports::{Clock, Http, Random};
use zeroize::Zeroizing;

use super::Google;
use super::authorized::ApiError;
use crate::config::CredentialsRecord;

/// The use that an access token is good for.
const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";

/// Where a mount's access tokens come from, with what is needed to ask for one.
///
/// It has no `Debug`: it holds secrets.
pub(crate) enum Source {
    /// A stored service-account key.
    Key(CredentialsRecord),
    /// An identity token of this server, to be exchanged.
    Federation(Federation),
    /// Whatever the server itself has.
    ApplicationDefault,
}

/// An access token as it came.
///
/// It has no `Debug`: it is a secret.
pub(super) struct FetchedToken {
    pub(super) text: Zeroizing<String>,
    /// Seconds from now, by the word of the server that gave it.
    pub(super) lifetime: u64,
}

impl<H: Http, C: Clock, R: Random> Google<'_, H, C, R> {
    /// A new token from the source that is in force.
    pub(super) fn fetch_access_token(&self) -> Result<FetchedToken, ApiError> {
        match (self.credentials)()? {
            Source::Key(key) => self.token_for_key(&key),
            Source::Federation(federation) => self.token_by_federation(&federation),
            Source::ApplicationDefault => self.application_default_token(),
        }
    }
}
