//! Policies under `sys/policies/acl`, and under `sys/policy` for older clients (contract 5.6).

use gatehouse_access_api::{self as access, KeyPage, PolicyError};
use serde::Serialize;
use serde_json::{Map, Value};

use super::call::{Answer, Call};
use super::envelope::Reply;
use super::errors::ApiError;
use super::paging::Paging;

/// The policy that comes after the sorted ones.
const LAST: &str = "root";

#[derive(Serialize)]
struct Policy<'a> {
    name: &'a str,
    policy: &'a str,
}

/// LIST `sys/policies/acl`
pub(super) fn list(call: &Call<'_>) -> Answer {
    let paging = Paging::from_query(call)?;
    let page = part_of_names(call, &paging)?;
    paging.reply(&page)
}

/// GET `sys/policies/acl/<name>`
pub(super) fn read(call: &Call<'_>) -> Answer {
    let found = existing_policy(call)?;
    let data = Policy {
        name: &found.name,
        policy: &found.text,
    };
    Reply::data(&data).map(Some)
}

/// GET and LIST `sys/policy`
pub(super) fn list_for_old_clients(call: &Call<'_>) -> Answer {
    let paging = Paging::from_query(call)?;
    let page = part_of_names(call, &paging)?;
    let names: Value = page.keys.into_iter().map(Value::String).collect();
    let data = Map::from_iter([
        ("keys".to_owned(), names.clone()),
        ("policies".to_owned(), names),
    ]);
    let warnings = paging.warnings(page.next.as_deref());
    Ok(Some(Reply::copied(data).warned(warnings)))
}

/// The names of the policies in the requested part of the list, sorted, with `root` at the end.
fn part_of_names(call: &Call<'_>, paging: &Paging) -> Result<KeyPage, ApiError> {
    let names = call.server.access.list_policies()?;
    Ok(paging.part_of(names, |name| (name == LAST, name.to_owned())))
}

/// GET `sys/policy/<name>`
pub(super) fn read_for_old_clients(call: &Call<'_>) -> Answer {
    let found = existing_policy(call)?;
    let data = Map::from_iter([
        ("name".to_owned(), Value::String(found.name)),
        ("rules".to_owned(), Value::String(found.text)),
    ]);
    Ok(Some(Reply::copied(data)))
}

fn existing_policy(call: &Call<'_>) -> Result<access::Policy, ApiError> {
    let found = call.server.access.read_policy(call.captured("name")?)?;
    found.ok_or_else(ApiError::absent)
}

/// POST `sys/policies/acl/<name>`, `sys/policy/<name>`
pub(super) fn write(call: &Call<'_>) -> Answer {
    let name = call.captured("name")?;
    let fields = call.fields()?;
    let mut warnings = Vec::new();
    if !call.has_sent(name) {
        warnings.push(format!("policy name was converted to {name}"));
    }
    let text = match fields.string("policy")?.filter(|text| !text.is_empty()) {
        Some(text) => text,
        None => {
            let text = fields.string("rules")?.unwrap_or_default();
            warnings.push("'rules' is deprecated, please use 'policy' instead".to_owned());
            text
        }
    };
    call.server
        .access
        .write_policy(name, &text)
        .map_err(api_error)?;
    Ok((!warnings.is_empty()).then(|| Reply::empty().warned(warnings)))
}

/// DELETE `sys/policies/acl/<name>`, `sys/policy/<name>`
pub(super) fn delete(call: &Call<'_>) -> Answer {
    let access = call.server.access;
    access
        .delete_policy(call.captured("name")?)
        .map_err(api_error)?;
    Ok(None)
}

fn api_error(error: PolicyError) -> ApiError {
    let text = match error {
        PolicyError::Failure(failure) => return failure.into(),
        PolicyError::Empty => "'policy' parameter not supplied or empty".to_owned(),
        PolicyError::InvalidName
        | PolicyError::TooLong
        | PolicyError::CannotUpdate(_)
        | PolicyError::CannotDelete(_)
        | PolicyError::CannotDeleteDefault => error.to_string(),
        PolicyError::Syntax(_)
        | PolicyError::InvalidKey(_)
        | PolicyError::InvalidCapability(_)
        | PolicyError::InvalidLegacyPolicy(_)
        | PolicyError::InvalidWildcard(_)
        | PolicyError::WrongType(_)
        | PolicyError::InvalidTemplate(_)
        | PolicyError::InvalidDuration(_)
        | PolicyError::WrappingLimits
        | PolicyError::UnsupportedKey(_) => format!("failed to parse policy: {error}"),
    };
    ApiError::plain(400, text)
}
