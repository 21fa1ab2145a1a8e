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
    /// By key; those that are there.
    ancestors: BTreeMap<String, TokenRecord>,
    mounts: BTreeMap<String, MountRecord>,
}

impl Foundations {
    /// Whether the token of `record` is valid.
    pub(crate) fn carry(&self, record: &TokenRecord) -> bool {
        let mut ancestors = record.ancestors.iter().map(token_key);
        self.carry_itself(record)
            && ancestors.all(|key| {
                let ancestor = self.ancestors.get(&key);
                ancestor.is_some_and(|ancestor| self.carry_itself(ancestor))
            })
    }

    /// Whether the token is valid as far as its ancestors do not matter.
    fn carry_itself(&self, record: &TokenRecord) -> bool {
        let is_honoured = record.issuer().is_none_or(|path| {
            let mount = self.mounts.get(&mount_key(path));
            mount.is_some_and(|mount| mount.honours(record))
        });
        is_honoured && record.is_alive_at(self.now)
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
        let mut entries = self.read_all(ancestor_keys.iter())?;
        let mut ancestors = BTreeMap::new();
        for key in ancestor_keys {
            let ancestor = load_next::<S, TokenRecord>(&mut entries)?;
            ancestors.extend(ancestor.map(|ancestor| (key, ancestor.record)));
        }
        let issuer_key = |record: &TokenRecord| record.issuer().map(mount_key);
        let mut mount_keys: BTreeSet<String> = records.filter_map(issuer_key).collect();
        mount_keys.extend(ancestors.values().filter_map(issuer_key));
        let mut entries = self.read_all(mount_keys.iter())?;
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
