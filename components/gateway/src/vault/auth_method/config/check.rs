//! `config/check`: the permissions of the root credentials, and those that logins and rotations need (contract 8.3, 10).

use std::collections::{BTreeMap, BTreeSet};

use gatehouse_access_api::Operation;
use gatehouse_auth_method_api::{CredentialsReport, ProjectReport};
use serde::Serialize;

use super::super::{google, mount};
use super::source;
use crate::vault::call::{Answer, Call};
use crate::vault::envelope::Reply;
use crate::vault::field::{Field, texts};

/// The fields that a check accepts.
pub(in crate::vault) const CHECK: &[Field] = &[texts(
    "projects",
    "The projects in which permissions are checked; the credentials' own if not given.",
)];

#[derive(Serialize)]
struct ConfigReport {
    credentials_source: &'static str,
    /// True if the credentials give an access token.
    usable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
    /// The purpose of each permission that is held or lacking.
    needed_for: BTreeMap<String, &'static str>,
    projects: BTreeMap<String, Project>,
}

#[derive(Serialize)]
struct Project {
    held: Vec<String>,
    lacking: Vec<String>,
    /// The reason why neither is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
}

/// `config/check`
pub(in crate::vault) fn check(call: &Call<'_>) -> Answer {
    let fields = match call.operation {
        Operation::Read => call.query_fields()?,
        _ => call.known_fields()?,
    };
    let mut projects = fields.list("projects")?.unwrap_or_default();
    projects.retain(|project| !project.is_empty());
    let report = call
        .server
        .auth_method
        .check_config(&mount(call)?, &projects)?;
    Reply::data(&ConfigReport::from(report)).map(Some)
}

impl From<CredentialsReport> for ConfigReport {
    fn from(report: CredentialsReport) -> Self {
        let permissions: BTreeSet<String> = report
            .projects
            .iter()
            .filter_map(|project| project.outcome.as_ref().ok())
            .flat_map(|found| found.held.iter().chain(&found.lacking))
            .cloned()
            .collect();
        let needed_for = |permission: String| {
            let purpose = purpose(&permission)?;
            Some((permission, purpose))
        };
        Self {
            credentials_source: source(report.source),
            usable: report.failure.is_none(),
            failure: report.failure.as_ref().map(google::failure),
            needed_for: permissions.into_iter().filter_map(needed_for).collect(),
            projects: report
                .projects
                .into_iter()
                .map(|report| (report.project.clone(), report.into()))
                .collect(),
        }
    }
}

impl From<ProjectReport> for Project {
    fn from(report: ProjectReport) -> Self {
        match report.outcome {
            Ok(found) => Self {
                held: found.held,
                lacking: found.lacking,
                failure: None,
            },
            Err(failure) => Self {
                held: Vec::new(),
                lacking: Vec::new(),
                failure: Some(google::failure(&failure)),
            },
        }
    }
}

/// The purpose of a permission.
fn purpose(permission: &str) -> Option<&'static str> {
    Some(match permission {
        "iam.serviceAccounts.get" => {
            "every login and renewal, unless the role has \"live_checks\" off"
        }
        "compute.instances.get" => {
            "logins and renewals on gce roles, unless the role has \"live_checks\" off"
        }
        "compute.instanceGroups.list" | "compute.instanceGroups.get" => {
            "gce roles with \"bound_instance_groups\""
        }
        "resourcemanager.projects.get" => {
            "roles with \"add_group_aliases\", \"bound_folders\" or \"bound_organizations\""
        }
        "iam.serviceAccountKeys.create" => "rotation of the stored credentials: the new key",
        "iam.serviceAccountKeys.delete" => "rotation of the stored credentials: the key before it",
        _ => return None,
    })
}
