//! Data retention policies of organizations and of the installation (contract 4.5). They exist only in the self-hosted edition.

use gatehouse_access_api::Access;
use gatehouse_orgs_api::{
    Action, Capability, Edition, RetentionDetail, RetentionDetailChange, RetentionKind,
    RetentionPolicy, RetentionRequest, RetentionRule,
};
use serde_json::{Map, Value, json};

use super::api::Api;
use super::api_error::ApiError;
use super::document::Document;
use super::document_type::{
    DocumentType, Property, Relationship, Target, boolean, integer, related,
};
use super::input::{Input, Kinds, Members, dashed};
use super::retention_kind::{DELETE_OLDERS, DONT_DELETES, retention_kind};
use super::route::Data;
use super::routes::routes;
use super::transport::{json_api, no_content};
use crate::http::Response;

/// The path of an organization's retention policy, below the organization.
const BELOW: &str = "relationships/data-retention-policy";

/// The resource type that the first releases used for policies that delete.
const LEGACY: &str = "data-retention-policies";

const DAYS: &str = "delete-older-than-n-days";
/// The spelling of some clients, which is accepted too.
const CAMEL_CASE_DAYS: &str = "deleteOlderThanNDays";

/// The kinds of data that a policy can treat separately. Each has three names: of the flag that enables the deletion, of the age in days, and of the
/// number of latest items to keep. The contract spells them in camel case; members are read under their dashed names.
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

const DETAILS: [Property; 11] = [
    integer(DAYS, "The age at which data is deleted, in days."),
    integer(CAMEL_CASE_DAYS, "The same."),
    boolean("deleteStateVersions", "True if state versions are deleted."),
    integer(
        "stateVersionsDeleteAfterNDays",
        "The age at which they are deleted, in days.",
    ),
    integer(
        "stateVersionsKeepLatestCount",
        "The number of the latest that are kept.",
    ),
    boolean(
        "deleteConfigurationVersions",
        "True if configuration versions are deleted.",
    ),
    integer(
        "configurationVersionsDeleteAfterNDays",
        "The age at which they are deleted, in days.",
    ),
    integer(
        "configurationVersionsKeepLatestCount",
        "The number of the latest that are kept.",
    ),
    boolean(
        "deleteRunDataAndLogs",
        "True if data and logs of runs are deleted.",
    ),
    integer(
        "runDataAndLogsDeleteAfterNDays",
        "The age at which they are deleted, in days.",
    ),
    integer(
        "runDataAndLogsKeepLatestCount",
        "The number of the latest that are kept.",
    ),
];
const TARGET: &[Relationship] = &[related("target", Target::One("organizations"))];

const DELETE_OLDER: DocumentType = DocumentType::new(
    "DeleteOlderPolicy",
    DELETE_OLDERS,
    "A policy that deletes old data.",
    &DETAILS,
)
.relating(TARGET)
.type_checked();
const DONT_DELETE: DocumentType = DocumentType::new(
    "DontDeletePolicy",
    DONT_DELETES,
    "A policy that deletes nothing.",
    &[],
)
.relating(TARGET)
.type_checked();
const LEGACY_POLICY: DocumentType = DocumentType::new(
    "LegacyRetentionPolicy",
    LEGACY,
    "A policy that deletes old data, under its older name.",
    &DETAILS,
)
.relating(TARGET)
.type_checked();

const POLICY: Data = Data::OneOf(&[&DELETE_OLDER, &DONT_DELETE, &LEGACY_POLICY]);

