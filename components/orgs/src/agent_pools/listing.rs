//! Reading all pools of one organization: filters, orders, pages.

use gatehouse_ports::Store;
use gatehouse_storage::{Records, decode};

use super::record::AgentPoolRecord;
use crate::owned_keys::{self, kind};
use crate::{AgentPool, AgentPoolFilter, AgentPoolOrder, AgentPoolPage, ServiceError, paging};

/// See [`super::AgentPools::list_agent_pools`].
pub(super) fn page<S: Store>(
    records: &Records<S>,
    organization: &str,
    filter: &AgentPoolFilter,
    order: AgentPoolOrder,
    number: u32,
    size: u32,
) -> Result<AgentPoolPage, ServiceError> {
    let items = records.scan_all(&owned_keys::prefix(organization, kind::AGENT_POOL))?;
    let total = items.len() as u64;
    let matcher = Matcher::new(filter);
    let mut pools = Vec::new();
    for item in &items {
        let pool: AgentPoolRecord = decode(&item.entry.value)?;
        if matcher.accepts(&pool) {
            pools.push(AgentPool::from(pool));
        }
    }
    sort(&mut pools, order);
    let (agent_pools, matching) = paging::page(pools, number, size);
    Ok(AgentPoolPage {
        agent_pools,
        matching,
        total,
    })
}

fn sort(pools: &mut [AgentPool], order: AgentPoolOrder) {
    // No two pools of an organization have one name, so that both orders are total.
    match order {
        AgentPoolOrder::Name | AgentPoolOrder::NameDescending => {
            pools.sort_by_cached_key(|pool| pool.name.to_ascii_lowercase());
        }
        AgentPoolOrder::CreatedAt | AgentPoolOrder::CreatedAtDescending => {
            pools.sort_by_cached_key(|pool| (pool.created_at, pool.name.to_ascii_lowercase()));
        }
    }
    if matches!(
        order,
        AgentPoolOrder::NameDescending | AgentPoolOrder::CreatedAtDescending
    ) {
        pools.reverse();
    }
}

/// A filter in lower case.
struct Matcher {
    name: String,
    open_to_all_only: bool,
}

impl Matcher {
    fn new(filter: &AgentPoolFilter) -> Self {
        let is_given = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
        Self {
            name: filter.name.as_deref().unwrap_or_default().to_lowercase(),
            open_to_all_only: is_given(&filter.allowed_workspace)
                || is_given(&filter.allowed_project),
        }
    }

    fn accepts(&self, pool: &AgentPoolRecord) -> bool {
        (!self.open_to_all_only || pool.organization_scoped)
            && pool.name.to_ascii_lowercase().contains(&self.name)
    }
}
