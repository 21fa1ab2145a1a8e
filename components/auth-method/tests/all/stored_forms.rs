//! The stored forms, byte for byte: an older release and a newer one may serve over one store.

use gatehouse_auth_method::{ConfigChanges, RoleChanges};
use gatehouse_ports::Store as _;

use crate::stage::Stage;

/// The JSON of the record under `key`, which follows two bytes of schema number.
fn json(stage: &Stage, key: &str) -> String {
    let entry = stage.store.get(&[key]).unwrap().remove(0).unwrap();
    let (schema, json) = entry.value.split_at(2);
    assert_eq!(schema, [0, 1], "{key}");
    String::from_utf8(json.to_vec()).unwrap()
}

/// The JSON of a role after `changes`, with its id, which is drawn, as `ID`.
fn stored_role(changes: RoleChanges) -> String {
    let stage = Stage::bare();
    stage.role(changes);
    let stored = json(&stage, "m1/role/dev");
    let id = stored.strip_prefix("{\"role_id\":\"").unwrap();
    stored.replace(id.split('"').next().unwrap(), "ID")
}

fn list(entries: &[&str]) -> Option<Vec<String>> {
    Some(entries.iter().map(|entry| (*entry).to_owned()).collect())
}

#[test]
fn an_iam_role_keeps_its_stored_form() {
    let plain = RoleChanges {
        role_type: Some("iam".to_owned()),
        bound_service_accounts: list(&["a@b.example"]),
        ..RoleChanges::default()
    };
    assert_eq!(
        stored_role(plain),
        "{\"role_id\":\"ID\",\"rules\":{\"iam\":{\"maximum_jwt_lifetime\":900,\"allow_gce_inference\":true}},\
         \"bound_service_accounts\":[\"a@b.example\"],\"bound_projects\":[],\"add_group_aliases\":false,\
         \"token\":{\"ttl\":0,\"maximum_ttl\":0,\"explicit_maximum_ttl\":0,\"period\":0,\"policies\":[],\"bound_cidrs\":[],\
         \"no_default_policy\":false,\"number_of_uses\":0,\"token_type\":\"default\"},\"legacy\":{}}"
    );
    let full = RoleChanges {
        role_type: Some("iam".to_owned()),
        service_accounts: list(&["a@b.example"]),
        add_group_aliases: Some(true),
        max_jwt_exp: Some(60),
        allow_gce_inference: Some(false),
        policies: list(&["p"]),
        ttl: Some(1),
        max_ttl: Some(2),
        period: Some(3),
        token_explicit_max_ttl: Some(4),
        token_bound_cidrs: list(&["10.0.0.0/8"]),
        token_no_default_policy: Some(true),
        token_num_uses: Some(5),
        token_type: Some("service".to_owned()),
        bound_folders: list(&["12"]),
        bound_organizations: list(&["34"]),
        bound_audiences: list(&["x"]),
        alias_source: Some("unique_id".to_owned()),
        refuse_replay: Some(true),
        ..RoleChanges::default()
    };
    assert_eq!(
        stored_role(full),
        "{\"role_id\":\"ID\",\"rules\":{\"iam\":{\"maximum_jwt_lifetime\":60,\"allow_gce_inference\":false}},\
         \"bound_service_accounts\":[\"a@b.example\"],\"bound_projects\":[],\"add_group_aliases\":true,\
         \"token\":{\"ttl\":1,\"maximum_ttl\":2,\"explicit_maximum_ttl\":4,\"period\":3,\"policies\":[\"p\"],\
         \"bound_cidrs\":[\"10.0.0.0/8\"],\"no_default_policy\":true,\"number_of_uses\":5,\"token_type\":\"service\"},\
         \"legacy\":{\"policies\":[\"p\"],\"ttl\":1,\"maximum_ttl\":2,\"period\":3},\
         \"bound_folders\":[\"12\"],\"bound_organizations\":[\"34\"],\"bound_audiences\":[\"x\"],\"alias\":\"caller\",\
         \"refuse_replay\":true}"
    );
}

