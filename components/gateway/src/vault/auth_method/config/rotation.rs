//! `config/rotate-root`: the replacement of the stored key by a new one (contract 2.6).

use gatehouse_auth_method_api::{Rotated, RotationError};
use serde::Serialize;

use super::super::google::{self, Needs};
use super::super::mount;
use crate::vault::call::{Answer, Call};
use crate::vault::envelope::Reply;
use crate::vault::errors::ApiError;
use crate::vault::text::quoted;

#[derive(Serialize)]
struct RotatedKey<'a> {
    private_key_id: &'a str,
}

/// `config/rotate-root`
pub(in crate::vault) fn rotate(call: &Call<'_>) -> Answer {
    let fields = call.fields()?;
    let auth_method = call.server.auth_method;
    let rotated = auth_method.rotate_root(&mount(call)?).map_err(api_error)?;
    let reply = Reply::data(&RotatedKey {
        private_key_id: &rotated.private_key_id,
    })?;
    let warnings = fields.ignored_warning().into_iter();
    Ok(Some(reply.warned(warnings.chain(left_behind(&rotated)))))
}

/// A warning if the previous key could not be deleted.
pub(crate) fn left_behind(rotated: &Rotated) -> Option<String> {
    let left = rotated.key_left_behind.as_ref()?;
    Some(format!(
        "The key {} is in use, and the key {} before it could not be deleted: it still opens everything. Delete it.",
        quoted(&rotated.private_key_id),
        quoted(left),
    ))
}

/// The refusal or failure of a rotation. The previous key stays in use.
pub(crate) fn api_error(error: RotationError) -> ApiError {
    match error {
        RotationError::Storage(error) => error.into(),
        RotationError::NoStoredCredentials => ApiError::listed(
            400,
            "configuration does not have credentials - this endpoint only works with user-provided JSON credentials explicitly provided via the config/ endpoint",
        ),
        RotationError::Busy => ApiError::listed(
            503,
            "another rotation of these credentials is at work, try again",
        ),
        RotationError::Refused(refusal) => {
            let why = google::reason(&refusal, Needs::NewKey);
            google::refused(&refusal, format!("failed to create a new key: {why}"))
        }
        RotationError::AnswerUnreadable => google::unusable("iam"),
        RotationError::NotYetAccepted(id) => ApiError::listed(
            503,
            format!(
                "Google does not accept the new key {} yet: it is kept, and the next rotation goes on with it, try again",
                quoted(&id)
            ),
        ),
        RotationError::Credentials(failure) => google::credentials(&failure),
        RotationError::EndpointDenied(api) => google::endpoint_denied(&api),
        RotationError::GoogleUnavailable(api) => google::unavailable(&api),
        RotationError::ConfigurationChanged => ApiError::listed(
            400,
            "the configuration was changed in the meantime, so the rotation was given up",
        ),
    }
}
