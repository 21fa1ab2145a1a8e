//! Writes of gce roles, and of the fields that both types have beyond the reference's: contract 3.2 to 3.4.

use std::collections::BTreeMap;

use gatehouse_auth_method::{
    AliasSource, ConfigChanges, GceRules, Role, RoleChanges, RoleError, RoleRules, RoleType,
    RoleWarning, TokenParameters,
};

use crate::instances::gce;
use crate::roles::{iam, list, read, text};
use crate::stage::Stage;

fn rules(stage: &Stage) -> GceRules {
    match read(stage).rules {
        RoleRules::Gce(rules) => rules,
        RoleRules::Iam { .. } => panic!("the role is of type gce"),
    }
}

fn deprecated(used: &'static str, instead: &'static str) -> RoleWarning {
    RoleWarning::DeprecatedField {
        used: used.into(),
        instead: instead.into(),
    }
}

fn warnings(stage: &Stage, changes: RoleChanges) -> Vec<RoleWarning> {
    stage.write_role("dev", changes).unwrap().warnings
}

/// What a write of role `dev` is refused with; it must not have changed what is stored.
fn refused(stage: &Stage, changes: RoleChanges) -> RoleError {
    let before = stage.store.values();
    let error = stage.write_role("dev", changes).unwrap_err();
    assert_eq!(stage.store.values(), before);
    error
}

#[test]
fn contract_3_4_a_new_gce_role_needs_nothing_but_its_type() {
    let stage = Stage::bare();
    let changes = RoleChanges {
        role_type: text("gce"),
        ..RoleChanges::default()
    };
    assert_eq!(warnings(&stage, changes), []);
    let role = read(&stage);
    let expected = Role {
        role_id: role.role_id.clone(),
        rules: RoleRules::Gce(GceRules::default()),
        bound_service_accounts: Vec::new(),
        bound_projects: Vec::new(),
        add_group_aliases: false,
        token: TokenParameters::default(),
        legacy: Default::default(),
        bound_folders: Vec::new(),
        bound_organizations: Vec::new(),
        bound_audiences: Vec::new(),
        alias: None,
        refuse_replay: false,
        trust_claims: false,
    };
    assert_eq!(role, expected);
}

#[test]
fn contract_3_2_lists_of_gce_roles_are_stored_sorted_with_links_reduced() {
    let stage = Stage::bare();
    let base = "https://www.googleapis.com/compute/v1/projects/p";
    stage.role(RoleChanges {
        bound_zones: list(&[" z2", &format!("{base}/zones/z1"), "", "z2"]),
        bound_regions: list(&[&format!("{base}/regions/r1"), "r0"]),
        bound_instance_groups: list(&[&format!("{base}/zones/z1/instanceGroups/g")]),
        bound_labels: list(&["env:prod", " k:", "größe:mittel", "env:dev"]),
        max_instance_age: Some(60),
        ..gce()
    });
    let label = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
    let expected = GceRules {
        bound_zones: list(&["z1", "z2"]).unwrap(),
        bound_regions: list(&["r0", "r1"]).unwrap(),
        bound_instance_groups: list(&["g"]).unwrap(),
        bound_labels: BTreeMap::from([("env", "dev"), ("größe", "mittel"), ("k", "")].map(label)),
        maximum_instance_age: 60,
    };
    assert_eq!(rules(&stage), expected);
    stage.role(RoleChanges::default());
    assert_eq!(rules(&stage), expected, "what is not sent stays");
    stage.role(RoleChanges {
        bound_zones: list(&[]),
        bound_labels: list(&["a:b"]),
        max_instance_age: Some(0),
        ..RoleChanges::default()
    });
    let expected = GceRules {
        bound_zones: Vec::new(),
        bound_labels: BTreeMap::from([label(("a", "b"))]),
        maximum_instance_age: 0,
        ..expected
    };
    assert_eq!(rules(&stage), expected, "labels are replaced as a whole");
}

