//! The handlers of single organizations, in the order of checks of contract 1.5.

use gatehouse_access_api::Access;
use gatehouse_orgs_api::{
    AccessDecision, Action, Attribute, Capability, Decision, Description, OrganizationChanges,
    OrganizationRole, folded_name,
};

use super::api::Api;
use super::api_error::ApiError;
use super::caller::Caller;
use super::document::{Document, OrganizationResource, entitlement_set};
use super::document_type::DocumentType;
use super::entry::{Entry, Question};
use super::organization::{ORGANIZATION, changes_in, shown_permissions};
use super::policy_paths::path_of;
use super::route::Data::{Many, One};
use super::routes::routes;
use super::transport::{json_api, no_content};
use super::{include, listing};
use crate::http::Response;

/// The operation whose answer can have several parts.
pub(super) const LIST: &str = "list-organizations";

/// The entitlement set of an organization. Its attributes are the entitlements by their names.
const ENTITLEMENT_SET: DocumentType = DocumentType::new(
    "EntitlementSet",
    "entitlement-sets",
    "The entitlements of an organization by their names: true, false, or a number with null for no limit.",
    &[],
)
.with_entitlements();

routes! { ORGANIZATIONS:
    Get "organizations", Bearers, LIST,
        "Lists the organizations that the caller sees. Without page parameters the list is complete.",
        including(&[include::ENTITLEMENT_SET, include::SUBSCRIPTION]), querying(&[listing::EITHER, listing::NAME, listing::EMAIL]), paged,
        answering(Many(&ORGANIZATION))
        => |api, _| api.list();
    Post "organizations", Bearers, "create-organization", "Makes an organization, which the caller then owns.",
        taking(One(&ORGANIZATION)), making(One(&ORGANIZATION)), forbidding
        => |api, _| api.create();
    Get "organizations/:name", Organization, "show-organization", "Shows an organization.",
        including(&[include::ENTITLEMENT_SET, include::SUBSCRIPTION, include::DEFAULT_PROJECT]),
        answering(One(&ORGANIZATION))
        => |api, name| api.show(name);
    Patch "organizations/:name", Organization, "update-organization", "Changes an organization, including its name.",
        taking(One(&ORGANIZATION)), answering(One(&ORGANIZATION))
        => |api, name| api.update(name);
    Put "organizations/:name", Organization, "replace-organization",
        "Does the same as PATCH: attributes that are not named stay.",
        taking(One(&ORGANIZATION)), answering(One(&ORGANIZATION))
        => |api, name| api.update(name);
    Delete "organizations/:name", Organization, "delete-organization", "Removes an organization and all that belongs to it."
        => |api, name| api.delete(name);
    Get "organizations/:name/entitlement-set", Organization, "show-entitlement-set-of-organization",
        "Shows the entitlements of an organization.",
        including(&[]), answering(One(&ENTITLEMENT_SET))
        => |api, name| api.entitlement_set_of(name);
    Get "entitlement-sets/:id", Organization, "show-entitlement-set",
        "Shows an entitlement set by the external id of its organization.",
        including(&[]), answering(One(&ENTITLEMENT_SET))
        => |api, id| api.entitlement_set(id);
}

