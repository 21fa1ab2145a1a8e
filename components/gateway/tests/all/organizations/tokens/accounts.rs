//! The account that a token belongs to or represents (contract 1.11).

use super::*;

const DETAILS: &str = "/api/v2/account/details";

impl World {
    fn details(&self, token: &str) -> Value {
        let found = self.send_as(token, Method::Get, DETAILS, None);
        assert_eq!(found.status, 200, "{}", text(&found));
        let found = body(&found);
        let data = &found["data"];
        assert_eq!(data["type"], "users");
        let id = id(&found);
        assert!(id.starts_with("user-") && id.len() == 21, "{id}");
        let related = &data["relationships"]["authentication-tokens"]["links"]["related"];
        assert_eq!(
            *related,
            json!(format!("/api/v2/users/{id}/authentication-tokens"))
        );
        // The answer is the same every time.
        assert_eq!(
            body(&self.send_as(token, Method::Get, DETAILS, None)),
            found
        );
        data.clone()
    }
}

fn behind(details: &Value) -> &Value {
    &details["relationships"]["authenticated-resource"]["data"]
}

#[test]
fn contract_1_11_people_are_told_all_attributes() {
    let world = hosted();
    let ada = world.details(&world.user("ada", false));
    let picture = ada["attributes"]["avatar-url"].as_str().unwrap();
    assert!(
        picture.starts_with("data:image/svg+xml;base64,"),
        "{picture}"
    );
    assert_eq!(
        ada["attributes"],
        json!({
            "username": "ada",
            "email": "ada@example.com",
            "unconfirmed-email": null,
            "is-service-account": false,
            "auth-method": "tfc",
            "avatar-url": picture,
            "password": null,
            "v2-only": true,
            "is-site-admin": false,
            "is-admin": false,
            "is-sso-login": false,
            "two-factor": {"enabled": false, "verified": false},
            "permissions": {
                "can-create-organizations": true,
                "can-change-email": false,
                "can-change-username": false,
                "can-manage-user-tokens": true,
            },
        })
    );
    assert_eq!(*behind(&ada), json!({"id": ada["id"], "type": "users"}));
    let administrator = world.details(&world.user("root-of-all", true));
    assert_eq!(administrator["attributes"]["is-site-admin"], true);
    assert_eq!(administrator["attributes"]["is-admin"], true);
}

#[test]
fn contract_1_11_every_other_token_has_a_user_that_stands_for_it() {
    let world = self_hosted();
    let installation = world.details(ROOT);
    let acme = world.create_named("Acme");
    let owners = world.owners(&external_id(&acme));
    let of_team = format!("/api/v2/teams/{owners}/authentication-token");
    let of_team = world.details(&secret(&world.issue(&of_team, &json!({}))));
    let own = world.details(&secret(&world.issue(ACME_TOKEN, &json!({}))));
    let workload = world.details(&world.token("nothing", &[]));
    for (details, name, creates) in [
        (&installation, "installation", true),
        (&of_team, "api-team_", false),
        (&own, "api-org-", false),
        (&workload, "workload", false),
    ] {
        let attributes = &details["attributes"];
        let username = attributes["username"].as_str().unwrap();
        assert!(username.starts_with(name), "{username}");
        assert_eq!(attributes["is-service-account"], true);
        assert_eq!(attributes["auth-method"], "tfe");
        let permissions = &attributes["permissions"];
        assert_eq!(permissions["can-create-organizations"], creates, "{name}");
        assert_eq!(permissions["can-manage-user-tokens"], false);
    }
    assert_eq!(installation["attributes"]["is-site-admin"], true);
    assert_eq!(*behind(&of_team), json!({"id": owners, "type": "teams"}));
    assert_eq!(
        *behind(&own),
        json!({"id": "Acme", "type": "organizations"})
    );
    let maker = world.token("maker", &[("organizations/*", &["create"])]);
    let maker = world.details(&maker);
    assert_eq!(
        maker["attributes"]["permissions"]["can-create-organizations"],
        true
    );
}

#[test]
fn contract_1_11_without_a_valid_token_there_is_no_account() {
    let world = self_hosted();
    let without = world.handle(&request(Method::Get, DETAILS, None));
    assert_eq!(without.status, 401);
    assert_eq!(world.status("x", Method::Get, DETAILS), 401);
    assert_not_found(&world.send(Method::Post, DETAILS, None));
}
