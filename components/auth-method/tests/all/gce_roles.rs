//! Writes of gce roles, and of the fields that both types have beyond the reference's: contract 3.2 to 3.4.

use gatehouse_auth_method::{
    AliasSource, DeprecatedField, GceRules, Role, RoleChanges, RoleError, RoleOptions, RoleRules,
    RoleWarning, Roles, TokenParameters,
};

use crate::instances::gce;
use crate::roles::{iam, list, read, text};
use crate::stage::Stage;

pub fn rules(stage: &Stage) -> GceRules {
    match read(stage).rules {
        RoleRules::Gce(rules) => rules,
        RoleRules::Iam(_) => panic!("the role is of type gce"),
    }
}

pub fn deprecated(used: &'static str, instead: &'static str) -> RoleWarning {
    RoleWarning::DeprecatedField(DeprecatedField {
        used: used.into(),
        instead: instead.into(),
    })
}

pub fn warnings(stage: &Stage, changes: RoleChanges) -> Vec<RoleWarning> {
    stage.write_role("dev", changes).unwrap().warnings
}

/// The refusal of a write of role `dev`; it must not have changed what is stored.
pub fn refused(stage: &Stage, changes: RoleChanges) -> RoleError {
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
        options: RoleOptions::default(),
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
        bound_labels: [("env", "dev"), ("größe", "mittel"), ("k", "")]
            .map(label)
            .to_vec(),
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
        bound_labels: vec![label(("a", "b"))],
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
    assert!(read(&stage).options.trust_claims);
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
    assert!(!read(&stage).options.trust_claims);
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
        assert_eq!(role.options.bound_folders, ["12", "34"]);
        assert_eq!(role.options.bound_organizations, ["56"]);
        assert_eq!(
            role.options.bound_audiences,
            ["https://a.example", "https://b.example"]
        );
        assert_eq!(role.options.alias, Some(AliasSource::Caller));
        assert!(role.options.refuse_replay);
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
        assert_eq!(read(&stage).options.alias, Some(AliasSource::RoleId));
        stage.role(RoleChanges {
            alias_source: text(""),
            ..RoleChanges::default()
        });
        let expected = Role {
            options: RoleOptions::default(),
            ..role
        };
        assert_eq!(read(&stage), expected);
        stage.service.delete_role(&stage.mount, "dev").unwrap();
    }
}
