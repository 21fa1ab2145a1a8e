//! `organization_membership_integration_test.go` (contract 6.5, 4.11).

use serde_json::{Value, json};

use crate::documents::resource;
use crate::fixtures::{Organization, pluck, unique_email};
use crate::session::{Reply, Session};

scenarios! {
    both:
        test_organization_memberships_list_without_list_options,
        test_organization_memberships_list_with_pagination_options,
        test_organization_memberships_list_with_include_options,
        test_organization_memberships_list_with_email_filter_option,
        test_organization_memberships_list_with_status_filter_option,
        test_organization_memberships_list_with_search_query_string_using_an_email,
        test_organization_memberships_create_with_valid_options,
        test_organization_memberships_create_when_an_error_is_returned_from_the_api,
        test_organization_memberships_create_with_initial_teams,
        test_organization_memberships_read_when_the_membership_exists,
        test_organization_memberships_read_when_the_membership_does_not_exist,
        test_organization_memberships_read_with_options_when_the_membership_exists,
        test_organization_memberships_read_with_options_without_options,
        test_organization_memberships_read_with_options_when_the_membership_does_not_exist,
        test_organization_memberships_delete_with_valid_options,
        test_organization_memberships_delete_when_an_error_is_returned_from_the_api;
}

fn list(organization: &Organization<'_>, query: &str) -> Reply {
    let path = organization.path(&format!("organization-memberships{query}"));
    organization.session().get(&path).expect(200)
}

fn email(membership: &Reply) -> String {
    membership.text("/data/attributes/email")
}

/// Asserts that a list has all these memberships as their creation showed them.
#[track_caller]
fn assert_lists(list: &Reply, memberships: &[&Reply]) {
    let items = list.items();
    for membership in memberships {
        assert!(
            items.contains(&membership.data()),
            "{} lacks {}",
            list.body,
            membership.body
        );
    }
}

/// The user behind a membership, as the answer includes it.
#[track_caller]
fn included_user(reply: &Reply, membership: &Value) -> Value {
    let user = &membership["relationships"]["user"]["data"];
    let included = reply.at("/included");
    let mut found = included.as_array().into_iter().flatten();
    let found = found.find(|found| found["type"] == "users" && found["id"] == user["id"]);
    found
        .cloned()
        .unwrap_or_else(|| panic!("no {user} in {}", reply.body))
}

fn test_organization_memberships_list_without_list_options(session: &Session<'_>) {
    let organization = Organization::new(session);
    let (first, second) = (organization.membership(), organization.membership());
    assert_lists(&list(&organization, ""), &[&first, &second]);
}

/// A page that there is not is empty, and knows how many there are: whoever made the organization is a member, too.
fn test_organization_memberships_list_with_pagination_options(session: &Session<'_>) {
    let organization = Organization::new(session);
    organization.membership();
    organization.membership();
    list(&organization, "?page%5Bnumber%5D=999&page%5Bsize%5D=100")
        .shows("/data", json!([]))
        .shows("/meta/pagination/current-page", 999)
        .shows("/meta/pagination/total-count", 3);
}

fn test_organization_memberships_list_with_include_options(session: &Session<'_>) {
    let organization = Organization::new(session);
    let (first, second) = (organization.membership(), organization.membership());
    let list = list(&organization, "?include=user");
    assert_lists(&list, &[&first, &second]);
    for membership in [&first, &second] {
        let created = included_user(membership, &membership.data());
        assert_eq!(included_user(&list, &membership.data()), created);
    }
}

fn test_organization_memberships_list_with_email_filter_option(session: &Session<'_>) {
    let organization = Organization::new(session);
    organization.membership();
    let (second, third) = (organization.membership(), organization.membership());
    let emails = format!("{}%2C{}", email(&second), email(&third)).replace('@', "%40");
    let list = list(&organization, &format!("?filter%5Bemail%5D={emails}"));
    assert_eq!(list.items().len(), 2, "{}", list.body);
    assert_lists(&list, &[&second, &third]);
}

fn test_organization_memberships_list_with_status_filter_option(session: &Session<'_>) {
    let organization = Organization::new(session);
    let (first, second) = (organization.membership(), organization.membership());
    let list = list(&organization, "?filter%5Bstatus%5D=invited");
    assert_eq!(pluck(&list.items(), "status"), ["invited", "invited"]);
    assert_lists(&list, &[&first, &second]);
}

