//! The routes below `cubbyhole/`.

use crate::vault::cubbyhole::{self, missing_path};
use crate::vault::field::{Field, PAGING, path};
use crate::vault::route::{Route, delete, list, read, route, undescribed, write};

const PATH: Field = path("path", "Where the secret is.");

/// Below `cubbyhole/`.
#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    route("{path}", "A secret of the caller's token: any fields. No other token sees it, and it ends with its token.", &[
        read("cubbyhole-read", "Read a secret.", cubbyhole::read),
        write("cubbyhole-write", "Write a secret.", &[], cubbyhole::write),
        delete("cubbyhole-delete", "Delete a secret.", cubbyhole::delete),
    ]).capturing(&[PATH]).creating(),
    route("{path}/", "Lists the secrets of the caller's token in a folder.", &[
        list("cubbyhole-list", "List the secrets in a folder.", cubbyhole::list).querying(PAGING),
    ]).capturing(&[path("path", "The folder.")]),
    undescribed("", &[
        list("", "", cubbyhole::list).querying(PAGING),
        read("", "", missing_path),
        write("", "", &[], missing_path),
        delete("", "", missing_path),
    ]),
];
