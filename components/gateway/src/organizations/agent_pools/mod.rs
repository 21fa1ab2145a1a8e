//! Agent pools (contract 4.9).

mod document;

use gatehouse_access_api::Access;
use gatehouse_orgs_api::{
    Action, AgentPoolChanges, AgentPoolError, AgentPoolFilter, AgentPoolOrder, Capability,
};
use serde_json::{Value, json};

use self::document::AgentPoolResource;
use super::document::Document;
use super::fields;
use super::include::Includes;
use super::input::{Input, Kinds};
use super::pagination::{PageRequest, paged};
use super::problem::Problem;
use super::transport::{json_api, no_content};
use super::{Api, caller::Entry};
use crate::http::{Method, Response};
use crate::query;

/// Where policies know pools, below their organization.
const COLLECTION: &str = "agent-pools";

/// Requests about agent pools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route<'a> {
    /// All pools of the organization of this name.
    List(&'a str),
    /// A new pool of the organization of this name.
    Create(&'a str),
    /// The pool with this id.
    Show(&'a str),
    /// Changes to the pool with this id.
    Update(&'a str),
    /// The end of the pool with this id.
    Delete(&'a str),
    /// The workers of the pool with this id.
    ListAgents(&'a str),
}

impl<'a> Route<'a> {
    /// The route of a request.
    pub(super) fn of(method: Method, segments: &[&'a str]) -> Option<Self> {
        match (method, segments) {
            (Method::Get, ["organizations", name, "agent-pools"]) => Some(Self::List(name)),
            (Method::Post, ["organizations", name, "agent-pools"]) => Some(Self::Create(name)),
            (Method::Get, ["agent-pools", id]) => Some(Self::Show(id)),
            (Method::Patch, ["agent-pools", id]) => Some(Self::Update(id)),
            (Method::Delete, ["agent-pools", id]) => Some(Self::Delete(id)),
            (Method::Get, ["agent-pools", id, "agents"]) => Some(Self::ListAgents(id)),
            _ => None,
        }
    }
}

impl<C: Access, O: Capability> Api<'_, C, O> {
    pub(super) fn answer_about_agent_pools(&self, route: Route<'_>) -> Result<Response, Problem> {
        match route {
            Route::List(name) => self.list_agent_pools(name),
            Route::Create(name) => self.create_agent_pool(name),
            Route::Show(id) => self.show_agent_pool(id),
            Route::Update(id) => self.update_agent_pool(id),
            Route::Delete(id) => self.delete_agent_pool(id),
            Route::ListAgents(id) => self.list_agents(id),
        }
    }

    fn list_agent_pools(&self, name: &str) -> Result<Response, Problem> {
        let entry = self.enter(name, Action::ReadAgentPools, Some(COLLECTION))?;
        let organization = &entry.position.organization;
        let query = self.request.query.as_str();
        let included = Includes::with_agent_pools(query)?;
        let page = PageRequest::always(query);
        let found = self.organizations.list_agent_pools(
            &organization.external_id,
            &filter(query),
            order(query),
            page.number,
            page.size,
        )?;
        let pools = found.agent_pools.iter();
        let resources = pools.map(|pool| AgentPoolResource::new(pool, &organization.name));
        let mut document = paged(resources.collect(), found.matching, page, self.request);
        if let Some(Value::Object(meta)) = &mut document.meta {
            let counts = json!({"total": found.total, "matching": found.matching});
            meta.insert("status-counts".to_owned(), counts);
        }
        document.included = included;
        Ok(json_api(200, &document))
    }

    fn create_agent_pool(&self, name: &str) -> Result<Response, Problem> {
        let entry = self.enter(name, Action::ManageAgentPools, Some(COLLECTION))?;
        let changes = changes(&self.request.body)?;
        let organization = &entry.position.organization;
        let by = self.recorded_as(&entry.caller);
        let pool =
            self.organizations
                .create_agent_pool(&organization.external_id, &changes, &by)?;
        let resource = AgentPoolResource::new(&pool, &organization.name);
        Ok(json_api(201, &Document::of(resource)))
    }

    fn show_agent_pool(&self, id: &str) -> Result<Response, Problem> {
        let Entry { position, .. } = self.enter_by_id(id, Action::ReadAgentPools, COLLECTION)?;
        let organization = &position.organization;
        let included = Includes::with_agent_pools(&self.request.query)?;
        let pool = self
            .organizations
            .find_agent_pool(&organization.external_id, id)?
            .ok_or(Problem::NotFound)?;
        let mut document = Document::of(AgentPoolResource::new(&pool, &organization.name));
        document.included = included;
        Ok(json_api(200, &document))
    }

    fn update_agent_pool(&self, id: &str) -> Result<Response, Problem> {
        let entry = self.enter_by_id(id, Action::ManageAgentPools, COLLECTION)?;
        let changes = changes(&self.request.body)?;
        let organization = &entry.position.organization;
        let by = self.recorded_as(&entry.caller);
        let pool =
            self.organizations
                .update_agent_pool(&organization.external_id, id, &changes, &by)?;
        let resource = AgentPoolResource::new(&pool, &organization.name);
        Ok(json_api(200, &Document::of(resource)))
    }

    fn delete_agent_pool(&self, id: &str) -> Result<Response, Problem> {
        let entry = self.enter_by_id(id, Action::ManageAgentPools, COLLECTION)?;
        let organization = &entry.position.organization.external_id;
        let by = self.recorded_as(&entry.caller);
        if self
            .organizations
            .delete_agent_pool(organization, id, &by)?
        {
            Ok(no_content())
        } else {
            Err(Problem::NotFound)
        }
    }

    /// Workers report to another API, which does not exist here, so a pool never has any.
    fn list_agents(&self, id: &str) -> Result<Response, Problem> {
        let entry = self.enter_by_id(id, Action::ReadAgentPools, COLLECTION)?;
        let organization = &entry.position.organization.external_id;
        self.organizations
            .find_agent_pool(organization, id)?
            .ok_or(Problem::NotFound)?;
        let page = PageRequest::always(&self.request.query);
        let agents = Vec::<Value>::new();
        Ok(json_api(200, &paged(agents, 0, page, self.request)))
    }
}

/// What a document wants of a pool. What it says about workspaces and projects is ignored, for there are none.
fn changes(body: &[u8]) -> Result<AgentPoolChanges, Problem> {
    let input = Input::read(body)?;
    let pool = input.resource(Kinds::Any)?;
    Ok(AgentPoolChanges {
        name: pool.attributes.text("name"),
        organization_scoped: pool.attributes.boolean("organization-scoped"),
    })
}

fn filter(query: &str) -> AgentPoolFilter {
    let text = |name| query::first(query, name).map(std::borrow::Cow::into_owned);
    AgentPoolFilter {
        name: text("q"),
        allowed_workspace: text("filter[allowed_workspaces][name]"),
        allowed_project: text("filter[allowed_projects][name]"),
    }
}

/// The order that a query asks for; one that there is not is as none.
fn order(query: &str) -> AgentPoolOrder {
    match query::first(query, "sort").as_deref() {
        Some("-name") => AgentPoolOrder::NameDescending,
        Some("created-at") => AgentPoolOrder::CreatedAt,
        Some("-created-at") => AgentPoolOrder::CreatedAtDescending,
        _ => AgentPoolOrder::Name,
    }
}

impl From<AgentPoolError> for Problem {
    fn from(error: AgentPoolError) -> Self {
        match error {
            AgentPoolError::NotFound => Self::NotFound,
            AgentPoolError::Invalid(issues) => {
                Self::Invalid(issues.iter().map(fields::of_issue).collect())
            }
            AgentPoolError::TooMany(most) => Self::too_many("agent pools in an organization", most),
            AgentPoolError::Failed(failure) => failure.into(),
        }
    }
}
