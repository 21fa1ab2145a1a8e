//! The facts about a caller that templates in policies know: its entity, its aliases, and the groups that it is in (contract 5.6).

use std::collections::{BTreeMap, BTreeSet};

use gatehouse_ports::{Clock, Random, Store};

use super::membership::EntityGroups;
use super::records::GroupRecord;
use crate::api::ServiceError;
use crate::policy::{AliasField, GroupField, GroupSelector, Identity, Placeholder, Rule};
use crate::records::{
    AliasMetadataRecord, AliasRecord, EntityRecord, alias_key, alias_metadata_key,
};
use crate::service::{AccessService, load_next};
use crate::token_store::LiveToken;

/// The identity behind a token.
pub(crate) struct TokenIdentity<'t> {
    entity: &'t EntityRecord,
    groups: &'t EntityGroups,
    /// Those that the rules ask for, by mount accessor.
    aliases: BTreeMap<&'t str, AliasValues>,
}

/// The facts that an alias tells about its owner.
struct AliasValues {
    name: String,
    metadata: BTreeMap<String, String>,
    custom_metadata: BTreeMap<String, String>,
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// The identity of `token` as those of its rules need it that matter; `None` for a token without an entity. Nothing is read
    /// unless such a rule names an alias, and then all aliases are in one round trip.
    pub(crate) fn identity_of<'t>(
        &self,
        token: &'t LiveToken,
        matters: impl Fn(&Rule) -> bool,
    ) -> Result<Option<TokenIdentity<'t>>, ServiceError> {
        let Some(entity) = token.entity.as_ref().map(|entity| &entity.record) else {
            return Ok(None);
        };
        let accessors: BTreeSet<&str> = token
            .rules()
            .filter(|rule| rule.template && matters(rule))
            .flat_map(Rule::alias_accessors)
            .collect();
        let is_asked_for = |accessor: &str| accessors.contains(accessor);
        let aliases = entity.aliases.iter();
        let aliases: Vec<_> = aliases
            .filter(|alias| is_asked_for(&alias.mount_accessor))
            .collect();
        let keys: Vec<String> = aliases
            .iter()
            .flat_map(|alias| [alias_key(&alias.hash), alias_metadata_key(&alias.hash)])
            .collect();
        let mut values = BTreeMap::new();
        if !keys.is_empty() {
            let mut entries = self.read_all(keys.iter())?;
            for alias in aliases {
                let record = load_next::<S, AliasRecord>(&mut entries)?;
                let said = load_next::<S, AliasMetadataRecord>(&mut entries)?;
                // An alias that was given to another entity meanwhile says nothing about this one.
                let Some(record) = record.filter(|it| it.record.entity_id == entity.id) else {
                    continue;
                };
                let value = AliasValues {
                    name: record.record.name,
                    metadata: said.map(|it| it.record.metadata).unwrap_or_default(),
                    custom_metadata: record.record.custom_metadata,
                };
                values.insert(alias.mount_accessor.as_str(), value);
            }
        }
        Ok(Some(TokenIdentity {
            entity,
            groups: &token.groups,
            aliases: values,
        }))
    }
}

impl TokenIdentity<'_> {
    fn group(&self, selector: GroupSelector<'_>) -> Option<&GroupRecord> {
        let mut groups = self.groups.all();
        groups.find(|group| match selector {
            GroupSelector::Id(id) => group.id == id,
            GroupSelector::Name(name) => group.name == name,
        })
    }

    fn alias(&self, accessor: &str, field: AliasField<'_>) -> Option<&str> {
        if field == AliasField::Id {
            let mut aliases = self.entity.aliases.iter();
            let alias = aliases.find(|alias| alias.mount_accessor == accessor)?;
            return Some(&alias.id);
        }
        let values = self.aliases.get(accessor)?;
        match field {
            AliasField::Id => None,
            AliasField::Name => Some(&values.name),
            AliasField::Metadata(key) => values.metadata.get(key).map(String::as_str),
            AliasField::CustomMetadata(key) => values.custom_metadata.get(key).map(String::as_str),
        }
    }
}

impl Identity for TokenIdentity<'_> {
    fn value(&self, placeholder: Placeholder<'_>) -> Option<&str> {
        match placeholder {
            Placeholder::EntityId => Some(&self.entity.id),
            Placeholder::EntityName => Some(&self.entity.name),
            Placeholder::EntityMetadata(key) => self.entity.metadata.get(key).map(String::as_str),
            Placeholder::Alias { accessor, field } => self.alias(accessor, field),
            Placeholder::Group { group, field } => {
                let group = self.group(group)?;
                match field {
                    GroupField::Id => Some(&group.id),
                    GroupField::Name => Some(&group.name),
                    GroupField::Metadata(key) => group.metadata.get(key).map(String::as_str),
                }
            }
        }
    }
}
