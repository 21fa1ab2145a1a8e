//! The envelope around the data of a successful answer (contract 1.5, 1.8).

use gatehouse_access_api::{Issued, WrappingToken};
use gatehouse_json as json;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use super::auth_block::{self, AuthBlock, Granted};
use super::errors::{ApiError, MEDIA_TYPE, without_content};
use super::timestamp::timestamp;
use crate::http::Response;

/// The content of a handler's answer.
#[derive(Default)]
pub(crate) struct Reply {
    data: Data,
    auth: Auth,
    warnings: Vec<String>,
    /// The mount type of an unwrapped answer; `None` for that of the handler.
    mount_type: Option<String>,
    /// A wrapping token, which replaces all other content.
    wrapping: Option<Zeroizing<WrappingToken>>,
    /// True if the work has begun but is not complete.
    accepted: bool,
}

/// The member `data`.
#[derive(Default)]
enum Data {
    /// `null`
    #[default]
    Null,
    /// An object.
    Object(Box<RawValue>),
    /// An object whose members are also copied to the top level, where old clients read them.
    Copied(Map<String, Value>),
}

/// The member `auth`.
#[derive(Default)]
enum Auth {
    /// `null`
    #[default]
    Null,
    /// A token and its terms.
    Granted(Box<Granted>),
    /// The `auth` block of the unwrapped answer.
    Kept(Box<RawValue>),
}

/// An answer in the form in which it is stored for wrapping.
#[derive(Serialize)]
struct Kept<'a> {
    data: SerializedData<'a>,
    /// True if the data is copied to the top level.
    copied: bool,
    warnings: &'a [String],
    auth: ShownAuth<'a>,
    mount_type: &'a str,
}

/// [`Kept`], deserialized.
#[derive(Deserialize)]
struct Restored {
    data: Option<Box<RawValue>>,
    copied: bool,
    warnings: Vec<String>,
    auth: Option<Box<RawValue>>,
    mount_type: String,
}

impl Reply {
    /// An envelope without data.
    pub(crate) fn empty() -> Self {
        Self::default()
    }

    /// An envelope for work that has only begun (202).
    pub(crate) fn accepted() -> Self {
        Self {
            accepted: true,
            ..Self::default()
        }
    }

