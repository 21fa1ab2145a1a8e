//! Pools in the store.

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Attempt, Loaded, Transaction, commit_with_retries};

use super::default::take_away;
use super::listing;
use super::record::{AGENT_POOL_PREFIX, AgentPoolRecord, agent_pool_key, agent_pool_name_key};
use crate::audit_trail::AuditedOperations as _;
use crate::identifier::{is_identifier, random_identifier};
use crate::lookup::Located;
use crate::name::{self, FoldedName};
use crate::owned_keys::{self, PointerRecord, kind};
use crate::record::organization_key;
use crate::{
    AgentPool, AgentPoolChanges, AgentPoolError, AgentPoolFilter, AgentPoolOrder, AgentPoolPage,
    AgentPools, Attribute, AttributeIssue, Caller, Fault, Orgs, Resource, ServiceError, removal,
};

const NAME: &str = "name";
const ORGANIZATION_SCOPED: &str = "organization-scoped";

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    fn load_agent_pool(
        &self,
        organization: &str,
        id: &str,
    ) -> Result<Option<Loaded<AgentPoolRecord>>, ServiceError> {
        if !is_identifier(AGENT_POOL_PREFIX, id) {
            return Ok(None);
        }
        Ok(self.records.get(&agent_pool_key(organization, id))?)
    }

    /// Brings `changes` into `pool`. The folded name is the one that the pool has then.
    fn apply(
        &self,
        organization: &str,
        changes: &AgentPoolChanges,
        pool: &mut AgentPoolRecord,
    ) -> Result<FoldedName, AgentPoolError> {
        let mut issues = Vec::new();
        let mut add = |attribute, fault| issues.push(AttributeIssue::new(attribute, fault));
        let mut folded = None;
        match &changes.name {
            Attribute::WrongType => add(NAME, Fault::NotText),
            change => {
                let current = FoldedName::fold(&pool.name);
                match change {
                    Attribute::Value(name) => pool.name.clone_from(name),
                    Attribute::Null => pool.name.clear(),
                    _ => {}
                }
                name::faults(&pool.name).for_each(|fault| add(NAME, fault));
                folded = FoldedName::fold(&pool.name);
                if let Some(new) = folded.as_ref().filter(|_| folded != current) {
                    let key = agent_pool_name_key(organization, new);
                    if self.records.get::<PointerRecord>(&key)?.is_some() {
                        add(NAME, Fault::Taken);
                    }
                }
            }
        }
        match &changes.organization_scoped {
            Attribute::Absent => {}
            Attribute::Null => pool.organization_scoped = true,
            Attribute::WrongType => add(ORGANIZATION_SCOPED, Fault::NotBoolean),
            Attribute::Value(scoped) => pool.organization_scoped = *scoped,
        }
        match folded {
            Some(folded) if issues.is_empty() => Ok(folded),
            _ => Err(AgentPoolError::Invalid(issues)),
        }
    }

    fn try_create_agent_pool(
        &self,
        organization: &str,
        changes: &AgentPoolChanges,
        by: &Caller,
    ) -> Result<Attempt<AgentPoolRecord>, AgentPoolError> {
        let mut transaction = Transaction::new();
        if !self.require_existing(&mut transaction, organization)? {
            return Err(AgentPoolError::NotFound);
        }
        let mut pool = AgentPoolRecord {
            id: random_identifier(AGENT_POOL_PREFIX, &self.random).map_err(ServiceError::from)?,
            name: String::new(),
            created_at: self.clock.now_milliseconds(),
            organization_scoped: true,
        };
        let folded = self.apply(organization, changes, &mut pool)?;
        let most = self.bounds()?.agent_pools_per_organization;
        if !self.count_one_more(&mut transaction, organization, kind::AGENT_POOL, most)? {
            return Err(AgentPoolError::TooMany(most));
        }
        let name_key = agent_pool_name_key(organization, &folded);
        transaction
            .require_absent(&name_key)
            .put(name_key, &PointerRecord::to(&pool.id))?;
        owned_keys::put_new(
            &mut transaction,
            organization,
            kind::AGENT_POOL,
            &pool.id,
            &pool,
        )?;
        let audited = Resource::AgentPool.created(&pool.id);
        self.note(&mut transaction, organization, by, audited)?;
        let outcome = self.records.commit(transaction);
        Ok(Attempt::from_commit(outcome, pool)?)
    }

    fn try_update_agent_pool(
        &self,
        organization: &str,
        id: &str,
        changes: &AgentPoolChanges,
        by: &Caller,
    ) -> Result<Attempt<AgentPoolRecord>, AgentPoolError> {
        let stored = self.load_agent_pool(organization, id)?;
        let stored = stored.ok_or(AgentPoolError::NotFound)?;
        let mut transaction = Transaction::new();
        if !self.require_existing(&mut transaction, organization)? {
            return Err(AgentPoolError::NotFound);
        }
        let mut pool = stored.record.clone();
        let folded = self.apply(organization, changes, &mut pool)?;
        if pool == stored.record {
            return Ok(Attempt::Done(pool));
        }
        let key = agent_pool_key(organization, id);
        transaction.require(&key, stored.version).put(key, &pool)?;
        if let Some(old) = FoldedName::fold(&stored.record.name).filter(|old| *old != folded) {
            let name_key = agent_pool_name_key(organization, &folded);
            transaction
                .require_absent(&name_key)
                .put(name_key, &PointerRecord::to(id))?
                .delete(agent_pool_name_key(organization, &old));
        }
        let audited = Resource::AgentPool.updated(id);
        self.note(&mut transaction, organization, by, audited)?;
        let outcome = self.records.commit(transaction);
        Ok(Attempt::from_commit(outcome, pool)?)
    }

    fn try_delete_agent_pool(
        &self,
        organization: &str,
        id: &str,
        by: &Caller,
    ) -> Result<Attempt<bool>, ServiceError> {
        let Some(pool) = self.load_agent_pool(organization, id)? else {
            return Ok(Attempt::Done(false));
        };
        let (owner_name, owner) = match self.locate(organization)? {
            Located::Gone => return Ok(Attempt::Done(false)),
            Located::Moved => return Ok(Attempt::Conflicted),
            Located::Here(found) => found,
        };
        let owner_key = organization_key(&owner_name);
        let mut transaction = Transaction::new();
        // Also where the pool is no default: it must not become one meanwhile.
        transaction.require(&owner_key, owner.version);
        let mut settings = owner.record.settings.clone();
        take_away(&mut settings, id);
        if settings != owner.record.settings {
            let mut owner = owner.record;
            owner.settings = settings;
            transaction.put(owner_key, &owner)?;
            let audited = Resource::Organization.updated(organization);
            self.note(&mut transaction, organization, by, audited)?;
        }
        transaction.require(agent_pool_key(organization, id), pool.version);
        owned_keys::delete(&mut transaction, organization, kind::AGENT_POOL, id);
        self.count_one_less(&mut transaction, organization, kind::AGENT_POOL)?;
        if let Some(name) = FoldedName::fold(&pool.record.name) {
            transaction.delete(agent_pool_name_key(organization, &name));
        }
        removal::mark(&mut transaction, id)?;
        let audited = Resource::AgentPool.destroyed(id);
        self.note(&mut transaction, organization, by, audited)?;
        let outcome = self.records.commit(transaction);
        Ok(Attempt::from_commit(outcome, true)?)
    }
}

