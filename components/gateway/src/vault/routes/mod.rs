//! All routes below `/v1/`, family by family. A row of a table is a path, and each of its lines an operation, so rustfmt leaves the tables alone.

mod auth_method;
mod cubbyhole;
mod identity;
mod leases;
mod mounts;
mod server;
mod system;
#[cfg(test)]
mod tests;
mod tokens;

use gatehouse_access_api::{self as access, Admission};

use super::call::{Captured, METHOD_TYPE};
use super::route::{Handler, Match, Operation, Route};
use super::route_group::{Root, RouteGroup};
use crate::audit::Recording;
use crate::cubbyhole_paths;
use crate::http::Method;

pub(in crate::vault) const TOKEN_ROOT: &str = "auth/token/";
pub(in crate::vault) const SYSTEM_ROOT: &str = "sys/";
pub(in crate::vault) const IDENTITY_ROOT: &str = "identity/";

/// Routes with a common root.
#[derive(Debug)]
pub(in crate::vault) struct Family {
    /// The type of the mount, as answers show it.
    pub(in crate::vault) mount_type: &'static str,
    /// The group of its operations in clients.
    pub(in crate::vault) tag: &'static str,
    /// The common purpose of the routes, as a sentence.
    pub(in crate::vault) about: &'static str,
    /// The tables of routes, by subject.
    pub(in crate::vault) routes: &'static [&'static [Route]],
}

/// The routes below `auth/<mount>/`, for a mount of the auth method.
pub(in crate::vault) const METHOD: Family = Family {
    mount_type: METHOD_TYPE,
    tag: "auth",
    about: "Workloads of Google Cloud log in with an identity that Google signs: a service account, or an instance of Compute Engine.",
    routes: &[auth_method::ROUTES],
};

/// The routes below `auth/token/`.
pub(in crate::vault) const TOKENS: Family = Family {
    mount_type: "token",
    tag: "auth",
    about: "Making, looking up, renewing and revoking tokens.",
    routes: &[tokens::ROUTES],
};

/// The routes below `sys/`.
pub(in crate::vault) const SYSTEM: Family = Family {
    mount_type: "system",
    tag: "system",
    about: "The server itself: its mounts, policies, leases, seal and audit.",
    routes: &[
        mounts::ROUTES,
        system::ROUTES,
        leases::ROUTES,
        server::ROUTES,
    ],
};

/// The routes below `identity/`.
pub(in crate::vault) const IDENTITY: Family = Family {
    mount_type: "identity",
    tag: "identity",
    about: "Entities, groups and their aliases: who the callers are, however they log in.",
    routes: &[identity::ROUTES],
};

/// The routes below `cubbyhole/`.
pub(in crate::vault) const CUBBYHOLE: Family = Family {
    mount_type: cubbyhole_paths::MOUNT_TYPE,
    tag: "secrets",
    about: "Secrets that each token keeps for itself: no other token sees them, and they end with their token.",
    routes: &[cubbyhole::ROUTES],
};

/// The route and the operation for a request.
pub(in crate::vault) struct Selected {
    pub(in crate::vault) route: &'static Route,
    /// `None` where the route does not have the operation.
    pub(in crate::vault) operation: Option<&'static Operation>,
    pub(in crate::vault) captured: Vec<Captured>,
}

impl Selected {
    /// The function that answers the request.
    pub(in crate::vault) fn handler(&self) -> Option<Handler> {
        let own = self.operation.map(|operation| operation.handler);
        own.or(self.route.otherwise)
    }
}

