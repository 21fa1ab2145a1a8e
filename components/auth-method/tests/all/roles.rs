//! Roles: contract 3.

use gatehouse_auth_method::{
    AboveBound, ConfigChanges, DeprecatedField, IamRules, LegacyTokenFields, Precondition, Role,
    RoleChanges, RoleError, RoleOptions, RoleRules, RoleWarning, RoleWritten, Roles,
    TokenParameters, TokenType,
};
use gatehouse_ports::CommitError;

use crate::google::EMAIL;
use crate::stage::{Stage, dev_role};

pub fn list(names: &[&str]) -> Option<Vec<String>> {
    Some(names.iter().map(|name| (*name).to_owned()).collect())
}

pub fn text(value: &str) -> Option<String> {
    Some(value.to_owned())
}

pub fn iam() -> RoleChanges {
    RoleChanges {
        role_type: text("iam"),
        bound_service_accounts: list(&[EMAIL]),
        ..RoleChanges::default()
    }
}

pub fn read(stage: &Stage) -> Role {
    stage
        .service
        .read_role(&stage.mount, "dev")
        .unwrap()
        .unwrap()
}

fn deprecated(used: &'static str, instead: &'static str) -> RoleWarning {
    RoleWarning::DeprecatedField(DeprecatedField {
        used: used.into(),
        instead: instead.into(),
    })
}

#[test]
fn contract_3_4_a_new_role_has_an_id_and_the_defaults() {
    let stage = Stage::bare();
    let written = stage.write_role("dev", iam()).unwrap();
    let expected = RoleWritten {
        created: true,
        warnings: Vec::new(),
    };
    assert_eq!(written, expected);
    let role = read(&stage);
    let version = role.role_id.as_bytes()[14];
    assert_eq!((role.role_id.len(), version), (36, b'4'), "a random UUID");
    let expected = Role {
        role_id: role.role_id.clone(),
        rules: RoleRules::Iam(IamRules {
            maximum_jwt_lifetime: 900,
            allow_gce_inference: true,
        }),
        bound_service_accounts: vec![EMAIL.to_owned()],
        bound_projects: Vec::new(),
        add_group_aliases: false,
        token: TokenParameters::default(),
        legacy: LegacyTokenFields::default(),
        options: RoleOptions::default(),
    };
    assert_eq!(role, expected);
}

#[test]
fn contract_3_4_an_update_changes_only_what_it_names() {
    let stage = Stage::bare();
    stage.role(RoleChanges {
        bound_projects: list(&[" p2", "p1", "", "p2"]),
        add_group_aliases: Some(true),
        max_jwt_exp: Some(60),
        allow_gce_inference: Some(false),
        token_ttl: Some(1),
        token_max_ttl: Some(2),
        token_explicit_max_ttl: Some(3),
        token_period: Some(4),
        token_policies: list(&[" Prod", "dev"]),
        token_bound_cidrs: list(&["10.0.0.1/32", "10.0.0.0/8"]),
        token_no_default_policy: Some(true),
        token_num_uses: Some(5),
        token_type: text("service"),
        ..iam()
    });
    let before = read(&stage);
    assert_eq!(before.bound_projects, ["p1", "p2"]);
    assert_eq!(before.token.policies, ["Prod", "dev"]);
    assert_eq!(before.token.bound_cidrs, ["10.0.0.1", "10.0.0.0/8"]);
    assert_eq!(before.token.token_type, TokenType::Service);
    let written = stage.write_role("dev", RoleChanges::default()).unwrap();
    assert!(!written.created);
    assert_eq!(read(&stage), before);
    stage.role(RoleChanges {
        role_type: text("iam"),
        bound_projects: list(&[]),
        token_policies: list(&[]),
        max_jwt_exp: Some(0),
        ..RoleChanges::default()
    });
    let mut expected = before;
    expected.bound_projects.clear();
    expected.token.policies.clear();
    expected.rules = RoleRules::Iam(IamRules {
        maximum_jwt_lifetime: 900,
        allow_gce_inference: false,
    });
    assert_eq!(read(&stage), expected);
}

