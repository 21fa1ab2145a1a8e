//! Bounds of the names, policies and metadata of identities, and names that are unique.

use super::records::NameRecord;
use crate::api::{FieldTooLong, IdentityError, IdentityTarget, ServiceError};
use crate::bounds::{MAXIMUM_POLICIES, require_short_policies};
use crate::path_name::is_path_name;
use crate::policy::{ROOT, sanitize};
use crate::service::AccessService;
use gatehouse_ports::{Clock, Random, Store};

/// Most internal groups of one entity: each is read at every request of its tokens.
pub(super) const MAXIMUM_INTERNAL_GROUPS: usize = 256;
const MAXIMUM_NAME_BYTES: usize = 512;
const MAXIMUM_METADATA: usize = 64;
const MAXIMUM_METADATA_NAME_BYTES: usize = 128;
const MAXIMUM_METADATA_VALUE_BYTES: usize = 512;

/// True if `text` can be one of the identifiers that are given out here; others are not worth a look into the store.
pub(super) fn is_identifier(text: &str) -> bool {
    text.len() == 36 && text.bytes().all(|it| it.is_ascii_hexdigit() || it == b'-')
}

/// The name that a write asks for, if any: something new is called what it was looked for by.
pub(super) fn wanted_name<'a>(
    target: &'a IdentityTarget,
    is_new: bool,
    given: Option<&'a str>,
) -> Option<&'a str> {
    match target {
        IdentityTarget::Name(name) if is_new => Some(name),
        _ => given,
    }
}

/// A name that an entity or a group may have.
pub(super) fn checked_name(name: &str) -> Result<String, IdentityError> {
    is_path_name(name, MAXIMUM_NAME_BYTES)
        .then(|| name.to_owned())
        .ok_or(IdentityError::InvalidName)
}

/// Policies in their one spelling, without `root` (SEC-A4).
pub(super) fn checked_policies(policies: &[String]) -> Result<Vec<String>, IdentityError> {
    let policies = sanitize(policies);
    if policies.iter().any(|policy| policy == ROOT) {
        return Err(IdentityError::RootPolicy);
    }
    if policies.len() > MAXIMUM_POLICIES {
        return Err(IdentityError::TooManyPolicies(MAXIMUM_POLICIES as u32));
    }
    require_short_policies(&policies)?;
    Ok(policies)
}

/// Refuses the name of an alias that is longer than any that a login brings.
pub(super) fn check_alias_name(name: &str) -> Result<(), FieldTooLong> {
    FieldTooLong::check("name", name.len(), MAXIMUM_NAME_BYTES)
}

/// Refuses metadata that is more than a few facts.
pub(super) fn checked_metadata(metadata: Option<&[(String, String)]>) -> Result<(), IdentityError> {
    let Some(metadata) = metadata else {
        return Ok(());
    };
    let usable = metadata.len() <= MAXIMUM_METADATA
        && metadata.iter().all(|(name, value)| {
            name.len() <= MAXIMUM_METADATA_NAME_BYTES && value.len() <= MAXIMUM_METADATA_VALUE_BYTES
        });
    usable.then_some(()).ok_or(IdentityError::InvalidMetadata)
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// The target of the [`NameRecord`] under `key`.
    pub(super) fn target_of(&self, key: &str) -> Result<Option<String>, ServiceError> {
        let name = self.records.get::<NameRecord>(key)?;
        Ok(name.map(|name| name.record.target))
    }
}
