//! The other routes below `sys/`: policies, capabilities of tokens, wrapping and tools.

use crate::vault::field::{
    AFTER, Field, LIMIT, PAGING, boolean, choice, integer, path, text, texts,
};
use crate::vault::route::{Handler, Route, Verb, ask, delete, document, list, read, route, write};
use crate::vault::{capabilities, internal_ui, policies, tools, wrapping};

const POLICY_NAME: Field = path("name", "Name of the policy.");
const PATHS: Field = texts("paths", "The paths in question.");
const PATH: Field = texts("path", "As paths.").deprecated();
const UNUSED_TOKEN: Field = text("token", "Has no effect.").deprecated();
const UNUSED_ACCESSOR: Field = text("accessor", "Has no effect.").deprecated();
const WRAPPING_TOKEN: &[Field] = &[text(
    "token",
    "The wrapping token; the caller's token if not given.",
)];
const GENERIC: &[Field] = &[
    boolean(
        "generic_mount_paths",
        "True if paths have a placeholder in place of the mount's path.",
    ),
    text("context", "Has no effect."),
];

const LISTED_BY_GET: &[Field] = &[boolean("list", "Makes no difference here."), AFTER, LIMIT];

const FORMAT: Field = choice("format", &["hex", "base64"], "Encoding of the bytes.");
const HASH_INPUT: Field = text("input", "What to hash, in base64.").required();
const BYTES: Field = integer("bytes", "Number of bytes.");
const UNUSED_BYTES: Field = integer("bytes", "Has no effect.").deprecated();
const UNUSED_SOURCE: Field = text("source", "Has no effect.").deprecated();
const UNUSED_ALGORITHM: Field = text("algorithm", "Has no effect.").deprecated();
const SOURCE: Field = text(
    "source",
    "Source of the bytes: platform, seal or all; or the number of bytes.",
);

const POLICY: &[Field] = &[
    text("policy", "The rules.").required(),
    text("rules", "As policy.").deprecated(),
];
const POLICY_FOR_OLD_CLIENTS: &[Field] = &[
    text("policy", "The rules."),
    text("rules", "As policy.").deprecated(),
];
const OF_TOKEN: &[Field] = &[
    text("token", "The token.").required(),
    PATHS,
    PATH,
    UNUSED_ACCESSOR,
];
const OF_ACCESSOR: &[Field] = &[
    text("accessor", "Accessor of the token.").required(),
    PATHS,
    PATH,
    UNUSED_TOKEN,
];
const OF_CALLER: &[Field] = &[PATHS, PATH, UNUSED_TOKEN, UNUSED_ACCESSOR];
const HASH: &[Field] = &[
    HASH_INPUT,
    choice(
        "algorithm",
        &["sha2-224", "sha2-256", "sha2-384", "sha2-512"],
        "Hash function.",
    ),
    FORMAT,
];
const HASH_BY_PATH: &[Field] = &[HASH_INPUT, FORMAT, UNUSED_ALGORITHM];
const RANDOM: &[Field] = &[BYTES, FORMAT, UNUSED_SOURCE];
const RANDOM_OF_SOURCE: &[Field] = &[BYTES, FORMAT];
const RANDOM_BY_PATH: &[Field] = &[FORMAT, UNUSED_BYTES];

