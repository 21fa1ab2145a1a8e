//! Liveness of many tokens at once: the question of [`AccessService::live_token`] for a page of records.

use std::collections::{BTreeMap, BTreeSet};

use gatehouse_ports::{Clock, Random, Store};

use crate::api::ServiceError;
use crate::lineage::youngest_gone;
use crate::records::{
    MountRecord, RelinquishedRecord, TokenRecord, mount_key, relinquished_key, token_key,
};
use crate::secret::TokenHash;
use crate::service::{AccessService, load_next};

/// Everything that the validity of some tokens rests on besides their own records.
#[derive(Default)]
pub(crate) struct Foundations {
    now: u64,
    /// The ancestors that exist, valid or not.
    ancestors: BTreeMap<TokenHash, TokenRecord>,
    /// The ancestors that ended without their children.
    relinquished: BTreeSet<TokenHash>,
    /// By their keys.
    mounts: BTreeMap<String, MountRecord>,
}

impl Foundations {
    /// True if the token of `record` is valid.
    pub(crate) fn carry(&self, record: &TokenRecord) -> bool {
        let gone = self.youngest_gone(record);
        self.carry_itself(record) && gone.is_none_or(|gone| self.relinquished.contains(gone))
    }

    /// True if the token is valid as far as its ancestors do not matter.
    fn carry_itself(&self, record: &TokenRecord) -> bool {
        let is_honoured = record.issuer().is_none_or(|path| {
            let mount = self.mounts.get(&mount_key(path));
            mount.is_some_and(|mount| mount.honours(record))
        });
        is_honoured && record.is_alive_at(self.now)
    }

    fn youngest_gone<'a>(&self, record: &'a TokenRecord) -> Option<&'a TokenHash> {
        let stands = |ancestor: &TokenHash| {
            let ancestor = self.ancestors.get(ancestor);
            ancestor.is_some_and(|ancestor| self.carry_itself(ancestor))
        };
        let gone = youngest_gone(record.ancestors.iter().map(stands))?;
        record.ancestors.get(gone)
    }
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// Reads what the validity of `records` rests on, each ancestor and each mount once.
    pub(crate) fn foundations<'a>(
        &self,
        records: impl Iterator<Item = &'a TokenRecord> + Clone,
    ) -> Result<Foundations, ServiceError> {
        let mut foundations = Foundations {
            now: self.clock.now_seconds(),
            ..Foundations::default()
        };
        let named: BTreeSet<&TokenHash> = records
            .clone()
            .flat_map(|record| &record.ancestors)
            .collect();
        let ancestor_keys: Vec<String> = named.iter().map(|hash| token_key(hash)).collect();
        let mut entries = self.read_all(ancestor_keys.iter())?;
        for hash in named {
            let ancestor = load_next::<S, TokenRecord>(&mut entries)?;
            let ancestor = ancestor.map(|ancestor| (hash.clone(), ancestor.record));
            foundations.ancestors.extend(ancestor);
        }

        let issuer_key = |record: &TokenRecord| record.issuer().map(mount_key);
        let mut mount_keys: BTreeSet<String> = records.clone().filter_map(issuer_key).collect();
        mount_keys.extend(foundations.ancestors.values().filter_map(issuer_key));
        let mut entries = self.read_all(mount_keys.iter())?;
        for key in mount_keys {
            let mount = load_next::<S, MountRecord>(&mut entries)?;
            let mount = mount.map(|mount| (key, mount.record));
            foundations.mounts.extend(mount);
        }

        let gone: BTreeSet<&TokenHash> = records
            .filter_map(|record| foundations.youngest_gone(record))
            .collect();
        foundations.relinquished = self.relinquished_among(gone)?;
        Ok(foundations)
    }

    /// Those of `hashes` whose tokens ended without their children.
    pub(crate) fn relinquished_among(
        &self,
        hashes: BTreeSet<&TokenHash>,
    ) -> Result<BTreeSet<TokenHash>, ServiceError> {
        let keys: Vec<String> = hashes.iter().map(|hash| relinquished_key(hash)).collect();
        let mut entries = self.read_all(keys.iter())?;
        let mut relinquished = BTreeSet::new();
        for hash in hashes {
            if load_next::<S, RelinquishedRecord>(&mut entries)?.is_some() {
                relinquished.insert(hash.clone());
            }
        }
        Ok(relinquished)
    }
}
