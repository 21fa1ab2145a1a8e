//! Paths that need `sudo` besides the capability of their operation (contract 5.6).

const EXACT: [&str; 9] = [
    "sys/audit",
    "sys/remount",
    "sys/rotate",
    "sys/rotate/keyring",
    "sys/seal",
    "sys/leases",
    "sys/monitor",
    "sys/backup",
    "sys/config/cors",
];

const PREFIXES: [&str; 11] = [
    "sys/auth/",
    "sys/audit/",
    "sys/leases/lookup/",
    "sys/leases/revoke-prefix/",
    "sys/leases/revoke-force/",
    "sys/revoke-prefix/",
    "sys/revoke-force/",
    "sys/rotate/root/",
    "sys/raw",
    "sys/internal/inspect/",
    "auth/token/accessors",
];

/// Lists of these need it, with and without their trailing `/`; other operations do not.
const LISTS: [&str; 1] = ["sys/leases/lookup"];

/// True if `path` needs `sudo`, asked for a `list` or for something else. A trailing `/`, as lists have it, makes no difference.
pub(crate) fn needs_sudo(path: &str, list: bool) -> bool {
    let path = path.strip_suffix('/').unwrap_or(path);
    EXACT.contains(&path)
        || list && LISTS.contains(&path)
        || PREFIXES.iter().any(|prefix| path.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::needs_sudo;

    #[test]
    fn mounts_need_sudo_and_their_listing_does_not() {
        assert!(needs_sudo("sys/auth/gcp", false));
        assert!(needs_sudo("sys/auth/gcp/tune", false));
        assert!(!needs_sudo("sys/auth", false));
        assert!(!needs_sudo("sys/auth/", false));
        assert!(!needs_sudo("sys/mounts/auth/gcp/tune", false));
    }

    #[test]
    fn a3_the_listing_of_accessors_needs_sudo_with_and_without_its_slash() {
        assert!(needs_sudo("auth/token/accessors", false));
        assert!(needs_sudo("auth/token/accessors/", false));
    }

    #[test]
    fn whole_segments_are_compared_where_the_list_says_so() {
        assert!(needs_sudo("sys/leases", false));
        assert!(!needs_sudo("sys/leases/lookup", false));
        assert!(!needs_sudo("sys/rotated", false));
        assert!(needs_sudo("sys/seal", false));
        assert!(!needs_sudo("sys/seal-status", false));
        assert!(needs_sudo("sys/raw/x", false));
    }

    #[test]
    fn a3_rotations_need_sudo_under_each_of_their_names() {
        for path in [
            "sys/rotate",
            "sys/rotate/keyring",
            "sys/rotate/root/init",
            "sys/rotate/root/update",
            "sys/rotate/root/verify",
            "sys/rotate/root/backup",
        ] {
            assert!(needs_sudo(path, false), "{path}");
        }
        for path in ["sys/rotate/config", "sys/rotate/keyring/config"] {
            assert!(!needs_sudo(path, false), "{path}");
        }
    }

    #[test]
    fn a3_the_tree_of_leases_needs_sudo_and_looking_one_up_does_not() {
        for path in ["sys/leases/lookup", "sys/leases/lookup/"] {
            assert!(needs_sudo(path, true));
            assert!(!needs_sudo(path, false));
        }
        assert!(needs_sudo("sys/leases/lookup/auth", true));
        assert!(needs_sudo("sys/revoke-prefix/auth", false));
    }
}
