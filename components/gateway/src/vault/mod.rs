//! The `/v1` protocol: the auth method, its tokens, policies and system endpoints.
//!
//! One request goes through these stages, in the order of contract 1.6: what the method and the headers rule out, admission by
//! `access` (token, then policy), the route, the fields, and at last the capability that does the work. What it answers is then
//! wrapped where the request asks for that.

mod audit;
mod auth_block;
mod auth_method;
mod call;
mod capabilities;
mod ceremonies;
pub(crate) mod cubbyhole;
mod documents;
mod envelope;
mod errors;
mod facts;
mod fields;
mod headers;
mod identity;
mod initialization;
mod internal_ui;
mod keys;
mod leases;
mod metrics;
mod monitor;
mod mounts;
mod oidc;
mod openapi;
mod operation;
mod paging;
mod plugins;
mod policies;
mod seal;
mod server;
mod spelling;
mod stage;
mod status;
mod system;
mod text;
mod timestamp;
mod tokens;
mod tools;
pub mod untrusted;
mod unused;
mod wrapping;

pub(crate) use auth_block::token_type;
pub(crate) use auth_method::rotation;
pub use errors::error_response;
pub(crate) use errors::{not_found, without_content};
pub(crate) use fields::Verbatim;
pub(crate) use monitor::{Place as LogPlace, resume as resume_log};
pub(crate) use server::Server;
pub(crate) use timestamp::timestamp;

use std::borrow::Cow;

use gatehouse_access_api::{self as access, Access, Operation, Refusal, duration};
use gatehouse_auth_method_api::AuthMethod;

use self::call::{Answer, Call};
use self::errors::{Audience, Fault};
use crate::audit::Trail;
use crate::cubbyhole_paths;
use crate::http::Method;
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
    let told = |fault: Fault, audience| {
        if let Some(detail) = &fault.detail {
            server.tell_operator(detail);
        }
        fault.response(audience)
    };
    let mut trail = match Trail::open(gateway, request) {
        Ok(trail) => trail,
        Err(error) => return told(error.into(), audience),
    };
    let answered = serve(server, request, path, &mut audience, &mut trail);
    let mut response = answered.unwrap_or_else(|fault| told(fault, audience));
    if let Err(failure) = trail.answer(&response) {
        audit::take_back(server, path, &response, trail.root_token());
        response = told(failure.into(), audience);
    }
    if request.method == Method::Head {
        response.body.clear();
        response.rest = None;
    }
    response
}

/// Answers a request under `/v1/` that goes no further.
pub(crate) fn end<A, C, O>(
    gateway: &Gateway<A, C, O>,
    request: &Request,
    response: Response,
) -> Response {
    let recorded = Trail::open(gateway, request)
        .map_err(Fault::from)
        .and_then(|mut trail| Ok(trail.answer(&response)?));
    match recorded {
        Ok(()) => response,
        Err(fault) => fault.response(Audience::Login),
    }
}

fn serve(
    server: &Server<'_>,
    request: &Request,
    path: &CanonicalPath,
    audience: &mut Audience,
    trail: &mut Trail<'_>,
) -> Result<Response, Fault> {
    if !operation::asks_for_help(request)
        && let Some(answer) = serve_without_admission(server, request, path, trail)
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
        source_address: request.peer_text(),
        wrap_ttl,
        parameters: None,
    };
    let admission = admission::admit(server.access, &asked, || {
        fields::parameters(request, asked.operation)
    })
    .map_err(|refusal| {
        trail.refused(token, server.access);
        match refusal {
            Refusal::InvalidToken if wrapping::is_about_the_caller(request, token, &below) => {
                wrapping::invalid_token()
            }
            refusal => errors::refusal(refusal, &below),
        }
    })?;
    if admission.caller.is_none() || internal_ui::answers_everybody(&below) {
        *audience = Audience::Login;
    }
    if let (None, Some(mount)) = (&admission.caller, &admission.mount) {
        auth_method::login::limit(server, request.peer, mount)
            .inspect_err(|_| trail.leave_out())?;
    }
    trail.admitted(token, &admission)?;
    let call = Call {
        request,
        operation,
        path: &below,
        token,
        wrap_ttl,
        admission,
        request_id: trail.request_id(),
    };
    if path.has_trailing_slash() && !may_end_in_slash(operation, &below) {
        return Err(Fault::unsupported_path());
    }
    if let Some(document) = documents::handle(server, &call) {
        return document;
    }
    let (mount_type, answer) = route(server, &call);
    match answer? {
        Some(reply) => {
            let reply = reply.warned(unused::warnings(&call)?);
            wrapping::deliver(server, &call, &reply, mount_type)
        }
        None => Ok(errors::without_content(204)),
    }
}

