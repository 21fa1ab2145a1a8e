//! Entities and groups, found by what a request says of them (contract 7.2).

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Loaded, Record};

use super::checks::is_identifier;
use super::names::Named;
use super::records::{
    GroupAliasRecord, GroupRecord, alias_id_key, group_alias_id_key, group_alias_key, group_key,
};
use crate::api::{
    AliasPlace, IdentityError, IdentityReference, IdentityTarget, Mounts as _, ServiceError,
};
use crate::records::{AliasRecord, EntityRecord, alias_key, entity_key};
use crate::service::AccessService;

/// A record that an identifier or a hash leads to.
pub(super) trait Indexed: Record {
    /// Its key, of the identifier of an entity or group, or of the hash of an alias.
    fn key(target: &str) -> String;
}

/// An entity or a group.
pub(super) trait AliasOwner: Indexed {
    /// Its aliases.
    type Alias: Alias;
    /// Its names.
    const NAMED: Named;
    /// The error where there is none.
    const UNKNOWN: IdentityError;
}

/// An alias of an entity or a group.
pub(super) trait Alias: Indexed {
    /// Key of the record that leads from the identifier of an alias to its hash.
    fn id_key(id: &str) -> String;
    /// The identifier of the entity or the group.
    fn into_owner(self) -> String;
}

impl Indexed for EntityRecord {
    fn key(target: &str) -> String {
        entity_key(target)
    }
}

impl AliasOwner for EntityRecord {
    type Alias = AliasRecord;
    const NAMED: Named = Named::Entity;
    const UNKNOWN: IdentityError = IdentityError::UnknownEntity;
}

impl Indexed for AliasRecord {
    fn key(target: &str) -> String {
        alias_key(target)
    }
}

impl Alias for AliasRecord {
    fn id_key(id: &str) -> String {
        alias_id_key(id)
    }

    fn into_owner(self) -> String {
        self.entity_id
    }
}

impl Indexed for GroupRecord {
    fn key(target: &str) -> String {
        group_key(target)
    }
}

impl AliasOwner for GroupRecord {
    type Alias = GroupAliasRecord;
    const NAMED: Named = Named::Group;
    const UNKNOWN: IdentityError = IdentityError::UnknownGroup;
}

impl Indexed for GroupAliasRecord {
    fn key(target: &str) -> String {
        group_alias_key(target)
    }
}

impl Alias for GroupAliasRecord {
    fn id_key(id: &str) -> String {
        group_alias_id_key(id)
    }

    fn into_owner(self) -> String {
        self.group_id
    }
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// The entity or group that `reference` leads to.
    pub(super) fn find_owner<T: AliasOwner>(
        &self,
        reference: &IdentityReference,
    ) -> Result<Option<Loaded<T>>, ServiceError> {
        let id = match reference {
            IdentityReference::Id(id) => Some(id.clone()),
            IdentityReference::Name(name) => self.named(T::NAMED, name)?,
            IdentityReference::AliasId(id) => {
                let alias = self.find_alias::<T::Alias>(id)?;
                alias.map(|(_, alias)| alias.record.into_owner())
            }
            IdentityReference::Alias(AliasPlace {
                mount_accessor,
                name,
            }) => match self.alias_hash(mount_accessor, name)? {
                Some(hash) => {
                    let alias = self.records.get::<T::Alias>(&T::Alias::key(&hash))?;
                    alias.map(|alias| alias.record.into_owner())
                }
                None => None,
            },
        };
        match id.filter(|id| is_identifier(id)) {
            Some(id) => Ok(self.records.get::<T>(&T::key(&id))?),
            None => Ok(None),
        }
    }

    /// The entity or group with this identifier.
    pub(super) fn find_owner_with_id<T: AliasOwner>(
        &self,
        id: &str,
    ) -> Result<Option<Loaded<T>>, ServiceError> {
        self.find_owner(&IdentityReference::Id(id.to_owned()))
    }

    /// The entity or group that a write is to change; `None` where it is to make one.
    pub(super) fn find_target<T: AliasOwner>(
        &self,
        target: &IdentityTarget,
    ) -> Result<Option<Loaded<T>>, IdentityError> {
        match target {
            IdentityTarget::Id(id) => Ok(Some(self.find_owner_with_id(id)?.ok_or(T::UNKNOWN)?)),
            IdentityTarget::Name(name) => {
                Ok(self.find_owner(&IdentityReference::Name(name.clone()))?)
            }
            IdentityTarget::New => Ok(None),
        }
    }

    /// The alias with this identifier, and its hash.
    pub(super) fn find_alias<A: Alias>(
        &self,
        id: &str,
    ) -> Result<Option<(String, Loaded<A>)>, ServiceError> {
        if !is_identifier(id) {
            return Ok(None);
        }
        let Some(hash) = self.target_of(&A::id_key(id))? else {
            return Ok(None);
        };
        let alias = self.records.get::<A>(&A::key(&hash))?;
        Ok(alias.map(|alias| (hash, alias)))
    }

    /// The hash of the alias of this name at a mount; `None` where there is no such mount.
    pub(super) fn alias_hash(
        &self,
        accessor: &str,
        name: &str,
    ) -> Result<Option<String>, ServiceError> {
        let mounts = self.list_mounts()?;
        match mounts.iter().find(|mount| mount.accessor == accessor) {
            Some(mount) => Ok(Some(self.hasher()?.alias(&mount.id, name))),
            None => Ok(None),
        }
    }
}
