//! From a policy's statements to its rules.

use super::constraints::{Constraints, Listed, add_listed};
use super::document::{PATH, Statement, Value, read};
use super::parameter::{ParameterValue, plain_number};
use super::rule::{CapabilitySet, Rule};
use super::template::has_templates;
use crate::api::duration::{self, SECOND};
use crate::api::{Capability, KeyPosition, MalformedDuration, PolicyError};

/// Restrictions that exist and are not enforced here. Accepting one silently would grant more than its author meant.
const UNSUPPORTED_KEYS: [&str; 2] = ["mfa_methods", "control_group"];

/// The rules of a policy text, in the order in which they stand.
///
/// # Errors
///
/// When the text does not parse, or holds what is unknown or not enforced.
pub(crate) fn compile(text: &str) -> Result<Vec<Rule>, PolicyError> {
    let mut rules = Vec::new();
    for statement in read(text)? {
        match statement.key.as_str() {
            PATH => rules.push(compile_rule(statement)?),
            "name" => match statement.value {
                Value::Text(_) | Value::Number(_) if statement.labels.is_empty() => {}
                _ => return Err(wrong_type("name")),
            },
            _ => return Err(invalid_key(statement)),
        }
    }
    Ok(rules)
}

fn invalid_key(statement: Statement) -> PolicyError {
    PolicyError::InvalidKey(KeyPosition {
        key: statement.key,
        line: statement.line,
    })
}

fn wrong_type(key: &str) -> PolicyError {
    PolicyError::WrongType(key.to_owned())
}

/// The statements in the block of one path. Of a key that takes one value the last one counts; those that take several add up.
#[derive(Default)]
struct Block {
    capabilities: Vec<Capability>,
    legacy: Vec<Capability>,
    constraints: Constraints,
}

fn compile_rule(statement: Statement) -> Result<Rule, PolicyError> {
    let mut labels = statement.labels.into_iter();
    // A block without a path of its own is the one of the path `path`, as the reference has it.
    let path = labels.next().unwrap_or(statement.key);
    if labels.next().is_some() {
        let line = statement.line;
        return Err(PolicyError::Syntax(format!(
            "line {line}: a block has one path: write a block for each"
        )));
    }
    let Value::Statements(statements) = statement.value else {
        return Err(wrong_type(PATH));
    };
    let mut block = Block::default();
    for statement in statements {
        block.read(statement)?;
    }
    block.into_rule(&path)
}

impl Block {
    fn read(&mut self, statement: Statement) -> Result<(), PolicyError> {
        let key = statement.key.as_str();
        let constraints = &mut self.constraints;
        if UNSUPPORTED_KEYS.contains(&key) {
            return Err(PolicyError::UnsupportedKey(statement.key));
        }
        let is_known = matches!(
            key,
            "capabilities"
                | "policy"
                | "comment"
                | "allowed_parameters"
                | "denied_parameters"
                | "required_parameters"
                | "min_wrapping_ttl"
                | "max_wrapping_ttl"
        );
        if !is_known {
            return Err(invalid_key(statement));
        }
        if !statement.labels.is_empty() {
            return Err(wrong_type(key));
        }
        match key {
            "capabilities" => self.capabilities.extend(capabilities(&statement.value)?),
            "policy" => self.legacy = legacy(&statement.value)?,
            "allowed_parameters" => {
                list_parameters(key, statement.value, &mut constraints.allowed)?
            }
            "denied_parameters" => list_parameters(key, statement.value, &mut constraints.denied)?,
            "required_parameters" => {
                let names = texts(key, &statement.value)?.into_iter();
                let names = names.map(|name| name.to_lowercase());
                constraints.required.extend(names);
            }
            "min_wrapping_ttl" => {
                let nanoseconds = wrapping_limit(key, &statement.value)?;
                constraints.min_wrapping_ttl = nanoseconds.map(|it| it.div_ceil(SECOND as u64));
            }
            "max_wrapping_ttl" => {
                let nanoseconds = wrapping_limit(key, &statement.value)?;
                constraints.max_wrapping_ttl = nanoseconds.map(|it| it / SECOND as u64);
            }
            _ => {}
        }
        Ok(())
    }

