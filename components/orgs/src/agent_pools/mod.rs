//! Agent pools: groups of workers that an organization runs itself (contract 4.9).
//!
//! What an organization takes for its default must be a pool of its own, at every moment: [`default`].

pub(crate) mod default;
mod listing;
pub(crate) mod record;
mod store;

use crate::{Attribute, AttributeIssue, Caller, Failure};

/// A pool of an organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentPool {
    /// `apool-` and 16 letters and digits.
    pub id: String,
    /// In the capitalisation that was given; unique within the organization without regard to case.
    pub name: String,
    /// Milliseconds since 1970-01-01T00:00Z.
    pub created_at: u64,
    /// Whether every workspace of the organization may use it, and not only those that are named.
    pub organization_scoped: bool,
}

/// What a request says about every field of a pool that can be written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentPoolChanges {
    /// 1 to 90 of `A-Z a-z 0-9 _ -`; required on create.
    pub name: Attribute<String>,
    /// Default true.
    pub organization_scoped: Attribute<bool>,
}

/// Which pools are wanted: those that meet everything that is given. An empty text is as none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentPoolFilter {
    /// Must occur in the name, without regard to case and with no wildcards.
    pub name: Option<String>,
    /// The name of a workspace that may use the pool. There are no workspaces that a pool could name, so this leaves those that
    /// are open to all.
    pub allowed_workspace: Option<String>,
    /// The name of a project whose workspaces may use the pool, as above.
    pub allowed_project: Option<String>,
}

/// In which order pools are wanted. Names are compared without case; pools of the same moment are in the order of their names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AgentPoolOrder {
    /// By name.
    #[default]
    Name,
    /// By name, the last one first.
    NameDescending,
    /// By time of creation.
    CreatedAt,
    /// By time of creation, the latest first.
    CreatedAtDescending,
}

/// A part of the list of an organization's pools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentPoolPage {
    /// In the order that was asked for; empty beyond the last page.
    pub agent_pools: Vec<AgentPool>,
    /// How many pools match, on all pages together.
    pub matching: u64,
    /// How many pools the organization has.
    pub total: u64,
}

/// Why nothing was done with a pool. Nothing is stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgentPoolError {
    /// There is no such pool, or its organization is gone.
    #[error("there is no such agent pool")]
    NotFound,
    /// At least one attribute is not as it must be; all faults.
    #[error("{} attributes are not valid", .0.len())]
    Invalid(Vec<AttributeIssue>),
    /// The organization has this many pools, and may not have more.
    #[error("the organization may have {0} agent pools: remove one, or have the bound raised")]
    TooMany(u32),
    /// Not about the request.
    #[error(transparent)]
    Failed(#[from] Failure),
}

/// The pools of organizations. An organization is named by its external id; a pool of another one is none.
pub trait AgentPools {
    /// Makes a pool; what is not mentioned gets its default.
    ///
    /// # Errors
    ///
    /// [`AgentPoolError::Invalid`] with every fault at once. Of several simultaneous calls for one name exactly one succeeds.
    /// [`AgentPoolError::NotFound`] if the organization is gone; [`AgentPoolError::TooMany`].
    fn create_agent_pool(
        &self,
        organization: &str,
        changes: &AgentPoolChanges,
        by: &Caller,
    ) -> Result<AgentPool, AgentPoolError>;

    /// The pool with this id; `None` where there is none.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn find_agent_pool(&self, organization: &str, id: &str) -> Result<Option<AgentPool>, Failure>;

    /// The page `number` (from 1 on) of the pools that match `filter`, `size` (1 to [`crate::MAXIMUM_PAGE_SIZE`]) to a page. A
    /// number or size outside its range is brought into it. Every pool of the organization is looked at.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn list_agent_pools(
        &self,
        organization: &str,
        filter: &AgentPoolFilter,
        order: AgentPoolOrder,
        number: u32,
        size: u32,
    ) -> Result<AgentPoolPage, Failure>;

    /// Changes what is mentioned, and nothing else.
    ///
    /// # Errors
    ///
    /// As [`Self::create_agent_pool`]; [`AgentPoolError::NotFound`] where there is no such pool.
    fn update_agent_pool(
        &self,
        organization: &str,
        id: &str,
        changes: &AgentPoolChanges,
        by: &Caller,
    ) -> Result<AgentPool, AgentPoolError>;

    /// Removes a pool, and its tokens with it. An organization whose default it was has none from then on, and its mode is
    /// `remote` (contract 2.8); the same with the pool of stacks. False where there is none.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn delete_agent_pool(&self, organization: &str, id: &str, by: &Caller)
    -> Result<bool, Failure>;
}
