//! Answers that contain the text of a token and cannot be recorded (SEC-L1).

use gatehouse_gateway::host::Side;

use super::audit_trails::premium;
use super::*;
use crate::recorder::Fails;

/// The stored records of valid tokens.
fn stored(world: &World) -> Vec<String> {
    let keys = world.store.keys().into_iter();
    keys.filter(|key| {
        ["token/", "token-id/", "slot/", "tokens-of/"]
            .iter()
            .any(|prefix| key.starts_with(prefix))
    })
    .collect()
}

impl World {
    /// Sets which records the log refuses.
    fn fails(&self, fails: Fails) {
        self.server.audit.fails(fails);
    }
}

/// Asks for a token whose answer cannot be recorded, and returns the text that no client received.
fn untold(world: &World, target: &str, sent: &Value, pointer: &str) -> String {
    world.fails(Fails::ForAnswers);
    let refused = world.send(Method::Post, target, Some(sent));
    world.fails(Fails::Never);
    assert_eq!(refused.status, 500, "{target}");
    let answer = world.server.audit.take().pop().unwrap();
    assert_eq!(answer.side, Side::Response);
    let found = answer.document.pointer(&format!("/response/data{pointer}"));
    let token = found.unwrap().as_str().unwrap().to_owned();
    assert!(token.contains(".atlasv1."));
    assert!(!text(&refused).contains(&token));
    token
}

#[test]
fn l1_an_api_token_whose_answer_cannot_be_recorded_ends_at_once() {
    let world = premium();
    let external = external_id(&body(&world.get(ACME)));
    let team = format!("/api/v2/teams/{}", world.owners(&external));
    let ada = world.user("ada", false);
    let details = body(&world.send_as(&ada, Method::Get, "/api/v2/account/details", None));
    let pool = json!({"data": {"type": "agent-pools", "attributes": {"name": "pool"}}});
    let pool = world.send(Method::Post, &format!("{ACME}/agent-pools"), Some(&pool));
    let pool = id(&body(&pool));
    let before = stored(&world);
    for target in [
        ACME_TOKEN.to_owned(),
        format!("{ACME_TOKEN}?token=audit-trails"),
        format!("{team}/authentication-token"),
        format!("{team}/authentication-tokens"),
        format!("/api/v2/users/{}/authentication-tokens", id(&details)),
        format!("/api/v2/agent-pools/{pool}/authentication-tokens"),
    ] {
        let sent = token_document(&json!({"description": "of ci"}));
        let pointer = "/data/attributes/token";
        let token = untold(&world, &target, &sent, pointer);
        assert_eq!(stored(&world), before, "{target}");
        assert_eq!(world.status(&token, Method::Get, ACME), 401, "{target}");
    }
}

#[test]
fn l1_a_token_that_replaces_another_ends_too_and_the_other_does_not_come_back() {
    let world = premium();
    let none = stored(&world);
    let old = secret(&world.issue(ACME_TOKEN, &json!({})));
    assert_eq!(world.status(&old, Method::Get, ACME), 200);
    let sent = token_document(&json!({}));
    let new = untold(&world, ACME_TOKEN, &sent, "/data/attributes/token");
    assert_eq!(stored(&world), none);
    for token in [old, new] {
        assert_eq!(world.status(&token, Method::Get, ACME), 401);
    }
    assert_not_found(&world.get(ACME_TOKEN));
    // As soon as it can be recorded, a new token is created.
    let next = secret(&world.issue(ACME_TOKEN, &json!({})));
    assert_eq!(world.status(&next, Method::Get, ACME), 200);
}

#[test]
fn l1_the_first_token_of_a_user_ends_where_it_cannot_be_recorded() {
    let world = self_hosted();
    let before = stored(&world);
    let sent = json!({"data": {"type": "users", "attributes": {
        "username": "ada", "email": "ada@example.com", "is-site-admin": true,
    }}});
    let token = untold(&world, "/api/v2/admin/users", &sent, "/meta/token");
    assert_eq!(stored(&world), before);
    let account = "/api/v2/account/details";
    assert_eq!(world.status(&token, Method::Get, account), 401);
}

#[test]
fn l1_a_token_that_is_only_shown_stays_where_that_cannot_be_recorded() {
    let world = self_hosted();
    world.create_named("acme");
    let token = secret(&world.issue(ACME_TOKEN, &json!({})));
    world.fails(Fails::ForAnswers);
    assert_eq!(world.get(ACME_TOKEN).status, 500);
    world.fails(Fails::Never);
    assert_eq!(world.status(&token, Method::Get, ACME), 200);
}
