//! Data retention policies, of organizations and of the installation (contract 4.5). They exist in the self-hosted edition only.

use gatehouse_access_api::Access;
use gatehouse_orgs_api::{
    Action, Capability, Edition, RetentionDetail, RetentionDetailChange, RetentionKind,
    RetentionPolicy, RetentionRequest, RetentionRule,
};
use serde_json::{Map, Value, json};

use super::Api;
use super::document::Document;
use super::input::{Input, Kinds, Members, dashed};
use super::problem::Problem;
use super::retention_kind::{DELETE_OLDERS, DONT_DELETES, retention_kind};
use super::transport::{json_api, no_content};
use crate::http::{Method, Response};

/// Where the policy of an organization is, below it.
const BELOW: &str = "relationships/data-retention-policy";

/// What the first releases called the policies that delete.
const LEGACY: &str = "data-retention-policies";

const DAYS: &str = "delete-older-than-n-days";

/// The sorts of data that a policy can say more about: the names of whether, after how many days, and how many stay. The contract
/// spells them in camel case, and members are read under their dashed names.
const STATE_VERSIONS: [&str; 3] = [
    "deleteStateVersions",
    "stateVersionsDeleteAfterNDays",
    "stateVersionsKeepLatestCount",
];
const CONFIGURATION_VERSIONS: [&str; 3] = [
    "deleteConfigurationVersions",
    "configurationVersionsDeleteAfterNDays",
    "configurationVersionsKeepLatestCount",
];
const RUN_DATA_AND_LOGS: [&str; 3] = [
    "deleteRunDataAndLogs",
    "runDataAndLogsDeleteAfterNDays",
    "runDataAndLogsKeepLatestCount",
];

