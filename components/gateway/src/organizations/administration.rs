//! Organizations as site administrators see them (contract 4.14).

use std::collections::BTreeMap;

use gatehouse_access_api::Access;
use gatehouse_orgs_api::{AdministrationChanges, Capability, Organization, Shared, User, Viewer};
use serde_json::{Value, json};

use super::api::Api;
use super::api_error::ApiError;
use super::attribute_table::{ShownAttributes, attribute_table};
use super::document::Document;
use super::document_type::{DocumentType, Target, boolean, integer, related, text};
use super::input::{Input, Kinds};
use super::pagination::{PageRequest, paged};
use super::parameter::Parameter;
use super::route::Data::{Many, One};
use super::routes::routes;
use super::transport::{json_api, no_content};
use super::{listing, users};
use crate::http::Response;

const MODULE_PRODUCERS: Parameter = Parameter::choice(
    "filter[module_producer]",
    &["true"],
    "Only organizations that share modules.",
);
const PROVIDER_PRODUCERS: Parameter = Parameter::choice(
    "filter[provider_producer]",
    &["true"],
    "Only organizations that share providers.",
);

/// The related resources that come with organizations for site administrators.
const INCLUDES: &[&str] = &["owners"];

attribute_table! { ROWS: Organization, AdministrationChanges;
    text("name", "The name.").read_only() => |it| it.name.as_str();
    text("external-id", "The id that never changes.").read_only() => |it| it.external_id.as_str();
    text("notification-email", "The address for notifications.").read_only() => |it| it.settings.email.as_str();
    boolean("is-disabled", "True if the organization is closed to all but site administrators.").defaulting_to("false")
        [disabled boolean] => |it| it.disabled;
    boolean("global-module-sharing", "True if modules are shared with all organizations.").defaulting_to("false")
        [global_module_sharing boolean] => |it| it.global_module_sharing;
    boolean("global-provider-sharing", "True if providers are shared with all organizations.").defaulting_to("false")
        [global_provider_sharing boolean] => |it| it.global_provider_sharing;
    boolean("access-beta-tools", "Stored, without effect.").defaulting_to("false")
        [access_beta_tools boolean] => |it| it.administration.access_beta_tools;
    boolean("terraform-worker-sudo-enabled", "Stored, without effect.").defaulting_to("false")
        [terraform_worker_sudo_enabled boolean] => |it| it.administration.terraform_worker_sudo_enabled;
    text("apply-timeout", "Stored, without effect.").nullable()
        [apply_timeout timeout] => |it| it.administration.apply_timeout.as_deref();
    text("plan-timeout", "Stored, without effect.").nullable()
        [plan_timeout timeout] => |it| it.administration.plan_timeout.as_deref();
    text("terraform-build-worker-apply-timeout", "The older name of apply-timeout.").nullable()
        => |it| it.administration.apply_timeout.as_deref();
    text("terraform-build-worker-plan-timeout", "The older name of plan-timeout.").nullable()
        => |it| it.administration.plan_timeout.as_deref();
    integer("workspace-limit", "Stored, without effect.").nullable()
        [workspace_limit integer] => |it| it.administration.workspace_limit;
    boolean("sso-enabled", "Always false.").read_only() => |_it| false;
}

/// An organization as site administrators see it.
pub(super) const ADMINISTERED: DocumentType = DocumentType::tabled(
    "AdministeredOrganization",
    "organizations",
    "An organization as site administrators see it.",
    || ROWS.iter().map(|row| &row.property).collect(),
)
.relating(&[
    related("owners", Target::Many("users")),
    related("subscription", Target::One("subscriptions")),
    related("feature-set", Target::One("feature-sets")),
    related("module-consumers", Target::Link),
]);

routes! { ADMINISTRATION:
    Get "admin/organizations", Administrators, "list-all-organizations", "Lists all organizations.",
        including(INCLUDES),
        querying(&[listing::EITHER, listing::NAME, listing::EMAIL, MODULE_PRODUCERS, PROVIDER_PRODUCERS]), paged,
        answering(Many(&ADMINISTERED))
        => |api, _| api.list_all();
    Get "admin/organizations/:name", Administrators, "administer-show-organization",
        "Shows an organization to a site administrator.",
        including(INCLUDES), answering(One(&ADMINISTERED))
        => |api, name| api.show_administered(name);
    Patch "admin/organizations/:name", Administrators, "administer-update-organization",
        "Changes the attributes of an organization that site administrators may set.",
        taking(One(&ADMINISTERED)), answering(One(&ADMINISTERED))
        => |api, name| api.update_administered(name);
    Delete "admin/organizations/:name", Administrators, "administer-delete-organization",
        "Removes an organization and all that belongs to it."
        => |api, name| api.delete_administered(name);
}

