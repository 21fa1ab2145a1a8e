//! The routes below `sys/` that are about leases. Every lease is a token's.

use super::PAGING;
use crate::vault::openapi::route::{
    Answer, Field, Route, ask, boolean, choice, list, path, read, route, seconds, text, write,
};

const LEASE: Field = text("lease_id", "Identifier of the lease.").required();
const LEASE_IN_PATH: Field = path("url_lease_id", "Identifier of the lease.");
const PREFIX: Field = path(
    "prefix",
    "What the paths begin with by which the leases came.",
);
const SYNC: Field = boolean("sync", "Has no effect: all is done when it is answered.");
const INCREMENT: Field = seconds("increment", "For how long the lease should last.");
const TYPE: Field = choice("type", &["irrevocable"], "Which leases are meant.").required();

const RENEW: &str = "Refuses to renew the lease of a token, which is renewed at auth/token/renew.";
const REVOKE: &str = "Ends the token of a lease and all tokens that descend from it.";
const REVOKE_PREFIX: &str = "Ends all tokens that came by the paths below a prefix.";

/// Below `sys/`.
pub(super) const ROUTES: &[Route] = &[
    route(
        "leases",
        "Lists the leases that could not be revoked: there are none.",
        &[read("leases-list", "List the irrevocable leases.").querying(&[TYPE])],
    )
    .sudo(),
    route(
        "leases/count",
        "Counts the leases that could not be revoked: there are none.",
        &[read("leases-count", "Count the irrevocable leases.").querying(&[TYPE])],
    ),
    route(
        "leases/tidy",
        "Clears away what no valid token leads to.",
        &[ask("leases-tidy", "Start clearing away.", &[]).answering(Answer::Accepted)],
    ),
    route(
        "leases/lookup",
        "Shows a lease.",
        &[ask("leases-read-lease", "Read a lease.", &[LEASE])],
    ),
    route(
        "leases/lookup/",
        "Lists what the paths begin with by which leases came.",
        &[list("leases-look-up", "List the beginnings of paths.").querying(PAGING)],
    )
    .sudo(),
    route(
        "leases/lookup/{prefix}",
        "Lists the leases that came by the paths below a prefix.",
        &[list("leases-look-up-with-prefix", "List leases.").querying(PAGING)],
    )
    .capturing(&[PREFIX])
    .sudo(),
    route(
        "leases/renew",
        RENEW,
        &[
            write("leases-renew-lease2", "Renew a lease.", &[LEASE, INCREMENT])
                .answering(Answer::Refusal),
        ],
    ),
    route(
        "leases/renew/{url_lease_id}",
        RENEW,
        &[write("leases-renew-lease", "Renew a lease.", &[INCREMENT]).answering(Answer::Refusal)],
    )
    .capturing(&[LEASE_IN_PATH]),
    route(
        "leases/revoke",
        REVOKE,
        &[write(
            "leases-revoke-lease2",
            "Revoke a lease.",
            &[LEASE, SYNC],
        )],
    ),
    route(
        "leases/revoke/{url_lease_id}",
        REVOKE,
        &[write("leases-revoke-lease", "Revoke a lease.", &[SYNC])],
    )
    .capturing(&[LEASE_IN_PATH]),
    route(
        "leases/revoke-prefix/{prefix}",
        REVOKE_PREFIX,
        &[write(
            "leases-revoke-lease-with-prefix2",
            "Revoke by prefix.",
            &[SYNC],
        )],
    )
    .capturing(&[PREFIX])
    .sudo(),
    route(
        "leases/revoke-force/{prefix}",
        REVOKE_PREFIX,
        &[write(
            "leases-force-revoke-lease-with-prefix2",
            "Revoke by prefix; no token needs force.",
            &[SYNC],
        )],
    )
    .capturing(&[PREFIX])
    .sudo(),
    route(
        "renew",
        RENEW,
        &[write(
            "leases-renew-lease3",
            "Renew a lease, by an older path.",
            &[LEASE, INCREMENT],
        )
        .answering(Answer::Refusal)],
    ),
    route(
        "renew/{url_lease_id}",
        RENEW,
        &[write(
            "leases-renew-lease4",
            "Renew a lease, by an older path.",
            &[INCREMENT],
        )
        .answering(Answer::Refusal)],
    )
    .capturing(&[LEASE_IN_PATH]),
    route(
        "revoke",
        REVOKE,
        &[write(
            "leases-revoke-lease3",
            "Revoke a lease, by an older path.",
            &[LEASE, SYNC],
        )],
    ),
    route(
        "revoke/{url_lease_id}",
        REVOKE,
        &[write(
            "leases-revoke-lease4",
            "Revoke a lease, by an older path.",
            &[SYNC],
        )],
    )
    .capturing(&[LEASE_IN_PATH]),
    route(
        "revoke-prefix/{prefix}",
        REVOKE_PREFIX,
        &[write(
            "leases-revoke-lease-with-prefix",
            "Revoke by prefix, by an older path.",
            &[SYNC],
        )],
    )
    .capturing(&[PREFIX])
    .sudo(),
    route(
        "revoke-force/{prefix}",
        REVOKE_PREFIX,
        &[write(
            "leases-force-revoke-lease-with-prefix",
            "Revoke by prefix, by an older path.",
            &[SYNC],
        )],
    )
    .capturing(&[PREFIX])
    .sudo(),
];
