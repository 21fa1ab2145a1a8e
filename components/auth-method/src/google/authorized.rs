//! Questions that Google answers only to the mount's own credentials.

use gatehouse_ports::{Clock, Http, HttpResponse, Random};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Google;
use super::answers::api_refusal;
use super::cached_answer::{Failure, Nature};
use super::exchange::{CallError, Question};
use super::strict::object_in;
use crate::{
    ApiRefusal, CredentialsError, CredentialsRefusal, CredentialsStep, GoogleCallError,
    StorageError,
};

/// Remembered access tokens that are replaced for one question: this instance's own, and the one that instances share.
const REPLACED_TOKENS: u32 = 2;

/// Why there is no answer to work with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ApiError {
    /// Google refused: 4xx, of which 404 and 403 concern the object that was asked for.
    Refused(ApiRefusal),
    Credentials(CredentialsError),
    Call(CallError),
    /// Concerns the login that met it alone.
    #[serde(skip)]
    Storage(StorageError),
}

impl Failure for ApiError {
    fn nature(&self) -> Nature {
        match self {
            Self::Refused(refusal) if refusal.status == 404 => Nature::Absence,
            Self::Refused(_) => Nature::Refusal,
            Self::Credentials(_) | Self::Call(CallError::Denied(_)) => Nature::Obstacle,
            Self::Call(CallError::Unavailable(_) | CallError::Unusable(_)) => Nature::Outage,
            Self::Storage(_) => Nature::OwnTrouble,
        }
    }
}

impl From<CallError> for ApiError {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

impl From<CredentialsError> for ApiError {
    fn from(failure: CredentialsError) -> Self {
        Self::Credentials(failure)
    }
}

impl From<CallError> for GoogleCallError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Denied(api) => Self::EndpointDenied(api.name().into()),
            CallError::Unusable(api) => Self::GoogleUnusable(api.name().into()),
            CallError::Unavailable(api) => Self::GoogleUnavailable(api.name().into()),
        }
    }
}

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
