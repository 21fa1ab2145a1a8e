//! The description of the API (contract 4.16), which must be valid, complete and true.

use std::collections::BTreeSet;

use openapiv3::{OpenAPI, Operation, Parameter, ReferenceOr};

use super::*;
use crate::openapi::references;

const TARGET: &str = "/api/v2/openapi.json";

fn document() -> Value {
    let response = hosted().handle(&request(Method::Get, TARGET, None));
    serde_json::from_slice(&response.body).unwrap()
}

fn described() -> OpenAPI {
    serde_json::from_value(document()).unwrap()
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

/// `gatehouse status` reads the version from it, and accepts at most a mebibyte.
#[test]
fn the_description_tells_the_version_of_the_program_and_is_small() {
    let response = hosted().handle(&request(Method::Get, TARGET, None));
    let length = response.body.len();
    assert!(length < 1 << 20, "{length} bytes");
    assert_eq!(document()["info"]["version"], env!("CARGO_PKG_VERSION"));
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
    let document = document();
    for reference in references(&document) {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
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
fn h13_any_caller_reads_the_description_and_the_store_is_not_asked() {
    for world in [hosted(), self_hosted()] {
        let before = (world.store.reads(), world.store.commits());
        let answers = [None, Some("no-such-token"), Some(ROOT)].map(|token| {
            let response = world.handle(&request(Method::Get, TARGET, token));
            assert_eq!(response.status, 200);
            assert_eq!(response.header("content-type"), Some("application/json"));
            assert_eq!(response.header("tfp-api-version"), Some("2.6"));
            text(&response)
        });
        assert!(answers.iter().all(|answer| answer == &answers[0]));
        assert_eq!((world.store.reads(), world.store.commits()), before);
        let head = world.handle(&request(Method::Head, TARGET, None));
        assert_eq!((head.status, head.body.len()), (200, 0));
        assert_not_found(&world.handle(&request(Method::Post, TARGET, None)));
    }
}

#[test]
fn h13_only_what_is_for_anyone_is_served_without_a_token() {
    let world = hosted();
    for (method, path, operation) in operations(&described()) {
        let target = path.replace("{name}", "acme").replace("{id}", "x");
        let status = world
            .handle(&request(Method::named(&method), &target, None))
            .status;
        if operation.extensions["x-gatehouse-audience"] == "anyone" {
            assert!(status < 300, "{target}");
        } else {
            assert_eq!(status, 401, "{target}");
        }
    }
}

#[test]
fn what_is_for_site_administrators_does_not_exist_for_others() {
    for (method, path, operation) in operations(&described()) {
        if operation.extensions["x-gatehouse-audience"] != "administrators" {
            continue;
        }
        let world = match operation.extensions.get("x-gatehouse-edition") {
            Some(edition) if edition == "self-hosted" => self_hosted(),
            _ => hosted(),
        };
        world.create_named("acme");
        let target = path.replace("{name}", "acme");
        let ask = |token: &str| {
            let asked = request(Method::named(&method), &target, Some(token));
            world.handle(&with_body(asked, Some(JSON_API), "{}"))
        };
        let owner = world.token(
            "all",
            &[("*", &["create", "read", "update", "delete", "sudo"])],
        );
        assert_not_found(&ask(&owner));
        let served = ask(ROOT).status;
        assert!(
            served < 300 || [400, 422].contains(&served),
            "{method} {target}: {served}"
        );
    }
}

/// The description of one request.
struct Described {
    document: Value,
    operation: Value,
}

impl Described {
    /// The operation whose path has the most words in common with `path`.
    fn find(method: &str, path: &str) -> Self {
        let document = document();
        let fits = |template: &&String| {
            let parts = template.split('/').map(Some).chain([None]);
            let segments = path.split('/').map(Some).chain([None]);
            template.split('/').count() == path.split('/').count()
                && parts
                    .zip(segments)
                    .all(|(part, segment)| part == segment || part.is_some_and(is_parameter))
        };
        let paths = document["paths"].as_object().unwrap();
        let fitting = paths.keys().filter(fits);
        let template = fitting.min_by_key(|it| it.matches('{').count()).unwrap();
        let operation = paths[template][method].clone();
        Self {
            document,
            operation,
        }
    }

    /// The name and the schema of the resource in the document that is described at `pointer`.
    fn resource(&self, pointer: &str) -> (String, &Value) {
        let content = &self.operation.pointer(pointer).unwrap()["content"][JSON_API];
        let data = &content["schema"]["properties"]["data"];
        let reference = data["items"]["$ref"].as_str().or(data["$ref"].as_str());
        let pointer = reference.unwrap().strip_prefix('#').unwrap();
        let name = pointer.rsplit('/').next().unwrap();
        (name.to_owned(), self.document.pointer(pointer).unwrap())
    }
}

fn is_parameter(part: &str) -> bool {
    part.starts_with('{')
}

/// The `type` of the resources with this schema.
fn type_of(schema: &Value) -> &Value {
    let kind = &schema["properties"]["type"];
    kind["enum"].get(0).unwrap_or(&kind["example"])
}

/// The names of the attributes for which `is_among` is true.
fn attributes(schema: &Value, is_among: impl Fn(&Value) -> bool) -> BTreeSet<String> {
    let attributes = schema["properties"]["attributes"]["properties"].as_object();
    let among = attributes.unwrap().iter().filter(|(_, it)| is_among(it));
    among.map(|(name, _)| name.clone()).collect()
}

fn keys(value: &Value) -> BTreeSet<String> {
    value
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| name.clone())
        .collect()
}

/// Compares the answer of a read with the schema in its description.
fn compare(world: &World, target: &str, edition: Edition) {
    let described = Described::find("get", target);
    let (name, schema) = described.resource("/responses/200");
    let response = world.get(target);
    assert_eq!(response.status, 200, "{target}");
    let answer = body(&response);
    let resource = match &answer["data"] {
        Value::Array(resources) => &resources[0],
        resource => resource,
    };
    assert_eq!(&resource["type"], type_of(schema), "{target}");
    let elsewhere = match edition {
        Edition::Hosted => "Shown only by the self-hosted edition.",
        Edition::SelfHosted => "Shown only by the hosted edition.",
    };
    let shown = attributes(schema, |it| {
        let about = it["description"].as_str().unwrap();
        it["writeOnly"] != true && !about.ends_with(elsewhere)
    });
    let told = keys(&resource["attributes"]);
    // The limits of a plan and the entitlements are further attributes, whose names come from the capability.
    let is_open = ["EntitlementSet", "FeatureSet", "Subscription"].contains(&name.as_str());
    if is_open {
        assert!(told.is_superset(&shown), "{target}: {told:?}");
    } else {
        assert_eq!(told, shown, "{target}");
    }
    let relationships = keys(&schema["properties"]["relationships"]["properties"]);
    let told = keys(&resource["relationships"]);
    if name == "Token" || name == "Organization" {
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
        let described = Described::find("post", target);
        let (_, schema) = described.resource("/requestBody");
        let writable = attributes(schema, |it| it["readOnly"] != true);
        // No attribute is a list, so each value is wrong.
        let wrong: serde_json::Map<String, Value> = writable
            .iter()
            .map(|name| (name.clone(), json!([])))
            .collect();
        let sent = json!({"data": {"type": type_of(schema), "attributes": wrong}});
        let refused = faults(&world.send(Method::Post, target, Some(&sent)));
        let named: BTreeSet<String> = refused
            .iter()
            .filter_map(|(pointer, _)| pointer.strip_prefix("/data/attributes/"))
            .map(str::to_owned)
            .collect();
        assert_eq!(named, writable, "{target}");
    }
}
