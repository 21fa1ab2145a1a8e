//! Warnings to an operator about a role that was stored: contract 3.2, 7.3; D18.

use gatehouse_auth_method::{AboveBound, ConfigChanges, RoleChanges, RoleError, RoleWarning};

use crate::gce_roles::{deprecated, refused, warnings};
use crate::instances::gce;
use crate::roles::{iam, list, text};
use crate::stage::Stage;

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
        RoleWarning::MaximumTtlAboveMountDefault(AboveBound {
            given: 3000,
            bound: 100,
        }),
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
    let expected = RoleWarning::PeriodAboveMountMaximum(AboveBound {
        given: 5000,
        bound: 1000,
    });
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
        assert!(matches!(error, RoleError::PeriodAboveMountMaximum(_)));
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
