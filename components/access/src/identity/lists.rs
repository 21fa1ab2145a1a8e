//! Lists of entities, groups and aliases, read page by page (contract 7.2, SEC-S14).
//!
//! Lists by identifier come in the order of identifiers. Names are indexed by their hashes, whose order means nothing.

use gatehouse_ports::{Clock, Item, Random, Store};
use gatehouse_storage::{Record, Records};

use super::finding::Indexed;
use super::names::Named;
use super::records::NameRecord;
use crate::api::{AliasPage, AliasView, KeyPage, MountView, Mounts as _, ServiceError};
use crate::bounds::PAGE_ITEMS;
use crate::service::{AccessService, load_next};

/// Places of an index read in one round.
const ROUND: usize = 200;
/// Records read at a time: each may be much larger than the part that a list shows.
pub(super) const CHUNK: usize = 50;

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// Aliases, as `view` shows them, that the index under `prefix` leads to.
    pub(super) fn aliases_in<T: Indexed>(
        &self,
        prefix: &str,
        position: Option<String>,
        limit: u32,
        view: impl Fn(T, &[MountView]) -> AliasView,
    ) -> Result<AliasPage, ServiceError> {
        let mounts = self.list_mounts()?;
        self.page(prefix, position, (limit, ROUND), |items| {
            self.indexed(&targets::<S>(items)?, |it: T| view(it, &mounts))
        })
        .map(|part| AliasPage {
            next: part.next(|alias| &alias.id),
            aliases: part.items,
        })
    }

    /// Names that the index under `prefix` leads to.
    pub(super) fn names_in<T: Indexed>(
        &self,
        prefix: &str,
        position: Option<String>,
        limit: u32,
        name: impl Fn(T) -> String,
    ) -> Result<KeyPage, ServiceError> {
        let part = self.page(prefix, position, (limit, ROUND), |items| {
            self.indexed(&targets::<S>(items)?, &name)
        })?;
        Ok(KeyPage {
            next: part.next(|name| name),
            keys: part.items,
        })
    }

    /// At most `limit` of the items under `prefix` after `position`, in the form that `shown` gives them.
    pub(super) fn page<T>(
        &self,
        prefix: &str,
        mut position: Option<String>,
        (limit, round): (u32, usize),
        mut shown: impl FnMut(Vec<Item>) -> Result<Vec<T>, ServiceError>,
    ) -> Result<Part<T>, ServiceError> {
        let limit = usize::try_from(limit.clamp(1, PAGE_ITEMS)).unwrap_or(usize::MAX);
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

    /// The records that an index names by `targets`, in the form that `shown` gives them, without those that are gone.
    pub(super) fn indexed<T: Indexed, V>(
        &self,
        targets: &[String],
        shown: impl Fn(T) -> V,
    ) -> Result<Vec<V>, ServiceError> {
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

    /// The position after a name, where its list continues.
    pub(super) fn name_position(
        &self,
        kind: Named,
        after: Option<&str>,
    ) -> Result<Option<String>, ServiceError> {
        after.map(|name| self.name_key(kind, name)).transpose()
    }
}

/// A part of a list, before the position at which the list continues has been named.
pub(super) struct Part<T> {
    pub(super) items: Vec<T>,
    goes_on: bool,
}

impl<T> Part<T> {
    /// The `key` of the last item if the list continues after it.
    pub(super) fn next(&self, key: impl Fn(&T) -> &String) -> Option<String> {
        let last = self.items.last().filter(|_| self.goes_on);
        last.map(|item| key(item).clone())
    }
}

/// The records of `items`.
pub(super) fn loaded<S: Store, T: Record>(items: Vec<Item>) -> Result<Vec<T>, ServiceError> {
    let mut records = Vec::with_capacity(items.len());
    for item in items {
        let record = Records::<S>::load::<T>(Some(item.entry))?;
        records.extend(record.map(|it| it.record));
    }
    Ok(records)
}

fn targets<S: Store>(items: Vec<Item>) -> Result<Vec<String>, ServiceError> {
    let names = loaded::<S, NameRecord>(items)?;
    Ok(names.into_iter().map(|name| name.target).collect())
}
