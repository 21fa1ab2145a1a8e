//! Questions for an access token, and the answers that hold one.

use gatehouse_ports::{Clock, Http, HttpResponse, Random};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use zeroize::Zeroizing;

use super::FetchedToken;
use crate::google::answers::token_refusal;
use crate::google::api_error::ApiError;
use crate::google::exchange::Question;
use crate::google::strict::object_in;
use crate::google::{Api, Google};
use crate::{CredentialsError, CredentialsRefusal, CredentialsStep};

#[derive(Deserialize)]
struct TokenAnswer {
    access_token: String,
    expires_in: u64,
}

impl<H: Http, C: Clock, R: Random> Google<'_, H, C, R> {
    /// The token that Google's token endpoint gives for a form.
    pub(super) fn token_for_form(&self, form: String) -> Result<FetchedToken, ApiError> {
        let url = self.endpoints.url(Api::OAuth, &[]);
        let answer = self.ask(Question::form(Api::OAuth, url, form))?;
        Ok(token_in(answer, CredentialsStep::Token)?)
    }
}

/// The token in the answer to `step`.
pub(super) fn token_in(
    answer: HttpResponse,
    step: CredentialsStep,
) -> Result<FetchedToken, CredentialsError> {
    let token: TokenAnswer = success(answer, step, token_refusal)?;
    Ok(FetchedToken {
        text: header_value(token.access_token)?,
        lifetime: token.expires_in,
    })
}

/// The access token in a successful answer to `step`; `code_of` reads the short code of a refusal.
pub(super) fn success<T: DeserializeOwned>(
    answer: HttpResponse,
    step: CredentialsStep,
    code_of: impl FnOnce(&[u8]) -> String,
) -> Result<T, CredentialsError> {
    let body = Zeroizing::new(answer.body);
    match answer.status {
        200 => object_in(&body).map_err(|_| CredentialsError::AnswerUnreadable),
        status @ 400..500 => Err(CredentialsError::Refused(CredentialsRefusal {
            step,
            status,
            message: code_of(&body),
        })),
        _ => Err(CredentialsError::AnswerUnreadable),
    }
}

/// A token that can become part of a header line.
pub(super) fn header_value(token: String) -> Result<Zeroizing<String>, CredentialsError> {
    let token = Zeroizing::new(token);
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(CredentialsError::AnswerUnreadable);
    }
    Ok(token)
}
