//! The permissions of the root credentials of a mount, before a login depends on them (the extension `config/check`).

use std::ops::ControlFlow;

use gatehouse_ports::{Cache, Clock, Http, Random, Store};
use gatehouse_storage::decode;

use crate::google::ApiError;
use crate::jwt::is_project;
use crate::pages::{self, LARGE_AT_ONCE};
use crate::service::AuthMethodService;
use crate::{
    ApiRefusal, CredentialsReport, GoogleCallError, Mount, PermissionsFound, ProjectReport, Role,
    StorageError, record_keys,
};

/// Most projects that are asked about: each costs a call.
const MAXIMUM_PROJECTS: usize = 20;
/// Most roles that are read to find them.
const MAXIMUM_ROLES: usize = 1000;

/// The permissions of the root credentials in `projects`; without any, in the project of the credentials and those that roles name.
pub(super) fn check_config<S: Store, M: Cache, H: Http, C: Clock, R: Random>(
    service: &AuthMethodService<S, M, H, C, R>,
    mount: &Mount,
    projects: &[String],
) -> Result<CredentialsReport, StorageError> {
    let memory = service.mount_memory(mount)?;
    let mut report = CredentialsReport {
        source: memory.config.credentials_source(),
        failure: None,
        projects: Vec::new(),
    };
    let projects = if projects.is_empty() {
        let own = memory.config.credentials.as_ref();
        service.projects_in_use(mount, own.map(|own| own.project_id.as_str()))?
    } else {
        distinct(projects.iter().map(String::as_str))
    };
    service.with_google(mount, &memory, service.deadline(), |google| {
        if let Err(error) = google.can_authenticate() {
            report.failure = Some(error.into_google_call_error()?);
            return Ok(report);
        }
        for project in projects {
            let outcome = if is_project(&project) {
                reported(google.permissions(&project))?
            } else {
                Err(not_a_project())
            };
            report.projects.push(ProjectReport { project, outcome });
        }
        Ok(report)
    })
}

impl<S: Store, M: Cache, H: Http, C: Clock, R: Random> AuthMethodService<S, M, H, C, R> {
    /// The project of the credentials, then those that roles are bound to, as many as are asked about.
    fn projects_in_use(
        &self,
        mount: &Mount,
        own: Option<&str>,
    ) -> Result<Vec<String>, StorageError> {
        let mut found = distinct(own.into_iter().filter(|own| !own.is_empty()));
        let mut roles = 0;
        let prefix = record_keys::roles(mount);
        pages::visit(self.records(), &prefix, None, LARGE_AT_ONCE, |item| {
            let role = decode::<Role>(&item.entry.value)?;
            let bound = role.bound_projects.iter().map(String::as_str);
            found = distinct(found.iter().map(String::as_str).chain(bound));
            roles += 1;
            Ok(if found.len() < MAXIMUM_PROJECTS && roles < MAXIMUM_ROLES {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            })
        })?;
        Ok(found)
    }
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for name in names {
        if kept.len() < MAXIMUM_PROJECTS && !kept.iter().any(|known| known == name) {
            kept.push(name.to_owned());
        }
    }
    kept
}

fn reported(
    answer: Result<PermissionsFound, ApiError>,
) -> Result<Result<PermissionsFound, GoogleCallError>, StorageError> {
    Ok(match answer {
        Ok(found) => Ok(found),
        Err(error) => Err(error.into_google_call_error()?),
    })
}

/// Google is not asked about what cannot be a project: it would become part of a URL.
fn not_a_project() -> GoogleCallError {
    GoogleCallError::Refused(ApiRefusal {
        status: 400,
        message: "not the id of a project".to_owned(),
        reason: "invalid".to_owned(),
    })
}
