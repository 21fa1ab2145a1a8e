//! The paths of secrets that tokens keep for themselves (contract 6.1).

/// The type of the mount, as answers and records show it.
pub(crate) const MOUNT_TYPE: &str = "cubbyhole";

/// The prefix of the paths of all secrets.
pub(crate) const ROOT: &str = "cubbyhole/";

/// The path of a secret or a folder, where `path` is that of one; empty for all of them, which a list may ask for without the slash.
pub(crate) fn below(path: &str) -> Option<&str> {
    let all = || (path == MOUNT_TYPE).then_some("");
    path.strip_prefix(ROOT).or_else(all)
}

/// Tells whether `path` is that of a secret, where a write of something new needs another capability than a change.
pub(crate) fn is_secret(path: &str) -> bool {
    below(path).is_some_and(|secret| !secret.is_empty())
}