#[test]
fn contract_3_2_old_names_of_token_fields_set_both_and_are_forgotten_by_the_new_name() {
    let stage = Stage::bare();
    stage.role(RoleChanges {
        policies: list(&["Prod", "dev", "prod"]),
        ttl: Some(1),
        max_ttl: Some(2),
        period: Some(3),
        ..iam()
    });
    let role = read(&stage);
    assert_eq!(role.token.policies, ["dev", "prod"]);
    assert_eq!(
        (role.token.ttl, role.token.maximum_ttl, role.token.period),
        (1, 2, 3)
    );
    let expected = LegacyTokenFields {
        policies: list(&["dev", "prod"]),
        ttl: Some(1),
        maximum_ttl: Some(2),
        period: Some(3),
    };
    assert_eq!(role.legacy, expected);
    stage.role(RoleChanges {
        token_ttl: Some(5),
        ttl: Some(9),
        token_max_ttl: Some(6),
        token_policies: list(&["New"]),
        policies: list(&[]),
        ..RoleChanges::default()
    });
    let role = read(&stage);
    let expected = LegacyTokenFields {
        policies: list(&["New"]),
        ttl: Some(5),
        maximum_ttl: None,
        period: Some(3),
    };
    assert_eq!((role.token.ttl, role.token.maximum_ttl), (5, 6));
    assert_eq!(role.legacy, expected);
    stage.role(RoleChanges {
        policies: list(&["x", "root"]),
        ..RoleChanges::default()
    });
    assert_eq!(read(&stage).token.policies, ["root"]);
}

#[test]
fn contract_3_2_old_names_of_bindings_work_and_warn() {
    let stage = Stage::bare();
    let written = stage
        .write_role(
            "dev",
            RoleChanges {
                role_type: text("iam"),
                service_accounts: list(&["b@x", "a@x", "b@x"]),
                project_id: text("p1"),
                bound_zone: text("ignored"),
                bound_region: text("ignored"),
                bound_instance_group: text("ignored"),
                ..RoleChanges::default()
            },
        )
        .unwrap();
    let expected = [
        deprecated("service_accounts", "bound_service_accounts"),
        deprecated("project_id", "bound_projects"),
    ];
    assert_eq!(written.warnings, expected);
    let role = read(&stage);
    assert_eq!(role.bound_service_accounts, ["a@x", "b@x"]);
    assert_eq!(role.bound_projects, ["p1"]);
    let both = RoleChanges {
        bound_service_accounts: list(&["new@x"]),
        service_accounts: list(&["old@x"]),
        ..RoleChanges::default()
    };
    assert!(stage.write_role("dev", both).unwrap().warnings.is_empty());
    assert_eq!(read(&stage).bound_service_accounts, ["new@x"]);
}

#[test]
fn contract_3_2_all_warnings_are_returned() {
    let mut stage = Stage::bare();
    stage.mount.default_lease = 100;
    stage.mount.maximum_lease = 1000;
    let changes = RoleChanges {
        role_type: text("iam"),
        bound_service_accounts: list(&["*"]),
        add_group_aliases: Some(true),
        token_ttl: Some(2000),
        token_max_ttl: Some(3000),
        ..RoleChanges::default()
    };
    let expected = [
        RoleWarning::TtlAboveMountMaximum(AboveBound {
            given: 2000,
            bound: 1000,
        }),
        RoleWarning::MaximumTtlAboveMountMaximum(AboveBound {
            given: 3000,
            bound: 1000,
        }),
        RoleWarning::TtlAboveMountDefault(AboveBound {
            given: 2000,
            bound: 100,
        }),
        RoleWarning::GroupAliasesOnSharedEntity,
        RoleWarning::AnyServiceAccountOfAnyProject,
    ];
    assert_eq!(stage.write_role("dev", changes).unwrap().warnings, expected);
    stage.configure(ConfigChanges {
        iam_alias: text("unique_id"),
        ..ConfigChanges::default()
    });
    let calm = RoleChanges {
        bound_projects: list(&["p1"]),
        token_ttl: Some(100),
        token_max_ttl: Some(1000),
        ..RoleChanges::default()
    };
    assert!(stage.write_role("dev", calm).unwrap().warnings.is_empty());
}

