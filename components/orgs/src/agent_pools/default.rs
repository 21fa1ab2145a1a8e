//! The pools that an organization has for its defaults (contract 2.8).
//!
//! A request that makes a pool the default checks in the same commit that the pool is as it was read; a request that removes a pool checks
//! that the organization is, and takes the pool from it. So no order of the two leaves an organization with a pool that is gone.

use std::collections::BTreeMap;

use gatehouse_ports::{Clock, Random, Store, Version};
use gatehouse_storage::Transaction;

use super::record::{AGENT_POOL_PREFIX, AgentPoolRecord, agent_pool_key};
use crate::identifier::is_identifier;
use crate::{Attribute, ExecutionMode, OrganizationChanges, Orgs, ServiceError, Settings};

/// The pools that a request names and the organization has, as they were read.
#[derive(Debug, Default)]
pub(crate) struct NamedPools(BTreeMap<String, Version>);

impl NamedPools {
    /// Pools that an organization is taken to have.
    #[cfg(test)]
    pub(crate) fn taken_for_known(ids: &[&str]) -> Self {
        Self(ids.iter().map(|id| ((*id).to_owned(), 1)).collect())
    }

    /// True if the organization has this one.
    pub(crate) fn contains(&self, id: &str) -> bool {
        self.0.contains_key(id)
    }

    /// Adds to `transaction` that they are still there.
    pub(crate) fn require(&self, transaction: &mut Transaction, external_id: &str) {
        for (id, version) in &self.0 {
            transaction.require(agent_pool_key(external_id, id), *version);
        }
    }
}

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    /// Looks up the pools that a request names in the organization with this external id.
    pub(crate) fn named_pools(
        &self,
        external_id: &str,
        changes: &OrganizationChanges,
    ) -> Result<NamedPools, ServiceError> {
        let mentioned = [
            &changes.default_agent_pool_id,
            &changes.default_agent_pool,
            &changes.stacks_default_agent_pool,
        ];
        let ids: Vec<&str> = mentioned
            .into_iter()
            .filter_map(|change| match change {
                Attribute::Value(id) if is_identifier(AGENT_POOL_PREFIX, id) => Some(id.as_str()),
                _ => None,
            })
            .collect();
        let keys: Vec<String> = ids
            .iter()
            .map(|id| agent_pool_key(external_id, id))
            .collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let found = self.records.get_all::<AgentPoolRecord>(&keys)?;
        let found = ids.into_iter().zip(found);
        Ok(NamedPools(
            found
                .filter_map(|(id, pool)| Some((id.to_owned(), pool?.version)))
                .collect(),
        ))
    }
}

/// Takes a pool from the settings of an organization, which is going to have it no more. What ran there by default runs remotely.
pub(super) fn take_away(settings: &mut Settings, id: &str) {
    if settings.default_agent_pool_id.as_deref() == Some(id) {
        settings.default_agent_pool_id = None;
        settings.default_execution_mode = ExecutionMode::Remote;
    }
    if settings.stacks_default_agent_pool_id.as_deref() == Some(id) {
        settings.stacks_default_agent_pool_id = None;
        settings.stacks_default_execution_mode = ExecutionMode::Remote;
    }
}
