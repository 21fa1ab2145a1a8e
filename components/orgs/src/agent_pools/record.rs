//! Pools as they are stored.
//!
//! - `of/<external id>/agent-pool/<id>`: the pool.
//! - `of/<external id>/agent-pool-name/<folded name>`: its id, which makes names unique within the organization.

use gatehouse_storage::Record;
use serde::{Deserialize, Serialize};

use crate::AgentPool;
use crate::name::FoldedName;
use crate::owned_keys::{self, kind};

pub(crate) const AGENT_POOL_PREFIX: &str = "apool-";

/// A pool as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AgentPoolRecord {
    pub id: String,
    pub name: String,
    /// Milliseconds since 1970.
    pub created_at: u64,
    pub organization_scoped: bool,
}

impl Record for AgentPoolRecord {
    const SCHEMA: u16 = 1;
}

impl From<AgentPoolRecord> for AgentPool {
    fn from(record: AgentPoolRecord) -> Self {
        Self {
            id: record.id,
            name: record.name,
            created_at: record.created_at,
            organization_scoped: record.organization_scoped,
        }
    }
}

/// The key of a pool. The id must be a well-formed one.
pub(crate) fn agent_pool_key(external_id: &str, id: &str) -> String {
    owned_keys::key(external_id, kind::AGENT_POOL, id)
}

/// The key that tells which pool has a name.
pub(crate) fn agent_pool_name_key(external_id: &str, name: &FoldedName) -> String {
    owned_keys::key(external_id, kind::AGENT_POOL_NAME, name.as_str())
}
