//! Instance groups: which exist, and whether an instance is in one of them (contract 4.6/G11, D9).

use gatehouse_ports::{Clock, Http, Random};

use super::authorized::ApiError;
use super::exchange::CallError;
use super::{Api, Google, Instance};
use crate::{GceRules, GroupLocations};

/// What Google says about an instance and the groups of a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Membership {
    /// It is in one of them.
    Member,
    /// None of the groups exists in the role's locations; holds the first one's name and where it was looked for.
    NoSuchGroup(String, GroupLocations),
    /// It is in none of those that exist.
    Outsider,
}

impl<H: Http, C: Clock, R: Random> Google<'_, H, C, R> {
    /// Whether `instance` of `project` is in one of the groups that `rules` name. Never from memory.
    pub(crate) fn group_membership(
        &self,
        project: &str,
        instance: &Instance,
        rules: &GceRules,
    ) -> Result<Membership, ApiError> {
        let _ = (project, instance, rules, self.now());
        Err(CallError::Unusable(Api::Compute).into())
    }
}
