//! Writes of gce roles that are refused: contract 3.2, 3.3.

use gatehouse_auth_method::{
    AboveBound, FieldsOfOtherType, RoleChanges, RoleError, RoleType, SentTwice,
};

use crate::gce_roles::{refused, rules, warnings};
use crate::instances::gce;
use crate::roles::{iam, list, read, text};
use crate::stage::Stage;

#[test]
fn contract_3_2_bad_gce_values_are_refused_and_nothing_is_stored() {
    let cases = [
        (
            RoleChanges {
                bound_labels: list(&["good:x", "bad", "Env:x", ""]),
                ..gce()
            },
            RoleError::InvalidLabels(list(&["bad", "Env:x", ""]).unwrap()),
        ),
        (
            RoleChanges {
                bound_instance_groups: list(&["g"]),
                ..gce()
            },
            RoleError::GroupsWithoutLocation,
        ),
        (
            RoleChanges {
                bound_instance_group: text("g"),
                ..gce()
            },
            RoleError::GroupsWithoutLocation,
        ),
        (
            RoleChanges {
                bound_service_accounts: list(&["*", "a@x"]),
                ..gce()
            },
            RoleError::WildcardWithOthers,
        ),
        (
            RoleChanges {
                alias_source: text("unique_id"),
                ..gce()
            },
            RoleError::AliasSource(RoleType::Gce),
        ),
        (
            RoleChanges {
                alias_source: text("instance_id"),
                ..iam()
            },
            RoleError::AliasSource(RoleType::Iam),
        ),
        (
            RoleChanges {
                alias_source: text("Role_ID"),
                ..iam()
            },
            RoleError::AliasSource(RoleType::Iam),
        ),
        (
            RoleChanges {
                bound_folders: list(&["12", "folders/34"]),
                ..gce()
            },
            RoleError::AncestorNumber("folders/34".to_owned()),
        ),
        (
            RoleChanges {
                bound_organizations: list(&["example.com"]),
                ..iam()
            },
            RoleError::AncestorNumber("example.com".to_owned()),
        ),
    ];
    for (number, (changes, expected)) in cases.into_iter().enumerate() {
        let stage = Stage::bare();
        assert_eq!(refused(&stage, changes), expected, "case {number}");
        assert!(stage.store.keys().is_empty());
    }
}

#[test]
fn contract_3_3_fields_of_the_other_type_are_refused_on_create_and_on_update() {
    let foreign = |role_type, fields: &[&'static str]| {
        RoleError::FieldsOfOtherType(FieldsOfOtherType {
            role_type,
            fields: fields.iter().map(|&field| field.into()).collect(),
        })
    };
    let of_gce = |base: RoleChanges| RoleChanges {
        bound_zones: list(&[]),
        max_instance_age: Some(0),
        bound_regions: list(&["r"]),
        bound_labels: list(&["bad"]),
        bound_instance_groups: list(&["g"]),
        ..base
    };
    let of_iam = |base: RoleChanges| RoleChanges {
        max_jwt_exp: Some(9999),
        allow_gce_inference: Some(true),
        ..base
    };
    let on_iam = foreign(
        RoleType::Iam,
        &[
            "bound_instance_groups",
            "bound_labels",
            "bound_regions",
            "bound_zones",
            "max_instance_age",
        ],
    );
    let on_gce = foreign(RoleType::Gce, &["allow_gce_inference", "max_jwt_exp"]);
    let stage = Stage::bare();
    assert_eq!(refused(&stage, of_gce(iam())), on_iam);
    assert_eq!(refused(&stage, of_iam(gce())), on_gce);
    stage.role(gce());
    assert_eq!(refused(&stage, of_iam(RoleChanges::default())), on_gce);
    let stage = Stage::ready();
    assert_eq!(refused(&stage, of_gce(RoleChanges::default())), on_iam);
    let ignored = RoleChanges {
        bound_zone: text("z"),
        bound_region: text("r"),
        bound_instance_group: text("g"),
        ..RoleChanges::default()
    };
    let before = read(&stage);
    assert_eq!(warnings(&stage, ignored), []);
    assert_eq!(read(&stage), before);
}

