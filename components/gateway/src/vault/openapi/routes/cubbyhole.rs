//! The routes below `cubbyhole/`.

use crate::vault::openapi::route::{Field, Route, delete, list, path, read, route, write};

const PATH: Field = path("path", "Where the secret is.");

/// Below `cubbyhole/`.
pub(super) const ROUTES: &[Route] = &[
    route(
        "{path}",
        "A secret of the caller's token: any fields. No other token sees it, and it ends with its token.",
        &[
            read("cubbyhole-read", "Read a secret."),
            write("cubbyhole-write", "Keep what is sent as a secret.", &[]),
            delete("cubbyhole-delete", "Delete a secret."),
        ],
    )
    .capturing(&[PATH])
    .creating(),
    route(
        "{path}/",
        "Lists the secrets of the caller's token in a folder.",
        &[list("cubbyhole-list", "List the secrets in a folder.")],
    )
    .capturing(&[path("path", "The folder.")]),
];
