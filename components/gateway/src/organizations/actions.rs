//! What the routes of single organizations do, in the order of checks of contract 1.5.

use gatehouse_access::{Access, Operation};
use gatehouse_orgs::{Attribute, Organization, OrganizationChanges, Organizations, folded_name};

use super::caller::Caller;
use super::document::{Document, OrganizationResource, default_project, entitlement_set};
use super::include::Includes;
use super::problem::Problem;
use super::transport::{check_media_type, json_api, no_content};
use super::{Api, attributes};
use crate::http::Response;

impl<C: Access, O: Organizations> Api<'_, C, O> {
    /// Makes an organization.
    pub(super) fn create(&self) -> Result<Response, Problem> {
        // The name decides what policies say, so the body is read before anything is refused.
        let document =
            check_media_type(self.request).and_then(|()| attributes::read(&self.request.body));
        let name = document.as_ref().ok().and_then(new_name);
        let verdict = self.ask(Operation::CreateOrUpdate, name)?;
        check_media_type(self.request)?;
        if name.is_some() && !verdict.allowed {
            return Err(Problem::NotFound);
        }
        let organization = self
            .organizations
            .create(self.settings.edition, &document?)?;
        let set = self.entitlement_set_resource(&organization);
        self.shown(201, verdict.caller, &organization, Some(vec![set]))
    }

    /// Shows an organization.
    pub(super) fn show(&self, name: &str) -> Result<Response, Problem> {
        let (caller, organization) = self.visible(Operation::Read, name)?;
        let includes = Includes::of_show(&self.request.query)?;
        let included = includes.any.then(|| {
            let set = includes
                .entitlement_set
                .then(|| self.entitlement_set_resource(&organization));
            let project = includes
                .default_project
                .then(|| default_project(&organization));
            set.into_iter().chain(project).collect()
        });
        self.shown(200, caller, &organization, included)
    }

    /// Changes an organization.
    pub(super) fn update(&self, name: &str) -> Result<Response, Problem> {
        let verdict = self.ask(Operation::Update, Some(name))?;
        check_media_type(self.request)?;
        if !verdict.allowed {
            return Err(self.absent(name));
        }
        let changes = match attributes::read(&self.request.body) {
            Ok(changes) => changes,
            // That there is no such organization is told first.
            Err(problem) => return Err(self.read(name)?.map_or(Problem::NotFound, |_| problem)),
        };
        self.check_rename(verdict.caller, name, &changes)?;
        let edition = self.settings.edition;
        let organization = self.organizations.update(edition, name, &changes)?;
        self.shown(200, verdict.caller, &organization, None)
    }

    /// Removes an organization. What the body says does not matter.
    pub(super) fn delete(&self, name: &str) -> Result<Response, Problem> {
        let verdict = self.ask(Operation::Delete, Some(name))?;
        check_media_type(self.request)?;
        if !verdict.allowed {
            return Err(self.absent(name));
        }
        if self.organizations.delete(name)? {
            Ok(no_content())
        } else {
            Err(Problem::NotFound)
        }
    }

    /// Shows the entitlement set of an organization.
    pub(super) fn entitlement_set_of(&self, name: &str) -> Result<Response, Problem> {
        let (_, organization) = self.visible(Operation::Read, name)?;
        let set = self.entitlement_set_resource(&organization);
        Ok(json_api(200, &Document::of(set)))
    }

    /// Shows an entitlement set by its id.
    pub(super) fn entitlement_set(&self, id: &str) -> Result<Response, Problem> {
        let found = self.organizations.find(self.settings.edition, id)?;
        let name = found
            .as_ref()
            .map(|organization| organization.name.as_str());
        let verdict = self.ask(Operation::Read, name)?;
        let organization = found.filter(|_| verdict.allowed).ok_or(Problem::NotFound)?;
        let set = self.entitlement_set_resource(&organization);
        Ok(json_api(200, &Document::of(set)))
    }

    /// The organization of this name, if the caller may do this with it.
    fn visible(
        &self,
        operation: Operation,
        name: &str,
    ) -> Result<(Caller<'_>, Organization), Problem> {
        let verdict = self.ask(operation, Some(name))?;
        // Read for everybody, so that what may not be seen takes as long as what is not there (SEC-A6).
        let organization = self.read(name)?.filter(|_| verdict.allowed);
        Ok((verdict.caller, organization.ok_or(Problem::NotFound)?))
    }

    /// What a caller is told who may not do this. The organization is looked up all the same, so that the answer takes as long
    /// as it does for one that is not there (SEC-A6).
    fn absent(&self, name: &str) -> Problem {
        self.read(name)
            .map_or_else(|problem| problem, |_| Problem::NotFound)
    }

    fn read(&self, name: &str) -> Result<Option<Organization>, Problem> {
        Ok(self.organizations.read(self.settings.edition, name)?)
    }

    /// Under another name an organization falls under other policies: who renames it must be allowed to create it there.
    fn check_rename(
        &self,
        caller: Caller<'_>,
        name: &str,
        changes: &OrganizationChanges,
    ) -> Result<(), Problem> {
        let Some(new_name) = new_name(changes) else {
            return Ok(());
        };
        if caller.is_site_administrator || folded_name(new_name) == folded_name(name) {
            return Ok(());
        }
        let rights = self.rights(caller, [new_name])?;
        if rights.iter().all(|rights| rights.create) {
            Ok(())
        } else {
            Err(Problem::NotFound)
        }
    }

    fn entitlement_set_resource(&self, organization: &Organization) -> serde_json::Value {
        let entitlements = self.organizations.entitlements(organization.plan);
        entitlement_set(organization, &entitlements)
    }

    fn shown(
        &self,
        status: u16,
        caller: Caller<'_>,
        organization: &Organization,
        included: Option<Vec<serde_json::Value>>,
    ) -> Result<Response, Problem> {
        let standing = self.standing(caller, organization)?;
        let permissions = self.organizations.permissions(organization.plan, standing);
        let mut document = Document::of(OrganizationResource::new(organization, &permissions));
        document.included = included;
        Ok(json_api(status, &document))
    }
}

/// The name that a request wants, if an organization can have it.
fn new_name(changes: &OrganizationChanges) -> Option<&str> {
    match &changes.name {
        Attribute::Value(name) if folded_name(name).is_some() => Some(name),
        _ => None,
    }
}
