//! How much callers may say.

/// A field that is longer than it may be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} may have at most {bytes} bytes: shorten it")]
pub struct FieldTooLong {
    /// Its name, as callers know it.
    pub field: String,
    /// What it may have; of lists and maps all names and values together.
    pub bytes: u32,
}

/// Longest text that is only shown: descriptions, display names.
pub(crate) const TEXT_BYTES: usize = 4 * 1024;
/// Longest metadata, names and values together.
pub(crate) const METADATA_BYTES: usize = 64 * 1024;
/// Longest lists and options of a mount, all together: all mounts are listed at once.
pub(crate) const MOUNT_LISTS_BYTES: usize = 4 * 1024;

impl FieldTooLong {
    /// Refuses a field of `length` bytes that may have `most`.
    pub(crate) fn check(field: &str, length: usize, most: usize) -> Result<(), Self> {
        if length <= most {
            return Ok(());
        }
        Err(Self {
            field: field.to_owned(),
            bytes: u32::try_from(most).unwrap_or(u32::MAX),
        })
    }
}

/// Bytes of names and values together.
pub(crate) fn length_of_pairs<'a>(
    pairs: impl IntoIterator<Item = (&'a String, &'a String)>,
) -> usize {
    let lengths = pairs
        .into_iter()
        .map(|(name, value)| name.len() + value.len());
    lengths.sum()
}