#[test]
fn contract_3_2_old_names_of_gce_lists_append_and_warn() {
    let stage = Stage::bare();
    stage.role(RoleChanges {
        bound_zones: list(&["z2"]),
        bound_instance_groups: list(&["g"]),
        ..gce()
    });
    let changes = RoleChanges {
        bound_zone: text("https://www.googleapis.com/compute/v1/projects/p/zones/z1"),
        bound_region: text("r"),
        bound_instance_group: text("g"),
        ..RoleChanges::default()
    };
    let expected = [
        deprecated("bound_zone", "bound_zones"),
        deprecated("bound_region", "bound_regions"),
        deprecated("bound_instance_group", "bound_instance_groups"),
        RoleWarning::RegionsBesideZones,
    ];
    assert_eq!(warnings(&stage, changes), expected);
    let stored = rules(&stage);
    assert_eq!(stored.bound_zones, ["z1", "z2"]);
    assert_eq!(stored.bound_regions, ["r"]);
    assert_eq!(stored.bound_instance_groups, ["g"]);
}

#[test]
fn contract_3_2_a_gce_list_is_not_sent_under_both_names() {
    let stage = Stage::bare();
    let one = || text("x");
    let all = || list(&["x"]);
    let twice = |old: &'static str, new: &'static str| RoleError::SentTwice {
        old: old.into(),
        new: new.into(),
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

#[test]
fn contract_3_3_fields_of_the_other_type_are_refused_on_create_and_on_update() {
    let foreign = |role_type, fields: &[&'static str]| RoleError::FieldsOfOtherType {
        role_type,
        fields: fields.iter().map(|&field| field.into()).collect(),
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
    let foreign = RoleError::FieldsOfOtherType {
        role_type: RoleType::Gce,
        fields: vec!["max_jwt_exp".into()],
    };
    next(foreign, |changes| changes.max_jwt_exp = None);
    next(RoleError::AliasSource(RoleType::Gce), |changes| {
        changes.alias_source = None
    });
    let twice = RoleError::SentTwice {
        old: "bound_zone".into(),
        new: "bound_zones".into(),
    };
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
    let period = RoleError::PeriodAboveMountMaximum {
        period: 9_999_999,
        mount_maximum: 2_764_800,
    };
    next(period, |changes| changes.token_period = None);
    assert!(stage.store.keys().is_empty());
    assert!(stage.write_role("dev", changes).is_ok());
}

#[test]
fn what_only_live_checks_can_decide_needs_them() {
    let live = |fields: &[&'static str]| {
        RoleError::NeedsLiveChecks(fields.iter().map(|&field| field.into()).collect())
    };
    let common = |base: RoleChanges| RoleChanges {
        live_checks: Some(false),
        bound_projects: list(&["p1"]),
        bound_folders: list(&["1"]),
        bound_organizations: list(&["2"]),
        add_group_aliases: Some(true),
        ..base
    };
    let stage = Stage::bare();
    let on_iam = live(&[
        "add_group_aliases",
        "bound_folders",
        "bound_organizations",
        "bound_projects",
    ]);
    assert_eq!(refused(&stage, common(iam())), on_iam);
    let on_gce = RoleChanges {
        bound_labels: list(&["a:b"]),
        bound_zones: list(&["z"]),
        bound_instance_groups: list(&["g"]),
        ..common(gce())
    };
    let fields = [
        "add_group_aliases",
        "bound_folders",
        "bound_instance_groups",
        "bound_labels",
        "bound_organizations",
    ];
    assert_eq!(refused(&stage, on_gce), live(&fields));
    let claims_only = RoleChanges {
        live_checks: Some(false),
        bound_service_accounts: list(&["a@x.example", "123"]),
        bound_projects: list(&["p1"]),
        bound_zones: list(&["z"]),
        max_instance_age: Some(5),
        ..gce()
    };
    assert_eq!(warnings(&stage, claims_only), [RoleWarning::ClaimsTrusted]);
    assert!(read(&stage).trust_claims);
    let labelled = RoleChanges {
        bound_labels: list(&["a:b"]),
        ..RoleChanges::default()
    };
    assert_eq!(refused(&stage, labelled.clone()), live(&["bound_labels"]));
    let both = RoleChanges {
        live_checks: Some(true),
        ..labelled
    };
    assert_eq!(warnings(&stage, both), []);
    assert!(!read(&stage).trust_claims);
}

#[test]
fn fields_beyond_the_reference_are_stored_and_only_changed_when_sent() {
    let stage = Stage::bare();
    let sent = || RoleChanges {
        bound_folders: list(&["34", "12", "34", " "]),
        bound_organizations: list(&["56"]),
        bound_audiences: list(&["https://b.example", " https://a.example "]),
        refuse_replay: Some(true),
        ..RoleChanges::default()
    };
    for (base, source) in [(iam(), "unique_id"), (gce(), "instance_id")] {
        stage.role(RoleChanges {
            role_type: base.role_type,
            bound_service_accounts: base.bound_service_accounts,
            alias_source: text(source),
            ..sent()
        });
        let role = read(&stage);
        assert_eq!(role.bound_folders, ["12", "34"]);
        assert_eq!(role.bound_organizations, ["56"]);
        assert_eq!(
            role.bound_audiences,
            ["https://a.example", "https://b.example"]
        );
        assert_eq!(role.alias, Some(AliasSource::Caller));
        assert!(role.refuse_replay);
        stage.role(RoleChanges::default());
        assert_eq!(read(&stage), role);
        stage.role(RoleChanges {
            bound_folders: list(&[]),
            bound_organizations: list(&[]),
            bound_audiences: list(&[]),
            alias_source: text("role_id"),
            refuse_replay: Some(false),
            ..RoleChanges::default()
        });
        assert_eq!(read(&stage).alias, Some(AliasSource::RoleId));
        stage.role(RoleChanges {
            alias_source: text(""),
            ..RoleChanges::default()
        });
        let expected = Role {
            bound_folders: Vec::new(),
            bound_organizations: Vec::new(),
            bound_audiences: Vec::new(),
            alias: None,
            refuse_replay: false,
            ..role
        };
        assert_eq!(read(&stage), expected);
        gatehouse_auth_method::AuthMethod::delete_role(&stage.service, &stage.mount, "dev")
            .unwrap();
    }
}

#[test]
fn d18_all_warnings_about_a_gce_role_are_returned() {
    let mut stage = Stage::bare();
    stage.mount.default_lease = 100;
    stage.mount.maximum_lease = 1000;
    let changes = RoleChanges {
        service_accounts: list(&["*"]),
        project_id: text(""),
        bound_zone: text("z"),
        bound_region: text("r"),
        add_group_aliases: Some(true),
        ttl: Some(2000),
        max_ttl: Some(3000),
        ..gce()
    };
    let expected = [
        deprecated("service_accounts", "bound_service_accounts"),
        deprecated("project_id", "bound_projects"),
        deprecated("bound_zone", "bound_zones"),
        deprecated("bound_region", "bound_regions"),
        RoleWarning::TtlAboveMountMaximum {
            ttl: 2000,
            mount_maximum: 1000,
        },
        RoleWarning::MaximumTtlAboveMountMaximum {
            maximum_ttl: 3000,
            mount_maximum: 1000,
        },
        RoleWarning::TtlAboveMountDefault {
            ttl: 2000,
            mount_default: 100,
        },
        RoleWarning::MaximumTtlAboveMountDefault {
            maximum_ttl: 3000,
            mount_default: 100,
        },
        RoleWarning::RegionsBesideZones,
        RoleWarning::GroupAliasesOnSharedEntity,
    ];
    assert_eq!(warnings(&stage, changes), expected);
    let calm = RoleChanges {
        bound_regions: list(&[]),
        add_group_aliases: Some(false),
        token_ttl: Some(100),
        token_max_ttl: Some(1000),
        ..RoleChanges::default()
    };
    assert_eq!(warnings(&stage, calm), []);
}

#[test]
fn contract_3_2_a_stored_period_above_a_lowered_mount_maximum_only_warns() {
    let mut stage = Stage::bare();
    stage.role(RoleChanges {
        token_period: Some(5000),
        ..gce()
    });
    stage.mount.maximum_lease = 1000;
    let expected = RoleWarning::PeriodAboveMountMaximum {
        period: 5000,
        mount_maximum: 1000,
    };
    assert_eq!(warnings(&stage, RoleChanges::default()), [expected]);
    for changes in [
        RoleChanges {
            token_period: Some(5000),
            ..RoleChanges::default()
        },
        RoleChanges {
            period: Some(5000),
            ..RoleChanges::default()
        },
    ] {
        let error = refused(&stage, changes);
        assert!(matches!(error, RoleError::PeriodAboveMountMaximum { .. }));
    }
}

#[test]
fn contract_3_2_a_role_bound_by_labels_only_warns() {
    let bound = |changes: RoleChanges| {
        let stage = Stage::bare();
        warnings(
            &stage,
            RoleChanges {
                bound_labels: list(&["env:prod"]),
                ..changes
            },
        )
    };
    let alone = [RoleWarning::BoundByLabelsOnly];
    assert_eq!(bound(gce()), alone);
    assert_eq!(
        bound(RoleChanges {
            bound_service_accounts: list(&["*"]),
            ..gce()
        }),
        alone
    );
    for more in [
        RoleChanges {
            bound_service_accounts: list(&["a@x"]),
            ..gce()
        },
        RoleChanges {
            bound_projects: list(&["p"]),
            ..gce()
        },
        RoleChanges {
            bound_zones: list(&["z"]),
            ..gce()
        },
        RoleChanges {
            bound_regions: list(&["r"]),
            ..gce()
        },
        RoleChanges {
            bound_folders: list(&["1"]),
            ..gce()
        },
        RoleChanges {
            bound_organizations: list(&["1"]),
            ..gce()
        },
    ] {
        assert_eq!(bound(more), []);
    }
    assert_eq!(warnings(&Stage::bare(), gce()), []);
}

#[test]
fn contract_3_2_the_wildcard_without_projects_warns_on_iam_roles_only() {
    let any = |base: RoleChanges| {
        let changes = RoleChanges {
            bound_service_accounts: list(&["*"]),
            ..base
        };
        warnings(&Stage::bare(), changes)
    };
    assert_eq!(any(iam()), [RoleWarning::AnyServiceAccountOfAnyProject]);
    assert_eq!(any(gce()), []);
    assert_eq!(
        any(RoleChanges {
            bound_projects: list(&["p"]),
            ..iam()
        }),
        []
    );
    assert_eq!(
        any(RoleChanges {
            bound_organizations: list(&["1"]),
            ..iam()
        }),
        []
    );
}

#[test]
fn contract_7_3_group_aliases_warn_by_the_alias_in_force() {
    let stage = Stage::bare();
    let write = |role_type: &str, source: &str| {
        let changes = RoleChanges {
            role_type: text(role_type),
            bound_service_accounts: list(&["a@x"]),
            add_group_aliases: Some(true),
            alias_source: text(source),
            ..RoleChanges::default()
        };
        stage.write_role(role_type, changes).unwrap().warnings
    };
    let shared = [RoleWarning::GroupAliasesOnSharedEntity];
    assert_eq!(
        (write("iam", ""), write("gce", "")),
        (shared.to_vec(), shared.to_vec())
    );
    assert_eq!(write("iam", "unique_id"), []);
    assert_eq!(write("gce", "instance_id"), []);
    stage.configure(ConfigChanges {
        gce_alias: text("instance_id"),
        ..ConfigChanges::default()
    });
    assert_eq!(
        (write("iam", ""), write("gce", "")),
        (shared.to_vec(), Vec::new())
    );
    assert_eq!(write("gce", "role_id"), shared);
}
