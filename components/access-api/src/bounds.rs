//! The error text of a field that is too long.

/// A field that is longer than it may be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} may have at most {bytes} bytes: shorten it")]
pub struct FieldTooLong {
    /// Its name, as callers know it.
    pub field: String,
    /// The most it may have; of lists and maps all names and values together.
    pub bytes: u32,
}

impl FieldTooLong {
    /// Refuses a field of `length` bytes that may have `most`.
    ///
    /// # Errors
    ///
    /// When it is longer.
    pub fn check(field: &str, length: usize, most: usize) -> Result<(), Self> {
        if length <= most {
            return Ok(());
        }
        Err(Self {
            field: field.to_owned(),
            bytes: u32::try_from(most).unwrap_or(u32::MAX),
        })
    }
}
