//! Lists of entities, groups and aliases, read page by page (contract 7.2, SEC-S14).
//!
//! What is listed by identifier comes in the order of identifiers. Names are indexed by their hashes, whose order means nothing.

use std::collections::BTreeMap;

use gatehouse_ports::{Clock, Item, Random, Store};
use gatehouse_storage::{Record, Records};

use super::names::Named;
use super::records::{
    ALIAS_ID_PREFIX, ENTITY_NAME_PREFIX, GROUP_ALIAS_ID_PREFIX, GROUP_NAME_PREFIX, GROUP_PREFIX,
    GroupAliasRecord, GroupRecord, NameRecord, alias_id_key, group_alias_id_key, group_alias_key,
    group_key,
};
use super::{aliases, entities, group_aliases, groups};
use crate::api::{
    AliasPage, AliasView, EntityPage, EntityView, Failure, GroupPage, GroupView, KeyPage, MountView,
};
use crate::records::{AliasRecord, ENTITY_PREFIX, EntityRecord, alias_key, entity_key};
use crate::service::AccessService;
use crate::token_store::load_next;

/// Most items of one page.
const MAXIMUM_LIMIT: u32 = 10_000;
/// Places of an index read in one round.
const ROUND: usize = 200;
/// Records read at a time, each of which may have much to tell that a list does not show.
const CHUNK: usize = 50;

/// A record that an index of [`NameRecord`]s leads to, as its list shows it.
trait Indexed: Record {
    /// Where it is when the index names it by `target`.
    fn key(target: &str) -> String;
}

impl Indexed for EntityRecord {
    fn key(target: &str) -> String {
        entity_key(target)
    }
}

impl Indexed for GroupRecord {
    fn key(target: &str) -> String {
        group_key(target)
    }
}

impl Indexed for AliasRecord {
    fn key(target: &str) -> String {
        alias_key(target)
    }
}

impl Indexed for GroupAliasRecord {
    fn key(target: &str) -> String {
        group_alias_key(target)
    }
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// Entities with their aliases.
    pub(crate) fn entity_page(
        &self,
        after: Option<&str>,
        limit: u32,
    ) -> Result<EntityPage, Failure> {
        let mounts = self.mounts()?;
        let position = after.map(entity_key);
        self.page(ENTITY_PREFIX, position, (limit, CHUNK), |items| {
            let entities = loaded::<S, EntityRecord>(items)?;
            let references = entities.iter().flat_map(|it| it.aliases.iter());
            let hashes: Vec<String> = references.map(|alias| alias.hash.clone()).collect();
            let mut aliases: BTreeMap<String, Vec<AliasView>> = BTreeMap::new();
            let listed = |alias| aliases::listed(alias, &mounts);
            for alias in self.indexed::<AliasRecord, _>(&hashes, listed)? {
                let of_entity = aliases.entry(alias.canonical_id.clone()).or_default();
                of_entity.push(alias);
            }
            let shown = entities.into_iter().map(|entity| EntityView {
                aliases: aliases.remove(&entity.id).unwrap_or_default(),
                metadata: Vec::new(),
                ..entities::listed(entity)
            });
            Ok(shown.collect())
        })
        .map(|part| EntityPage {
            next: part.next(|entity| &entity.id),
            entities: part.items,
        })
    }

    /// Groups with their aliases.
    pub(crate) fn group_page(&self, after: Option<&str>, limit: u32) -> Result<GroupPage, Failure> {
        let mounts = self.mounts()?;
        let position = after.map(group_key);
        self.page(GROUP_PREFIX, position, (limit, CHUNK), |items| {
            let groups = loaded::<S, GroupRecord>(items)?;
            let references = groups.iter().filter_map(|it| it.alias.as_ref());
            let hashes: Vec<String> = references.map(|alias| alias.hash.clone()).collect();
            let view = |alias| group_aliases::view(alias, &mounts);
            let mut aliases: BTreeMap<String, AliasView> = self
                .indexed::<GroupAliasRecord, _>(&hashes, view)?
                .into_iter()
                .map(|alias| (alias.canonical_id.clone(), alias))
                .collect();
            let shown = groups.into_iter().map(|group| GroupView {
                alias: aliases.remove(&group.id),
                metadata: Vec::new(),
                ..groups::listed(group)
            });
            Ok(shown.collect())
        })
        .map(|part| GroupPage {
            next: part.next(|group| &group.id),
            groups: part.items,
        })
    }

    /// Entity aliases, without what logins said.
    pub(crate) fn alias_page(&self, after: Option<&str>, limit: u32) -> Result<AliasPage, Failure> {
        self.aliases_in(
            ALIAS_ID_PREFIX,
            after.map(alias_id_key),
            limit,
            aliases::view,
        )
    }

