//! The resource `agent-pools` (contract 4.9).

use gatehouse_orgs_api::AgentPool;

use crate::json_writer::{ObjectWriter, WriteMembers};
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

pub(super) struct Attributes<'a>(&'a AgentPool);

impl WriteMembers for Attributes<'_> {
    fn write_members(&self, object: &mut ObjectWriter<'_>) {
        let pool = self.0;
        object.member("name", pool.name.as_str());
        object.member("created-at", timestamp::formatted(pool.created_at).as_str());
        object.member("organization-scoped", &pool.organization_scoped);
        // Agents report to another API, which does not exist here.
        object.member("agent-count", &0_u64);
    }
}

/// The relationships of the pool `id` of an organization.
pub(super) struct Relationships<'a> {
    id: &'a str,
    organization: &'a str,
}

impl WriteMembers for Relationships<'_> {
    fn write_members(&self, object: &mut ObjectWriter<'_>) {
        let path = ResourcePath::new(RESOURCE_TYPE, self.id);
        let organization = ShownRelationship::one(ORGANIZATIONS, self.organization)
            .at(ResourcePath::new(ORGANIZATIONS, self.organization));
        let linked = |below| ShownRelationship::linked(path.below(below));
        organization.write(object, "organization");
        linked("/agents").write(object, "agents");
        linked("/authentication-tokens").write(object, "authentication-tokens");
        for name in [
            "workspaces",
            "allowed-workspaces",
            "allowed-projects",
            "excluded-workspaces",
        ] {
            ShownRelationship::empty().write(object, name);
        }
    }
}

impl<'a> AgentPoolResource<'a> {
    /// A pool of the organization of this name.
    pub(super) fn in_organization(pool: &'a AgentPool, organization: &'a str) -> Self {
        let id = &pool.id;
        let relationships = Relationships { id, organization };
        Self::new(RESOURCE_TYPE, id, Attributes(pool), relationships)
    }
}
