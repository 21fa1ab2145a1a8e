//! Reads JSON of untrusted senders: bounded in every direction, without recursion that the sender controls (SEC-H11).
//!
//! [`check`] measures a text. [`object`] reads one level and keeps each value as text until its type is known; [`document`] reads a whole
//! tree. Both refuse every text that two parsers could read in two ways (SEC-J6, H11); [`Plain`] is a tree in which repeated members are
//! allowed.

mod document;
mod limits;
mod members;

pub use document::{Plain, document};
pub use limits::{
    MAXIMUM_DEPTH, MAXIMUM_MEMBERS, MAXIMUM_NUMBER_BYTES, MAXIMUM_STRING_BYTES, check,
    check_to_depth,
};
pub use members::{Members, array, object};

/// Why a body is refused. The texts never repeat what was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// The bytes are not UTF-8.
    #[error("body is not UTF-8")]
    NotUtf8,
    /// The text is not JSON.
    #[error("body is not valid JSON")]
    Malformed,
    /// The text is JSON, but not an object.
    #[error("body is not a JSON object")]
    NotAnObject,
    /// Arrays and objects within each other, beyond this limit.
    #[error("more than {0} levels of nesting")]
    TooDeep(usize),
    /// More members and elements than [`MAXIMUM_MEMBERS`].
    #[error("more than {MAXIMUM_MEMBERS} members and elements")]
    TooManyMembers,
    /// A string longer than [`MAXIMUM_STRING_BYTES`].
    #[error("a string of more than {MAXIMUM_STRING_BYTES} bytes")]
    StringTooLong,
    /// A number longer than [`MAXIMUM_NUMBER_BYTES`].
    #[error("a number of more than {MAXIMUM_NUMBER_BYTES} characters")]
    NumberTooLong,
    /// The same member twice in one object.
    #[error("duplicate key")]
    DuplicateMember,
}
