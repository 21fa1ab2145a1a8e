//! The documents of teams, and the faults of refused ones.

use super::*;

#[test]
fn contract_4_10_the_team_of_the_owners() {
    let world = hosted();
    world.create_named("acme");
    let listed = body(&world.get(&format!("{TEAMS}?filter[names]=owners&include=users")));
    let teams = listed["data"].as_array().unwrap();
    assert_eq!(teams.len(), 1);
    let owners = &teams[0];
    assert_eq!(owners["type"], "teams");
    let attributes = &owners["attributes"];
    assert_eq!(attributes["name"], "owners");
    assert_eq!(attributes["users-count"], 1);
    assert_eq!(attributes["visibility"], "organization");
    assert_eq!(attributes["sso-team-id"], Value::Null);
    assert_eq!(attributes["allow-member-token-management"], true);
    assert_eq!(attributes["is-unified"], false);
    let access = attributes["organization-access"].as_object().unwrap();
    assert_eq!(access.len(), 16);
    assert!(access.values().all(|granted| granted == true));
    let permissions = attributes["permissions"].as_object().unwrap();
    assert_eq!(permissions.len(), 9);
    assert_eq!(permissions["can-destroy"], false);
    assert_eq!(permissions["can-update-membership"], true);
    let relationships = &owners["relationships"];
    assert_eq!(relationships["organization"]["data"]["id"], "acme");
    let users = relationships["users"]["data"].as_array().unwrap();
    assert_eq!(users.len(), 1);
    assert_eq!(listed["included"][0]["id"], users[0]["id"]);
    assert_eq!(listed["included"][0]["type"], "users");
    let memberships = relationships["organization-memberships"]["data"].as_array();
    assert_eq!(memberships.unwrap().len(), 1);
    assert_eq!(listed["meta"]["pagination"]["total-count"], 1);
    let path = owners["links"]["self"].as_str().unwrap();
    assert_eq!(body(&world.get(path))["data"], *owners);
}

#[test]
fn contract_4_10_a_team_lives() {
    let world = self_hosted();
    world.create_named("acme");
    let attributes = json!({
        "name": "Ops",
        "sso-team-id": "sso",
        "organization-access": {"manage-teams": true, "read_projects": true, "unknown": 1},
    });
    let made = world.post(TEAMS, &team_document(&attributes));
    assert_eq!(made.status, 201);
    let made = body(&made);
    let attributes = &made["data"]["attributes"];
    assert_eq!(attributes["visibility"], "secret");
    assert_eq!(attributes["users-count"], 0);
    assert_eq!(attributes["sso-team-id"], "sso");
    assert_eq!(attributes.get("is-unified"), None);
    let access = attributes["organization-access"].as_object().unwrap();
    let granted = access.iter().filter(|(_, granted)| *granted == true);
    let granted: Vec<&str> = granted.map(|(name, _)| name.as_str()).collect();
    assert_eq!(granted, ["manage-teams", "read-projects"]);
    let target = format!("/api/v2/teams/{}", id_of(&made));
    assert_eq!(body(&world.get(&target))["data"], made["data"]);
    let changes = team_document(&json!({"name": "Platform", "visibility": "organization"}));
    let changed = world.send(Method::Patch, &target, Some(&changes));
    assert_eq!(changed.status, 200);
    let changed = body(&changed);
    assert_eq!(changed["data"]["attributes"]["name"], "Platform");
    assert_eq!(changed["data"]["attributes"]["visibility"], "organization");
    assert_eq!(changed["data"]["attributes"]["sso-team-id"], "sso");
    let listed = body(&world.get(&format!("{TEAMS}?q=PLAT")));
    assert_eq!(listed["data"].as_array().unwrap().len(), 1);
    let deleted = world.send(Method::Delete, &target, None);
    assert_eq!((deleted.status, deleted.body.len()), (204, 0));
    assert_not_found(&world.get(&target));
    assert_not_found(&world.send(Method::Delete, &target, None));
    let put = world.send(Method::Put, &target, Some(&changes));
    assert_not_found(&put);
}

#[test]
fn contract_4_10_the_name_of_a_team_can_have_slashes() {
    let world = hosted();
    world.create_named("acme");
    let name = "team/name/with/slashes";
    let made = world.team(&json!({"name": name}));
    let listed = body(&world.get(&format!("{TEAMS}?filter[names]={name}")));
    assert_eq!(listed["data"][0]["id"], made.as_str());
    assert_eq!(listed["data"][0]["attributes"]["name"], name);
    let again = world.post(
        TEAMS,
        &team_document(&json!({"name": "Team/Name/With/Slashes"})),
    );
    let taken = (
        "/data/attributes/name".to_owned(),
        "Name has already been taken".to_owned(),
    );
    assert_eq!(faults(&again), [taken]);
}

