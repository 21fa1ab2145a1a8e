//! The admission of a request by access, with the request's parameters where a policy needs them (contract 5.6).

use gatehouse_access_api::{self as access, Access, Admission, AdmissionError, Parameter};
use serde::Serialize;

use crate::query;

/// Admits `asked`.
///
/// Few policies look at parameters, so they are read and handed over only when access asks for them.
///
/// # Errors
///
/// As [`Access::admit`].
pub(crate) fn admit(
    access: &(impl Access + ?Sized),
    asked: &access::Request,
    parameters: impl FnOnce() -> Vec<Parameter>,
) -> Result<Admission, AdmissionError> {
    match access.admit(asked) {
        Err(AdmissionError::ParametersNeeded) => {
            let mut asked = asked.clone();
            asked.parameters = Some(parameters());
            access.admit(&asked)
        }
        decided => decided,
    }
}

/// The fields of a query as policies see them; a repeated field is a list.
pub(crate) fn parameters_of_query(text: &str) -> impl Iterator<Item = Parameter> {
    let fields = query::gathered(text).into_iter();
    fields.map(|(name, values)| match values.as_slice() {
        [value] => parameter(&name, value),
        values => parameter(&name, values),
    })
}

/// A field of a request as policies see it.
pub(crate) fn parameter(name: &str, value: &(impl Serialize + ?Sized)) -> Parameter {
    Parameter {
        name: name.to_owned(),
        // An empty text is not JSON. A rule that looks at the parameter denies it.
        value: serde_json::to_string(value).unwrap_or_default(),
    }
}
