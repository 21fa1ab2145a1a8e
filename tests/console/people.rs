//! Identity, organizations and the site, as a browser without scripts changes them.

use serde_json::{Value, json};

use crate::browser::{Browser, Shown};
use crate::{SERVER, data};

/// The page that `browser` is led to after it sent a form.
fn followed(browser: &mut Browser, page: &str, fields: &[(&str, &str)]) -> Shown {
    let shown = browser.submit(page, fields);
    assert_eq!(shown.status, 303, "{page}: {}", shown.text);
    browser.get(shown.header("location"))
}

fn organizations_api(method: &str, path: &str) -> Value {
    SERVER.as_root(method, path, None).json()["data"].clone()
}

/// The token on a page that shows it once.
fn token_on(shown: &Shown) -> String {
    let (_, rest) = shown
        .text
        .split_once("<pre>")
        .unwrap_or_else(|| panic!("no token in {}", shown.text));
    rest.split_once("</pre>").unwrap().0.to_owned()
}

/// Makes a user by the site's page, and answers their token.
fn user(browser: &mut Browser, name: &str) -> String {
    let email = format!("{name}@console.example");
    let key = browser.form_key("/ui/site");
    let fields = [
        ("form_key", key.as_str()),
        ("username", name),
        ("email", &email),
    ];
    let shown = browser.post("/ui/site/users", &fields);
    assert_eq!(shown.status, 200, "{}", shown.text);
    token_on(&shown)
}

/// The answer of the API to a request for the account of this token.
fn account(token: &str) -> reqwest::blocking::Response {
    let client = reqwest::blocking::Client::new();
    let address = format!("{}/api/v2/account/details", SERVER.process.address());
    client.get(address).bearer_auth(token).send().unwrap()
}

#[test]
fn entities_are_made_changed_given_an_alias_and_merged() {
    let mut browser = Browser::signed_in(SERVER.process.address(), &SERVER.root_token);
    for name in ["console-ada", "console-bob"] {
        let place = "/ui/identity/edit?kind=entity&name=";
        let fields = [
            ("name", name),
            ("policies", "default"),
            ("metadata", "team=a"),
        ];
        let shown = followed(&mut browser, place, &fields);
        assert!(shown.text.contains("team: a"), "{}", shown.text);
    }
    let place = "/ui/identity/edit?kind=entity&name=console-ada";
    let fields = [
        ("name", "console-ada2"),
        ("policies", ""),
        ("metadata", ""),
        ("disabled", "yes"),
    ];
    followed(&mut browser, place, &fields);
    let entity = data("/v1/identity/entity/name/console-ada2");
    assert_eq!(
        (entity["disabled"].clone(), entity["policies"].clone()),
        (json!(true), json!([])),
        "{entity}"
    );
    let key = browser.form_key("/ui/identity/merge");
    let fields = [
        ("form_key", key.as_str()),
        ("kind", "entity"),
        ("owner", "console-bob"),
        ("alias", "1234567890"),
        ("mount", "gcp"),
    ];
    let shown = browser.post("/ui/identity/alias", &fields);
    assert_eq!(shown.status, 303, "{}", shown.text);
    let fields = [("stays", "console-ada2"), ("merged", "console-bob")];
    let shown = followed(&mut browser, "/ui/identity/merge", &fields);
    assert!(shown.text.contains("1234567890"), "{}", shown.text);
    let gone = SERVER.as_root("GET", "/v1/identity/entity/name/console-bob", None);
    assert_eq!(gone.status, 404);
}

#[test]
fn groups_are_made_with_members() {
    let mut browser = Browser::signed_in(SERVER.process.address(), &SERVER.root_token);
    let made = SERVER.as_root(
        "POST",
        "/v1/identity/entity",
        Some(&json!({ "name": "console-member" })),
    );
    let id = made.json()["data"]["id"].as_str().unwrap().to_owned();
    let place = "/ui/identity/edit?kind=group&name=";
    let fields = [
        ("name", "console-group"),
        ("type", "internal"),
        ("policies", "default"),
        ("member_entity_ids", id.as_str()),
    ];
    let shown = followed(&mut browser, place, &fields);
    assert!(shown.text.contains(&id), "{}", shown.text);
    let fields = [
        ("name", "console-outside"),
        ("type", "external"),
        ("policies", "default"),
    ];
    followed(&mut browser, place, &fields);
    let group = data("/v1/identity/group/name/console-outside");
    assert_eq!(group["type"], "external");
    let changed = "/ui/identity/edit?kind=group&name=console-group";
    let fields = [("name", "console-group"), ("type", "internal")];
    followed(&mut browser, changed, &fields);
    let group = data("/v1/identity/group/name/console-group");
    assert_eq!(group["member_entity_ids"], json!([]));
}

