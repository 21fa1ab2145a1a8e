//! Tokens of this API: their owners, their rights, and the answers about them.

mod accounts;
mod audit_trails;
mod lifetimes;
mod of_organizations;
mod of_teams;
mod of_users;
mod secrecy;
mod unrecorded;

use jiff::{Timestamp, ToSpan};

use super::*;

const ACME: &str = "/api/v2/organizations/acme";
const ACME_TOKEN: &str = "/api/v2/organizations/acme/authentication-token";

fn token_document(attributes: &Value) -> Value {
    json!({"data": {"type": "authentication-tokens", "attributes": attributes}})
}

/// The text of a new token.
fn secret(issued: &Value) -> String {
    issued["data"]["attributes"]["token"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn id(document: &Value) -> String {
    document["data"]["id"].as_str().unwrap().to_owned()
}

fn keys(value: &Value) -> Vec<&str> {
    let keys = value.as_object().unwrap().keys();
    keys.map(String::as_str).collect()
}

impl World {
    /// Creates a token at this path.
    fn issue(&self, target: &str, attributes: &Value) -> Value {
        let made = self.send(Method::Post, target, Some(&token_document(attributes)));
        assert_eq!(made.status, 201, "{}", text(&made));
        body(&made)
    }

    /// The status of the answer to a caller that presents this token.
    fn status(&self, token: &str, method: Method, target: &str) -> u16 {
        self.send_as(token, method, target, None).status
    }

    /// The id of the owners' team of the organization with this external id.
    fn owners(&self, external_id: &str) -> String {
        let prefix = format!("of/{external_id}/team/");
        let keys = self.store.keys();
        let found = keys.iter().find_map(|key| key.strip_prefix(&prefix));
        found.unwrap().to_owned()
    }
}

fn external_id(organization: &Value) -> String {
    let id = &organization["data"]["attributes"]["external-id"];
    id.as_str().unwrap().to_owned()
}

#[test]
fn contract_1_6_what_is_no_valid_token_is_unauthorized() {
    let world = self_hosted();
    world.create_named("acme");
    let issued = secret(&world.issue(ACME_TOKEN, &json!({})));
    assert_eq!(world.status(&issued, Method::Get, ACME), 200);
    let mut other = issued.clone();
    other.replace_range(89.., if issued.ends_with('a') { "b" } else { "a" });
    for odd in [
        other.as_str(),
        &issued[..89],
        &format!("{issued}x"),
        &issued.to_uppercase(),
        ".atlasv1.",
        "x",
    ] {
        let refused = world.send_as(odd, Method::Get, ACME, None);
        assert_eq!(refused.status, 401, "{odd}");
        assert_eq!(
            text(&refused),
            r#"{"errors":[{"status":"401","title":"unauthorized"}]}"#
        );
    }
}

#[test]
fn contract_1_6_what_expired_was_revoked_or_lost_its_owner_is_unauthorized() {
    let world = self_hosted();
    let acme = world.create_named("acme");
    let past = world.issue(ACME_TOKEN, &json!({"expired-at": "2020-01-01T00:00:00Z"}));
    assert_eq!(
        past["data"]["attributes"]["expired-at"],
        "2020-01-01T00:00:00.000Z"
    );
    assert_eq!(world.status(&secret(&past), Method::Get, ACME), 401);

    let revoked = secret(&world.issue(ACME_TOKEN, &json!({})));
    assert_eq!(world.send(Method::Delete, ACME_TOKEN, None).status, 204);
    assert_eq!(world.status(&revoked, Method::Get, ACME), 401);

    let owners = world.owners(&external_id(&acme));
    let of_team = format!("/api/v2/teams/{owners}/authentication-token");
    let of_team = secret(&world.issue(&of_team, &json!({})));
    let of_organization = secret(&world.issue(ACME_TOKEN, &json!({})));
    assert_eq!(world.status(&of_team, Method::Get, ACME), 200);
    assert_eq!(world.send(Method::Delete, ACME, None).status, 204);
    for orphan in [of_team, of_organization] {
        assert_eq!(world.status(&orphan, Method::Get, ACME), 401);
    }
    // The tokens do not belong to another organization of the same name.
    world.create_named("acme");
    assert_eq!(world.send(Method::Get, ACME_TOKEN, None).status, 404);
    let left = world.store.keys();
    let has_token = |key: &String| key.starts_with("token/") || key.starts_with("slot/");
    assert!(!left.iter().any(has_token), "{left:?}");
}

#[test]
fn no_store_holds_and_no_record_shows_the_text_of_a_token() {
    let world = self_hosted();
    world.create_named("acme");
    let issued = secret(&world.issue(ACME_TOKEN, &json!({"description": "of ci"})));
    world.status(&issued, Method::Get, ACME);
    let holds = |bytes: &[u8]| {
        let found = String::from_utf8_lossy(bytes);
        found.contains(&issued) || found.contains(&issued[23..])
    };
    assert!(!world.store.values().iter().any(|value| holds(value)));
    assert!(!world.store.keys().iter().any(|key| holds(key.as_bytes())));
    let shown = world.get(ACME_TOKEN);
    assert!(!text(&shown).contains(&issued));
}
