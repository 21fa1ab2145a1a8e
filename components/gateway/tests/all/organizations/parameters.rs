//! Rules of policies that check the parameters of a request.

use super::*;

const ACME: &str = "/api/v2/organizations/acme";

impl World {
    /// A token with one rule, which has more than a list of capabilities.
    fn token_with_rule(&self, path: &str, rule: &Value) -> String {
        let token = self.token("rule", &[]);
        self.write_policy("rule", &json!({path: rule}));
        token
    }
}

#[test]
fn a_rule_about_attributes_sees_them_in_every_spelling() {
    let world = hosted();
    world.create_named("acme");
    let rule = json!({"capabilities": ["update"], "denied_parameters": {"session-timeout": [], "default-agent-pool": []}});
    let token = world.token_with_rule("organizations/acme", &rule);
    let change = |document: &Value| world.send_as(&token, Method::Patch, ACME, Some(document));
    let before = world.store.values();
    for spelling in ["session-timeout", "session_timeout", "sessionTimeout"] {
        assert_not_found(&change(&document(&json!({spelling: 60}))));
    }
    let pool = json!({"data": {"type": "organizations", "relationships": {"default-agent-pool": {"data": null}}}});
    assert_not_found(&change(&pool));
    assert_eq!(world.store.values(), before);
    assert_eq!(
        change(&document(&json!({"email": "new@example.com"}))).status,
        200
    );
}

#[test]
fn a_rule_about_values_compares_them() {
    let world = hosted();
    let rule = json!({
        "capabilities": ["create", "update"],
        "allowed_parameters": {"name": [], "email": ["*@example.com"], "session-timeout": [60]},
    });
    let token = world.token_with_rule("organizations/acme", &rule);
    let create = |attributes: &Value| {
        world.send_as(
            &token,
            Method::Post,
            "/api/v2/organizations",
            Some(&document(attributes)),
        )
    };
    assert_not_found(&create(
        &json!({"name": "acme", "email": "a@other.example"}),
    ));
    assert_not_found(&create(
        &json!({"name": "acme", "email": "a@example.com", "session_timeout": 61}),
    ));
    assert_not_found(&create(
        &json!({"name": "acme", "email": "a@example.com", "stacks-enabled": true}),
    ));
    assert_eq!(world.store.commits(), 0);
    let created = create(&json!({"name": "acme", "email": "a@example.com", "session_timeout": 60}));
    assert_eq!(created.status, 201, "{}", text(&created));
}

#[test]
fn a_rule_about_a_read_sees_its_query() {
    let world = hosted();
    world.create_named("acme");
    let rule =
        json!({"capabilities": ["read"], "denied_parameters": {"include": ["entitlement_set"]}});
    let token = world.token_with_rule("organizations/acme", &rule);
    let show = |query: &str| {
        let target = format!("{ACME}{query}");
        world.send_as(&token, Method::Get, &target, None).status
    };
    assert_eq!(show(""), 200);
    assert_eq!(show("?include=subscription"), 200);
    assert_eq!(show("?include=entitlement_set"), 404);
}

#[test]
fn what_cannot_be_read_is_refused_after_the_rule() {
    let world = hosted();
    world.create_named("acme");
    let rule = json!({"capabilities": ["update"], "required_parameters": ["email"]});
    let token = world.token_with_rule("organizations/acme", &rule);
    let send = |body: &str| {
        let sent = with_body(
            request(Method::Patch, ACME, Some(&token)),
            Some(JSON_API),
            body,
        );
        world.handle(&sent)
    };
    assert_not_found(&send("{"));
    assert_eq!(
        send(&document(&json!({"email": "b@example.com"})).to_string()).status,
        200
    );
}

#[test]
fn a_rule_about_a_write_sees_its_query() {
    let world = hosted();
    world.create_named("acme");
    let rule = json!({
        "capabilities": ["create", "delete"],
        "denied_parameters": {"token": ["audit-trails"]},
    });
    let token = world.token_with_rule("organizations/acme/authentication-token", &rule);
    let target = format!("{ACME}/authentication-token");
    let denied = format!("{target}?token=audit-trails");
    let sent = json!({"data": {"type": "authentication-tokens"}});
    let before = world.store.values();
    assert_not_found(&world.send_as(&token, Method::Post, &denied, Some(&sent)));
    assert_not_found(&world.send_as(&token, Method::Delete, &denied, None));
    assert_eq!(world.store.values(), before);
    let made = world.send_as(&token, Method::Post, &target, Some(&sent));
    assert_eq!(made.status, 201, "{}", text(&made));
}

#[test]
fn a_right_that_is_bound_to_an_attribute_makes_nobody_an_owner() {
    let world = hosted();
    world.create_named("acme");
    let rule =
        json!({"capabilities": ["read", "create", "update"], "allowed_parameters": {"email": []}});
    let token = world.token_with_rule("organizations/acme", &rule);
    let send = |method, below: &str, document: Option<&Value>| {
        world.send_as(&token, method, &format!("{ACME}{below}"), document)
    };
    let before = world.store.values();
    let team = json!({"data": {"type": "teams", "attributes": {"name": "evil", "organization-access": {"manage-membership": true}}}});
    let renamed = document(&json!({"name": "other"}));
    for (method, below, document) in [
        (Method::Post, "/teams", Some(&team)),
        (Method::Get, "/teams", None),
        (Method::Post, "/authentication-token", None),
        (Method::Get, "/authentication-token", None),
        (Method::Patch, "", Some(&renamed)),
    ] {
        let answer = send(method, below, document);
        assert_eq!(answer.status, 404, "{below}: {}", text(&answer));
    }
    assert_eq!(world.store.values(), before);
    let email = document(&json!({"email": "new@example.com"}));
    assert_eq!(send(Method::Patch, "", Some(&email)).status, 200);
}
