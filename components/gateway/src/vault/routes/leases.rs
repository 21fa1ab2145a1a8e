//! The routes below `sys/` that are about leases. Every lease belongs to a token.

use crate::vault::field::{Field, PAGING, boolean, choice, path, seconds, text};
use crate::vault::route::{Route, Success, ask, list, read, route, write};
use crate::vault::{leases, tokens};

const LEASE: Field = text("lease_id", "Identifier of the lease.").required();
const LEASE_IN_PATH: Field = path("url_lease_id", "Identifier of the lease.");
const PREFIX: Field = path("prefix", "Prefix of the leases.");
const SYNC: Field = boolean("sync", "Has no effect: the work is done before the answer.");
const INCREMENT: Field = seconds("increment", "How long the lease should last from now on.");
const TYPE: Field = choice("type", &["irrevocable"], "The kind of leases.").required();

const RENEW: &str = "Refuses to renew the lease of a token, which is renewed at auth/token/renew.";
const REVOKE: &str = "Ends the token of a lease and all tokens that descend from it.";
const REVOKE_PREFIX: &str = "Ends all tokens whose leases are below a prefix.";

/// Below `sys/`.
#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    route("leases", "Lists the leases that could not be revoked, which is always empty.", &[
        read("leases-list", "List the irrevocable leases.", leases::irrevocable).querying(&[TYPE]),
    ]).sudo(),
    route("leases/count", "Counts the leases that could not be revoked, which is always 0.", &[
        read("leases-count", "Count the irrevocable leases.", leases::count_irrevocable).querying(&[TYPE]),
    ]),
    route("leases/tidy", "Removes records that belong to no valid token.", &[
        ask("leases-tidy", "Start removing records that belong to no valid token.", &[], tokens::tidy).answering(Success::Accepted),
    ]),
    route("leases/lookup", "Shows a lease.", &[
        ask("leases-read-lease", "Read a lease.", &[LEASE], leases::lookup),
    ]),
    route("leases/lookup/", "Lists the first segments of leases.", &[
        list("leases-look-up", "List the first segments of leases.", leases::list).querying(PAGING),
    ]).sudo(),
    route("leases/lookup/{prefix}", "Lists the leases below a prefix.", &[
        list("leases-look-up-with-prefix", "List leases.", leases::list).querying(PAGING),
    ]).capturing(&[PREFIX]).sudo(),
    route("leases/renew", RENEW, &[
        write("leases-renew-lease2", "Renew a lease.", &[LEASE, INCREMENT], leases::renew).answering(Success::Refusal),
    ]),
    route("leases/renew/{url_lease_id}", RENEW, &[
        write("leases-renew-lease", "Renew a lease.", &[INCREMENT], leases::renew).answering(Success::Refusal),
    ]).capturing(&[LEASE_IN_PATH]),
    route("leases/revoke", REVOKE, &[
        write("leases-revoke-lease2", "Revoke a lease.", &[LEASE, SYNC], leases::revoke),
    ]),
    route("leases/revoke/{url_lease_id}", REVOKE, &[
        write("leases-revoke-lease", "Revoke a lease.", &[SYNC], leases::revoke),
    ]).capturing(&[LEASE_IN_PATH]),
    route("leases/revoke-prefix/{prefix}", REVOKE_PREFIX, &[
        write("leases-revoke-lease-with-prefix2", "Revoke by prefix.", &[SYNC], leases::revoke_prefix),
    ]).capturing(&[PREFIX]).sudo(),
    route("leases/revoke-force/{prefix}", REVOKE_PREFIX, &[
        write("leases-force-revoke-lease-with-prefix2", "Revoke by prefix; force makes no difference.", &[SYNC], leases::revoke_prefix),
    ]).capturing(&[PREFIX]).sudo(),
    route("renew", RENEW, &[
        write("leases-renew-lease3", "Renew a lease, by an older path.", &[LEASE, INCREMENT], leases::renew).answering(Success::Refusal),
    ]),
    route("renew/{url_lease_id}", RENEW, &[
        write("leases-renew-lease4", "Renew a lease, by an older path.", &[INCREMENT], leases::renew).answering(Success::Refusal),
    ]).capturing(&[LEASE_IN_PATH]),
    route("revoke", REVOKE, &[
        write("leases-revoke-lease3", "Revoke a lease, by an older path.", &[LEASE, SYNC], leases::revoke),
    ]),
    route("revoke/{url_lease_id}", REVOKE, &[
        write("leases-revoke-lease4", "Revoke a lease, by an older path.", &[SYNC], leases::revoke),
    ]).capturing(&[LEASE_IN_PATH]),
    route("revoke-prefix/{prefix}", REVOKE_PREFIX, &[
        write("leases-revoke-lease-with-prefix", "Revoke by prefix, by an older path.", &[SYNC], leases::revoke_prefix),
    ]).capturing(&[PREFIX]).sudo(),
    route("revoke-force/{prefix}", REVOKE_PREFIX, &[
        write("leases-force-revoke-lease-with-prefix", "Revoke by prefix, by an older path.", &[SYNC], leases::revoke_prefix),
    ]).capturing(&[PREFIX]).sudo(),
];
