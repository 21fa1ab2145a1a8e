//! Agent pools (contract 4.9).

mod document;

use std::borrow::Cow;

use gatehouse_access_api::Access;
use gatehouse_orgs_api::{
    Action, AgentPoolChanges, AgentPoolError, AgentPoolFilter, AgentPoolOrder, Capability,
};
use serde_json::{Value, json};

use self::document::{AGENT_POOL, AgentPoolResource};
use super::api::Api;
use super::api_error::ApiError;

use super::document::Document;
use super::entry::Entry;
use super::fields;
use super::input::{Input, Kinds};
use super::pagination::{PageRequest, paged};
use super::parameter::{Parameter, Q};
use super::route::Data::{Many, One};
use super::routes::routes;
use super::transport::{json_api, no_content};
use super::unimplemented_endpoints::NOTHING;
use crate::http::Response;

/// The policy path of pools, below their organization.
const COLLECTION: &str = "agent-pools";

/// The related resources that can be asked for with pools.
const INCLUDES: &[&str] = &["workspaces"];

const WORKSPACE: Parameter = Parameter::text(
    "filter[allowed_workspaces][name]",
    "The name of a workspace.",
);
const PROJECT: Parameter =
    Parameter::text("filter[allowed_projects][name]", "The name of a project.");
const SORT: Parameter = Parameter::choice(
    "sort",
    &["name", "-name", "created-at", "-created-at"],
    "The order; a dash reverses it.",
);

routes! { AGENT_POOLS:
    Get "organizations/:name/agent-pools", Organization, "list-agent-pools", "Lists the agent pools of an organization.",
        including(INCLUDES), querying(&[Q, WORKSPACE, PROJECT, SORT]), paged, answering(Many(&AGENT_POOL))
        => |api, name| api.list_agent_pools(name);
    Post "organizations/:name/agent-pools", Organization, "create-agent-pool", "Makes an agent pool.",
        taking(One(&AGENT_POOL)), making(One(&AGENT_POOL))
        => |api, name| api.create_agent_pool(name);
    Get "agent-pools/:id", Organization, "show-agent-pool", "Shows an agent pool.",
        including(INCLUDES), answering(One(&AGENT_POOL))
        => |api, id| api.show_agent_pool(id);
    Patch "agent-pools/:id", Organization, "update-agent-pool", "Changes an agent pool.",
        taking(One(&AGENT_POOL)), answering(One(&AGENT_POOL))
        => |api, id| api.update_agent_pool(id);
    Delete "agent-pools/:id", Organization, "delete-agent-pool", "Removes an agent pool."
        => |api, id| api.delete_agent_pool(id);
    Get "agent-pools/:id/agents", Organization, "list-agents", "Lists the agents of an agent pool, which is always empty.",
        paged, answering(Many(&NOTHING))
        => |api, id| api.list_agents(id);
}

