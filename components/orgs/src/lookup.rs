//! Organizations by their external ids, which is how everything that belongs to one knows it.

use std::collections::{BTreeMap, BTreeSet};

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Attempt, Loaded, Records, Transaction};

use crate::audit_trail::AuditedOperation;
use crate::identifier::is_identifier;
use crate::name::FoldedName;
use crate::record::EXTERNAL_ID_PREFIX;
use crate::record::{ExternalIdRecord, OrganizationRecord, external_id_key, organization_key};
use crate::retention::{DEFAULT_KEY, original};
use crate::sharing::{self, ConsumersRecord};
use crate::{
    Caller, Edition, Organization, Orgs, RetentionPolicy, ServiceError, Shared, directory,
};

/// An organization in the store, and the name under which it is there.
pub(crate) type Found = (FoldedName, Loaded<OrganizationRecord>);

/// The result of one look for an organization. Its name is one read and its record another.
// There is never more than one of these at a time.
#[allow(clippy::large_enum_variant)]
pub(crate) enum Located {
    /// There is none.
    Gone,
    /// Between the two reads it got another name, or came to its end: the next look will tell.
    Moved,
    /// This one.
    Here(Found),
}

impl Located {
    /// The organization; `None` where to look again. Where there is none, that is the error `gone`.
    pub fn unless_gone<E>(self, gone: E) -> Result<Option<Found>, E> {
        match self {
            Self::Gone => Err(gone),
            Self::Moved => Ok(None),
            Self::Here(found) => Ok(Some(found)),
        }
    }
}

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    /// Looks for the organization that has this external id.
    pub(crate) fn locate(&self, external_id: &str) -> Result<Located, ServiceError> {
        if !is_identifier(EXTERNAL_ID_PREFIX, external_id) {
            return Ok(Located::Gone);
        }
        let Some(existing) = self.existing(external_id.to_owned())? else {
            return Ok(Located::Gone);
        };
        let Some(name) = FoldedName::fold(&existing.name) else {
            return Ok(Located::Gone);
        };
        let stored = self.load(&name)?;
        let stored = stored.filter(|stored| stored.record.external_id == external_id);
        Ok(stored.map_or(Located::Moved, |stored| Located::Here((name, stored))))
    }

    /// Commits `transaction`, and with it the organization as it is now, which keeps its name, and the records of what was
    /// done. Where nothing is different, nothing is committed.
    pub(crate) fn replace_record(
        &self,
        (name, before): &Found,
        after: &OrganizationRecord,
        mut transaction: Transaction,
        by: &Caller,
        audited_operations: &[AuditedOperation<'_>],
    ) -> Result<Attempt<OrganizationRecord>, ServiceError> {
        if transaction.is_empty() && *after == before.record {
            return Ok(Attempt::Done(after.clone()));
        }
        let key = organization_key(name);
        sharing::index(&mut transaction, &before.record, after)?;
        directory::note(
            &mut transaction,
            Some((name, &before.record)),
            Some((name, after)),
        )?;
        for audited in audited_operations {
            self.note(&mut transaction, &after.external_id, by, *audited)?;
        }
        transaction.require(&key, before.version).put(&key, after)?;
        let outcome = self.records.commit(transaction);
        Ok(Attempt::from_commit(outcome, after.clone())?)
    }

    /// Adds what organizations show beside their records: what the installation does by default, and how many consumers there
    /// still are of those that they have named. One read tells the first, and two more the second for all that have named any.
    pub(crate) fn complete(&self, organizations: &mut [Organization]) -> Result<(), ServiceError> {
        if self.edition == Edition::Hosted || organizations.is_empty() {
            return Ok(());
        }
        let naming = |organization: &Organization| {
            let id = &organization.external_id;
            [
                (Shared::Modules, organization.module_consumers),
                (Shared::Providers, organization.provider_consumers),
            ]
            .into_iter()
            .filter(|(_, named)| *named > 0)
            .map(|(shared, _)| sharing::consumers_key(shared, id))
            .collect::<Vec<_>>()
        };
        let keys: Vec<String> = organizations.iter().flat_map(naming).collect();
        let mut wanted = vec![DEFAULT_KEY];
        wanted.extend(keys.iter().map(String::as_str));
        let mut entries = self.records.store().get(&wanted)?.into_iter();
        let default = Records::<S>::load::<RetentionPolicy>(entries.next().flatten())?;
        let default = default.map_or_else(original, |stored| stored.record);
        for organization in &mut *organizations {
            organization.default_retention = default.rule;
        }
        if keys.is_empty() {
            return Ok(());
        }
        let mut named = BTreeMap::new();
        for (key, entry) in keys.into_iter().zip(entries) {
            let stored = Records::<S>::load::<ConsumersRecord>(entry)?;
            let consumers = stored.map(|stored| stored.record.consumers);
            let ids = consumers.unwrap_or_default().into_iter();
            named.insert(key, ids.map(|found| found.organization).collect::<Vec<_>>());
        }
        let living = self.living(named.values().flatten().map(String::as_str).collect())?;
        let count = |shared: Shared, id: &str| {
            let named = named.get(&sharing::consumers_key(shared, id));
            let living = named.map_or(0, |named| {
                named.iter().filter(|id| living.contains(*id)).count()
            });
            u32::try_from(living).unwrap_or(u32::MAX)
        };
        for organization in organizations {
            let id = &organization.external_id;
            organization.module_consumers = count(Shared::Modules, id);
            organization.provider_consumers = count(Shared::Providers, id);
        }
        Ok(())
    }

    /// Those of the external ids whose organizations are there.
    fn living(&self, ids: BTreeSet<&str>) -> Result<BTreeSet<String>, ServiceError> {
        let keys: Vec<String> = ids.iter().map(|id| external_id_key(id)).collect();
        let found = self.get_many::<ExternalIdRecord>(&keys)?;
        let living = ids
            .into_iter()
            .zip(found)
            .filter(|(_, found)| found.is_some());
        Ok(living.map(|(id, _)| id.to_owned()).collect())
    }
}
