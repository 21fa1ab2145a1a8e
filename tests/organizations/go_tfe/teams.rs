//! `team_integration_test.go`, what of it needs no directory of groups (contract 6.5, 4.10).

use serde_json::{Map, Value, json};

use crate::documents::resource;
use crate::fixtures::{Organization, unique};
use crate::session::{Reply, Session};

scenarios! {
    both:
        test_teams_list_without_list_options,
        test_teams_list_with_list_options,
        test_teams_create_with_valid_options,
        test_teams_create_with_beta_delegate_policy_overrides,
        test_teams_create_with_sso_team_id,
        test_teams_read_when_the_team_exists,
        test_teams_read_when_the_team_does_not_exist,
        test_teams_update_with_valid_options,
        test_teams_update_with_beta_delegate_policy_overrides,
        test_teams_update_when_the_team_does_not_exist,
        test_teams_update_manage_projects_with_valid_options,
        test_teams_update_manage_membership,
        test_teams_update_manage_teams,
        test_teams_update_manage_organization_access,
        test_teams_update_access_secret_teams,
        test_teams_update_manage_agent_pools,
        test_teams_delete_with_valid_options;
    hosted:
        test_teams_update_run_tasks_with_valid_options;
}

const ACCESS: &str = "/data/attributes/organization-access";

fn list(organization: &Organization<'_>, query: &str) -> Reply {
    let path = organization.path(&format!("teams{query}"));
    organization.session().get(&path).expect(200)
}

fn name(team: &Reply) -> String {
    team.text("/data/attributes/name")
}

fn path(team: &str) -> String {
    format!("teams/{team}")
}

/// Creates a team with these attributes, and expects them in the answer and in what is read.
fn assert_creates(session: &Session<'_>, attributes: &Value) {
    let organization = Organization::new(session);
    let body = resource("teams", attributes.clone());
    let team = session.post(&organization.path("teams"), &body).expect(201);
    let read = session.get(&path(&team.id())).expect(200);
    assert_shows(team, attributes);
    assert_shows(read, attributes);
}

/// Changes a new team, and expects the attributes in the answer and in what is read.
fn assert_updates(session: &Session<'_>, attributes: &Value) {
    let organization = Organization::new(session);
    let team = organization.team().id();
    let changes = resource("teams", attributes.clone());
    assert_shows(
        session.patch(&path(&team), &changes).expect(200),
        attributes,
    );
    assert_shows(session.get(&path(&team)).expect(200), attributes);
}

/// Asserts the attributes; of the access that a team has, the rights that are named.
fn assert_shows(mut reply: Reply, attributes: &Value) {
    for (attribute, value) in attributes.as_object().unwrap() {
        let pointer = format!("/data/attributes/{attribute}");
        match value {
            Value::Object(rights) => {
                for (right, granted) in rights {
                    reply = reply.shows(&format!("{pointer}/{right}"), granted.clone());
                }
            }
            _ => reply = reply.shows(&pointer, value.clone()),
        }
    }
}

/// Grants rights that a new team does not have, and expects that it has the others as before.
fn assert_grants(session: &Session<'_>, rights: &[&str]) {
    let organization = Organization::new(session);
    let team = organization.team().id();
    let mut expected = session.get(&path(&team)).expect(200).at(ACCESS);
    let mut granted = Map::new();
    for right in rights {
        assert_eq!(expected[*right], false, "{right}");
        expected[*right] = true.into();
        granted.insert((*right).to_owned(), true.into());
    }
    let changes = resource("teams", json!({"organization-access": granted}));
    let updated = session.patch(&path(&team), &changes).expect(200);
    updated.shows(ACCESS, expected.clone());
    session
        .get(&path(&team))
        .expect(200)
        .shows(ACCESS, expected);
}

/// The team of the owners is the fourth.
fn test_teams_list_without_list_options(session: &Session<'_>) {
    let organization = Organization::new(session);
    let teams: [Reply; 3] = std::array::from_fn(|_| organization.team());
    let list = list(&organization, "")
        .shows("/meta/pagination/current-page", 1)
        .shows("/meta/pagination/total-count", 4);
    let items = list.items();
    for team in teams {
        assert!(
            items.contains(&team.data()),
            "{} lacks {}",
            list.body,
            team.body
        );
    }
}