routes! { RETENTION:
    Get "organizations/:name/relationships/data-retention-policy", Organization, "show-retention-policy",
        "Shows the retention policy that applies to an organization: its own or the installation's.",
        only_in(Edition::SelfHosted), answering(POLICY)
        => |api, name| api.show_retention(name);
    Post "organizations/:name/relationships/data-retention-policy", Organization, "set-retention-policy",
        "Sets the retention policy of an organization.",
        only_in(Edition::SelfHosted), taking(POLICY), answering(POLICY)
        => |api, name| api.set_retention(name);
    Patch "organizations/:name/relationships/data-retention-policy", Organization, "update-retention-policy",
        "Does the same as POST.",
        only_in(Edition::SelfHosted), taking(POLICY), answering(POLICY)
        => |api, name| api.set_retention(name);
    Delete "organizations/:name/relationships/data-retention-policy", Organization, "unset-retention-policy",
        "Removes the retention policy of an organization, to which the installation's applies then.",
        only_in(Edition::SelfHosted)
        => |api, name| api.unset_retention(name);
    Get "admin/data-retention-policy-settings", Administrators, "show-default-retention-policy",
        "Shows the installation's retention policy.",
        only_in(Edition::SelfHosted), answering(POLICY)
        => |api, _| api.show_default_retention();
    Post "admin/data-retention-policy-settings", Administrators, "set-default-retention-policy",
        "Sets the installation's retention policy.",
        only_in(Edition::SelfHosted), taking(POLICY), answering(POLICY)
        => |api, _| api.set_default_retention();
    Patch "admin/data-retention-policy-settings", Administrators, "update-default-retention-policy", "Does the same as POST.",
        only_in(Edition::SelfHosted), taking(POLICY), answering(POLICY)
        => |api, _| api.set_default_retention();
    Delete "admin/data-retention-policy-settings", Administrators, "unset-default-retention-policy",
        "Resets the installation's retention policy to the one that deletes nothing.",
        only_in(Edition::SelfHosted)
        => |api, _| api.unset_default_retention();
}

impl<C: Access, O: Capability> Api<'_, C, O> {
    fn show_retention(&self, name: &str) -> Result<Response, ApiError> {
        let entry = self.enter_named(name, Action::ReadRetention, Some(BELOW))?;
        let organization = entry.position.organization;
        Ok(match organization.retention {
            Some(policy) => policy_response(
                &policy,
                Some(&organization.name),
                retention_kind(policy.rule),
            ),
            None => {
                let policy = self.organizations.default_retention()?;
                policy_response(&policy, None, retention_kind(policy.rule))
            }
        })
    }

    fn set_retention(&self, name: &str) -> Result<Response, ApiError> {
        let entry = self.enter_named(name, Action::WriteRetention, Some(BELOW))?;
        let organization = entry.position.organization;
        let (request, kind) = self.requested()?;
        let by = self.recorded_as(&entry.caller);
        let policy = self
            .organizations
            .set_retention(&organization.external_id, &request, &by)?;
        Ok(policy_response(&policy, Some(&organization.name), kind))
    }

    fn unset_retention(&self, name: &str) -> Result<Response, ApiError> {
        let entry = self.enter_named(name, Action::WriteRetention, Some(BELOW))?;
        let external_id = &entry.position.organization.external_id;
        let by = self.recorded_as(&entry.caller);
        self.organizations.unset_retention(external_id, &by)?;
        Ok(no_content())
    }

    fn show_default_retention(&self) -> Result<Response, ApiError> {
        self.administer()?;
        let policy = self.organizations.default_retention()?;
        Ok(policy_response(&policy, None, retention_kind(policy.rule)))
    }

    fn set_default_retention(&self) -> Result<Response, ApiError> {
        let caller = self.administer()?;
        let (request, kind) = self.requested()?;
        let by = self.recorded_as(&caller);
        let policy = self.organizations.set_default_retention(&request, &by)?;
        Ok(policy_response(&policy, None, kind))
    }

    fn unset_default_retention(&self) -> Result<Response, ApiError> {
        let caller = self.administer()?;
        let by = self.recorded_as(&caller);
        self.organizations.unset_default_retention(&by)?;
        Ok(no_content())
    }

    /// The policy that the body asks for, and the resource type for the answer: the type that the client used.
    fn requested(&self) -> Result<(RetentionRequest, &'static str), ApiError> {
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

fn policy_response(policy: &RetentionPolicy, organization: Option<&str>, kind: &str) -> Response {
    let target = organization.map(|name| json!({"id": name, "type": "organizations"}));
    let resource = json!({
        "id": policy.id,
        "type": kind,
        "attributes": attributes(policy),
        "relationships": {"target": {"data": target}},
    });
    json_api(200, &Document::new(resource))
}

/// The attributes of a policy, with the number of days in both spellings that clients read.
fn attributes(policy: &RetentionPolicy) -> Map<String, Value> {
    let mut attributes = Map::new();
    if let RetentionRule::DeleteOlder(days) = policy.rule {
        attributes.insert(DAYS.to_owned(), json!(days));
        attributes.insert(CAMEL_CASE_DAYS.to_owned(), json!(days));
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
