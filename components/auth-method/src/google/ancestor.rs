//! The ancestors of a project.

use serde::{Deserialize, Serialize};

/// Longest number of a folder or organization, in digits.
const MAXIMUM_DIGITS: usize = 32;

/// A project, folder or organization on the way from a project to the top.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ancestor {
    /// `project`, `folder` or `organization`.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// The id of a project; the number of a folder or organization.
    pub(crate) id: String,
}

impl Ancestor {
    /// True if it is a folder or an organization, with a well-formed number.
    pub(super) fn is_above_projects(&self) -> bool {
        matches!(self.kind.as_str(), "folder" | "organization")
            && (1..=MAXIMUM_DIGITS).contains(&self.id.len())
            && self.id.bytes().all(|byte| byte.is_ascii_digit())
    }

    /// True if it is of a kind that is used here; Google may add others.
    pub(super) fn is_known(&self) -> bool {
        matches!(self.kind.as_str(), "project" | "folder" | "organization")
    }

    pub(super) fn is_project(&self, id: &str) -> bool {
        self.kind == "project" && self.id == id
    }
}

/// The project itself and its ancestors, nearest first.
pub(super) type Ancestry = Vec<Ancestor>;
