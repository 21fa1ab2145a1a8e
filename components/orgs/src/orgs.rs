//! Organizations: how they come, change and go.

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Attempt, Transaction, commit_with_retries};

use crate::agent_pools::default::NamedPools;
use crate::audit_trail::AuditedOperations as _;
use crate::identifier::random_identifier;
use crate::listing::Listing;
use crate::lookup::Located;
use crate::name::{self, FoldedName};
use crate::plans::{SUBSCRIPTION_PREFIX, SubscriptionRecord};
use crate::record::EXTERNAL_ID_PREFIX;
use crate::record::{
    CountRecord, DISABLED_COUNT_KEY, ExternalIdRecord, OrganizationRecord, count_key, count_keys,
    external_id_key, organization_key,
};
use crate::team::TEAM_PREFIX;
use crate::{
    AccessDecision, Administration, Attribute, Batch, Caller, CreateError, Decision, Description,
    Fault, Field, FieldFault, Filter, Identity, Organization, OrganizationChanges,
    OrganizationRole, Organizations, Orgs, Page, Principal, Resource, ServiceError, Settings,
    UpdateError, Viewer, directory, plans, removal, rules, sharing,
};

const PROJECT_PREFIX: &str = "prj-";

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    /// An organization as the edition shows it.
    pub(crate) fn to_organization(
        &self,
        record: OrganizationRecord,
    ) -> Result<Organization, ServiceError> {
        let mut organization = record.into_organization(self.view());
        self.complete(std::slice::from_mut(&mut organization))?;
        Ok(organization)
    }

    /// Organizations as the edition shows them, in their order.
    pub(crate) fn to_organizations(
        &self,
        records: impl IntoIterator<Item = OrganizationRecord>,
    ) -> Result<Vec<Organization>, ServiceError> {
        let view = self.view();
        let records = records.into_iter();
        let mut organizations: Vec<_> = records
            .map(|record| record.into_organization(view))
            .collect();
        self.complete(&mut organizations)?;
        Ok(organizations)
    }

    const fn listing(&self) -> Listing<'_, S, C, R> {
        Listing::new(self)
    }

    /// Judges the name that a request wants for the organization that is called `current`, or for a new one. The name is `None`
    /// if the request mentions none or a bad one.
    fn judge_name<'c>(
        &self,
        change: &'c Attribute<String>,
        current: Option<&FoldedName>,
    ) -> Result<(Option<NewName<'c>>, Vec<FieldFault>), ServiceError> {
        let text = match change {
            Attribute::Absent if current.is_some() => return Ok((None, Vec::new())),
            Attribute::Absent | Attribute::Null => "",
            Attribute::WrongType => return Ok((None, vec![name_fault(Fault::NotText)])),
            Attribute::Value(text) => text.as_str(),
        };
        let Some(folded) = FoldedName::fold(text) else {
            return Ok((None, name::faults(text).map(name_fault).collect()));
        };
        let is_own = current == Some(&folded);
        let is_taken = !is_own && self.load(&folded)?.is_some();
        let faults = is_taken.then(|| name_fault(Fault::Taken));
        Ok((Some(NewName { text, folded }), faults.into_iter().collect()))
    }

    fn try_create(
        &self,
        changes: &OrganizationChanges,
        settings: &Settings,
        faults_of_settings: &[FieldFault],
        by: &Caller,
    ) -> Result<Attempt<OrganizationRecord>, CreateError> {
        let (name, mut faults) = self.judge_name(&changes.name, None)?;
        faults.extend_from_slice(faults_of_settings);
        let Some(name) = name.filter(|_| faults.is_empty()) else {
            return Err(CreateError::Invalid(faults));
        };
        let identifier =
            |prefix| random_identifier(prefix, &self.random).map_err(ServiceError::from);
        let record = OrganizationRecord {
            name: name.text.to_owned(),
            external_id: identifier(EXTERNAL_ID_PREFIX)?,
            created_at: self.clock.now_milliseconds(),
            default_project_id: identifier(PROJECT_PREFIX)?,
            owners_team_id: identifier(TEAM_PREFIX)?,
            subscription: SubscriptionRecord::new(identifier(SUBSCRIPTION_PREFIX)?),
            settings: settings.clone(),
            disabled: false,
            global_module_sharing: false,
            global_provider_sharing: false,
            module_consumers: 0,
            provider_consumers: 0,
            retention: None,
            administration: Administration::default(),
        };
        let external_id_key = external_id_key(&record.external_id);
        let organization_key = organization_key(&name.folded);
        let mut transaction = Transaction::new();
        transaction
            .require_absent(&organization_key)
            .require_absent(&external_id_key)
            .put(&organization_key, &record)?
            .put(&external_id_key, &external_id_record(&name.folded))?;
        self.count(&mut transaction, &record.external_id, |organizations| {
            organizations.saturating_add(1)
        })?;
        self.add_initial_resources(&mut transaction, &record, by)?;
        directory::note(&mut transaction, None, Some((&name.folded, &record)))?;
        let audited = Resource::Organization.created(&record.external_id);
        self.note(&mut transaction, &record.external_id, by, audited)?;
        let outcome = self.records.commit(transaction);
        Ok(Attempt::from_commit(outcome, record)?)
    }

    fn try_update(
        &self,
        external_id: &str,
        changes: &OrganizationChanges,
        by: &Caller,
    ) -> Result<Attempt<OrganizationRecord>, UpdateError> {
        let found = self.locate(external_id)?;
        let Some((name, stored)) = found.unless_gone(UpdateError::NotFound)? else {
            return Ok(Attempt::Conflicted);
        };
        let mut record = stored.record.clone();
        let (new_name, mut faults) = self.judge_name(&changes.name, Some(&name))?;
        let pools = self.named_pools(&record.external_id, changes)?;
        faults.extend(rules::apply(
            self.edition,
            changes,
            &pools,
            &mut record.settings,
        ));
        if !faults.is_empty() {
            return Err(UpdateError::Invalid(faults));
        }
        let mut folded = name.clone();
        if let Some(new_name) = new_name {
            new_name.text.clone_into(&mut record.name);
            folded = new_name.folded;
        }
        if record == stored.record {
            return Ok(Attempt::Done(record));
        }
        let old_key = organization_key(&name);
        let new_key = organization_key(&folded);
        let mut transaction = Transaction::new();
        transaction
            .require(&old_key, stored.version)
            .put(&new_key, &record)?;
        pools.require(&mut transaction, &record.external_id);
        if new_key != old_key {
            transaction.require_absent(&new_key).delete(&old_key).put(
                external_id_key(&record.external_id),
                &external_id_record(&folded),
            )?;
        }
        directory::note(
            &mut transaction,
            Some((&name, &stored.record)),
            Some((&folded, &record)),
        )?;
        let audited = Resource::Organization.updated(&record.external_id);
        self.note(&mut transaction, &record.external_id, by, audited)?;
        let outcome = self.records.commit(transaction);
        Ok(Attempt::from_commit(outcome, record)?)
    }

    /// True if there was one.
    fn try_delete(&self, external_id: &str, by: &Caller) -> Result<Attempt<bool>, ServiceError> {
        let (name, stored) = match self.locate(external_id)? {
            Located::Gone => return Ok(Attempt::Done(false)),
            Located::Moved => return Ok(Attempt::Conflicted),
            Located::Here(found) => found,
        };
        let key = organization_key(&name);
        let mut transaction = Transaction::new();
        transaction
            .require(&key, stored.version)
            .delete(&key)
            .delete(external_id_key(external_id));
        self.count(&mut transaction, external_id, |organizations| {
            organizations.saturating_sub(1)
        })?;
        directory::note(&mut transaction, Some((&name, &stored.record)), None)?;
        if stored.record.disabled {
            self.count_at(
                &mut transaction,
                DISABLED_COUNT_KEY.to_owned(),
                |disabled| disabled.saturating_sub(1),
            )?;
        }
        sharing::end_producer(&mut transaction, &stored.record);
        removal::mark(&mut transaction, external_id)?;
        let audited = Resource::Organization.destroyed(external_id);
        self.note(&mut transaction, external_id, by, audited)?;
        Ok(Attempt::from_commit(
            self.records.commit(transaction),
            true,
        )?)
    }

    /// How many organizations there are.
    pub(crate) fn total(&self) -> Result<u64, ServiceError> {
        let keys = count_keys();
        let mut total = 0;
        let mut counts = self.cache.read(self.records.store(), keys.clone())?;
        for _ in keys {
            let count = counts.next_record::<CountRecord>()?;
            total += count.map_or(0, |count| count.record.organizations);
        }
        Ok(total)
    }

    /// Adds to `transaction` that the number of organizations changes.
    fn count(
        &self,
        transaction: &mut Transaction,
        external_id: &str,
        change: impl FnOnce(u64) -> u64,
    ) -> Result<(), ServiceError> {
        self.count_at(transaction, count_key(external_id), change)
    }

    /// The same of any counter.
    pub(crate) fn count_at(
        &self,
        transaction: &mut Transaction,
        key: String,
        change: impl FnOnce(u64) -> u64,
    ) -> Result<(), ServiceError> {
        let stored = self.records.get::<CountRecord>(&key)?;
        let version = stored.as_ref().map(|stored| stored.version);
        let organizations = stored.map_or(0, |stored| stored.record.organizations);
        let counted = CountRecord {
            organizations: change(organizations),
        };
        transaction
            .require_unchanged(&key, version)
            .put(&key, &counted)?;
        Ok(())
    }
}

