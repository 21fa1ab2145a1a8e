//! The sharing of modules and providers between organizations (contract 4.4). It exists only in the self-hosted edition.

use gatehouse_access_api::Access;
use gatehouse_orgs_api::{
    Action, Attribute, Capability, ConsumerChanges, Edition, Organization, OrganizationReference,
    Partnership, ShareError, Shared,
};
use serde_json::{Value, json};

use super::administration::ADMINISTERED;
use super::api::Api;
use super::api_error::ApiError;
use super::attribute_error::AttributeError;
use super::caller::Caller;
use super::document::Document;
use super::document_type::{DocumentType, text, texts};
use super::include::{self, with_entitlements};
use super::input::{Input, Kinds, Members};
use super::pagination::{PageRequest, paged};
use super::route::Data::{Identifiers, Many, One};
use super::routes::routes;
use super::transport::{json_api, no_content};
use crate::http::Response;

const CONSUMING_IDS: &str = "module-consuming-organization-ids";
const MODULE_CONSUMERS: &str = "module-consumers";
const PROVIDER_CONSUMERS: &str = "provider-consumers";

const PRODUCER: DocumentType = DocumentType::new(
    "Producer",
    "organizations",
    "What other organizations see of one that shares with them.",
    &[
        text("name", "The name.").read_only(),
        text("external-id", "The id that never changes.").read_only(),
    ],
);
const PARTNERSHIPS: DocumentType = DocumentType::new(
    "ConsumersByExternalId",
    "module-partnerships",
    "The consumers of the modules of an organization.",
    &[texts(CONSUMING_IDS, "Their external ids.").write_only()],
);
const PARTNERSHIP: DocumentType = DocumentType::new(
    "ModulePartnership",
    "module-partnerships",
    "A producer of modules and one of its consumers.",
    &[
        text(
            "consuming-organization-id",
            "The external id of the consumer.",
        )
        .read_only(),
        text("consuming-organization-name", "The name of the consumer.").read_only(),
        text(
            "producing-organization-id",
            "The external id of the producer.",
        )
        .read_only(),
        text("producing-organization-name", "The name of the producer.").read_only(),
    ],
);
const REGISTRY_PARTNERSHIPS: DocumentType = DocumentType::new(
    "ConsumersByName",
    "registry-partnerships",
    "The consumers of an organization. A list that is not given stays as it is.",
    &[
        texts(
            MODULE_CONSUMERS,
            "Names of the organizations that use its modules.",
        )
        .write_only(),
        texts(
            PROVIDER_CONSUMERS,
            "Names of the organizations that use its providers.",
        )
        .write_only(),
    ],
);

routes! { SHARING:
    Get "organizations/:name/relationships/module-producers", Organization, "list-module-producers",
        "Lists the organizations that share modules with this one.",
        only_in(Edition::SelfHosted), including(&[include::ENTITLEMENT_SET]), paged, answering(Many(&PRODUCER))
        => |api, name| api.list_producers(name, Shared::Modules);
    Get "organizations/:name/relationships/provider-producers", Organization, "list-provider-producers",
        "Lists the organizations that share providers with this one.",
        only_in(Edition::SelfHosted), including(&[include::ENTITLEMENT_SET]), paged, answering(Many(&PRODUCER))
        => |api, name| api.list_producers(name, Shared::Providers);
    Get "admin/organizations/:name/relationships/module-consumers", Administrators, "list-module-consumers",
        "Lists the organizations with which this one shares modules.",
        only_in(Edition::SelfHosted), paged, answering(Many(&ADMINISTERED))
        => |api, name| api.list_consumers(name, Shared::Modules);
    Get "admin/organizations/:name/relationships/provider-consumers", Administrators, "list-provider-consumers",
        "Lists the organizations with which this one shares providers.",
        only_in(Edition::SelfHosted), paged, answering(Many(&ADMINISTERED))
        => |api, name| api.list_consumers(name, Shared::Providers);
    Patch "admin/organizations/:name/relationships/module-consumers", Administrators, "replace-module-consumers",
        "Replaces the organizations with which this one shares modules.",
        only_in(Edition::SelfHosted), taking(Identifiers("organizations"))
        => |api, name| api.replace_consumers(name);
    Patch "admin/organizations/:name/module-consumers", Administrators, "replace-module-partnerships",
        "Does the same, in an older form.",
        only_in(Edition::SelfHosted), taking(One(&PARTNERSHIPS)), answering(Many(&PARTNERSHIP))
        => |api, name| api.replace_partnerships(name);
    Put "admin/organizations/:name/registry-partnerships", Administrators, "replace-registry-partnerships",
        "Replaces the organizations with which this one shares modules and providers, in an older form.",
        only_in(Edition::SelfHosted), taking(One(&REGISTRY_PARTNERSHIPS))
        => |api, name| api.replace_registry_partnerships(name);
}

