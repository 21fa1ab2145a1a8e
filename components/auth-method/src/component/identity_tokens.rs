//! The interface `identity-tokens`.

use super::bindings::exports::gatehouse::auth_method::identity_tokens as wit;
use super::bindings::exports::gatehouse::auth_method::types::{IdentityTokenError, StorageError};
use super::{Component, SERVICE};
use crate::AuthMethod;
use crate::crossing::Across;

impl wit::Guest for Component {
    fn read_issuer() -> Result<String, StorageError> {
        SERVICE.with(|service| service.read_issuer().across())
    }

    fn write_issuer(issuer: String) -> Result<(), wit::IssuerError> {
        SERVICE.with(|service| service.write_issuer(&issuer).across())
    }

    fn issuer() -> Result<String, IdentityTokenError> {
        SERVICE.with(|service| service.issuer().across())
    }

    fn public_keys() -> Result<Vec<wit::PublicKey>, IdentityTokenError> {
        SERVICE.with(|service| service.public_keys().across())
    }

    fn maintain_keys() -> Result<(), IdentityTokenError> {
        SERVICE.with(|service| service.maintain_keys().across())
    }
}