#[test]
fn an_organization_is_run_from_its_pages() {
    let mut browser = Browser::signed_in(SERVER.process.address(), &SERVER.root_token);
    let fields = [("name", "console-acme"), ("email", "ops@example.com")];
    followed(&mut browser, "/ui/organizations", &fields);
    let path = "/api/v2/organizations/console-acme";

    let settings = "/ui/organizations/show?name=console-acme";
    let fields = [
        ("name", "console-acme"),
        ("email", "new@example.com"),
        ("collaborator-auth-policy", "password"),
        ("cost-estimation-enabled", "yes"),
        ("user-tokens-enabled", "yes"),
        ("default-execution-mode", "local"),
    ];
    let shown = followed(&mut browser, settings, &fields);
    assert!(
        shown.text.contains("The settings are saved"),
        "{}",
        shown.text
    );
    let organization = organizations_api("GET", path);
    let attributes = &organization["attributes"];
    assert_eq!(attributes["email"], "new@example.com");
    assert_eq!(attributes["cost-estimation-enabled"], true);
    assert_eq!(attributes["aggregated-commit-status-enabled"], false);
    assert_eq!(attributes["default-execution-mode"], "local");

    let teams = "/ui/organizations/teams?name=console-acme";
    let fields = [("team", "ops"), ("visibility", "organization")];
    followed(&mut browser, teams, &fields);
    let listed = organizations_api("GET", &format!("{path}/teams"));
    let team = listed
        .as_array()
        .unwrap()
        .iter()
        .find(|team| team["attributes"]["name"] == "ops")
        .unwrap_or_else(|| panic!("no team in {listed}"));
    let id = team["id"].as_str().unwrap();
    let place = format!("/ui/organizations/team?name=console-acme&id={id}");
    let fields = [
        ("team", "ops"),
        ("visibility", "secret"),
        ("allow-member-token-management", "yes"),
        ("manage-agent-pools", "yes"),
    ];
    followed(&mut browser, &place, &fields);
    let team = organizations_api("GET", &format!("/api/v2/teams/{id}"));
    let attributes = &team["attributes"];
    assert_eq!(attributes["visibility"], "secret");
    assert_eq!(
        attributes["organization-access"]["manage-agent-pools"],
        true
    );
    assert_eq!(attributes["organization-access"]["manage-teams"], false);

    let pools = "/ui/organizations/pools?name=console-acme";
    let fields = [("pool", "workers"), ("organization-scoped", "yes")];
    let shown = followed(&mut browser, pools, &fields);
    assert!(shown.text.contains("workers"), "{}", shown.text);

    let fields = [
        ("name", "console-acme"),
        ("email", "new@example.com"),
        ("collaborator-auth-policy", "password"),
        ("user-tokens-enabled", "yes"),
        ("default-execution-mode", "agent"),
        ("default-agent-pool", "workers"),
    ];
    let shown = followed(&mut browser, settings, &fields);
    let field = "name=\"default-agent-pool\" type=\"text\" value=\"workers\"";
    assert!(shown.text.contains(field), "{}", shown.text);
    let organization = organizations_api("GET", path);
    assert_eq!(
        organization["attributes"]["default-execution-mode"],
        "agent"
    );

    let tokens = "/ui/organizations/token?name=console-acme";
    let shown = browser.submit(tokens, &[("kind", "organization")]);
    let token = token_on(&shown);
    let read = SERVER.process.send("GET", path, None, None);
    assert_eq!(read.status, 401, "not without a token");
    let trail = "/ui/organizations/trail?name=console-acme";
    let shown = browser.get(trail);
    assert_eq!(shown.status, 200, "{}", shown.text);
    let shown = browser.submit(trail, &[("trail_token", &token), ("since", "")]);
    assert_eq!(shown.status, 200, "{}", shown.text);
    assert!(!shown.text.contains(&token));
    let key = browser.form_key(tokens);
    let fields = [
        ("form_key", key.as_str()),
        ("token-type", "team"),
        ("days", "30"),
    ];
    let shown = browser.post(
        "/ui/organizations/token/lifetime?name=console-acme",
        &fields,
    );
    assert_eq!(shown.status, 303, "{}", shown.text);
    for page in ["plan", "members", "token"] {
        let shown = browser.get(&format!("/ui/organizations/{page}?name=console-acme"));
        assert_eq!(shown.status, 200, "{page}: {}", shown.text);
        assert!(
            !shown.text.contains("class=\"refused\""),
            "{page}: {}",
            shown.text
        );
    }
}

