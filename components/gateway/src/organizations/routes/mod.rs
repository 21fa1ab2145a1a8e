//! The table of all routes, assembled from the tables beside the handlers.

#[cfg(test)]
pub(super) mod tests;

use std::marker::PhantomData;

use gatehouse_access_api::Access;
use gatehouse_orgs_api::Capability;

use super::api::Api;
use super::api_error::ApiError;
use super::base_path::BASE_PATH;
use super::route::{Audience, Route};
use crate::audit::Recording;
use crate::http::{Method, Response};
use crate::path::CanonicalPath;

/// A route and the code that answers its requests.
pub(super) struct Row<C, O> {
    pub(super) route: Route,
    /// The handler. Its second argument is the segment of the path for the parameter, which is empty where the path has none.
    pub(super) handler: fn(&Api<'_, C, O>, &str) -> Result<Response, ApiError>,
}

impl<C: Access, O: Capability> Row<C, O> {
    /// Answers a request for this row. `captured` is the segment of the path for the parameter.
    ///
    /// # Errors
    ///
    /// The reason why the request is not served.
    pub(super) fn answer(&self, api: &Api<'_, C, O>, captured: &str) -> Result<Response, ApiError> {
        if let Some(edition) = self.route.edition {
            api.exists_only_in(edition)?;
        }
        (self.handler)(api, captured)
    }
}

/// The table of the routes, for these two capabilities.
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

    /// Decides whether requests for `path`, as it was sent, leave a record: reads that are open to any caller do not. A request that is not served
    /// has no row, so the path alone decides.
    pub(super) fn recording(path: &str) -> Recording {
        let mut open = Self::rows().filter(|row| row.route.audience == Audience::Anyone);
        if open.any(|row| row.route.is_at(path)) {
            Recording::UnlessRead
        } else {
            Recording::Always
        }
    }

    /// The row for a request, and the segment of the path for its parameter. A path without a parameter takes precedence.
    pub(super) fn find(method: Method, path: &CanonicalPath) -> Option<(&'static Row<C, O>, &str)> {
        let method = match method {
            Method::Head => Method::Get,
            method => method,
        };
        let below = path.below(BASE_PATH);
        Self::rows()
            .filter(|row| row.route.method == method)
            .filter_map(|row| Some((row, row.route.captured(path.as_str(), below)?)))
            .min_by_key(|(_, captured)| !captured.is_empty())
    }
}

/// Writes the routes of one module beside their handlers: method, path, audience, operation id, summary, further columns, handler.
macro_rules! routes {
    ($table:ident: $(
        $method:ident $path:expr, $audience:ident, $id:expr, $summary:expr
        $(, $column:ident $(($($value:tt)*))?)* => $handler:expr;
    )*) => {
        impl<C, O> crate::organizations::routes::Table<C, O>
        where
            C: gatehouse_access_api::Access + 'static,
            O: gatehouse_orgs_api::Capability + 'static,
        {
            pub(in crate::organizations) const $table:
                &'static [crate::organizations::routes::Row<C, O>] = &[$(
                    crate::organizations::routes::Row {
                        route: crate::organizations::route::Route::new(
                            crate::http::Method::$method,
                            $path,
                            crate::organizations::route::Audience::$audience,
                            $id,
                            $summary,
                        )$(.$column($($($value)*)?))*,
                        handler: $handler,
                    },
                )*];
        }
    };
}
pub(super) use routes;
