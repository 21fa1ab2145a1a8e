//! The routes of the mount `token/`.

use crate::vault::field::{
    Field, PAGING, boolean, choice, integer, map, role_name, seconds, text, texts,
};
use crate::vault::route::{Route, Success, ask, delete, list, read, route, write};
use crate::vault::tokens::roles::fields as role_fields;
use crate::vault::tokens::{self, create, lookup, renew, revoke, roles};

const ROLE_NAME: Field = role_name("role_name", "Name of the role.");
const ACCESSOR: Field = text("accessor", "Accessor of the token.").required();
const TOKEN: Field = text("token", "The token.").required();
const INCREMENT: Field = seconds("increment", "How long the token should live from now on.");

const CREATE: &[Field] = &[
    text("id", "The token itself, which needs sudo."),
    texts(
        "policies",
        "The policies of the token; the caller's if not given.",
    ),
    map("meta", "Metadata, which is shown with the token."),
    boolean(
        "no_parent",
        "True if the token outlives the caller's, which needs sudo.",
    ),
    boolean(
        "no_default_policy",
        "True if the token does not get the policy \"default\".",
    ),
    boolean("renewable", "True if the token can be renewed."),
    seconds("ttl", "How long the token lives until it is renewed."),
    seconds("lease", "As ttl.").deprecated(),
    seconds(
        "explicit_max_ttl",
        "How long the token lives at most; no renewal or later setting extends it.",
    ),
    seconds(
        "period",
        "How long the token lives from each renewal, without a maximum.",
    ),
    text("display_name", "Name of the token where it is shown."),
    integer(
        "num_uses",
        "How often the token may be used, 0 for any number.",
    ),
    choice("type", &["service", "batch"], "The type of the token."),
    text(
        "entity_alias",
        "Name of the alias by which an entity is found for the token, if the role allows it.",
    ),
];

const LOOKED_UP: Field = text("token", "The token; the caller's if not given.");

/// Below `auth/token/`.
#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    route("accessors", "Lists the accessors of all tokens.", &[
        list("token-list-accessors", "List the accessors.", tokens::list_accessors).querying(PAGING),
    ]).sudo(),
    route("create", "Makes a token that is a child of the caller's.", &[
        ask("token-create", "Make a token.", CREATE, create::child),
    ]),
    route("create-orphan", "Makes a token that has no parent.", &[
        ask("token-create-orphan", "Make an orphan.", CREATE, create::orphan),
    ]),
    route("create/{role_name}", "Makes a token under a role.", &[
        ask("token-create-against-role", "Make a token under a role.", CREATE, create::child),
    ]).capturing(&[ROLE_NAME]).unlisted(),
    route("lookup", "Shows what a token may do and how long it lives.", &[
        read("token-look-up", "Look up a token.", lookup::by_token).querying(&[LOOKED_UP]),
        ask("token-look-up-update", "Look up a token.", &[LOOKED_UP], lookup::by_token),
    ]),
    route("lookup-accessor", "Shows what the token of an accessor may do and how long it lives.", &[
        ask("token-look-up-by-accessor", "Look up the token of an accessor.", &[ACCESSOR], lookup::by_accessor),
    ]),
    route("lookup-self", "Shows what the caller's token may do and how long it lives.", &[
        read("token-look-up-self-get", "Look up the caller's token.", lookup::look_up_self),
        ask("token-look-up-self-update", "Look up the caller's token.", &[], lookup::look_up_self),
    ]),
    route("renew", "Extends the life of a token.", &[
        ask("token-renew", "Renew a token.", &[TOKEN, INCREMENT], renew::by_token),
    ]),
    route("renew-accessor", "Extends the life of the token of an accessor.", &[
        ask("token-renew-accessor", "Renew the token of an accessor.", &[ACCESSOR, INCREMENT], renew::by_accessor),
    ]),
    route("renew-self", "Extends the life of the caller's token.", &[
        ask("token-renew-self", "Renew the caller's token.", &[INCREMENT, text("token", "Has no effect.").deprecated()], renew::renew_self),
    ]),
    route("revoke", "Ends a token and all tokens that descend from it.", &[
        write("token-revoke", "Revoke a token.", &[TOKEN], revoke::by_token),
    ]),
    route("revoke-accessor", "Ends the token of an accessor and all tokens that descend from it.", &[
        write("token-revoke-accessor", "Revoke the token of an accessor.", &[ACCESSOR], revoke::by_accessor),
    ]),
    route("revoke-orphan", "Ends a token and leaves its children as orphans.", &[
        write("token-revoke-orphan", "Revoke a token alone.", &[TOKEN], revoke::alone),
    ]),
    route("revoke-self", "Ends the caller's token and all tokens that descend from it.", &[
        write("token-revoke-self", "Revoke the caller's token.", &[], revoke::revoke_self),
    ]),
    route("roles", "Lists the roles that bound the tokens made at create/<role>.", &[
        list("token-list-roles", "List the roles.", roles::list).querying(PAGING),
    ]),
    route("roles/{role_name}", "A role, which bounds the tokens made at create/<role>.", &[
        read("token-read-role", "Read a role.", roles::read),
        write("token-write-role", "Make a role, or change it; what is not sent stays.", role_fields::FIELDS, roles::write)
            .answering(Success::EnvelopeOrNothing),
        delete("token-delete-role", "Delete a role.", roles::delete),
    ]).capturing(&[ROLE_NAME]).creating().unlisted(),
    route("tidy", "Removes what ended tokens have left.", &[
        ask("token-tidy", "Remove what ended tokens have left.", &[], tokens::tidy).answering(Success::Accepted),
    ]),
];
