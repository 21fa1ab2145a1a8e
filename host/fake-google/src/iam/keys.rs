//! Making and deleting the keys of a service account (contract 2.6, 8.3).

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::account::Account;
use crate::answer::{self, Answer, Outcome};
use crate::call::Call;
use crate::iam::IamRequest;
use crate::key_file::key_file;
use crate::signing_key::SigningKey;
use crate::state::{SharedState, State};
use crate::timestamp;

/// Keys that an account may have.
const MAXIMUM_KEYS: usize = 10;
/// When a key that does not expire is said to expire.
const NEVER: &str = "9999-12-31T23:59:59Z";

const CREATE: &str = "iam.serviceAccountKeys.create";
const DELETE: &str = "iam.serviceAccountKeys.delete";

/// How far the news of an account's new keys has got.
#[derive(Debug, Default)]
pub(crate) struct KeyPropagation {
    /// Key ID to the number of assertions by it that are still refused.
    refusals_left: BTreeMap<String, u32>,
}

impl KeyPropagation {
    /// Refuses the first assertions by a key.
    pub(crate) fn delay(&mut self, key_id: &str, refusals: u32) {
        self.refusals_left.insert(key_id.to_owned(), refusals);
    }

    /// True if the token endpoint has not heard of the key yet; each question brings it nearer.
    pub(crate) fn is_still_unknown(&mut self, key_id: &str) -> bool {
        match self.refusals_left.get_mut(key_id) {
            Some(left) if *left > 0 => {
                *left -= 1;
                true
            }
            _ => false,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct KeyOrder {
    #[serde(default = "default_algorithm")]
    key_algorithm: String,
    #[serde(default = "default_type")]
    private_key_type: String,
}

fn default_algorithm() -> String {
    "KEY_ALG_RSA_2048".to_owned()
}

fn default_type() -> String {
    "TYPE_GOOGLE_CREDENTIALS_FILE".to_owned()
}

impl KeyOrder {
    /// Google also makes keys of other kinds; a client that orders one has lost its way.
    fn verify(&self) -> Result<(), Box<Answer>> {
        if self.key_algorithm != default_algorithm() {
            return Err(invalid("keyAlgorithm", &self.key_algorithm));
        }
        if self.private_key_type != default_type() {
            return Err(invalid("privateKeyType", &self.private_key_type));
        }
        Ok(())
    }
}

/// Answers `serviceAccounts.keys.create`.
pub(super) async fn create(
    state: &SharedState,
    request: &IamRequest<'_>,
    call: &Call<'_>,
) -> Outcome {
    let unique_id = {
        let state = state.lock();
        let account = state.permitted_account(request, CREATE, call)?;
        call.json::<KeyOrder>()?.verify()?;
        verify_room(account)?;
        account.spec.unique_id.clone()
    };
    // Slow, so neither on this thread nor under the lock; the account is looked at again afterwards.
    let owner = unique_id.clone();
    let key = tokio::task::spawn_blocking(move || SigningKey::generate(&owner))
        .await
        .ok()
        .and_then(Result::ok)
        .ok_or_else(|| answer::refusal(StatusCode::INTERNAL_SERVER_ERROR, "Internal error."))?;

    let mut state = state.lock();
    let propagation = state.key_propagation;
    let account = state
        .require_account(&unique_id)
        .map_err(|_| answer::refusal(StatusCode::NOT_FOUND, "Unknown service account"))?;
    verify_room(account)?;
    let created = created_key(account, &key, call);
    account.propagation.delay(key.key_id(), propagation);
    account.keys.push(Arc::new(key));
    Ok(created)
}

impl State {
    /// Answers `serviceAccounts.keys.delete`.
    pub(super) fn delete_key(
        &mut self,
        request: &IamRequest<'_>,
        key_id: &str,
        call: &Call<'_>,
    ) -> Outcome {
        let account = self.permitted_account(request, DELETE, call)?;
        let unique_id = account.spec.unique_id.clone();
        let not_found = || {
            let message = format!("Service account key {key_id} does not exist.");
            answer::refusal(StatusCode::NOT_FOUND, &message)
        };
        let account = self.require_account(&unique_id).map_err(|_| not_found())?;
        let before = account.keys.len();
        account.keys.retain(|key| key.key_id() != key_id);
        if account.keys.len() < before {
            Ok(json!({}))
        } else {
            Err(not_found())
        }
    }
}

fn verify_room(account: &Account) -> Result<(), Box<Answer>> {
    if account.keys.len() < MAXIMUM_KEYS {
        Ok(())
    } else {
        Err(answer::failed_precondition("Precondition check failed."))
    }
}

fn created_key(account: &Account, key: &SigningKey, call: &Call<'_>) -> Value {
    let spec = &account.spec;
    let file = format!("{:#}", key_file(spec, key, call.base_url));
    json!({
        "name": format!("projects/{}/serviceAccounts/{}/keys/{}", spec.project_id, spec.email, key.key_id()),
        "privateKeyType": default_type(),
        "privateKeyData": BASE64_STANDARD.encode(file),
        "validAfterTime": timestamp::utc(call.now),
        "validBeforeTime": NEVER,
        "keyAlgorithm": default_algorithm(),
        "keyOrigin": "GOOGLE_PROVIDED",
        "keyType": "USER_MANAGED",
    })
}

fn invalid(field: &str, value: &str) -> Box<Answer> {
    answer::refusal(
        StatusCode::BAD_REQUEST,
        &format!("Invalid value at '{field}': \"{value}\""),
    )
}
