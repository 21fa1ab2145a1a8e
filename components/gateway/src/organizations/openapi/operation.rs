//! Routes as operations: their parameters, request bodies and answers.

use gatehouse_orgs_api::Edition;
use serde_json::{Map, Value, json};

use super::schema::{document, edition_name, kind_schema};
use crate::http::Method;
use crate::organizations::document_type::Kind;
use crate::organizations::pagination::{PAGE_NUMBER, PAGE_SIZE};
use crate::organizations::parameter::Parameter;
use crate::organizations::route::{Answer, Audience, Body, Route};
use crate::organizations::transport::MEDIA_TYPE;

/// Statuses with which a request is not served, the names of their answers, and their meaning.
const REFUSALS: [(&str, &str, &str); 9] = [
    (
        "400",
        "BadRequest",
        "The query or the JSON of the body is wrong.",
    ),
    ("401", "Unauthorized", "The request has no valid token."),
    (
        "403",
        "Forbidden",
        "The caller may know that this is not for them.",
    ),
    (
        "404",
        "NotFound",
        "It does not exist, or not for this caller.",
    ),
    ("413", "TooLarge", "The body is too large."),
    (
        "415",
        "WrongMediaType",
        "The body is of another media type.",
    ),
    (
        "422",
        "Invalid",
        "The document or its attributes are not as they must be.",
    ),
    (
        "429",
        "TooManyRequests",
        "The caller has made too many requests.",
    ),
    (
        "5XX",
        "Failure",
        "The server, or what it relies on, has failed.",
    ),
];

/// A route as an operation.
pub(super) fn operation(route: &Route) -> Value {
    let mut operation = json!({
        "operationId": route.id,
        "summary": route.summary,
        "description": about(route),
        "x-gatehouse-audience": audience_name(route.audience),
        "responses": responses(route),
    });
    if let Value::Object(members) = &mut operation {
        let mut add = |name: &str, value| members.insert(name.to_owned(), value);
        if let Some(edition) = route.edition {
            add("x-gatehouse-edition", json!(edition_name(edition)));
        }
        let parameters = parameters(route);
        if !parameters.is_empty() {
            add("parameters", Value::Array(parameters));
        }
        if let Some(Body { data, is_required }) = route.body {
            let content = content(MEDIA_TYPE, document(data, false));
            add(
                "requestBody",
                json!({"required": is_required, "content": content}),
            );
        }
        if route.audience == Audience::Anyone {
            add("security", json!([]));
        }
    }
    operation
}

/// Callers and edition in sentences.
fn about(route: &Route) -> String {
    let audience = route.audience.sentence();
    match route.edition {
        Some(Edition::Hosted) => format!("{audience} The hosted edition alone has it."),
        Some(Edition::SelfHosted) => format!("{audience} The self-hosted edition alone has it."),
        None => audience.to_owned(),
    }
}

const fn audience_name(audience: Audience) -> &'static str {
    match audience {
        Audience::Anyone => "anyone",
        Audience::Bearers => "bearers",
        Audience::Organization => "organization",
        Audience::User => "user",
        Audience::Auditors => "auditors",
        Audience::Administrators => "administrators",
    }
}

fn parameters(route: &Route) -> Vec<Value> {
    let in_path = route.path_parameter().map(|name| {
        let about = match name {
            "name" => "The name of the organization, in any case.",
            _ => "The id.",
        };
        json!({
            "name": name,
            "in": "path",
            "required": true,
            "description": about,
            "schema": {"type": "string"},
        })
    });
    let names = route.includes.filter(|names| !names.is_empty());
    let include = names.map(|names| {
        Parameter {
            name: "include",
            kind: Kind::Texts,
            about: "The related resources that come along.",
        }
        .with_items(json!({"type": "string", "enum": names}))
    });
    let pages = [PAGE_NUMBER, PAGE_SIZE];
    let pages = pages.iter().filter(|_| route.is_paged);
    let others = route
        .query
        .iter()
        .chain(pages)
        .map(|parameter| in_query(*parameter));
    in_path.into_iter().chain(include).chain(others).collect()
}

fn in_query(parameter: Parameter) -> Value {
    match parameter.kind {
        Kind::Texts => parameter.with_items(json!({"type": "string"})),
        kind => json!({
            "name": parameter.name,
            "in": "query",
            "description": parameter.about,
            "schema": kind_schema(kind),
        }),
    }
}

impl Parameter {
    /// A list of such items, joined by commas.
    fn with_items(self, items: Value) -> Value {
        json!({
            "name": self.name,
            "in": "query",
            "description": self.about,
            "style": "form",
            "explode": false,
            "schema": {"type": "array", "items": items},
        })
    }
}

fn responses(route: &Route) -> Map<String, Value> {
    let served = |status: u16, content| {
        let description = if status == 201 {
            "It is made."
        } else {
            "It is shown."
        };
        (
            status.to_string(),
            json!({"description": description, "content": content}),
        )
    };
    let success = match route.answer {
        Answer::Nothing => Some(("204".to_owned(), json!({"description": "It is done."}))),
        Answer::Document(status, data) => Some(served(
            status,
            content(MEDIA_TYPE, document(data, route.is_paged)),
        )),
        Answer::Json => Some(served(
            200,
            content("application/json", json!({"type": "object"})),
        )),
        Answer::Refusal => None,
    };
    let refusals = REFUSALS
        .iter()
        .filter(|(status, ..)| can_refuse(route, status));
    let refusals = refusals.map(|(status, name, _)| {
        let reference = json!({"$ref": format!("#/components/responses/{name}")});
        ((*status).to_owned(), reference)
    });
    success.into_iter().chain(refusals).collect()
}

/// Tells whether a request to the route can be refused with this status.
fn can_refuse(route: &Route, status: &str) -> bool {
    let is_open = route.audience == Audience::Anyone;
    let is_write = route.method != Method::Get;
    let reads_time = route
        .query
        .iter()
        .any(|parameter| matches!(parameter.kind, Kind::Timestamp));
    match status {
        "400" => route.includes.is_some() || route.body.is_some(),
        "401" => !is_open,
        "403" => route.is_forbidden_to_some,
        "404" => {
            !is_open && (route.audience != Audience::Bearers || route.edition.is_some() || is_write)
        }
        "413" => route.body.is_some(),
        "415" => is_write,
        "422" => is_write || reads_time,
        "429" => !is_open || route.is_storeless,
        _ => true,
    }
}

/// The answers to requests that are not served, by their names.
pub(super) fn refusals() -> Map<String, Value> {
    let schema = || json!({"$ref": "#/components/schemas/Errors"});
    let answers = REFUSALS.iter().map(|(_, name, about)| {
        let answer = json!({"description": about, "content": content(MEDIA_TYPE, schema())});
        ((*name).to_owned(), answer)
    });
    answers.collect()
}

fn content(media_type: &str, schema: Value) -> Value {
    json!({media_type: {"schema": schema}})
}
