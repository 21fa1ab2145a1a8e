//! The description of routes in OpenAPI 3.0, generated from the tables of routes.

use serde::Serialize;
use serde_json::json;

use super::schema::{self, RequestName};
use crate::openapi::{
    self, Members, Operation, Parameter, Reference, RequestBody, Response, Schema, content,
};
use crate::vault::errors::MEDIA_TYPE;
use crate::vault::field::Field;
use crate::vault::route::{self, Needs, Route, Success, Verb};
use crate::vault::route_group::{MOUNT_PATH, Root, RouteGroup};

/// The default path of the method, without a slash.
const DEFAULT_MOUNT: &str = "gcp";

/// The whole document.
pub(super) type Document = openapi::Document<Members<PathItem>, Members<Schema>>;

/// The description of the routes in `groups`.
pub(super) fn document(groups: &[RouteGroup<'_>]) -> Document {
    let paths = groups.iter().flat_map(|group| {
        group.described().map(|route| {
            let path = format!("/{}{}", group.root, route.path);
            (path, PathItem::from_route(group, route))
        })
    });
    let api = openapi::Api {
        openapi: "3.0.2",
        title: "Gatehouse API",
        description: "Logins of Google Cloud workloads, and the tokens, policies and identities that result from them.",
        server: "/v1",
        paths: paths.collect(),
        schemas: schema::schemas(groups),
        responses: schema::responses(),
        token: json!({"type": "apiKey", "in": "header", "name": "X-Vault-Token"}),
    };
    api.into()
}

#[derive(Serialize)]
pub(super) struct PathItem {
    description: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parameters: Vec<Parameter>,
    #[serde(rename = "x-vault-sudo", skip_serializing_if = "std::ops::Not::not")]
    sudo: bool,
    #[serde(
        rename = "x-vault-unauthenticated",
        skip_serializing_if = "std::ops::Not::not"
    )]
    unauthenticated: bool,
    #[serde(
        rename = "x-vault-createSupported",
        skip_serializing_if = "std::ops::Not::not"
    )]
    create_supported: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    get: Option<Operation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    head: Option<Operation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    post: Option<Operation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delete: Option<Operation>,
}

impl PathItem {
    fn from_route(group: &RouteGroup<'_>, route: &Route) -> Self {
        let mount = matches!(group.root, Root::AnyMount).then(mount_path);
        let captures = route.captures.iter().map(in_path);
        let find = |wanted: &[Verb]| {
            let mut operations = route.operations.iter();
            let operation = operations.find(|operation| wanted.contains(&operation.verb))?;
            Some(described(group, route, operation))
        };
        Self {
            description: route.about,
            parameters: mount.into_iter().chain(captures).collect(),
            sudo: route.needs == Needs::Sudo,
            unauthenticated: route.needs == Needs::Nothing,
            create_supported: route.creates,
            get: find(&[Verb::Get, Verb::List, Verb::GetOrList]),
            head: find(&[Verb::Head]),
            post: find(&[Verb::Post]),
            delete: find(&[Verb::Delete]),
        }
    }
}

fn described(group: &RouteGroup<'_>, route: &Route, operation: &route::Operation) -> Operation {
    let list = (operation.verb == Verb::List).then(list);
    let query = operation.query.iter().map(in_query);
    let request_body = (!operation.body.is_empty()).then(|| RequestBody {
        required: operation.body.iter().any(|field| field.required),
        content: schema::in_json(RequestName(operation.id)),
    });
    Operation {
        id: operation_id(group.root, operation.id),
        summary: operation.summary,
        tags: vec![group.tag],
        parameters: list.into_iter().chain(query).collect(),
        request_body,
        responses: responses(operation.success),
        security: (route.needs == Needs::Nothing).then_some([]),
        ..Operation::default()
    }
}

/// The identifier of an operation. For a mount at a path that is not the default, the path is appended, which keeps identifiers unique.
fn operation_id(root: Root<'_>, id: &str) -> String {
    match root {
        Root::Mount(path) if path.trim_end_matches('/') != DEFAULT_MOUNT => {
            let path = path.trim_end_matches('/').chars();
            let escaped = path.map(|character| match character {
                '-' | '0'..='9' | 'A'..='Z' | 'a'..='z' => character.to_string(),
                other => format!("_{:02x}", u32::from(other)),
            });
            format!("{id}_{}", escaped.collect::<String>())
        }
        _ => id.to_owned(),
    }
}

fn in_path(field: &Field) -> Parameter {
    Parameter::in_path(field.name, field.about, schema::undescribed(field))
}

fn in_query(field: &Field) -> Parameter {
    Parameter {
        required: field.required,
        ..Parameter::in_query(field.name, field.about, schema::undescribed(field))
    }
}

/// The parameter that distinguishes a list from a read.
fn list() -> Parameter {
    let schema = Schema::choice(&["true"]);
    Parameter {
        required: true,
        ..Parameter::in_query("list", "Asks for the list.", schema)
    }
}

fn mount_path() -> Parameter {
    let schema = Schema {
        default: Some(json!(DEFAULT_MOUNT)),
        ..Schema::from_kind("string")
    };
    Parameter::in_path(MOUNT_PATH, "Path of the auth method, below auth/.", schema)
}

/// The possible answers, by status.
fn responses(success: Success) -> Members<Response> {
    let json = |description, name| Response::with(description, schema::in_json(name));
    let done = || Response::empty("Done.");
    let envelope = || json("OK.", schema::ENVELOPE);
    let text = || ("text/plain", json!({"type": "string"}));
    let mut responses = match success {
        Success::Envelope => vec![("200", envelope())],
        Success::Keys => vec![
            ("200", json("The keys.", schema::KEYS)),
            ("404", json("The list is empty.", schema::ERRORS)),
        ],
        Success::Nothing => vec![("204", done())],
        Success::EnvelopeOrNothing => vec![("200", envelope()), ("204", done())],
        Success::Refusal => Vec::new(),
        Success::Accepted => vec![
            ("200", envelope()),
            ("202", json("Begun.", schema::ENVELOPE)),
        ],
        Success::Document => vec![("200", json("OK.", schema::DOCUMENT))],
        Success::Status => vec![
            ("200", json("It serves.", schema::DOCUMENT)),
            (
                "501",
                json("The server is not initialized.", schema::DOCUMENT),
            ),
            ("503", json("It is sealed.", schema::DOCUMENT)),
        ],
        Success::DocumentOrText => {
            let document = (MEDIA_TYPE, json!(Reference::schema(schema::DOCUMENT)));
            vec![("200", Response::with("OK.", content([document, text()])))]
        }
        Success::Text => vec![("200", Response::with("OK.", content([text()])))],
        Success::File => {
            let bytes = json!({"type": "string", "format": "binary"});
            let file = content([("application/octet-stream", bytes)]);
            vec![("200", Response::with("OK.", file))]
        }
    };
    let refusals = [("4XX", schema::REFUSAL), ("5XX", schema::FAILURE)];
    responses.extend(
        refusals.map(|(status, name)| (status, Response::Shared(Reference::response(name)))),
    );
    responses.into_iter().collect()
}