fn test_teams_list_with_list_options(session: &Session<'_>) {
    let organization = Organization::new(session);
    let [first, second, third]: [Reply; 3] = std::array::from_fn(|_| organization.team());
    list(&organization, "?page%5Bnumber%5D=999&page%5Bsize%5D=100")
        .shows("/data", json!([]))
        .shows("/meta/pagination/current-page", 999)
        .shows("/meta/pagination/total-count", 4);

    let query = format!("?filter%5Bnames%5D={}%2C{}", name(&second), name(&third));
    let named = list(&organization, &query).items();
    assert_eq!(named.len(), 2);
    assert!(named.contains(&second.data()) && named.contains(&third.data()));

    let whole = name(&first);
    let part = &whole[..whole.len() - 2];
    let found = list(&organization, &format!("?q={part}"));
    assert_eq!(found.items(), [first.data()]);
    found.shows("/meta/pagination/total-count", 1);
}

fn test_teams_create_with_valid_options(session: &Session<'_>) {
    assert_creates(session, &json!({"name": "foo"}));
}

fn test_teams_create_with_beta_delegate_policy_overrides(session: &Session<'_>) {
    let access = json!({"delegate-policy-overrides": true});
    let name = "delegate-policy-overrides";
    assert_creates(
        session,
        &json!({"name": name, "organization-access": access}),
    );
}

fn test_teams_create_with_sso_team_id(session: &Session<'_>) {
    let id = "7dddb675-73e0-4858-a8ad-0e597064301b";
    assert_creates(session, &json!({"name": "rockettes", "sso-team-id": id}));
}

fn test_teams_read_when_the_team_exists(session: &Session<'_>) {
    let organization = Organization::new(session);
    let team = organization.team();
    session
        .get(&path(&team.id()))
        .expect(200)
        .shows("/data", team.data())
        .shows("/data/attributes/visibility", "secret")
        .shows("/data/attributes/permissions/can-destroy", true)
        .shows("/data/attributes/organization-access/manage-policies", true)
        .shows("/data/attributes/allow-member-token-management", true);
}

fn test_teams_read_when_the_team_does_not_exist(session: &Session<'_>) {
    session.get("teams/nonexisting").expect_not_found();
}

/// With a blank in its name, which the client's test has.
fn test_teams_update_with_valid_options(session: &Session<'_>) {
    assert_updates(
        session,
        &json!({
            "name": "foo bar",
            "organization-access": {
                "manage-policies": false,
                "manage-vcs-settings": true,
                "manage-policy-overrides": true,
                "manage-providers": true,
                "manage-modules": false,
            },
            "visibility": "organization",
            "allow-member-token-management": true,
        }),
    );
}

fn test_teams_update_with_beta_delegate_policy_overrides(session: &Session<'_>) {
    let organization = Organization::new(session);
    let body = resource("teams", json!({"name": unique()}));
    let team = session
        .post(&organization.path("teams"), &body)
        .expect(201)
        .id();
    let access = json!({"organization-access": {"delegate-policy-overrides": true}});
    let changes = resource("teams", access.clone());
    assert_shows(session.patch(&path(&team), &changes).expect(200), &access);
    assert_shows(session.get(&path(&team)).expect(200), &access);
    session.delete(&path(&team)).expect(204);
}

fn test_teams_update_when_the_team_does_not_exist(session: &Session<'_>) {
    let changes = resource("teams", json!({"name": "foo bar"}));
    session
        .patch("teams/nonexisting", &changes)
        .expect_not_found();
}

fn test_teams_update_run_tasks_with_valid_options(session: &Session<'_>) {
    let access = json!({"manage-run-tasks": true});
    assert_updates(
        session,
        &json!({"name": "foo bar", "organization-access": access, "visibility": "organization"}),
    );
}

fn test_teams_update_manage_projects_with_valid_options(session: &Session<'_>) {
    let access = json!({"manage-workspaces": true, "manage-projects": true});
    assert_updates(
        session,
        &json!({"name": "foo bar", "organization-access": access, "visibility": "organization"}),
    );
}

fn test_teams_update_manage_membership(session: &Session<'_>) {
    assert_grants(session, &["manage-membership"]);
}

fn test_teams_update_manage_teams(session: &Session<'_>) {
    assert_grants(session, &["manage-membership", "manage-teams"]);
}

fn test_teams_update_manage_organization_access(session: &Session<'_>) {
    let rights = [
        "manage-membership",
        "manage-teams",
        "manage-organization-access",
    ];
    assert_grants(session, &rights);
}

fn test_teams_update_access_secret_teams(session: &Session<'_>) {
    assert_grants(
        session,
        &["manage-membership", "manage-teams", "access-secret-teams"],
    );
}

fn test_teams_update_manage_agent_pools(session: &Session<'_>) {
    assert_grants(session, &["manage-agent-pools"]);
}

fn test_teams_delete_with_valid_options(session: &Session<'_>) {
    let organization = Organization::new(session);
    let team = organization.team().id();
    session.delete(&path(&team)).expect(204);
    session.get(&path(&team)).expect_not_found();
}
