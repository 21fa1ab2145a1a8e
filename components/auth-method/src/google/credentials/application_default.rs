//! The server's own credentials: a file of the operator's, or the machine that it runs on.

use std::time::Duration;

use gatehouse_ports::{Clock, Http, Random};
use serde::Deserialize;
use url::form_urlencoded;
use zeroize::ZeroizeOnDrop;

use super::FetchedToken;
use super::token_answer::token_in;
use crate::config::read_key_file;
use crate::google::api_error::ApiError;
use crate::google::exchange::Question;
use crate::google::{Api, Google};
use crate::{CredentialsError, CredentialsStep};

/// A metadata server is near, or it is not there.
const METADATA_LIMIT: Duration = Duration::from_secs(5);
/// Below the metadata server: a token for the machine's account.
const METADATA_TOKEN: [&str; 6] = [
    "computeMetadata",
    "v1",
    "instance",
    "service-accounts",
    "default",
    "token",
];
/// Sent and expected back: nothing else answers so by accident, and no browser can be made to send it.
const FLAVOR: (&str, &str) = ("metadata-flavor", "Google");

#[derive(Deserialize)]
struct FileKind {
    #[serde(rename = "type")]
    kind: String,
}

/// The file that the tools of a user leave behind. URLs in it are not read: they would decide where the refresh token goes.
#[derive(Deserialize, ZeroizeOnDrop)]
struct AuthorizedUser {
    client_id: String,
    client_secret: String,
    refresh_token: String,
}

impl<H: Http, C: Clock, R: Random> Google<'_, H, C, R> {
    /// The token by the file, if one is set, even when that is unusable; else the one of the metadata server.
    pub(super) fn application_default_token(&self) -> Result<FetchedToken, ApiError> {
        if let Some(file) = &self.settings.application_default_credentials {
            self.token_for_default_file(file)
        } else if self.settings.metadata_host.is_some() {
            self.token_of_machine()
        } else {
            Err(CredentialsError::NotFound.into())
        }
    }

    fn token_for_default_file(&self, file: &str) -> Result<FetchedToken, ApiError> {
        const UNUSABLE: CredentialsError = CredentialsError::DefaultUnusable;
        let FileKind { kind } = serde_json::from_str(file).map_err(|_| UNUSABLE)?;
        match kind.as_str() {
            "service_account" => {
                let (_, key) = read_key_file(file).map_err(|_| UNUSABLE)?;
                self.token_for_key(&key)
            }
            "authorized_user" => {
                let user = serde_json::from_str(file).map_err(|_| UNUSABLE)?;
                self.token_for_user(&user)
            }
            _ => Err(UNUSABLE.into()),
        }
    }

    fn token_for_user(&self, user: &AuthorizedUser) -> Result<FetchedToken, ApiError> {
        let form = form_urlencoded::Serializer::new(String::new())
            .append_pair("grant_type", "refresh_token")
            .append_pair("client_id", &user.client_id)
            .append_pair("client_secret", &user.client_secret)
            .append_pair("refresh_token", &user.refresh_token)
            .finish();
        self.token_for_form(form)
    }

    fn token_of_machine(&self) -> Result<FetchedToken, ApiError> {
        let url = self.endpoints.url(Api::Metadata, &METADATA_TOKEN);
        let (name, value) = FLAVOR;
        let question = Question::get(Api::Metadata, url)
            .with_header(name, value.to_owned())
            .once()
            .within(METADATA_LIMIT);
        let answer = self.ask(question)?;
        if answer.header(name) != Some(value) {
            return Err(CredentialsError::AnswerUnreadable.into());
        }
        Ok(token_in(answer, CredentialsStep::Metadata)?)
    }
}

#[cfg(test)]
mod tests {
    use super::AuthorizedUser;

    #[test]
    fn k6_what_the_tools_of_a_user_leave_behind_cannot_be_printed() {
        gatehouse_ports::assert_lacks!(
            [AuthorizedUser],
            [std::fmt::Debug, std::fmt::Display, Clone, serde::Serialize]
        );
    }
}