#[test]
fn a_person_who_was_invited_accepts_in_their_own_browser() {
    let mut browser = Browser::signed_in(SERVER.process.address(), &SERVER.root_token);
    let token = user(&mut browser, "console-eve");
    let fields = [("name", "console-guests"), ("email", "ops@example.com")];
    followed(&mut browser, "/ui/organizations", &fields);
    let path = "/api/v2/organizations/console-guests";
    followed(
        &mut browser,
        "/ui/organizations/teams?name=console-guests",
        &[("team", "guests"), ("visibility", "secret")],
    );
    let listed = organizations_api("GET", &format!("{path}/teams?q=guests"));
    let team = listed[0]["id"].as_str().unwrap().to_owned();
    let members = "/ui/organizations/members?name=console-guests";
    let fields = [("email", "console-eve@console.example"), ("team", &team)];
    let shown = followed(&mut browser, members, &fields);
    assert!(shown.text.contains("invited"), "{}", shown.text);

    let mut theirs = Browser::at(SERVER.process.address());
    let fields = [("by", "organizations"), ("api_token", token.as_str())];
    let shown = theirs.submit("/ui/sign-in", &fields);
    assert_eq!(shown.status, 303, "{}", shown.text);
    let shown = theirs.get("/ui/organizations");
    assert!(shown.text.contains("Join console-guests"), "{}", shown.text);
    let (_, rest) = shown.text.split_once("name=\"id\" value=\"").unwrap();
    let id = rest.split('"').next().unwrap().to_owned();
    let key = theirs.form_key("/ui/organizations");
    let fields = [
        ("form_key", key.as_str()),
        ("id", &id),
        ("answer", "accept"),
    ];
    let shown = theirs.post("/ui/organizations/invitation", &fields);
    assert_eq!(shown.status, 303, "{}", shown.text);
    let membership = organizations_api("GET", &format!("/api/v2/organization-memberships/{id}"));
    assert_eq!(membership["attributes"]["status"], "active");
    let shown = theirs.get("/ui/site");
    assert_eq!(shown.status, 404);
    assert!(
        shown
            .text
            .contains("Only site administrators can see this page")
    );

    let place = "/ui/organizations/members/remove?name=console-guests";
    let key = browser.form_key(members);
    let shown = browser.post(place, &[("form_key", &key), ("id", &id)]);
    assert_eq!(shown.status, 303, "{}", shown.text);
    let gone = SERVER.as_root(
        "GET",
        &format!("/api/v2/organization-memberships/{id}"),
        None,
    );
    assert_eq!(gone.status, 404);
}

