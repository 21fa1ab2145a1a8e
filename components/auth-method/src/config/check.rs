//! What the root credentials of a mount may do, before somebody's login depends on it (the extension `config/check`).

use gatehouse_ports::{Cache, Clock, Http, Random, Store};
use gatehouse_storage::{StorageError, decode};

use crate::google::ApiError;
use crate::jwt::is_project;
use crate::service::AuthMethodService;
use crate::{
    ApiRefusal, CallFailure, CredentialsReport, Mount, PermissionsFound, ProjectReport, Role,
    record_keys,
};

/// Most projects that are asked about: each costs a call.
const MAXIMUM_PROJECTS: usize = 20;

impl<S: Store, M: Cache, H: Http, C: Clock, R: Random> AuthMethodService<S, M, H, C, R> {
    pub(crate) fn check_credentials(
        &self,
        mount: &Mount,
        projects: &[String],
    ) -> Result<CredentialsReport, StorageError> {
        let memory = self.mount_memory(mount)?;
        let mut report = CredentialsReport {
            source: memory.config.credentials_source(),
            failure: None,
            projects: Vec::new(),
        };
        let projects = if projects.is_empty() {
            let own = memory.config.credentials.as_ref();
            self.projects_in_use(mount, own.map(|own| own.project_id.as_str()))?
        } else {
            distinct(projects.iter().map(String::as_str))
        };
        self.with_google(mount, &memory, self.deadline(), |google| {
            if let Err(error) = google.can_authenticate() {
                report.failure = Some(error.into_call_failure()?);
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

    /// The project of the credentials, then those that roles are bound to.
    fn projects_in_use(
        &self,
        mount: &Mount,
        own: Option<&str>,
    ) -> Result<Vec<String>, StorageError> {
        let mut bound = Vec::new();
        for item in self.records().scan_all(&record_keys::roles(mount))? {
            bound.extend(decode::<Role>(&item.entry.value)?.bound_projects);
        }
        let own = own.into_iter().filter(|own| !own.is_empty());
        Ok(distinct(own.chain(bound.iter().map(String::as_str))))
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
) -> Result<Result<PermissionsFound, CallFailure>, StorageError> {
    Ok(match answer {
        Ok(found) => Ok(found),
        Err(error) => Err(error.into_call_failure()?),
    })
}

/// Google is not asked about what cannot be a project: it would become part of a URL.
fn not_a_project() -> CallFailure {
    CallFailure::Refused(ApiRefusal {
        status: 400,
        message: "not the id of a project".to_owned(),
        reason: "invalid".to_owned(),
    })
}
