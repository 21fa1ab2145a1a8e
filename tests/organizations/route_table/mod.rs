//! Walks through the route table (contract 8): each route answers who may take it, and is not there for others.

mod routes;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use self::routes::{Audience, Route};
use crate::fixtures::{Organization, team_token_with, unique};
use crate::server::{Edition, Server};
use crate::session::{Reply, Session};

/// What the names in paths and bodies stand for.
type Names = BTreeMap<&'static str, String>;

/// An organization that has one of everything, and another that has nothing.
struct Prepared<'a> {
    organization: Organization<'a>,
    _spare: Organization<'a>,
    names: Names,
    auditor: Session<'a>,
}

fn prepare<'a>(session: &Session<'a>) -> Prepared<'a> {
    let organization = Organization::new(session);
    let spare = Organization::new(session);
    let mut names = Names::from([
        ("name", organization.name.clone()),
        ("external-id", organization.external_id().to_owned()),
        ("spare", spare.name.clone()),
        ("spare-external-id", spare.external_id().to_owned()),
        ("pool", organization.agent_pool()),
        ("team", organization.team().id()),
        ("membership", organization.membership().id()),
        ("new", format!("tst-new-{}", unique())),
    ]);
    let project = &organization.created["relationships"]["default-project"]["data"]["id"];
    names.insert("project", project.as_str().unwrap().to_owned());
    let described = serde_json::json!({"description": "prepared"});
    let team_token = team_token_with(session, &names["team"], described).expect(201);
    names.insert("team-token", team_token.id());
    let feature_sets = session.get("admin/feature-sets?q=Business").expect(200);
    names.insert("feature-set", feature_sets.text("/data/0/id"));
    if session.is_hosted() {
        organization.subscribe_business();
        let subscription = session.get(&organization.path("subscription")).expect(200);
        names.insert("subscription", subscription.id());
        organization.audit_token();
    }
    let token = organization.token().text("/data/attributes/token");
    Prepared {
        organization,
        _spare: spare,
        names,
        auditor: session.server().bearer(&token),
    }
}

/// Names of which none stands for anything, in the form of those that do.
fn absent(names: &Names) -> Names {
    let scrambled = |text: &str| -> String {
        let (prefix, rest) = text.rsplit_once('-').unwrap();
        format!("{prefix}-{}", rest.chars().rev().collect::<String>())
    };
    let other = |(name, text): (&&'static str, &String)| match *name {
        "new" => (*name, text.clone()),
        _ => (*name, scrambled(text)),
    };
    names.iter().map(other).collect()
}

fn fill(text: &str, names: &Names) -> String {
    names.iter().fold(text.to_owned(), |text, (name, value)| {
        text.replace(&format!("{{{name}}}"), value)
    })
}

fn take(session: &Session<'_>, route: &Route, names: &Names) -> Reply {
    let body = route.body.as_ref().map(Value::to_string);
    let body = body.map(|body| fill(&body, names));
    session.send(route.method, &fill(route.path, names), body.as_deref())
}

fn label(route: &Route) -> String {
    format!("{} {}", route.method, route.path)
}

/// Takes each route once; those of the other edition are not there.
fn walk_as_administrator(server: &Server) {
    let administrator = server.administrator();
    let prepared = prepare(&administrator);
    let wrong: Vec<String> = routes::all()
        .iter()
        .filter_map(|route| {
            let asking = match route.audience {
                Audience::Auditors => &prepared.auditor,
                _ => &administrator,
            };
            let reply = take(asking, route, &prepared.names);
            let exists = route.editions.has(server.edition());
            let fits = if exists {
                reply.status < 300
            } else {
                reply.status == 404
            };
            (!fits).then(|| format!("{}: {} {}", label(route), reply.status, reply.body))
        })
        .collect();
    administrator.delete(&format!("organizations/{}", prepared.names["new"]));
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    prepared.organization.show().expect_not_found();
}

#[test]
fn a_site_administrator_walks_all_routes_hosted() {
    walk_as_administrator(&Server::start(Edition::Hosted, ""));
}

/// Changes the installation's default, so it has a server for itself.
#[test]
fn a_site_administrator_walks_all_routes_self_hosted() {
    walk_as_administrator(&Server::start(Edition::SelfHosted, ""));
}

scenarios! {
    both:
        an_unknown_token_is_refused_on_every_route,
        no_token_is_refused_on_every_route,
        an_outsider_cannot_tell_what_is_there,
        other_methods_are_not_there,
        unknown_paths_are_not_there,
        every_answer_tells_about_the_server,
        lists_without_a_feature_are_empty_pages;
}

/// The routes of this edition.
fn existing(session: &Session<'_>) -> impl Iterator<Item = Route> {
    let edition = session.edition();
    routes::all()
        .into_iter()
        .filter(move |route| route.editions.has(edition))
}

fn assert_refuses_strangers(session: &Session<'_>, stranger: &Session<'_>) {
    let prepared = prepare(session);
    for route in existing(session) {
        let reply = take(stranger, &route, &prepared.names);
        match route.audience {
            Audience::Public => assert!(reply.status < 300, "{}", label(&route)),
            _ => {
                reply.expect_unauthorized();
            }
        }
    }
    prepared.organization.show().expect(200);
}