impl<S: Store, C: Clock, R: Random> Organizations for Orgs<S, C, R> {
    fn create(
        &self,
        changes: &OrganizationChanges,
        role_by_policies: Option<OrganizationRole>,
        by: &Caller,
    ) -> Result<AccessDecision, CreateError> {
        let mut settings = Settings::default();
        // A new organization has no pools.
        let faults = rules::apply(self.edition, changes, &NamedPools::default(), &mut settings);
        let record = commit_with_retries(&self.clock, &self.random, || {
            self.try_create(changes, &settings, &faults, by)
        })?;
        self.directory().keep_up(&record.external_id);
        let mut made = AccessDecision {
            organization: self.to_organization(record)?,
            role: role_of_maker(&by.identity),
            rights: Vec::new(),
            teams: Vec::new(),
            decision: Decision::Allowed,
            entitlements: Vec::new(),
            permissions: Vec::new(),
            also_allowed: false,
            own_membership: None,
        };
        let described = Description {
            entitlements: true,
            permissions: true,
        };
        plans::describe(&mut made, described, role_by_policies);
        Ok(made)
    }

    fn read(&self, name: &str) -> Result<Option<Organization>, ServiceError> {
        let Some(name) = FoldedName::fold(name) else {
            return Ok(None);
        };
        let stored = self.load(&name)?;
        stored
            .map(|stored| self.to_organization(stored.record))
            .transpose()
    }

