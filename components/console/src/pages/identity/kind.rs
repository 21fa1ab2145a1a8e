//! The two kinds of identity objects.

use serde_json::Value;

use crate::api::{ApiError, at, encoded};
use crate::pages::Visit;

/// The two kinds of identity objects.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Entity,
    Group,
}

impl Kind {
    /// The kind that a form or a query names.
    pub(super) fn named(name: &str) -> Self {
        match name {
            "group" => Self::Group,
            _ => Self::Entity,
        }
    }

    /// The name of the kind in the addresses of pages and of the API.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Entity => "entity",
            Self::Group => "group",
        }
    }

    /// The address of the page of the object of that name.
    pub(super) fn address(self, name: &str) -> String {
        format!("/ui/identity/{}?name={}", self.name(), encoded(name))
    }

    /// The path in the API of the object of that name.
    pub(super) fn path_of_name(self, name: &str) -> String {
        format!("/v1/identity/{}/name/{}", self.name(), encoded(name))
    }

    /// The object of that name.
    ///
    /// # Errors
    ///
    /// When the answer is not a success.
    pub(super) fn read(self, visit: &Visit<'_>, name: &str) -> Result<Value, ApiError> {
        let mut answer = visit.api.read(&self.path_of_name(name))?;
        Ok(answer.get_mut("data").map(Value::take).unwrap_or_default())
    }
}

/// The identifier of the object of that name.
///
/// # Errors
///
/// When the answer is not a success.
pub(super) fn id_of(visit: &Visit<'_>, kind: Kind, name: &str) -> Result<String, ApiError> {
    Ok(at(&kind.read(visit, name)?, "/id"))
}
