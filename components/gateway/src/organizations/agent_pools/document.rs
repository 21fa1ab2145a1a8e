//! The resource `agent-pools` (contract 4.9).

use gatehouse_orgs_api::AgentPool;
use serde::Serialize;
use serde_json::json;

use crate::organizations::document::ShownResource;
use crate::organizations::document_type::{
    DocumentType, Target, boolean, integer, related, text, time,
};
use crate::organizations::timestamp;

pub(super) const AGENT_POOL: DocumentType = DocumentType::new(
    "AgentPool",
    "agent-pools",
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
pub(super) type AgentPoolResource<'a> = ShownResource<'a, Attributes<'a>>;

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Attributes<'a> {
    name: &'a str,
    created_at: String,
    organization_scoped: bool,
    /// Always 0: agents report to another API, which does not exist here.
    agent_count: u32,
}

impl<'a> AgentPoolResource<'a> {
    /// A pool of the organization of this name.
    pub(super) fn new(pool: &'a AgentPool, organization: &str) -> Self {
        let path = format!("/api/v2/agent-pools/{}", pool.id);
        Self {
            id: &pool.id,
            kind: "agent-pools",
            attributes: Attributes {
                name: &pool.name,
                created_at: timestamp::formatted(pool.created_at),
                organization_scoped: pool.organization_scoped,
                agent_count: 0,
            },
            relationships: json!({
                "organization": {
                    "data": {"id": organization, "type": "organizations"},
                    "links": {"related": format!("/api/v2/organizations/{organization}")},
                },
                "agents": {"links": {"related": format!("{path}/agents")}},
                "authentication-tokens": {
                    "links": {"related": format!("{path}/authentication-tokens")},
                },
                "workspaces": {"data": []},
                "allowed-workspaces": {"data": []},
                "allowed-projects": {"data": []},
                "excluded-workspaces": {"data": []},
            }),
            links: json!({"self": path}),
        }
    }
}
