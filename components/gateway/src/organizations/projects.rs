//! Projects. Every organization has the one it was made with, and cannot have another (contract 4.13).

use gatehouse_access_api::Access;
use gatehouse_orgs_api::{Action, Attribute, AttributeIssue, Capability, Fault, Organization};
use serde_json::Value;

use super::Api;
use super::attribute_fault::AttributeFault;
use super::caller::Entry;
use super::document::{DEFAULT_PROJECT_NAME, Document, default_project};
use super::fields;
use super::input::{Input, Kinds, Members, Resource};
use super::pagination::{PageRequest, paged};
use super::problem::Problem;
use super::transport::json_api;
use crate::http::{Method, Response};
use crate::query;

/// What a project could say otherwise than its organization.
const SETTINGS: [&str; 4] = [
    "default-execution-mode",
    "default-agent-pool-id",
    "setting-overwrites",
    "auto-destroy-activity-duration",
];
const DEFAULT_AGENT_POOL: &str = "default-agent-pool";

/// Requests about projects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route<'a> {
    /// The projects of the organization of this name.
    List(&'a str),
    /// The project with this id.
    Show(&'a str),
    /// Changes to the project with this id.
    Update(&'a str),
    /// The end of the project with this id.
    Delete(&'a str),
}

impl<'a> Route<'a> {
    /// The route of a request.
    pub(super) fn of(method: Method, segments: &[&'a str]) -> Option<Self> {
        match (method, segments) {
            (Method::Get, ["organizations", name, "projects"]) => Some(Self::List(name)),
            (Method::Get, ["projects", id]) => Some(Self::Show(id)),
            (Method::Patch, ["projects", id]) => Some(Self::Update(id)),
            (Method::Delete, ["projects", id]) => Some(Self::Delete(id)),
            _ => None,
        }
    }
}

impl<'a, C: Access, O: Capability> Api<'a, C, O> {
    pub(super) fn answer_about_projects(&self, route: Route<'_>) -> Result<Response, Problem> {
        match route {
            Route::List(name) => self.projects(name),
            Route::Show(id) => self.project(id),
            Route::Update(id) => self.update_project(id),
            Route::Delete(id) => self.delete_project(id),
        }
    }

    fn projects(&self, name: &str) -> Result<Response, Problem> {
        let entry = self.enter(name, Action::Show, None)?;
        let query = self.request.query.as_str();
        let page = PageRequest::always(query);
        let project = default_project(&entry.position.organization);
        let (items, total) = page.of_all(is_wanted(query).then_some(project));
        Ok(json_api(200, &paged(items, total, page, self.request)))
    }

    fn project(&self, id: &str) -> Result<Response, Problem> {
        let entry = self.enter_project(id, Action::Show)?;
        Ok(shown(&entry.position.organization))
    }

    /// Lets requests pass that leave everything as it is, and refuses the others: no setting is dropped silently.
    fn update_project(&self, id: &str) -> Result<Response, Problem> {
        let entry = self.enter_project(id, Action::Update)?;
        let input = Input::read(&self.request.body)?;
        let resource = input.resource(Kinds::Any)?;
        let mut faults = faults_of(&resource.attributes);
        faults.extend(faults_of_settings(&resource));
        if faults.is_empty() {
            Ok(shown(&entry.position.organization))
        } else {
            Err(Problem::Invalid(faults))
        }
    }

    fn delete_project(&self, id: &str) -> Result<Response, Problem> {
        self.enter_project(id, Action::Update)?;
        Err(Problem::Unprocessable(vec![AttributeFault {
            pointer: "/data".to_owned(),
            detail: "The default project cannot be deleted".to_owned(),
        }]))
    }

    fn enter_project(&self, id: &str, action: Action) -> Result<Entry<'a>, Problem> {
        self.enter_by_its_own(id, action, |organization| &organization.default_project_id)
    }
}

fn shown(organization: &Organization) -> Response {
    json_api(200, &Document::of(default_project(organization)))
}

/// Whether a query for projects asks for the default one too: by its whole name, or by a part of it in any case.
fn is_wanted(query: &str) -> bool {
    let mut names = query::list(query, "filter[names]")
        .filter(|name| !name.is_empty())
        .peekable();
    let named = names.peek().is_none() || names.any(|name| name == DEFAULT_PROJECT_NAME);
    let text = query::first(query, "q").unwrap_or_default();
    let contains = DEFAULT_PROJECT_NAME
        .to_lowercase()
        .contains(&text.to_lowercase());
    named && contains
}

/// What a request wants otherwise than it is.
fn faults_of(attributes: &Members<'_>) -> Vec<AttributeFault> {
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
            Some(fields::of_issue(&AttributeIssue::new(name, fault)))
        })
        .collect()
}

/// The settings of its own that a request wants the project to have, of which it has none: the organization's hold.
fn faults_of_settings(resource: &Resource<'_>) -> Vec<AttributeFault> {
    let protected = |name| AttributeIssue::new(name, Fault::Protected);
    let attributes = SETTINGS.into_iter().filter(|name| {
        let value = resource.attributes.get(name);
        value.is_some_and(|value| !says_nothing(value))
    });
    let pool = resource.relationships.to_one(DEFAULT_AGENT_POOL);
    let related = !matches!(pool, Attribute::Absent | Attribute::Null);
    attributes
        .map(|name| fields::of_issue(&protected(name)))
        .chain(related.then(|| fields::of_related(&protected(DEFAULT_AGENT_POOL))))
        .collect()
}

/// Whether a value is that of a setting which nobody has made: null, or an object that overwrites nothing.
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
