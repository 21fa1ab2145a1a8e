//! Projects. Every organization has its default project, and cannot have another one (contract 4.13).

use gatehouse_access_api::Access;
use gatehouse_orgs_api::{
    Action, Attribute, AttributeIssue, Capability, Description, Fault, Organization,
};
use serde_json::Value;

use super::api::Api;
use super::api_error::ApiError;
use super::attribute_error::AttributeError;
use super::document::{DEFAULT_PROJECT_NAME, Document, default_project};
use super::document_type::{DocumentType, Target, boolean, integer, related, text, time};
use super::entry::Entry;
use super::fields;
use super::input::{Input, Kinds, Members, Resource};
use super::pagination::{PageRequest, paged};
use super::parameter::{Parameter, Q};
use super::route::Data::{Many, One};
use super::routes::routes;
use super::transport::json_api;
use crate::http::Response;

/// The settings in which a project could differ from its organization.
const SETTINGS: [&str; 4] = [
    "default-execution-mode",
    "default-agent-pool-id",
    "setting-overwrites",
    "auto-destroy-activity-duration",
];
const DEFAULT_AGENT_POOL: &str = "default-agent-pool";

const NAMES: Parameter = Parameter::texts("filter[names]", "Names of projects.");

const PROJECT: DocumentType = DocumentType::new(
    "Project",
    "projects",
    "The default project, the only one of an organization. It cannot be changed.",
    &[
        text("name", "Always Default Project."),
        text("description", "Always empty."),
        time("created-at", "The time of its making.").read_only(),
        integer("workspace-count", "Always 0.").read_only(),
        integer("team-count", "Always 0.").read_only(),
        boolean("is-unified", "Always false.").read_only(),
    ],
)
.relating(&[related("organization", Target::One("organizations"))]);

routes! { PROJECTS:
    Get "organizations/:name/projects", Organization, "list-projects", "Lists the projects of an organization: the default project.",
        querying(&[Q, NAMES]), paged, answering(Many(&PROJECT))
        => |api, name| api.projects(name);
    Get "projects/:id", Organization, "show-project", "Shows a project.", answering(One(&PROJECT))
        => |api, id| api.project(id);
    Patch "projects/:id", Organization, "update-project", "Accepts requests that change nothing, and refuses others.",
        taking(One(&PROJECT)), answering(One(&PROJECT))
        => |api, id| api.update_project(id);
    Delete "projects/:id", Organization, "delete-project", "Refuses: the default project cannot be deleted.", refusing
        => |api, id| api.delete_project(id);
}

impl<'a, C: Access, O: Capability> Api<'a, C, O> {
    fn projects(&self, name: &str) -> Result<Response, ApiError> {
        let entry = self.enter_named(name, Action::Show, None)?;
        let query = self.request.query.as_str();
        let page = PageRequest::always(query);
        let project = default_project(&entry.position.organization);
        let (items, total) = page.of_all(is_wanted(query).then_some(project));
        Ok(json_api(200, &paged(items, total, page, self.request)))
    }

    fn project(&self, id: &str) -> Result<Response, ApiError> {
        let entry = self.enter_project(id, Action::Show)?;
        Ok(project_response(&entry.position.organization))
    }

    /// Accepts requests that change nothing, and refuses all others, so that no setting is dropped silently.
    fn update_project(&self, id: &str) -> Result<Response, ApiError> {
        let entry = self.enter_project(id, Action::Update)?;
        let input = Input::read(&self.request.body)?;
        let resource = input.resource(Kinds::Any)?;
        let mut faults = faults_of(&resource.attributes);
        faults.extend(faults_of_settings(&resource));
        if faults.is_empty() {
            Ok(project_response(&entry.position.organization))
        } else {
            Err(ApiError::Invalid(faults))
        }
    }

    fn delete_project(&self, id: &str) -> Result<Response, ApiError> {
        self.enter_project(id, Action::Update)?;
        Err(ApiError::Unprocessable(vec![AttributeError {
            pointer: "/data".to_owned(),
            detail: "The default project cannot be deleted".to_owned(),
        }]))
    }

    fn enter_project(&self, id: &str, action: Action) -> Result<Entry<'a>, ApiError> {
        self.enter_by_its_own(id, action, Description::NOTHING, |organization| {
            &organization.default_project_id
        })
    }
}

fn project_response(organization: &Organization) -> Response {
    json_api(200, &Document::new(default_project(organization)))
}

/// True if a query for projects matches the default one: by its whole name, or by a part of it in any case.
fn is_wanted(query: &str) -> bool {
    let mut names = NAMES.items(query).peekable();
    let named = names.peek().is_none() || names.any(|name| name == DEFAULT_PROJECT_NAME);
    let text = Q.first(query).unwrap_or_default();
    let contains = DEFAULT_PROJECT_NAME
        .to_lowercase()
        .contains(&text.to_lowercase());
    named && contains
}

/// The faults of the attributes that a request would change.
fn faults_of(attributes: &Members<'_>) -> Vec<AttributeError> {
    [("name", DEFAULT_PROJECT_NAME), ("description", "")]
        .into_iter()
        .filter_map(|(name, current)| {
            let fault = match attributes.text(name) {
                Attribute::Absent => return None,
                Attribute::Value(text) if text == current => return None,
                Attribute::Null if current.is_empty() => return None,
                Attribute::WrongType => Fault::NotText,
                Attribute::Null | Attribute::Value(_) => Fault::Protected,
            };
            Some(fields::attribute_error(&AttributeIssue::new(name, fault)))
        })
        .collect()
}

/// The faults of the settings that a request would give the project. It has no settings of its own: those of the organization apply.
fn faults_of_settings(resource: &Resource<'_>) -> Vec<AttributeError> {
    let protected = |name| AttributeIssue::new(name, Fault::Protected);
    let attributes = SETTINGS.into_iter().filter(|name| {
        let value = resource.attributes.get(name);
        value.is_some_and(|value| !says_nothing(value))
    });
    let pool = resource.relationships.to_one(DEFAULT_AGENT_POOL);
    let related = !matches!(pool, Attribute::Absent | Attribute::Null);
    attributes
        .map(|name| fields::attribute_error(&protected(name)))
        .chain(related.then(|| fields::relationship_fault(&protected(DEFAULT_AGENT_POOL))))
        .collect()
}

/// True if a value is that of an unset setting: null, false, or an object with only such members.
fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Object(members) => members.values().all(says_nothing),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contract_4_13_a_query_can_ask_for_other_projects() {
        for wanted in [
            "",
            "q=",
            "q=default",
            "q=PROJECT",
            "filter[names]=x,Default%20Project",
            "filter[names]=&q=t%20p",
        ] {
            assert!(is_wanted(wanted), "{wanted}");
        }
        for other in [
            "q=x",
            "filter[names]=default",
            "filter[names]=Default+Project&q=x",
        ] {
            assert!(!is_wanted(other), "{other}");
        }
    }
}
