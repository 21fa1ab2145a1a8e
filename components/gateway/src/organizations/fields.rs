//! The texts of errors about fields (contract 2.7 to 2.9).

use std::borrow::Cow;

use gatehouse_orgs_api::{AttributeIssue, Fault};

use super::attribute_error::AttributeError;

/// The pointer and the text of a fault of an attribute, except those of organizations.
pub(super) fn attribute_error(issue: &AttributeIssue) -> AttributeError {
    AttributeError::attribute(&issue.attribute, &predicate(issue.fault))
}

/// The same for a relationship.
pub(super) fn relationship_fault(issue: &AttributeIssue) -> AttributeError {
    AttributeError::relationship(&issue.attribute, &predicate(issue.fault))
}

/// The predicate of the sentence about a field with this fault.
pub(super) fn predicate(fault: Fault) -> Cow<'static, str> {
    Cow::Borrowed(match fault {
        Fault::Blank => "can't be blank",
        Fault::ForbiddenCharacter => "can only include letters, numbers, -, and _.",
        Fault::TooLong(maximum) => {
            return Cow::Owned(format!("is too long (maximum is {maximum} characters)"));
        }
        Fault::Taken => "has already been taken",
        Fault::NotAnAddress | Fault::UnknownPool | Fault::UnknownTeam | Fault::UnknownEntity => {
            "is invalid"
        }
        Fault::NotIncluded => "is not included in the list",
        Fault::NotText => "must be a string",
        Fault::NotInteger => "is not a number",
        Fault::NotBoolean => "must be true or false",
        Fault::NotObject => "must be an object",
        Fault::NotPositive => "must be greater than 0",
        Fault::Negative => "must be greater than or equal to 0",
        Fault::TooLarge(maximum) => {
            return Cow::Owned(format!("must be less than or equal to {maximum}"));
        }
        Fault::PoolRequired => "must be specified when using 'agent' execution mode",
        Fault::PoolWithoutAgentMode => "must not be specified unless using 'agent' execution mode",
        Fault::PoolsDiffer => "must be the same as the relationship's",
        Fault::ExcludedByPassingStatuses => {
            "can't be used when send passing statuses for untriggered speculative plans is enabled"
        }
        Fault::KeyRequired => "requires a primary key configuration",
        Fault::NotTimestamp => "is not a valid timestamp",
        Fault::LifetimeExceeded => "exceeds the maximum allowed lifetime",
        Fault::Protected => "cannot be changed",
    })
}