impl Family {
    /// The routes of the family below `root`.
    pub(in crate::vault) const fn at<'a>(&self, root: Root<'a>) -> RouteGroup<'a> {
        RouteGroup {
            root,
            tag: self.tag,
            routes: self.routes,
        }
    }

    /// The routes that are shown.
    pub(in crate::vault) fn described(&self) -> impl Iterator<Item = &'static Route> + use<> {
        self.at(Root::AnyMount).described()
    }

    /// The shown route for `path`, which is below the family's root.
    pub(in crate::vault) fn find(&self, path: &str) -> Option<&'static Route> {
        let described = self.closest(path, |route| route.is_described);
        described.into_iter().next().map(|(route, _)| route)
    }

    /// The route that serves `asked` at `path`, which access has admitted.
    pub(in crate::vault) fn select(
        &self,
        path: &str,
        asked: access::Operation,
    ) -> Option<Selected> {
        let routes = self.closest(path, Route::is_admitted);
        selected(routes, |operation| operation.verb.does(asked))
    }

    /// The route that serves a request with `method` for `path` without asking access.
    pub(in crate::vault) fn select_unadmitted(
        &self,
        path: &str,
        method: Method,
    ) -> Option<Selected> {
        let routes = self.closest(path, |route| !route.is_admitted());
        selected(routes, |operation| operation.verb.is_sent_by(method))
    }

    /// The routes that fit `path` and have the most words in common with it. There are several where a list has other requirements than the other
    /// operations.
    fn closest(
        &self,
        path: &str,
        is_wanted: impl Fn(&Route) -> bool,
    ) -> Vec<(&'static Route, Match)> {
        let path: Vec<&str> = path.split('/').collect();
        let routes = self.routes.iter().copied().flatten();
        let mut fitting: Vec<(&Route, Match)> = routes
            .filter(|route| is_wanted(route))
            .filter_map(|route| Some((route, route.matching(&path)?)))
            .collect();
        let most = fitting.iter().map(|(_, found)| found.own_words).max();
        fitting.retain(|(_, found)| Some(found.own_words) == most);
        fitting
    }
}

fn selected(
    routes: Vec<(&'static Route, Match)>,
    is_asked: impl Fn(&Operation) -> bool,
) -> Option<Selected> {
    let mut first = None;
    for (route, Match { captured, .. }) in routes {
        let operation = route.operations.iter().find(|it| is_asked(it));
        let selected = Selected {
            route,
            operation,
            captured,
        };
        if operation.is_some() {
            return Some(selected);
        }
        first.get_or_insert(selected);
    }
    first
}

/// Decides whether requests for `path`, which begins with a slash, leave a record.
pub(in crate::vault) fn recording(path: &str) -> Recording {
    let located = path.strip_prefix("/v1/").and_then(locate_unmounted);
    let is_unrecorded = located.is_some_and(|located| {
        let mut routes = located.family.routes.iter().copied().flatten();
        routes.any(|route| route.is_unrecorded && route.path == located.below)
    });
    if is_unrecorded {
        Recording::UnlessRead
    } else {
        Recording::Always
    }
}

/// A path below the root of its family.
pub(in crate::vault) struct Located<'a> {
    pub(in crate::vault) family: &'static Family,
    pub(in crate::vault) root: Root<'a>,
    pub(in crate::vault) below: &'a str,
}

impl Located<'_> {
    /// The path of `route` from the root, with `{mount}` in place of a mount.
    pub(in crate::vault) fn path_of(&self, route: &Route) -> String {
        let root = match self.root {
            Root::Fixed(root) => root,
            Root::Mount(_) | Root::AnyMount => "auth/{mount}/",
        };
        format!("/v1/{root}{}", route.path)
    }
}

/// The location of `path`, which access has admitted; `None` where no family has it.
pub(in crate::vault) fn locate<'a>(path: &'a str, admission: &'a Admission) -> Option<Located<'a>> {
    let Some(mount) = &admission.mount else {
        return locate_unmounted(path);
    };
    let (family, root) = match mount.mount_type.as_str() {
        METHOD_TYPE => (&METHOD, Root::Mount(&mount.path)),
        "token" => (&TOKENS, Root::Fixed(TOKEN_ROOT)),
        _ => return None,
    };
    Some(Located {
        family,
        root,
        below: &admission.remainder,
    })
}

/// The same for a path that is not below an auth mount.
pub(in crate::vault) fn locate_unmounted(path: &str) -> Option<Located<'_>> {
    let (area, below) = path.split_once('/').unwrap_or((path, ""));
    let (family, root) = match area {
        "sys" => (&SYSTEM, SYSTEM_ROOT),
        "identity" => (&IDENTITY, IDENTITY_ROOT),
        cubbyhole_paths::MOUNT_TYPE => (&CUBBYHOLE, cubbyhole_paths::ROOT),
        _ => return None,
    };
    Some(Located {
        family,
        root: Root::Fixed(root),
        below,
    })
}
