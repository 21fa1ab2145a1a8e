//! The table of all routes, made of those that stand beside their handlers.

#[cfg(test)]
pub(super) mod tests;

use std::marker::PhantomData;

use gatehouse_access_api::Access;
use gatehouse_orgs_api::Capability;

use super::route::{Audience, Row};
use crate::audit::Recording;
use crate::http::Method;
use crate::path::CanonicalPath;

/// The table of the routes that requests over these two capabilities can take.
pub(super) struct Table<C, O>(PhantomData<(C, O)>);

impl<C: Access + 'static, O: Capability + 'static> Table<C, O> {
    /// The tables of the modules, in the order in which the reference lists them.
    const MODULES: &'static [&'static [Row<C, O>]] = &[
        Self::SERVER,
        Self::ACCOUNT,
        Self::USERS,
        Self::ORGANIZATIONS,
        Self::SUBSCRIPTIONS,
        Self::PROJECTS,
        Self::TEAMS,
        Self::MEMBERSHIPS,
        Self::TOKENS,
        Self::AGENT_POOLS,
        Self::RETENTION,
        Self::SHARING,
        Self::AUDIT_TRAIL,
        Self::UNIMPLEMENTED,
        Self::ADMINISTRATION,
        Self::GENERAL_SETTINGS,
    ];

    /// Every row of the table.
    pub(super) fn rows() -> impl Iterator<Item = &'static Row<C, O>> {
        Self::MODULES.iter().copied().flatten()
    }

    /// The requests for `path`, as it was sent, that leave a record: not those that read what is for anyone. A request that is not served
    /// has no row, so the path alone counts.
    pub(super) fn recording(path: &str) -> Recording {
        let mut open = Self::rows().filter(|row| row.route.audience == Audience::Anyone);
        if open.any(|row| row.route.is_at(path)) {
            Recording::UnlessRead
        } else {
            Recording::Always
        }
    }

    /// The row of a request, and the segment of the path that stands for its parameter. A path without a parameter comes first.
    pub(super) fn find(method: Method, path: &CanonicalPath) -> Option<(&'static Row<C, O>, &str)> {
        let method = match method {
            Method::Head => Method::Get,
            method => method,
        };
        let below = path.below(super::BASE_PATH);
        Self::rows()
            .filter(|row| row.route.method == method)
            .filter_map(|row| Some((row, row.route.captured(path.as_str(), below)?)))
            .min_by_key(|(_, captured)| !captured.is_empty())
    }
}
