//! The routes of the mount `token/`.

use super::PAGING;
use crate::vault::openapi::route::{
    Answer, Field, Route, ask, boolean, choice, delete, integer, list, map, read, route, seconds,
    text, texts, write,
};

const ROLE_NAME: Field = text("role_name", "Name of the role.");
const ACCESSOR: Field = text("accessor", "Accessor of the token.").required();
const TOKEN: Field = text("token", "The token.").required();
const INCREMENT: Field = seconds(
    "increment",
    "For how long the token should live from now on.",
);

const CREATE: &[Field] = &[
    text("id", "The token itself, which needs sudo."),
    texts(
        "policies",
        "The policies of the token; the caller's where there are none.",
    ),
    map("meta", "Metadata, which is shown with the token."),
    boolean(
        "no_parent",
        "Whether the token outlives the caller's, which needs sudo.",
    ),
    boolean(
        "no_default_policy",
        "Whether the token goes without the policy \"default\".",
    ),
    boolean("renewable", "Whether the token can be renewed."),
    seconds("ttl", "How long the token lives until it is renewed."),
    seconds("lease", "As ttl.").deprecated(),
    seconds(
        "explicit_max_ttl",
        "How long the token lives at most, whatever is changed later.",
    ),
    seconds(
        "period",
        "How long the token lives from each renewal, without an end.",
    ),
    text(
        "display_name",
        "What the token is called where it is shown.",
    ),
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

const ROLE: &[Field] = &[
    texts("allowed_policies", "The policies that tokens may have."),
    texts(
        "allowed_policies_glob",
        "Patterns of the policies that tokens may have.",
    ),
    texts("disallowed_policies", "The policies that no token has."),
    texts(
        "disallowed_policies_glob",
        "Patterns of the policies that no token has.",
    ),
    texts(
        "allowed_entity_aliases",
        "The aliases that may be asked for.",
    ),
    boolean("orphan", "Whether tokens have no parent."),
    boolean("renewable", "Whether tokens can be renewed."),
    text(
        "path_suffix",
        "What the path of tokens ends in, for revocation by prefix.",
    ),
    texts(
        "token_bound_cidrs",
        "The address ranges from which tokens are accepted.",
    ),
    texts("bound_cidrs", "As token_bound_cidrs.").deprecated(),
    seconds(
        "token_explicit_max_ttl",
        "How long tokens live at most, whatever is changed later.",
    ),
    seconds("explicit_max_ttl", "As token_explicit_max_ttl.").deprecated(),
    boolean(
        "token_no_default_policy",
        "Whether tokens go without the policy \"default\".",
    ),
    integer(
        "token_num_uses",
        "How often a token may be used, 0 for any number.",
    ),
    seconds(
        "token_period",
        "How long tokens live from each renewal, without an end.",
    ),
    seconds("period", "As token_period.").deprecated(),
    choice(
        "token_type",
        &["default-service", "default-batch", "service", "batch"],
        "The type of tokens.",
    ),
];

const LOOKED_UP: Field = text("token", "The token; the caller's where there is none.");

/// Below `auth/token/`.
pub(super) const ROUTES: &[Route] = &[
    route(
        "accessors",
        "Lists the accessors of all tokens.",
        &[list("token-list-accessors", "List the accessors.").querying(PAGING)],
    )
    .sudo(),
    route(
        "create",
        "Makes a token that is a child of the caller's.",
        &[ask("token-create", "Make a token.", CREATE)],
    ),
    route(
        "create-orphan",
        "Makes a token that has no parent.",
        &[ask("token-create-orphan", "Make an orphan.", CREATE)],
    ),
    route(
        "create/{role_name}",
        "Makes a token under the terms of a role.",
        &[ask(
            "token-create-against-role",
            "Make a token under a role.",
            CREATE,
        )],
    )
    .capturing(&[ROLE_NAME]),
    route(
        "lookup",
        "Shows what a token may do and how long it lives.",
        &[
            read("token-look-up", "Look up a token.").querying(&[LOOKED_UP]),
            ask("token-look-up-update", "Look up a token.", &[LOOKED_UP]),
        ],
    ),
    route(
        "lookup-accessor",
        "Shows what the token of an accessor may do and how long it lives.",
        &[ask(
            "token-look-up-by-accessor",
            "Look up the token of an accessor.",
            &[ACCESSOR],
        )],
    ),
    route(
        "lookup-self",
        "Shows what the caller's token may do and how long it lives.",
        &[
            read("token-look-up-self-get", "Look up the caller's token."),
            ask(
                "token-look-up-self-update",
                "Look up the caller's token.",
                &[],
            ),
        ],
    ),
    route(
        "renew",
        "Extends the life of a token.",
        &[ask("token-renew", "Renew a token.", &[TOKEN, INCREMENT])],
    ),
    route(
        "renew-accessor",
        "Extends the life of the token of an accessor.",
        &[ask(
            "token-renew-accessor",
            "Renew the token of an accessor.",
            &[ACCESSOR, INCREMENT],
        )],
    ),
    route(
        "renew-self",
        "Extends the life of the caller's token.",
        &[ask(
            "token-renew-self",
            "Renew the caller's token.",
            &[INCREMENT, text("token", "Has no effect.").deprecated()],
        )],
    ),
    route(
        "revoke",
        "Ends a token and all tokens that descend from it.",
        &[write("token-revoke", "Revoke a token.", &[TOKEN])],
    ),
    route(
        "revoke-accessor",
        "Ends the token of an accessor and all tokens that descend from it.",
        &[write(
            "token-revoke-accessor",
            "Revoke the token of an accessor.",
            &[ACCESSOR],
        )],
    ),
    route(
        "revoke-orphan",
        "Ends a token and leaves its children as orphans.",
        &[write(
            "token-revoke-orphan",
            "Revoke a token alone.",
            &[TOKEN],
        )],
    ),
    route(
        "revoke-self",
        "Ends the caller's token and all tokens that descend from it.",
        &[write(
            "token-revoke-self",
            "Revoke the caller's token.",
            &[],
        )],
    ),
    route(
        "roles",
        "Lists the roles that say what tokens may be made at create/<role>.",
        &[list("token-list-roles", "List the roles.").querying(PAGING)],
    ),
    route(
        "roles/{role_name}",
        "A role that says what tokens may be made at create/<role>.",
        &[
            read("token-read-role", "Read a role."),
            write(
                "token-write-role",
                "Make a role, or change it; what is not sent stays.",
                ROLE,
            )
            .answering(Answer::EnvelopeOrNothing),
            delete("token-delete-role", "Delete a role."),
        ],
    )
    .capturing(&[ROLE_NAME])
    .creating(),
    route(
        "tidy",
        "Removes what is left of tokens that are gone.",
        &[ask("token-tidy", "Tidy up.", &[]).answering(Answer::Accepted)],
    ),
];
