//! Every route that there is, family by family.

mod cubbyhole;
mod google;
mod identity;
mod leases;
mod mounts;
mod server;
mod system;
mod tokens;

use std::cmp::Reverse;

use super::route::{Field, Route, integer, text};

/// What a list takes in its query.
const PAGING: &[Field] = &[
    text("after", "The key after which the list begins."),
    integer("limit", "Most keys to be listed."),
];

/// Routes with one beginning.
#[derive(Debug)]
pub(in crate::vault) struct Family {
    /// How clients group its operations.
    pub(in crate::vault) tag: &'static str,
    /// What all of them are for, in a sentence.
    pub(in crate::vault) about: &'static str,
    /// By subject.
    pub(in crate::vault) routes: &'static [&'static [Route]],
}

/// Below `auth/<mount>/`, where the mount is one of the auth method.
pub(in crate::vault) const METHOD: Family = Family {
    tag: "auth",
    about: "Workloads of Google Cloud log in with an identity that Google signs: a service account, or an instance of Compute Engine.",
    routes: &[google::ROUTES],
};

/// Below `auth/token/`.
pub(in crate::vault) const TOKENS: Family = Family {
    tag: "auth",
    about: "Tokens are made, shown, renewed and revoked by those who have one.",
    routes: &[tokens::ROUTES],
};

/// Below `sys/`.
pub(in crate::vault) const SYSTEM: Family = Family {
    tag: "system",
    about: "The server itself: its mounts, policies, leases, seal and audit.",
    routes: &[
        mounts::ROUTES,
        system::ROUTES,
        leases::ROUTES,
        server::ROUTES,
    ],
};

/// Below `identity/`.
pub(in crate::vault) const IDENTITY: Family = Family {
    tag: "identity",
    about: "Entities, groups and their aliases: who the callers are, whichever way they log in.",
    routes: &[identity::ROUTES],
};

/// Below `cubbyhole/`.
pub(in crate::vault) const CUBBYHOLE: Family = Family {
    tag: "secrets",
    about: "Secrets that each token keeps for itself: no other token sees them, and they end with their token.",
    routes: &[cubbyhole::ROUTES],
};

impl Family {
    /// The route of `path`, which is below the family's root: of several the one with most words in common.
    pub(in crate::vault) fn find(&self, path: &str) -> Option<&'static Route> {
        let routes = self.routes.iter().copied().flatten();
        routes
            .filter_map(|route| Some((route.likeness(path)?, route)))
            .min_by_key(|(likeness, _)| Reverse(*likeness))
            .map(|(_, route)| route)
    }
}
