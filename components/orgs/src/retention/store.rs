//! Data retention policies in the store.
//!
//! An organization's own is in the organization's record, so that it comes and goes with it.
//!
//! - `site/data-retention-policy`: the installation's, once a site administrator has set one.

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Attempt, Transaction, commit_with_retries};

use crate::audit_trail::{AuditedOperation, AuditedOperations as _, INSTALLATION};
use crate::identifier::random_identifier;
use crate::issues::Issues;
use crate::numbers::LARGEST_NUMBER;
use crate::record::OrganizationRecord;
use crate::{
    Attribute, Caller, ChangeError, Fault, Orgs, Resource, Retention, RetentionDetail,
    RetentionDetailChange, RetentionKind, RetentionPolicy, RetentionRequest, RetentionRule,
    ServiceError,
};

const POLICY_PREFIX: &str = "drp-";

/// The id of what the installation begins with, which is stored nowhere.
const ORIGINAL_ID: &str = "drp-0000000000000000";

pub(crate) const DEFAULT_KEY: &str = "site/data-retention-policy";

/// The policy that the installation begins with.
pub(crate) fn original() -> RetentionPolicy {
    RetentionPolicy {
        id: ORIGINAL_ID.to_owned(),
        rule: RetentionRule::default(),
        state_versions: RetentionDetail::default(),
        configuration_versions: RetentionDetail::default(),
        run_data_and_logs: RetentionDetail::default(),
    }
}

impl<S: Store, C: Clock, R: Random> Retention for Orgs<S, C, R> {
    fn set_retention(
        &self,
        external_id: &str,
        request: &RetentionRequest,
        by: &Caller,
    ) -> Result<RetentionPolicy, ChangeError> {
        let wanted = judge(request)?;
        let record = commit_with_retries(&self.clock, &self.random, || {
            self.try_set_retention(external_id, Some(wanted.clone()), by)
        })?;
        record.retention.ok_or(ChangeError::NotFound)
    }

    fn unset_retention(&self, external_id: &str, by: &Caller) -> Result<(), ChangeError> {
        commit_with_retries(&self.clock, &self.random, || {
            self.try_set_retention(external_id, None, by)
        })?;
        Ok(())
    }

    fn default_retention(&self) -> Result<RetentionPolicy, ServiceError> {
        let stored = self.records.get::<RetentionPolicy>(DEFAULT_KEY)?;
        Ok(stored.map_or_else(original, |stored| stored.record))
    }

    fn set_default_retention(
        &self,
        request: &RetentionRequest,
        by: &Caller,
    ) -> Result<RetentionPolicy, ChangeError> {
        let wanted = judge(request)?;
        commit_with_retries(&self.clock, &self.random, || {
            let stored = self.records.get::<RetentionPolicy>(DEFAULT_KEY)?;
            let version = stored.as_ref().map(|stored| stored.version);
            let current = stored.map(|stored| stored.record);
            let original = original();
            let policy =
                self.replaced(Some(current.as_ref().unwrap_or(&original)), wanted.clone())?;
            let mut transaction = Transaction::new();
            transaction
                .require_unchanged(DEFAULT_KEY, version)
                .put(DEFAULT_KEY, &policy)?;
            for audited in audited_operations(current.as_ref(), Some(&policy)) {
                self.note(&mut transaction, INSTALLATION, by, audited)?;
            }
            let outcome = self.records.commit(transaction);
            Ok(Attempt::from_commit(outcome, policy)?)
        })
    }