    fn into_rule(self, path: &str) -> Result<Rule, PolicyError> {
        let limits = (
            self.constraints.min_wrapping_ttl,
            self.constraints.max_wrapping_ttl,
        );
        if let (Some(min), Some(max)) = limits
            && max < min
        {
            return Err(PolicyError::WrappingLimits);
        }
        let written = path.strip_prefix('/').unwrap_or(path);
        if written.contains("+*") {
            return Err(PolicyError::InvalidWildcard(path.to_owned()));
        }
        let (pattern, prefix) = match written.strip_suffix('*') {
            Some(pattern) => (pattern, true),
            None => (written, false),
        };
        let template =
            has_templates(pattern).ok_or_else(|| PolicyError::InvalidTemplate(path.to_owned()))?;
        let granted = self.capabilities.into_iter().chain(self.legacy);
        let granted: CapabilitySet = granted.collect();
        // Nothing is left to be demanded of a caller that is denied.
        let constrained =
            !granted.contains(Capability::Deny) && self.constraints != Constraints::default();
        Ok(Rule {
            pattern: pattern.to_owned(),
            prefix,
            template,
            capabilities: granted,
            constraints: constrained.then(|| Box::new(self.constraints)),
        })
    }
}

/// The elements of a list of texts; a number stands for its digits.
fn texts<'v>(key: &str, value: &'v Value) -> Result<Vec<&'v str>, PolicyError> {
    let Value::List(values) = value else {
        return Err(wrong_type(key));
    };
    values
        .iter()
        .map(|value| match value {
            Value::Text(text) | Value::Number(text) => Ok(text.as_str()),
            _ => Err(wrong_type(key)),
        })
        .collect()
}

fn capabilities(value: &Value) -> Result<Vec<Capability>, PolicyError> {
    texts("capabilities", value)?
        .into_iter()
        .map(|name| capability(name).ok_or_else(|| PolicyError::InvalidCapability(name.to_owned())))
        .collect()
}

fn capability(name: &str) -> Option<Capability> {
    match name {
        "create" => Some(Capability::Create),
        "read" => Some(Capability::Read),
        "update" => Some(Capability::Update),
        "delete" => Some(Capability::Delete),
        "list" => Some(Capability::List),
        "patch" => Some(Capability::Patch),
        "sudo" => Some(Capability::Sudo),
        "deny" => Some(Capability::Deny),
        _ => None,
    }
}

/// The old key `policy`, one word for several capabilities.
fn legacy(value: &Value) -> Result<Vec<Capability>, PolicyError> {
    use Capability::{Create, Delete, Deny, List, Read, Sudo, Update};

    let (Value::Text(word) | Value::Number(word)) = value else {
        return Err(wrong_type("policy"));
    };
    match word.as_str() {
        "" => Ok(Vec::new()),
        "deny" => Ok(vec![Deny]),
        "read" => Ok(vec![Read, List]),
        "write" => Ok(vec![Create, Read, Update, Delete, List]),
        "sudo" => Ok(vec![Create, Read, Update, Delete, List, Sudo]),
        _ => Err(PolicyError::InvalidLegacyPolicy(word.clone())),
    }
}

/// Adds an object of lists; an object in the place of a list is its one element.
fn list_parameters(key: &str, value: Value, all: &mut Listed) -> Result<(), PolicyError> {
    let Value::Statements(parameters) = value else {
        return Err(wrong_type(key));
    };
    for parameter in parameters {
        let values = match parameter.value {
            Value::List(values) => values,
            object @ Value::Statements(_) => vec![object],
            _ => return Err(wrong_type(key)),
        };
        if !parameter.labels.is_empty() {
            return Err(wrong_type(key));
        }
        let values = values.into_iter().map(ParameterValue::from).collect();
        add_listed(all, parameter.key.to_lowercase(), values);
    }
    Ok(())
}

/// Nanoseconds of a limit on wrapping; `None` for 0, which is no limit.
fn wrapping_limit(key: &str, value: &Value) -> Result<Option<u64>, PolicyError> {
    let refused = |reason: String| {
        PolicyError::InvalidDuration(MalformedDuration {
            key: key.to_owned(),
            reason,
        })
    };
    let nanoseconds = match value {
        Value::Null => Ok(0),
        Value::Text(text) => duration::nanoseconds(text),
        Value::Number(digits) => match plain_number(digits.clone()) {
            number if number.contains('.') => duration::nanoseconds(&(number + "s")),
            number => duration::nanoseconds(&number),
        },
        _ => return Err(refused("could not parse duration from input".to_owned())),
    };
    match nanoseconds.map(u64::try_from) {
        Ok(Ok(0)) => Ok(None),
        Ok(Ok(nanoseconds)) => Ok(Some(nanoseconds)),
        Ok(Err(_)) => Err(refused("the limit is negative".to_owned())),
        Err(error) => Err(refused(error.to_string())),
    }
}

#[cfg(test)]
mod tests;
