//! The rest of the configuration: contract 2.1 to 2.5.

use gatehouse_auth_method::{
    AliasSource, Config, ConfigChanges, ConfigError, ConfigView, CredentialsSource,
    CustomEndpoints, EndpointError, EndpointValue, Metadata, MetadataError, RoleType, Roles,
    RotationSettings, Unavailable,
};
use gatehouse_ports::{CommitError, StoreError};

use crate::stage::{Stage, dev_role, mount};

fn list(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn defaults() -> ConfigView {
    ConfigView {
        credentials: None,
        iam_alias: AliasSource::RoleId,
        gce_alias: AliasSource::RoleId,
        iam_metadata: list(&[
            "project_id",
            "role",
            "service_account_id",
            "service_account_email",
        ]),
        gce_metadata: list(&[
            "instance_creation_timestamp",
            "instance_id",
            "instance_name",
            "project_id",
            "project_number",
            "role",
            "service_account_id",
            "service_account_email",
            "zone",
        ]),
        custom_endpoint: CustomEndpoints::default(),
        credentials_source: CredentialsSource::ApplicationDefault,
        service_account_email: String::new(),
        identity_token_audience: String::new(),
        identity_token_ttl: 3600,
        rotation: RotationSettings::default(),
    }
}

fn endpoint(key: &str, value: &str) -> ConfigChanges {
    ConfigChanges {
        custom_endpoint: Some(vec![(key.to_owned(), value.to_owned())]),
        ..ConfigChanges::default()
    }
}

#[test]
fn contract_2_1_a_mount_that_was_never_configured_has_the_defaults() {
    let stage = Stage::bare();
    assert_eq!(stage.service.read_config(&stage.mount).unwrap(), defaults());
    assert!(stage.store.keys().is_empty());
}

#[test]
fn contract_2_1_a_write_keeps_what_it_does_not_name() {
    let stage = Stage::bare();
    stage.configure(ConfigChanges {
        iam_alias: Some("unique_id".to_owned()),
        gce_alias: Some("instance_id".to_owned()),
        ..ConfigChanges::default()
    });
    stage.configure(ConfigChanges {
        iam_metadata: Some(list(&["Role", "project_id", "role"])),
        gce_metadata: Some(Vec::new()),
        ..ConfigChanges::default()
    });
    stage.configure(endpoint("iam", "iam.googleapis.com/"));
    stage.configure(endpoint(
        "crm",
        "https://cloudresourcemanager.googleapis.com",
    ));
    stage.configure(ConfigChanges::default());
    let expected = ConfigView {
        iam_alias: AliasSource::Caller,
        gce_alias: AliasSource::Caller,
        iam_metadata: list(&["project_id", "role"]),
        gce_metadata: Vec::new(),
        custom_endpoint: CustomEndpoints {
            iam: Some("iam.googleapis.com/".to_owned()),
            crm: Some("https://cloudresourcemanager.googleapis.com".to_owned()),
            ..CustomEndpoints::default()
        },
        ..defaults()
    };
    assert_eq!(stage.service.read_config(&stage.mount).unwrap(), expected);
    stage.configure(endpoint("iam", ""));
    stage.configure(endpoint("crm", ""));
    stage.configure(ConfigChanges {
        iam_alias: Some(String::new()),
        gce_alias: Some("role_id".to_owned()),
        iam_metadata: Some(list(&["default"])),
        gce_metadata: Some(list(&["default"])),
        ..ConfigChanges::default()
    });
    assert_eq!(stage.service.read_config(&stage.mount).unwrap(), defaults());
}

#[test]
fn contract_2_2_to_2_4_bad_values_are_refused_and_nothing_is_stored() {
    let stage = Stage::bare();
    let changes = ConfigChanges::default;
    let alias = |value: &str| Some(value.to_owned());
    let metadata = |role_type, flaw| ConfigError::Metadata(Metadata { role_type, flaw });
    let value = |key: &'static str, flaw| {
        ConfigError::EndpointValue(EndpointValue {
            key: key.into(),
            flaw,
        })
    };
    let both = MetadataError::DefaultWithOthers(list(&["a", "default"]));
    let unknown = MetadataError::Unavailable(Unavailable {
        name: "zone".to_owned(),
        available: vec![
            "project_id".into(),
            "role".into(),
            "service_account_id".into(),
            "service_account_email".into(),
        ],
    });
    let cases = [
        (
            ConfigChanges {
                iam_alias: alias("instance_id"),
                ..changes()
            },
            ConfigError::Alias(RoleType::Iam),
        ),
        (
            ConfigChanges {
                gce_alias: alias("unique_id"),
                ..changes()
            },
            ConfigError::Alias(RoleType::Gce),
        ),
        (
            ConfigChanges {
                iam_alias: alias("Role_ID"),
                ..changes()
            },
            ConfigError::Alias(RoleType::Iam),
        ),
        (
            ConfigChanges {
                iam_metadata: Some(list(&["default", "a"])),
                ..changes()
            },
            metadata(RoleType::Iam, both.clone()),
        ),
        (
            ConfigChanges {
                gce_metadata: Some(list(&["default", "a"])),
                ..changes()
            },
            metadata(RoleType::Gce, both),
        ),
        (
            ConfigChanges {
                iam_metadata: Some(list(&["zone"])),
                ..changes()
            },
            metadata(RoleType::Iam, unknown),
        ),
        (
            endpoint("oauth", "https://x"),
            ConfigError::EndpointKey("oauth".to_owned()),
        ),
        (
            endpoint("API", "https://x"),
            ConfigError::EndpointKey("API".to_owned()),
        ),
        (
            endpoint("api", "https://evil.example"),
            value("api", EndpointError::HostNotAllowed),
        ),
        (
            endpoint("api", "www.googleapis.com/base/%2e%2e"),
            value("api", EndpointError::NotUrl),
        ),
        (
            endpoint("iam", "http://iam.googleapis.com"),
            value("iam", EndpointError::PlainHttp),
        ),
        (
            endpoint("crm", "https://169.254.169.254"),
            value("crm", EndpointError::LinkLocal),
        ),
        (
            endpoint("compute", "https://a@googleapis.com"),
            value("compute", EndpointError::UserInformation),
        ),
    ];
    for (number, (changes, expected)) in cases.into_iter().enumerate() {
        let refused = stage
            .service
            .write_config(&stage.mount, changes)
            .unwrap_err();
        assert_eq!(refused, expected, "case {number}");
        assert!(stage.store.keys().is_empty());
    }
}

