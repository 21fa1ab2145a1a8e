//! Features that this server has not, and of which clients read something all the same (contract 4.3, 4.12).

use gatehouse_access_api::Access;
use gatehouse_orgs_api::{Action, Capability};
use serde_json::{Value, json};

use super::Api;
use super::document::Document;
use super::pagination::{PageRequest, paged};
use super::problem::Problem;
use super::transport::json_api;
use crate::http::{Method, Response};
use crate::path::CanonicalPath;
use crate::query;

/// The lists below an organization that are always empty.
const EMPTY_LISTS: &[&str] = &[
    "oauth-clients",
    "oauth-tokens",
    "policies",
    "policy-sets",
    "registry-modules",
    "registry-providers",
    "reserved-tag-keys",
    "runs/queue",
    "ssh-keys",
    "stacks",
    "tags",
    "tasks",
    "varsets",
    "workspaces",
];

/// The keys that providers are signed with, in the API of the private registry.
const SIGNING_KEYS_PATH: &str = "api/registry/private/v2/gpg-keys";

/// Requests about what there is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route<'a> {
    /// A list of the organization of this name that has nothing in it.
    EmptyList(&'a str),
    /// How many runs the organization of this name has.
    Capacity(&'a str),
    /// The keys that the organization of the query signs providers with.
    SigningKeys,
}

impl<'a> Route<'a> {
    /// The route of a request.
    pub(super) fn of(method: Method, segments: &[&'a str]) -> Option<Self> {
        let (Method::Get, ["organizations", name, below @ ..]) = (method, segments) else {
            return None;
        };
        let below = below.join("/");
        if below == "capacity" {
            return Some(Self::Capacity(name));
        }
        EMPTY_LISTS
            .contains(&below.as_str())
            .then_some(Self::EmptyList(name))
    }

    /// The route of a request elsewhere than below the path of the API.
    pub(super) fn elsewhere(method: Method, path: &CanonicalPath) -> Option<Self> {
        (method == Method::Get && path.as_str() == SIGNING_KEYS_PATH).then_some(Self::SigningKeys)
    }
}

impl<C: Access, O: Capability> Api<'_, C, O> {
    pub(super) fn answer_about_absent_features(
        &self,
        route: Route<'_>,
    ) -> Result<Response, Problem> {
        match route {
            Route::EmptyList(name) => self.empty_list(name),
            Route::Capacity(name) => self.capacity(name),
            Route::SigningKeys => {
                let name = query::first(&self.request.query, "filter[namespace]");
                self.empty_list(&name.unwrap_or_default())
            }
        }
    }

    fn empty_list(&self, name: &str) -> Result<Response, Problem> {
        self.enter(name, Action::Show, None)?;
        let page = PageRequest::always(&self.request.query);
        let nothing = Vec::<Value>::new();
        Ok(json_api(200, &paged(nothing, 0, page, self.request)))
    }

    /// Tells that nothing runs, and nothing waits.
    fn capacity(&self, name: &str) -> Result<Response, Problem> {
        let entry = self.enter(name, Action::Show, None)?;
        let capacity = json!({
            "id": entry.position.organization.name,
            "type": "organization-capacity",
            "attributes": {"pending": 0, "running": 0},
        });
        Ok(json_api(200, &Document::of(capacity)))
    }
}
