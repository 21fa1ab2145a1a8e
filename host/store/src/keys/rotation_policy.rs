//! When a data key is replaced.

use gatehouse_ports::key_rotation::{FEWEST_OPERATIONS, MOST_OPERATIONS, SHORTEST_INTERVAL};

/// When a data key is replaced without a request for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RotationPolicy {
    /// True if it is replaced at all.
    pub enabled: bool,
    /// After so many records.
    pub max_operations: u64,
    /// After so many seconds; 0 for never.
    pub interval: u64,
}

impl RotationPolicy {
    /// Tells whether the numbers are within the bounds.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        (FEWEST_OPERATIONS..=MOST_OPERATIONS).contains(&self.max_operations)
            && (self.interval == 0 || self.interval >= SHORTEST_INTERVAL)
    }
}

impl Default for RotationPolicy {
    fn default() -> Self {
        Self {
            enabled: true,
            max_operations: MOST_OPERATIONS,
            interval: 0,
        }
    }
}
