//! The organization that a page is about, and the links to its other pages.

use maud::{Markup, html};
use serde_json::Value;

use crate::api::{ApiError, at, encoded};
use crate::layout::{Page, unavailable};
use crate::pages::places::ORGANIZATIONS;
use crate::pages::{Answer, Outcome, Visit};

/// The organization that the query names.
pub(super) struct Organization {
    /// The response of the API.
    pub(super) shown: Value,
    pub(super) name: String,
    /// Its path in the API.
    pub(super) path: String,
    /// The address of the current page, without the query.
    pub(super) visited: String,
}

impl Organization {
    /// Reads the organization.
    ///
    /// # Errors
    ///
    /// When the answer is not a success.
    pub(super) fn open(visit: &Visit<'_>) -> Result<Self, ApiError> {
        let shown = visit.api.read(&api_path(visit.asked("name")?))?;
        let name = at(&shown, "/data/attributes/name");
        Ok(Self {
            path: api_path(&name),
            visited: visit.path.to_owned(),
            shown,
            name,
        })
    }

    pub(super) fn attribute(&self, name: &str) -> String {
        at(&self.shown, &format!("/data/attributes/{name}"))
    }

    /// True in the edition that has retention and sharing, and neither plans nor a readable audit trail.
    pub(super) fn is_self_hosted(&self) -> bool {
        self.attribute("plan-is-enterprise") == "true"
    }

    /// The address of its page `place`.
    pub(super) fn address(&self, place: &str) -> String {
        address(place, &self.name)
    }

    /// A page about the organization, with links to its other pages.
    pub(super) fn page(&self, title: &str, content: Markup) -> Answer {
        let pages: &[(&str, &str)] = match self.is_self_hosted() {
            true => &[
                ("show", "Settings"),
                ("teams", "Teams"),
                ("members", "Members and invitations"),
                ("token", "Tokens"),
                ("pools", "Agent pools"),
                ("plan", "Entitlements"),
                ("retention", "Retention"),
                ("sharing", "Sharing"),
            ],
            false => &[
                ("show", "Settings"),
                ("teams", "Teams"),
                ("members", "Members and invitations"),
                ("token", "Tokens"),
                ("pools", "Agent pools"),
                ("plan", "Plan and entitlements"),
                ("trail", "Audit trail"),
            ],
        };
        Ok(Outcome::Page(Page::new(
            format!("{title} of {}", self.name),
            html! {
                nav aria-label={ "Organization " (self.name) } { ul {
                    @for (place, text) in pages {
                        @let is_here = self.visited.strip_prefix(ORGANIZATIONS).is_some_and(|rest| rest.trim_start_matches('/') == *place);
                        li { a href=(self.address(place)) aria-current=[is_here.then_some("page")] { (text) } }
                    }
                } }
                (content)
            },
        )))
    }
}

/// The address of the page `place` about the organization of that name.
pub(super) fn address(place: &str, name: &str) -> String {
    format!("/ui/organizations/{place}?name={}", encoded(name))
}

pub(super) fn api_path(name: &str) -> String {
    format!("/api/v2/organizations/{}", encoded(name))
}

/// The content of a part of a page, or its refusal, so that the rest of the page is still shown.
pub(super) fn part(made: Result<Markup, ApiError>) -> Markup {
    made.unwrap_or_else(|error| unavailable(&error))
}
