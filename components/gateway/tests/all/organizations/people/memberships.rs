//! The documents of memberships, and the faults of refused ones.

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
    let id = id_of(&made);
    let token = world.user("ada", false);
    // Nothing shows that the account exists by now.
    assert_eq!(body(&world.get(target))["data"], *data);
    let waiting = body(&world.send_as(
        &token,
        Method::Get,
        "/api/v2/organization-memberships",
        None,
    ));
    assert_eq!(waiting["data"], json!([data]));
    assert_not_found(&world.send_as(&token, Method::Get, ORGANIZATION, None));
    let accepted = world.answer_invitation(&token, &id, "accept");
    assert_eq!(accepted.status, 200, "{}", text(&accepted));
    let shown = body(&world.get(&format!("{target}?include=user")));
    assert_eq!(body(&accepted)["data"], shown["data"]);
    assert_eq!(shown["data"]["attributes"]["status"], "active");
    assert_eq!(shown["included"][0]["attributes"]["username"], "ada");
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
fn contract_4_11_an_invitation_answers_alike_with_and_without_an_account() {
    let world = hosted();
    world.create_named("acme");
    world.user("ada", false);
    let owners = world.owners_team();
    let invite = |email: &str| {
        let sent = invitation(&json!({"email": email, "status": "invited"}), &[&owners]);
        let made = world.post(&format!("{MEMBERSHIPS}?include=user"), &sent);
        assert_eq!(made.status, 201);
        let mut shown = body(&made);
        let user = shown["included"][0]["id"].as_str().unwrap().to_owned();
        let id = id_of(&shown);
        shown["data"]["attributes"]["created-at"] = Value::Null;
        let shown = shown.to_string().replace(&id, "ID");
        shown.replace(&user, "USER").replace(email, "EMAIL")
    };
    assert_eq!(invite("ada@example.com"), invite("eva@example.com"));
    let listed = text(&world.get(&format!("{MEMBERSHIPS}?include=user")));
    assert!(!listed.contains(r#""username":"ada""#), "{listed}");
    let team = text(&world.get(&format!("/api/v2/teams/{owners}?include=users")));
    assert!(!team.contains("ada"), "{team}");
}

#[test]
fn contract_4_11_only_the_invited_one_answers_an_invitation() {
    let world = hosted();
    world.create_named("acme");
    let id = world.invited(&json!({"email": "ada@example.com"}), &[]);
    let member = world.member("member", &[]);
    let outsider = world.user("outsider", false);
    let ada = world.user("ada", false);
    let kept = || {
        let mut keys = world.store.keys();
        keys.retain(|key| key.contains("/membership/") || key.starts_with("invitation/"));
        keys
    };
    let before = kept();
    for action in ["accept", "decline"] {
        for stranger in [&member, &outsider] {
            assert_not_found(&world.answer_invitation(stranger, &id, action));
        }
        // A site administrator is not invited either. A membership that does not exist gives the same answer.
        assert_not_found(&world.answer_invitation(ROOT, &id, action));
        let nothing = "ou-0000000000000000";
        assert_not_found(&world.answer_invitation(&ada, nothing, action));
        let unknown = world.answer_invitation("unknown", &id, action);
        assert_eq!(unknown.status, 401);
    }
    assert_eq!(kept(), before);
    let declined = world.answer_invitation(&ada, &id, "decline");
    assert_eq!((declined.status, declined.body.len()), (204, 0));
    assert_not_found(&world.answer_invitation(&ada, &id, "accept"));
    assert_not_found(&world.get(&format!("/api/v2/organization-memberships/{id}")));
}

#[test]
fn contract_4_11_a_site_administrator_alone_makes_a_user_a_member_at_once() {
    let world = hosted();
    world.create_named("acme");
    let owner = world.member("owner", &[&world.owners_team()]);
    for name in ["ada", "bob"] {
        world.user(name, false);
    }
    let invite = |token: &str, email: &str, status: Value| {
        let sent = invitation(&json!({"email": email, "status": status}), &[]);
        let made = world.send_as(token, Method::Post, MEMBERSHIPS, Some(&sent));
        assert_eq!(made.status, 201, "{}", text(&made));
        body(&made)["data"]["attributes"]["status"].clone()
    };
    let site = world.user("site", true);
    assert_eq!(
        invite(&owner, "ada@example.com", json!("active")),
        "invited"
    );
    assert_eq!(invite(&site, "bob@example.com", json!("active")), "active");
    assert_eq!(invite(&site, "eve@example.com", json!(7)), "invited");
}

#[test]
fn contract_4_11_everybody_leaves_by_deleting_their_own_membership() {
    let world = hosted();
    world.create_named("acme");
    let member = world.member("member", &[]);
    let owner = world.member("owner", &[&world.owners_team()]);
    let own = |token: &str| {
        let own = "/api/v2/organization-memberships";
        let own = body(&world.send_as(token, Method::Get, own, None));
        let id = own["data"][0]["id"].as_str().unwrap();
        format!("/api/v2/organization-memberships/{id}")
    };
    let of_owner = own(&owner);
    assert_not_found(&world.send_as(&member, Method::Delete, &of_owner, None));
    let closed = world.update("acme", &json!({"user-tokens-enabled": false}));
    assert_eq!(closed.status, 200);
    // Members are shut out now, but may still leave.
    let id = body(&world.get(&format!("{MEMBERSHIPS}?q=member%40")));
    let id = id["data"][0]["id"].as_str().unwrap();
    let of_member = format!("/api/v2/organization-memberships/{id}");
    let left = world.send_as(&member, Method::Delete, &of_member, None);
    assert_eq!((left.status, left.body.len()), (204, 0));
    assert_not_found(&world.get(&of_member));
    let founder = body(&world.get(&format!("{MEMBERSHIPS}?q=installation")));
    let founder = founder["data"][0]["id"].as_str().unwrap();
    let founder = format!("/api/v2/organization-memberships/{founder}");
    assert_eq!(world.send(Method::Delete, &founder, None).status, 204);
    let refused = world.send_as(&owner, Method::Delete, &of_owner, None);
    let expected = (
        "/data".to_owned(),
        "The last owner cannot leave the organization; add another owner first".to_owned(),
    );
    assert_eq!(faults(&refused), [expected]);
}

#[test]
fn a_refusal_for_a_bound_names_the_bound() {
    let world = hosted();
    world.create_named("acme");
    let settings = json!({"data": {"type": "general-settings", "attributes": {
        "teams-per-organization": 3,
        "memberships-per-organization": 2,
        "teams-per-membership": 1,
        "agent-pools-per-organization": 1,
    }}});
    let target = "/api/v2/admin/general-settings";
    let set = world.send(Method::Patch, target, Some(&settings));
    assert_eq!(set.status, 200, "{}", text(&set));
    let [one, two] = ["one", "two"].map(|name| world.team(&json!({"name": name})));
    let ada = world.invited(&json!({"email": "ada@example.com"}), &[&one]);
    let pools = format!("{ORGANIZATION}/agent-pools");
    let pool = |name| json!({"data": {"type": "agent-pools", "attributes": {"name": name}}});
    assert_eq!(world.post(&pools, &pool("one")).status, 201);
    let before = world.store.values();
    let members = format!("/api/v2/teams/{two}/relationships/organization-memberships");
    for (refused, detail) in [
        (
            world.post(TEAMS, &team_document(&json!({"name": "three"}))),
            "There can be at most 3 teams in an organization",
        ),
        (
            world.post(
                MEMBERSHIPS,
                &invitation(&json!({"email": "eve@example.com"}), &[]),
            ),
            "There can be at most 2 memberships in an organization",
        ),
        (
            world.post(
                MEMBERSHIPS,
                &invitation(&json!({"email": "eve@example.com"}), &[&one, &two]),
            ),
            "There can be at most 1 teams of a membership",
        ),
        (
            world.post(&members, &named("organization-memberships", &[&ada])),
            "There can be at most 1 teams of a membership",
        ),
        (
            world.post(&pools, &pool("two")),
            "There can be at most 1 agent pools in an organization",
        ),
    ] {
        let expected = ("/data".to_owned(), detail.to_owned());
        assert_eq!(faults(&refused), [expected]);
    }
    assert_eq!(world.store.values(), before);
    let above = json!({"data": {"attributes": {"teams-per-organization": 1_000_000}}});
    let refused = world.send(Method::Patch, target, Some(&above));
    let expected = (
        "/data/attributes/teams-per-organization".to_owned(),
        "Teams per organization must be less than or equal to 4000".to_owned(),
    );
    assert_eq!(faults(&refused), [expected]);
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
