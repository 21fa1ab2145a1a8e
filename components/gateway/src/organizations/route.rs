//! Which requests there are.

use super::{
    absent_features, account, administration, agent_pools, audit_trail, general_settings,
    memberships, projects, retention, sharing, subscriptions, teams, tokens, users,
};
use crate::http::Method;
use crate::path::CanonicalPath;

/// A known request (contract section 8). Every other path, and every other method on these paths, does not exist; HEAD is GET.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route<'a> {
    /// The discovery document.
    Discovery,
    /// Is anybody there, and which version.
    Ping,
    /// All organizations that the caller may see.
    List,
    /// A new organization.
    Create,
    /// The organization of this name.
    Show(&'a str),
    /// Changes to the organization of this name.
    Update(&'a str),
    /// The end of the organization of this name.
    Delete(&'a str),
    /// The entitlement set of the organization of this name.
    EntitlementSetOf(&'a str),
    /// The entitlement set with this id, which is the external id of an organization.
    EntitlementSet(&'a str),
    /// Something about the account of the caller.
    Account(account::Route),
    /// Something about an audit trail.
    AuditTrail(audit_trail::Route),
    /// Something about tokens.
    Tokens(tokens::Route<'a>),
    /// Something about users.
    Users(users::Route<'a>),
    /// Something about agent pools.
    AgentPools(agent_pools::Route<'a>),
    /// Something about subscriptions and feature sets.
    Subscriptions(subscriptions::Route<'a>),
    /// Something about projects.
    Projects(projects::Route<'a>),
    /// Something about what this server has not.
    AbsentFeatures(absent_features::Route<'a>),
    /// Something about teams.
    Teams(teams::Route<'a>),
    /// Something about memberships.
    Memberships(memberships::Route<'a>),
    /// Something that site administrators ask about organizations.
    Administration(administration::Route<'a>),
    /// Something about the general settings.
    GeneralSettings(general_settings::Route),
    /// Something about data retention policies.
    Retention(retention::Route<'a>),
    /// Something about sharing.
    Sharing(sharing::Route<'a>),
}

impl<'a> Route<'a> {
    /// The route of a request.
    pub(super) fn of(method: Method, path: &'a CanonicalPath) -> Option<Self> {
        let method = match method {
            Method::Head => Method::Get,
            method => method,
        };
        if path.as_str() == super::DISCOVERY_PATH {
            return (method == Method::Get).then_some(Self::Discovery);
        }
        let Some(below) = path.below(super::BASE_PATH) else {
            return absent_features::Route::elsewhere(method, path).map(Self::AbsentFeatures);
        };
        let segments: Vec<&str> = below.split('/').collect();
        match (method, segments.as_slice()) {
            (Method::Get, ["ping"]) => Some(Self::Ping),
            (Method::Get, ["organizations"]) => Some(Self::List),
            (Method::Post, ["organizations"]) => Some(Self::Create),
            (Method::Get, ["organizations", name]) => Some(Self::Show(name)),
            (Method::Patch | Method::Put, ["organizations", name]) => Some(Self::Update(name)),
            (Method::Delete, ["organizations", name]) => Some(Self::Delete(name)),
            (Method::Get, ["organizations", name, "entitlement-set"]) => {
                Some(Self::EntitlementSetOf(name))
            }
            (Method::Get, ["entitlement-sets", id]) => Some(Self::EntitlementSet(id)),
            (method, segments) => users::Route::of(method, segments)
                .map(Self::Users)
                .or_else(|| tokens::Route::of(method, segments).map(Self::Tokens))
                .or_else(|| account::Route::of(method, segments).map(Self::Account))
                .or_else(|| audit_trail::Route::of(method, segments).map(Self::AuditTrail))
                .or_else(|| agent_pools::Route::of(method, segments).map(Self::AgentPools))
                .or_else(|| subscriptions::Route::of(method, segments).map(Self::Subscriptions))
                .or_else(|| projects::Route::of(method, segments).map(Self::Projects))
                .or_else(|| absent_features::Route::of(method, segments).map(Self::AbsentFeatures))
                .or_else(|| teams::Route::of(method, segments).map(Self::Teams))
                .or_else(|| memberships::Route::of(method, segments).map(Self::Memberships))
                .or_else(|| administration::Route::of(method, segments).map(Self::Administration))
                .or_else(|| {
                    general_settings::Route::of(method, segments).map(Self::GeneralSettings)
                })
                .or_else(|| retention::Route::of(method, segments).map(Self::Retention))
                .or_else(|| sharing::Route::of(method, segments).map(Self::Sharing)),
        }
    }
}