impl<C: Access, O: Capability> Api<'_, C, O> {
    fn list_all(&self) -> Result<Response, ApiError> {
        self.administer()?;
        let query = self.request.query.as_str();
        let with_owners = self.wanted_includes()?.is_some();
        let page = PageRequest::always(query);
        let filter = listing::filter(query);
        let producers: Vec<Shared> = [
            (MODULE_PRODUCERS, Shared::Modules),
            (PROVIDER_PRODUCERS, Shared::Providers),
        ]
        .into_iter()
        .filter(|(parameter, _)| parameter.first(query).as_deref() == Some("true"))
        .map(|(_, shared)| shared)
        .collect();
        let found = if producers.is_empty() {
            self.organizations
                .page_at(&Viewer::Everything, &filter, page.number, page.size)?
        } else {
            self.organizations
                .all_producers(&producers, &filter, page.number, page.size)?
        };
        let overview = self
            .organizations
            .oversee(&external_ids(&found.organizations))?;
        let all = administered(&found.organizations, &overview.owners, with_owners);
        let counts = overview.census;
        let mut document = paged(all.data, found.total, page, self.request);
        document.included = all.included;
        if let Some(Value::Object(meta)) = &mut document.meta {
            let counts = json!({
                "total": counts.total,
                "active": counts.total.saturating_sub(counts.disabled),
                "disabled": counts.disabled,
            });
            meta.insert("status-counts".to_owned(), counts);
        }
        Ok(json_api(200, &document))
    }

    fn show_administered(&self, name: &str) -> Result<Response, ApiError> {
        let (_, organization) = self.administer_named(name)?;
        let with_owners = self.wanted_includes()?.is_some();
        self.one_administered(&organization, with_owners)
    }

    fn update_administered(&self, name: &str) -> Result<Response, ApiError> {
        let (caller, organization) = self.administer_named(name)?;
        let input = Input::read(&self.request.body)?;
        let changes = changes(&input.resource(Kinds::Any)?.attributes);
        let by = self.recorded_as(&caller);
        let organization =
            self.organizations
                .administer(&organization.external_id, &changes, &by)?;
        self.one_administered(&organization, false)
    }

    fn delete_administered(&self, name: &str) -> Result<Response, ApiError> {
        let (caller, organization) = self.administer_named(name)?;
        let by = self.recorded_as(&caller);
        if self.organizations.delete(&organization.external_id, &by)? {
            Ok(no_content())
        } else {
            Err(ApiError::NotFound)
        }
    }

    fn one_administered(
        &self,
        organization: &Organization,
        with_owners: bool,
    ) -> Result<Response, ApiError> {
        let all = self.all_administered(std::slice::from_ref(organization), with_owners)?;
        let mut document = Document::new(all.data.into_iter().next());
        document.included = all.included;
        Ok(json_api(200, &document))
    }

    /// Organizations as site administrators see them, with their owners if the request includes those.
    ///
    /// # Errors
    ///
    /// When the capability does not answer.
    pub(super) fn all_administered(
        &self,
        organizations: &[Organization],
        with_owners: bool,
    ) -> Result<Document<Vec<Value>>, ApiError> {
        let overview = self.organizations.oversee(&external_ids(organizations))?;
        Ok(administered(organizations, &overview.owners, with_owners))
    }
}

fn external_ids(organizations: &[Organization]) -> Vec<String> {
    let ids = organizations.iter();
    ids.map(|organization| organization.external_id.clone())
        .collect()
}

/// Organizations with the owners of each. The relationship always names the owners (contract 4.14); the document includes them only if the request
/// asks for that.
fn administered(
    organizations: &[Organization],
    owners: &[Vec<User>],
    with_owners: bool,
) -> Document<Vec<Value>> {
    let resources = organizations
        .iter()
        .zip(owners)
        .map(|(organization, owners)| resource_of(organization, owners))
        .collect();
    let mut document = Document::new(resources);
    document.included = with_owners.then(|| {
        let owners = owners.iter().flatten();
        let each_once: BTreeMap<&str, &User> =
            owners.map(|user| (user.id.as_str(), user)).collect();
        each_once.into_values().map(users::resource_of).collect()
    });
    document
}

fn resource_of(organization: &Organization, owners: &[User]) -> Value {
    let name = &organization.name;
    let owners: Vec<Value> = owners
        .iter()
        .map(|user| json!({"id": user.id, "type": "users"}))
        .collect();
    json!({
        "id": name,
        "type": "organizations",
        "attributes": ShownAttributes { rows: ROWS, resource: organization },
        "relationships": {
            "owners": {"data": owners},
            "subscription": {"data": null},
            "feature-set": {"data": null},
            "module-consumers": {"links": {
                "related": format!("/api/v2/admin/organizations/{name}/relationships/module-consumers"),
            }},
        },
        "links": {"self": format!("/api/v2/organizations/{name}")},
    })
}
