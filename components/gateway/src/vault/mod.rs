//! The `/v1` protocol: the auth method, its tokens, policies and system endpoints.
//!
//! One request goes through these stages, in the order of contract 1.6: the checks of the method and the headers, admission by `access` (token, then
//! policy), the route, the fields, and finally the capability that does the work. The answer is then wrapped if the request asks for that.
//!
//! One row of `routes` holds everything about a path: the operations and the functions that answer them, the fields and their texts, and the
//! requirements for callers. `dispatch` finds the row, and `openapi` shows it. There are these exceptions: `access` decides which paths are open or
//! need `sudo` (`access/src/policy/sudo_paths.rs`, `access/src/rights.rs`, `access/src/wrapping`), `operation` and `name_normalization` know the
//! families of paths where a write may create an object or where names are folded, and `crate::audit` knows the paths whose texts or answers may hold
//! secrets.

mod audit;
mod auth_block;
mod auth_method;
mod backup;
mod call;
mod capabilities;
mod ceremonies;
pub(crate) mod cubbyhole;
mod dispatch;
mod envelope;
mod errors;
mod facts;
mod field;
mod fields;
mod headers;
mod identity;
mod ignored_fields;
mod initialization;
mod internal_ui;
mod keys;
pub(crate) mod last_active;
mod leases;
mod metrics;
mod monitor;
mod mounts;
mod name_normalization;
mod oidc;
mod openapi;
mod operation;
mod paging;
mod plugins;
mod policies;
mod reading_on;
mod route;
mod route_group;
mod routes;
mod seal;
mod server;
mod stage;
mod status;
mod text;
mod timestamp;
mod tokens;
mod tools;
pub mod untrusted;
mod wrapping;

pub(crate) use auth_block::token_type;
pub(crate) use auth_method::mount_of_view;
pub(crate) use auth_method::rotation;
pub(crate) use backup::resume as resume_backup;
pub use errors::error_response;
pub(crate) use errors::{not_found, without_content};
pub(crate) use fields::Verbatim;
pub(crate) use monitor::resume as resume_log;
pub(crate) use server::Server;
pub(crate) use timestamp::timestamp;

use std::borrow::Cow;

use gatehouse_access_api::{self as access, Access, AdmissionError, Operation};
use gatehouse_auth_method_api::AuthMethod;

use self::call::Call;
use self::errors::{ApiError, Audience};
use crate::audit::Trail;
use crate::path::CanonicalPath;
use crate::{Gateway, Request, Response, admission};

/// Answers a request under `/v1/`.
pub(crate) fn handle<A: AuthMethod, C: Access, O>(
    gateway: &Gateway<A, C, O>,
    request: &Request,
    path: &CanonicalPath,
) -> Response {
    let server = &Server::from(gateway);
    let mut audience = Audience::Authenticated;
    let refuse = |error: ApiError, audience| {
        let error = error.while_away(|| server.host.shared_store.is_away());
        if let Some(detail) = &error.detail {
            server.tell_operator(detail);
        }
        error.response(audience)
    };
    let mut trail = match Trail::open(
        gateway.audit_log(),
        &*gateway.random,
        request,
        routes::recording(&request.path),
    ) {
        Ok(trail) => trail,
        Err(error) => return refuse(error.into(), audience),
    };
    let answered = serve(server, request, path, &mut audience, &mut trail);
    let mut response = answered.unwrap_or_else(|error| refuse(error, audience));
    if let Err(failure) = trail.answer(&response) {
        audit::take_back(server, path, &response, trail.root_token());
        response = refuse(failure.into(), audience);
    }
    response.route = trail.route();
    response.without_body_for_head(request)
}

/// Records and returns an answer under `/v1/` that was given before routing.
pub(crate) fn end<A, C, O>(
    gateway: &Gateway<A, C, O>,
    request: &Request,
    response: Response,
) -> Response {
    let recorded = Trail::open(
        gateway.audit_log(),
        &*gateway.random,
        request,
        routes::recording(&request.path),
    )
    .map_err(ApiError::from)
    .and_then(|mut trail| Ok(trail.answer(&response)?));
    match recorded {
        Ok(()) => response,
        Err(error) => error.response(Audience::Login),
    }
}

fn serve(
    server: &Server<'_>,
    request: &Request,
    path: &CanonicalPath,
    audience: &mut Audience,
    trail: &mut Trail<'_>,
) -> Result<Response, ApiError> {
    if !operation::asks_for_help(request)
        && let Some(answer) = dispatch::unadmitted(server, request, path, trail)
    {
        return answer;
    }
    let Checked {
        operation,
        wrap_ttl,
        below,
    } = check_request(server, request, path)?;
    trail.concerns(operation, &below, wrap_ttl);
    let token = headers::token(request);
    let asked = access::Request {
        token: token.map(str::to_owned),
        operation,
        path: below.to_string(),
        source_address: request.peer,
        wrap_ttl,
        parameters: None,
    };
    let admission = admission::admit(server.access, &asked, || {
        fields::parameters(request, asked.operation)
    })
    .map_err(|refusal| {
        trail.refused(token, server.access);
        match refusal {
            AdmissionError::InvalidToken
                if wrapping::is_about_the_caller(request, token, &below) =>
            {
                wrapping::invalid_token()
            }
            refusal => errors::refusal(refusal, &below),
        }
    })?;
    if admission.caller.is_none() || internal_ui::asks_for_no_policy(&below) {
        *audience = Audience::Login;
    }
    if let (None, Some(mount)) = (&admission.caller, &admission.mount) {
        auth_method::login::limit(server, request.peer, mount)
            .inspect_err(|_| trail.leave_out())?;
    }
    trail.admitted(token, &admission)?;
    let call = Call {
        server,
        request,
        operation,
        path: &below,
        captured: Vec::new(),
        takes: &[],
        token,
        wrap_ttl,
        admission: &admission,
        request_id: trail.request_id(),
    };
    dispatch::admitted(call, path.has_trailing_slash(), trail)
}

/// The part of a request that is read before access identifies the caller.
struct Checked<'p> {
    operation: Operation,
    /// The lifetime of the wrapped answer, in seconds.
    wrap_ttl: Option<u64>,
    /// The path below `v1/` as policies and routes see it.
    below: Cow<'p, str>,
}

/// Refuses requests that can be refused before access identifies the caller.
fn check_request<'p>(
    server: &Server<'_>,
    request: &Request,
    path: &'p CanonicalPath,
) -> Result<Checked<'p>, ApiError> {
    let operation = operation::requested(request, path)?;
    let checked = headers::check_namespace(request).and_then(|()| {
        Ok(Checked {
            operation,
            wrap_ttl: headers::wrap_ttl(request)?,
            below: name_normalization::folded(path.below("v1").unwrap_or_default())?,
        })
    });
    match checked {
        Ok(checked) => Ok(checked),
        // Of a sealed server, nothing else is revealed (contract 1.6: sealed comes first).
        Err(error) => match server.access.current_cluster() {
            Err(access::ServiceError::Sealed) => Err(access::ServiceError::Sealed.into()),
            _ => Err(error),
        },
    }
}
