//! The content of a request, as JSON that the host can hash.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use super::secrecy::{MASK, is_plausible_name};
use crate::MAXIMUM_BODY_BYTES;
use crate::http::Request;
use crate::organizations;
use crate::query;
use crate::vault::Verbatim;
use gatehouse_json as json;

/// The content of a request, apart from its path.
pub(super) struct RequestData {
    /// The member `data`: the body, or the query where there is no body, as the reference records it. `None` where both are empty, or the body is too
    /// large.
    pub(super) value: Option<Box<RawValue>>,
    /// The member `query`: the query of a request with a body. A query parameter can change the outcome even of a request with a body.
    pub(super) query: Option<Box<RawValue>>,
}

impl RequestData {
    /// The content of `request`: its body and its query.
    pub(super) fn from_request(request: &Request) -> Self {
        let body = &request.body;
        let query = of_query(&request.query);
        if body.is_empty() {
            return Self {
                value: query,
                query: None,
            };
        }
        let value = if body.len() > MAXIMUM_BODY_BYTES {
            None
        } else if organizations::concerns(&request.path) {
            of_document(body)
        } else {
            of_fields(request)
        };
        Self { value, query }
    }
}

fn of_query(text: &str) -> Option<Box<RawValue>> {
    if text.is_empty() {
        return None;
    }
    let mut fields = Map::new();
    let mut set_aside = Vec::new();
    for (name, values) in query::gathered(text) {
        if is_plausible_name(&name) {
            fields.insert(name.into_owned(), one_or_all(&values));
        } else {
            set_aside.push(Value::from(format!("{name}={}", values.join(","))));
        }
    }
    if fields.is_empty() {
        return whole(text.as_bytes());
    }
    if !set_aside.is_empty() {
        fields.insert(MASK.to_owned(), set_aside.into());
    }
    to_raw_value(&fields).ok()
}

/// Each value is hashed on its own, so that repeating a field hides none of its values.
fn one_or_all(values: &[Cow<'_, str>]) -> Value {
    match values {
        [value] => Value::from(value.as_ref()),
        values => values.iter().map(AsRef::as_ref).collect(),
    }
}

/// The fields of a form or of an object. A body that is neither, or that has no plausible field name, is one text. A name that may be a secret is
/// hashed together with its value, and hides no other field.
fn of_fields(request: &Request) -> Option<Box<RawValue>> {
    let Ok(mut fields) = Verbatim::of_body(request) else {
        return whole(&request.body);
    };
    let had_any = !fields.is_empty();
    fields.set_aside(MASK, is_plausible_name);
    if had_any && fields.is_empty() {
        return whole(&request.body);
    }
    to_raw_value(&fields).ok()
}

fn of_document(body: &[u8]) -> Option<Box<RawValue>> {
    let object = json::check(body)
        .ok()
        .filter(|text| text.trim_ascii_start().starts_with('{'))
        .and_then(|text| serde_json::from_str::<Box<RawValue>>(text).ok());
    object.or_else(|| whole(body))
}

/// The data of an answer whose field names were chosen by a caller. As in a request, it is recorded as one text if any of the names may be a secret.
pub(super) fn of_secret(data: Box<RawValue>) -> Option<Box<RawValue>> {
    let names = serde_json::from_str::<BTreeMap<Cow<'_, str>, IgnoredAny>>(data.get());
    match names {
        Ok(names) if names.keys().all(|name| is_plausible_name(name)) => Some(data),
        _ => whole(data.get().as_bytes()),
    }
}

/// The whole content as one text, which the host hashes.
fn whole(body: &[u8]) -> Option<Box<RawValue>> {
    to_raw_value(&String::from_utf8_lossy(body)).ok()
}
