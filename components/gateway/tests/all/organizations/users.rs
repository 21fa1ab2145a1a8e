//! People and their tokens: the first users, and their rights.

use super::*;

const USERS: &str = "/api/v2/admin/users";
const ACME: &str = "/api/v2/organizations/acme";

fn user_document(username: &str, site_admin: bool) -> Value {
    json!({"data": {"type": "users", "attributes": {
        "username": username,
        "email": format!("{username}@example.com"),
        "is-site-admin": site_admin,
    }}})
}

impl World {
    /// The token of a new user.
    pub(super) fn user(&self, username: &str, site_admin: bool) -> String {
        let sent = user_document(username, site_admin);
        let made = self.send(Method::Post, USERS, Some(&sent));
        assert_eq!(made.status, 201, "{}", text(&made));
        body(&made)["meta"]["token"].as_str().unwrap().to_owned()
    }
}

#[test]
fn a_site_administrator_makes_users_and_nobody_else_does() {
    let world = self_hosted();
    let administrator = world.user("root-of-all", true);
    let sent = user_document("ada", false);
    let made = world.send_as(&administrator, Method::Post, USERS, Some(&sent));
    assert_eq!(made.status, 201);
    let made = body(&made);
    assert_eq!(made["data"]["type"], "users");
    assert_eq!(made["data"]["attributes"]["username"], "ada");
    assert_eq!(made["data"]["attributes"]["is-site-admin"], false);
    let ada = made["meta"]["token"].as_str().unwrap();
    let workload = world.token("all", &[("*", &["create", "read", "update", "delete"])]);
    let before = world.store.keys();
    for token in [ada, &workload] {
        let refused = world.send_as(
            token,
            Method::Post,
            USERS,
            Some(&user_document("eve", true)),
        );
        assert_not_found(&refused);
    }
    let known = |key: &&String| key.starts_with("user/");
    let users = world.store.keys().iter().filter(known).count();
    assert_eq!(users, before.iter().filter(known).count());
}