#[test]
fn a_gce_role_keeps_its_stored_form() {
    let plain = RoleChanges {
        role_type: Some("gce".to_owned()),
        live_checks: Some(false),
        alias_source: Some("role_id".to_owned()),
        token_type: Some("batch".to_owned()),
        ..RoleChanges::default()
    };
    assert_eq!(
        stored_role(plain),
        "{\"role_id\":\"ID\",\"rules\":{\"gce\":{}},\"bound_service_accounts\":[],\"bound_projects\":[],\
         \"add_group_aliases\":false,\"token\":{\"ttl\":0,\"maximum_ttl\":0,\"explicit_maximum_ttl\":0,\"period\":0,\
         \"policies\":[],\"bound_cidrs\":[],\"no_default_policy\":false,\"number_of_uses\":0,\"token_type\":\"batch\"},\
         \"legacy\":{},\"alias\":\"role_id\",\"trust_claims\":true}"
    );
    let full = RoleChanges {
        role_type: Some("gce".to_owned()),
        bound_projects: list(&["p"]),
        bound_zones: list(&["z"]),
        bound_regions: list(&["r"]),
        bound_instance_groups: list(&["g"]),
        bound_labels: list(&["b:2", "a:1", "c:"]),
        max_instance_age: Some(60),
        ..RoleChanges::default()
    };
    assert_eq!(
        stored_role(full),
        "{\"role_id\":\"ID\",\"rules\":{\"gce\":{\"bound_zones\":[\"z\"],\"bound_regions\":[\"r\"],\
         \"bound_instance_groups\":[\"g\"],\"bound_labels\":{\"a\":\"1\",\"b\":\"2\",\"c\":\"\"},\
         \"maximum_instance_age\":60}},\"bound_service_accounts\":[],\"bound_projects\":[\"p\"],\
         \"add_group_aliases\":false,\"token\":{\"ttl\":0,\"maximum_ttl\":0,\"explicit_maximum_ttl\":0,\"period\":0,\
         \"policies\":[],\"bound_cidrs\":[],\"no_default_policy\":false,\"number_of_uses\":0,\"token_type\":\"default\"},\
         \"legacy\":{}}"
    );
}

#[test]
fn the_names_of_roles_keep_their_stored_form() {
    let stage = Stage::bare();
    stage.role(crate::stage::dev_role());
    assert_eq!(json(&stage, "m1/role-name/dev"), "{}");
    assert_eq!(json(&stage, "m1/role-names"), "{\"complete\":true}");
}

#[test]
fn a_configuration_keeps_its_stored_form() {
    let stage = Stage::bare();
    stage.configure(ConfigChanges {
        iam_alias: Some("unique_id".to_owned()),
        ..ConfigChanges::default()
    });
    assert_eq!(
        json(&stage, "m1/config"),
        "{\"iam_alias\":\"caller\",\"gce_alias\":\"role_id\",\"iam_metadata\":\"default\",\"gce_metadata\":\"default\",\
         \"custom_endpoint\":{},\"identity_token_ttl\":0,\"rotation\":{\"schedule\":\"\",\"period\":0,\"window\":0,\
         \"policy\":\"\",\"disabled\":false},\"rotation_since\":0}"
    );
    stage.configure(ConfigChanges {
        credentials: Some(crate::stage::key_file()),
        gce_metadata: list(&["zone"]),
        custom_endpoint: Some(vec![(
            "compute".to_owned(),
            "compute.googleapis.com".to_owned(),
        )]),
        identity_token_ttl: Some(60),
        rotation_schedule: Some("0 1 * * *".to_owned()),
        rotation_window: Some(7),
        rotation_policy: Some("p".to_owned()),
        disable_automated_rotation: Some(true),
        ..ConfigChanges::default()
    });
    assert_eq!(
        json(&stage, "m1/config"),
        "{\"credentials\":{\"client_email\":\"root@ops.example\",\"client_id\":\"999\",\"private_key_id\":\"root-key\",\
         \"project_id\":\"ops\",\"since\":1800000000},\"iam_alias\":\"caller\",\"gce_alias\":\"role_id\",\
         \"iam_metadata\":\"default\",\"gce_metadata\":{\"fields\":[\"zone\"]},\
         \"custom_endpoint\":{\"compute\":\"compute.googleapis.com\"},\"identity_token_ttl\":60,\
         \"rotation\":{\"schedule\":\"0 1 * * *\",\"period\":0,\"window\":7,\"policy\":\"p\",\"disabled\":true},\
         \"rotation_since\":1800000000}"
    );
}
