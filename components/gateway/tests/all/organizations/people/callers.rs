//! All kinds of callers of contract 1.7, and the effect of policies.

use gatehouse_orgs::Orgs;
use gatehouse_orgs_api::{
    Identity, Organizations, Principal, TeamReference, TokenOwner, TokenRequest, Tokens,
};
use gatehouse_ports::OsRandom;

use super::*;

impl World {
    /// The token of an owner: a team, the organization or its audit trail. `owner` makes the owner from the organization's external id.
    fn token_of(&self, owner: impl FnOnce(String) -> TokenOwner) -> String {
        let organizations = Orgs::new(self.store, self.server.clock, OsRandom);
        let acme = organizations.read("acme").unwrap();
        let by = gatehouse_orgs_api::Caller {
            identity: Identity {
                principal: Principal::Installation,
                token_id: None,
            },
            request_id: String::new(),
            client_request_id: None,
        };
        let owner = owner(acme.unwrap().external_id);
        let issued = organizations.issue_token(&owner, &TokenRequest::default(), &by);
        issued.unwrap().secret.to_string()
    }

    fn team_token(&self, id: &str) -> String {
        let id = id.to_owned();
        self.token_of(|organization| TokenOwner::Team(TeamReference { id, organization }))
    }

    /// The statuses for a caller who lists, shows, creates, changes, fills and removes a team, and lists, shows, invites and removes a member.
    fn attempts(&self, token: &str, name: &str) -> Vec<u16> {
        let status = |method, target: &str, document: Option<&Value>| {
            self.send_as(token, method, target, document).status
        };
        let ops = self.team(&json!({"name": name, "visibility": "organization"}));
        let member = self.invited(&json!({"email": format!("{name}@example.org")}), &[]);
        let team = format!("/api/v2/teams/{ops}");
        let members = format!("{team}/relationships/organization-memberships");
        let own = team_document(&json!({"name": format!("{name}-own")}));
        let rename = team_document(&json!({"name": format!("{name}-renamed")}));
        let guest = json!({"email": format!("{name}-guest@example.org")});
        let person = format!("/api/v2/organization-memberships/{member}");
        vec![
            status(Method::Get, TEAMS, None),
            status(Method::Get, &team, None),
            status(Method::Post, TEAMS, Some(&own)),
            status(Method::Patch, &team, Some(&rename)),
            status(
                Method::Post,
                &members,
                Some(&named("organization-memberships", &[&member])),
            ),
            status(Method::Delete, &team, None),
            status(Method::Get, MEMBERSHIPS, None),
            status(Method::Get, &person, None),
            status(Method::Post, MEMBERSHIPS, Some(&invitation(&guest, &[]))),
            status(Method::Delete, &person, None),
        ]
    }
}

const ALL: [u16; 10] = [200, 200, 201, 200, 204, 204, 200, 200, 201, 204];
const NONE: [u16; 10] = [404; 10];
const READ: [u16; 10] = [200, 200, 404, 404, 404, 404, 200, 200, 404, 404];

#[test]
fn contract_1_7_every_kind_of_caller() {
    let world = hosted();
    world.create_named("acme");
    let owners = world.owners_team();
    let team = |name: &str, right: &str| {
        world.team(&json!({"name": name, "organization-access": {right: true}}))
    };
    let managers = team("managers", "manage-teams");
    let inviters = team("inviters", "manage-membership");
    let plain = world.team(&json!({"name": "plain"}));
    let by_manager = [200, 200, 201, 200, 204, 204, 200, 200, 404, 404];
    for (name, token, expected) in [
        ("owners-team", world.team_token(&owners), ALL),
        ("plain-team", world.team_token(&plain), READ),
        ("managing-team", world.team_token(&managers), by_manager),
        (
            "organization",
            world.token_of(TokenOwner::Organization),
            ALL,
        ),
        ("audit", world.token_of(TokenOwner::AuditTrail), NONE),
        ("site", world.user("site", true), ALL),
        ("owner", world.member("owner", &[&owners]), ALL),
        ("member", world.member("member", &[]), READ),
        ("outsider", world.user("outsider", false), NONE),
        ("manager", world.member("manager", &[&managers]), by_manager),
        (
            "inviter",
            world.member("inviter", &[&inviters]),
            [200, 200, 404, 404, 204, 404, 200, 200, 201, 204],
        ),
        ("none", "unknown".to_owned(), [401; 10]),
    ] {
        assert_eq!(world.attempts(&token, name), expected, "{name}");
    }
}

