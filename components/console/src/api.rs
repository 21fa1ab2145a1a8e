//! Calls of the API with the token of a visitor.

use gatehouse_ports::organizations_api::MEDIA_TYPE;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use crate::exchange::{Exchange, Request};
use crate::session::Credential;

/// The bytes that have a meaning of their own in a path or a query, and so are percent-encoded.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// `text` as one segment of a path, or as one value in a query.
pub fn encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// `path`, encoded, with its inner slashes kept and the slashes at its ends removed.
pub fn encoded_path(path: &str) -> String {
    let parts: Vec<String> = path.trim_matches('/').split('/').map(encoded).collect();
    parts.join("/")
}

/// A response of the API that is not a success.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the API answered {status}")]
pub struct ApiError {
    /// The status code.
    pub status: u16,
    /// The error messages of the API; may be empty.
    pub messages: Vec<String>,
}

impl ApiError {
    /// A refusal of the console itself, in the form of the API's refusals.
    pub fn new(status: u16, message: impl Into<String>) -> Self {
        Self {
            status,
            messages: vec![message.into()],
        }
    }
}

/// The API, for one request of a visitor.
pub struct Api<'a> {
    exchange: &'a dyn Exchange,
    visit: &'a Request,
    credential: Option<&'a Credential>,
}

impl<'a> Api<'a> {
    /// The API with the rights of `credential`, for the visitor who sent `visit`.
    pub fn new(
        exchange: &'a dyn Exchange,
        visit: &'a Request,
        credential: Option<&'a Credential>,
    ) -> Self {
        Self {
            exchange,
            visit,
            credential,
        }
    }

    /// The same API with another token.
    pub fn with<'b>(&'b self, credential: &'b Credential) -> Api<'b> {
        Api {
            exchange: self.exchange,
            visit: self.visit,
            credential: Some(credential),
        }
    }

    /// Reads `path`, such as `/v1/sys/auth`.
    ///
    /// # Errors
    ///
    /// When the answer is not a success.
    pub fn read(&self, path: &str) -> Result<Value, ApiError> {
        self.call("GET", path, None)
    }

    /// Lists `path`.
    ///
    /// # Errors
    ///
    /// When the answer is not a success. An empty list is 404 in the API, and no error here.
    pub fn list(&self, path: &str) -> Result<Vec<String>, ApiError> {
        let answer = match self.call("LIST", path, None) {
            Err(error) if error.status == 404 && error.messages.is_empty() => return Ok(Vec::new()),
            answer => answer?,
        };
        Ok(texts(answer.pointer("/data/keys")))
    }

    /// Sends `body` to `path`.
    ///
    /// # Errors
    ///
    /// When the answer is not a success.
    pub fn write(&self, path: &str, body: &Value) -> Result<Value, ApiError> {
        self.call("POST", path, Some(body))
    }

    /// Patches the resource at `path` with `body`.
    ///
    /// # Errors
    ///
    /// When the answer is not a success.
    pub fn patch(&self, path: &str, body: &Value) -> Result<Value, ApiError> {
        self.call("PATCH", path, Some(body))
    }

    /// Deletes the resource at `path`.
    ///
    /// # Errors
    ///
    /// When the answer is not a success.
    pub fn delete(&self, path: &str) -> Result<Value, ApiError> {
        self.call("DELETE", path, None)
    }

    /// Deletes the entries of the resource at `path` that `body` names.
    ///
    /// # Errors
    ///
    /// When the answer is not a success.
    pub fn delete_with(&self, path: &str, body: &Value) -> Result<Value, ApiError> {
        self.call("DELETE", path, Some(body))
    }

    /// Replaces the resource at `path` by `body`.
    ///
    /// # Errors
    ///
    /// When the answer is not a success.
    pub fn replace(&self, path: &str, body: &Value) -> Result<Value, ApiError> {
        self.call("PUT", path, Some(body))
    }

    fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value, ApiError> {
        let (status, answer) = self.ask(method, path, body)?;
        if (200..300).contains(&status) {
            return Ok(answer);
        }
        Err(ApiError {
            status,
            messages: messages(&answer),
        })
    }

    /// The status and the body of the response, even where the status is an error: `sys/health` reports the state of the server in its status.
    ///
    /// # Errors
    ///
    /// When the visitor's token is not one for this API.
    pub fn ask(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(u16, Value), ApiError> {
        let is_of_organizations = path.starts_with("/api/");
        let mut headers = Vec::new();
        let mut add = |name: &str, value: &str| {
            headers.push((name.to_owned(), value.as_bytes().to_vec()));
        };
        match self.credential {
            Some(credential) if is_of_organizations => {
                add("authorization", &format!("Bearer {}", credential.token()));
            }
            Some(Credential::Server(token)) => add("x-vault-token", token),
            Some(Credential::Organizations(_)) if !path.starts_with("/v1/sys/health") => {
                return Err(ApiError::new(
                    403,
                    "you signed in with a token that can access only organizations",
                ));
            }
            _ => {}
        }
        if let Some(host) = self.visit.host() {
            add("host", host);
        }
        if body.is_some() {
            let json = match is_of_organizations {
                true => MEDIA_TYPE,
                false => "application/json",
            };
            add("content-type", json);
        }
        let response = self.exchange.handle(Request {
            // The same request id stands for the visit in the log, in the response and in the records of all API calls made on its behalf.
            id: self.visit.id.clone(),
            method: method.to_owned(),
            target: path.to_owned(),
            peer: self.visit.peer,
            is_https: self.visit.is_https,
            authority: self.visit.authority.clone(),
            headers,
            body: body.map_or_else(Vec::new, |body| body.to_string().into_bytes()),
        });
        let answer = serde_json::from_slice(&response.body).unwrap_or(Value::Null);
        Ok((response.status, answer))
    }
}

/// The error messages in a response of either API.
fn messages(answer: &Value) -> Vec<String> {
    let errors = answer.get("errors").and_then(Value::as_array);
    let text = |error: &Value| match error {
        Value::String(text) => Some(text.clone()),
        error => {
            let said = error.get("detail").or_else(|| error.get("title"));
            said.and_then(Value::as_str).map(str::to_owned)
        }
    };
    errors.into_iter().flatten().filter_map(text).collect()
}

/// The texts in an array; empty where `value` is no array.
pub fn texts(value: Option<&Value>) -> Vec<String> {
    let entries = value.and_then(Value::as_array).into_iter().flatten();
    entries
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

/// `value` as text for a page: lists separated by commas, nothing for `null`.
pub fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(entries) => entries.iter().map(shown).collect::<Vec<_>>().join(", "),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| format!("{name}: {}", shown(value)))
            .collect::<Vec<_>>()
            .join(", "),
        value => value.to_string(),
    }
}

/// The time at `pointer`, in seconds since 1970. `None` where there is none.
pub fn time_at(value: &Value, pointer: &str) -> Option<u64> {
    let text = value.pointer(pointer)?.as_str()?;
    let time: jiff::Timestamp = text.parse().ok()?;
    time.as_second().try_into().ok()
}

/// The value at `pointer`, as text for a page.
pub fn at(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).map_or_else(String::new, shown)
}
