//! `organization_integration_test.go`, all but updates and retention (contract 6.2).

use serde_json::json;

use crate::documents;
use crate::fixtures::{Organization, pluck, unique, unique_email};
use crate::session::Session;

scenarios! {
    both:
        test_organizations_list_with_no_list_options,
        test_organizations_list_when_querying_on_a_valid_org_name,
        test_organizations_list_when_querying_on_a_valid_email,
        test_organizations_list_with_invalid_query_name,
        test_organizations_list_with_invalid_query_email,
        test_organizations_create_with_valid_options,
        test_organizations_read_when_the_org_exists,
        test_organizations_read_when_the_org_does_not_exist,
        test_organizations_read_reads_default_project,
        test_organizations_read_with_default_execution_mode_of_agent,
        test_organizations_delete_with_valid_options,
        test_organizations_read_entitlements_when_the_org_does_not_exist,
        test_organizations_read_run_tasks_permission_when_the_org_exists,
        test_organizations_allow_force_delete_setting_creates_and_updates_allow_force_delete;
    hosted:
        test_organizations_read_with_business_permissions_are_properly_decoded,
        test_organizations_read_entitlements_when_the_org_exists,
        test_organizations_read_run_tasks_entitlement_when_the_org_exists;
}

/// Both organizations are listed exactly as their creation showed them.
fn test_organizations_list_with_no_list_options(session: &Session<'_>) {
    let first = Organization::new(session);
    let second = Organization::new(session);
    let list = session.get("organizations").expect(200);
    let items = list.items();
    for organization in [&first, &second] {
        let found = items
            .iter()
            .find(|item| item["id"] == organization.name.as_str());
        assert_eq!(found, Some(&organization.created));
    }
    // The list is whole, and says nothing of pages.
    assert!(list.at("/meta/pagination").is_null());
    assert!(list.at("/links").is_null());
}

fn test_organizations_list_when_querying_on_a_valid_org_name(session: &Session<'_>) {
    let organization = Organization::new(session);
    let query = format!("organizations?q={}", organization.name);
    let list = session.get(&query).expect(200);
    assert_eq!(list.ids(), [organization.name.as_str()]);
}

fn test_organizations_list_when_querying_on_a_valid_email(session: &Session<'_>) {
    let organization = Organization::new(session);
    let query = format!(
        "organizations?q={}",
        organization.email().replace('@', "%40")
    );
    let list = session.get(&query).expect(200);
    assert_eq!(pluck(&list.items(), "email"), [organization.email()]);
}

/// One organization is not found by the name of another.
fn test_organizations_list_with_invalid_query_name(session: &Session<'_>) {
    let first = Organization::new(session);
    let second = Organization::new(session);
    let list = session
        .get(&format!("organizations?q={}", second.name))
        .expect(200);
    assert!(!list.ids().contains(&first.name));
}

fn test_organizations_list_with_invalid_query_email(session: &Session<'_>) {
    let first = Organization::new(session);
    let second = Organization::new(session);
    let query = format!("organizations?q={}", second.email().replace('@', "%40"));
    let list = session.get(&query).expect(200);
    assert!(!pluck(&list.items(), "email").contains(&first.email().into()));
}

fn test_organizations_create_with_valid_options(session: &Session<'_>) {
    let (name, email) = (unique(), unique_email());
    let organization = Organization::with(session, json!({"name": name, "email": email}));
    assert_eq!(organization.name, name);
    let attributes = &organization.created["attributes"];
    assert_eq!(attributes["name"], name);
    assert_eq!(attributes["email"], email);
    assert_eq!(attributes["default-execution-mode"], "remote");
    let pool = &organization.created["relationships"]["default-agent-pool"];
    assert_eq!(*pool, json!({"data": null}));
}

fn test_organizations_read_with_business_permissions_are_properly_decoded(session: &Session<'_>) {
    let organization = Organization::new(session);
    organization.subscribe_business();
    organization
        .show()
        .expect(200)
        .shows("/data/id", organization.name.as_str())
        .shows("/data/attributes/external-id", organization.external_id())
        .shows("/data/attributes/permissions/can-destroy", true)
        .shows(
            "/data/attributes/permissions/can-deploy-no-code-modules",
            true,
        )
        .shows(
            "/data/attributes/permissions/can-manage-no-code-modules",
            true,
        );
}

