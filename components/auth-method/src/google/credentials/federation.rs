//! Workload identity federation: an identity token of this server becomes an access token of a service account.

use gatehouse_ports::{Clock, Http, Random};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use url::form_urlencoded;
use zeroize::Zeroizing;

use super::source::Federation;
use super::token_answer::{header_value, success};
use super::{FetchedToken, SCOPE};
use crate::google::answers::{api_refusal, token_refusal};
use crate::google::api_error::ApiError;
use crate::google::exchange::Question;
use crate::google::{Api, Google};
use crate::{CredentialsError, CredentialsStep};

const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";
const JWT: &str = "urn:ietf:params:oauth:token-type:jwt";
/// Seconds that Google lets the token of an account live at most.
const LONGEST_LIFETIME: u64 = 43_200;

#[derive(Deserialize)]
struct Exchanged {
    access_token: String,
}

#[derive(Serialize)]
struct TokenRequest {
    lifetime: String,
    scope: [&'static str; 1],
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Generated {
    access_token: String,
    expire_time: String,
}

impl<H: Http, C: Clock, R: Random> Google<'_, H, C, R> {
    pub(super) fn token_by_federation(
        &self,
        federation: &Federation,
    ) -> Result<FetchedToken, ApiError> {
        let federated = self.exchange_identity_token(federation)?;
        let request = TokenRequest {
            lifetime: format!("{}s", federation.lifetime.min(LONGEST_LIFETIME)),
            scope: [SCOPE],
        };
        let body = serde_json::to_vec(&request)
            .map_err(|_| ApiError::Credentials(CredentialsError::Unusable))?;
        let account = format!("{}:generateAccessToken", federation.service_account_email);
        let segments = ["v1", "projects", "-", "serviceAccounts", &account];
        let url = self.endpoints.url(Api::IamCredentials, &segments);
        let question = Question::post(Api::IamCredentials, url, "application/json", body);
        let answer = self.ask(question.bearing(&federated))?;
        let reason_of = |body: &[u8]| api_refusal(0, body).reason;
        let generated: Generated = success(answer, CredentialsStep::Impersonation, reason_of)?;
        let text = header_value(generated.access_token)?;
        let end: Timestamp = generated
            .expire_time
            .parse()
            .map_err(|_| CredentialsError::AnswerUnreadable)?;
        let end = u64::try_from(end.as_second()).unwrap_or(0);
        Ok(FetchedToken {
            text,
            lifetime: end.saturating_sub(self.now()),
        })
    }

    /// A token that can do no more than act as service accounts that trust this mount.
    fn exchange_identity_token(
        &self,
        federation: &Federation,
    ) -> Result<Zeroizing<String>, ApiError> {
        let audience = &federation.audience;
        let audience = audience.strip_prefix("https:").unwrap_or(audience);
        let form = form_urlencoded::Serializer::new(String::new())
            .append_pair("audience", audience)
            .append_pair("grant_type", TOKEN_EXCHANGE)
            .append_pair("requested_token_type", ACCESS_TOKEN)
            .append_pair("scope", SCOPE)
            .append_pair("subject_token_type", JWT)
            .append_pair("subject_token", &federation.identity_token)
            .finish();
        let answer = self.ask(Question::form(
            Api::Sts,
            self.endpoints.url(Api::Sts, &[]),
            form,
        ))?;
        let exchanged: Exchanged = success(answer, CredentialsStep::Exchange, token_refusal)?;
        Ok(header_value(exchanged.access_token)?)
    }
}
