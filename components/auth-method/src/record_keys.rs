//! Under which keys the records of a mount are stored.

use gatehouse_storage::key_segment;

use crate::{Mount, RoleName};

/// The part of the configuration that logins need.
pub(crate) fn config(mount: &Mount) -> String {
    format!("{}config", everything(&mount.id))
}

/// The private key.
pub(crate) fn credentials(mount: &Mount) -> String {
    format!("{}credentials", everything(&mount.id))
}

/// One role.
pub(crate) fn role(mount: &Mount, name: &RoleName) -> String {
    format!("{}{}", roles(mount), key_segment(name.as_str()))
}

/// Before the name of every role of a mount.
pub(crate) fn roles(mount: &Mount) -> String {
    format!("{}role/", everything(&mount.id))
}

/// The mark of a role of this name.
pub(crate) fn role_name(mount: &Mount, name: &RoleName) -> String {
    format!("{}{}", role_names(&mount.id), key_segment(name.as_str()))
}

/// Before every name of a role, apart from the roles.
pub(crate) fn role_names(mount_id: &str) -> String {
    format!("{}role-name/", everything(mount_id))
}

/// How complete the names of the roles are.
pub(crate) fn role_name_index(mount: &Mount) -> String {
    format!("{}role-names", everything(&mount.id))
}

/// The mark of a token that has logged in.
pub(crate) fn used_token(mount: &Mount, fingerprint: &str) -> String {
    format!("{}{fingerprint}", used_tokens(&mount.id))
}

/// Before the fingerprint of every token that has logged in.
pub(crate) fn used_tokens(mount_id: &str) -> String {
    format!("{}used-token/", everything(mount_id))
}

/// Before every key of a mount.
pub(crate) fn everything(mount_id: &str) -> String {
    format!("{}/", key_segment(mount_id))
}

/// The base URL of the issuer. No key of a mount begins like this: [`key_segment`] escapes a tilde.
pub(crate) const IDENTITY_TOKEN_ISSUER: &str = "~identity-tokens/issuer";

/// The keys of the issuer.
pub(crate) const IDENTITY_TOKEN_KEYS: &str = "~identity-tokens/keys";

/// How far the rotation of a mount's key has come.
pub(crate) fn rotation(mount: &Mount) -> String {
    format!("{}rotation", everything(&mount.id))
}
