//! Lists that bind roles.

/// Stands for every service account; only alone.
pub(crate) const ANY_ACCOUNT: &str = "*";

/// Trimmed, without empty entries, each once, sorted (contract 1.4).
pub(super) fn bound(entries: &[String]) -> Vec<String> {
    let mut entries: Vec<String> = entries
        .iter()
        .map(|entry| entry.trim())
        .filter(|entry| !entry.is_empty())
        .map(str::to_owned)
        .collect();
    entries.sort_unstable();
    entries.dedup();
    entries
}
