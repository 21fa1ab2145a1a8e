//! Access tokens for Google's APIs, remembered until shortly before their end (contract 8.1, rule 6).

use gatehouse_ports::{Clock, Http, Random};

use super::access_token::AccessToken;
use super::api_error::ApiError;
use super::cached_answer::Found;
use super::single_flight::SharedQuestion;
use super::{Api, Google};

/// Seconds before its end at which an access token is not used any more.
const RENEWED_BEFORE_END: u64 = 300;
/// Seconds that an access token is remembered at most, whatever the answer says.
const LONGEST_LIFETIME: u64 = 12 * 3600;

impl<H: Http, C: Clock, R: Random> Google<'_, H, C, R> {
    /// A token that is good for some minutes at least.
    pub(super) fn access_token(&self) -> Result<Found<AccessToken, ApiError>, ApiError> {
        self.consult(
            &self.token_question(),
            |_| true,
            || {
                let token = self.fetch_access_token()?;
                let lifetime = token.lifetime.min(LONGEST_LIFETIME);
                let usable_for = lifetime.saturating_sub(RENEWED_BEFORE_END);
                Ok((
                    AccessToken { text: token.text },
                    usable_for.saturating_mul(1000),
                ))
            },
        )
    }

    /// Forgets a token that an API did not accept.
    pub(super) fn forget_access_token(&self, refused: &AccessToken) {
        self.forget(&self.token_question(), |token| token.text == refused.text);
    }

    const fn token_question(&self) -> SharedQuestion<'_, AccessToken, ApiError> {
        SharedQuestion {
            api: Api::OAuth,
            kind: "access-token",
            name: "",
            slot: &self.memory.access_token,
            stale_for: 0,
        }
    }
}
