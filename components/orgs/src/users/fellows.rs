//! Users who belong to the same organization.

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::ReadAhead;

use crate::identifier::well_formed;
use crate::team::membership_of_prefix;
use crate::{Identity, Orgs, Principal, ServiceError};

/// How many organizations of a user are looked at at once.
const ORGANIZATIONS_AT_ONCE: u32 = 64;

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    /// See [`super::Users::shares_organization`]. The memberships of the other user are looked through, page by page.
    pub(super) fn belongs_with(
        &self,
        identity: &Identity,
        user: &str,
    ) -> Result<bool, ServiceError> {
        if !well_formed(user) {
            return Ok(false);
        }
        let prefix = membership_of_prefix(user);
        let mut after = None;
        loop {
            let found = self.scan_some(&prefix, after.as_deref(), ORGANIZATIONS_AT_ONCE)?;
            let external_ids = found.items.iter();
            let external_ids: Vec<&str> = external_ids
                .filter_map(|item| item.key.strip_prefix(&prefix))
                .collect();
            if self.is_in_one_of(identity, &external_ids)? {
                return Ok(true);
            }
            after = match found.items.last() {
                Some(last) if found.more => Some(last.key.clone()),
                _ => return Ok(false),
            };
        }
    }

    /// True if the caller belongs to one of these organizations, and it is open to them.
    fn is_in_one_of(
        &self,
        identity: &Identity,
        external_ids: &[&str],
    ) -> Result<bool, ServiceError> {
        let own = match &identity.principal {
            Principal::User(user) => {
                let memberships =
                    self.memberships_of(&user.id, external_ids, &ReadAhead::default())?;
                let by_token = identity.token_id.is_some();
                let organizations = self.organizations_of(external_ids)?;
                return Ok(memberships.into_iter().zip(organizations).any(|both| {
                    matches!(both, (Some(_), Some(organization)) if !organization.disabled
                        && (!by_token || organization.settings.user_tokens_enabled))
                }));
            }
            Principal::Team(team) => &team.organization,
            Principal::Organization(id) => id,
            Principal::AuditReader(_) | Principal::Installation | Principal::Workload(_) => {
                return Ok(false);
            }
        };
        if !external_ids.contains(&own.as_str()) {
            return Ok(false);
        }
        let organization = self.organizations_of(&[own])?.pop().flatten();
        Ok(organization.is_some_and(|organization| !organization.disabled))
    }
}