#[test]
fn g17_every_verb_folds_the_name() {
    let stage = Stage::bare();
    stage.write_role("Dev.One", iam()).unwrap();
    assert_eq!(stage.keys(), ["m1/role/dev.one"]);
    assert!(
        !stage
            .write_role("DEV.ONE", RoleChanges::default())
            .unwrap()
            .created
    );
    assert!(
        stage
            .service
            .read_role(&stage.mount, "dEV.oNE")
            .unwrap()
            .is_some()
    );
    assert_eq!(stage.service.list_roles(&stage.mount).unwrap(), ["dev.one"]);
    stage.service.delete_role(&stage.mount, "DEV.one").unwrap();
    assert!(stage.keys().is_empty());
}

#[test]
fn contract_3_1_names_that_no_role_can_have() {
    let stage = Stage::ready();
    for name in ["", "-a", "a.", "a/b", "ä", "../config", &"a".repeat(129)] {
        assert_eq!(
            stage.write_role(name, iam()).unwrap_err(),
            RoleError::InvalidName
        );
        assert_eq!(stage.service.read_role(&stage.mount, name).unwrap(), None);
        stage.service.delete_role(&stage.mount, name).unwrap();
    }
    assert_eq!(stage.keys(), ["m1/config", "m1/credentials", "m1/role/dev"]);
}

#[test]
fn contract_3_1_roles_are_listed_in_order_and_by_mount() {
    let stage = Stage::bare();
    assert!(stage.service.list_roles(&stage.mount).unwrap().is_empty());
    for name in ["b", "a", "a-b", "C"] {
        stage.write_role(name, iam()).unwrap();
    }
    let other = crate::stage::mount("m2");
    let any = Precondition::Any;
    stage
        .service
        .write_role(&other, "elsewhere", iam(), any)
        .unwrap();
    assert_eq!(
        stage.service.list_roles(&stage.mount).unwrap(),
        ["a", "a-b", "b", "c"]
    );
    stage.service.delete_role(&stage.mount, "nobody").unwrap();
}

#[test]
fn contract_3_4_a_role_made_again_has_another_id() {
    let stage = Stage::ready();
    let before = read(&stage).role_id;
    stage.service.delete_role(&stage.mount, "dev").unwrap();
    stage.role(dev_role());
    assert_ne!(read(&stage).role_id, before);
}

#[test]
fn preconditions_are_part_of_the_write() {
    let stage = Stage::bare();
    let write = |precondition| {
        stage
            .service
            .write_role(&stage.mount, "dev", iam(), precondition)
    };
    assert_eq!(
        write(Precondition::MustExist).unwrap_err(),
        RoleError::DoesNotExist
    );
    assert!(stage.store.keys().is_empty());
    assert!(write(Precondition::MustBeNew).unwrap().created);
    assert_eq!(
        write(Precondition::MustBeNew).unwrap_err(),
        RoleError::Exists
    );
    assert!(!write(Precondition::MustExist).unwrap().created);
}

#[test]
fn contract_3_4_a_write_that_meets_another_is_repeated() {
    let stage = Stage::ready();
    stage
        .store
        .fail_next_commit(CommitError::Conflict("m1/role/dev".to_owned()));
    stage.role(RoleChanges {
        token_ttl: Some(7),
        ..RoleChanges::default()
    });
    assert_eq!(read(&stage).token.ttl, 7);
}

#[test]
fn a_role_that_no_record_can_hold_is_refused() {
    let stage = Stage::bare();
    let accounts: Vec<String> = (0..60_000)
        .map(|number| format!("a{number}@project.example"))
        .collect();
    let changes = RoleChanges {
        bound_service_accounts: Some(accounts),
        ..iam()
    };
    assert_eq!(
        stage.write_role("dev", changes).unwrap_err(),
        RoleError::TooLarge
    );
    assert!(stage.store.keys().is_empty());
}
