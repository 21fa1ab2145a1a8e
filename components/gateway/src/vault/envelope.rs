//! What surrounds the data of a successful answer (contract 1.5).

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::auth_block::{self, AuthBlock, Granted};
use super::errors::{Fault, MEDIA_TYPE};
use crate::http::Response;

/// What a handler has to say.
#[derive(Default)]
pub(crate) struct Reply {
    data: Data,
    auth: Option<Granted>,
    warnings: Vec<String>,
}

/// The member `data`.
#[derive(Default)]
enum Data {
    /// `null`
    #[default]
    Null,
    /// An object.
    Object(Box<RawValue>),
    /// An object whose members old clients read at the top level, so they stand there too.
    Copied(Map<String, Value>),
}

impl Reply {
    /// An envelope without data.
    pub(crate) fn empty() -> Self {
        Self::default()
    }

    /// An envelope with data.
    ///
    /// # Errors
    ///
    /// Only when `data` cannot be written as JSON, which is a bug.
    pub(crate) fn data(data: &impl Serialize) -> Result<Self, Fault> {
        let data = serde_json::value::to_raw_value(data).map_err(unserializable)?;
        Ok(Self {
            data: Data::Object(data),
            ..Self::default()
        })
    }

    /// An envelope with data that is copied to the top level.
    pub(crate) fn copied(data: Map<String, Value>) -> Self {
        Self {
            data: Data::Copied(data),
            ..Self::default()
        }
    }

    /// An envelope that hands out a token.
    pub(crate) fn auth(granted: Granted) -> Self {
        Self {
            warnings: auth_block::warnings(&granted.grant).collect(),
            auth: Some(granted),
            ..Self::default()
        }
    }

    /// Adds warnings after those that are there (contract 1.9 has their order).
    pub(crate) fn warned(mut self, warnings: impl IntoIterator<Item = String>) -> Self {
        self.warnings.extend(warnings);
        self
    }

    /// The answer with status 200.
    ///
    /// # Errors
    ///
    /// Only when the envelope cannot be written as JSON, which is a bug.
    pub(crate) fn response(&self, request_id: &str, mount_type: &str) -> Result<Response, Fault> {
        let envelope = |data| Envelope {
            request_id,
            lease_id: "",
            renewable: false,
            lease_duration: 0,
            data,
            wrap_info: (),
            warnings: Some(self.warnings.as_slice()).filter(|warnings| !warnings.is_empty()),
            auth: self.auth.as_ref().map(AuthBlock::from),
            mount_type,
        };
        let body = match &self.data {
            Data::Null => serde_json::to_vec(&envelope(Shown::Null)),
            Data::Object(data) => serde_json::to_vec(&envelope(Shown::Raw(data))),
            Data::Copied(data) => serde_json::to_vec(&WithCopies {
                envelope: envelope(Shown::Map(data)),
                copies: data,
            }),
        };
        let body = body.map_err(unserializable)?;
        Ok(Response::new(200, MEDIA_TYPE, body))
    }
}

fn unserializable(error: serde_json::Error) -> Fault {
    Fault::internal(format!("an answer could not be written: {error}"))
}

#[derive(Serialize)]
#[serde(untagged)]
enum Shown<'a> {
    Null,
    Raw(&'a RawValue),
    Map(&'a Map<String, Value>),
}

#[derive(Serialize)]
struct Envelope<'a> {
    request_id: &'a str,
    lease_id: &'static str,
    renewable: bool,
    lease_duration: u32,
    data: Shown<'a>,
    wrap_info: (),
    warnings: Option<&'a [String]>,
    auth: Option<AuthBlock<'a>>,
    mount_type: &'a str,
}

#[derive(Serialize)]
struct WithCopies<'a> {
    #[serde(flatten)]
    envelope: Envelope<'a>,
    #[serde(flatten)]
    copies: &'a Map<String, Value>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn text(reply: &Reply) -> String {
        let response = reply.response("id-1", "system").unwrap();
        assert_eq!(response.status, 200);
        assert_eq!(response.header("content-type"), Some("application/json"));
        assert_eq!(response.header("cache-control"), Some("no-store"));
        assert_eq!(response.header("x-content-type-options"), Some("nosniff"));
        String::from_utf8(response.body).unwrap()
    }

    #[test]
    fn every_key_is_always_there() {
        assert_eq!(
            text(&Reply::empty()),
            r#"{"request_id":"id-1","lease_id":"","renewable":false,"lease_duration":0,"data":null,"wrap_info":null,"warnings":null,"auth":null,"mount_type":"system"}"#
        );
    }

    #[test]
    fn data_stays_inside_unless_it_is_copied() {
        let inside = Reply::data(&json!({"keys": ["a"]})).unwrap();
        assert!(text(&inside).contains(r#""data":{"keys":["a"]},"wrap_info""#));
        assert!(!text(&inside).contains(r#""mount_type":"system","keys""#));

        let Value::Object(members) = json!({"keys": ["a"]}) else {
            panic!()
        };
        let copied = text(&Reply::copied(members));
        assert!(
            copied.contains(r#""data":{"keys":["a"]},"wrap_info""#),
            "{copied}"
        );
        assert!(
            copied.ends_with(r#""mount_type":"system","keys":["a"]}"#),
            "{copied}"
        );
    }

    #[test]
    fn warnings_are_a_list_or_null() {
        let warned = Reply::empty().warned(["careful".to_owned()]);
        assert!(text(&warned).contains(r#""warnings":["careful"]"#));
    }
}
