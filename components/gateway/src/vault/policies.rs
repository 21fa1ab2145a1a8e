//! Policies under `sys/policies/acl`, and under `sys/policy` for older clients (contract 5.6).

use gatehouse_access_api::{Access, Operation, PolicyError};
use serde::Serialize;
use serde_json::{Map, Value};

use super::call::{Answer, Call};
use super::envelope::Reply;
use super::errors::Fault;

#[derive(Serialize)]
struct Keys {
    keys: Vec<String>,
}

#[derive(Serialize)]
struct Policy<'a> {
    name: &'a str,
    policy: &'a str,
}

/// `sys/policies/acl`
pub(super) fn names(access: &dyn Access, operation: Operation) -> Answer {
    match operation {
        Operation::List => {
            let keys = access.list_policies()?;
            Reply::data(&Keys { keys }).map(Some)
        }
        _ => Err(Fault::unsupported_operation()),
    }
}

/// `sys/policies/acl/<name>`
pub(super) fn handle(access: &dyn Access, call: &Call<'_>, name: &str) -> Answer {
    match call.operation {
        Operation::Read => {
            let found = access.read_policy(name)?.ok_or_else(Fault::absent)?;
            let data = Policy {
                name: &found.name,
                policy: &found.text,
            };
            Reply::data(&data).map(Some)
        }
        Operation::Update => write(access, call, name),
        Operation::Delete => delete(access, name),
        _ => Err(Fault::unsupported_operation()),
    }
}

/// `sys/policy`
pub(super) fn old_names(access: &dyn Access, operation: Operation) -> Answer {
    match operation {
        Operation::Read | Operation::List => {
            let names = access.list_policies()?;
            let names: Value = names.into_iter().map(Value::String).collect();
            let data = Map::from_iter([
                ("keys".to_owned(), names.clone()),
                ("policies".to_owned(), names),
            ]);
            Ok(Some(Reply::copied(data)))
        }
        _ => Err(Fault::unsupported_operation()),
    }
}

/// `sys/policy/<name>`
pub(super) fn handle_old(access: &dyn Access, call: &Call<'_>, name: &str) -> Answer {
    match call.operation {
        Operation::Read => {
            let found = access.read_policy(name)?.ok_or_else(Fault::absent)?;
            let data = Map::from_iter([
                ("name".to_owned(), Value::String(found.name)),
                ("rules".to_owned(), Value::String(found.text)),
            ]);
            Ok(Some(Reply::copied(data)))
        }
        Operation::Update => write(access, call, name),
        Operation::Delete => delete(access, name),
        _ => Err(Fault::unsupported_operation()),
    }
}

fn write(access: &dyn Access, call: &Call<'_>, name: &str) -> Answer {
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
    access.write_policy(name, &text).map_err(fault)?;
    Ok((!warnings.is_empty()).then(|| Reply::empty().warned(warnings)))
}

fn delete(access: &dyn Access, name: &str) -> Answer {
    access.delete_policy(name).map_err(fault)?;
    Ok(None)
}

fn fault(error: PolicyError) -> Fault {
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
    Fault::plain(400, text)
}
