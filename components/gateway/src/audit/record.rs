//! The two documents of an exchange, and the texts that stay readable in them.
//!
//! The texts listed here stay readable, as in the reference, and so do the fields that the operator of a mount has listed. The host hashes everything
//! else, so a new member is hashed until a developer or an operator lists it (SEC-L2).

use std::borrow::Cow;

use gatehouse_access_api::TokenView;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::data::RequestData;
use super::facts::{Facts, operation_of};
use super::secrecy;
use crate::http::{Request, Response};
use crate::metadata::Metadata;
use crate::vault::{timestamp, token_type};

/// The texts that are readable in both documents.
const CLEAR: [&str; 18] = [
    "/auth/display_name",
    "/auth/entity_id",
    "/auth/identity_policies",
    "/auth/metadata",
    "/auth/policies",
    "/auth/token_issue_time",
    "/auth/token_policies",
    "/auth/token_type",
    "/error",
    "/request/client-request-id",
    "/request/id",
    "/request/mount_accessor",
    "/request/mount_point",
    "/request/mount_type",
    "/request/namespace",
    "/request/operation",
    "/request/path",
    "/request/remote_address",
];

/// The further texts that are readable in the document of an answer.
const CLEAR_IN_ANSWER: [&str; 10] = [
    "/response/auth/entity_id",
    "/response/auth/identity_policies",
    "/response/auth/metadata",
    "/response/auth/policies",
    "/response/auth/token_policies",
    "/response/auth/token_type",
    "/response/mount_accessor",
    "/response/mount_point",
    "/response/mount_type",
    "/response/wrap_info/creation_time",
];

/// The parts of which the documents of an exchange are made.
pub(super) struct Parts<'a> {
    pub(super) id: &'a str,
    pub(super) facts: &'a Facts,
    pub(super) request: &'a Request,
    pub(super) data: RequestData,
}

#[derive(Serialize)]
struct Document<'a> {
    auth: Auth<'a>,
    request: RequestPart<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<ResponsePart<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// The caller, or the recipient of a new token.
#[derive(Serialize)]
#[serde(untagged)]
enum Auth<'a> {
    Caller(Box<Caller<'a>>),
    /// The `auth` block of the answer.
    Given(&'a RawValue),
}

#[derive(Default, Serialize)]
struct Caller<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    client_token: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    accessor: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    display_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    policies: Option<Vec<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token_policies: Option<&'a [String]>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    identity_policies: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Metadata<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entity_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy_results: Option<PolicyResults>,
    token_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    token_ttl: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token_issue_time: Option<Timestamp>,
}

#[derive(Serialize)]
struct PolicyResults {
    allowed: bool,
}

#[derive(Serialize)]
struct RequestPart<'a> {
    /// The server's own identifier: a client could send the identifier of another exchange.
    id: &'a str,
    #[serde(rename = "client-request-id", skip_serializing_if = "Option::is_none")]
    client_request_id: Option<&'a str>,
    operation: &'a str,
    #[serde(flatten)]
    mount: MountPart<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_token: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_token_accessor: Option<&'a str>,
    namespace: Namespace,
    path: Cow<'a, str>,
    /// The secret that was cut out of the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    path_secret: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    query: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remote_address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wrap_ttl: Option<u64>,
}

/// The mount that serves the request.
#[derive(Serialize)]
struct MountPart<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    mount_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mount_point: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mount_accessor: Option<&'a str>,
}

#[derive(Serialize)]
struct Namespace {
    id: &'static str,
}

#[derive(Serialize)]
struct ResponsePart<'a> {
    status: u16,
    #[serde(flatten)]
    mount: MountPart<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    auth: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wrap_info: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<&'a RawValue>,
}

/// The parts of an answer that are recorded.
pub(super) struct ResponseView {
    status: u16,
    pub(super) content: Content,
    /// The error texts of a refusal.
    pub(super) error: Option<String>,
}

/// The members of an envelope. An answer without an envelope is all data.
#[derive(Default, Deserialize)]
pub(super) struct Content {
    request_id: Option<IsThere>,
    pub(super) data: Option<Box<RawValue>>,
    auth: Option<Box<RawValue>>,
    wrap_info: Option<Box<RawValue>>,
    warnings: Option<Box<RawValue>>,
}

