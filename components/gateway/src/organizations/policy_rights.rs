//! The rights on organizations that the policies of a service token grant.
//!
//! In policies, the path of an organization is `organizations/<name>`, with the name in lower case. The resources of an organization are below its
//! path.

use gatehouse_access_api::{
    self as access, Access, Capability as PolicyCapability, TokenReference,
};
use gatehouse_orgs_api::{Capability, OrganizationRole};

use super::api::Api;
use super::api_error::ApiError;
use super::caller::{Caller, ServiceToken};
use super::policy_paths::{ORGANIZATIONS_PATH, Rights, path_of};
use super::reach::Opened;

impl<C: Access, O: Capability> Api<'_, C, O> {
    /// The rights that the policies of the caller's service token grant on the organizations of these names, in their order. They are empty without
    /// such a token, and for a token whose last use this request took. Conditional rights, such as the right to change one field, are left out, since
    /// they make no caller an owner.
    ///
    /// # Errors
    ///
    /// When access cannot answer.
    pub(super) fn rights<'n>(
        &self,
        caller: &Caller<'_>,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<Vec<Rights>, ApiError> {
        let names = names.into_iter();
        let paths = names.map(|name| path_of(name).unwrap_or_default());
        self.rights_of_token(caller.service_token.as_ref(), paths.collect())
    }

    /// The same for a service token, if there is one, at these paths.
    pub(super) fn rights_of_token(
        &self,
        token: Option<&ServiceToken<'_>>,
        paths: Vec<String>,
    ) -> Result<Vec<Rights>, ApiError> {
        let Some(token) = token else {
            return Ok(vec![Rights::default(); paths.len()]);
        };
        if let [path] = &paths[..]
            && let Some(rights) = token.rights_at(path)
        {
            return Ok(vec![rights]);
        }
        let granted = self.unconditional(token.text, &paths)?;
        Ok(match granted {
            Some(capabilities) => capabilities
                .iter()
                .map(|all| Rights::granted_by(all))
                .collect(),
            None => vec![Rights::default(); paths.len()],
        })
    }

    /// The unconditional capabilities of a service token at these paths; `None` where the token may no longer be used.
    pub(super) fn unconditional(
        &self,
        token: &str,
        paths: &[String],
    ) -> Result<Option<Vec<Vec<PolicyCapability>>>, ApiError> {
        let reference = &TokenReference::Id(token.into());
        match self.access.unconditional_capabilities(reference, paths) {
            Ok(capabilities) => Ok(Some(capabilities)),
            Err(access::LookupError::UnknownToken) => Ok(None),
            Err(access::LookupError::Failure(failure)) => Err(failure.into()),
        }
    }

    /// The organizations that the policies of the caller's service token open; none without such a token.
    ///
    /// # Errors
    ///
    /// When access cannot answer.
    pub(super) fn opened(&self, caller: &Caller<'_>) -> Result<Opened, ApiError> {
        let Some(token) = &caller.service_token else {
            return Ok(Opened::default());
        };
        let acl = match self
            .access
            .read_resultant_acl(&TokenReference::Id(token.text.into()))
        {
            Ok(acl) => acl,
            Err(access::LookupError::UnknownToken) => return Ok(Opened::default()),
            Err(access::LookupError::Failure(failure)) => return Err(failure.into()),
        };
        Ok(Opened::from_acl(&acl))
    }

    /// True if the policies of the caller's service token grant any right on any organization.
    ///
    /// # Errors
    ///
    /// When access cannot answer.
    pub(super) fn has_rights_somewhere(&self, caller: &Caller<'_>) -> Result<bool, ApiError> {
        let Some(token) = &caller.service_token else {
            return Ok(false);
        };
        let everywhere = [ORGANIZATIONS_PATH.to_owned()];
        match self
            .access
            .has_rights_below(&TokenReference::Id(token.text.into()), &everywhere)
        {
            Ok(found) => Ok(found.contains(&true)),
            Err(access::LookupError::UnknownToken) => Ok(false),
            Err(access::LookupError::Failure(failure)) => Err(failure.into()),
        }
    }

    /// The role that the policies of the caller's service token give the caller in the organization of this name.
    ///
    /// # Errors
    ///
    /// When access cannot answer.
    pub(super) fn role_by_policies(
        &self,
        caller: &Caller<'_>,
        name: &str,
    ) -> Result<Option<OrganizationRole>, ApiError> {
        if caller.is_site_administrator() {
            return Ok(None);
        }
        let rights = self.rights(caller, [name])?;
        Ok(rights.into_iter().find_map(Rights::role))
    }
}
