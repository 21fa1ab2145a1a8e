//! The way from a cloud identity to an organization: no static key, and no policy.

use std::collections::BTreeMap;

use gatehouse_access_api::{
    LoginGrant, Logins as _, MountRequest, Mounts as _, Operation, Requests as _, TokenLookup as _,
    TokenParameters, TokenReference, TokenView,
};

use super::*;

impl World {
    /// Logs a workload in, as the auth method does once it has proved who it is; its token, and what is known about that.
    fn log_in(&self, workload: &str) -> (String, TokenView) {
        let access = &self.gateway.access;
        let mount = MountRequest {
            mount_type: "gcp".to_owned(),
            ..MountRequest::default()
        };
        // It is there already from the second login on.
        let _ = access.enable_mount("gcp", &mount);
        let login = gatehouse_access_api::Request {
            token: None,
            operation: Operation::Update,
            path: "auth/gcp/login".into(),
            source_address: None,
            wrap_ttl: None,
            parameters: None,
        };
        let mount = access.admit(&login).unwrap().mount.unwrap();
        let grant = LoginGrant {
            mount_id: mount.id,
            mount_path: mount.path,
            role: "dev".to_owned(),
            alias_name: workload.to_owned(),
            metadata: BTreeMap::new().into_iter().collect(),
            display_name: workload.to_owned(),
            group_aliases: None,
            parameters: TokenParameters::default(),
            renewal_state: Vec::new(),
            source_address: None,
        };
        let issued = access.issue_login(&grant).ok().unwrap();
        let token = issued.client_token.expose().to_owned();
        let view = access
            .lookup_token(&TokenReference::Id(token.clone()))
            .unwrap();
        (token, view)
    }
}

#[test]
fn a_workload_manages_an_organization_by_its_entity_alone() {
    for world in [hosted(), self_hosted()] {
        world.create_named("acme");
        let owners = world.owners_team();
        let (token, view) = world.log_in("deployer");
        let entity = view.entity_id.unwrap();
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
        // Its next token stands for the same entity, and another workload's for another.
        let (next, _) = world.log_in("deployer");
        assert_eq!(patch(&next).status, 200);
        let (other, _) = world.log_in("other");
        assert_not_found(&patch(&other));
        let own = world.send_as(&next, Method::Get, "/api/v2/organization-memberships", None);
        assert_eq!(body(&own)["data"], json!([made["data"]]));
        // As an owner it has people of its own.
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
    let world = hosted();
    world.create_named("acme");
    let managers = world.team(&json!({
        "name": "managers",
        "organization-access": {"manage-teams": true},
    }));
    let (token, view) = world.log_in("deployer");
    world.invited(&json!({"entity_id": view.entity_id.unwrap()}), &[]);
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
