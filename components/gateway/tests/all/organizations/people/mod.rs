//! Teams and memberships over HTTP (contract 4.10, 4.11): documents, refusals, and the rights of callers.

mod callers;
mod memberships;
mod teams;
mod workload;

use super::*;

const ORGANIZATION: &str = "/api/v2/organizations/acme";
const TEAMS: &str = "/api/v2/organizations/acme/teams";
const MEMBERSHIPS: &str = "/api/v2/organizations/acme/organization-memberships";

fn team_document(attributes: &Value) -> Value {
    json!({"data": {"type": "teams", "attributes": attributes}})
}

fn invitation(attributes: &Value, teams: &[&str]) -> Value {
    let teams: Vec<Value> = teams
        .iter()
        .map(|id| json!({"id": id, "type": "teams"}))
        .collect();
    json!({"data": {
        "type": "organization-memberships",
        "attributes": attributes,
        "relationships": {"teams": {"data": teams}},
    }})
}

/// A document of resource identifiers with these ids.
fn named(kind: &str, ids: &[&str]) -> Value {
    let ids = ids.iter().map(|id| json!({"id": id, "type": kind}));
    json!({"data": ids.collect::<Vec<_>>()})
}

fn id_of(document: &Value) -> String {
    document["data"]["id"].as_str().unwrap().to_owned()
}

impl World {
    fn post(&self, target: &str, document: &Value) -> Response {
        self.send(Method::Post, target, Some(document))
    }

    /// The id of a new team.
    fn team(&self, attributes: &Value) -> String {
        let made = self.post(TEAMS, &team_document(attributes));
        assert_eq!(made.status, 201, "{}", text(&made));
        id_of(&body(&made))
    }

    /// The id of a new membership.
    fn invited(&self, attributes: &Value, teams: &[&str]) -> String {
        let made = self.post(MEMBERSHIPS, &invitation(attributes, teams));
        assert_eq!(made.status, 201, "{}", text(&made));
        id_of(&body(&made))
    }

    /// The token of a new user who is a member of the organization and of these teams.
    fn member(&self, username: &str, teams: &[&str]) -> String {
        let token = self.user(username, false);
        let email = format!("{username}@example.com");
        let id = self.invited(&json!({"email": email}), teams);
        let accepted = self.answer_invitation(&token, &id, "accept");
        assert_eq!(accepted.status, 200, "{}", text(&accepted));
        token
    }

    /// Accepts or declines an invitation.
    fn answer_invitation(&self, token: &str, id: &str, action: &str) -> Response {
        let target = format!("/api/v2/organization-memberships/{id}/actions/{action}");
        self.send_as(token, Method::Post, &target, None)
    }

    fn owners_team(&self) -> String {
        let listed = body(&self.get(&format!("{TEAMS}?filter[names]=owners")));
        assert_eq!(listed["data"].as_array().unwrap().len(), 1);
        listed["data"][0]["id"].as_str().unwrap().to_owned()
    }
}
