//! The claims of an identity token.

use gatehouse_storage::StorageError;
use serde::Serialize;
use zeroize::Zeroizing;

use crate::jwt::sign;
use crate::rs256::SigningKey;
use crate::{IdentityTokenError, Mount};

const NAMESPACE: &str = "root";
const VERSION: &str = concat!("v", env!("CARGO_PKG_VERSION"));

#[derive(Serialize)]
struct Claims<'a> {
    iss: &'a str,
    sub: String,
    aud: [&'a str; 1],
    iat: u64,
    nbf: u64,
    exp: u64,
    #[serde(rename = "vaultproject.io")]
    plugin: Plugin<'a>,
}

#[derive(Serialize)]
struct Plugin<'a> {
    accessor: &'a str,
    class: &'static str,
    local: bool,
    namespace_id: &'static str,
    namespace_path: &'static str,
    path: &'a str,
    plugin: &'static str,
    version: &'static str,
}

/// The token of a mount.
pub(super) fn signed(
    mount: &Mount,
    issuer: &str,
    audience: &str,
    now: u64,
    lifetime: u64,
    key_id: &str,
    key: &SigningKey,
) -> Result<Zeroizing<String>, IdentityTokenError> {
    let claims = Claims {
        iss: issuer,
        sub: format!("plugin-identity:{NAMESPACE}:auth:{}", mount.accessor),
        aud: [audience],
        iat: now,
        nbf: now,
        exp: now.saturating_add(lifetime),
        plugin: Plugin {
            accessor: &mount.accessor,
            class: "auth",
            local: false,
            namespace_id: NAMESPACE,
            namespace_path: "",
            path: &mount.path,
            plugin: "gcp",
            version: VERSION,
        },
    };
    // A key that was read has signed before.
    sign(key, key_id, &claims).ok_or(StorageError::Malformed.into())
}