#[test]
fn a_user_makes_a_token_of_their_own_and_revokes_it() {
    let place = "/ui/organizations/own-tokens";
    let mut browser = Browser::signed_in(SERVER.process.address(), &SERVER.root_token);
    let shown = browser.get(place);
    assert!(shown.text.contains("belongs to no user"), "{}", shown.text);
    let first = user(&mut browser, "console-grace");

    let mut theirs = Browser::at(SERVER.process.address());
    let sign_in = [("by", "organizations"), ("api_token", first.as_str())];
    assert_eq!(theirs.submit("/ui/sign-in", &sign_in).status, 303);
    let fields = [
        ("description", "laptop"),
        ("expired-at", "2100-01-31T00:00:00Z"),
    ];
    let shown = theirs.submit(place, &fields);
    assert_eq!(shown.status, 200, "{}", shown.text);
    let second = token_on(&shown);
    assert_eq!(account(&second).status(), 200);
    let listed = theirs.get(place).text;
    assert!(listed.contains("2100-01-31T00:00:00"), "{listed}");
    assert!(!listed.contains(&second), "{listed}");

    let (before, _) = listed.split_once("Revoke laptop").unwrap();
    let (_, id) = before.rsplit_once("name=\"id\" value=\"").unwrap();
    let id = id.split('"').next().unwrap();
    let shown = revoke(&mut theirs, id, &[]);
    assert!(
        shown.text.contains("<h1>Revoke laptop</h1>"),
        "{}",
        shown.text
    );
    assert_eq!(account(&second).status(), 200, "it is only asked about");
    let shown = revoke(&mut theirs, id, &[("confirmed", "yes")]);
    assert_eq!(shown.status, 303, "{}", shown.text);
    assert_eq!(account(&second).status(), 401);
    assert_eq!(account(&first).status(), 200);

    // The only one takes a box that is ticked, and ends the session.
    let listed = theirs.get(place).text;
    let (_, id) = listed.rsplit_once("name=\"id\" value=\"").unwrap();
    let id = id.split('"').next().unwrap();
    let confirmed = [("confirmed", "yes"), ("last", "yes")];
    let shown = revoke(&mut theirs, id, &confirmed[..1]);
    assert_eq!(shown.status, 400, "{}", shown.text);
    assert!(
        shown.text.contains("This is your only API token"),
        "{}",
        shown.text
    );
    assert_eq!(account(&first).status(), 200);
    let shown = revoke(&mut theirs, id, &confirmed);
    assert!(shown.text.contains("You are signed out"), "{}", shown.text);
    assert_eq!(account(&first).status(), 401);
}

/// Sends the form that revokes the visitor's own token `id`.
fn revoke(theirs: &mut Browser, id: &str, further: &[(&str, &str)]) -> Shown {
    let key = theirs.form_key("/ui/organizations/own-tokens");
    let fields = [&[("form_key", key.as_str()), ("id", id)], further].concat();
    theirs.post("/ui/organizations/own-tokens/revoke", &fields)
}

#[test]
fn a_site_administrator_makes_another_token_for_a_user_and_revokes_it() {
    let mut browser = Browser::signed_in(SERVER.process.address(), &SERVER.root_token);
    let first = user(&mut browser, "console-hopper");
    let shown: Value = serde_json::from_str(&account(&first).text().unwrap()).unwrap();
    let id = shown["data"]["id"].as_str().unwrap();
    let place = format!("/ui/site/user?id={id}");
    let shown = browser.get(&place);
    for said in ["console-hopper@console.example", id] {
        assert!(shown.text.contains(said), "{said}: {}", shown.text);
    }
    let shown = browser.submit(&place, &[("description", "handed over")]);
    assert_eq!(shown.status, 200, "{}", shown.text);
    let second = token_on(&shown);
    assert_eq!(account(&second).status(), 200);
    let listed = browser.get(&place).text;
    assert!(!listed.contains(&second), "{listed}");

    let (before, _) = listed.split_once("Revoke handed over").unwrap();
    let (_, token) = before.rsplit_once("name=\"id\" value=\"").unwrap();
    let token = token.split('"').next().unwrap();
    let key = browser.form_key(&place);
    let revoking = format!("/ui/site/user/revoke?id={id}");
    let shown = browser.post(&revoking, &[("form_key", &key), ("id", token)]);
    assert_eq!(shown.header("location"), place, "{}", shown.text);
    assert_eq!(account(&second).status(), 401);
    assert_eq!(account(&first).status(), 200);

    let unknown = browser.get("/ui/site/user?id=user-1111111111111111");
    assert_eq!(unknown.status, 404);
    let mut theirs = Browser::at(SERVER.process.address());
    let sign_in = [("by", "organizations"), ("api_token", first.as_str())];
    assert_eq!(theirs.submit("/ui/sign-in", &sign_in).status, 303);
    let other = "/ui/site/user?id=user-1111111111111111";
    let key = theirs.form_key("/ui/organizations");
    let shown = theirs.post(other, &[("form_key", key.as_str()), ("description", "")]);
    assert_eq!(shown.status, 404, "only site administrators can");
}

