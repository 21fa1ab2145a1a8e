//! Readers of what callers and Google send, each one pure function: for tests that feed generated input (SEC-V1). The capability uses what
//! these call, not these.

use crate::config::{Applied, ConfigRecord, apply as apply_config};
use crate::google::{instance_in, service_account_in, usable_keys};
use crate::jwt::UnverifiedJwt;
use crate::roles::apply_role;
use crate::rs256::VerifyingKey;
use crate::{
    ConfigChanges, ConfigError, ConfigView, JwtError, Mount, Role, RoleChanges, RoleError, Settings,
};

/// Id of every role that [`role`] makes.
const ROLE_ID: &str = "00000000-0000-4000-8000-000000000000";

/// Reads a token without looking at its signature, and gives the name of its key.
///
/// # Errors
///
/// As a login with it would be refused for its form.
pub fn jwt(token: &str) -> Result<String, JwtError> {
    UnverifiedJwt::parse(token).map(|jwt| jwt.key_id().to_owned())
}

/// True if `token` is signed by `key`.
///
/// # Errors
///
/// As [`jwt`].
pub fn verified_jwt(token: &str, key: &VerifyingKey) -> Result<bool, JwtError> {
    Ok(UnverifiedJwt::parse(token)?.verify(key).is_some())
}

/// The role that `changes` make of `stored`, or of nothing.
///
/// # Errors
///
/// When the write would be refused.
pub fn role(stored: Option<Role>, changes: &RoleChanges) -> Result<Role, RoleError> {
    const DAY: u64 = 24 * 3600;
    let mount = Mount {
        id: "mount".to_owned(),
        accessor: "accessor".to_owned(),
        path: "gcp/".to_owned(),
        default_lease: 32 * DAY,
        maximum_lease: 32 * DAY,
    };
    let config = ConfigRecord::default();
    let written = apply_role(stored, changes, &mount, &config, || Ok(ROLE_ID.to_owned()))?;
    Ok(written.role)
}

/// The configuration that `changes` make of none, as it is shown.
///
/// # Errors
///
/// When the write would be refused.
pub fn config(changes: &ConfigChanges, settings: &Settings) -> Result<ConfigView, ConfigError> {
    let Applied { record, .. } = apply_config(ConfigRecord::default(), changes, settings, 0)?;
    Ok(record.view())
}

/// How many keys that can verify are in a key document; `None` where it is not a key document.
#[must_use]
pub fn key_set(body: &[u8]) -> Option<usize> {
    usable_keys(body)
}

/// True if the IAM API's answer about an account tells who `subject` is.
#[must_use]
pub fn service_account(body: &[u8], subject: &str) -> bool {
    service_account_in(body).is_some_and(|account| account.is_called(subject))
}

/// True if the compute API's answer about an instance is one about `name`.
#[must_use]
pub fn instance(body: &[u8], name: &str) -> bool {
    instance_in(body, name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn v1_each_reader_takes_what_is_good_and_refuses_what_is_not() {
        let iam = RoleChanges {
            role_type: Some("iam".to_owned()),
            bound_service_accounts: Some(vec!["a@x.example".to_owned()]),
            ..RoleChanges::default()
        };
        let made = role(None, &iam).unwrap();
        assert_eq!(role(Some(made.clone()), &iam), Ok(made));
        assert!(role(None, &RoleChanges::default()).is_err());

        let endpoint = |value: &str| ConfigChanges {
            custom_endpoint: Some(vec![("api".to_owned(), value.to_owned())]),
            ..ConfigChanges::default()
        };
        let settings = Settings::default();
        assert!(config(&endpoint("www.googleapis.com"), &settings).is_ok());
        assert!(config(&endpoint("storage.googleapis.com"), &settings).is_err());

        assert_eq!(jwt("x"), Err(JwtError::NotThreeParts));
        assert_eq!(key_set(b"{}"), Some(0));
        assert_eq!(key_set(b"[]"), None);
        let account = br#"{"email":"a@x","uniqueId":"1","projectId":"p"}"#;
        assert!(service_account(account, "1") && !service_account(account, "2"));
        assert!(!service_account(
            br#"{"email":"a@x","uniqueId":"1","projectId":""}"#,
            "1"
        ));
        let found = br#"{"id":"42","name":"n","status":"RUNNING","creationTimestamp":"2023-11-14T22:13:20Z",
            "zone":"zones/z","selfLink":"https://h/projects/p/zones/z/instances/n"}"#;
        assert!(instance(found, "n") && !instance(found, "m") && !instance(b"{}", "n"));
    }
}
