//! The resource `agent-pools` (contract 4.9).

use gatehouse_orgs_api::AgentPool;
use serde::Serialize;

use crate::organizations::document_type::{
    DocumentType, Target, boolean, integer, related, text, time,
};
use crate::organizations::organization::ORGANIZATIONS;
use crate::organizations::resource::{ResourcePath, ShownRelationship, ShownResource};
use crate::organizations::timestamp;

const RESOURCE_TYPE: &str = "agent-pools";

pub(super) const AGENT_POOL: DocumentType = DocumentType::new(
    "AgentPool",
    RESOURCE_TYPE,
    "A pool of workers.",
    &[
        text(
            "name",
            "Letters, digits, - and _. Unique in the organization.",
        ),
        boolean(
            "organization-scoped",
            "True if all workspaces may use the pool.",
        )
        .defaulting_to("true"),
        time("created-at", "The time of its making.").read_only(),
        integer("agent-count", "Always 0.").read_only(),
    ],
)
.relating(&[
    related("organization", Target::One("organizations")),
    related("agents", Target::Link),
    related("authentication-tokens", Target::Link),
    related("workspaces", Target::Many("workspaces")),
    related("allowed-workspaces", Target::Many("workspaces")),
    related("allowed-projects", Target::Many("projects")),
    related("excluded-workspaces", Target::Many("workspaces")),
]);

/// A pool as it is shown.
pub(super) type AgentPoolResource<'a> = ShownResource<'a, Attributes<'a>, Relationships<'a>>;

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Attributes<'a> {
    name: &'a str,
    created_at: String,
    organization_scoped: bool,
    /// Always 0: agents report to another API, which does not exist here.
    agent_count: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Relationships<'a> {
    organization: ShownRelationship<'a>,
    agents: ShownRelationship<'a>,
    authentication_tokens: ShownRelationship<'a>,
    workspaces: ShownRelationship<'a>,
    allowed_workspaces: ShownRelationship<'a>,
    allowed_projects: ShownRelationship<'a>,
    excluded_workspaces: ShownRelationship<'a>,
}

impl<'a> AgentPoolResource<'a> {
    /// A pool of the organization of this name.
    pub(super) fn in_organization(pool: &'a AgentPool, organization: &'a str) -> Self {
        let path = ResourcePath::new(RESOURCE_TYPE, &pool.id);
        let attributes = Attributes {
            name: &pool.name,
            created_at: timestamp::formatted(pool.created_at),
            organization_scoped: pool.organization_scoped,
            agent_count: 0,
        };
        let relationships = Relationships {
            organization: ShownRelationship::one(ORGANIZATIONS, organization)
                .at(ResourcePath::new(ORGANIZATIONS, organization)),
            agents: ShownRelationship::linked(path.below("/agents")),
            authentication_tokens: ShownRelationship::linked(path.below("/authentication-tokens")),
            workspaces: ShownRelationship::empty(),
            allowed_workspaces: ShownRelationship::empty(),
            allowed_projects: ShownRelationship::empty(),
            excluded_workspaces: ShownRelationship::empty(),
        };
        Self::new(RESOURCE_TYPE, &pool.id, attributes, relationships)
    }
}
