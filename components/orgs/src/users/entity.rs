//! The names of workloads.

use gatehouse_storage::key_segment;

/// The beginning of the names of workloads. No person can have such a name, nor that of the installation.
pub(super) const ENTITY_PREFIX: &str = "entity-";

/// The name of a workload that is a user, or could be one.
pub(crate) fn name_of_entity(entity: &str) -> String {
    format!("{ENTITY_PREFIX}{}", key_segment(entity).replace('%', "_"))
}
