//! The position at which the next part of a list without pages begins.

use gatehouse_orgs_api::Plan;
use serde::{Deserialize, Serialize};

use crate::json_writer::WriteJson;

/// The position in a list without pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListCursor {
    pub(super) member: Member,
    /// The last organization that was examined; `None` at the beginning of the member.
    pub(super) after: Option<String>,
    /// True once the member has an item.
    pub(super) begun: bool,
    /// The plans whose feature sets end the list.
    pub(super) plans: Vec<Plan>,
}

/// The member of a document that is being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Member {
    /// The organizations.
    Data,
    /// The related resources, for which the list is read a second time.
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
    pub(super) fn push(&mut self, body: &mut Vec<u8>, item: &impl WriteJson) {
        if self.begun {
            body.push(b',');
        }
        self.begun = true;
        item.write_json(body);
    }
}
