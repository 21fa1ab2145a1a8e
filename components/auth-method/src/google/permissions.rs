//! The permissions of the mount's own credentials (contract 8.3).

use gatehouse_ports::{Clock, Http, Random};
use serde::{Deserialize, Serialize};

use super::api_error::ApiError;
use super::exchange::Question;
use super::{Api, Google};
use crate::{CredentialsError, GoogleCallError, PermissionsFound, StorageError};

/// The permissions that logins and rotations can need, sorted.
const WANTED: [&str; 7] = [
    "compute.instanceGroups.get",
    "compute.instanceGroups.list",
    "compute.instances.get",
    "iam.serviceAccountKeys.create",
    "iam.serviceAccountKeys.delete",
    "iam.serviceAccounts.get",
    "resourcemanager.projects.get",
];

#[derive(Serialize)]
struct Asked {
    permissions: [&'static str; WANTED.len()],
}

#[derive(Deserialize)]
struct Answered {
    #[serde(default)]
    permissions: Vec<String>,
}

impl<H: Http, C: Clock, R: Random> Google<'_, H, C, R> {
    /// Succeeds if the mount can get an access token.
    pub(crate) fn can_authenticate(&self) -> Result<(), ApiError> {
        self.access_token().map(drop)
    }

    /// Tells which of the permissions that can be needed are held in `project`.
    pub(crate) fn permissions(&self, project: &str) -> Result<PermissionsFound, ApiError> {
        let body = serde_json::to_vec(&Asked {
            permissions: WANTED,
        })
        .map_err(|_| ApiError::Credentials(CredentialsError::Unusable))?;
        let method = format!("{project}:testIamPermissions");
        let url = self.endpoints.url(Api::Crm, &["v1", "projects", &method]);
        let question = Question::post(Api::Crm, url, "application/json", body);
        let answer: Answered = self.ask_authorized(&question)?;
        let is_held = |wanted: &&str| answer.permissions.iter().any(|held| held == wanted);
        let (held, lacking): (Vec<&str>, Vec<&str>) = WANTED.into_iter().partition(is_held);
        let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
        Ok(PermissionsFound {
            held: owned(held),
            lacking: owned(lacking),
        })
    }
}

impl ApiError {
    /// The same failure for a report about calls; failures of the store are no part of such a report.
    pub(crate) fn into_google_call_error(self) -> Result<GoogleCallError, StorageError> {
        Ok(match self {
            Self::Refused(refusal) => GoogleCallError::Refused(refusal),
            Self::Credentials(failure) => GoogleCallError::Credentials(failure),
            Self::Call(error) => error.into(),
            Self::Storage(error) => return Err(error),
        })
    }
}
