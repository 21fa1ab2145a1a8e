//! Asking access about a request, with its parameters where a policy wants to see them (contract 5.6).

use gatehouse_access_api::{self as access, Access, Admission, Parameter, Refusal};

/// Admits `asked`.
///
/// Hardly any policy looks at parameters, so they are read and handed over only when access asks for them.
///
/// # Errors
///
/// As [`Access::admit`].
pub(crate) fn admit(
    access: &(impl Access + ?Sized),
    asked: &access::Request,
    parameters: impl FnOnce() -> Vec<Parameter>,
) -> Result<Admission, Refusal> {
    match access.admit(asked) {
        Err(Refusal::ParametersNeeded) => {
            let mut asked = asked.clone();
            asked.parameters = Some(parameters());
            access.admit(&asked)
        }
        decided => decided,
    }
}