impl<C: Access, O: Capability> Api<'_, C, O> {
    fn list_agent_pools(&self, name: &str) -> Result<Response, ApiError> {
        let entry = self.enter_named(name, Action::ReadAgentPools, Some(COLLECTION))?;
        let organization = &entry.position.organization;
        let query = self.request.query.as_str();
        // No pool has workspaces.
        let included = self.wanted_includes()?.map(|_| Vec::new());
        let page = PageRequest::always(query);
        let found = self.organizations.list_agent_pools(
            &organization.external_id,
            &filter(query),
            order(query),
            page.number,
            page.size,
        )?;
        let pools = found.agent_pools.iter();
        let resources =
            pools.map(|pool| AgentPoolResource::in_organization(pool, &organization.name));
        let mut document = paged(resources.collect(), found.matching, page, self.request);
        if let Some(Value::Object(meta)) = &mut document.meta {
            let counts = json!({"total": found.total, "matching": found.matching});
            meta.insert("status-counts".to_owned(), counts);
        }
        document.included = included;
        Ok(json_api(200, &document))
    }

    fn create_agent_pool(&self, name: &str) -> Result<Response, ApiError> {
        let entry = self.enter_named(name, Action::ManageAgentPools, Some(COLLECTION))?;
        let changes = changes(&self.request.body)?;
        let organization = &entry.position.organization;
        let by = self.recorded_as(&entry.caller);
        let pool =
            self.organizations
                .create_agent_pool(&organization.external_id, &changes, &by)?;
        let resource = AgentPoolResource::in_organization(&pool, &organization.name);
        Ok(json_api(201, &Document::new(resource)))
    }

    fn show_agent_pool(&self, id: &str) -> Result<Response, ApiError> {
        let Entry { position, .. } = self.enter_by_id(id, Action::ReadAgentPools, COLLECTION)?;
        let organization = &position.organization;
        let included = self.wanted_includes()?.map(|_| Vec::new());
        let pool = self
            .organizations
            .find_agent_pool(&organization.external_id, id)?
            .ok_or(ApiError::NotFound)?;
        let mut document = Document::new(AgentPoolResource::in_organization(
            &pool,
            &organization.name,
        ));
        document.included = included;
        Ok(json_api(200, &document))
    }

    fn update_agent_pool(&self, id: &str) -> Result<Response, ApiError> {
        let entry = self.enter_by_id(id, Action::ManageAgentPools, COLLECTION)?;
        let changes = changes(&self.request.body)?;
        let organization = &entry.position.organization;
        let by = self.recorded_as(&entry.caller);
        let pool =
            self.organizations
                .update_agent_pool(&organization.external_id, id, &changes, &by)?;
        let resource = AgentPoolResource::in_organization(&pool, &organization.name);
        Ok(json_api(200, &Document::new(resource)))
    }

    fn delete_agent_pool(&self, id: &str) -> Result<Response, ApiError> {
        let entry = self.enter_by_id(id, Action::ManageAgentPools, COLLECTION)?;
        let organization = &entry.position.organization.external_id;
        let by = self.recorded_as(&entry.caller);
        if self
            .organizations
            .delete_agent_pool(organization, id, &by)?
        {
            Ok(no_content())
        } else {
            Err(ApiError::NotFound)
        }
    }

    /// The list is always empty: agents report to another API, which does not exist here.
    fn list_agents(&self, id: &str) -> Result<Response, ApiError> {
        let entry = self.enter_by_id(id, Action::ReadAgentPools, COLLECTION)?;
        let organization = &entry.position.organization.external_id;
        self.organizations
            .find_agent_pool(organization, id)?
            .ok_or(ApiError::NotFound)?;
        let page = PageRequest::always(&self.request.query);
        let agents = Vec::<Value>::new();
        Ok(json_api(200, &paged(agents, 0, page, self.request)))
    }
}

/// The changes that a document makes to a pool. Its workspaces and projects are ignored, since this server has none.
fn changes(body: &[u8]) -> Result<AgentPoolChanges, ApiError> {
    let input = Input::read(body)?;
    let pool = input.resource(Kinds::Any)?;
    Ok(AgentPoolChanges {
        name: pool.attributes.text("name"),
        organization_scoped: pool.attributes.boolean("organization-scoped"),
    })
}

fn filter(query: &str) -> AgentPoolFilter {
    let text = |parameter: Parameter| parameter.first(query).map(Cow::into_owned);
    AgentPoolFilter {
        name: text(Q),
        allowed_workspace: text(WORKSPACE),
        allowed_project: text(PROJECT),
    }
}

/// The order that a query asks for; an unknown one counts as none.
fn order(query: &str) -> AgentPoolOrder {
    match SORT.first(query).as_deref() {
        Some("-name") => AgentPoolOrder::NameDescending,
        Some("created-at") => AgentPoolOrder::CreatedAt,
        Some("-created-at") => AgentPoolOrder::CreatedAtDescending,
        _ => AgentPoolOrder::Name,
    }
}

impl From<AgentPoolError> for ApiError {
    fn from(error: AgentPoolError) -> Self {
        match error {
            AgentPoolError::NotFound => Self::NotFound,
            AgentPoolError::Invalid(issues) => {
                Self::Invalid(issues.iter().map(fields::attribute_error).collect())
            }
            AgentPoolError::TooMany(most) => Self::too_many("agent pools in an organization", most),
            AgentPoolError::Failed(failure) => failure.into(),
        }
    }
}