/// Any value.
#[derive(Deserialize)]
struct IsThere(#[allow(dead_code)] serde::de::IgnoredAny);

#[derive(Deserialize)]
struct Errors {
    errors: Vec<Value>,
}

impl ResponseView {
    pub(super) fn from_response(response: &Response) -> Self {
        let body = response.body.as_slice();
        let status = response.status;
        if status >= 400 {
            let errors = serde_json::from_slice::<Errors>(body);
            let error = match errors {
                Ok(Errors { errors }) => error_text(status, &errors),
                Err(_) => error_text(status, &[]),
            };
            return Self {
                status,
                content: Content::default(),
                error: Some(error),
            };
        }
        let content = match serde_json::from_slice::<Content>(body) {
            _ if body.is_empty() => Content::default(),
            Ok(content) if content.request_id.is_some() => content,
            _ => {
                let whole = serde_json::from_slice(body).ok();
                let text = || to_raw_value(&String::from_utf8_lossy(body)).ok();
                Content {
                    data: whole.or_else(text),
                    ..Content::default()
                }
            }
        };
        Self {
            status,
            content,
            error: None,
        }
    }
}

/// The error texts of a refusal, in the form of either protocol.
fn error_text(status: u16, errors: &[Value]) -> String {
    let text = |error: &Value| match error {
        Value::String(text) => text.clone(),
        error => ["title", "detail"]
            .iter()
            .filter_map(|name| error.get(name)?.as_str())
            .collect::<Vec<_>>()
            .join(": "),
    };
    match errors {
        [] => format!("status {status}"),
        errors => errors.iter().map(text).collect::<Vec<_>>().join("; "),
    }
}

impl Parts<'_> {
    /// The document of the request; `error` says why it was refused before it was carried out.
    pub(super) fn request(&self, error: Option<&str>) -> (String, Vec<String>) {
        self.document(None, error)
    }

    /// The document of the answer.
    pub(super) fn response(&self, view: &ResponseView) -> (String, Vec<String>) {
        self.document(Some(view), view.error.as_deref())
    }

    fn document(&self, view: Option<&ResponseView>, error: Option<&str>) -> (String, Vec<String>) {
        let path = self
            .facts
            .path
            .as_deref()
            .unwrap_or_else(|| self.sent_path());
        let (shown_path, secret) = secrecy::masked_path(path);
        let given = view.and_then(|view| view.content.auth.as_deref());
        let document = Document {
            auth: match (&self.facts.caller, given) {
                (None, Some(given)) => Auth::Given(given),
                (caller, _) => Auth::Caller(Box::new(self.caller(caller.as_ref()))),
            },
            request: self.request_part(shown_path, secret),
            response: view.map(|view| self.response_part(view)),
            error: error.map(|error| secrecy::masked_text(error, secret)),
        };
        // Texts, numbers and ready-made JSON always serialize.
        let document = serde_json::to_string(&document).unwrap_or_default();
        (document, self.clear(view.is_some()))
    }

    /// The path as it was sent, without the leading part that the reference leaves out.
    fn sent_path(&self) -> &str {
        let path = &self.request.path;
        let below = path.strip_prefix("/v1/").or_else(|| path.strip_prefix('/'));
        below.unwrap_or(path)
    }

    fn caller<'c>(&'c self, caller: Option<&'c TokenView>) -> Caller<'c> {
        let policy_results = self.facts.allowed.map(|allowed| PolicyResults { allowed });
        let Some(caller) = caller else {
            let token = self
                .facts
                .accessor
                .as_ref()
                .and(self.facts.token.as_deref());
            return Caller {
                client_token: token,
                accessor: self.facts.accessor.as_deref(),
                policy_results,
                token_type: "default",
                ..Caller::default()
            };
        };
        let mut policies: Vec<&str> = caller
            .policies
            .iter()
            .chain(&caller.identity_policies)
            .map(String::as_str)
            .collect();
        policies.sort_unstable();
        policies.dedup();
        Caller {
            client_token: self.facts.token.as_deref(),
            accessor: Some(caller.accessor.as_str()),
            display_name: Some(&caller.display_name),
            policies: Some(policies),
            token_policies: Some(&caller.policies),
            identity_policies: &caller.identity_policies,
            metadata: caller.metadata.as_deref().map(Metadata),
            entity_id: caller.entity_id.as_deref(),
            policy_results,
            token_type: token_type(caller.token_type),
            token_ttl: Some(caller.creation_ttl),
            token_issue_time: Some(timestamp(caller.creation_time)),
        }
    }

    fn request_part<'p>(&'p self, path: Cow<'p, str>, secret: Option<&'p str>) -> RequestPart<'p> {
        let facts = self.facts;
        let caller = facts.caller.as_ref();
        RequestPart {
            id: self.id,
            client_request_id: secrecy::client_request_id(self.request),
            operation: facts
                .operation
                .unwrap_or_else(|| operation_of(self.request.method)),
            mount: self.mount_part(),
            client_token: facts.token.as_deref(),
            client_token_accessor: caller.map(|caller| caller.accessor.as_str()),
            namespace: Namespace { id: "root" },
            path,
            path_secret: secret,
            data: self.data.value.as_deref(),
            query: self.data.query.as_deref(),
            remote_address: self.request.peer_text(),
            wrap_ttl: facts.wrap_ttl,
        }
    }

    fn response_part<'p>(&'p self, view: &'p ResponseView) -> ResponsePart<'p> {
        let content = &view.content;
        ResponsePart {
            status: view.status,
            mount: self.mount_part(),
            data: content.data.as_deref(),
            auth: content.auth.as_deref(),
            wrap_info: content.wrap_info.as_deref(),
            warnings: content.warnings.as_deref(),
        }
    }

    fn mount_part(&self) -> MountPart<'_> {
        let (mount_type, mount_point) = self.facts.mount().unzip();
        let mount = self.facts.mount.as_ref();
        MountPart {
            mount_type,
            mount_point,
            mount_accessor: mount.map(|mount| mount.accessor.as_str()),
        }
    }

    fn clear(&self, is_answer: bool) -> Vec<String> {
        let mut clear: Vec<String> = CLEAR.iter().map(|&pointer| pointer.to_owned()).collect();
        if is_answer {
            clear.extend(CLEAR_IN_ANSWER.iter().map(|&pointer| pointer.to_owned()));
        }
        if let Some(mount) = &self.facts.mount {
            clear.extend(pointers(
                "/request/data/",
                &mount.audit_non_hmac_request_keys,
            ));
            if is_answer {
                clear.extend(pointers(
                    "/response/data/",
                    &mount.audit_non_hmac_response_keys,
                ));
            }
        }
        clear
    }
}

/// JSON pointers to the members that an operator wants to be readable.
fn pointers<'k>(begin: &'k str, keys: &'k [String]) -> impl Iterator<Item = String> + 'k {
    keys.iter()
        .filter(|key| secrecy::may_be_readable(key))
        .map(move |key| format!("{begin}{}", key.replace('~', "~0").replace('/', "~1")))
}
