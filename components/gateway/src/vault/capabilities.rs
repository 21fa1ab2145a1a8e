//! `sys/capabilities`, `-self` and `-accessor`: what a token may do on some paths (contract 5.6).

use std::borrow::Cow;

use gatehouse_access_api::{Access, Capability, LookupError, Operation, TokenReference};
use serde_json::{Map, Value};

use super::call::{Answer, Call, ignored_fields};
use super::envelope::Reply;
use super::errors::Fault;
use super::spelling;

pub(in crate::vault) const FIELDS: [&str; 4] = ["path", "paths", "token", "accessor"];

/// Most paths of one request: each is held against every rule of the token.
const MAXIMUM_PATHS: usize = 1000;

/// Answers one of the three routes; `family` is its name.
pub(super) fn handle(access: &dyn Access, call: &Call<'_>, family: &str) -> Answer {
    if call.operation != Operation::Update {
        return Err(Fault::unsupported_operation());
    }
    let fields = call.fields()?;
    let named = match family {
        "capabilities-self" => None,
        "capabilities" => Some(fields.string("token")?.unwrap_or_default()),
        _ => Some(
            fields
                .string("accessor")?
                .filter(|accessor| !accessor.is_empty())
                .ok_or_else(|| Fault::plain(400, "missing accessor"))?,
        ),
    };
    let reference = match (&named, family) {
        (None, _) => &TokenReference::Id(call.caller_token()?.into()),
        (Some(token), "capabilities") => &TokenReference::Id(token.into()),
        (Some(accessor), _) => &TokenReference::Accessor(accessor.into()),
    };
    if family == "capabilities-accessor" && named.as_deref() == Some("") {
        return Err(Fault::plain(400, "missing accessor"));
    }
    let mut paths = fields.list("paths")?.unwrap_or_default();
    if paths.is_empty() {
        paths = fields.list("path")?.unwrap_or_default();
    }
    if paths.is_empty() {
        return Err(Fault::plain(400, "paths must be supplied"));
    }
    if paths.len() > MAXIMUM_PATHS {
        let text = format!("at most {MAXIMUM_PATHS} paths at once");
        return Err(Fault::plain(400, text));
    }
    if paths.iter().any(String::is_empty) {
        return Err(Fault::listed(400, "missing path"));
    }
    let folded: Vec<String> = paths
        .iter()
        .map(|path| path.strip_prefix('/').unwrap_or(path))
        .map(|path| spelling::folded(path).map(Cow::into_owned))
        .collect::<Result<_, _>>()?;
    let found = access
        .capabilities(reference, &folded)
        .map_err(|error| match error {
            LookupError::UnknownToken if family == "capabilities-accessor" => {
                Fault::listed(400, "invalid accessor")
            }
            LookupError::UnknownToken => Fault::listed(400, "invalid token"),
            LookupError::Failure(failure) => failure.into(),
        })?;
    let mut data: Map<String, Value> = paths
        .into_iter()
        .zip(found.iter().map(|capabilities| sorted_names(capabilities)))
        .collect();
    if let [only] = found.as_slice() {
        data.insert("capabilities".to_owned(), sorted_names(only));
    }
    Ok(Some(
        Reply::copied(data).warned(ignored_fields(&fields, &FIELDS)),
    ))
}

/// What clients call `capabilities`, in the order given.
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
