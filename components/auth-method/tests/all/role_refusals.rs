//! Writes of roles that are refused: contract 3.2, 3.3.

use gatehouse_auth_method::{AboveBound, FieldsOfOtherType, RoleChanges, RoleError, RoleType};

use crate::google::EMAIL;
use crate::roles::{iam, list, read, text};
use crate::stage::Stage;

#[test]
fn contract_3_2_and_3_3_bad_writes_are_refused_and_nothing_is_stored() {
    let cases = refused_writes();
    for (number, (changes, expected)) in cases.into_iter().enumerate() {
        let stage = Stage::bare();
        let refused = stage.write_role("dev", changes).unwrap_err();
        assert_eq!(refused, expected, "case {number}");
        assert!(stage.store.keys().is_empty());
    }
}

fn refused_writes() -> Vec<(RoleChanges, RoleError)> {
    let fields = |fields: &[&'static str]| {
        RoleError::FieldsOfOtherType(FieldsOfOtherType {
            role_type: RoleType::Iam,
            fields: fields.iter().map(|&field| field.into()).collect(),
        })
    };
    let value = |value: &str| value.to_owned();
    vec![
        (RoleChanges::default(), RoleError::TypeMissing),
        (
            RoleChanges {
                role_type: text(""),
                ..iam()
            },
            RoleError::TypeMissing,
        ),
        (
            RoleChanges {
                role_type: text("gke"),
                ..iam()
            },
            RoleError::TypeInvalid(value("gke")),
        ),
        (
            RoleChanges {
                role_type: text("IAM"),
                ..iam()
            },
            RoleError::TypeInvalid(value("IAM")),
        ),
        (
            RoleChanges {
                bound_service_accounts: None,
                ..iam()
            },
            RoleError::NoServiceAccounts,
        ),
        (
            RoleChanges {
                bound_service_accounts: list(&["", " "]),
                ..iam()
            },
            RoleError::NoServiceAccounts,
        ),
        (
            RoleChanges {
                bound_service_accounts: list(&["*", EMAIL]),
                ..iam()
            },
            RoleError::WildcardWithOthers,
        ),
        (
            RoleChanges {
                bound_projects: list(&["a"]),
                project_id: text("b"),
                ..iam()
            },
            RoleError::ProjectsTwice,
        ),
        (
            RoleChanges {
                max_jwt_exp: Some(3601),
                ..iam()
            },
            RoleError::JwtLifetimeTooLong,
        ),
        (
            RoleChanges {
                bound_labels: list(&[]),
                ..iam()
            },
            fields(&["bound_labels"]),
        ),
        (
            RoleChanges {
                bound_zones: list(&["z"]),
                bound_instance_groups: list(&["g"]),
                bound_regions: list(&["r"]),
                ..iam()
            },
            fields(&["bound_instance_groups", "bound_regions", "bound_zones"]),
        ),
        (
            RoleChanges {
                token_bound_cidrs: list(&["x"]),
                ..iam()
            },
            RoleError::BoundCidr(value("x")),
        ),
        (
            RoleChanges {
                token_num_uses: Some(-1),
                ..iam()
            },
            RoleError::NegativeNumberOfUses,
        ),
        (
            RoleChanges {
                token_type: text("default-service"),
                ..iam()
            },
            RoleError::TokenType(value("default-service")),
        ),
        (
            RoleChanges {
                token_type: text("batch"),
                token_period: Some(1),
                ..iam()
            },
            RoleError::PeriodicBatch,
        ),
        (
            RoleChanges {
                token_type: text("batch"),
                period: Some(1),
                ..iam()
            },
            RoleError::PeriodicBatch,
        ),
        (
            RoleChanges {
                token_type: text("batch"),
                token_num_uses: Some(1),
                ..iam()
            },
            RoleError::LimitedUseBatch,
        ),
        (
            RoleChanges {
                token_ttl: Some(2),
                token_max_ttl: Some(1),
                ..iam()
            },
            RoleError::TtlAboveMaximumTtl,
        ),
        (
            RoleChanges {
                ttl: Some(2),
                max_ttl: Some(1),
                ..iam()
            },
            RoleError::TtlAboveMaximumTtl,
        ),
        (
            RoleChanges {
                token_period: Some(2_764_801),
                ..iam()
            },
            RoleError::PeriodAboveMountMaximum(AboveBound {
                given: 2_764_801,
                bound: 2_764_800,
            }),
        ),
    ]
}

#[test]
fn contract_3_3_a_token_may_live_as_long_as_its_maximum() {
    let stage = Stage::bare();
    let changes = RoleChanges {
        token_ttl: Some(2),
        token_max_ttl: Some(2),
        ..iam()
    };
    stage.write_role("dev", changes).unwrap();
}

#[test]
fn contract_3_3_the_first_failing_check_is_the_one_reported() {
    let stage = Stage::bare();
    let everything_wrong = RoleChanges {
        token_num_uses: Some(-1),
        role_type: text("x"),
        bound_service_accounts: list(&["*", "a"]),
        bound_zones: list(&["z"]),
        max_jwt_exp: Some(9999),
        ..RoleChanges::default()
    };
    let mut changes = everything_wrong;
    let mut next = |repair: fn(&mut RoleChanges)| {
        let refused = stage.write_role("dev", changes.clone()).unwrap_err();
        repair(&mut changes);
        refused
    };
    assert_eq!(
        next(|changes| changes.token_num_uses = None),
        RoleError::NegativeNumberOfUses
    );
    let invalid = RoleError::TypeInvalid("x".to_owned());
    assert_eq!(next(|changes| changes.role_type = text("iam")), invalid);
    assert_eq!(
        next(|changes| changes.bound_service_accounts = list(&[])),
        RoleError::WildcardWithOthers
    );
    let foreign = RoleError::FieldsOfOtherType(FieldsOfOtherType {
        role_type: RoleType::Iam,
        fields: vec!["bound_zones".into()],
    });
    assert_eq!(next(|changes| changes.bound_zones = None), foreign);
    assert_eq!(
        next(|changes| changes.max_jwt_exp = None),
        RoleError::JwtLifetimeTooLong
    );
    assert_eq!(next(|_| {}), RoleError::NoServiceAccounts);
}

#[test]
fn contract_3_3_an_update_keeps_type_and_rules_of_the_stored_role() {
    let stage = Stage::ready();
    let before = read(&stage);
    for (changes, expected) in [
        (
            RoleChanges {
                role_type: text("gce"),
                ..RoleChanges::default()
            },
            RoleError::TypeChanged,
        ),
        (
            RoleChanges {
                bound_zones: list(&["z"]),
                ..RoleChanges::default()
            },
            RoleError::FieldsOfOtherType(FieldsOfOtherType {
                role_type: RoleType::Iam,
                fields: vec!["bound_zones".into()],
            }),
        ),
        (
            RoleChanges {
                bound_service_accounts: list(&[]),
                ..RoleChanges::default()
            },
            RoleError::NoServiceAccounts,
        ),
    ] {
        assert_eq!(stage.write_role("dev", changes).unwrap_err(), expected);
        assert_eq!(read(&stage), before);
    }
}
