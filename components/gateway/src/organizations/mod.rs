//! The organizations protocol: JSON:API under `/api/v2/`, and the discovery document that leads there.
//!
//! The checks of a request follow the order of contract 1.5: route, rate, token, media type, permission, query, body, document, fields. Only this
//! module turns the typed answers of `access` and `orgs` into status, error object and text.

mod account;
mod actions;
mod administration;
mod agent_pools;
mod api;
mod api_error;
mod attribute_error;
mod attribute_table;
mod audit_trail;
mod base_path;
mod caller;
mod document;
mod document_type;
mod entry;
mod fields;
mod general_settings;
mod include;
mod input;
mod list_cursor;
mod listing;
mod media_type;
mod memberships;
mod openapi;
mod organization;
mod pagination;
mod parameter;
mod parameters;
mod policy_paths;
mod policy_rights;
mod projects;
mod rate;
mod reach;
mod resource;
mod retention;
mod retention_kind;
mod route;
mod routes;
mod sharing;
mod subscriptions;
mod teams;
mod timestamp;
mod tokens;
mod transport;
mod unimplemented_endpoints;
pub mod untrusted;
mod users;

use std::cell::RefCell;

use gatehouse_access_api::Access;
use gatehouse_orgs_api::Capability;

pub(crate) use api_error::ApiError;
pub(crate) use base_path::concerns;
pub(crate) use list_cursor::ListCursor;

use self::api::{Api, HandedOut};
use self::rate::RateLimiter;
use self::routes::{Table, routes};
use crate::audit::Trail;
use crate::path::CanonicalPath;
use crate::{Gateway, Part, Request, Response, ResumeError};

/// The discovery document. Clients cut or resolve these paths, so each ends in a slash where the contract has one. The registries are listed because
/// clients require the names, but they do not exist.
const DISCOVERY: &[u8] = br#"{
  "modules.v1": "/api/registry/v1/modules/",
  "providers.v1": "/api/registry/v1/providers/",
  "motd.v1": "/api/terraform/motd",
  "state.v2": "/api/v2/",
  "tfe.v2": "/api/v2/",
  "tfe.v2.1": "/api/v2/",
  "tfe.v2.2": "/api/v2/"
}
"#;

/// Answers a request of this protocol. The path is decoded and has no leading slash.
pub(crate) fn handle<A, C: Access + 'static, O: Capability + 'static>(
    gateway: &Gateway<A, C, O>,
    request: &Request,
    path: &CanonicalPath,
) -> Response {
    let found = Table::<C, O>::find(request.method, path);
    let trail = match Trail::open(
        gateway.audit_log(),
        &*gateway.random,
        request,
        Table::<C, O>::recording(&request.path),
    ) {
        Ok(trail) => RefCell::new(trail),
        Err(error) => {
            let error = ApiError::Internal(error.to_string());
            let response = error_response(gateway, request, None, &limiter(gateway), &error);
            return response.without_body_for_head(request);
        }
    };
    let limiter = limiter(gateway);
    let own_id = own_request_id(gateway, trail.borrow().request_id());
    let handed_out = RefCell::new(None);
    let answer = found.ok_or(ApiError::NotFound).and_then(|(row, captured)| {
        let api = Api {
            access: &gateway.access,
            organizations: &gateway.organizations,
            settings: &gateway.settings,
            request,
            route: &row.route,
            trail: &trail,
            request_id: own_id.as_deref().unwrap_or_default(),
            handed_out: &handed_out,
            limiter: &limiter,
        };
        row.answer(&api, captured)
    });
    // An answer from before the caller was identified also tells the rate.
    if !found.is_some_and(|(row, _)| row.route.is_storeless) {
        limiter.settle(|| gateway.organizations.read_api_rate().ok());
    }
    let mut trail = trail.borrow_mut();
    let mut response = match answer {
        Ok(response) => finished(gateway, request, own_id.as_deref(), &limiter, response),
        Err(error) => error_response(gateway, request, own_id.as_deref(), &limiter, &error),
    };
    response.route = found.map(|(row, _)| row.route.pattern());
    recorded(gateway, request, &mut trail, &limiter, response).unwrap_or_else(|refusal| {
        if let Some(token) = handed_out.take() {
            take_back(gateway, &token);
        }
        refusal
    })
}

/// Continues the answer to a request for the list of organizations.
///
/// # Errors
///
/// When the request is a different one, when the caller may no longer read the list, or when the list cannot be read.
pub(crate) fn resume_list<A, C: Access + 'static, O: Capability + 'static>(
    gateway: &Gateway<A, C, O>,
    request: &Request,
    cursor: ListCursor,
) -> Result<Part, ResumeError> {
    let path = CanonicalPath::parse(&request.path).map_err(|_| ResumeError::Foreign)?;
    let (row, _) = Table::<C, O>::find(request.method, &path)
        .filter(|(row, _)| row.route.id == actions::LIST)
        .ok_or(ResumeError::Foreign)?;
    let api = Api {
        access: &gateway.access,
        organizations: &gateway.organizations,
        settings: &gateway.settings,
        request,
        route: &row.route,
        trail: &RefCell::new(Trail::of_part(request)),
        request_id: "",
        handed_out: &RefCell::new(None),
        limiter: &limiter(gateway),
    };
    api.resume_list(cursor)
        .map_err(|error| match error.for_operator() {
            Some(detail) => {
                gateway.tell_operator(detail);
                ResumeError::Failed
            }
            None => ResumeError::Refused,
        })
}

