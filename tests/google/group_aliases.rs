//! External groups whose members are found in what lies above a project (contract 7.3).

use std::time::Duration;

use gatehouse_fake_google::{Ancestor, Endpoint, Fault, Population};
use gatehouse_tests::{Answer, INSTANCE, WORKLOAD};
use serde_json::{Value, json};

use crate::stage::{
    MOUNT, PROJECT, Stage, assert_granted, assert_refused, eventually, text, token_of,
};

const RECOVERY: Duration = Duration::from_secs(10);
const OTHER_FOLDER: &str = "600000000001";

/// Every alias that the demonstration project leads to, and the policy of its group.
fn aliases() -> [(String, &'static str); 4] {
    [
        (format!("project-{PROJECT}"), "of-project"),
        (format!("folder-{}", Population::FOLDER), "of-folder"),
        (format!("folder-{PROJECT}"), "of-any-folder"),
        (
            format!("organization-{}", Population::ORGANIZATION),
            "of-organization",
        ),
    ]
}

const ALL: [&str; 4] = [
    "of-any-folder",
    "of-folder",
    "of-organization",
    "of-project",
];

/// Makes an external group with a policy that opens `secret/<policy>`, found by `alias`.
fn add_group(stage: &Stage, alias: &str, policy: &str) {
    let rule = format!("path \"secret/{policy}\" {{ capabilities = [\"read\"] }}");
    stage.write(
        &format!("sys/policies/acl/{policy}"),
        &json!({"policy": rule}),
    );
    let group = json!({"name": policy, "type": "external", "policies": [policy]});
    let made = stage.write("identity/group", &group).json();
    let alias = json!({
        "name": alias, "mount_accessor": stage.accessor(MOUNT), "canonical_id": text(&made["data"]["id"]),
    });
    stage.write("identity/group-alias", &alias);
}

fn ready() -> Stage {
    let stage = Stage::new("");
    stage.enable_with_key(MOUNT);
    for (alias, policy) in aliases() {
        add_group(&stage, &alias, policy);
    }
    add_group(&stage, &format!("folder-{OTHER_FOLDER}"), "of-other-folder");
    let role = json!({
        "type": "iam", "bound_service_accounts": WORKLOAD, "add_group_aliases": true, "alias_source": "unique_id",
    });
    stage.role(MOUNT, "dev", &role);
    stage
}

/// The policies that a login gave by way of groups.
fn policies(login: &Answer) -> Value {
    assert_granted(login);
    login.json()["auth"]["identity_policies"].clone()
}

/// True if a token may read what the policy opens.
fn opens(stage: &Stage, token: &str, policy: &str) -> bool {
    let body = json!({"path": format!("secret/{policy}")});
    let path = "/v1/sys/capabilities-self";
    let answer = stage
        .installation
        .send("POST", path, Some(token), Some(&body));
    assert_granted(&answer);
    answer.json()["data"]["capabilities"] == json!(["read"])
}

#[test]
fn contract_7_3_a_login_brings_the_policies_of_every_group_above() {
    let stage = ready();
    let login = stage.log_in(MOUNT, "dev");
    assert_eq!(policies(&login), json!(ALL));
    let token = token_of(&login);
    for policy in ALL {
        assert!(opens(&stage, &token, policy), "{policy}");
    }
    assert!(!opens(&stage, &token, "of-other-folder"));
    assert_eq!(stage.google().calls(Endpoint::Ancestry), 1);
    assert_granted(&stage.log_in(MOUNT, "dev"));
    assert_eq!(stage.google().calls(Endpoint::Ancestry), 1);
}

#[test]
fn contract_7_3_an_instance_is_where_its_project_is() {
    let stage = ready();
    let role = json!({
        "type": "gce", "bound_regions": "europe-west1", "add_group_aliases": true, "alias_source": "instance_id",
    });
    stage.role(MOUNT, "vm", &role);
    let login = stage.log_instance_in(MOUNT, "vm");
    assert_eq!(policies(&login), json!(ALL));
    assert_eq!(login.json()["auth"]["metadata"]["instance_name"], INSTANCE);
}

#[test]
fn contract_7_3_when_a_project_moves_the_next_login_leaves_the_groups() {
    let stage = ready();
    let login = stage.log_in(MOUNT, "dev");
    let token = token_of(&login);
    let organization = Ancestor::Organization(Population::ORGANIZATION.to_owned());
    let folder = Ancestor::Folder(OTHER_FOLDER.to_owned());
    let moved = [folder, organization.clone()];
    stage.google().set_ancestors(PROJECT, moved);
    stage.forget(MOUNT);
    let expected = json!([
        "of-any-folder",
        "of-organization",
        "of-other-folder",
        "of-project"
    ]);
    assert_eq!(policies(&stage.log_in(MOUNT, "dev")), expected);
    // Group policies are those of the entity, whichever of its tokens asks.
    assert!(opens(&stage, &token, "of-other-folder"));
    assert!(!opens(&stage, &token, "of-folder"));

    stage.google().set_ancestors(PROJECT, [organization]);
    stage.forget(MOUNT);
    let expected = json!(["of-organization", "of-project"]);
    assert_eq!(policies(&stage.log_in(MOUNT, "dev")), expected);

    stage.google().set_ancestors(PROJECT, []);
    stage.forget(MOUNT);
    assert_eq!(policies(&stage.log_in(MOUNT, "dev")), json!(["of-project"]));
}

#[test]
fn contract_7_3_a_role_without_the_switch_asks_nobody_and_ends_memberships() {
    let stage = ready();
    let token = token_of(&stage.log_in(MOUNT, "dev"));
    stage.google().forget_requests();
    let role =
        json!({"type": "iam", "bound_service_accounts": WORKLOAD, "alias_source": "unique_id"});
    stage.role(MOUNT, "plain", &role);
    stage.google().set_ancestors(PROJECT, []);
    stage.forget(MOUNT);
    assert!(opens(&stage, &token, "of-folder"));
    assert_eq!(policies(&stage.log_in(MOUNT, "plain")), json!(null));
    assert_eq!(stage.google().calls(Endpoint::Ancestry), 0);
    assert!(!opens(&stage, &token, "of-folder"));
}

#[test]
fn contract_4_10_an_outage_of_the_ancestry_fails_logins_and_no_renewal() {
    let stage = ready();
    let token = token_of(&stage.log_in(MOUNT, "dev"));
    stage.forget(MOUNT);
    let endpoint = Endpoint::Ancestry;
    stage.google().set_fault(endpoint, Fault::unavailable());
    let refused = stage.log_in(MOUNT, "dev");
    assert_refused(&refused, 503, "google API unavailable: crm");
    assert_granted(&stage.renew(&token));
    for policy in ALL {
        assert!(opens(&stage, &token, policy), "{policy}");
    }
    stage.google().clear_faults(endpoint);
    let login = eventually(RECOVERY, || stage.log_in(MOUNT, "dev"));
    assert_eq!(policies(&login), json!(ALL));
}

#[test]
fn contract_4_10_a_renewal_brings_groups_up_to_date() {
    let stage = ready();
    let token = token_of(&stage.log_in(MOUNT, "dev"));
    stage.google().set_ancestors(PROJECT, []);
    stage.forget(MOUNT);
    assert_granted(&stage.renew(&token));
    assert!(!opens(&stage, &token, "of-folder"));
    assert!(opens(&stage, &token, "of-project"));
}

#[test]
fn contract_4_7_without_the_permission_the_operator_is_told() {
    let stage = ready();
    let permission = "resourcemanager.projects.get";
    let operator = gatehouse_tests::OPERATOR;
    stage
        .google()
        .deny_permission(operator, permission)
        .unwrap();
    assert_refused(&stage.log_in(MOUNT, "dev"), 400, permission);
    assert!(stage.log().contains(permission));
}
