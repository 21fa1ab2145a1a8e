//! A request as the APIs see it.

use std::borrow::Cow;
use std::collections::HashMap;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::answer::{self, Answer};

/// A request besides its path, and the state that its answer depends on.
pub(crate) struct Call<'a> {
    /// The headers.
    pub(crate) headers: &'a HeaderMap,
    /// The query, without its question mark.
    pub(crate) query: &'a str,
    /// The body; none when it was too long or broke off.
    pub(crate) body: Option<Bytes>,
    /// Seconds since the Unix epoch.
    pub(crate) now: u64,
    /// Base URL of the fake.
    pub(crate) base_url: &'a str,
}

impl Call<'_> {
    /// The value of a query parameter.
    pub(crate) fn parameter(&self, name: &str) -> Option<Cow<'_, str>> {
        form_urlencoded::parse(self.query.as_bytes())
            .find_map(|(key, value)| (key == name).then_some(value))
    }

    /// The fields of a form.
    ///
    /// # Errors
    ///
    /// When the request has another content type, or its body could not be read; the text says which.
    pub(crate) fn form(&self) -> Result<HashMap<String, String>, &'static str> {
        let kind = self
            .headers
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok());
        if !kind.is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded")) {
            return Err("Invalid content type.");
        }
        let body = self.body.as_ref().ok_or("Request body not readable.")?;
        Ok(form_urlencoded::parse(body).into_owned().collect())
    }

    /// The body, a JSON object; an empty one stands for an empty object.
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, Box<Answer>> {
        let body = match &self.body {
            Some(body) if body.is_empty() => b"{}",
            Some(body) => body.as_ref(),
            None => return Err(invalid_body()),
        };
        // By way of a map: a struct would also take its fields from a list.
        serde_json::from_slice::<Map<String, Value>>(body)
            .and_then(|members| serde_json::from_value(Value::Object(members)))
            .map_err(|_| invalid_body())
    }
}

fn invalid_body() -> Box<Answer> {
    answer::refusal(
        StatusCode::BAD_REQUEST,
        "Invalid JSON payload received. Unknown name or wrong type.",
    )
}
