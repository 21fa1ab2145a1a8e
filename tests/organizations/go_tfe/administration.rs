//! `admin_organization_integration_test.go` (contract 6.4).

use serde_json::{Value, json};

use crate::documents::{identifiers, resource};
use crate::fixtures::{Organization, unique};
use crate::session::{Reply, Session};

scenarios! {
    self_hosted:
        test_admin_organizations_list_with_no_list_options,
        test_admin_organizations_list_with_list_options,
        test_admin_organizations_list_with_list_options_and_org_name_that_doesnt_exist,
        test_admin_organizations_list_with_owners_included,
        test_admin_organizations_read_for_an_organization_that_doesnt_exist,
        test_admin_organizations_read_it_reads_an_organization_successfully,
        test_admin_organizations_delete_an_organization_that_doesnt_exist,
        test_admin_organizations_delete_it_deletes_an_organization_successfully,
        test_admin_organizations_module_consumers_returns_error_if_invalid_org_string_is_used,
        test_admin_organizations_module_consumers_can_list_and_update_module_consumers,
        test_admin_organizations_update_an_organization_that_doesnt_exist,
        test_admin_organizations_update_fetches_and_updates_organization;
}

fn path(organization: &Organization<'_>) -> String {
    format!("admin/organizations/{}", organization.name)
}

fn absent_path() -> String {
    format!("admin/organizations/non-existing-{}", unique())
}

fn test_admin_organizations_list_with_no_list_options(session: &Session<'_>) {
    let _organization = Organization::new(session);
    let list = session.get("admin/organizations").expect(200);
    assert!(!list.items().is_empty());
}

fn test_admin_organizations_list_with_list_options(session: &Session<'_>) {
    let organization = Organization::new(session);
    let _other = Organization::new(session);
    let list = session
        .get(&format!("admin/organizations?q={}", organization.name))
        .expect(200)
        .shows("/meta/pagination/current-page", 1)
        .shows("/meta/pagination/total-count", 1);
    assert_eq!(list.ids(), [organization.name.as_str()]);
}

fn test_admin_organizations_list_with_list_options_and_org_name_that_doesnt_exist(
    session: &Session<'_>,
) {
    let _organization = Organization::new(session);
    session
        .get("admin/organizations?q=random-org-name")
        .expect(200)
        .shows("/data", json!([]))
        .shows("/meta/pagination/current-page", 1)
        .shows("/meta/pagination/total-count", 0);
}

/// Each organization has an owner, and each owner an e-mail address.
fn test_admin_organizations_list_with_owners_included(session: &Session<'_>) {
    let organization = Organization::new(session);
    // Of organizations that other tests delete meanwhile the owners may be gone before the rest.
    let asked = format!("admin/organizations?include=owners&q={}", organization.name);
    let list = session.get(&asked).expect(200);
    assert_eq!(list.ids(), [organization.name.as_str()]);
    let included = list.at("/included");
    let owners = list.items().into_iter().flat_map(|organization| {
        let owners = organization["relationships"]["owners"]["data"].clone();
        let owners = owners.as_array().cloned().unwrap_or_default();
        assert!(!owners.is_empty(), "{organization}");
        owners
    });
    for owner in owners {
        let found = included.as_array().into_iter().flatten();
        let mut found =
            found.filter(|user| user["id"] == owner["id"] && user["type"] == owner["type"]);
        let email = found.next().map(|user| user["attributes"]["email"].clone());
        let email = email.unwrap_or_else(|| panic!("{owner} is not in {included}"));
        assert!(
            email.as_str().is_some_and(|email| !email.is_empty()),
            "{owner}: {email}"
        );
    }
}

fn test_admin_organizations_read_for_an_organization_that_doesnt_exist(session: &Session<'_>) {
    session.get(&absent_path()).expect_not_found();
}

fn test_admin_organizations_read_it_reads_an_organization_successfully(session: &Session<'_>) {
    let organization = Organization::new(session);
    session
        .get(&path(&organization))
        .expect(200)
        .shows("/data/id", organization.name.as_str())
        .shows_attributes(json!({
            "access-beta-tools": false,
            "external-id": organization.external_id(),
            "is-disabled": false,
            "notification-email": organization.email(),
            "sso-enabled": false,
            "terraform-worker-sudo-enabled": false,
            "workspace-limit": null,
        }));
}

fn test_admin_organizations_delete_an_organization_that_doesnt_exist(session: &Session<'_>) {
    session.delete(&absent_path()).expect_not_found();
}

fn test_admin_organizations_delete_it_deletes_an_organization_successfully(session: &Session<'_>) {
    let organization = Organization::new(session);
    session
        .get(&path(&organization))
        .expect(200)
        .shows("/data/id", organization.name.as_str());
    session.delete(&path(&organization)).expect(204);
    session.get(&path(&organization)).expect_not_found();
}

fn consumers(organization: &Organization<'_>) -> String {
    format!("{}/relationships/module-consumers", path(organization))
}

fn share(organization: &Organization<'_>, names: &[&str]) -> Reply {
    let names = identifiers("organizations", names);
    organization
        .session()
        .patch(&consumers(organization), &names)
}

fn test_admin_organizations_module_consumers_returns_error_if_invalid_org_string_is_used(
    session: &Session<'_>,
) {
    let organization = Organization::new(session);
    let refused = share(&organization, &["1Hello!"]).expect(422);
    assert_eq!(refused.details(), ["Organization 1Hello! not found"]);
    session
        .get(&consumers(&organization))
        .expect(200)
        .shows("/data", json!([]));
}

/// The second set takes the place of the first.
fn test_admin_organizations_module_consumers_can_list_and_update_module_consumers(
    session: &Session<'_>,
) {
    let producer = Organization::new(session);
    for consumer in [Organization::new(session), Organization::new(session)] {
        share(&producer, &[&consumer.name]).expect(204);
        let list = session.get(&consumers(&producer)).expect(200);
        assert_eq!(list.ids(), [consumer.name.as_str()]);
    }
}

/// Sends the attributes without a type, and expects them back.
fn update(organization: &Organization<'_>, attributes: &Value) -> Reply {
    organization
        .session()
        .patch(&path(organization), &resource("", attributes.clone()))
        .expect(200)
        .shows_attributes(attributes.clone())
}

fn test_admin_organizations_update_an_organization_that_doesnt_exist(session: &Session<'_>) {
    let nothing = resource("", json!({}));
    session.patch(&absent_path(), &nothing).expect_not_found();
}

/// A disabled organization still is there for site administrators, and a limit of zero is another than none.
fn test_admin_organizations_update_fetches_and_updates_organization(session: &Session<'_>) {
    let organization = Organization::new(session);
    session.get(&path(&organization)).expect(200);
    let first = json!({
        "access-beta-tools": true,
        "global-module-sharing": false,
        "global-provider-sharing": false,
        "is-disabled": false,
        "terraform-build-worker-apply-timeout": "24h",
        "terraform-build-worker-plan-timeout": "24h",
        "apply-timeout": "24h",
        "plan-timeout": "24h",
        "terraform-worker-sudo-enabled": true,
    });
    update(&organization, &first).shows("/data/attributes/workspace-limit", ());
    for (switched_on, limit) in [(true, 42), (false, 0)] {
        let next = json!({
            "global-module-sharing": switched_on,
            "global-provider-sharing": switched_on,
            "is-disabled": switched_on,
            "workspace-limit": limit,
        });
        // What is not mentioned stays.
        update(&organization, &next)
            .shows("/data/attributes/access-beta-tools", true)
            .shows("/data/attributes/plan-timeout", "24h");
    }
}