#[test]
fn contract_4_10_every_fault_of_a_team_has_its_pointer_and_sentence() {
    let world = hosted();
    world.create_named("acme");
    world.team(&json!({"name": "ops"}));
    let before = world.store.keys();
    let fault = |pointer: &str, detail: &str| (pointer.to_owned(), detail.to_owned());
    let attributes = json!({
        "name": "OPS",
        "visibility": "public",
        "organization-access": {"manage-teams": "yes"},
        "sso-team-id": 1,
        "allow-member-token-management": "no",
    });
    assert_eq!(
        faults(&world.post(TEAMS, &team_document(&attributes))),
        [
            fault("/data/attributes/name", "Name has already been taken"),
            fault(
                "/data/attributes/visibility",
                "Visibility is not included in the list"
            ),
            fault(
                "/data/attributes/organization-access/manage-teams",
                "Organization access/manage teams must be true or false"
            ),
            fault("/data/attributes/sso-team-id", "Sso team must be a string"),
            fault(
                "/data/attributes/allow-member-token-management",
                "Allow member token management must be true or false"
            ),
        ]
    );
    let refused = world.post(TEAMS, &team_document(&json!({"organization-access": 7})));
    assert_eq!(
        faults(&refused),
        [
            fault("/data/attributes/name", "Name can't be blank"),
            fault(
                "/data/attributes/organization-access",
                "Organization access must be an object"
            ),
        ]
    );
    let refused = world.post(TEAMS, &team_document(&json!({"name": "ops@acme"})));
    let characters = "Name can only include letters, numbers, -, _, ., / and, inside, blanks.";
    assert_eq!(
        faults(&refused),
        [fault("/data/attributes/name", characters)]
    );
    let owners = format!("/api/v2/teams/{}", world.owners_team());
    let rename = team_document(&json!({"name": "masters"}));
    let refused = world.send(Method::Patch, &owners, Some(&rename));
    let expected = fault("/data/attributes/name", "Name cannot be changed");
    assert_eq!(faults(&refused), [expected]);
    let refused = world.send(Method::Delete, &owners, None);
    let expected = fault("/data", "The team of the owners cannot be deleted");
    assert_eq!(faults(&refused), [expected]);
    assert_eq!(world.store.keys(), before);
}

#[test]
fn contract_4_10_members_come_and_go_by_the_requests_of_clients() {
    let world = hosted();
    world.create_named("acme");
    let ops = world.team(&json!({"name": "ops"}));
    world.member("ada", &[]);
    let bob = world.invited(&json!({"email": "bob@example.com"}), &[]);
    let users = format!("/api/v2/teams/{ops}/relationships/users");
    let memberships = format!("/api/v2/teams/{ops}/relationships/organization-memberships");
    let joined = world.post(&users, &named("users", &["ada"]));
    assert_eq!((joined.status, joined.body.len()), (204, 0));
    let joined = world.post(&memberships, &named("organization-memberships", &[&bob]));
    assert_eq!(joined.status, 204);
    let target = format!("/api/v2/teams/{ops}?include=users,organization_memberships");
    let shown = body(&world.get(&target));
    assert_eq!(shown["data"]["attributes"]["users-count"], 1);
    let included = shown["included"].as_array().unwrap();
    let kinds: Vec<&str> = included
        .iter()
        .filter_map(|it| it["type"].as_str())
        .collect();
    let membership = "organization-memberships";
    assert_eq!(kinds, ["users", membership, membership]);
    let listed = body(&world.get(&format!("{memberships}?page[size]=1&page[number]=2")));
    assert_eq!(listed["meta"]["pagination"]["total-count"], 2);
    assert_eq!(listed["data"][0]["id"], bob.as_str());
    assert_eq!(listed["data"][0]["attributes"]["email"], "bob@example.com");
    let listed = body(&world.get(&users));
    assert_eq!(listed["data"].as_array().unwrap().len(), 1);
    assert_eq!(listed["data"][0]["attributes"]["username"], "ada");
    // Members do not see which users are site administrators.
    let ada = json!({"username": "ada", "email": "ada@example.com"});
    assert_eq!(included[0]["attributes"], ada);
    let before = world.store.keys();
    let unknown = world.post(&users, &named("users", &["ada", "nobody"]));
    let expected = (
        "/data/1/id".to_owned(),
        "Id must be of a member of the organization".to_owned(),
    );
    assert_eq!(faults(&unknown), std::slice::from_ref(&expected));
    let single = json!({"data": {"id": "nobody", "type": "users"}});
    let unknown = world.post(&users, &single);
    assert_eq!(faults(&unknown), [("/data/id".to_owned(), expected.1)]);
    assert_eq!(world.post(&users, &json!({"data": null})).status, 422);
    let crowd = world.post(&users, &named("users", &["ada"; 501]));
    assert_eq!(crowd.status, 422);
    let expected = (
        "/data".to_owned(),
        "There can be at most 500 members in one request".to_owned(),
    );
    assert_eq!(faults(&crowd), [expected]);
    assert_eq!(world.store.keys(), before);
    for (target, sent) in [
        (&users, named("users", &["ada"])),
        (&memberships, named(membership, &[&bob])),
    ] {
        let left = world.send(Method::Delete, target, Some(&sent));
        assert_eq!(left.status, 204);
    }
    let shown = body(&world.get(&target));
    assert_eq!(shown["data"]["attributes"]["users-count"], 0);
    assert_eq!(shown["included"], json!([]));
    for odd in ["tags", "users/ada"] {
        let target = format!("/api/v2/teams/{ops}/relationships/{odd}");
        assert_not_found(&world.post(&target, &named("users", &["ada"])));
    }
    assert_eq!(body(&world.get(&users))["data"], json!([]));
    let outsider = world.user("outsider", false);
    for target in [&users, &memberships] {
        assert_not_found(&world.send_as(&outsider, Method::Get, target, None));
    }
}

#[test]
fn contract_2_6_what_cannot_be_included_is_refused() {
    let world = hosted();
    world.create_named("acme");
    let owners = format!("/api/v2/teams/{}", world.owners_team());
    for target in [
        TEAMS,
        &owners,
        MEMBERSHIPS,
        "/api/v2/organization-memberships",
    ] {
        let refused = world.get(&format!("{target}?include=workspaces"));
        assert_eq!(refused.status, 400, "{target}");
    }
}
