//! The paths of the secrets that each token keeps for itself (contract 6.1).

/// The type of the mount, as answers and records show it.
pub(crate) const MOUNT_TYPE: &str = "cubbyhole";

/// The prefix of the paths of all secrets.
pub(crate) const ROOT: &str = "cubbyhole/";

/// The path below the cubbyhole, where `path` is that of a secret or a folder. It is empty for the whole cubbyhole, which a list may name without the
/// slash.
pub(crate) fn below(path: &str) -> Option<&str> {
    let all = || (path == MOUNT_TYPE).then_some("");
    path.strip_prefix(ROOT).or_else(all)
}

/// True if `path` is that of a secret, where creating and updating need different capabilities.
pub(crate) fn is_secret(path: &str) -> bool {
    below(path).is_some_and(|secret| !secret.is_empty())
}