#[test]
fn contract_3_3_the_order_of_the_checks_on_gce_roles() {
    let stage = Stage::bare();
    let mut changes = RoleChanges {
        token_ttl: Some(2),
        token_max_ttl: Some(1),
        role_type: text("vm"),
        bound_service_accounts: list(&["*", "a"]),
        bound_projects: list(&["p"]),
        project_id: text("p"),
        bound_folders: list(&["x"]),
        max_jwt_exp: Some(1),
        alias_source: text("x"),
        bound_zone: text("z"),
        bound_zones: list(&["z"]),
        bound_labels: list(&["x"]),
        bound_instance_groups: list(&["g"]),
        live_checks: Some(false),
        token_period: Some(9_999_999),
        ..RoleChanges::default()
    };
    let mut next = |expected: RoleError, repair: fn(&mut RoleChanges)| {
        assert_eq!(refused(&stage, changes.clone()), expected);
        repair(&mut changes);
    };
    next(RoleError::TtlAboveMaximumTtl, |changes| {
        changes.token_ttl = None
    });
    next(RoleError::TypeInvalid("vm".to_owned()), |changes| {
        changes.role_type = text("gce")
    });
    next(RoleError::WildcardWithOthers, |changes| {
        changes.bound_service_accounts = None
    });
    next(RoleError::ProjectsTwice, |changes| {
        changes.project_id = None
    });
    next(RoleError::AncestorNumber("x".to_owned()), |changes| {
        changes.bound_folders = None
    });
    let foreign = RoleError::FieldsOfOtherType(FieldsOfOtherType {
        role_type: RoleType::Gce,
        fields: vec!["max_jwt_exp".into()],
    });
    next(foreign, |changes| changes.max_jwt_exp = None);
    next(RoleError::AliasSource(RoleType::Gce), |changes| {
        changes.alias_source = None
    });
    let twice = RoleError::SentTwice(SentTwice {
        old: "bound_zone".into(),
        new: "bound_zones".into(),
    });
    next(twice, |changes| {
        changes.bound_zone = None;
        changes.bound_zones = None;
    });
    next(RoleError::InvalidLabels(vec!["x".to_owned()]), |changes| {
        changes.bound_labels = None
    });
    next(RoleError::GroupsWithoutLocation, |changes| {
        changes.bound_regions = list(&["r"])
    });
    let live = RoleError::NeedsLiveChecks(vec!["bound_instance_groups".into()]);
    next(live, |changes| changes.live_checks = None);
    let period = RoleError::PeriodAboveMountMaximum(AboveBound {
        given: 9_999_999,
        bound: 2_764_800,
    });
    next(period, |changes| changes.token_period = None);
    assert!(stage.store.keys().is_empty());
    assert!(stage.write_role("dev", changes).is_ok());
}

#[test]
fn contract_3_2_a_gce_list_is_not_sent_under_both_names() {
    let stage = Stage::bare();
    let one = || text("x");
    let all = || list(&["x"]);
    let twice = |old: &'static str, new: &'static str| {
        RoleError::SentTwice(SentTwice {
            old: old.into(),
            new: new.into(),
        })
    };
    let cases = [
        (
            RoleChanges {
                bound_zone: one(),
                bound_zones: all(),
                ..gce()
            },
            twice("bound_zone", "bound_zones"),
        ),
        (
            RoleChanges {
                bound_region: one(),
                bound_regions: all(),
                ..gce()
            },
            twice("bound_region", "bound_regions"),
        ),
        (
            RoleChanges {
                bound_instance_group: one(),
                bound_instance_groups: list(&[]),
                ..gce()
            },
            twice("bound_instance_group", "bound_instance_groups"),
        ),
    ];
    for (changes, expected) in cases {
        assert_eq!(refused(&stage, changes), expected);
    }
    assert!(stage.store.keys().is_empty());
}

#[test]
fn contract_3_2_a_location_cannot_be_taken_from_under_the_groups() {
    let stage = Stage::bare();
    stage.role(RoleChanges {
        bound_zones: list(&["z"]),
        bound_instance_groups: list(&["g"]),
        ..gce()
    });
    let without = |regions: &[&str]| RoleChanges {
        bound_zones: list(&[]),
        bound_regions: list(regions),
        ..RoleChanges::default()
    };
    assert_eq!(
        refused(&stage, without(&[])),
        RoleError::GroupsWithoutLocation
    );
    stage.role(without(&["r"]));
    assert_eq!(rules(&stage).bound_regions, ["r"]);
}