    fn unset_default_retention(&self, by: &Caller) -> Result<(), ChangeError> {
        commit_with_retries(&self.clock, &self.random, || {
            let Some(stored) = self.records.get::<RetentionPolicy>(DEFAULT_KEY)? else {
                return Ok(Attempt::Done(()));
            };
            let mut transaction = Transaction::new();
            transaction
                .require(DEFAULT_KEY, stored.version)
                .delete(DEFAULT_KEY);
            let audited = Resource::DataRetentionPolicy.destroyed(&stored.record.id);
            self.note(&mut transaction, INSTALLATION, by, audited)?;
            let outcome = self.records.commit(transaction);
            Ok(Attempt::from_commit(outcome, ())?)
        })
    }
}

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    fn try_set_retention(
        &self,
        external_id: &str,
        wanted: Option<RetentionPolicy>,
        by: &Caller,
    ) -> Result<Attempt<OrganizationRecord>, ChangeError> {
        let located = self.locate(external_id)?;
        let Some(found) = located.unless_gone(ChangeError::NotFound)? else {
            return Ok(Attempt::Conflicted);
        };
        let mut record = found.1.record.clone();
        let current = record.retention.take();
        record.retention = match wanted {
            Some(wanted) => Some(self.replaced(current.as_ref(), wanted)?),
            None => None,
        };
        let audited_operations = audited_operations(current.as_ref(), record.retention.as_ref());
        Ok(self.replace_record(&found, &record, Transaction::new(), by, &audited_operations)?)
    }

    /// `wanted` under the id of the policy that it replaces, if that is of the same kind, or else under a new one.
    fn replaced(
        &self,
        current: Option<&RetentionPolicy>,
        wanted: RetentionPolicy,
    ) -> Result<RetentionPolicy, ServiceError> {
        let same_kind = current.filter(|current| current.rule.kind() == wanted.rule.kind());
        let id = match same_kind {
            Some(current) => current.id.clone(),
            None => random_identifier(POLICY_PREFIX, &self.random)?,
        };
        Ok(RetentionPolicy { id, ..wanted })
    }
}

/// The records of one policy that comes in place of another, or of none. Under another id it is another policy. What the
/// installation begins with is none.
fn audited_operations<'p>(
    old: Option<&'p RetentionPolicy>,
    new: Option<&'p RetentionPolicy>,
) -> Vec<AuditedOperation<'p>> {
    let resource = Resource::DataRetentionPolicy;
    match (old, new) {
        (Some(old), Some(new)) if old.id == new.id => vec![resource.updated(&new.id)],
        (old, new) => {
            let ended = old.map(|old| resource.destroyed(&old.id));
            let begun = new.map(|new| resource.created(&new.id));
            ended.into_iter().chain(begun).collect()
        }
    }
}

/// The policy that is asked for, still without an id.
fn judge(request: &RetentionRequest) -> Result<RetentionPolicy, ChangeError> {
    let mut issues = Issues::default();
    let rule = match request.kind {
        RetentionKind::DontDelete => RetentionRule::DontDelete,
        RetentionKind::DeleteOlder => {
            let days = match request.days {
                Attribute::Value(days) => u64::try_from(days).unwrap_or(0),
                _ => 0,
            };
            if days == 0 {
                issues.add("delete-older-than-n-days", Fault::NotPositive);
            } else if days > u64::from(LARGEST_NUMBER) {
                issues.add("delete-older-than-n-days", Fault::TooLarge(LARGEST_NUMBER));
            }
            RetentionRule::DeleteOlder(days)
        }
    };
    let mut detail = |names: [&'static str; 3], change: &RetentionDetailChange| {
        let [delete, delete_after_days, keep_latest] = names;
        RetentionDetail {
            delete: issues.given(delete, &change.delete, Fault::NotBoolean),
            delete_after_days: issues.number(delete_after_days, &change.delete_after_days),
            keep_latest: issues.number(keep_latest, &change.keep_latest),
        }
    };
    let state_versions = detail(
        [
            "delete-state-versions",
            "state-versions-delete-after-n-days",
            "state-versions-keep-latest-count",
        ],
        &request.state_versions,
    );
    let configuration_versions = detail(
        [
            "delete-configuration-versions",
            "configuration-versions-delete-after-n-days",
            "configuration-versions-keep-latest-count",
        ],
        &request.configuration_versions,
    );
    let run_data_and_logs = detail(
        [
            "delete-run-data-and-logs",
            "run-data-and-logs-delete-after-n-days",
            "run-data-and-logs-keep-latest-count",
        ],
        &request.run_data_and_logs,
    );
    issues.none_or_refused()?;
    Ok(RetentionPolicy {
        id: String::new(),
        rule,
        state_versions,
        configuration_versions,
        run_data_and_logs,
    })
}
