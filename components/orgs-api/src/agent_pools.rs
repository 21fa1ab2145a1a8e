//! The interface `agent-pools`: its functions, and its error texts.

use gatehouse_storage::wraps_failure;

use crate::{
    AgentPool, AgentPoolChanges, AgentPoolFilter, AgentPoolOrder, AgentPoolPage, AttributeIssue,
    Caller, ServiceError,
};

/// Why nothing was done with a pool. Nothing is stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgentPoolError {
    /// There is no such pool, or its organization is gone.
    #[error("there is no such agent pool")]
    NotFound,
    /// At least one attribute is invalid; all faults.
    #[error("{} attributes are not valid", .0.len())]
    Invalid(Vec<AttributeIssue>),
    /// The organization has this many pools, and may not have more.
    #[error("the organization may have {0} agent pools: remove one, or have the bound raised")]
    TooMany(u32),
    /// A failure that is not about the request.
    #[error(transparent)]
    Failed(#[from] ServiceError),
}

/// The pools of organizations. An organization is named by its external id; a pool of another one is not found. The WIT interface is the
/// specification.
pub trait AgentPools {
    /// Makes a pool; what is not mentioned gets its default.
    fn create_agent_pool(
        &self,
        organization: &str,
        changes: &AgentPoolChanges,
        by: &Caller,
    ) -> Result<AgentPool, AgentPoolError>;

    /// The pool with this id; `None` where there is none.
    fn find_agent_pool(
        &self,
        organization: &str,
        id: &str,
    ) -> Result<Option<AgentPool>, ServiceError>;

    /// The page `number` (from 1 on) of the pools that match `filter`, `size` (1 to [`crate::MAXIMUM_PAGE_SIZE`]) to a page.
    fn list_agent_pools(
        &self,
        organization: &str,
        filter: &AgentPoolFilter,
        order: AgentPoolOrder,
        number: u32,
        size: u32,
    ) -> Result<AgentPoolPage, ServiceError>;

    /// Changes what is mentioned, and nothing else.
    fn update_agent_pool(
        &self,
        organization: &str,
        id: &str,
        changes: &AgentPoolChanges,
        by: &Caller,
    ) -> Result<AgentPool, AgentPoolError>;

    /// Removes a pool, and its tokens with it.
    fn delete_agent_pool(
        &self,
        organization: &str,
        id: &str,
        by: &Caller,
    ) -> Result<bool, ServiceError>;
}

wraps_failure!(ServiceError: AgentPoolError);