/// Requests about data retention policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route<'a> {
    /// The policy that applies to the organization of this name.
    Show(&'a str),
    /// A policy of its own for it.
    Set(&'a str),
    /// No policy of its own for it.
    Unset(&'a str),
    /// The installation's policy.
    ShowDefault,
    /// Another one.
    SetDefault,
    /// What the installation began with.
    UnsetDefault,
}

impl<'a> Route<'a> {
    /// The route of a request.
    pub(super) fn of(method: Method, segments: &[&'a str]) -> Option<Self> {
        match (method, segments) {
            (
                method,
                [
                    "organizations",
                    name,
                    "relationships",
                    "data-retention-policy",
                ],
            ) => match method {
                Method::Get => Some(Self::Show(name)),
                Method::Post | Method::Patch => Some(Self::Set(name)),
                Method::Delete => Some(Self::Unset(name)),
                _ => None,
            },
            (method, ["admin", "data-retention-policy-settings"]) => match method {
                Method::Get => Some(Self::ShowDefault),
                Method::Post | Method::Patch => Some(Self::SetDefault),
                Method::Delete => Some(Self::UnsetDefault),
                _ => None,
            },
            _ => None,
        }
    }
}

impl<C: Access, O: Capability> Api<'_, C, O> {
    pub(super) fn answer_about_retention(&self, route: Route<'_>) -> Result<Response, Problem> {
        self.exists_only_in(Edition::SelfHosted)?;
        match route {
            Route::Show(name) => self.show_retention(name),
            Route::Set(name) => self.set_retention(name),
            Route::Unset(name) => self.unset_retention(name),
            Route::ShowDefault => self.show_default_retention(),
            Route::SetDefault => self.set_default_retention(),
            Route::UnsetDefault => self.unset_default_retention(),
        }
    }

    fn show_retention(&self, name: &str) -> Result<Response, Problem> {
        let entry = self.enter(name, Action::ReadRetention, Some(BELOW))?;
        let organization = entry.position.organization;
        Ok(match organization.retention {
            Some(policy) => shown(
                &policy,
                Some(&organization.name),
                retention_kind(policy.rule),
            ),
            None => {
                let policy = self.organizations.default_retention()?;
                shown(&policy, None, retention_kind(policy.rule))
            }
        })
    }

    fn set_retention(&self, name: &str) -> Result<Response, Problem> {
        let entry = self.enter(name, Action::WriteRetention, Some(BELOW))?;
        let organization = entry.position.organization;
        let (request, kind) = self.requested()?;
        let by = self.recorded_as(&entry.caller);
        let policy = self
            .organizations
            .set_retention(&organization.external_id, &request, &by)?;
        Ok(shown(&policy, Some(&organization.name), kind))
    }

    fn unset_retention(&self, name: &str) -> Result<Response, Problem> {
        let entry = self.enter(name, Action::WriteRetention, Some(BELOW))?;
        let external_id = &entry.position.organization.external_id;
        let by = self.recorded_as(&entry.caller);
        self.organizations.unset_retention(external_id, &by)?;
        Ok(no_content())
    }

    fn show_default_retention(&self) -> Result<Response, Problem> {
        self.administer()?;
        let policy = self.organizations.default_retention()?;
        Ok(shown(&policy, None, retention_kind(policy.rule)))
    }

    fn set_default_retention(&self) -> Result<Response, Problem> {
        let caller = self.administer()?;
        let (request, kind) = self.requested()?;
        let by = self.recorded_as(&caller);
        let policy = self.organizations.set_default_retention(&request, &by)?;
        Ok(shown(&policy, None, kind))
    }

    fn unset_default_retention(&self) -> Result<Response, Problem> {
        let caller = self.administer()?;
        let by = self.recorded_as(&caller);
        self.organizations.unset_default_retention(&by)?;
        Ok(no_content())
    }

    /// The policy that the body asks for, and the type under which it is to be answered: the one that the client knows.
    fn requested(&self) -> Result<(RetentionRequest, &'static str), Problem> {
        let input = Input::read(&self.request.body)?;
        let resource = input.resource(Kinds::Only(&[DELETE_OLDERS, DONT_DELETES, LEGACY]))?;
        let (kind, answered_as) = match resource.kind {
            Some(DONT_DELETES) => (RetentionKind::DontDelete, DONT_DELETES),
            Some(LEGACY) => (RetentionKind::DeleteOlder, LEGACY),
            _ => (RetentionKind::DeleteOlder, DELETE_OLDERS),
        };
        let attributes = &resource.attributes;
        let request = RetentionRequest {
            kind,
            days: attributes.integer(DAYS),
            state_versions: detail_change(attributes, STATE_VERSIONS),
            configuration_versions: detail_change(attributes, CONFIGURATION_VERSIONS),
            run_data_and_logs: detail_change(attributes, RUN_DATA_AND_LOGS),
        };
        Ok((request, answered_as))
    }
}

fn detail_change(attributes: &Members<'_>, names: [&str; 3]) -> RetentionDetailChange {
    let [delete, after, keep] = names.map(dashed);
    RetentionDetailChange {
        delete: attributes.boolean(&delete),
        delete_after_days: attributes.integer(&after),
        keep_latest: attributes.integer(&keep),
    }
}

fn shown(policy: &RetentionPolicy, organization: Option<&str>, kind: &str) -> Response {
    let target = organization.map(|name| json!({"id": name, "type": "organizations"}));
    let resource = json!({
        "id": policy.id,
        "type": kind,
        "attributes": attributes(policy),
        "relationships": {"target": {"data": target}},
    });
    json_api(200, &Document::of(resource))
}

/// The number of days in both spellings that clients read.
fn attributes(policy: &RetentionPolicy) -> Map<String, Value> {
    let mut attributes = Map::new();
    if let RetentionRule::DeleteOlder(days) = policy.rule {
        attributes.insert(DAYS.to_owned(), json!(days));
        attributes.insert("deleteOlderThanNDays".to_owned(), json!(days));
    }
    for (names, detail) in [
        (STATE_VERSIONS, policy.state_versions),
        (CONFIGURATION_VERSIONS, policy.configuration_versions),
        (RUN_DATA_AND_LOGS, policy.run_data_and_logs),
    ] {
        let RetentionDetail {
            delete,
            delete_after_days,
            keep_latest,
        } = detail;
        let values = [
            delete.map(Value::from),
            delete_after_days.map(Value::from),
            keep_latest.map(Value::from),
        ];
        for (name, value) in names.into_iter().zip(values) {
            attributes.extend(value.map(|value| (name.to_owned(), value)));
        }
    }
    attributes
}
