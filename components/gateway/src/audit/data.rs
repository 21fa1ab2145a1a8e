//! What a request carries, as JSON that the host can hash.

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use super::secrecy::is_plausible_name;
use crate::MAXIMUM_BODY_BYTES;
use crate::http::Request;
use crate::organizations;
use crate::query;
use crate::vault::Verbatim;
use gatehouse_json as json;

/// The member `data` of a request.
pub(super) struct RequestData {
    /// `None` where there is nothing, or too much.
    pub(super) value: Option<Box<RawValue>>,
}

impl RequestData {
    /// The body, or where there is none the query.
    pub(super) fn of(request: &Request) -> Self {
        let body = &request.body;
        let value = if body.is_empty() {
            of_query(&request.query)
        } else if body.len() > MAXIMUM_BODY_BYTES {
            None
        } else if organizations::concerns(&request.path) {
            of_document(body)
        } else {
            of_fields(request)
        };
        Self { value }
    }
}

fn of_query(text: &str) -> Option<Box<RawValue>> {
    if text.is_empty() {
        return None;
    }
    let fields = query::gathered(text).into_iter();
    let fields: Map<String, Value> = fields
        .map(|(name, values)| (name.into_owned(), values.join(",").into()))
        .collect();
    if fields.keys().all(|name| is_plausible_name(name)) {
        to_raw_value(&fields).ok()
    } else {
        whole(text.as_bytes())
    }
}

/// The fields of a form or of an object; a body that is neither as one text.
fn of_fields(request: &Request) -> Option<Box<RawValue>> {
    match Verbatim::of_body(request) {
        Ok(fields) if fields.names().all(is_plausible_name) => to_raw_value(&fields).ok(),
        _ => whole(&request.body),
    }
}

fn of_document(body: &[u8]) -> Option<Box<RawValue>> {
    let object = json::check(body)
        .ok()
        .filter(|text| text.trim_ascii_start().starts_with('{'))
        .and_then(|text| serde_json::from_str::<Box<RawValue>>(text).ok());
    object.or_else(|| whole(body))
}

/// One text, which the host hashes.
fn whole(body: &[u8]) -> Option<Box<RawValue>> {
    to_raw_value(&String::from_utf8_lossy(body)).ok()
}