#[test]
fn signing_out_ends_the_token_of_a_user_who_says_which_it_is() {
    let mut browser = Browser::signed_in(SERVER.process.address(), &SERVER.root_token);
    let token = user(&mut browser, "console-mallory");
    let shown: Value = serde_json::from_str(&account(&token).text().unwrap()).unwrap();
    let id = shown["data"]["id"].as_str().unwrap();
    let path = format!("/api/v2/users/{id}/authentication-tokens");
    let body = json!({ "data": { "type": "authentication-tokens", "attributes": { "description": "second" } } });
    let second = SERVER.as_root("POST", &path, Some(&body)).json()["data"].clone();
    let second_text = second["attributes"]["token"].as_str().unwrap().to_owned();

    let mut theirs = Browser::at(SERVER.process.address());
    let sign_in = [("by", "organizations"), ("api_token", second_text.as_str())];
    assert_eq!(theirs.submit("/ui/sign-in", &sign_in).status, 303);
    let key = theirs.form_key("/ui/organizations");
    let asked = [("form_key", key.as_str()), ("revoke", "yes")];
    let shown = theirs.post("/ui/sign-out", &asked);
    assert!(
        shown.text.contains("Revoke second and sign out"),
        "{}",
        shown.text
    );
    let chosen = [("token_id", second["id"].as_str().unwrap())];
    let shown = theirs.post("/ui/sign-out", &[&asked[..], &chosen].concat());
    assert!(shown.text.contains("You are signed out"), "{}", shown.text);
    assert_eq!(account(&second_text).status(), 401);

    // The one that is left needs no choice.
    let sign_in = [("by", "organizations"), ("api_token", token.as_str())];
    assert_eq!(theirs.submit("/ui/sign-in", &sign_in).status, 303);
    let key = theirs.form_key("/ui/organizations");
    theirs.post("/ui/sign-out", &[("form_key", &key), ("revoke", "yes")]);
    assert_eq!(account(&token).status(), 401);
}

#[test]
fn a_plan_is_booked_and_an_organization_closed_by_a_site_administrator() {
    let mut browser = Browser::signed_in(SERVER.process.address(), &SERVER.root_token);
    let fields = [("name", "console-plan"), ("email", "ops@example.com")];
    followed(&mut browser, "/ui/organizations", &fields);
    let listed = browser.get("/ui/site/organizations?q=console-plan");
    assert!(
        listed.text.contains("organization?name=console-plan"),
        "{}",
        listed.text
    );
    let place = "/ui/site/organization?name=console-plan";
    let key = browser.form_key(place);
    let fields = [
        ("form_key", key.as_str()),
        ("plan", "Business"),
        ("end-at", "2100-01-01T00:00:00Z"),
        ("runs-ceiling", "7"),
    ];
    let shown = browser.post("/ui/site/organization/plan?name=console-plan", &fields);
    assert_eq!(shown.status, 303, "{}", shown.text);
    let plan = organizations_api("GET", "/api/v2/organizations/console-plan/subscription");
    assert_eq!(plan["attributes"]["runs-ceiling"], 7);
    let shown = browser.get(place);
    assert!(
        shown.text.contains("<option value=\"Business\" selected"),
        "{}",
        shown.text
    );

    followed(&mut browser, place, &[("is-disabled", "yes")]);
    let one = organizations_api("GET", "/api/v2/admin/organizations/console-plan");
    assert_eq!(one["attributes"]["is-disabled"], true);
}

#[test]
fn settings_of_the_installation_that_were_changed_are_saved() {
    let mut browser = Browser::signed_in(SERVER.process.address(), &SERVER.root_token);
    let before = organizations_api("GET", "/api/v2/admin/general-settings");
    let text = |name: &str| before["attributes"][name].to_string();
    let fields = [
        ("api-rate-limit", text("api-rate-limit")),
        ("teams-per-organization", "3210".to_owned()),
        (
            "memberships-per-organization",
            text("memberships-per-organization"),
        ),
        ("teams-per-membership", text("teams-per-membership")),
        (
            "agent-pools-per-organization",
            text("agent-pools-per-organization"),
        ),
    ];
    let fields = fields
        .each_ref()
        .map(|(name, value)| (*name, value.as_str()));
    let key = browser.form_key("/ui/site");
    let shown = browser.post(
        "/ui/site",
        &[&[("form_key", key.as_str())], &fields[..]].concat(),
    );
    assert_eq!(shown.status, 303, "{}", shown.text);
    let after = organizations_api("GET", "/api/v2/admin/general-settings");
    let mut expected = before["attributes"].clone();
    expected["teams-per-organization"] = json!(3210);
    assert_eq!(after["attributes"], expected);
    let refused = browser.submit("/ui/site", &[("teams-per-organization", "many")]);
    assert!(
        refused.text.contains("class=\"refused\""),
        "{}",
        refused.text
    );
}
