//! Walks through the route table (contract 8), as the server describes it (contract 4.16): each route answers who may take it, and is not
//! there for others.

mod routes;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use self::routes::Step;
use crate::fixtures::{Organization, team_token_with, unique};
use crate::server::{Edition, Server};
use crate::session::{Reply, Session};

/// A route in the description of the API.
struct Row {
    method: String,
    /// Whole, with its parameter in braces.
    path: String,
    audience: String,
    /// The one edition that has it; `None` for both.
    edition: Option<Edition>,
}

impl Row {
    fn exists_in(&self, edition: Edition) -> bool {
        self.edition.is_none_or(|only| only == edition)
    }

    fn is(&self, audience: &str) -> bool {
        self.audience == audience
    }
}

/// The table of routes, read from the server.
struct Table(Vec<Row>);

impl Table {
    fn read(session: &Session<'_>) -> Self {
        let described = session.server().nobody().get("openapi.json").expect(200);
        let described = described.json();
        let paths = described["paths"].as_object().unwrap().iter();
        let rows = paths.flat_map(|(path, methods)| {
            methods
                .as_object()
                .unwrap()
                .iter()
                .map(move |(method, operation)| Row {
                    method: method.to_ascii_uppercase(),
                    path: path.clone(),
                    audience: operation["x-gatehouse-audience"]
                        .as_str()
                        .unwrap()
                        .to_owned(),
                    edition: operation["x-gatehouse-edition"]
                        .as_str()
                        .map(|name| Edition::from_text(name).unwrap()),
                })
        });
        Self(rows.collect())
    }

    /// The rows of this path, by all methods.
    fn at(&self, path: &str) -> impl Iterator<Item = &Row> {
        let path = match path.strip_prefix('/') {
            Some(_) => path.to_owned(),
            None => format!("/api/v2/{path}"),
        };
        let path = path.split('?').next().unwrap_or_default().to_owned();
        self.0.iter().filter(move |row| is_like(&row.path, &path))
    }

    fn row(&self, step: &Step) -> &Row {
        let row = self.at(step.path).find(|row| row.method == step.method);
        row.unwrap_or_else(|| panic!("no row for {}", label(step)))
    }

    /// The steps that this edition has, with their rows.
    fn existing(&self, edition: Edition) -> impl Iterator<Item = (&Row, Step)> {
        let steps = routes::all()
            .into_iter()
            .map(|step| (self.row(&step), step));
        steps.filter(move |(row, step)| exists(row, step, edition))
    }
}

/// True if two paths are the same but for the names in braces.
fn is_like(template: &str, path: &str) -> bool {
    let is_name = |segment: &str| segment.starts_with('{');
    let mut others = path.split('/');
    template.split('/').all(|segment| {
        let other = others.next();
        other.is_some_and(|other| segment == other || is_name(segment) && is_name(other))
    }) && others.next().is_none()
}

fn exists(row: &Row, step: &Step, edition: Edition) -> bool {
    row.exists_in(edition) && step.only_in.is_none_or(|only| only == edition)
}

/// The values that the names in paths and bodies stand for.
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

fn take(session: &Session<'_>, step: &Step, names: &Names) -> Reply {
    let body = step.body.as_ref().map(Value::to_string);
    let body = body.map(|body| fill(&body, names));
    session.send(step.method, &fill(step.path, names), body.as_deref())
}

fn label(step: &Step) -> String {
    format!("{} {}", step.method, step.path)
}

/// Takes each route once; those of the other edition are not there.
fn walk_as_administrator(server: &Server) {
    let administrator = server.administrator();
    let prepared = prepare(&administrator);
    let table = Table::read(&administrator);
    let wrong: Vec<String> = routes::all()
        .iter()
        .filter_map(|step| {
            let row = table.row(step);
            let asking = if row.is("auditors") {
                &prepared.auditor
            } else {
                &administrator
            };
            let reply = take(asking, step, &prepared.names);
            let fits = if exists(row, step, server.edition()) {
                reply.status < 300
            } else {
                reply.status == 404
            };
            (!fits).then(|| format!("{}: {} {}", label(step), reply.status, reply.body))
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
        every_route_of_the_table_is_walked,
        an_unknown_token_is_refused_on_every_route,
        no_token_is_refused_on_every_route,
        an_outsider_cannot_tell_what_is_there,
        other_methods_are_not_there,
        unknown_paths_are_not_there,
        every_answer_tells_about_the_server,
        lists_without_a_feature_are_empty_pages;
}

fn every_route_of_the_table_is_walked(session: &Session<'_>) {
    let steps = routes::all();
    for Row { method, path, .. } in Table::read(session).0 {
        let is_left_out = routes::NOT_WALKED.contains(&(method.as_str(), path.as_str()));
        let is_walked = steps.iter().any(|step| {
            let target = step.path.split('?').next().unwrap_or_default();
            let target = match target.strip_prefix('/') {
                Some(_) => target.to_owned(),
                None => format!("/api/v2/{target}"),
            };
            step.method == method && is_like(&path, &target)
        });
        assert_ne!(is_walked, is_left_out, "{method} {path}");
    }
}

fn assert_refuses_strangers(session: &Session<'_>, stranger: &Session<'_>) {
    let prepared = prepare(session);
    for (row, step) in Table::read(session).existing(session.edition()) {
        let reply = take(stranger, &step, &prepared.names);
        if row.is("anyone") {
            assert!(reply.status < 300, "{}", label(&step));
        } else {
            reply.expect_unauthorized();
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

/// A caller who is no member gets the same answer as for objects that do not exist, byte for byte.
fn an_outsider_cannot_tell_what_is_there(session: &Session<'_>) {
    let server = session.server();
    let prepared = prepare(session);
    let absent = absent(&prepared.names);
    let outsider = server.bearer(&server.user(false));
    for (row, step) in Table::read(session).existing(session.edition()) {
        if row.is("anyone") || row.is("bearers") {
            continue;
        }
        let present = take(&outsider, &step, &prepared.names).expect_not_found();
        let absent = take(&outsider, &step, &absent);
        assert_eq!(
            comparable(&present),
            comparable(&absent),
            "{}",
            label(&step)
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
    let table = Table::read(session);
    let mut methods: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for step in routes::all() {
        let path = step.path.split('?').next().unwrap_or_default();
        let known = table.at(path).map(|row| row.method.as_str());
        methods.entry(path).or_default().extend(known);
    }
    for (path, known) in methods {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
            if !known.contains(method) {
                let path = fill(path, &prepared.names);
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
    for (_, step) in Table::read(session).existing(session.edition()) {
        if step.path.starts_with('/') || step.method != "GET" {
            continue;
        }
        for asking in [session, &outsider] {
            let reply = take(asking, &step, &prepared.names);
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
    for step in routes::empty_lists() {
        take(session, &step, &prepared.names)
            .expect(200)
            .shows("/data", Value::Array(Vec::new()))
            .shows("/meta/pagination/total-pages", 1)
            .shows("/meta/pagination/total-count", 0);
    }
}
