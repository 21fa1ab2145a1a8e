//! The checks before each part of an answer in parts: the request and the rights of the caller.

use gatehouse_access_api::{self as access, AdmissionError, Capability, Operation, TokenReference};

use super::{fields, headers, operation};
use crate::parts::ResumeError;
use crate::path::CanonicalPath;
use crate::vault::server::Server;
use crate::{Request, admission};

/// Makes sure that an answer at `path`, below `v1/`, belongs to this request.
///
/// # Errors
///
/// [`ResumeError::Foreign`] when it does not.
pub(super) fn check(request: &Request, path: &str) -> Result<(), ResumeError> {
    let asked_path = CanonicalPath::parse(&request.path).map_err(|_| ResumeError::Foreign)?;
    let asked = operation::requested(request, &asked_path).map_err(|_| ResumeError::Foreign)?;
    if asked_path.below("v1") != Some(path) || asked != Operation::Read {
        return Err(ResumeError::Foreign);
    }
    Ok(())
}

/// True if the caller may still read `path`, which needs `sudo`. A token with limited uses is looked up without a use.
pub(super) fn may_go_on(
    server: &Server<'_>,
    request: &Request,
    path: &str,
) -> Result<bool, access::ServiceError> {
    let Some(token) = headers::token(request) else {
        return Ok(false);
    };
    let reference = &TokenReference::Id(token.into());
    let view = match server.access.lookup_token(reference) {
        Ok(view) => view,
        Err(access::LookupError::UnknownToken) => return Ok(false),
        Err(access::LookupError::Failure(failure)) => return Err(failure),
    };
    if view.num_uses > 0 {
        return permits_without_conditions(server, reference, path);
    }
    let asked = access::Request {
        token: Some(token.into()),
        operation: Operation::Read,
        path: path.into(),
        source_address: request.peer,
        wrap_ttl: None,
        parameters: None,
    };
    let admitted = admission::admit(server.access, &asked, || {
        fields::parameters(request, Operation::Read)
    });
    match admitted {
        Ok(_) => Ok(true),
        Err(AdmissionError::Failure(failure)) => Err(failure),
        Err(_) => Ok(false),
    }
}

/// True if a token may read `path`, which needs `sudo`, regardless of the request's parameters.
pub(super) fn permits_without_conditions(
    server: &Server<'_>,
    token: &TokenReference,
    path: &str,
) -> Result<bool, access::ServiceError> {
    let paths = [path.to_owned()];
    match server.access.unconditional_capabilities(token, &paths) {
        Ok(found) => Ok(found.iter().any(|found| permits(found))),
        Err(access::LookupError::UnknownToken) => Ok(false),
        Err(access::LookupError::Failure(failure)) => Err(failure),
    }
}

fn permits(capabilities: &[Capability]) -> bool {
    let has = |wanted| capabilities.contains(&wanted);
    has(Capability::Root) || has(Capability::Read) && has(Capability::Sudo)
}
