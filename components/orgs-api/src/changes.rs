//! Changes of fields that requests ask for, and their faults.

use gatehouse_storage::wraps_failure;

use crate::{AttributeIssue, Fault, RightChange, ServiceError};

/// A change of one field, as a request asks for it.
///
/// The reader of the request tells apart what the wire tells apart, and leaves the judgement to the capability, so that one answer can name
/// every fault.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Attribute<T> {
    /// Nothing: the field keeps its value, or gets its default.
    #[default]
    Absent,
    /// Null: the field is reset, where that is possible.
    Null,
    /// Something of another type than the field has. Always a fault, unless the edition ignores the field.
    WrongType,
    /// This value.
    Value(T),
}

/// See [`Attribute`]: of a text.
pub type TextChange = Attribute<String>;

/// See [`Attribute`]: of a whole number.
pub type NumberChange = Attribute<i64>;

/// See [`Attribute`]: of what is true or false.
pub type FlagChange = Attribute<bool>;

/// See [`Attribute`]: of a list of texts.
pub type TextsChange = Attribute<Vec<String>>;

/// See [`Attribute`]: of what a team may do.
pub type RightsChange = Attribute<Vec<RightChange>>;

impl AttributeIssue {
    /// An attribute of this name that has this fault.
    #[must_use]
    pub fn new(attribute: &str, fault: Fault) -> Self {
        Self {
            attribute: attribute.to_owned(),
            fault,
        }
    }
}

/// Why something was not changed. Nothing is stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// There is no such organization.
    #[error("there is no such organization")]
    NotFound,
    /// At least one attribute is invalid.
    #[error("{} attributes are not valid", .0.len())]
    Invalid(Vec<AttributeIssue>),
    /// A failure that is not about the request.
    #[error(transparent)]
    Failed(#[from] ServiceError),
}

wraps_failure!(ServiceError: ChangeError);