#[test]
fn contract_2_3_rule_1_one_bad_key_leaves_the_whole_request_unstored() {
    let stage = Stage::bare();
    let changes = ConfigChanges {
        iam_alias: Some("unique_id".to_owned()),
        custom_endpoint: Some(vec![
            ("iam".to_owned(), "https://iam.googleapis.com".to_owned()),
            ("x".to_owned(), "https://iam.googleapis.com".to_owned()),
        ]),
        ..ConfigChanges::default()
    };
    assert!(stage.service.write_config(&stage.mount, changes).is_err());
    assert!(stage.store.keys().is_empty());
}

#[test]
fn contract_2_3_rule_1_an_unknown_key_counts_before_a_bad_value() {
    let stage = Stage::bare();
    let changes = ConfigChanges {
        custom_endpoint: Some(vec![
            ("api".to_owned(), "https://evil.example".to_owned()),
            ("x".to_owned(), String::new()),
        ]),
        ..ConfigChanges::default()
    };
    let refused = stage.service.write_config(&stage.mount, changes);
    assert_eq!(refused, Err(ConfigError::EndpointKey("x".to_owned())));
    assert!(stage.store.keys().is_empty());
}

#[test]
fn contract_2_1_delete_resets_to_the_defaults_and_drops_the_key() {
    let stage = Stage::ready();
    stage.service.delete_config(&stage.mount).unwrap();
    assert_eq!(stage.keys(), ["m1/role/dev"]);
    assert_eq!(stage.service.read_config(&stage.mount).unwrap(), defaults());
    stage.service.delete_config(&stage.mount).unwrap();
}

#[test]
fn a_write_that_meets_another_is_repeated_and_loses_nothing() {
    let stage = Stage::bare();
    stage
        .store
        .fail_next_commit(CommitError::Conflict("m1/config".to_owned()));
    stage.configure(endpoint("iam", "iam.googleapis.com"));
    assert_eq!(stage.store.keys(), ["m1/config"]);
    let sealed = StoreError::Sealed;
    stage
        .store
        .fail_next_commit(CommitError::Failed(sealed.clone()));
    let refused = stage
        .service
        .write_config(&stage.mount, ConfigChanges::default())
        .unwrap_err();
    assert_eq!(refused, ConfigError::Storage(sealed.into()));
}

#[test]
fn a_mount_that_is_gone_leaves_nothing_and_others_keep_theirs() {
    let stage = Stage::ready();
    let other = mount("m10");
    let any = gatehouse_auth_method::Precondition::Any;
    stage
        .service
        .write_role(&other, "dev", dev_role(), any)
        .unwrap();
    for number in 0..1200 {
        stage
            .write_role(&format!("role-{number}"), dev_role())
            .unwrap();
    }
    stage.service.forget_mount("m1").unwrap();
    assert_eq!(
        stage.store.keys(),
        ["m10/role-name/dev", "m10/role-names", "m10/role/dev"]
    );
    stage.service.forget_mount("m1").unwrap();
}
