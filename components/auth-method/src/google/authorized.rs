//! Questions that Google answers only to the mount's own credentials.

use gatehouse_ports::{Clock, Http, HttpResponse, Random};
use serde::de::DeserializeOwned;

use super::answers::api_refusal;
use super::api_error::ApiError;
use super::call_error::CallError;
use super::client::Google;
use super::exchange::Question;
use super::strict::object_in;
use crate::{CredentialsError, CredentialsRefusal, CredentialsStep};

/// Remembered access tokens that are replaced for one question: this instance's own, and the one that instances share.
const REPLACED_TOKENS: u32 = 2;

impl<H: Http, C: Clock, R: Random> Google<'_, H, C, R> {
    /// The JSON that an API answers with the mount's access token.
    pub(super) fn ask_authorized<T: DeserializeOwned>(
        &self,
        question: &Question,
    ) -> Result<T, ApiError> {
        let answer = self.authorized_answer(question)?;
        object_in(&answer.body).map_err(|_| ApiError::Call(CallError::Unusable(question.api)))
    }

    /// A successful answer, whatever is in it.
    pub(super) fn authorized_answer(&self, question: &Question) -> Result<HttpResponse, ApiError> {
        let mut token = self.access_token()?;
        let mut answer = self.ask(question.bearing(token.value.text()))?;
        for _ in 0..REPLACED_TOKENS {
            if answer.status != 401 || token.is_new {
                break;
            }
            // The remembered access token may have been revoked, and the one that others have as well.
            self.forget_access_token(&token.value);
            token = self.access_token()?;
            answer = self.ask(question.bearing(token.value.text()))?;
        }
        match answer.status {
            200..300 => Ok(answer),
            401 => {
                self.forget_access_token(&token.value);
                Err(ApiError::Credentials(CredentialsError::Refused(
                    CredentialsRefusal {
                        step: CredentialsStep::Use,
                        status: 401,
                        message: api_refusal(401, &answer.body).reason,
                    },
                )))
            }
            status @ 400..500 => Err(ApiError::Refused(api_refusal(status, &answer.body))),
            _ => Err(CallError::Unusable(question.api).into()),
        }
    }
}

impl Question {
    pub(super) fn bearing(&self, token: &str) -> Self {
        self.clone()
            .with_header("authorization", format!("Bearer {token}"))
    }
}