    /// An envelope with data.
    ///
    /// # Errors
    ///
    /// Only when `data` cannot be written as JSON, which is a bug.
    pub(crate) fn data(data: &impl Serialize) -> Result<Self, ApiError> {
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

    /// An envelope with a token.
    pub(crate) fn auth(granted: Granted) -> Self {
        Self {
            warnings: auth_block::warnings(granted.grant()).collect(),
            auth: Auth::Granted(Box::new(granted)),
            ..Self::default()
        }
    }

    /// An envelope with only a wrapping token.
    pub(crate) fn wrapped(wrapping: WrappingToken) -> Self {
        Self {
            wrapping: Some(Zeroizing::new(wrapping)),
            ..Self::default()
        }
    }

    /// The answer that [`Self::to_kept`] serialized.
    ///
    /// # Errors
    ///
    /// Only when the bytes are something else, which is a bug.
    pub(crate) fn from_kept(kept: &[u8]) -> Result<Self, ApiError> {
        // The message would quote the unreadable answer.
        let unreadable = |_| ApiError::internal("a wrapped answer could not be read");
        let kept: Restored = serde_json::from_slice(kept).map_err(unreadable)?;
        let data = match kept.data {
            None => Data::Null,
            Some(data) if kept.copied => {
                match serde_json::from_str(data.get()).map_err(unreadable)? {
                    json::Plain(Value::Object(members)) => Data::Copied(members),
                    json::Plain(_) => {
                        return Err(ApiError::internal("a wrapped answer could not be read"));
                    }
                }
            }
            Some(data) => Data::Object(data),
        };
        Ok(Self {
            data,
            auth: kept.auth.map_or(Auth::Null, Auth::Kept),
            warnings: kept.warnings,
            mount_type: Some(kept.mount_type),
            ..Self::default()
        })
    }

    /// Adds warnings after the present ones (contract 1.9 defines their order).
    pub(crate) fn warned(mut self, warnings: impl IntoIterator<Item = String>) -> Self {
        self.warnings.extend(warnings);
        self
    }

    /// True if the answer is already a wrapping token.
    pub(crate) const fn is_wrapped(&self) -> bool {
        self.wrapping.is_some()
    }

    /// The new token in this answer, which no client has seen yet.
    pub(crate) fn new_token(&self) -> Option<&Issued> {
        match &self.auth {
            Auth::Granted(granted) => match granted.as_ref() {
                Granted::New(issued) => Some(issued),
                Granted::Renewed { .. } => None,
            },
            Auth::Null | Auth::Kept(_) => None,
        }
    }

    /// The accessor of the token in this answer.
    pub(crate) fn accessor(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Held {
            accessor: String,
        }
        let accessor = match &self.auth {
            Auth::Null => return None,
            Auth::Granted(granted) => granted.grant().accessor.clone(),
            Auth::Kept(block) => serde_json::from_str::<Held>(block.get()).ok()?.accessor,
        };
        // A batch token has no accessor.
        (!accessor.is_empty()).then_some(accessor)
    }

    /// This answer as bytes, for wrapping.
    ///
    /// # Errors
    ///
    /// Only when it cannot be written as JSON, which is a bug.
    pub(crate) fn to_kept(&self, mount_type: &str) -> Result<Vec<u8>, ApiError> {
        serde_json::to_vec(&Kept {
            data: SerializedData::from(&self.data),
            copied: matches!(self.data, Data::Copied(_)),
            warnings: &self.warnings,
            auth: ShownAuth::from(&self.auth),
            mount_type: self.mount_type.as_deref().unwrap_or(mount_type),
        })
        .map_err(unserializable)
    }

    /// The response, with status 200, or 202 if the work has only begun.
    ///
    /// # Errors
    ///
    /// Only when the envelope cannot be written as JSON, which is a bug.
    pub(crate) fn response(
        &self,
        request_id: &str,
        mount_type: &str,
    ) -> Result<Response, ApiError> {
        let mut envelope = Envelope {
            request_id,
            lease_id: "",
            renewable: false,
            lease_duration: 0,
            data: SerializedData::from(&self.data),
            wrap_info: None,
            warnings: Some(self.warnings.as_slice()).filter(|warnings| !warnings.is_empty()),
            auth: ShownAuth::from(&self.auth),
            mount_type: self.mount_type.as_deref().unwrap_or(mount_type),
        };
        if let Some(wrapping) = &self.wrapping {
            // A client that only carries a wrapped answer must learn nothing about the request behind it.
            envelope.request_id = "";
            envelope.mount_type = "";
            envelope.wrap_info = Some(WrapInfo::from(&**wrapping));
        }
        let body = match &self.data {
            Data::Null | Data::Object(_) => serde_json::to_vec(&envelope),
            Data::Copied(copies) => serde_json::to_vec(&WithCopies { envelope, copies }),
        };
        let body = body.map_err(unserializable)?;
        let status = if self.accepted { 202 } else { 200 };
        Ok(Response::new(status, MEDIA_TYPE, body))
    }
}

/// An answer without the envelope.
pub(super) fn bare(status: u16, body: &impl Serialize) -> Result<Response, ApiError> {
    let body = serde_json::to_vec(body).map_err(unserializable)?;
    Ok(match status {
        // A load balancer may have asked for the status 204, which has no body.
        204 => without_content(status),
        _ => Response::new(status, MEDIA_TYPE, body),
    })
}

fn unserializable(error: serde_json::Error) -> ApiError {
    ApiError::internal(format!("an answer could not be written: {error}"))
}

#[derive(Serialize)]
#[serde(untagged)]
enum SerializedData<'a> {
    Null,
    Raw(&'a RawValue),
    Map(&'a Map<String, Value>),
}

impl<'a> From<&'a Data> for SerializedData<'a> {
    fn from(data: &'a Data) -> Self {
        match data {
            Data::Null => Self::Null,
            Data::Object(data) => Self::Raw(data),
            Data::Copied(data) => Self::Map(data),
        }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum ShownAuth<'a> {
    Null,
    Block(AuthBlock<'a>),
    Raw(&'a RawValue),
}

impl<'a> From<&'a Auth> for ShownAuth<'a> {
    fn from(auth: &'a Auth) -> Self {
        match auth {
            Auth::Null => Self::Null,
            Auth::Granted(granted) => Self::Block(granted.as_ref().into()),
            Auth::Kept(block) => Self::Raw(block),
        }
    }
}

#[derive(Serialize)]
struct Envelope<'a> {
    request_id: &'a str,
    lease_id: &'static str,
    renewable: bool,
    lease_duration: u32,
    data: SerializedData<'a>,
    wrap_info: Option<WrapInfo<'a>>,
    warnings: Option<&'a [String]>,
    auth: ShownAuth<'a>,
    mount_type: &'a str,
}

#[derive(Serialize)]
struct WithCopies<'a> {
    #[serde(flatten)]
    envelope: Envelope<'a>,
    #[serde(flatten)]
    copies: &'a Map<String, Value>,
}

/// A wrapping token (contract 1.8).
#[derive(Serialize)]
struct WrapInfo<'a> {
    token: &'a str,
    accessor: &'a str,
    ttl: u64,
    creation_time: Timestamp,
    creation_path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    wrapped_accessor: Option<&'a str>,
}

impl<'a> From<&'a WrappingToken> for WrapInfo<'a> {
    fn from(wrapping: &'a WrappingToken) -> Self {
        Self {
            token: &wrapping.token,
            accessor: &wrapping.accessor,
            ttl: wrapping.ttl,
            creation_time: timestamp(wrapping.creation_time),
            creation_path: &wrapping.creation_path,
            wrapped_accessor: wrapping.wrapped_accessor.as_deref(),
        }
    }
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

    #[test]
    fn contract_6_6_an_answer_survives_being_wrapped_to_the_digit() {
        let data: Box<RawValue> =
            RawValue::from_string(r#"{"n":112233445566778899001,"x":1.50,"z":null}"#.to_owned())
                .unwrap();
        let Value::Object(members) = json!({"keys": ["a"]}) else {
            panic!()
        };
        for reply in [
            Reply::empty(),
            Reply::data(&data).unwrap(),
            Reply::copied(members),
            Reply::empty().warned(["careful".to_owned()]),
        ] {
            let kept = reply.to_kept("system").unwrap();
            let again = Reply::from_kept(&kept).unwrap();
            assert_eq!(again.to_kept("other").unwrap(), kept);
            let shown = again.response("id-1", "other").unwrap();
            assert_eq!(String::from_utf8(shown.body).unwrap(), text(&reply));
        }
    }

    #[test]
    fn h11_no_name_in_a_wrapped_answer_makes_a_text_be_parsed_again() {
        // A mount's options have the names that its operator gave them.
        for value in ["[[1]]", "no JSON"] {
            let members = json!({"options": {"$serde_json::private::RawValue": value}});
            let Value::Object(members) = members else {
                panic!()
            };
            let reply = Reply::copied(members);
            let again = Reply::from_kept(&reply.to_kept("system").unwrap()).unwrap();
            assert_eq!(text(&again), text(&reply));
        }
    }
}
