//! `TestOrganization_DataRetentionPolicy` (contract 6.2).

use serde_json::{Value, json};

use crate::documents::resource;
use crate::fixtures::Organization;
use crate::session::{Reply, Session};

scenarios! {
    self_hosted:
        test_organization_data_retention_policy_of_a_new_organization,
        test_organization_data_retention_policy_set_and_update_to_delete_older,
        test_organization_data_retention_policy_set_to_not_delete,
        test_organization_data_retention_policy_change_type,
        test_organization_data_retention_policy_delete;
}

const DELETE_OLDER: &str = "data-retention-policy-delete-olders";
const DONT_DELETE: &str = "data-retention-policy-dont-deletes";

fn path(organization: &Organization<'_>) -> String {
    organization.path("relationships/data-retention-policy")
}

fn set_delete_older(organization: &Organization<'_>, days: u32) -> Reply {
    let policy = resource(DELETE_OLDER, json!({"delete-older-than-n-days": days}));
    organization
        .session()
        .post(&path(organization), &policy)
        .expect(200)
        .shows("/data/type", DELETE_OLDER)
        .shows("/data/attributes/delete-older-than-n-days", days)
}

fn set_dont_delete(organization: &Organization<'_>) -> Reply {
    let policy = json!({"data": {"type": DONT_DELETE}});
    organization
        .session()
        .post(&path(organization), &policy)
        .expect(200)
        .shows("/data/type", DONT_DELETE)
}

/// The policy of the organization, read as the client does: the organization tells the type, and only then it is asked for.
fn read_choice(organization: &Organization<'_>) -> Option<Reply> {
    let shown = organization.show().expect(200);
    let relationship = shown.at("/data/relationships/data-retention-policy");
    if relationship["data"].is_null() {
        return None;
    }
    let policy = organization.session().get(&path(organization)).expect(200);
    let policy = policy
        .shows("/data/type", relationship["data"]["type"].clone())
        .shows("/data/id", relationship["data"]["id"].clone());
    Some(policy)
}

/// Asserts that the organization has a policy, which is this one.
fn assert_policy(organization: &Organization<'_>, kind: &str, id: &str, days: Option<u32>) {
    read_choice(organization)
        .expect("a policy")
        .shows("/data/type", kind)
        .shows("/data/id", id)
        .shows(
            "/data/attributes/delete-older-than-n-days",
            days.map_or(Value::Null, Value::from),
        );
}

fn test_organization_data_retention_policy_of_a_new_organization(session: &Session<'_>) {
    let organization = Organization::new(session);
    assert!(read_choice(&organization).is_none());
}

fn test_organization_data_retention_policy_set_and_update_to_delete_older(session: &Session<'_>) {
    let organization = Organization::new(session);
    let id = set_delete_older(&organization, 33).id();
    assert!(id.starts_with("drp-"), "{id}");
    assert_policy(&organization, DELETE_OLDER, &id, Some(33));

    let updated = set_delete_older(&organization, 1).id();
    assert_eq!(updated, id);
    assert_policy(&organization, DELETE_OLDER, &id, Some(1));
}

fn test_organization_data_retention_policy_set_to_not_delete(session: &Session<'_>) {
    let organization = Organization::new(session);
    let id = set_dont_delete(&organization).id();
    assert!(id.starts_with("drp-"), "{id}");
    assert_policy(&organization, DONT_DELETE, &id, None);
}

fn test_organization_data_retention_policy_change_type(session: &Session<'_>) {
    let organization = Organization::new(session);
    let first = set_delete_older(&organization, 45).id();
    assert_policy(&organization, DELETE_OLDER, &first, Some(45));
    let second = set_dont_delete(&organization).id();
    assert_ne!(second, first);
    assert_policy(&organization, DONT_DELETE, &second, None);
    let third = set_delete_older(&organization, 20).id();
    assert!(third != first && third != second, "{third}");
    assert_policy(&organization, DELETE_OLDER, &third, Some(20));
}

fn test_organization_data_retention_policy_delete(session: &Session<'_>) {
    let organization = Organization::new(session);
    set_delete_older(&organization, 20);
    session.delete(&path(&organization)).expect(204);
    assert!(read_choice(&organization).is_none());
}
