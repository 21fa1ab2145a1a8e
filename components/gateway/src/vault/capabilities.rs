//! `sys/capabilities`, `-self` and `-accessor`: the capabilities of a token at some paths (contract 5.6).

use std::borrow::Cow;

use gatehouse_access_api::{Capability, LookupError, TokenReference};
use serde_json::{Map, Value};

use super::call::{Answer, Call};
use super::envelope::Reply;
use super::errors::ApiError;
use super::fields::Fields;
use super::name_normalization;

/// The maximum number of paths in one request: each is compared with every rule of the token.
const MAXIMUM_PATHS: usize = 1000;

/// `sys/capabilities-self`
pub(super) fn of_caller(call: &Call<'_>) -> Answer {
    let fields = call.fields()?;
    let reference = TokenReference::Id(call.caller_token()?.into());
    capabilities(call, &fields, &reference, "invalid token")
}

/// `sys/capabilities`
pub(super) fn of_token(call: &Call<'_>) -> Answer {
    let fields = call.fields()?;
    let reference = TokenReference::Id(fields.string("token")?.unwrap_or_default());
    capabilities(call, &fields, &reference, "invalid token")
}

/// `sys/capabilities-accessor`
pub(super) fn of_accessor(call: &Call<'_>) -> Answer {
    let fields = call.fields()?;
    let accessor = fields.string("accessor")?.unwrap_or_default();
    if accessor.is_empty() {
        return Err(ApiError::plain(400, "missing accessor"));
    }
    let reference = TokenReference::Accessor(accessor);
    capabilities(call, &fields, &reference, "invalid accessor")
}

fn capabilities(
    call: &Call<'_>,
    fields: &Fields<'_>,
    reference: &TokenReference,
    unknown: &str,
) -> Answer {
    let mut paths = fields.list("paths")?.unwrap_or_default();
    if paths.is_empty() {
        paths = fields.list("path")?.unwrap_or_default();
    }
    if paths.is_empty() {
        return Err(ApiError::plain(400, "paths must be supplied"));
    }
    if paths.len() > MAXIMUM_PATHS {
        let text = format!("at most {MAXIMUM_PATHS} paths at once");
        return Err(ApiError::plain(400, text));
    }
    if paths.iter().any(String::is_empty) {
        return Err(ApiError::listed(400, "missing path"));
    }
    let folded: Vec<String> = paths
        .iter()
        .map(|path| path.strip_prefix('/').unwrap_or(path))
        .map(|path| name_normalization::folded(path).map(Cow::into_owned))
        .collect::<Result<_, _>>()?;
    let access = call.server.access;
    let found = access
        .capabilities(reference, &folded)
        .map_err(|error| match error {
            LookupError::UnknownToken => ApiError::listed(400, unknown),
            LookupError::Failure(failure) => failure.into(),
        })?;
    let mut data: Map<String, Value> = paths
        .into_iter()
        .zip(found.iter().map(|capabilities| sorted_names(capabilities)))
        .collect();
    if let [only] = found.as_slice() {
        data.insert("capabilities".to_owned(), sorted_names(only));
    }
    Ok(Some(Reply::copied(data).warned(fields.ignored_warning())))
}

/// The names of `capabilities` for clients, in the order given.
pub(super) fn names(capabilities: &[Capability]) -> Value {
    capabilities.iter().map(name).collect()
}

/// The same in alphabetical order.
fn sorted_names(capabilities: &[Capability]) -> Value {
    let mut names: Vec<&str> = capabilities.iter().map(name).collect();
    names.sort_unstable();
    names.into_iter().collect()
}

const fn name(capability: &Capability) -> &'static str {
    match capability {
        Capability::Root => "root",
        Capability::Deny => "deny",
        Capability::Sudo => "sudo",
        Capability::Read => "read",
        Capability::List => "list",
        Capability::Update => "update",
        Capability::Delete => "delete",
        Capability::Create => "create",
        Capability::Patch => "patch",
    }
}
