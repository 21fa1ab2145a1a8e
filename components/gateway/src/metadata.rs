//! Facts about a token, an entity, a group or an alias.

use serde::{Serialize, Serializer};

/// Names with their values, shown as a JSON object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Metadata<'a>(pub(crate) &'a [(String, String)]);

impl Serialize for Metadata<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}
