//! The metadata server that programs on an instance ask (contract 8.4).

use std::borrow::Cow;

use bytes::Bytes;
use http::header::HeaderValue;
use http::{Method, StatusCode};
use serde_json::json;

use crate::account::Account;
use crate::answer::{self, Answer};
use crate::call::Call;
use crate::caller::Principal;
use crate::endpoint::Endpoint;
use crate::instance::{IdentityFormat, Instance};
use crate::route::decode;
use crate::state::State;

/// By which clients know a metadata server, and it knows clients that were not tricked into asking.
const FLAVOR: &str = "metadata-flavor";
const GOOGLE: &str = "Google";
/// Scope of the access tokens.
const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";
/// The alias of the instance's own account.
const DEFAULT: &str = "default";

/// A request to the metadata server.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum MetadataRequest<'a> {
    Probe,
    Token { account: Cow<'a, str> },
    Identity { account: Cow<'a, str> },
}

impl<'a> MetadataRequest<'a> {
    /// The request that the path segments behind the version make.
    pub(crate) fn parse(method: &Method, segments: &[&'a str]) -> Option<Self> {
        if method != Method::GET {
            return None;
        }
        match *segments {
            [] | [""] => Some(Self::Probe),
            ["instance", "service-accounts", account, "token"] => Some(Self::Token {
                account: decode(account),
            }),
            ["instance", "service-accounts", account, "identity"] => Some(Self::Identity {
                account: decode(account),
            }),
            _ => None,
        }
    }

    /// The kind of request.
    pub(crate) fn endpoint(&self) -> Endpoint {
        match self {
            Self::Probe => Endpoint::MetadataProbe,
            Self::Token { .. } => Endpoint::MetadataToken,
            Self::Identity { .. } => Endpoint::MetadataIdentity,
        }
    }
}

/// The metadata server: whose it is, and how it answers.
#[derive(Debug)]
pub(crate) struct MetadataServer {
    /// Path of the instance that it serves; none for a machine that is no instance.
    pub(crate) instance: Option<String>,
    /// Unique ID of the account that is the default instead of the instance's own.
    pub(crate) account: Option<String>,
    /// True if answers carry the header by which clients know a metadata server.
    pub(crate) shows_flavor: bool,
}

impl MetadataServer {
    /// The metadata server of an instance, by its path.
    pub(crate) fn of_instance(instance: Option<String>) -> Self {
        Self {
            instance,
            account: None,
            shows_flavor: true,
        }
    }
}

impl State {
    /// Answers a request to the metadata server.
    pub(crate) fn answer_metadata(
        &mut self,
        request: &MetadataRequest<'_>,
        call: &Call<'_>,
    ) -> Answer {
        let mut answer = self
            .metadata(request, call)
            .unwrap_or_else(|(status, message)| {
                answer::bytes(status, "text/html; charset=UTF-8", Bytes::from(message))
            });
        if self.metadata_server.shows_flavor {
            answer
                .headers_mut()
                .insert(FLAVOR, HeaderValue::from_static(GOOGLE));
        }
        answer
    }

    fn metadata(
        &mut self,
        request: &MetadataRequest<'_>,
        call: &Call<'_>,
    ) -> Result<Answer, (StatusCode, &'static str)> {
        let account = match request {
            MetadataRequest::Probe => {
                let listing = Bytes::from_static(b"computeMetadata/\n");
                return Ok(answer::bytes(StatusCode::OK, "application/text", listing));
            }
            MetadataRequest::Token { account } | MetadataRequest::Identity { account } => account,
        };
        if call.headers.get(FLAVOR).is_none_or(|value| value != GOOGLE) {
            return Err((
                StatusCode::FORBIDDEN,
                "Missing Metadata-Flavor:Google header.",
            ));
        }
        if call.headers.contains_key("x-forwarded-for") {
            return Err((
                StatusCode::FORBIDDEN,
                "X-Forwarded-For header is not allowed.",
            ));
        }
        let (instance, account) = self
            .instance_and_account(account)
            .ok_or((StatusCode::NOT_FOUND, "Service account not found."))?;
        match request {
            MetadataRequest::Identity { .. } => self.identity_answer(instance, account, call),
            MetadataRequest::Probe | MetadataRequest::Token { .. } => {
                let principal = Principal::Account {
                    unique_id: account.spec.unique_id.clone(),
                };
                let lifetime = self.access_tokens.lifetime();
                let token = self
                    .access_tokens
                    .issue(principal, SCOPE, lifetime, call.now)
                    .map_err(|_| (StatusCode::INTERNAL_SERVER_ERROR, "No randomness."))?;
                let body = json!({ "access_token": token, "expires_in": lifetime, "token_type": "Bearer" });
                Ok(answer::json(StatusCode::OK, &body))
            }
        }
    }

    fn identity_answer(
        &self,
        instance: Option<&Instance>,
        account: &Account,
        call: &Call<'_>,
    ) -> Result<Answer, (StatusCode, &'static str)> {
        let audience = call
            .parameter("audience")
            .filter(|audience| !audience.is_empty())
            .ok_or((
                StatusCode::BAD_REQUEST,
                "non-empty audience parameter required",
            ))?;
        let format = match call.parameter("format").as_deref() {
            None | Some("standard") => IdentityFormat::Standard,
            Some("full") => IdentityFormat::Full,
            Some(_) => return Err((StatusCode::BAD_REQUEST, "invalid format parameter")),
        };
        let instance = instance.ok_or((StatusCode::NOT_FOUND, "Instance not found."))?;
        let claims = instance.identity_claims(&account.spec, &audience, format, call.now);
        let token = self
            .google_signing_key()
            .and_then(|key| key.sign_jwt(&claims))
            .map_err(|_| (StatusCode::INTERNAL_SERVER_ERROR, "No key to sign with."))?;
        Ok(answer::bytes(
            StatusCode::OK,
            "text/html",
            Bytes::from(token),
        ))
    }

    /// The instance, and its account: the only one that it has, by the alias or by its email.
    fn instance_and_account(&self, name: &str) -> Option<(Option<&Instance>, &Account)> {
        let server = &self.metadata_server;
        let path = server.instance.as_deref();
        let instance = path.and_then(|path| self.instances.iter().find(|one| one.path() == path));
        let default = server
            .account
            .as_deref()
            .or(instance.map(|instance| instance.service_account.as_str()))?;
        let account = self.account(default)?;
        (!account.disabled && (name == DEFAULT || name == account.spec.email))
            .then_some((instance, account))
    }
}
