//! The table of routes, and its description as OpenAPI (contract 4.16): that it is valid, complete and true.

mod page;

use std::collections::{BTreeMap, BTreeSet};

use openapiv3::{OpenAPI, Operation, Parameter, ReferenceOr};

use super::*;
use crate::organizations::document_type::{DocumentType, UseIn};
use crate::organizations::openapi::description;
use crate::organizations::route::{Answer, Audience, Data, Route};
use crate::organizations::routes::Table;
use crate::path::CanonicalPath;

const TARGET: &str = "/api/v2/openapi.json";

type Routes = Table<TestAccess, TestOrgs>;

fn routes() -> impl Iterator<Item = &'static Route> {
    Routes::rows().map(|row| &row.route)
}

fn described() -> OpenAPI {
    serde_json::from_value(description::<TestAccess, TestOrgs>()).unwrap()
}

/// Every operation with its method and path.
fn operations(document: &OpenAPI) -> Vec<(String, String, &Operation)> {
    let paths = document.paths.iter();
    let operations = paths.flat_map(|(path, item)| {
        let item = item.as_item().unwrap();
        item.iter()
            .map(|(method, operation)| (method.to_ascii_uppercase(), path.clone(), operation))
    });
    operations.collect()
}

#[test]
fn every_row_is_one_operation_with_a_name_of_its_own() {
    let document = described();
    let found: BTreeMap<String, String> = operations(&document)
        .into_iter()
        .map(|(method, path, operation)| {
            let id = operation.operation_id.clone().unwrap();
            assert!(operation.summary.is_some(), "{id}");
            (id, format!("{method} {path}"))
        })
        .collect();
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
fn every_parameter_of_a_path_is_declared() {
    let document = described();
    for (method, path, operation) in operations(&document) {
        let in_path: BTreeSet<&str> = path
            .split('/')
            .filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
            .collect();
        let declared: BTreeSet<&str> = operation
            .parameters
            .iter()
            .filter_map(|parameter| match parameter.as_item().unwrap() {
                Parameter::Path { parameter_data, .. } => {
                    assert!(parameter_data.required);
                    Some(parameter_data.name.as_str())
                }
                _ => None,
            })
            .collect();
        assert_eq!(declared, in_path, "{method} {path}");
    }
}

#[test]
fn every_reference_leads_somewhere() {
    fn walk(value: &Value, document: &Value) {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(reference)) = members.get("$ref") {
                    let pointer = reference.strip_prefix('#').unwrap();
                    assert!(document.pointer(pointer).is_some(), "{reference}");
                }
                members.values().for_each(|member| walk(member, document));
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, document)),
            _ => {}
        }
    }
    let document = description::<TestAccess, TestOrgs>();
    walk(&document, &document);
}