impl<C: Access, O: Capability> Api<'_, C, O> {
    /// Creates an organization.
    pub(super) fn create(&self) -> Result<Response, ApiError> {
        let read = || changes_in(&self.request.body);
        // Policies depend on the name, so where the caller may have policies the body is read before anything is refused.
        let known = self.comes_with_policies().then(read);
        let name = known.as_ref().and_then(|changes| changes.as_ref().ok());
        let name = name.and_then(new_name);
        let caller = self.authenticate(name.and_then(path_of).as_deref())?;
        self.check_media_type()?;
        let granted = match name {
            Some(_) => caller.granted,
            // The name is not known. A caller with rights on any organization may still learn why the request is refused.
            None => self.has_rights_somewhere(&caller)?,
        };
        let decision = self.organizations.creation(&caller.identity, granted)?;
        self.decided(&caller, decision == Decision::Allowed)?;
        match decision {
            Decision::Allowed => {}
            Decision::Forbidden => return Err(ApiError::Forbidden(CREATION_RESTRICTED.into())),
            Decision::Hidden | Decision::UserTokensOff => return Err(ApiError::NotFound),
        }
        let changes = known.unwrap_or_else(read)?;
        let by = self.recorded_as(&caller);
        let role = self.role_by_policies(&caller, new_name(&changes).unwrap_or_default())?;
        let made = self.organizations.create(&changes, role, &by)?;
        let set = entitlement_set_of(&made);
        Ok(shown(201, &made, Some(vec![set])))
    }

    /// Shows an organization.
    pub(super) fn show(&self, name: &str) -> Result<Response, ApiError> {
        // A caller who may not see the organization must not learn about a fault in the query.
        let includes = self.includes();
        let entitlements = includes.as_ref().is_ok_and(|it| it.needs_entitlements());
        let question = Question::named(name, Action::Show).describing(Description {
            entitlements,
            permissions: true,
        });
        let Entry { position, .. } = self.enter(question.with_role_by_policies())?;
        let includes = includes?;
        let organization = (&position.organization, position.entitlements.as_slice());
        let feature_sets = self.feature_sets_for(includes);
        let included = includes.resources_of([organization], &feature_sets);
        Ok(shown(200, &position, included))
    }

    /// Changes an organization.
    pub(super) fn update(&self, name: &str) -> Result<Response, ApiError> {
        let question = Question::named(name, Action::Update).describing(Description {
            entitlements: false,
            permissions: true,
        });
        let Entry {
            caller,
            mut position,
        } = self.enter(question.with_role_by_policies())?;
        let changes = changes_in(&self.request.body)?;
        self.check_rename(&caller, &position, &changes)?;
        let by = self.recorded_as(&caller);
        // By now another organization can have the name, so the identifier is used.
        let id = position.organization.external_id;
        position.organization = self.organizations.update(&id, &changes, &by)?;
        Ok(shown(200, &position, None))
    }

    /// Removes an organization. The body is ignored.
    pub(super) fn delete(&self, name: &str) -> Result<Response, ApiError> {
        let Entry { caller, position } = self.enter_named(name, Action::Delete, None)?;
        let id = &position.organization.external_id;
        let by = self.recorded_as(&caller);
        if self.organizations.delete(id, &by)? {
            Ok(no_content())
        } else {
            Err(ApiError::NotFound)
        }
    }

    /// Shows the entitlement set of an organization.
    pub(super) fn entitlement_set_of(&self, name: &str) -> Result<Response, ApiError> {
        let question = Question::named(name, Action::Show).describing(Description::ENTITLEMENTS);
        let entry = self.enter(question)?;
        self.includes()?;
        let set = entitlement_set_of(&entry.position);
        Ok(json_api(200, &Document::new(set)))
    }

    /// Shows an entitlement set by its id.
    pub(super) fn entitlement_set(&self, id: &str) -> Result<Response, ApiError> {
        let entry = self.enter_by_its_own(
            id,
            Action::Show,
            Description::ENTITLEMENTS,
            |organization| &organization.external_id,
        )?;
        self.includes()?;
        let set = entitlement_set_of(&entry.position);
        Ok(json_api(200, &Document::new(set)))
    }

    /// After a rename, other policies apply to the organization. A caller whose right to rename comes from policies must also be allowed to create an
    /// organization of the new name.
    fn check_rename(
        &self,
        caller: &Caller<'_>,
        position: &AccessDecision,
        changes: &OrganizationChanges,
    ) -> Result<(), ApiError> {
        let Some(new_name) = new_name(changes) else {
            return Ok(());
        };
        let owns = position.role.is_some_and(OrganizationRole::owns);
        if owns || folded_name(new_name) == folded_name(&position.organization.name) {
            return Ok(());
        }
        let rights = self.rights(caller, [new_name])?;
        if rights.iter().all(|rights| rights.create) {
            Ok(())
        } else {
            Err(ApiError::NotFound)
        }
    }
}

/// The answer that shows an organization to a caller who may see it.
fn shown(
    status: u16,
    found: &AccessDecision,
    included: Option<Vec<serde_json::Value>>,
) -> Response {
    let permissions = shown_permissions(&found.permissions);
    let resource = OrganizationResource::for_caller(&found.organization, &permissions);
    let mut document = Document::new(resource);
    document.included = included;
    json_api(status, &document)
}

fn entitlement_set_of(found: &AccessDecision) -> serde_json::Value {
    entitlement_set(&found.organization, &found.entitlements)
}

/// The refusal for callers who may not create organizations, in an installation where only administrators may (contract 1.7).
const CREATION_RESTRICTED: &str = "Creation of organizations has been disabled for non-admins.";

/// The name that a request asks for, if it is a valid name.
fn new_name(changes: &OrganizationChanges) -> Option<&str> {
    match &changes.name {
        Attribute::Value(name) if folded_name(name).is_some() => Some(name),
        _ => None,
    }
}