impl<S: Store, C: Clock, R: Random> AgentPools for Orgs<S, C, R> {
    fn create_agent_pool(
        &self,
        organization: &str,
        changes: &AgentPoolChanges,
        by: &Caller,
    ) -> Result<AgentPool, AgentPoolError> {
        let made = commit_with_retries(&self.clock, &self.random, || {
            self.try_create_agent_pool(organization, changes, by)
        });
        made.map(AgentPool::from)
    }

    fn find_agent_pool(
        &self,
        organization: &str,
        id: &str,
    ) -> Result<Option<AgentPool>, ServiceError> {
        let stored = self.load_agent_pool(organization, id)?;
        Ok(stored.map(|stored| stored.record.into()))
    }

    fn list_agent_pools(
        &self,
        organization: &str,
        filter: &AgentPoolFilter,
        order: AgentPoolOrder,
        number: u32,
        size: u32,
    ) -> Result<AgentPoolPage, ServiceError> {
        listing::page(&self.records, organization, filter, order, number, size)
    }

    fn update_agent_pool(
        &self,
        organization: &str,
        id: &str,
        changes: &AgentPoolChanges,
        by: &Caller,
    ) -> Result<AgentPool, AgentPoolError> {
        let changed = commit_with_retries(&self.clock, &self.random, || {
            self.try_update_agent_pool(organization, id, changes, by)
        });
        changed.map(AgentPool::from)
    }

    fn delete_agent_pool(
        &self,
        organization: &str,
        id: &str,
        by: &Caller,
    ) -> Result<bool, ServiceError> {
        let removed = commit_with_retries(&self.clock, &self.random, || {
            self.try_delete_agent_pool(organization, id, by)
        })?;
        if removed {
            // The pool is gone, and its tokens are not valid any more; records that cannot be removed now are removed later.
            let _ = self.sweep(id);
        }
        Ok(removed)
    }
}
