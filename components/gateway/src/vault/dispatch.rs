//! The dispatch from the path of a request to the function in the table of routes.

use gatehouse_access_api::{Admission, Operation};

use super::call::{Call, Unadmitted};
use super::errors::{ApiError, without_content};
use super::route::{Handler, Needs, Route, Verb};
use super::routes::{self, Selected};
use super::server::Server;
use super::{ignored_fields, openapi, seal, wrapping};
use crate::audit::Trail;
use crate::http::{Request, Response};
use crate::path::CanonicalPath;

/// Answers a request that no policy applies to; `None` for every other path.
pub(super) fn unadmitted(
    server: &Server<'_>,
    request: &Request,
    path: &CanonicalPath,
    trail: &mut Trail<'_>,
) -> Option<Result<Response, ApiError>> {
    let below = path.below("v1").filter(|_| !path.has_trailing_slash())?;
    let located = routes::locate_unmounted(below)?;
    let selected = located
        .family
        .select_unadmitted(located.below, request.method)?;
    let Some(Handler::Unadmitted(run)) = selected.handler() else {
        return None;
    };
    trail.takes_route(located.path_of(selected.route));
    // A write is recorded before its body is read.
    let verb = selected.operation.map(|operation| operation.verb);
    if matches!(verb, Some(Verb::Post | Verb::Delete)) {
        if below == seal::UNSEAL_PATH
            && let Err(error) = seal::limit(server, request)
        {
            trail.leave_out();
            return Some(Err(error));
        }
        if let Err(failure) = trail.ask() {
            return Some(Err(failure.into()));
        }
    }
    let unadmitted = Unadmitted::new(server, request);
    let answer = run(&unadmitted);
    if let Some(token) = unadmitted.root_token.take() {
        trail.hides_root_token(token);
    }
    Some(answer)
}

/// Answers a request that access has admitted.
pub(super) fn admitted(
    mut call: Call<'_>,
    has_trailing_slash: bool,
    trail: &Trail<'_>,
) -> Result<Response, ApiError> {
    let located = routes::locate(call.path, call.admission);
    let selected = located
        .as_ref()
        .and_then(|located| located.family.select(located.below, call.operation));
    if let (Some(located), Some(selected)) = (&located, &selected) {
        trail.takes_route(located.path_of(selected.route));
    }
    if has_trailing_slash && !may_end_in_slash(call.operation, selected.as_ref()) {
        return Err(ApiError::unsupported_path());
    }
    if call.operation == Operation::Help {
        return openapi::help(located.as_ref());
    }
    // The root of a family has no route.
    let is_nowhere = located.as_ref().is_none_or(|it| it.below.is_empty());
    let (Some(located), Some(selected)) = (located, selected) else {
        return Err(match &call.admission.mount {
            None if is_nowhere => ApiError::no_handler(call.path),
            _ => ApiError::unsupported_path(),
        });
    };
    let handler = selected.handler();
    call.operation = settled(call.operation, selected.route, call.admission)?;
    call.captured = selected.captured;
    call.takes = selected.operation.map_or(&[], |it| match call.operation {
        Operation::Read | Operation::List => it.query,
        _ => it.body,
    });
    if call.wrap_ttl.is_some() && selected.route.answers_documents() {
        // A policy may admit only requests for a wrapped answer, and the answer would not be wrapped.
        let text = "documents cannot be wrapped: ask without X-Vault-Wrap-TTL";
        return Err(ApiError::plain(400, text));
    }
    let answer = match handler {
        Some(Handler::Envelope(run)) => run(&call),
        Some(Handler::Document(run)) => return run(&call),
        Some(Handler::Description) => return openapi::response(&call),
        Some(Handler::Unadmitted(_)) | None => Err(ApiError::unsupported_operation()),
    };
    let answer = match &call.admission.mount {
        Some(mount) if call.is_of_auth_method() => {
            answer.map_err(|error| error.concerning(&format!("auth/{}", mount.path)))
        }
        _ => answer,
    };
    match answer? {
        Some(reply) => {
            let reply = reply.warned(ignored_fields::warnings(&call)?);
            wrapping::deliver(&call, &reply, located.family.mount_type)
        }
        None => Ok(without_content(204)),
    }
}

/// True if the path may end in a slash. A slash means a list, and few objects have one in their paths (SEC-A3).
fn may_end_in_slash(operation: Operation, selected: Option<&Selected>) -> bool {
    match operation {
        Operation::List | Operation::Help => true,
        Operation::Read | Operation::Delete => {
            selected.is_some_and(|selected| selected.route.may_end_in_slash)
        }
        _ => false,
    }
}

/// The operation of a request for `route`. Only some routes distinguish creating from updating. Before the mount was known, the path may have looked
/// like one of theirs.
fn settled(
    operation: Operation,
    route: &Route,
    admission: &Admission,
) -> Result<Operation, ApiError> {
    match operation {
        Operation::CreateOrUpdate if route.creates => Ok(operation),
        Operation::CreateOrUpdate if route.needs == Needs::Nothing || admission.write.update => {
            Ok(Operation::Update)
        }
        Operation::CreateOrUpdate => Err(ApiError::denied()),
        operation => Ok(operation),
    }
}