#[test]
fn every_operation_says_its_answers_and_whether_it_needs_a_token() {
    let document = described();
    for (method, path, operation) in operations(&document) {
        let answers = &operation.responses.responses;
        let names: Vec<String> = answers.keys().map(ToString::to_string).collect();
        let refused_always = path.starts_with("/api/v2/projects/") && method == "DELETE";
        let served = names.iter().any(|status| status.starts_with('2'));
        assert_eq!(served, !refused_always, "{method} {path}");
        let is_open = operation.security == Some(Vec::new());
        assert_eq!(
            names.contains(&"401".to_owned()),
            !is_open,
            "{method} {path}"
        );
        for (status, answer) in answers {
            let is_reference = matches!(answer, ReferenceOr::Reference { .. });
            assert_eq!(
                is_reference,
                !status.to_string().starts_with('2'),
                "{method} {path}"
            );
        }
    }
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
fn h13_any_caller_reads_the_description_and_the_store_is_not_asked() {
    for world in [hosted(), self_hosted()] {
        let before = (world.store.reads(), world.store.commits());
        let answers = [None, Some("no-such-token"), Some(ROOT)].map(|token| {
            let response = world.gateway.handle(&request(Method::Get, TARGET, token));
            assert_eq!(response.status, 200);
            assert_eq!(response.header("content-type"), Some("application/json"));
            assert_eq!(response.header("tfp-api-version"), Some("2.6"));
            text(&response)
        });
        assert!(answers.iter().all(|answer| answer == &answers[0]));
        assert_eq!(
            answers[0],
            description::<TestAccess, TestOrgs>().to_string()
        );
        assert_eq!((world.store.reads(), world.store.commits()), before);
        let head = world.gateway.handle(&request(Method::Head, TARGET, None));
        assert_eq!((head.status, head.body.len()), (200, 0));
        assert_not_found(&world.gateway.handle(&request(Method::Post, TARGET, None)));
    }
}

#[test]
fn h13_only_what_is_for_anyone_is_served_without_a_token() {
    let world = hosted();
    for route in routes() {
        let target = route
            .whole_path()
            .replace(":name", "acme")
            .replace(":id", "x");
        let mut sent = request(Method::named(route.verb()), &target, None);
        sent.peer = None;
        let status = world.gateway.handle(&sent).status;
        match route.audience {
            Audience::Anyone => assert!(status < 300, "{target}"),
            _ => assert_eq!(status, 401, "{target}"),
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

/// Names of attributes that the edition shows of a type.
fn shown(found: &DocumentType, edition: Edition) -> BTreeSet<String> {
    let properties = found.properties().into_iter();
    properties
        .filter(|property| property.use_in != UseIn::Requests)
        .filter(|property| property.edition.is_none_or(|only| only == edition))
        .map(|property| property.name.to_owned())
        .collect()
}

fn keys(value: &Value) -> BTreeSet<String> {
    value
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| name.clone())
        .collect()
}

/// Holds the answer of a read against the document type of its row.
fn compare(world: &World, target: &str, edition: Edition) {
    let path = target.split('?').next().unwrap();
    let path = CanonicalPath::parse(path).unwrap();
    let (row, _) = Routes::find(Method::Get, &path).unwrap();
    let response = world.get(target);
    assert_eq!(response.status, 200, "{target}");
    let answer = body(&response);
    let Answer::Document(200, data) = row.route.answer else {
        panic!("{target}");
    };
    let (resource, found) = match data {
        Data::One(found) => (&answer["data"], found),
        Data::Many(found) => (&answer["data"][0], found),
        _ => panic!("{target}"),
    };
    assert_eq!(resource["type"], found.resource_type, "{target}");
    let told = keys(&resource["attributes"]);
    let shown = shown(found, edition);
    // The limits of a plan and the entitlements are attributes by names that are the capability's.
    let is_open = ["EntitlementSet", "FeatureSet", "Subscription"].contains(&found.name);
    if is_open {
        assert!(told.is_superset(&shown), "{target}: {told:?}");
    } else {
        assert_eq!(told, shown, "{target}");
    }
    let relationships: BTreeSet<String> = found
        .relationships
        .iter()
        .map(|relationship| relationship.name.to_owned())
        .collect();
    let told = keys(&resource["relationships"]);
    if found.name == "Token" || found.name == "Organization" {
        assert!(
            relationships.is_superset(&told) || told.is_superset(&relationships),
            "{target}"
        );
    } else {
        assert_eq!(told, relationships, "{target}");
    }
}

#[test]
fn answers_have_the_attributes_that_their_types_name() {
    for edition in [Edition::Hosted, Edition::SelfHosted] {
        let world = world(edition);
        let created = world.create_named("acme");
        let acme = "/api/v2/organizations/acme";
        let pool = json!({"data": {"type": "agent-pools", "attributes": {"name": "pool"}}});
        world.send(Method::Post, &format!("{acme}/agent-pools"), Some(&pool));
        let team = json!({"data": {"type": "teams", "attributes": {"name": "devs"}}});
        world.send(Method::Post, &format!("{acme}/teams"), Some(&team));
        world.send(Method::Post, &format!("{acme}/authentication-token"), None);
        let member = json!({"data": {"type": "organization-memberships", "attributes": {"email": "ada@example.com"}}});
        world.send(
            Method::Post,
            &format!("{acme}/organization-memberships"),
            Some(&member),
        );
        for below in [
            "",
            "/entitlement-set",
            "/capacity",
            "/projects",
            "/teams",
            "/agent-pools",
            "/organization-memberships",
            "/authentication-token",
            "/token-ttl-policies",
        ] {
            compare(&world, &format!("{acme}{below}"), edition);
        }
        let project = &created["data"]["relationships"]["default-project"]["data"]["id"];
        compare(
            &world,
            &format!("/api/v2/projects/{}", project.as_str().unwrap()),
            edition,
        );
        for target in [
            "/api/v2/organizations",
            "/api/v2/account/details",
            "/api/v2/admin/organizations",
            "/api/v2/admin/organizations/acme",
            "/api/v2/admin/general-settings",
            "/api/v2/admin/feature-sets",
        ] {
            compare(&world, target, edition);
        }
        if edition == Edition::Hosted {
            compare(&world, &format!("{acme}/subscription"), edition);
        }
    }
}

#[test]
fn requests_can_set_the_attributes_that_their_types_name() {
    let world = hosted();
    world.create_named("acme");
    for target in [
        "/api/v2/organizations",
        "/api/v2/organizations/acme/teams",
        "/api/v2/organizations/acme/agent-pools",
        "/api/v2/admin/users",
    ] {
        let path = CanonicalPath::parse(target).unwrap();
        let (row, _) = Routes::find(Method::Post, &path).unwrap();
        let Some(Data::One(found)) = row.route.body.map(|body| body.data) else {
            panic!("{target}");
        };
        let writable: BTreeSet<String> = found
            .properties()
            .into_iter()
            .filter(|property| property.use_in != UseIn::Answers)
            .map(|property| property.name.to_owned())
            .collect();
        // No attribute is a list, so each is wrong.
        let attributes: serde_json::Map<String, Value> = writable
            .iter()
            .map(|name| (name.clone(), json!([])))
            .collect();
        let sent = json!({"data": {"type": found.resource_type, "attributes": attributes}});
        let refused = faults(&world.send(Method::Post, target, Some(&sent)));
        let named: BTreeSet<String> = refused
            .iter()
            .filter_map(|(pointer, _)| pointer.strip_prefix("/data/attributes/"))
            .map(str::to_owned)
            .collect();
        assert_eq!(named, writable, "{target}");
    }
}
