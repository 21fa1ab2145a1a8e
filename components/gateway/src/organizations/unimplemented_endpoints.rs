//! Endpoints of features that this server does not have: empty lists, which clients read nevertheless (contract 4.3, 4.12).

use gatehouse_access_api::Access;
use gatehouse_orgs_api::{Action, Capability};
use serde_json::{Value, json};

use super::api::Api;
use super::api_error::ApiError;
use super::document::Document;
use super::document_type::{DocumentType, integer};
use super::pagination::{PageRequest, paged};
use super::parameter::Parameter;
use super::route::Data::{Many, One};
use super::routes::routes;
use super::transport::json_api;
use crate::http::Response;

/// The organization whose keys are listed.
const NAMESPACE: Parameter = Parameter::text("filter[namespace]", "The name of the organization.");

const EMPTY: &str = "Lists nothing: the server does not have this feature.";

/// The resources of a missing feature, of which none exists.
pub(super) const NOTHING: DocumentType = DocumentType::new(
    "Nothing",
    "",
    "A resource of a feature that this server does not have.",
    &[],
);

const CAPACITY: DocumentType = DocumentType::new(
    "Capacity",
    "organization-capacity",
    "The number of runs of an organization.",
    &[
        integer("pending", "Always 0.").read_only(),
        integer("running", "Always 0.").read_only(),
    ],
);

routes! { UNIMPLEMENTED:
    Get "organizations/:name/capacity", Organization, "show-capacity", "Shows the numbers of runs, which are always 0.",
        answering(One(&CAPACITY))
        => |api, name| api.capacity(name);
    Get "organizations/:name/oauth-clients", Organization, "list-oauth-clients", EMPTY, paged, answering(Many(&NOTHING))
        => |api, name| api.empty_list(name);
    Get "organizations/:name/oauth-tokens", Organization, "list-oauth-tokens", EMPTY, paged, answering(Many(&NOTHING))
        => |api, name| api.empty_list(name);
    Get "organizations/:name/policies", Organization, "list-policies", EMPTY, paged, answering(Many(&NOTHING))
        => |api, name| api.empty_list(name);
    Get "organizations/:name/policy-sets", Organization, "list-policy-sets", EMPTY, paged, answering(Many(&NOTHING))
        => |api, name| api.empty_list(name);
    Get "organizations/:name/registry-modules", Organization, "list-registry-modules", EMPTY, paged, answering(Many(&NOTHING))
        => |api, name| api.empty_list(name);
    Get "organizations/:name/registry-providers", Organization, "list-registry-providers", EMPTY, paged, answering(Many(&NOTHING))
        => |api, name| api.empty_list(name);
    Get "organizations/:name/reserved-tag-keys", Organization, "list-reserved-tag-keys", EMPTY, paged, answering(Many(&NOTHING))
        => |api, name| api.empty_list(name);
    Get "organizations/:name/runs/queue", Organization, "list-runs-queue", EMPTY, paged, answering(Many(&NOTHING))
        => |api, name| api.empty_list(name);
    Get "organizations/:name/ssh-keys", Organization, "list-ssh-keys", EMPTY, paged, answering(Many(&NOTHING))
        => |api, name| api.empty_list(name);
    Get "organizations/:name/stacks", Organization, "list-stacks", EMPTY, paged, answering(Many(&NOTHING))
        => |api, name| api.empty_list(name);
    Get "organizations/:name/tags", Organization, "list-tags", EMPTY, paged, answering(Many(&NOTHING))
        => |api, name| api.empty_list(name);
    Get "organizations/:name/tasks", Organization, "list-tasks", EMPTY, paged, answering(Many(&NOTHING))
        => |api, name| api.empty_list(name);
    Get "organizations/:name/varsets", Organization, "list-varsets", EMPTY, paged, answering(Many(&NOTHING))
        => |api, name| api.empty_list(name);
    Get "organizations/:name/workspaces", Organization, "list-workspaces", EMPTY, paged, answering(Many(&NOTHING))
        => |api, name| api.empty_list(name);
    Get "/api/registry/private/v2/gpg-keys", Organization, "list-gpg-keys", EMPTY,
        querying(&[NAMESPACE]), paged, answering(Many(&NOTHING))
        => |api, _| api.signing_keys();
}

impl<C: Access, O: Capability> Api<'_, C, O> {
    /// Lists the keys with which the organization of the query signs providers: there are none.
    fn signing_keys(&self) -> Result<Response, ApiError> {
        let name = NAMESPACE.first(&self.request.query);
        self.empty_list(&name.unwrap_or_default())
    }

    fn empty_list(&self, name: &str) -> Result<Response, ApiError> {
        self.enter_named(name, Action::Show, None)?;
        let page = PageRequest::always(&self.request.query);
        let nothing = Vec::<Value>::new();
        Ok(json_api(200, &paged(nothing, 0, page, self.request)))
    }

    /// Shows that no run is in progress or waiting.
    fn capacity(&self, name: &str) -> Result<Response, ApiError> {
        let entry = self.enter_named(name, Action::Show, None)?;
        let capacity = json!({
            "id": entry.position.organization.name,
            "type": "organization-capacity",
            "attributes": {"pending": 0, "running": 0},
        });
        Ok(json_api(200, &Document::new(capacity)))
    }
}