/// The answer to a request of this protocol that is refused before routing.
pub(crate) fn refuse<A, C: Access + 'static, O: Capability + 'static>(
    gateway: &Gateway<A, C, O>,
    request: &Request,
    error: &ApiError,
) -> Response {
    let limiter = limiter(gateway);
    match Trail::open(
        gateway.audit_log(),
        &*gateway.random,
        request,
        Table::<C, O>::recording(&request.path),
    ) {
        Ok(mut trail) => {
            let response = error_response(gateway, request, trail.request_id(), &limiter, error);
            let recorded = recorded(gateway, request, &mut trail, &limiter, response);
            recorded.unwrap_or_else(|refusal| refusal)
        }
        Err(error) => {
            let error = ApiError::Internal(error.to_string());
            error_response(gateway, request, None, &limiter, &error)
        }
    }
}

/// Records the answer, and returns it.
///
/// # Errors
///
/// The answer to send instead, where the record could not be written.
fn recorded<A, C, O>(
    gateway: &Gateway<A, C, O>,
    request: &Request,
    trail: &mut Trail<'_>,
    limiter: &RateLimiter<'_>,
    response: Response,
) -> Result<Response, Response> {
    match trail.answer(&response) {
        Ok(()) => Ok(response.without_body_for_head(request)),
        Err(failure) => {
            let error = failure.into();
            let response = error_response(gateway, request, trail.request_id(), limiter, &error);
            Err(response.without_body_for_head(request))
        }
    }
}

/// Revokes a token whose answer must not be sent because it could not be recorded: no caller has received the token. The token that it replaced stays
/// revoked, as the record of the request says, because it may have been in the wrong hands.
fn take_back<A, C, O: Capability>(gateway: &Gateway<A, C, O>, token: &HandedOut) {
    if let Err(failure) = gateway.organizations.revoke_token(&token.id, &token.by) {
        gateway.tell_operator(&format!(
            "the API token {} stays valid although its answer could not be recorded, revoke it: {failure}",
            token.id
        ));
    }
}

/// The answer to a request that is not served. The operator is told the part that concerns them.
fn error_response<A, C, O>(
    gateway: &Gateway<A, C, O>,
    request: &Request,
    name: Option<&str>,
    limiter: &RateLimiter<'_>,
    error: &ApiError,
) -> Response {
    if let Some(detail) = error.for_operator() {
        gateway.tell_operator(detail);
    }
    finished(gateway, request, name, limiter, error.response())
}

/// The server's identifier of an exchange: the recorded one, or a new one. The client's identifier is not used, since it could be that of another
/// exchange.
fn own_request_id<A, C, O>(gateway: &Gateway<A, C, O>, recorded: Option<&str>) -> Option<String> {
    // A missing identifier is no reason to fail.
    let id = recorded.map(str::to_owned);
    id.or_else(|| gateway.fresh_uuid().ok())
}

/// The answer with the headers of all answers. `name` is the server's identifier of the exchange, if there is one already. The client gets its own
/// identifier back if it sent one (contract section 7).
fn finished<A, C, O>(
    gateway: &Gateway<A, C, O>,
    request: &Request,
    name: Option<&str>,
    limiter: &RateLimiter<'_>,
    response: Response,
) -> Response {
    let response = transport::with_metadata(response, gateway.settings.edition);
    let response = limiter.with_headers(response);
    let client = request.client_request_id().map(str::to_owned);
    match client.or_else(|| own_request_id(gateway, name)) {
        Some(id) => response.with_header("x-request-id", id),
        None => response,
    }
}

fn limiter<A, C, O>(gateway: &Gateway<A, C, O>) -> RateLimiter<'_> {
    RateLimiter::new(&*gateway.host.rate_limits, &gateway.settings)
}

routes! { SERVER:
    Get "/.well-known/terraform.json", Anyone, "discover-services", "Lists the paths of the APIs, for service discovery.",
        answering_json
        => |_api, _| Ok(Response::new(200, "application/json", DISCOVERY.to_vec()));
    Get "ping", Anyone, "ping", "Shows version and edition in its headers." => |_api, _| Ok(transport::no_content());
    Get "openapi.json", Anyone, "describe-api", "Describes this API, as OpenAPI 3.0.",
        answering_json, storeless
        => |api, _| api.describe();
}
