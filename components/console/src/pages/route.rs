//! The routes of pages and forms.

use super::visit::{Answer, Visit};
use crate::form::Fields;

/// Makes a page.
pub(super) type Look = fn(&Visit<'_>) -> Answer;

/// Does what a form asks for.
pub(super) type Act = fn(&Visit<'_>, &Fields) -> Answer;

/// A page or a form at an address.
pub(super) struct Route {
    pub(super) path: &'static str,
    /// `None` where the address only takes a form.
    pub(super) look: Option<Look>,
    /// `None` where the address takes no form.
    pub(super) act: Option<Act>,
}

impl Route {
    /// A page.
    pub(super) const fn page(path: &'static str, look: Look) -> Self {
        Self {
            path,
            look: Some(look),
            act: None,
        }
    }

    /// An address that takes the form of another page.
    pub(super) const fn form(path: &'static str, act: Act) -> Self {
        Self {
            path,
            look: None,
            act: Some(act),
        }
    }

    /// A page whose form is sent to the same address.
    pub(super) const fn both(path: &'static str, look: Look, act: Act) -> Self {
        Self {
            path,
            look: Some(look),
            act: Some(act),
        }
    }
}