/// Answers what asks for no policy, and is done without one; `None` for every other path.
fn serve_without_admission(
    server: &Server<'_>,
    request: &Request,
    path: &CanonicalPath,
    trail: &mut Trail<'_>,
) -> Option<Result<Response, Fault>> {
    if audit::is_unadmitted_write(request, path) {
        if seal::concerns(path)
            && let Err(fault) = seal::limit(server, request)
        {
            trail.leave_out();
            return Some(Err(fault));
        }
        if let Err(failure) = trail.ask() {
            return Some(Err(failure.into()));
        }
    }
    let path = path.with_trailing_slash();
    status::handle(server, request, &path)
        .or_else(|| ceremonies::handle(server, request, &path, trail))
        .or_else(|| oidc::document(server, request, &path))
}

/// Whether the path may have a slash at its end. It means a list, and no object has one (SEC-A3), except that mounts are listed
/// with theirs and clients send back what was listed.
fn may_end_in_slash(operation: Operation, path: &str) -> bool {
    match operation {
        Operation::List | Operation::Help => true,
        Operation::Read if path.starts_with("sys/internal/ui/mounts/") => true,
        Operation::Read | Operation::Delete => {
            path.starts_with("sys/auth/") || path.starts_with("sys/mounts/")
        }
        _ => false,
    }
}

/// What a request says before anybody is asked who the caller is.
struct Checked<'p> {
    operation: Operation,
    /// For how many seconds the answer is to be wrapped.
    wrap_ttl: Option<u64>,
    /// The path below `v1/` as policies and routes see it.
    below: Cow<'p, str>,
}

/// Refuses what can be refused before anybody is asked who the caller is.
fn check_request<'p>(
    server: &Server<'_>,
    request: &Request,
    path: &'p CanonicalPath,
) -> Result<Checked<'p>, Fault> {
    let operation = operation::of(request, path)?;
    let checked = headers::check_namespace(request).and_then(|()| {
        Ok(Checked {
            operation,
            wrap_ttl: headers::wrap_ttl(request)?,
            below: spelling::folded(path.below("v1").unwrap_or_default())?,
        })
    });
    match checked {
        Ok(checked) => Ok(checked),
        // Of a sealed server nothing else is known (contract 1.6: sealed comes first).
        Err(fault) => match server.access.cluster() {
            Err(access::Failure::Sealed) => Err(access::Failure::Sealed.into()),
            _ => Err(fault),
        },
    }
}

/// Finds who answers, and says of which mount type the answer is.
fn route<'c>(server: &Server<'_>, call: &'c Call<'_>) -> (&'c str, Answer) {
    if let (None, Some(path)) = (&call.admission.mount, cubbyhole_paths::below(call.path)) {
        let answer = cubbyhole::handle(server.access, call, path);
        return (cubbyhole_paths::MOUNT_TYPE, answer);
    }
    match &call.admission.mount {
        Some(mount) => {
            let answer = match mount.mount_type.as_str() {
                "gcp" => auth_method::handle(server, call, mount),
                "token" => tokens::handle(server, call),
                _ => Err(Fault::unsupported_path()),
            };
            (&mount.mount_type, answer)
        }
        None => match call.path.split_once('/') {
            Some(("sys", rest)) => ("system", system::handle(server, call, rest)),
            Some(("identity", "oidc/config")) => {
                ("identity", oidc::handle(server.auth_method, call))
            }
            Some(("identity", rest)) => ("identity", identity::handle(server.access, call, rest)),
            _ => ("", Err(Fault::no_handler(call.path))),
        },
    }
}
