//! Organizations as site administrators see them (contract 4.14).

use std::collections::BTreeMap;

use gatehouse_access_api::Access;
use gatehouse_orgs_api::{AdministrationChanges, Capability, Organization, Shared, User, Viewer};
use serde_json::{Value, json};

use super::document::Document;
use super::general_settings::timeout;
use super::input::{Input, Kinds, Members};
use super::pagination::{PageRequest, paged};
use super::problem::Problem;
use super::transport::{json_api, no_content};
use super::{Api, include, listing, users};
use crate::http::{Method, Response};
use crate::query;

/// Requests of site administrators about organizations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route<'a> {
    /// All organizations.
    List,
    /// The organization of this name.
    Show(&'a str),
    /// What only site administrators set of it.
    Update(&'a str),
    /// Its end.
    Delete(&'a str),
}

impl<'a> Route<'a> {
    /// The route of a request.
    pub(super) fn of(method: Method, segments: &[&'a str]) -> Option<Self> {
        match (method, segments) {
            (Method::Get, ["admin", "organizations"]) => Some(Self::List),
            (Method::Get, ["admin", "organizations", name]) => Some(Self::Show(name)),
            (Method::Patch, ["admin", "organizations", name]) => Some(Self::Update(name)),
            (Method::Delete, ["admin", "organizations", name]) => Some(Self::Delete(name)),
            _ => None,
        }
    }
}

impl<C: Access, O: Capability> Api<'_, C, O> {
    pub(super) fn answer_about_administration(
        &self,
        route: Route<'_>,
    ) -> Result<Response, Problem> {
        match route {
            Route::List => self.list_all(),
            Route::Show(name) => self.show_administered(name),
            Route::Update(name) => self.update_administered(name),
            Route::Delete(name) => self.delete_administered(name),
        }
    }

    fn list_all(&self) -> Result<Response, Problem> {
        self.administer()?;
        let query = self.request.query.as_str();
        let with_owners = include::owners(query)?;
        let page = PageRequest::always(query);
        let filter = listing::filter(query);
        let producers: Vec<Shared> = [
            ("filter[module_producer]", Shared::Modules),
            ("filter[provider_producer]", Shared::Providers),
        ]
        .into_iter()
        .filter(|(name, _)| query::first(query, name).as_deref() == Some("true"))
        .map(|(_, shared)| shared)
        .collect();
        let edition = self.settings.edition;
        let found = if producers.is_empty() {
            self.organizations.page_at(
                edition,
                &Viewer::Everything,
                &filter,
                page.number,
                page.size,
            )?
        } else {
            self.organizations.all_producers(
                edition,
                &producers,
                &filter,
                page.number,
                page.size,
            )?
        };
        let all = self.administered(&found.organizations, with_owners)?;
        let counts = self.organizations.count_organizations()?;
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

    fn show_administered(&self, name: &str) -> Result<Response, Problem> {
        self.administer()?;
        let with_owners = include::owners(&self.request.query)?;
        let organization = self.existing(name)?;
        self.one_administered(&organization, with_owners)
    }

    fn update_administered(&self, name: &str) -> Result<Response, Problem> {
        let caller = self.administer()?;
        let external_id = self.existing(name)?.external_id;
        let input = Input::read(&self.request.body)?;
        let changes = changes(&input.resource(Kinds::Any)?.attributes);
        let edition = self.settings.edition;
        let by = self.recorded_as(&caller);
        let organization = self
            .organizations
            .administer(edition, &external_id, &changes, &by)?;
        self.one_administered(&organization, false)
    }

    fn delete_administered(&self, name: &str) -> Result<Response, Problem> {
        let caller = self.administer()?;
        let external_id = self.existing(name)?.external_id;
        let by = self.recorded_as(&caller);
        if self.organizations.delete(&external_id, &by)? {
            Ok(no_content())
        } else {
            Err(Problem::NotFound)
        }
    }

    /// The organization of this name, for somebody to whom all are open.
    ///
    /// # Errors
    ///
    /// [`Problem::NotFound`] where there is none.
    pub(super) fn existing(&self, name: &str) -> Result<Organization, Problem> {
        let found = self.organizations.read(self.settings.edition, name)?;
        found.ok_or(Problem::NotFound)
    }

    fn one_administered(
        &self,
        organization: &Organization,
        with_owners: bool,
    ) -> Result<Response, Problem> {
        let all = self.administered(std::slice::from_ref(organization), with_owners)?;
        let mut document = Document::of(all.data.into_iter().next());
        document.included = all.included;
        Ok(json_api(200, &document))
    }

    /// Organizations as site administrators see them, with their owners if those are to be included.
    /// The owners are read in any case, for the relationship names them always (contract 4.14).
    ///
    /// # Errors
    ///
    /// When the capability does not answer.
    pub(super) fn administered(
        &self,
        organizations: &[Organization],
        with_owners: bool,
    ) -> Result<Document<Vec<Value>>, Problem> {
        let ids: Vec<String> = organizations
            .iter()
            .map(|organization| organization.external_id.clone())
            .collect();
        let owners = self.organizations.owners_of(&ids)?;
        let resources = organizations
            .iter()
            .zip(&owners)
            .map(|(organization, owners)| resource_of(organization, owners))
            .collect();
        let mut document = Document::of(resources);
        document.included = with_owners.then(|| {
            let owners = owners.iter().flatten();
            let each_once: BTreeMap<&str, &User> =
                owners.map(|user| (user.id.as_str(), user)).collect();
            each_once.into_values().map(users::resource_of).collect()
        });
        Ok(document)
    }
}

fn changes(attributes: &Members<'_>) -> AdministrationChanges {
    AdministrationChanges {
        disabled: attributes.boolean("is-disabled"),
        global_module_sharing: attributes.boolean("global-module-sharing"),
        global_provider_sharing: attributes.boolean("global-provider-sharing"),
        access_beta_tools: attributes.boolean("access-beta-tools"),
        terraform_worker_sudo_enabled: attributes.boolean("terraform-worker-sudo-enabled"),
        apply_timeout: timeout(attributes, "apply-timeout"),
        plan_timeout: timeout(attributes, "plan-timeout"),
        workspace_limit: attributes.integer("workspace-limit"),
    }
}

fn resource_of(organization: &Organization, owners: &[User]) -> Value {
    let administration = &organization.administration;
    let name = &organization.name;
    let owners: Vec<Value> = owners
        .iter()
        .map(|user| json!({"id": user.id, "type": "users"}))
        .collect();
    json!({
        "id": name,
        "type": "organizations",
        "attributes": {
            "name": name,
            "external-id": organization.external_id,
            "notification-email": organization.settings.email,
            "access-beta-tools": administration.access_beta_tools,
            "is-disabled": organization.disabled,
            "sso-enabled": false,
            "global-module-sharing": organization.global_module_sharing,
            "global-provider-sharing": organization.global_provider_sharing,
            "apply-timeout": administration.apply_timeout,
            "plan-timeout": administration.plan_timeout,
            "terraform-build-worker-apply-timeout": administration.apply_timeout,
            "terraform-build-worker-plan-timeout": administration.plan_timeout,
            "terraform-worker-sudo-enabled": administration.terraform_worker_sudo_enabled,
            "workspace-limit": administration.workspace_limit,
        },
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
