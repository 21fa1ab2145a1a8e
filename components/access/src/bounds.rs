//! Bounds of the texts and lists that callers give.

use crate::api::FieldTooLong;

/// Most policies of one token; more would not fit one read of their rules.
pub(crate) const MAXIMUM_POLICIES: usize = 256;
/// Most that the names of one token's policies have, in bytes, and its address ranges likewise.
pub(crate) const LIST_BYTES: usize = 64 * 1024;
/// Longest text that is only shown: descriptions, display names.
pub(crate) const TEXT_BYTES: usize = 4 * 1024;
/// Longest metadata, names and values together.
pub(crate) const METADATA_BYTES: usize = 64 * 1024;
/// Longest lists and options of a mount, all together: all mounts are listed at once.
pub(crate) const MOUNT_LISTS_BYTES: usize = 4 * 1024;

/// Most items in one page of a list.
pub(crate) const PAGE_ITEMS: u32 = 10_000;

/// Bytes of names and values together.
pub(crate) fn length_of_pairs<'a>(
    pairs: impl IntoIterator<Item = (&'a String, &'a String)>,
) -> usize {
    let lengths = pairs
        .into_iter()
        .map(|(name, value)| name.len() + value.len());
    lengths.sum()
}

/// Refuses more than fits the record of a token, an entity or a group.
pub(crate) fn require_short_policies(policies: &[String]) -> Result<(), FieldTooLong> {
    let length = policies.iter().map(String::len).sum();
    FieldTooLong::check("policies", length, LIST_BYTES)
}