impl<C: Access, O: Capability> Api<'_, C, O> {
    fn list_producers(&self, name: &str, shared: Shared) -> Result<Response, ApiError> {
        let below = match shared {
            Shared::Modules => "relationships/module-producers",
            Shared::Providers => "relationships/provider-producers",
        };
        let entry = self.enter_named(name, Action::ReadProducers, Some(below))?;
        let includes = self.includes()?;
        let page = PageRequest::always(&self.request.query);
        let external_id = &entry.position.organization.external_id;
        let found = self
            .organizations
            .producers(external_id, shared, page.number, page.size)?;
        let resources = found.organizations.iter().map(short_resource).collect();
        let mut document = paged::<Value>(resources, found.total, page, self.request);
        let organizations = with_entitlements(&found.organizations, &found.entitlements);
        document.included = includes.resources_of(organizations, &self.feature_sets_for(includes));
        Ok(json_api(200, &document))
    }

    fn list_consumers(&self, name: &str, shared: Shared) -> Result<Response, ApiError> {
        let (_, producer) = self.administer_named(name)?;
        let page = PageRequest::always(&self.request.query);
        let found =
            self.organizations
                .consumers(&producer.external_id, shared, page.number, page.size)?;
        let resources = self.all_administered(&found.organizations, false)?.data;
        Ok(json_api(
            200,
            &paged(resources, found.total, page, self.request),
        ))
    }

    fn replace_consumers(&self, name: &str) -> Result<Response, ApiError> {
        let (caller, producer) = self.administer_named(name)?;
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

    fn replace_partnerships(&self, name: &str) -> Result<Response, ApiError> {
        let (caller, producer) = self.administer_named(name)?;
        let input = Input::read(&self.request.body)?;
        let resource = input.resource(Kinds::Any)?;
        let Attribute::Value(ids) = resource.attributes.texts(CONSUMING_IDS) else {
            return Err(ApiError::Invalid(vec![no_list(CONSUMING_IDS)]));
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
        Ok(json_api(200, &Document::new(resources)))
    }

    fn replace_registry_partnerships(&self, name: &str) -> Result<Response, ApiError> {
        let (caller, producer) = self.administer_named(name)?;
        let input = Input::read(&self.request.body)?;
        let attributes = input.resource(Kinds::Any)?.attributes;
        let mut faults = Vec::new();
        let changes = ConsumerChanges {
            modules: names(&attributes, MODULE_CONSUMERS, &mut faults),
            providers: names(&attributes, PROVIDER_CONSUMERS, &mut faults),
        };
        if !faults.is_empty() {
            return Err(ApiError::Invalid(faults));
        }
        self.share(&caller, &producer, &changes, "/data/attributes")?;
        Ok(no_content())
    }

    /// Replaces consumers. Faults of the consumers are reported at `pointer`.
    fn share(
        &self,
        caller: &Caller<'_>,
        producer: &Organization,
        changes: &ConsumerChanges,
        pointer: &str,
    ) -> Result<(), ApiError> {
        let by = self.recorded_as(caller);
        self.organizations
            .replace_consumers(&producer.external_id, changes, &by)
            .map_err(|error| refused(error, pointer))
    }
}

fn refused(error: ShareError, pointer: &str) -> ApiError {
    let fault = |detail| AttributeError {
        pointer: pointer.to_owned(),
        detail,
    };
    match error {
        ShareError::NotFound => ApiError::NotFound,
        ShareError::UnknownOrganizations(names) => {
            let details = names
                .iter()
                .map(|name| format!("Organization {name} not found"));
            ApiError::Invalid(details.map(fault).collect())
        }
        ShareError::TooMany(maximum) => {
            let detail = format!(
                "At most {maximum} organizations can be named; global sharing reaches all of them"
            );
            ApiError::Invalid(vec![fault(detail)])
        }
        ShareError::Failed(failure) => failure.into(),
    }
}

/// The organizations that an attribute names; `None` where it is absent or null.
fn names(
    attributes: &Members<'_>,
    name: &str,
    faults: &mut Vec<AttributeError>,
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

fn no_list(name: &str) -> AttributeError {
    AttributeError::attribute(name, "must be a list of strings")
}

/// An organization as the organizations with which it shares see it.
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
