//! Asking access about a request, with its parameters where a policy wants to see them (contract 5.6).

use gatehouse_access::{self as access, Access, Admission, Refusal};

use super::fields::parameters;
use crate::http::Request;

/// Admits `asked`, which is `request` as access sees it.
///
/// Hardly any policy looks at parameters, so they are read and handed over only when access asks for them.
///
/// # Errors
///
/// As [`Access::admit`].
pub(super) fn admit(
    access: &impl Access,
    asked: &access::Request<'_>,
    request: &Request,
) -> Result<Admission, Refusal> {
    match access.admit(asked) {
        Err(Refusal::ParametersNeeded) => {
            let parameters = parameters(request, asked.operation);
            access.admit(&access::Request {
                parameters: Some(&parameters),
                ..*asked
            })
        }
        decided => decided,
    }
}
