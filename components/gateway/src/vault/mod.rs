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
mod leases;
mod metrics;
mod monitor;
mod mounts;
mod name_normalization;
mod oidc;
mod openapi;
mod operation;
mod paging;
mod place;
mod plugins;
mod policies;
mod route;
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
pub(crate) use auth_method::rotation;
pub use errors::error_response;
pub(crate) use errors::{not_found, without_content};
pub(crate) use fields::Verbatim;
pub(crate) use monitor::{Place as LogPlace, resume as resume_log};
pub(crate) use routes::is_unrecorded;
pub(crate) use server::Server;
pub(crate) use timestamp::timestamp;

use std::borrow::Cow;
use std::cell::Cell;

use gatehouse_access_api::{self as access, Access, Admission, Operation, Refusal, duration};
use gatehouse_auth_method_api::AuthMethod;

use self::call::{Call, Unadmitted};
use self::errors::{Audience, Fault};
use self::route::{Handler, Needs, Route};
use self::routes::Selected;
use crate::audit::Trail;
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
    let located = routes::locate(&below, &admission);
    let selected = located
        .as_ref()
        .and_then(|located| located.family.select(located.below, operation));
    if path.has_trailing_slash() && !may_end_in_slash(operation, selected.as_ref()) {
        return Err(Fault::unsupported_path());
    }
    if operation == Operation::Help {
        return openapi::help(located.as_ref());
    }
    // At the very top there is nothing.
    let is_nowhere = located.as_ref().is_none_or(|it| it.below.is_empty());
    let (Some(located), Some(selected)) = (located, selected) else {
        return Err(match &admission.mount {
            None if is_nowhere => Fault::no_handler(&below),
            _ => Fault::unsupported_path(),
        });
    };
    let handler = selected.handler();
    let call = Call {
        server,
        request,
        operation: settled(operation, selected.route, &admission)?,
        path: &below,
        takes: selected.operation.map_or(&[], |it| match operation {
            Operation::Read | Operation::List => it.query,
            _ => it.body,
        }),
        captured: selected.captured,
        token,
        wrap_ttl,
        admission: &admission,
        request_id: trail.request_id(),
    };
    if call.wrap_ttl.is_some() && selected.route.answers_documents() {
        // A policy may let pass only who asks for a wrapped answer; it would get one that is not.
        let text = "documents cannot be wrapped: ask without X-Vault-Wrap-TTL";
        return Err(Fault::plain(400, text));
    }
    let answer = match handler {
        Some(Handler::Envelope(run)) => run(&call),
        Some(Handler::Document(run)) => return run(&call),
        Some(Handler::Description) => return openapi::response(&call),
        Some(Handler::Unadmitted(_)) | None => Err(Fault::unsupported_operation()),
    };
    let answer = match &admission.mount {
        Some(mount) if call.is_of_auth_method() => {
            answer.map_err(|fault| fault.concerning(&format!("auth/{}", mount.path)))
        }
        _ => answer,
    };
    match answer? {
        Some(reply) => {
            let reply = reply.warned(ignored_fields::warnings(&call)?);
            wrapping::deliver(&call, &reply, located.family.mount_type)
        }
        None => Ok(errors::without_content(204)),
    }
}

/// The operation of a request for `route`. Only some routes tell creating from updating: before the mount was known the path may have
/// looked like one of theirs.
fn settled(operation: Operation, route: &Route, admission: &Admission) -> Result<Operation, Fault> {
    match operation {
        Operation::CreateOrUpdate if route.creates => Ok(operation),
        Operation::CreateOrUpdate if route.needs == Needs::Nothing || admission.write.update => {
            Ok(Operation::Update)
        }
        Operation::CreateOrUpdate => Err(Fault::denied()),
        operation => Ok(operation),
    }
}

/// Answers what asks for no policy, and is done without one; `None` for every other path.
fn serve_without_admission(
    server: &Server<'_>,
    request: &Request,
    path: &CanonicalPath,
    trail: &mut Trail<'_>,
) -> Option<Result<Response, Fault>> {
    let below = path.below("v1").filter(|_| !path.has_trailing_slash())?;
    let located = routes::locate_unmounted(below)?;
    let selected = located
        .family
        .select_unadmitted(located.below, request.method)?;
    let Some(Handler::Unadmitted(run)) = selected.handler() else {
        return None;
    };
    // A write is recorded before it is looked at.
    if matches!(request.method, Method::Post | Method::Put | Method::Delete) {
        if below == seal::UNSEAL_PATH
            && let Err(fault) = seal::limit(server, request)
        {
            trail.leave_out();
            return Some(Err(fault));
        }
        if let Err(failure) = trail.ask() {
            return Some(Err(failure.into()));
        }
    }
    let unadmitted = Unadmitted {
        server,
        request,
        root_token: Cell::new(None),
    };
    let answer = run(&unadmitted);
    if let Some(token) = unadmitted.root_token.take() {
        trail.made(token);
    }
    Some(answer)
}

/// Whether the path may have a slash at its end. It means a list, and few objects have one (SEC-A3).
fn may_end_in_slash(operation: Operation, selected: Option<&Selected>) -> bool {
    match operation {
        Operation::List | Operation::Help => true,
        Operation::Read | Operation::Delete => {
            selected.is_some_and(|selected| selected.route.may_end_in_slash)
        }
        _ => false,
    }
}

/// What a request says before access is asked who the caller is.
struct Checked<'p> {
    operation: Operation,
    /// For how many seconds the answer is to be wrapped.
    wrap_ttl: Option<u64>,
    /// The path below `v1/` as policies and routes see it.
    below: Cow<'p, str>,
}

/// Refuses what can be refused before access is asked who the caller is.
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
            below: name_normalization::folded(path.below("v1").unwrap_or_default())?,
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
