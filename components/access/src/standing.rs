//! Which of many tokens still stand: the question of [`AccessService::standing`], asked of a page of records at once.

use std::collections::{BTreeMap, BTreeSet};

use gatehouse_ports::{Clock, Random, Store};

use crate::api::Failure;
use crate::mounts::mount_key;
use crate::records::{MountRecord, TokenRecord, token_key};
use crate::service::AccessService;
use crate::token_store::load_next;

/// Everything that the validity of some tokens rests on besides their own records.
pub(crate) struct Foundations {
    now: u64,
    /// Keys of the ancestors that are alive.
    ancestors: BTreeSet<String>,
    mounts: BTreeMap<String, MountRecord>,
}

impl Foundations {
    /// Whether the token of `record` is valid.
    pub(crate) fn carry(&self, record: &TokenRecord) -> bool {
        let origin_stands = record.origin.as_ref().is_none_or(|origin| {
            let mount = self.mounts.get(&mount_key(&origin.mount_path));
            mount.is_some_and(|mount| origin.is_served_by(mount))
        });
        let mut ancestors = record.ancestors.iter().map(token_key);
        record.is_alive_at(self.now)
            && origin_stands
            && ancestors.all(|key| self.ancestors.contains(&key))
    }
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// Reads what the validity of `records` rests on, each ancestor and each mount once.
    pub(crate) fn foundations<'a>(
        &self,
        records: impl Iterator<Item = &'a TokenRecord> + Clone,
    ) -> Result<Foundations, Failure> {
        let now = self.clock.now_seconds();
        let ancestor_keys: BTreeSet<String> = records
            .clone()
            .flat_map(|record| record.ancestors.iter().map(token_key))
            .collect();
        let mount_keys: BTreeSet<String> = records
            .filter_map(|record| record.origin.as_ref())
            .map(|origin| mount_key(&origin.mount_path))
            .collect();
        let mut entries = self.read_all(ancestor_keys.iter().chain(&mount_keys))?;
        let mut ancestors = BTreeSet::new();
        for key in ancestor_keys {
            let ancestor = load_next::<S, TokenRecord>(&mut entries)?;
            if ancestor.is_some_and(|ancestor| ancestor.record.is_alive_at(now)) {
                ancestors.insert(key);
            }
        }
        let mut mounts = BTreeMap::new();
        for key in mount_keys {
            let mount = load_next::<S, MountRecord>(&mut entries)?;
            mounts.extend(mount.map(|mount| (key, mount.record)));
        }
        Ok(Foundations {
            now,
            ancestors,
            mounts,
        })
    }
}
