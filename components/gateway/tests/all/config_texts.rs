//! Every refusal of a configuration and every warning about one, with status and text (contract 2.2 to 2.4, 2.6).

use gatehouse_auth_method::{
    ConfigBound, ConfigError, ConfigWarning, EndpointError, EndpointValue, IdentityTokenError,
    JsonPosition, KeyFileError, Metadata, MetadataError, RoleType, ScheduleError, Unavailable,
};
use gatehouse_ports::StoreError;

use super::rows::{rows, texts};
use super::server::{Server, listed};

fn refused(error: ConfigError, status: u16, text: &str) {
    let server = Server::with_method();
    let before = server.commits();
    server.script.config_write.is(Err(error));
    server
        .post("auth/gcp/config", r#"{"credentials":"the-secret"}"#)
        .refused(status, &listed(text));
    assert_eq!(server.commits(), before);
}

fn endpoint(flaw: EndpointError) -> ConfigError {
    ConfigError::EndpointValue(EndpointValue {
        key: "api".into(),
        flaw,
    })
}

rows! { refused:
    credentials_not_json: ConfigError::Credentials(KeyFileError::NotJson(JsonPosition { line: 1, column: 2 })) => 400 "failed to read credentials: not a JSON object of a key file (line 1, column 2)";
    credentials_too_long: ConfigError::Credentials(KeyFileError::TooLong) => 400 "failed to read credentials: longer than 64 KiB";
    credentials_without_key_id: ConfigError::Credentials(KeyFileError::PrivateKeyIdMissing) => 400 "missing private key in credentials";
    credentials_of_another_type: ConfigError::Credentials(KeyFileError::NotServiceAccount) => 400 "failed to read credentials: type is not service_account";
    credentials_without_email: ConfigError::Credentials(KeyFileError::ClientEmailMissing) => 400 "failed to read credentials: client_email is missing";
    credentials_with_an_unusable_key: ConfigError::Credentials(KeyFileError::PrivateKeyUnusable) => 400 "failed to read credentials: private_key is not a usable PEM RSA key";
    d11_iam_alias: ConfigError::Alias(RoleType::Iam) => 400 "invalid IAM alias type: must be one of: role_id, unique_id";
    d11_gce_alias: ConfigError::Alias(RoleType::Gce) => 400 "invalid GCE alias type: must be one of: instance_id, role_id";
    iam_metadata_default_with_others: ConfigError::Metadata(Metadata { role_type: RoleType::Iam, flaw: MetadataError::DefaultWithOthers(texts(&["a", "default"])) }) => 400 "failed to parse iam metadata: [\"a\" \"default\"] contains default - default can't be used in combination with other fields";
    gce_metadata_default_with_others: ConfigError::Metadata(Metadata { role_type: RoleType::Gce, flaw: MetadataError::DefaultWithOthers(texts(&["a", "default"])) }) => 400 "failed to parse gce metadata: [\"a\" \"default\"] contains default - default can't be used in combination with other fields";
    metadata_unknown: ConfigError::Metadata(Metadata { role_type: RoleType::Gce, flaw: MetadataError::Unavailable(Unavailable { name: "x".to_owned(), available: vec!["role".into(), "zone".into()] }) }) => 400 "failed to parse gce metadata: \"x\" contains an unavailable field, please select from \"role, zone\"";
    endpoint_key_unknown: ConfigError::EndpointKey("x".to_owned()) => 400 "invalid custom endpoint type \"x\". Available types are: 'api', 'iam', 'crm', 'compute'";
    endpoint_not_a_url: endpoint(EndpointError::NotUrl) => 400 "invalid custom endpoint value for \"api\": it is not a URL of the form [scheme://]host[:port][/path] without segments '.' and '..'";
    endpoint_with_user: endpoint(EndpointError::UserInformation) => 400 "invalid custom endpoint value for \"api\": it must not contain user information";
    endpoint_with_query: endpoint(EndpointError::QueryOrFragment) => 400 "invalid custom endpoint value for \"api\": it must not contain a query or a fragment";
    endpoint_with_another_scheme: endpoint(EndpointError::Scheme) => 400 "invalid custom endpoint value for \"api\": the scheme must be https";
    endpoint_in_plain_http: endpoint(EndpointError::PlainHttp) => 400 "invalid custom endpoint value for \"api\": plain http is allowed for loopback addresses only, and only where the server operator allowed it";
    endpoint_link_local: endpoint(EndpointError::LinkLocal) => 400 "invalid custom endpoint value for \"api\": link-local addresses and metadata servers are never allowed";
    endpoint_not_allowed: endpoint(EndpointError::HostNotAllowed) => 400 "invalid custom endpoint value for \"api\": the host is not among those that the server operator allowed: beside Google's own API hosts, only those that google.allowed_hosts names in the server's settings";
    endpoint_with_a_path_on_googles_host: endpoint(EndpointError::PathNotAllowed) => 400 "invalid custom endpoint value for \"api\": a path is not allowed on Google's own hosts, except that of the compute API, unless google.allowed_hosts names the host in the server's settings";
    credentials_and_audience: ConfigError::CredentialsTwice => 400 "only one of 'credentials' or 'identity_token_audience' can be set";
    audience_without_account: ConfigError::ServiceAccountMissing => 400 "missing required 'service_account_email' when 'identity_token_audience' is set";
    service_account_that_is_none: ConfigError::ServiceAccountEmail => 400 "invalid 'service_account_email': it is not the email address of a service account";
    audience_without_issuer: ConfigError::IdentityToken(IdentityTokenError::NoIssuer) => 400 "failed to generate plugin identity token: the server has no issuer: set one, or the server's advertised address";
    audience_without_randomness: ConfigError::IdentityToken(IdentityTokenError::Random) => 400 "failed to generate plugin identity token: no randomness to make a key from";
    rotation_schedule_without_five_fields: ConfigError::RotationSchedule(ScheduleError::FieldCount) => 400 "failed to parse provided rotation_schedule: expected exactly 5 fields";
    rotation_schedule_with_an_unknown_field: ConfigError::RotationSchedule(ScheduleError::Field(3)) => 400 "failed to parse provided rotation_schedule: field 3 cannot be read";
    rotation_schedule_that_never_fires: ConfigError::RotationSchedule(ScheduleError::Never) => 400 "failed to parse provided rotation_schedule: it never fires";
    rotation_schedule_and_period: ConfigError::RotationTwice => 400 "mutually exclusive fields rotation_schedule and rotation_period were both specified; only one of them can be provided";
    rotation_window_without_schedule: ConfigError::WindowWithoutSchedule => 400 "cannot use rotation_window without rotation_schedule";
    rotation_window_with_period: ConfigError::WindowWithPeriod => 400 "rotation_window does not apply to period";
    too_long: ConfigError::TooLong(ConfigBound { field: "rotation_policy".into(), maximum: 1024 }) => 400 "'rotation_policy' cannot be longer than 1024 bytes";
    too_large: ConfigError::TooLarge => 400 "the configuration is too large to be stored";
}

#[test]
fn a_sealed_store_is_no_bad_input() {
    for error in [
        ConfigError::Storage(StoreError::Sealed.into()),
        ConfigError::IdentityToken(IdentityTokenError::Storage(StoreError::Sealed.into())),
    ] {
        let server = Server::with_method();
        server.script.config_write.is(Err(error));
        server
            .post("auth/gcp/config", "{}")
            .refused(503, "Vault is sealed");
    }
}

#[test]
fn a_write_with_warnings_has_an_envelope() {
    let server = Server::with_method();
    let warnings = vec![ConfigWarning::KeysFromForeignHost];
    server.script.config_write.is(Ok(warnings));
    let answer = server.post("auth/gcp/config", "{}").expect(200);
    let text = "\"custom_endpoint\" lets public keys come from a host that is not Google's (\"api\"): its operator decides who can log in";
    assert_eq!(answer.warnings(), [text]);
    assert_eq!(answer.data(), serde_json::Value::Null);
}
