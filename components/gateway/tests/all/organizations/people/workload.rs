//! The way from a cloud identity to an organization, without a static key and without a policy.

use gatehouse_auth_method::{Identity, TokenParameters};

use super::*;
use crate::server::identity;

impl World {
    fn with_method(self) -> Self {
        let server = self.server.enable_method();
        Self { server, ..self }
    }

    /// Logs in a workload whose identity the method has verified. Returns its token and its entity.
    fn log_in(&self, workload: &str) -> (String, String) {
        self.server.script.login.is(Ok(Identity {
            alias_name: workload.to_owned(),
            display_name: workload.to_owned(),
            token: TokenParameters::default(),
            ..identity()
        }));
        let sent = r#"{"role":"dev","jwt":"a.b.c"}"#;
        let login = self.server.send(Method::Put, "auth/gcp/login", None, sent);
        let entity = login.json()["auth"]["entity_id"].clone();
        (client_token(&login), entity.as_str().unwrap().to_owned())
    }
}

#[test]
fn a_workload_manages_an_organization_by_its_entity_alone() {
    for world in [hosted(), self_hosted()].map(World::with_method) {
        world.create_named("acme");
        let owners = world.owners_team();
        let (token, entity) = world.log_in("deployer");
        let change = document(&json!({"session-timeout": 60}));
        let patch = |token: &str| world.send_as(token, Method::Patch, ORGANIZATION, Some(&change));
        assert_not_found(&patch(&token));
        let attributes = json!({"entity-id": entity});
        let made = world.post(MEMBERSHIPS, &invitation(&attributes, &[&owners]));
        assert_eq!(made.status, 201, "{}", text(&made));
        let made = body(&made);
        assert_eq!(made["data"]["attributes"]["status"], "active");
        let again = world.post(MEMBERSHIPS, &invitation(&attributes, &[]));
        let expected = (
            "/data/attributes/entity-id".to_owned(),
            "Entity has already been taken".to_owned(),
        );
        assert_eq!(faults(&again), [expected]);
        let changed = patch(&token);
        assert_eq!(changed.status, 200, "{}", text(&changed));
        assert_eq!(body(&changed)["data"]["attributes"]["session-timeout"], 60);
        // Its next token represents the same entity, and the token of another workload another one.
        let (next, _) = world.log_in("deployer");
        assert_eq!(patch(&next).status, 200);
        let (other, _) = world.log_in("other");
        assert_not_found(&patch(&other));
        let own = world.send_as(&next, Method::Get, "/api/v2/organization-memberships", None);
        assert_eq!(body(&own)["data"], json!([made["data"]]));
        // As an owner, the workload can invite members of its own.
        let guest = invitation(&json!({"email": "ada@example.com"}), &[&owners]);
        let invited = world.send_as(&next, Method::Post, MEMBERSHIPS, Some(&guest));
        assert_eq!(invited.status, 201);
        let membership = id_of(&made);
        let target = format!("/api/v2/organization-memberships/{membership}");
        assert_eq!(world.send(Method::Delete, &target, None).status, 204);
        assert_not_found(&patch(&next));
    }
}

#[test]
fn a_workload_in_a_team_has_the_rights_of_the_team() {
    let world = hosted().with_method();
    world.create_named("acme");
    let managers = world.team(&json!({
        "name": "managers",
        "organization-access": {"manage-teams": true},
    }));
    let (token, entity) = world.log_in("deployer");
    world.invited(&json!({"entity_id": entity}), &[]);
    let create = |name: &str| {
        let team = team_document(&json!({"name": name}));
        world
            .send_as(&token, Method::Post, TEAMS, Some(&team))
            .status
    };
    assert_eq!(create("early"), 404);
    let username = {
        let listed = body(&world.get(&format!("{MEMBERSHIPS}?include=user")));
        let users = listed["included"].as_array().unwrap().iter();
        let mut names = users.map(|user| user["attributes"]["username"].as_str().unwrap());
        names
            .find(|name| name.starts_with("entity-"))
            .unwrap()
            .to_owned()
    };
    let join = format!("/api/v2/teams/{managers}/relationships/users");
    let sent = named("users", &[&username]);
    assert_eq!(world.post(&join, &sent).status, 204);
    assert_eq!(create("later"), 201);
    assert_eq!(world.send(Method::Delete, &join, Some(&sent)).status, 204);
    assert_eq!(create("too-late"), 404);
}
