//! From a mount's credentials to an access token (contract 2.6, 8.4).

mod application_default;
mod federation;
mod key_file;
mod source;
mod token_answer;

pub(crate) use source::{Federation, Source};

use gatehouse_ports::{Clock, Http, Random};
use zeroize::Zeroizing;

use super::api_error::ApiError;
use super::client::Google;

/// The use that an access token is good for.
const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";

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
