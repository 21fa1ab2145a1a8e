//! The position in a list without pages at which its next part begins.

use gatehouse_orgs_api::Plan;
use serde::{Deserialize, Serialize};

/// How far a list without pages has been answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListCursor {
    pub(super) member: Member,
    /// The organization that was reached; `None` at the beginning of the member.
    pub(super) after: Option<String>,
    /// True once an item stands in the member.
    pub(super) begun: bool,
    /// The plans whose feature sets come last.
    pub(super) plans: Vec<Plan>,
}

/// The member of a document that is being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Member {
    /// The organizations.
    Data,
    /// The related resources, for which the list is read once more.
    Included,
}

impl ListCursor {
    pub(super) const fn beginning_of(member: Member) -> Self {
        Self {
            member,
            after: None,
            begun: false,
            plans: Vec::new(),
        }
    }

    /// Adds an item to the member.
    pub(super) fn push(&mut self, body: &mut Vec<u8>, item: &impl Serialize) {
        if self.begun {
            body.push(b',');
        }
        self.begun = true;
        // Made of text, numbers and lists of them, which always serialize; bytes take any number of them.
        let _ = serde_json::to_writer(body, item);
    }
}
