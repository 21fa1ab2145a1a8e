//! Routes as operations: their parameters, request bodies and answers.

use gatehouse_orgs_api::Edition;
use gatehouse_ports::organizations_api::MEDIA_TYPE;
use serde_json::{Value, json};

use super::schema::{document, kind_schema};
use crate::http::Method;
use crate::openapi::{
    Members, Operation, Parameter, Reference, RequestBody, Response, Schema, content,
};
use crate::organizations::document_type::Kind;
use crate::organizations::pagination::{PAGE_NUMBER, PAGE_SIZE};
use crate::organizations::parameter;
use crate::organizations::route::{Answer, Audience, Body, Route};

/// The statuses of requests that are not served, with the names and the meanings of their answers.
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
        "The caller may see the resource and may not do this.",
    ),
    (
        "404",
        "NotFound",
        "The resource does not exist, or the caller may not see it.",
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
        "The document or one of its attributes is invalid.",
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

/// A route as an OpenAPI operation.
pub(super) fn operation(route: &Route) -> Operation {
    let body = |Body { data, is_required }| RequestBody {
        required: is_required,
        content: content([(MEDIA_TYPE, document(data, false))]),
    };
    Operation {
        id: route.id.to_owned(),
        summary: route.summary,
        description: Some(about(route)),
        parameters: parameters(route),
        request_body: route.body.map(body),
        responses: responses(route),
        security: (route.audience == Audience::Anyone).then_some([]),
        audience: Some(audience_name(route.audience)),
        edition: route.edition.map(Edition::as_str),
        ..Operation::default()
    }
}

/// The audience and the edition, as sentences.
fn about(route: &Route) -> String {
    let audience = route.audience.sentence();
    match route.edition {
        Some(only) => format!("{audience} Only in the {} edition.", only.as_str()),
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

fn parameters(route: &Route) -> Vec<Parameter> {
    let in_path = route.path_parameter().map(|name| {
        let about = match name {
            "name" => "The name of the organization, in any case.",
            _ => "The id.",
        };
        Parameter::in_path(name, about, Schema::from_kind("string"))
    });
    let names = route.includes.filter(|names| !names.is_empty());
    let include = names.map(|names| {
        let about = "The related resources to include.";
        Parameter::joined("include", about, Schema::choice(names))
    });
    let pages = [PAGE_NUMBER, PAGE_SIZE];
    let pages = pages.iter().filter(|_| route.is_paged);
    let others = route.query.iter().chain(pages).map(in_query);
    in_path.into_iter().chain(include).chain(others).collect()
}

fn in_query(parameter: &parameter::Parameter) -> Parameter {
    let parameter::Parameter { name, kind, about } = *parameter;
    match kind {
        Kind::Texts => Parameter::joined(name, about, Schema::from_kind("string")),
        kind => Parameter::in_query(name, about, kind_schema(kind)),
    }
}

fn responses(route: &Route) -> Members<Response> {
    let served = |status: u16, content| {
        let description = match status {
            201 => "It is made.",
            _ => "It is shown.",
        };
        (status.to_string(), Response::with(description, content))
    };
    let success = match route.answer {
        Answer::Nothing => Some(("204".to_owned(), Response::empty("Done."))),
        Answer::Document(status, data) => {
            let document = document(data, route.is_paged);
            Some(served(status, content([(MEDIA_TYPE, document)])))
        }
        Answer::Json => {
            let object = json!(Schema::from_kind("object"));
            Some(served(200, content([("application/json", object)])))
        }
        Answer::Refusal => None,
    };
    let refusals = REFUSALS
        .iter()
        .filter(|(status, ..)| can_refuse(route, status));
    let refusals = refusals.map(|(status, name, _)| {
        let refusal = Response::Shared(Reference::response(name));
        ((*status).to_owned(), refusal)
    });
    success.into_iter().chain(refusals).collect()
}

/// True if a request to the route can be refused with this status.
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
pub(super) fn refusals() -> Members<Value> {
    let answers = REFUSALS.iter().map(|(_, name, about)| {
        let errors = json!(Reference::schema("Errors"));
        let answer = Response::with(about, content([(MEDIA_TYPE, errors)]));
        (*name, json!(answer))
    });
    answers.collect()
}
