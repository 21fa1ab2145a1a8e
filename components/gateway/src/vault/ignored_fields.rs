//! Fields that were sent without effect, on paths whose handler reads no fields (contract 1.1, rule 2; 1.9).

use gatehouse_access_api::Operation;

use super::call::Call;
use super::errors::ApiError;
use super::field::PAGING;
use super::fields::Fields;
use crate::cubbyhole_paths;

/// The warnings, in the order of contract 1.9.
///
/// # Errors
///
/// When the query or the body has more fields than are allowed.
pub(super) fn warnings(call: &Call<'_>) -> Result<Vec<String>, ApiError> {
    match call.operation {
        // A secret has arbitrary fields, so none is unknown.
        Operation::Read if cubbyhole_paths::is_secret(call.path) => Ok(Vec::new()),
        Operation::Read | Operation::List if call.request.query.is_empty() => Ok(Vec::new()),
        Operation::Read | Operation::List => {
            let mut known = call.effective_field_names();
            if call.operation == Operation::List {
                known.extend(PAGING.iter().map(|field| field.name));
            }
            let fields = call.query_fields()?.expecting(known);
            let ignored = fields.ignored_warning();
            Ok(ignored.into_iter().chain(replaced(call, &fields)).collect())
        }
        // A handler that reads a body warns about its unknown fields; those of the auth method refuse them.
        Operation::Update if call.captured.is_empty() || call.is_of_auth_method() => Ok(Vec::new()),
        Operation::Update => Ok(replaced(call, &call.fields()?).collect()),
        _ => Ok(Vec::new()),
    }
}

/// The warnings about fields that the path gives as well.
fn replaced(call: &Call<'_>, fields: &Fields<'_>) -> impl Iterator<Item = String> {
    let captured = call.captured.iter();
    captured.filter_map(|captured| fields.replaced_warning(captured.name))
}
