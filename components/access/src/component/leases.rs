//! The interface `leases`.

use super::{Component, access, leases_wit, types_wit};
use crate::{Access, PrefixError};

impl leases_wit::Guest for Component {
    fn list_below(
        prefix: String,
        after: Option<String>,
        limit: u32,
    ) -> Result<types_wit::KeyPage, types_wit::Failure> {
        Ok(access(|it| it.list_leases(&prefix, after.as_deref(), limit))?.into())
    }

    fn revoke_prefix(prefix: String) -> Result<(), leases_wit::PrefixError> {
        Ok(access(|it| it.revoke_prefix(&prefix))?)
    }
}

impl From<PrefixError> for leases_wit::PrefixError {
    fn from(error: PrefixError) -> Self {
        match error {
            PrefixError::TooManyPrefixes(mount) => Self::TooManyPrefixes(mount),
            PrefixError::Failure(failure) => Self::Failure(failure.into()),
        }
    }
}
