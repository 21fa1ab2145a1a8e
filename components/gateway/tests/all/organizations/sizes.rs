//! No field accepts a text of unlimited length (contract 2.7, 4.9 to 4.14).

use super::*;

#[test]
fn every_text_that_callers_fill_is_bounded_and_no_refusal_repeats_it() {
    let world = self_hosted();
    world.create_named("acme");
    let long = "x".repeat(300);
    let organization = "/api/v2/organizations/acme";
    let teams = format!("{organization}/teams");
    let pools = format!("{organization}/agent-pools");
    let memberships = format!("{organization}/organization-memberships");
    let token = format!("{organization}/authentication-token");
    let address = format!("{long}@example.com");
    let before = world.store.values();
    for (method, target, kind, attributes) in [
        (
            Method::Post,
            "/api/v2/organizations",
            "organizations",
            json!({"name": long, "email": "a@b"}),
        ),
        (
            Method::Patch,
            organization,
            "organizations",
            json!({"email": address}),
        ),
        (
            Method::Patch,
            organization,
            "organizations",
            json!({"owners-team-saml-role-id": long}),
        ),
        (
            Method::Patch,
            organization,
            "organizations",
            json!({"collaborator-auth-policy": long}),
        ),
        (
            Method::Patch,
            organization,
            "organizations",
            json!({"default-execution-mode": long}),
        ),
        (
            Method::Patch,
            organization,
            "organizations",
            json!({"default-agent-pool-id": long}),
        ),
        (Method::Post, &teams, "teams", json!({"name": long})),
        (
            Method::Post,
            &teams,
            "teams",
            json!({"name": "ops", "sso-team-id": long}),
        ),
        (
            Method::Post,
            &teams,
            "teams",
            json!({"name": "ops", "visibility": long}),
        ),
        (Method::Post, &pools, "agent-pools", json!({"name": long})),
        (
            Method::Post,
            &memberships,
            "organization-memberships",
            json!({"email": address}),
        ),
        (
            Method::Post,
            &memberships,
            "organization-memberships",
            json!({"entity-id": long}),
        ),
        (
            Method::Post,
            &token,
            "authentication-tokens",
            json!({"description": long}),
        ),
        (
            Method::Post,
            &token,
            "authentication-tokens",
            json!({"expired-at": long}),
        ),
        (
            Method::Post,
            "/api/v2/admin/users",
            "users",
            json!({"username": long, "email": "a@b"}),
        ),
        (
            Method::Post,
            "/api/v2/admin/users",
            "users",
            json!({"username": "ada", "email": address}),
        ),
        (
            Method::Patch,
            "/api/v2/admin/general-settings",
            "general-settings",
            json!({"apply-timeout": long}),
        ),
        (
            Method::Patch,
            "/api/v2/admin/organizations/acme",
            "organizations",
            json!({"plan-timeout": long}),
        ),
    ] {
        let document = json!({"data": {"type": kind, "attributes": attributes}});
        let refused = world.send(method, target, Some(&document));
        assert_eq!(faults(&refused).len(), 1, "{target} {attributes}");
        assert!(refused.body.len() < 300, "{target}");
    }
    assert_eq!(world.store.values(), before);
}