    fn find(&self, external_id: &str) -> Result<Option<Organization>, ServiceError> {
        let found = commit_with_retries(&self.clock, &self.random, || {
            Ok::<_, ServiceError>(match self.locate(external_id)? {
                Located::Gone => Attempt::Done(None),
                Located::Moved => Attempt::Conflicted,
                Located::Here((_, found)) => Attempt::Done(Some(found.record)),
            })
        })?;
        found.map(|found| self.to_organization(found)).transpose()
    }

    fn list(
        &self,
        viewer: &Viewer,
        filter: &Filter,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Batch, ServiceError> {
        self.listing().batch(viewer, filter, after, limit)
    }

    fn page_at(
        &self,
        viewer: &Viewer,
        filter: &Filter,
        number: u32,
        size: u32,
    ) -> Result<Page, ServiceError> {
        self.listing().page(viewer, filter, number, size)
    }

    fn update(
        &self,
        external_id: &str,
        changes: &OrganizationChanges,
        by: &Caller,
    ) -> Result<Organization, UpdateError> {
        let record = commit_with_retries(&self.clock, &self.random, || {
            self.try_update(external_id, changes, by)
        })?;
        self.directory().keep_up(external_id);
        self.to_organization(record).map_err(UpdateError::from)
    }

    fn delete(&self, external_id: &str, by: &Caller) -> Result<bool, ServiceError> {
        let is_removed = commit_with_retries(&self.clock, &self.random, || {
            self.try_delete(external_id, by)
        })?;
        if !is_removed {
            return Ok(false);
        }
        // It is gone; what cannot be cleared away now is cleared away later.
        let _ = self.sweep(external_id);
        self.directory().keep_up(external_id);
        Ok(true)
    }

    fn clear_removed_away(&self) -> Result<(), ServiceError> {
        self.sweep_all()
    }

    fn clear_teams_away(&self) -> Result<(), ServiceError> {
        self.sweep_teams()
    }

    fn enter_names(&self) -> Result<(), ServiceError> {
        self.directory().enter_pending()
    }
}

/// A name that an organization can have, as it is written and as it is compared.
struct NewName<'a> {
    text: &'a str,
    folded: FoldedName,
}

/// The role of the maker of an organization: only people and known workloads own what they make.
const fn role_of_maker(identity: &Identity) -> Option<OrganizationRole> {
    if identity.is_site_administrator() {
        return Some(OrganizationRole::SiteAdministrator);
    }
    match identity.principal {
        Principal::User(_) | Principal::Workload(Some(_)) => Some(OrganizationRole::Owner),
        _ => None,
    }
}

const fn name_fault(fault: Fault) -> FieldFault {
    FieldFault {
        field: Field::Name,
        fault,
    }
}

fn external_id_record(name: &FoldedName) -> ExternalIdRecord {
    ExternalIdRecord {
        name: name.as_str().to_owned(),
    }
}
