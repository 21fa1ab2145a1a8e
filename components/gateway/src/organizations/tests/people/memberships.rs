//! What memberships look like, and what is wrong with those that are refused.

use super::*;

#[test]
fn contract_4_11_an_invitation_and_what_becomes_of_it() {
    let world = hosted();
    world.create_named("acme");
    let ops = world.team(&json!({"name": "ops"}));
    let sent = invitation(&json!({"email": "Ada@example.com"}), &[&ops]);
    let made = world.post(&format!("{MEMBERSHIPS}?include=user,teams"), &sent);
    assert_eq!(made.status, 201);
    let made = body(&made);
    let data = &made["data"];
    assert_eq!(data["type"], "organization-memberships");
    assert_eq!(data["attributes"]["status"], "invited");
    assert_eq!(data["attributes"]["email"], "Ada@example.com");
    assert!(
        data["attributes"]["created-at"]
            .as_str()
            .unwrap()
            .ends_with('Z')
    );
    let relationships = &data["relationships"];
    let invited = &relationships["user"]["data"];
    assert_eq!(invited["type"], "users");
    assert_eq!(relationships["organization"]["data"]["id"], "acme");
    assert_eq!(
        relationships["teams"]["data"],
        json!([{"id": ops, "type": "teams"}])
    );
    let user = &made["included"][0];
    assert_eq!(user["id"], invited["id"]);
    assert_eq!(
        user["attributes"],
        json!({"username": "", "email": "Ada@example.com"})
    );
    assert_eq!(made["included"][1]["id"], ops.as_str());
    let target = data["links"]["self"].as_str().unwrap();
    assert_eq!(body(&world.get(target))["data"], *data);
    let token = world.user("ada", false);
    let shown = body(&world.get(&format!("{target}?include=user")));
    assert_eq!(shown["data"]["attributes"]["status"], "active");
    let user = &shown["data"]["relationships"]["user"]["data"];
    assert_eq!(user, invited);
    assert_eq!(shown["included"][0]["id"], user["id"]);
    let own = body(&world.send_as(
        &token,
        Method::Get,
        "/api/v2/organization-memberships",
        None,
    ));
    assert_eq!(own["data"], json!([shown["data"]]));
    assert_eq!(own["meta"]["pagination"]["total-count"], 1);
    let removed = world.send(Method::Delete, target, None);
    assert_eq!((removed.status, removed.body.len()), (204, 0));
    assert_not_found(&world.get(target));
    assert_not_found(&world.send(Method::Delete, target, None));
    assert_not_found(&world.send_as(&token, Method::Get, ORGANIZATION, None));
}

#[test]
fn contract_4_11_an_empty_or_missing_list_of_teams_is_none() {
    let world = hosted();
    world.create_named("acme");
    let documents = [
        json!({"data": {"attributes": {"email": "a@b"}, "type": "organization-memberships"}}),
        json!({"data": {"attributes": {"email": "b@b"}, "relationships": {"teams": {"data": []}}}}),
        json!({"data": {"attributes": {"email": "c@b"}, "relationships": {}}}),
    ];
    for document in &documents {
        let made = world.post(MEMBERSHIPS, document);
        assert_eq!(made.status, 201, "{}", text(&made));
        let teams = &body(&made)["data"]["relationships"]["teams"]["data"];
        assert_eq!(*teams, json!([]));
    }
}

#[test]
fn contract_4_11_every_fault_of_an_invitation_has_its_pointer_and_sentence() {
    let world = hosted();
    world.create_named("acme");
    world.invited(&json!({"email": "ada@example.com"}), &[]);
    let before = world.store.keys();
    let refused = |attributes: Value, teams: &[&str], expected: &[(&str, &str)]| {
        let found = faults(&world.post(MEMBERSHIPS, &invitation(&attributes, teams)));
        let found: Vec<(&str, &str)> = found
            .iter()
            .map(|(pointer, detail)| (pointer.as_str(), detail.as_str()))
            .collect();
        assert_eq!(found, expected);
    };
    let email = "/data/attributes/email";
    refused(json!({}), &[], &[(email, "Email can't be blank")]);
    refused(
        json!({"email": 1}),
        &[],
        &[(email, "Email must be a string")],
    );
    let here = json!({"email": "ADA@example.com"});
    refused(here, &[], &[(email, "Email has already been taken")]);
    refused(
        json!({"email": "nowhere"}),
        &["team-0000000000000000"],
        &[
            (email, "Email is invalid"),
            ("/data/relationships/teams", "Teams is invalid"),
        ],
    );
    for entity in ["0f6b2c1e-9a41-4c52-8d0e-5f3a7b9c1d2e", "x", ""] {
        let entity = json!({"entity-id": entity});
        let expected = ("/data/attributes/entity-id", "Entity is invalid");
        refused(entity, &[], &[expected]);
    }
    let founder = body(&world.get(&format!("{MEMBERSHIPS}?filter[status]=active")));
    let founder = founder["data"][0]["id"].as_str().unwrap().to_owned();
    let target = format!("/api/v2/organization-memberships/{founder}");
    let expected = (
        "/data".to_owned(),
        "The last owner cannot leave the organization; add another owner first".to_owned(),
    );
    let refused = world.send(Method::Delete, &target, None);
    assert_eq!(faults(&refused), std::slice::from_ref(&expected));
    let owners = world.owners_team();
    let target = format!("/api/v2/teams/{owners}/relationships/organization-memberships");
    let sent = named("organization-memberships", &[&founder]);
    let refused = world.send(Method::Delete, &target, Some(&sent));
    assert_eq!(faults(&refused), [expected]);
    assert_eq!(world.store.keys(), before);
}

#[test]
fn contract_4_11_lists_are_filtered_and_counted() {
    let world = hosted();
    world.create_named("acme");
    world.member("ada", &[]);
    world.invited(&json!({"email": "zoe@example.com"}), &[]);
    let list = |query: &str| {
        let listed = body(&world.get(&format!("{MEMBERSHIPS}?{query}")));
        let counts = json!({"total": 3, "active": 2, "invited": 1, "inactive": 0});
        assert_eq!(listed["meta"]["status-counts"], counts, "{query}");
        let items = listed["data"].as_array().unwrap().iter();
        let emails = items.map(|item| item["attributes"]["email"].as_str().unwrap().to_owned());
        let local = emails.map(|email| email.split('@').next().unwrap().to_owned());
        local.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(list(""), "ada installation zoe");
    assert_eq!(list("page[size]=1&page[number]=3"), "zoe");
    assert_eq!(list("q=ZO"), "zoe");
    assert_eq!(
        list("filter[email]=zoe@example.com,ada@example.com"),
        "ada zoe"
    );
    assert_eq!(list("filter[status]=active"), "ada installation");
    for waiting in ["invited", "inactive", "invited,inactive"] {
        assert_eq!(list(&format!("filter[status]={waiting}")), "zoe");
    }
    assert_eq!(list("filter[status]=other"), "");
    assert_eq!(list("filter[status]="), "ada installation zoe");
    let listed = body(&world.get(&format!("{MEMBERSHIPS}?q=none&include=user")));
    assert_eq!(listed["included"], json!([]));
}