fn test_organization_memberships_list_with_search_query_string_using_an_email(
    session: &Session<'_>,
) {
    let organization = Organization::new(session);
    let first = organization.membership();
    organization.membership();
    organization.membership();
    let query = format!("?q={}", email(&first).replace('@', "%40"));
    assert_eq!(
        pluck(&list(&organization, &query).items(), "email"),
        [email(&first)]
    );
}

/// The answer includes the user, as the one to a read does that asks for it.
fn test_organization_memberships_create_with_valid_options(session: &Session<'_>) {
    let organization = Organization::new(session);
    let created = organization.membership();
    assert_read_with_user(session, &created);
    let list = list(&organization, "");
    assert_lists(&list, &[&created]);
    created.shows("/data/attributes/status", "invited").shows(
        "/data/relationships/organization/data/id",
        organization.name.as_str(),
    );
}

fn test_organization_memberships_create_when_an_error_is_returned_from_the_api(
    session: &Session<'_>,
) {
    let organization = Organization::new(session);
    let membership = resource(
        "organization-memberships",
        json!({"email": "not-an-email-address"}),
    );
    session
        .post(&organization.path("organization-memberships"), &membership)
        .expect(422)
        .shows("/errors/0/source/pointer", "/data/attributes/email");
    assert_eq!(list(&organization, "").items().len(), 1);
}

fn test_organization_memberships_create_with_initial_teams(session: &Session<'_>) {
    let organization = Organization::new(session);
    let teams = [organization.team().id(), organization.team().id()];
    let email = unique_email();
    let mut body = resource("organization-memberships", json!({"email": email}));
    let linked = teams
        .each_ref()
        .map(|id| json!({"type": "teams", "id": id}));
    body["data"]["relationships"] = json!({"teams": {"data": linked}});
    let path = organization.path("organization-memberships");
    let created = session.post(&path, &body).expect(201);
    assert_read_with_user(session, &created);
    let shown = created.at("/data/relationships/teams/data");
    assert_eq!(shown.as_array().map(Vec::len), Some(2), "{shown}");
    for team in linked {
        assert!(shown.as_array().unwrap().contains(&team), "{shown}");
    }
    for team in teams {
        session.delete(&format!("teams/{team}")).expect(204);
    }
}

/// Asserts that a membership is read as it was created, with its user.
fn assert_read_with_user(session: &Session<'_>, created: &Reply) {
    let path = format!("organization-memberships/{}?include=user", created.id());
    let read = session
        .get(&path)
        .expect(200)
        .shows("/data", created.data());
    let user = included_user(&read, &read.data());
    assert_eq!(user, included_user(created, &created.data()));
    assert_eq!(user["attributes"]["email"], email(created));
}

fn test_organization_memberships_read_when_the_membership_exists(session: &Session<'_>) {
    let organization = Organization::new(session);
    let created = organization.membership();
    let path = format!("organization-memberships/{}", created.id());
    session
        .get(&path)
        .expect(200)
        .shows("/data", created.data());
}

fn test_organization_memberships_read_when_the_membership_does_not_exist(session: &Session<'_>) {
    session
        .get("organization-memberships/nonexisting")
        .expect_not_found();
}

fn test_organization_memberships_read_with_options_when_the_membership_exists(
    session: &Session<'_>,
) {
    let organization = Organization::new(session);
    assert_read_with_user(session, &organization.membership());
}

fn test_organization_memberships_read_with_options_without_options(session: &Session<'_>) {
    let organization = Organization::new(session);
    let path = format!(
        "organization-memberships/{}",
        organization.membership().id()
    );
    session.get(&path).expect(200);
}

fn test_organization_memberships_read_with_options_when_the_membership_does_not_exist(
    session: &Session<'_>,
) {
    session
        .get("organization-memberships/nonexisting?include=user")
        .expect_not_found();
}

fn test_organization_memberships_delete_with_valid_options(session: &Session<'_>) {
    let organization = Organization::new(session);
    let membership = organization.membership();
    let path = format!("organization-memberships/{}", membership.id());
    session.delete(&path).expect(204);
    assert!(!list(&organization, "").ids().contains(&membership.id()));
    session.get(&path).expect_not_found();
}

fn test_organization_memberships_delete_when_an_error_is_returned_from_the_api(
    session: &Session<'_>,
) {
    session
        .delete("organization-memberships/not-an-identifier")
        .expect_not_found();
}
