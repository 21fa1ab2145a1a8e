//! The outcomes of calls to Google, as texts for callers and for the operator (contract 4.7, 10).

use std::fmt;

use gatehouse_auth_method_api::{AccountRefusal, ApiRefusal, CredentialsError, GoogleCallError};

use crate::vault::errors::ApiError;

/// The permissions of the root credentials that a call needs (contract 8.3).
#[derive(Debug, Clone, Copy)]
pub(super) enum Needs {
    Account,
    Instance,
    InstanceGroups,
    Ancestry,
    NewKey,
}

impl fmt::Display for Needs {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Account => "iam.serviceAccounts.get",
            Self::Instance => "compute.instances.get",
            Self::InstanceGroups => "compute.instanceGroups.list and compute.instanceGroups.get",
            Self::Ancestry => "resourcemanager.projects.get",
            Self::NewKey => "iam.serviceAccountKeys.create",
        })
    }
}

/// Google's refusal as text. A 403 also gets the permissions that would help.
pub(super) fn reason(refusal: &ApiRefusal, needs: Needs) -> String {
    let words = words(refusal);
    if refusal.status == 403 {
        format!("{words} (the credentials of the mount may lack the permission {needs})")
    } else {
        words
    }
}

/// Google's refusal in the wording of Google's own client library.
fn words(refusal: &ApiRefusal) -> String {
    let ApiRefusal {
        status,
        message,
        reason,
    } = refusal;
    let mut text = format!("googleapi: Error {status}: {message}");
    if !reason.is_empty() {
        text += ", ";
        text += reason;
    }
    text
}

/// The refusal of a caller because of Google's refusal: 400 with the given text. The operator has to correct a 403, so it is logged too.
pub(super) fn refused(refusal: &ApiRefusal, text: String) -> ApiError {
    if refusal.status == 403 {
        return ApiError::plain(400, text.clone()).with_detail(text);
    }
    ApiError::plain(400, text)
}

/// The refusal of an account. The text has the account between `before` and `after`.
pub(super) fn account_refused(
    refused_account: &AccountRefusal,
    before: &str,
    after: &str,
) -> ApiError {
    let AccountRefusal { account, refusal } = refused_account;
    let why = reason(refusal, Needs::Account);
    refused(refusal, format!("{before}{account}{after}: {why}"))
}

/// The mount's own credentials are unusable, which the caller cannot change.
pub(super) fn credentials(failure: &CredentialsError) -> ApiError {
    operators(502, credentials_text(failure))
}

/// The host does not allow the method to reach the API.
pub(super) fn endpoint_denied(api: &str) -> ApiError {
    operators(502, denied_text(api))
}

/// The answer does not have the form that the API promises.
pub(super) fn unusable(api: &str) -> ApiError {
    operators(502, unusable_text(api))
}

/// The API is unavailable; a retry is worthwhile.
pub(super) fn unavailable(api: &str) -> ApiError {
    operators(503, unavailable_text(api))
}

/// The reason why a call gave no result, in cases where no caller is refused because of it.
pub(super) fn failure(failure: &GoogleCallError) -> String {
    match failure {
        GoogleCallError::Refused(refusal) => words(refusal),
        GoogleCallError::Credentials(failure) => credentials_text(failure),
        GoogleCallError::EndpointDenied(api) => denied_text(api),
        GoogleCallError::GoogleUnusable(api) => unusable_text(api),
        GoogleCallError::GoogleUnavailable(api) => unavailable_text(api),
    }
}

fn credentials_text(failure: &CredentialsError) -> String {
    format!("failed to create oauth2 http client: {failure}")
}

fn denied_text(api: &str) -> String {
    format!(
        "outgoing requests to the {api} API are not allowed: add its host to the allowed hosts of the server"
    )
}

fn unusable_text(api: &str) -> String {
    format!("google API gave an unusable answer: {api}")
}

fn unavailable_text(api: &str) -> String {
    format!("google API unavailable: {api}")
}

/// A failure that the caller did not cause. The operator gets the same text.
fn operators(status: u16, text: String) -> ApiError {
    ApiError::plain(status, text.clone()).with_detail(text)
}