#[test]
fn contract_1_11_a_user_is_shown_to_those_who_share_an_organization_with_them() {
    let world = hosted();
    let tokens = ["ada", "bob", "eve"].map(|name| world.user(name, false));
    let [ada, bob, eve] = &tokens;
    let details =
        |token: &str| body(&world.send_as(token, Method::Get, "/api/v2/account/details", None));
    let link = |token: &str| {
        details(token)["data"]["links"]["self"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let get = |token: &str, target: &str| world.send_as(token, Method::Get, target, None);
    let sent = document(&json!({"name": "acme", "email": "ops@example.com"}));
    world.send_as(ada, Method::Post, "/api/v2/organizations", Some(&sent));
    assert_not_found(&get(bob, &link(ada)));
    let invited = json!({"data": {"type": "organization-memberships",
        "attributes": {"email": "bob@example.com", "status": "active"}}});
    let joined = world.send(
        Method::Post,
        &format!("{ACME}/organization-memberships"),
        Some(&invited),
    );
    assert_eq!(joined.status, 201, "{}", text(&joined));

    // The link of an account leads to the account's own description.
    assert_eq!(body(&get(ada, &link(ada))), details(ada));
    assert_eq!(body(&get(ROOT, &link(ROOT))), details(ROOT));
    let seen = body(&get(bob, &link(ada)));
    assert_eq!(seen["data"]["links"]["self"], link(ada));
    assert_eq!(
        seen["data"]["attributes"],
        json!({"username": "ada", "email": "ada@example.com"})
    );
    assert_eq!(get(ROOT, &link(eve)).status, 200);
    for (token, target) in [
        (eve.as_str(), link(ada)),
        (bob, link(eve)),
        (bob, "/api/v2/users/user-1111111111111111".to_owned()),
        (bob, "/api/v2/users/bob".to_owned()),
        (ROOT, "/api/v2/users/user-1111111111111111".to_owned()),
        (&world.token("all", &[("*", &["read"])]), link(ada)),
    ] {
        assert_not_found(&get(token, &target));
    }
    assert_not_found(&world.send_as(ada, Method::Delete, &link(ada), None));
}

#[test]
fn every_fault_of_a_new_user_is_told_at_once() {
    let world = self_hosted();
    world.user("ada", false);
    let refused = |attributes: Value| {
        let sent = json!({"data": {"type": "users", "attributes": attributes}});
        faults(&world.send(Method::Post, USERS, Some(&sent)))
    };
    let fault = |name: &str, detail: &str| (format!("/data/attributes/{name}"), detail.to_owned());
    assert_eq!(
        refused(json!({})),
        [
            fault("username", "Username can't be blank"),
            fault("email", "Email can't be blank")
        ]
    );
    assert_eq!(
        refused(json!({"username": "Ada", "email": "ADA@example.com"})),
        [
            fault("username", "Username has already been taken"),
            fault("email", "Email has already been taken")
        ]
    );
    assert_eq!(
        refused(json!({"username": 5, "email": "x", "is-site-admin": "yes"})),
        [
            fault("username", "Username must be a string"),
            fault("is-site-admin", "Is site admin must be true or false")
        ]
    );
}

#[test]
fn contract_1_7_a_user_owns_what_they_make_and_to_others_it_is_not_there() {
    let world = hosted();
    let ada = world.user("ada", false);
    let bob = world.user("bob", false);
    let sent = document(&json!({"name": "acme", "email": "ops@example.com"}));
    let made = world.send_as(&ada, Method::Post, "/api/v2/organizations", Some(&sent));
    assert_eq!(made.status, 201, "{}", text(&made));
    let shown = world.send_as(&ada, Method::Get, ACME, None);
    assert_eq!(body(&made)["data"], body(&shown)["data"]);
    let change = document(&json!({"session-timeout": 60}));
    for (method, sent) in [
        (Method::Get, None),
        (Method::Patch, Some(&change)),
        (Method::Delete, None),
    ] {
        assert_not_found(&world.send_as(&bob, method, ACME, sent));
    }
    assert_eq!(
        world
            .send_as(&ada, Method::Patch, ACME, Some(&change))
            .status,
        200
    );
    assert_eq!(world.send_as(&ada, Method::Delete, ACME, None).status, 204);
}

#[test]
fn contract_1_7_user_tokens_off_answers_users_with_401_and_policies_still_count() {
    let world = hosted();
    let ada = world.user("ada", false);
    let sent = document(&json!({"name": "acme", "email": "ops@example.com"}));
    world.send_as(&ada, Method::Post, "/api/v2/organizations", Some(&sent));
    let off = document(&json!({"user-tokens-enabled": false}));
    assert_eq!(
        world.send_as(&ada, Method::Patch, ACME, Some(&off)).status,
        200
    );
    let refused = world.send_as(&ada, Method::Get, ACME, None);
    assert_eq!(refused.status, 401);
    assert_eq!(
        text(&refused),
        r#"{"errors":[{"status":"401","title":"unauthorized"}]}"#
    );
    let reader = world.token("reader", &[("organizations/acme", &["read"])]);
    assert_eq!(world.send_as(&reader, Method::Get, ACME, None).status, 200);
}

#[test]
fn contract_1_5_without_a_right_to_create_a_malformed_body_is_not_found_all_the_same() {
    let world = hosted();
    let list = "/api/v2/organizations";
    let send = |token: &str| {
        let sent = request(Method::Post, list, Some(token));
        world.handle(&with_body(sent, Some(JSON_API), "{"))
    };
    assert_not_found(&send(&world.token("nothing", &[("secret/x", &["read"])])));
    assert_eq!(
        send(&world.token("some", &[("organizations/team-*", &["create"])])).status,
        400
    );
    assert_eq!(send(&world.user("ada", false)).status, 400);
}

#[test]
fn contract_1_6_a_token_that_is_none_is_unauthorized() {
    let world = hosted();
    let ada = world.user("ada", false);
    let forged = format!("{}x", &ada[..ada.len() - 1]);
    for token in [".atlasv1.", "x.atlasv1.y", forged.as_str()] {
        if token != ada {
            assert_eq!(
                world
                    .send_as(token, Method::Get, "/api/v2/organizations", None)
                    .status,
                401
            );
        }
    }
}
