//! Who shares modules and providers with whom (contract 4.4). Sharing exists in the self-hosted edition only.

use gatehouse_access_api::Access;
use gatehouse_orgs_api::{
    Action, Attribute, Capability, ConsumerChanges, Edition, Organization, OrganizationReference,
    Partnership, ShareError, Shared,
};
use serde_json::{Value, json};

use super::Api;
use super::attribute_fault::AttributeFault;
use super::caller::Caller;
use super::document::Document;
use super::include::{Includes, with_entitlements};
use super::input::{Input, Kinds, Members};
use super::pagination::{PageRequest, paged};
use super::problem::Problem;
use super::transport::{json_api, no_content};
use crate::http::{Method, Response};

const CONSUMING_IDS: &str = "module-consuming-organization-ids";

/// Requests about sharing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route<'a> {
    /// Who shares with the organization of this name.
    Producers(&'a str, Shared),
    /// With whom it shares.
    Consumers(&'a str, Shared),
    /// With whom it is to share its modules.
    ReplaceConsumers(&'a str),
    /// The same in an older form.
    ReplacePartnerships(&'a str),
    /// With whom it is to share its modules and its providers, in an older form.
    ReplaceRegistryPartnerships(&'a str),
}

impl<'a> Route<'a> {
    /// The route of a request.
    pub(super) fn of(method: Method, segments: &[&'a str]) -> Option<Self> {
        match (method, segments) {
            (Method::Get, ["organizations", name, "relationships", relationship]) => {
                let shared = match *relationship {
                    "module-producers" => Shared::Modules,
                    "provider-producers" => Shared::Providers,
                    _ => return None,
                };
                Some(Self::Producers(name, shared))
            }
            (method, ["admin", "organizations", name, below @ ..]) => match (method, below) {
                (Method::Get, ["relationships", "module-consumers"]) => {
                    Some(Self::Consumers(name, Shared::Modules))
                }
                (Method::Get, ["relationships", "provider-consumers"]) => {
                    Some(Self::Consumers(name, Shared::Providers))
                }
                (Method::Patch, ["relationships", "module-consumers"]) => {
                    Some(Self::ReplaceConsumers(name))
                }
                (Method::Patch, ["module-consumers"]) => Some(Self::ReplacePartnerships(name)),
                (Method::Put, ["registry-partnerships"]) => {
                    Some(Self::ReplaceRegistryPartnerships(name))
                }
                _ => None,
            },
            _ => None,
        }
    }
}

impl<C: Access, O: Capability> Api<'_, C, O> {
    pub(super) fn answer_about_sharing(&self, route: Route<'_>) -> Result<Response, Problem> {
        self.exists_only_in(Edition::SelfHosted)?;
        match route {
            Route::Producers(name, shared) => self.list_producers(name, shared),
            Route::Consumers(name, shared) => self.list_consumers(name, shared),
            Route::ReplaceConsumers(name) => self.replace_consumers(name),
            Route::ReplacePartnerships(name) => self.replace_partnerships(name),
            Route::ReplaceRegistryPartnerships(name) => self.replace_registry_partnerships(name),
        }
    }

    fn list_producers(&self, name: &str, shared: Shared) -> Result<Response, Problem> {
        let below = match shared {
            Shared::Modules => "relationships/module-producers",
            Shared::Providers => "relationships/provider-producers",
        };
        let entry = self.enter(name, Action::ReadProducers, Some(below))?;
        let includes = Includes::of_producers(&self.request.query)?;
        let page = PageRequest::always(&self.request.query);
        let external_id = &entry.position.organization.external_id;
        let edition = self.settings.edition;
        let found =
            self.organizations
                .producers(edition, external_id, shared, page.number, page.size)?;
        let resources = found.organizations.iter().map(short_resource).collect();
        let mut document = paged::<Value>(resources, found.total, page, self.request);
        let organizations = with_entitlements(&found.organizations, &found.entitlements);
        document.included = includes.of(organizations, &self.feature_sets_for(includes));
        Ok(json_api(200, &document))
    }

    fn list_consumers(&self, name: &str, shared: Shared) -> Result<Response, Problem> {
        self.administer()?;
        let producer = self.existing(name)?;
        let page = PageRequest::always(&self.request.query);
        let found = self.organizations.consumers(
            self.settings.edition,
            &producer.external_id,
            shared,
            page.number,
            page.size,
        )?;
        let resources = self.administered(&found.organizations, false)?.data;
        Ok(json_api(
            200,
            &paged(resources, found.total, page, self.request),
        ))
    }

    fn replace_consumers(&self, name: &str) -> Result<Response, Problem> {
        let caller = self.administer()?;
        let producer = self.existing(name)?;
        let input = Input::read(&self.request.body)?;
        let consumers = input.resources(Kinds::Any)?.into_iter().map(|resource| {
            OrganizationReference::Name(resource.id.unwrap_or_default().to_owned())
        });
        let changes = ConsumerChanges {
            modules: Some(consumers.collect()),
            providers: None,
        };
        self.share(&caller, &producer, &changes, "/data")?;
        Ok(no_content())
    }

    fn replace_partnerships(&self, name: &str) -> Result<Response, Problem> {
        let caller = self.administer()?;
        let producer = self.existing(name)?;
        let input = Input::read(&self.request.body)?;
        let resource = input.resource(Kinds::Any)?;
        let Attribute::Value(ids) = resource.attributes.texts(CONSUMING_IDS) else {
            return Err(Problem::Invalid(vec![no_list(CONSUMING_IDS)]));
        };
        let ids = ids.into_iter().map(OrganizationReference::ExternalId);
        let changes = ConsumerChanges {
            modules: Some(ids.collect()),
            providers: None,
        };
        let pointer = format!("/data/attributes/{CONSUMING_IDS}");
        self.share(&caller, &producer, &changes, &pointer)?;
        let partnerships = self
            .organizations
            .module_partnerships(&producer.external_id)?;
        let resources: Vec<Value> = partnerships
            .iter()
            .map(|partnership| partnership_resource(&producer, partnership))
            .collect();
        Ok(json_api(200, &Document::of(resources)))
    }

    fn replace_registry_partnerships(&self, name: &str) -> Result<Response, Problem> {
        let caller = self.administer()?;
        let producer = self.existing(name)?;
        let input = Input::read(&self.request.body)?;
        let attributes = input.resource(Kinds::Any)?.attributes;
        let mut faults = Vec::new();
        let changes = ConsumerChanges {
            modules: names(&attributes, "module-consumers", &mut faults),
            providers: names(&attributes, "provider-consumers", &mut faults),
        };
        if !faults.is_empty() {
            return Err(Problem::Invalid(faults));
        }
        self.share(&caller, &producer, &changes, "/data/attributes")?;
        Ok(no_content())
    }

    /// Replaces consumers. What is wrong with them is wrong at `pointer`.
    fn share(
        &self,
        caller: &Caller<'_>,
        producer: &Organization,
        changes: &ConsumerChanges,
        pointer: &str,
    ) -> Result<(), Problem> {
        let by = self.recorded_as(caller);
        self.organizations
            .replace_consumers(&producer.external_id, changes, &by)
            .map_err(|error| refused(error, pointer))
    }
}

fn refused(error: ShareError, pointer: &str) -> Problem {
    let fault = |detail| AttributeFault {
        pointer: pointer.to_owned(),
        detail,
    };
    match error {
        ShareError::NotFound => Problem::NotFound,
        ShareError::UnknownOrganizations(names) => {
            let details = names
                .iter()
                .map(|name| format!("Organization {name} not found"));
            Problem::Invalid(details.map(fault).collect())
        }
        ShareError::TooMany(maximum) => {
            let detail = format!(
                "At most {maximum} organizations can be named; global sharing reaches all of them"
            );
            Problem::Invalid(vec![fault(detail)])
        }
        ShareError::Failed(failure) => failure.into(),
    }
}

/// Organizations that an attribute names; `None` where it says nothing.
fn names(
    attributes: &Members<'_>,
    name: &str,
    faults: &mut Vec<AttributeFault>,
) -> Option<Vec<OrganizationReference>> {
    match attributes.texts(name) {
        Attribute::Absent | Attribute::Null => None,
        Attribute::Value(names) => {
            Some(names.into_iter().map(OrganizationReference::Name).collect())
        }
        Attribute::WrongType => {
            faults.push(no_list(name));
            None
        }
    }
}

fn no_list(name: &str) -> AttributeFault {
    AttributeFault::attribute(name, "must be a list of strings")
}

/// As much of an organization as those see with whom it shares.
fn short_resource(organization: &Organization) -> Value {
    let name = &organization.name;
    json!({
        "id": name,
        "type": "organizations",
        "attributes": {"name": name, "external-id": organization.external_id},
        "links": {"self": format!("/api/v2/organizations/{name}")},
    })
}

fn partnership_resource(producer: &Organization, partnership: &Partnership) -> Value {
    json!({
        "id": partnership.id,
        "type": "module-partnerships",
        "attributes": {
            "consuming-organization-id": partnership.consumer_id,
            "consuming-organization-name": partnership.consumer_name,
            "producing-organization-id": producer.external_id,
            "producing-organization-name": producer.name,
        },
    })
}