#[test]
fn policies_open_what_they_name() {
    let world = hosted();
    world.create_named("acme");
    let everything: &[&str] = &["create", "read", "update", "delete"];
    let below = world.token(
        "below",
        &[
            ("organizations/acme/teams", everything),
            ("organizations/acme/teams/*", everything),
            ("organizations/acme/organization-memberships", everything),
            ("organizations/acme/organization-memberships/*", everything),
        ],
    );
    assert_eq!(world.attempts(&below, "below"), ALL);
    let reader = world.token("reader", &[("organizations/acme/*", &["read"])]);
    assert_eq!(world.attempts(&reader, "reader"), READ);
    let above = world.token("above", &[("organizations/acme", everything)]);
    assert_eq!(world.attempts(&above, "above"), NONE);
    let lists = world.token("lists", &[("organizations/acme/teams", &["read"])]);
    let expected = [200, 404, 404, 404, 404, 404, 404, 404, 404, 404];
    assert_eq!(world.attempts(&lists, "lists"), expected);
}

#[test]
fn policies_on_teams_alone_make_no_owners_and_give_no_rights() {
    let world = hosted();
    world.create_named("acme");
    let owners = world.owners_team();
    let strong = world.team(&json!({
        "name": "strong",
        "visibility": "organization",
        "organization-access": {"manage-workspaces": true},
    }));
    let ada = world.invited(&json!({"email": "ada@example.com"}), &[]);
    let everything: &[&str] = &["create", "read", "update", "delete"];
    let below = world.token("below", &[("organizations/acme/*", everything)]);
    let both: &[(&str, &[&str])] = &[
        ("organizations/acme", everything),
        ("organizations/acme/*", everything),
    ];
    let whole = world.token("whole", both);
    let half: &[(&str, &[&str])] = &[
        ("organizations/acme", &["read", "update"]),
        ("organizations/acme/*", everything),
    ];
    let half = world.token("half", half);
    let more = team_document(&json!({
        "name": "more",
        "organization-access": {"manage-workspaces": true},
    }));
    let guest = json!({"email": "eve@example.com"});
    let attempts = |token: &str| {
        let status = |target: &str, document: &Value| {
            world
                .send_as(token, Method::Post, target, Some(document))
                .status
        };
        let join = |team: &str| {
            let target = format!("/api/v2/teams/{team}/relationships/organization-memberships");
            status(&target, &named("organization-memberships", &[&ada]))
        };
        [
            join(&owners),
            join(&strong),
            status(TEAMS, &more),
            status(MEMBERSHIPS, &invitation(&guest, &[&owners])),
        ]
    };
    let before = world.store.values();
    assert_eq!(attempts(&below), [404; 4]);
    assert_eq!(attempts(&half), [404; 4]);
    assert_eq!(world.store.values(), before);
    assert_eq!(attempts(&whole), [204, 204, 201, 201]);
}

