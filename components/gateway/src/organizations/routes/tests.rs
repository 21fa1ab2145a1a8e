//! The table of routes: each route is one request and one operation.

use std::collections::{BTreeMap, BTreeSet};

use gatehouse_access::AccessService;
use gatehouse_orgs::Orgs;
use gatehouse_ports::doubles::MemoryStore;
use gatehouse_ports::{OsRandom, SystemClock};

use super::*;
use crate::organizations::document_type::DocumentType;
use crate::organizations::openapi::description;
use crate::organizations::route::{Answer, Data, Route};

type Store = &'static MemoryStore<SystemClock>;
type TestAccess = AccessService<Store, SystemClock, OsRandom>;
type TestOrgs = Orgs<Store, SystemClock, OsRandom>;
type Routes = Table<TestAccess, TestOrgs>;

/// The routes of all rows.
pub(in crate::organizations) fn routes() -> impl Iterator<Item = &'static Route> {
    Routes::rows().map(|row| &row.route)
}

#[test]
fn every_row_is_one_operation_with_a_name_of_its_own() {
    let document = description::<TestAccess, TestOrgs>();
    let mut found = BTreeMap::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap().to_owned();
            assert!(operation["summary"].is_string(), "{id}");
            found.insert(id, format!("{} {path}", method.to_ascii_uppercase()));
        }
    }
    let rows: BTreeMap<String, String> = routes()
        .map(|route| {
            let segments = route.whole_path();
            let segments = segments
                .split('/')
                .map(|segment| match segment.strip_prefix(':') {
                    Some(name) => format!("{{{name}}}"),
                    None => segment.to_owned(),
                });
            let path = segments.collect::<Vec<_>>().join("/");
            (route.id.to_owned(), format!("{} {path}", route.verb()))
        })
        .collect();
    assert_eq!(rows.len(), routes().count());
    assert_eq!(found, rows);
}

#[test]
fn document_types_have_names_of_their_own() {
    let mut types: BTreeMap<&str, &DocumentType> = BTreeMap::new();
    for route in routes() {
        let answered = match route.answer {
            Answer::Document(_, data) => Some(data),
            _ => None,
        };
        for data in answered.into_iter().chain(route.body.map(|body| body.data)) {
            let (Data::One(found) | Data::Many(found)) = data else {
                continue;
            };
            let known = types.entry(found.name).or_insert(found);
            assert_eq!(known.about, found.about, "{}", found.name);
        }
    }
}

#[test]
fn a_path_without_a_parameter_comes_before_one_with() {
    let shape = |route: &Route| {
        let path = route.whole_path();
        let segments = path
            .split('/')
            .map(|segment| match segment.strip_prefix(':') {
                Some(_) => "*",
                None => segment,
            });
        (route.verb(), segments.collect::<Vec<_>>().join("/"))
    };
    let shapes: BTreeSet<_> = routes().map(shape).collect();
    assert_eq!(
        shapes.len(),
        routes().count(),
        "two rows are the same request"
    );
    for route in routes() {
        let path = CanonicalPath::parse(&route.whole_path().replace(':', "")).unwrap();
        let (found, captured) = Routes::find(Method::named(route.verb()), &path).unwrap();
        assert_eq!(found.route.id, route.id);
        assert_eq!(captured.is_empty(), route.path_parameter().is_none());
    }
}

#[test]
fn a_parameter_is_one_whole_segment() {
    let found = |path: &str| {
        let path = CanonicalPath::parse(path).unwrap();
        let (row, captured) = Routes::find(Method::Get, &path)?;
        Some((row.route.path, captured.to_owned()))
    };
    let named = |route, name: &str| Some((route, name.to_owned()));
    let of_one = "organizations/:name";
    assert_eq!(found("/api/v2/organizations/a"), named(of_one, "a"));
    assert_eq!(found("/api/v2/organizations/teams"), named(of_one, "teams"));
    let teams = "organizations/:name/teams";
    assert_eq!(found("/api/v2/organizations/a/teams"), named(teams, "a"));
    for other in [
        "/api/v2/organizations/a/b/teams",
        "/api/v2/organizations/a/teamsters",
        "/api/v2/organizationsa",
        "/organizations/a",
        "/api/v3/organizations/a",
    ] {
        assert_eq!(found(other), None, "{other}");
    }
}

#[test]
fn only_reads_that_tell_everyone_the_same_leave_no_record() {
    let unrecorded = |path: &str| Routes::recording(path) == Recording::UnlessRead;
    let found: Vec<&str> = routes()
        .filter(|route| unrecorded(&route.whole_path()))
        .map(|route| route.id)
        .collect();
    assert_eq!(found, ["discover-services", "ping", "describe-api"]);
    for other in ["/api/v2/ping/", "/api/v2/%70ing", "ping", "/api/v2/frob"] {
        assert!(!unrecorded(other), "{other}");
    }
}
