//! Cloud Resource Manager: what lies above a project, and what the caller may do in it (contract 7.3, 8.3).

use std::borrow::Cow;

use http::{Method, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::answer::{self, Answer, Outcome};
use crate::call::Call;
use crate::endpoint::Endpoint;
use crate::route::decode;
use crate::state::State;

/// Scopes, besides the one for all, of which one opens the API for reading.
const SCOPES: [&str; 2] = [
    "https://www.googleapis.com/auth/cloud-platform.read-only",
    "https://www.googleapis.com/auth/cloudplatformprojects",
];
const GET: &str = "resourcemanager.projects.get";
/// Permissions that one request may name.
const MAXIMUM_PERMISSIONS: usize = 100;

/// A folder or an organization above a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ancestor {
    /// A folder, by its number.
    Folder(String),
    /// An organization, by its number.
    Organization(String),
}

/// A request about one project.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ResourceManagerRequest<'a> {
    project: Cow<'a, str>,
    action: Action,
}

#[derive(Debug, PartialEq, Eq)]
enum Action {
    GetAncestry,
    TestPermissions,
}

impl<'a> ResourceManagerRequest<'a> {
    /// The request that the path segment behind `projects` makes.
    pub(crate) fn parse(method: &Method, segment: &'a str) -> Option<Self> {
        let segment = decode(segment);
        let (project, verb) = segment.rsplit_once(':')?;
        let action = match verb {
            "getAncestry" => Action::GetAncestry,
            "testIamPermissions" => Action::TestPermissions,
            _ => return None,
        };
        (method == Method::POST).then(|| Self {
            project: Cow::Owned(project.to_owned()),
            action,
        })
    }

    /// The kind of request.
    pub(crate) fn endpoint(&self) -> Endpoint {
        match self.action {
            Action::GetAncestry => Endpoint::Ancestry,
            Action::TestPermissions => Endpoint::TestPermissions,
        }
    }
}

#[derive(Deserialize)]
struct PermissionOrder {
    #[serde(default)]
    permissions: Vec<String>,
}

impl State {
    /// Answers a request to the resource manager.
    pub(crate) fn answer_resource_manager(
        &self,
        request: &ResourceManagerRequest<'_>,
        call: &Call<'_>,
    ) -> Outcome {
        let caller = self.authenticate(call, &SCOPES)?;
        let project = request.project.as_ref();
        // Google does not tell a caller that may not see a project whether it exists.
        if !self.has_project(project) {
            return Err(denied());
        }
        match request.action {
            Action::GetAncestry if !self.holds(caller, GET, project) => Err(denied()),
            Action::GetAncestry => Ok(self.ancestry(project)),
            Action::TestPermissions => {
                let order: PermissionOrder = call.json()?;
                verify(&order.permissions)?;
                let held: Vec<_> = order
                    .permissions
                    .iter()
                    .filter(|permission| self.holds(caller, permission, project))
                    .collect();
                // Google writes no empty list.
                Ok(if held.is_empty() {
                    json!({})
                } else {
                    json!({ "permissions": held })
                })
            }
        }
    }

    /// The project itself first, the organization last.
    fn ancestry(&self, project: &str) -> Value {
        let mut ancestry = vec![resource("project", project)];
        for ancestor in self.ancestors.get(project).into_iter().flatten() {
            ancestry.push(match ancestor {
                Ancestor::Folder(id) => resource("folder", id),
                Ancestor::Organization(id) => resource("organization", id),
            });
        }
        json!({ "ancestor": ancestry })
    }
}

fn resource(kind: &str, id: &str) -> Value {
    json!({ "resourceId": { "type": kind, "id": id } })
}

fn verify(permissions: &[String]) -> Result<(), Box<Answer>> {
    if permissions.len() > MAXIMUM_PERMISSIONS {
        let message = "The number of permissions exceeds the limit of 100.";
        return Err(answer::refusal(StatusCode::BAD_REQUEST, message));
    }
    match permissions
        .iter()
        .find(|permission| permission.contains('*') || permission.split('.').count() < 3)
    {
        None => Ok(()),
        Some(permission) => {
            let message = format!("Permission {permission} is not valid for this resource.");
            Err(answer::refusal(StatusCode::BAD_REQUEST, &message))
        }
    }
}

fn denied() -> Box<Answer> {
    answer::refusal(StatusCode::FORBIDDEN, "The caller does not have permission")
}