#[test]
fn contract_4_10_who_manages_teams_does_not_climb_by_them() {
    let world = hosted();
    world.create_named("acme");
    let owners = world.owners_team();
    let access = json!({"manage-teams": true, "manage-organization-access": true});
    let managers = world.team(&json!({"name": "managers", "organization-access": access}));
    let eve = world.member("eve", &[&managers]);
    let kept = || {
        let keys = world.store.keys().into_iter();
        keys.filter(|key| !key.starts_with("token-use/"))
            .collect::<Vec<_>>()
    };
    let before = kept();
    let attempt = |method, target: &str, document: &Value| {
        assert_not_found(&world.send_as(&eve, method, target, Some(document)));
    };
    let join = format!("/api/v2/teams/{owners}/relationships/users");
    attempt(Method::Post, &join, &named("users", &["eve"]));
    let all = json!({"organization-access": {"manage-workspaces": true}});
    let target = format!("/api/v2/teams/{managers}");
    attempt(Method::Patch, &target, &team_document(&all));
    let new = json!({"name": "new", "organization-access": {"manage-workspaces": true}});
    attempt(Method::Post, TEAMS, &team_document(&new));
    assert_eq!(kept(), before);
    let deleted = world.send_as(&eve, Method::Delete, ORGANIZATION, None);
    assert_not_found(&deleted);
}

#[test]
fn a6_what_a_caller_may_not_see_of_people_is_not_there() {
    let world = hosted();
    world.create_named("acme");
    let owners = world.owners_team();
    let outsider = world.user("outsider", false);
    let hidden = world.team(&json!({"name": "hidden"}));
    let member = world.member("member", &[]);
    let secret = format!("/api/v2/teams/{hidden}");
    assert_not_found(&world.send_as(&member, Method::Get, &secret, None));
    let listed = body(&world.send_as(&member, Method::Get, TEAMS, None));
    assert_eq!(listed["data"].as_array().unwrap().len(), 1);
    for target in [
        format!("/api/v2/teams/{owners}"),
        "/api/v2/teams/team-0000000000000000".to_owned(),
        "/api/v2/teams/owners".to_owned(),
        format!("/api/v2/organization-memberships/{owners}"),
    ] {
        assert_not_found(&world.send_as(&outsider, Method::Get, &target, None));
        let bad = with_body(
            request(Method::Patch, &target, Some(&outsider)),
            Some(JSON_API),
            "{",
        );
        assert_not_found(&world.handle(&bad));
    }
    let own = "/api/v2/organization-memberships";
    let nobody = world.send_as(&outsider, Method::Get, own, None);
    assert_eq!(body(&nobody)["data"], json!([]));
    assert_eq!(world.send_as("unknown", Method::Get, own, None).status, 401);
}

#[test]
fn policies_on_one_collection_show_nothing_of_the_other() {
    let world = hosted();
    world.create_named("acme");
    let hidden = world.team(&json!({"name": "hidden"}));
    let seen = world.team(&json!({"name": "seen", "visibility": "organization"}));
    let email = json!({"email": "ada@example.com"});
    let ada = world.invited(&email, &[&hidden, &seen]);
    let kinds = |token: &str, target: &str| {
        let shown = world.send_as(token, Method::Get, target, None);
        assert_eq!(shown.status, 200, "{}", text(&shown));
        let shown = body(&shown);
        let included = shown["included"].as_array().unwrap().clone();
        let ids = included
            .iter()
            .map(|it| it["id"].as_str().unwrap().to_owned());
        (shown, ids.collect::<Vec<_>>())
    };
    let members: (&str, &[&str]) = ("organizations/acme/organization-memberships", &["read"]);
    let teams: (&str, &[&str]) = ("organizations/acme/teams", &["read"]);
    let of_members = world.token("of-members", &[members]);
    let of_teams = world.token("of-teams", &[teams]);
    let of_both = world.token("of-both", &[members, teams]);

    let target = format!("{MEMBERSHIPS}?include=teams&q=ada");
    let (shown, included) = kinds(&of_members, &target);
    let visible = &shown["data"][0]["relationships"]["teams"]["data"];
    assert_eq!(*visible, json!([{"id": seen, "type": "teams"}]));
    assert_eq!(included, [] as [String; 0]);
    assert_eq!(kinds(&of_both, &target).1, [seen]);

    let target = format!("{TEAMS}?include=organization-memberships&q=hidden");
    assert_eq!(kinds(&of_teams, &target).1, [] as [String; 0]);
    assert_eq!(kinds(&of_both, &target).1, [ada]);
}