    /// Group aliases.
    pub(crate) fn group_alias_page(
        &self,
        after: Option<&str>,
        limit: u32,
    ) -> Result<AliasPage, Failure> {
        let position = after.map(group_alias_id_key);
        self.aliases_in(GROUP_ALIAS_ID_PREFIX, position, limit, group_aliases::view)
    }

    /// Names of entities.
    pub(crate) fn entity_names(&self, after: Option<&str>, limit: u32) -> Result<KeyPage, Failure> {
        let position = self.name_position(Named::Entity, after)?;
        self.names_in(ENTITY_NAME_PREFIX, position, limit, |it: EntityRecord| {
            it.name
        })
    }

    /// Names of groups.
    pub(crate) fn group_names(&self, after: Option<&str>, limit: u32) -> Result<KeyPage, Failure> {
        let position = self.name_position(Named::Group, after)?;
        self.names_in(GROUP_NAME_PREFIX, position, limit, |it: GroupRecord| {
            it.name
        })
    }

    fn aliases_in<T: Indexed>(
        &self,
        prefix: &str,
        position: Option<String>,
        limit: u32,
        view: impl Fn(T, &[MountView]) -> AliasView,
    ) -> Result<AliasPage, Failure> {
        let mounts = self.mounts()?;
        self.page(prefix, position, (limit, ROUND), |items| {
            self.indexed(&targets::<S>(items)?, |it: T| view(it, &mounts))
        })
        .map(|part| AliasPage {
            next: part.next(|alias| &alias.id),
            aliases: part.items,
        })
    }

    fn names_in<T: Indexed>(
        &self,
        prefix: &str,
        position: Option<String>,
        limit: u32,
        name: impl Fn(T) -> String,
    ) -> Result<KeyPage, Failure> {
        let part = self.page(prefix, position, (limit, ROUND), |items| {
            self.indexed(&targets::<S>(items)?, &name)
        })?;
        Ok(KeyPage {
            next: part.next(|name| name),
            keys: part.items,
        })
    }

    /// What `shown` makes of the items under `prefix` behind `position`, until that is `limit` pieces.
    fn page<T>(
        &self,
        prefix: &str,
        mut position: Option<String>,
        (limit, round): (u32, usize),
        mut shown: impl FnMut(Vec<Item>) -> Result<Vec<T>, Failure>,
    ) -> Result<Part<T>, Failure> {
        let limit = usize::try_from(limit.clamp(1, MAXIMUM_LIMIT)).unwrap_or(usize::MAX);
        let mut items = Vec::new();
        loop {
            let round = (limit - items.len()).min(round) as u32;
            let store = self.records.store();
            let page = store.scan(prefix, position.as_deref(), round)?;
            let goes_on = page.more;
            position = page.items.last().map(|item| item.key.clone());
            items.extend(shown(page.items)?);
            if !goes_on || items.len() >= limit {
                return Ok(Part { items, goes_on });
            }
        }
    }

    /// What `shown` makes of the records that an index names by `targets`, but for those that are gone.
    fn indexed<T: Indexed, V>(
        &self,
        targets: &[String],
        shown: impl Fn(T) -> V,
    ) -> Result<Vec<V>, Failure> {
        let mut records = Vec::with_capacity(targets.len());
        for targets in targets.chunks(CHUNK) {
            let keys: Vec<String> = targets.iter().map(|target| T::key(target)).collect();
            let mut entries = self.read_all(keys.iter())?;
            for _ in keys {
                let record = load_next::<S, T>(&mut entries)?;
                records.extend(record.map(|it| shown(it.record)));
            }
        }
        Ok(records)
    }

    /// Where a list of names goes on behind one of them.
    fn name_position(&self, kind: Named, after: Option<&str>) -> Result<Option<String>, Failure> {
        after.map(|name| self.name_key(kind, name)).transpose()
    }
}

/// A part of a list that does not say yet where the list goes on.
struct Part<T> {
    items: Vec<T>,
    goes_on: bool,
}

impl<T> Part<T> {
    /// The `key` of the last item, where the list goes on behind it.
    fn next(&self, key: impl Fn(&T) -> &String) -> Option<String> {
        let last = self.items.last().filter(|_| self.goes_on);
        last.map(|item| key(item).clone())
    }
}

fn loaded<S: Store, T: Record>(items: Vec<Item>) -> Result<Vec<T>, Failure> {
    let mut records = Vec::with_capacity(items.len());
    for item in items {
        let record = Records::<S>::load::<T>(Some(item.entry))?;
        records.extend(record.map(|it| it.record));
    }
    Ok(records)
}

fn targets<S: Store>(items: Vec<Item>) -> Result<Vec<String>, Failure> {
    let names = loaded::<S, NameRecord>(items)?;
    Ok(names.into_iter().map(|name| name.target).collect())
}