fn an_unknown_token_is_refused_on_every_route(session: &Session<'_>) {
    let unknown = format!("{}.atlasv1.{}", "a".repeat(14), "b".repeat(67));
    assert_refuses_strangers(session, &session.server().bearer(&unknown));
}

fn no_token_is_refused_on_every_route(session: &Session<'_>) {
    assert_refuses_strangers(session, &session.server().nobody());
}

/// All of an answer that is not of one exchange alone.
fn comparable(reply: &Reply) -> (u16, Vec<&(String, String)>, &str) {
    let passing = [
        "x-request-id",
        "date",
        "x-ratelimit-remaining",
        "x-ratelimit-reset",
    ];
    let headers = reply.headers.iter();
    let headers = headers.filter(|(name, _)| !passing.contains(&name.as_str()));
    (reply.status, headers.collect(), &reply.body)
}

/// Somebody who is no member is answered as if there were nothing, byte for byte.
fn an_outsider_cannot_tell_what_is_there(session: &Session<'_>) {
    let server = session.server();
    let prepared = prepare(session);
    let absent = absent(&prepared.names);
    let outsider = server.bearer(&server.user(false));
    for route in existing(session) {
        if matches!(route.audience, Audience::Public | Audience::Users) {
            continue;
        }
        let present = take(&outsider, &route, &prepared.names).expect_not_found();
        let absent = take(&outsider, &route, &absent);
        assert_eq!(
            comparable(&present),
            comparable(&absent),
            "{}",
            label(&route)
        );
    }
    // Nothing has changed, either.
    let unchanged = prepared.organization.show().expect(200);
    assert_eq!(
        unchanged.at("/data/id"),
        prepared.organization.created["id"]
    );
}

fn other_methods_are_not_there(session: &Session<'_>) {
    let prepared = prepare(session);
    let mut methods: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for route in routes::all() {
        // Removing another organization is the same path.
        let path = route.path.replace("{spare}", "{name}");
        let path = path.split('?').next().unwrap_or_default().to_owned();
        methods.entry(path).or_default().insert(route.method);
    }
    // A default project refuses both with a reason (contract 4.13).
    methods
        .entry("projects/{project}".to_owned())
        .or_default()
        .extend(["PATCH", "DELETE"]);
    // Members of a team come and go by documents, which the table does not have.
    for list in ["users", "organization-memberships"] {
        methods
            .entry(format!("teams/{{team}}/relationships/{list}"))
            .or_default()
            .extend(["POST", "DELETE"]);
    }
    for (path, known) in methods {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
            if !known.contains(method) {
                let path = fill(&path, &prepared.names);
                let reply = session.send(method, &path, None);
                assert_eq!(reply.status, 404, "{}", reply.label);
            }
        }
    }
    prepared.organization.show().expect(200);
}

/// Never a failure of the server: the Go client's tests would ask thirty times more.
fn unknown_paths_are_not_there(session: &Session<'_>) {
    let organization = Organization::new(session);
    let paths = [
        "nothing".to_owned(),
        organization.path("nothing"),
        organization.path("relationships/nothing"),
        organization.path("varsets/nothing/nothing"),
        "agent-pools".to_owned(),
        "teams".to_owned(),
        "authentication-tokens".to_owned(),
        "admin".to_owned(),
        "admin/nothing".to_owned(),
        "account/nothing".to_owned(),
    ];
    for path in paths {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
            session.send(method, &path, None).expect_not_found();
        }
    }
}

/// Contract 1.3 and 7.
fn every_answer_tells_about_the_server(session: &Session<'_>) {
    let prepared = prepare(session);
    let outsider = session.server().nobody();
    for route in existing(session) {
        if route.path.starts_with('/') || route.method != "GET" {
            continue;
        }
        for asking in [session, &outsider] {
            let reply = take(asking, &route, &prepared.names);
            let what = &reply.label;
            assert_eq!(reply.header("tfp-api-version"), Some("2.6"), "{what}");
            assert_eq!(reply.header("cache-control"), Some("no-store"), "{what}");
            assert!(reply.header("x-request-id").is_some(), "{what}");
            let (name, version) = match session.is_hosted() {
                true => ("HCP Terraform", None),
                false => ("Terraform Enterprise", Some("v202507-1")),
            };
            assert_eq!(reply.header("tfp-appname"), Some(name), "{what}");
            assert_eq!(reply.header("x-tfe-version"), version, "{what}");
        }
    }
}

/// Contract 4.12: terrasnek reads the number of pages of each.
fn lists_without_a_feature_are_empty_pages(session: &Session<'_>) {
    let prepared = prepare(session);
    for route in routes::empty_lists() {
        take(session, &route, &prepared.names)
            .expect(200)
            .shows("/data", Value::Array(Vec::new()))
            .shows("/meta/pagination/total-pages", 1)
            .shows("/meta/pagination/total-count", 0);
    }
}