/// Below `sys/`.
#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    route("policies/acl", "Lists the policies.", &[
        list("policies-list-acl-policies", "List the policies.", policies::list).querying(PAGING),
    ]),
    route("policies/acl/{name}", "A policy: what tokens that have it may do.", &[
        read("policies-read-acl-policy", "Read a policy.", policies::read),
        write("policies-write-acl-policy", "Write a policy.", POLICY, policies::write),
        delete("policies-delete-acl-policy", "Delete a policy.", policies::delete),
    ]).capturing(&[POLICY_NAME]),
    route("policy", "Lists the policies, by an older path.", &[
        read("policies-list", "List the policies.", policies::list_for_old_clients)
            .querying(LISTED_BY_GET).listing_too(),
    ]),
    route("policy/{name}", "A policy, by an older path.", &[
        read("policies-read-acl-policy2", "Read a policy.", policies::read_for_old_clients),
        write("policies-write-acl-policy2", "Write a policy.", POLICY_FOR_OLD_CLIENTS, policies::write),
        delete("policies-delete-acl-policy2", "Delete a policy.", policies::delete),
    ]).capturing(&[POLICY_NAME]),
    route("capabilities", "The capabilities of a token on some paths.", &[
        ask("query-token-capabilities", "Read the capabilities of a token.", OF_TOKEN, capabilities::of_token),
    ]),
    route("capabilities-accessor", "The capabilities of the token of an accessor on some paths.", &[
        ask("query-token-accessor-capabilities", "Read the capabilities of the token of an accessor.", OF_ACCESSOR, capabilities::of_accessor),
    ]),
    route("capabilities-self", "The capabilities of the caller on some paths.", &[
        ask("query-token-self-capabilities", "Read the capabilities of the caller.", OF_CALLER, capabilities::of_caller),
    ]),
    route("internal/ui/resultant-acl", "The rights that the caller's policies give, for user interfaces.", &[
        read("internal-ui-read-resultant-acl", "Read the rights that the caller's policies give.", internal_ui::resultant_acl),
    ]),
    route("internal/specs/openapi", "Describes the API, as this document does.", &[
        document(Verb::Get, "internal-generate-open-api-document", "Read the description of the API.", Handler::Description).querying(GENERIC),
        document(Verb::Post, "internal-generate-open-api-document-with-parameters", "Read the description of the API.", Handler::Description)
            .sending(GENERIC),
    ]).unlisted(),
    route("wrapping/wrap", "Wraps the body in a token of one use, which lives as long as the header X-Vault-Wrap-TTL says.", &[
        ask("wrap", "Wrap the fields of the body.", &[], wrapping::wrap),
    ]),
    route("wrapping/lookup", "Shows a wrapping token without using it.", &[
        read("read-wrapping-properties2", "Look up the caller's wrapping token.", wrapping::lookup),
        ask("read-wrapping-properties", "Look up a wrapping token.", WRAPPING_TOKEN, wrapping::lookup),
    ]).open(),
    route("wrapping/unwrap", "Takes an answer out of its wrapping token.", &[
        ask("unwrap", "Unwrap an answer.", WRAPPING_TOKEN, wrapping::unwrap),
    ]),
    route("wrapping/rewrap", "Moves a wrapped answer into a fresh wrapping token.", &[
        ask("rewrap", "Rewrap an answer.", WRAPPING_TOKEN, wrapping::rewrap),
    ]),
    route("tools/random", "Gives random bytes.", &[
        ask("generate-random", "Give random bytes.", RANDOM, tools::random),
    ]),
    route("tools/random/{source}", "Gives random bytes from a source.", &[
        ask("generate-random-with-source", "Give random bytes.", RANDOM_OF_SOURCE, tools::random),
    ]).capturing(&[SOURCE]),
    route("tools/random/{source}/{urlbytes}", "Gives the number of random bytes that the path names, from a source.", &[
        ask("generate-random-with-source-and-bytes", "Give random bytes.", RANDOM_BY_PATH, tools::random),
    ])
    .capturing(&[SOURCE, integer("urlbytes", "Number of bytes.").spanning()]),
    route("tools/hash", "Hashes the input.", &[
        ask("generate-hash", "Hash something.", HASH, tools::hash),
    ]),
    route("tools/hash/{urlalgorithm}", "Hashes the input with the function that the path names.", &[
        ask("generate-hash-with-algorithm", "Hash something.", HASH_BY_PATH, tools::hash),
    ]).capturing(&[path("urlalgorithm", "Hash function.")]),
];
