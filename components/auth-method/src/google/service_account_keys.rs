//! Keys of the mount's own service account, as rotation makes and deletes them (contract 2.6, 8.3).

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gatehouse_ports::{Clock, Http, Random};
use serde::Deserialize;
use zeroize::{Zeroize, Zeroizing};

use super::api_error::ApiError;
use super::call_error::CallError;
use super::exchange::Question;
use super::strict::object_in;
use super::{Api, Google};
use crate::CredentialsError;
use crate::config::CredentialsRecord;

const NEW_KEY: &[u8] =
    br#"{"keyAlgorithm":"KEY_ALG_RSA_2048","privateKeyType":"TYPE_GOOGLE_CREDENTIALS_FILE"}"#;
/// The pause after the first try of a new key; each is twice as long as the one before it.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// Why a new key was not seen to work.
#[derive(Debug)]
pub(crate) enum ProofError {
    /// Google does not accept it, which may be a matter of time.
    NotYetAccepted,
    Failed(ApiError),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NewKey {
    private_key_data: String,
}

impl<H: Http, C: Clock, R: Random> Google<'_, H, C, R> {
    /// The text of a key file with a new key of the account. The question is asked once: repeating it would make a second key.
    pub(crate) fn create_key(&self, email: &str) -> Result<Zeroizing<Vec<u8>>, ApiError> {
        let unusable = || ApiError::Call(CallError::Unusable(Api::Iam));
        let segments = ["v1", "projects", "-", "serviceAccounts", email, "keys"];
        let url = self.endpoints.url(Api::Iam, &segments);
        let body = NEW_KEY.to_vec();
        let question = Question::post(Api::Iam, url, "application/json", body).once();
        let mut answer = self.authorized_answer(&question)?;
        let read = object_in(&answer.body);
        answer.body.zeroize();
        let NewKey { private_key_data } = read.map_err(|_| unusable())?;
        let encoded = Zeroizing::new(private_key_data);
        let file = STANDARD.decode(encoded.as_bytes());
        Ok(Zeroizing::new(file.map_err(|_| unusable())?))
    }

    /// Deletes a key of the account; one that is not there any more is deleted.
    pub(crate) fn delete_key(
        &self,
        project: &str,
        email: &str,
        key_id: &str,
    ) -> Result<(), ApiError> {
        let segments = [
            "v1",
            "projects",
            project,
            "serviceAccounts",
            email,
            "keys",
            key_id,
        ];
        let url = self.endpoints.url(Api::Iam, &segments);
        match self.authorized_answer(&Question::delete(Api::Iam, url)) {
            Ok(_) => Ok(()),
            Err(ApiError::Refused(refusal)) if refusal.status == 404 => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Fetches an access token with `key`, again and again until it is time to stop: a new key takes a while to be known everywhere.
    pub(crate) fn prove_key(&self, key: &CredentialsRecord) -> Result<(), ProofError> {
        let mut pause = FIRST_PAUSE;
        loop {
            let error = match self.token_for_key(key) {
                Ok(_) => return Ok(()),
                Err(ApiError::Credentials(CredentialsError::Refused { .. })) => {
                    ProofError::NotYetAccepted
                }
                Err(error @ ApiError::Call(CallError::Unavailable(_))) => ProofError::Failed(error),
                Err(error) => return Err(ProofError::Failed(error)),
            };
            let left = self.deadline.time_left(self.clock);
            if left.is_none_or(|left| left <= pause) {
                return Err(error);
            }
            self.clock.sleep(pause);
            pause *= 2;
        }
    }
}