fn test_organizations_read_when_the_org_exists(session: &Session<'_>) {
    let organization = Organization::new(session);
    let shown = organization
        .show()
        .expect(200)
        .shows("/data", organization.created.clone())
        .shows("/data/attributes/permissions/can-destroy", true)
        .shows("/data/attributes/trial-expires-at", ());
    assert!(!shown.text("/data/attributes/created-at").is_empty());
    let remaining = shown.at("/data/attributes/remaining-testable-count");
    assert!(remaining.as_u64() > Some(1), "{remaining}");
}

fn test_organizations_read_when_the_org_does_not_exist(session: &Session<'_>) {
    session
        .get(&format!("organizations/{}", unique()))
        .expect_not_found();
}

fn test_organizations_read_reads_default_project(session: &Session<'_>) {
    let organization = Organization::new(session);
    let path = format!(
        "organizations/{}?include=default-project",
        organization.name
    );
    let shown = session
        .get(&path)
        .expect(200)
        .shows("/data/id", organization.name.as_str());
    let id = shown.text("/data/relationships/default-project/data/id");
    shown
        .shows("/included/0/type", "projects")
        .shows("/included/0/id", id)
        .shows("/included/0/attributes/name", "Default Project");
}

fn test_organizations_read_with_default_execution_mode_of_agent(session: &Session<'_>) {
    let (organization, pool) = Organization::with_default_pool(session);
    organization
        .show()
        .expect(200)
        .shows("/data/attributes/default-execution-mode", "agent")
        .shows(
            "/data/relationships/default-agent-pool/data",
            json!({"id": pool, "type": "agent-pools"}),
        );
}

fn test_organizations_delete_with_valid_options(session: &Session<'_>) {
    let organization = Organization::new(session);
    organization.delete().expect(204);
    organization.show().expect_not_found();
}

fn test_organizations_read_entitlements_when_the_org_exists(session: &Session<'_>) {
    let organization = Organization::new(session);
    organization.subscribe_standard();
    let set = session
        .get(&organization.path("entitlement-set"))
        .expect(200);
    assert!(!set.id().is_empty());
    set.shows_attributes(json!({
        "agents": true,
        "audit-logging": true,
        "cost-estimation": true,
        "operations": true,
        "private-module-registry": true,
        "sso": true,
        "sentinel": true,
        "state-storage": true,
        "teams": true,
        "vcs-integrations": true,
        "waypoint-actions": false,
        "waypoint-templates-and-addons": true,
        "infragraph": true,
        "infragraph-with-nrtu": false,
    }));
}

fn test_organizations_read_entitlements_when_the_org_does_not_exist(session: &Session<'_>) {
    let path = format!("organizations/{}/entitlement-set", unique());
    session.get(&path).expect_not_found();
}

/// May, on a free organization as well.
fn test_organizations_read_run_tasks_permission_when_the_org_exists(session: &Session<'_>) {
    let organization = Organization::new(session);
    organization
        .show()
        .expect(200)
        .shows("/data", organization.created.clone())
        .shows("/data/attributes/permissions/can-manage-run-tasks", true);
}

fn test_organizations_read_run_tasks_entitlement_when_the_org_exists(session: &Session<'_>) {
    let organization = Organization::new(session);
    session
        .get(&organization.path("entitlement-set"))
        .expect(200)
        .shows("/data/id", organization.external_id())
        .shows("/data/attributes/run-tasks", true);
}

fn test_organizations_allow_force_delete_setting_creates_and_updates_allow_force_delete(
    session: &Session<'_>,
) {
    const SETTING: &str = "/data/attributes/allow-force-delete-workspaces";
    let (name, email) = (unique(), unique_email());
    let options = json!({"name": name, "email": email, "allow-force-delete-workspaces": true});
    session
        .post("organizations", &documents::organization(options.clone()))
        .expect(201)
        .shows_attributes(options);
    let path = format!("organizations/{name}");
    let changes = documents::organization(json!({"allow-force-delete-workspaces": false}));
    session
        .patch(&path, &changes)
        .expect(200)
        .shows(SETTING, false);
    session.get(&path).expect(200).shows(SETTING, false);
    session.delete(&path).expect(204);
}
