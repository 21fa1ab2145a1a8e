//! The routes below `sys/` that are about mounts.

use crate::vault::field::{Field, boolean, choice, map, object, path, seconds, text, texts};
use crate::vault::internal_ui;
use crate::vault::mounts::{self, remount, system_mounts, tuning};
use crate::vault::route::{Route, ask, delete, read, route, write};

const AUTH_PATH: Field = path("path", "Path of the auth method, below auth/.");

const DEFAULT_TTL: Field = seconds(
    "default_lease_ttl",
    "How long tokens live that ask for no TTL, 0 for the server's value.",
);
const MAX_TTL: Field = seconds(
    "max_lease_ttl",
    "How long tokens live at most, 0 for the server's value.",
);
const TOKEN_TYPE: Field = choice(
    "token_type",
    &["default-service", "default-batch", "service", "batch"],
    "The type of tokens.",
);
const VISIBILITY: Field = choice(
    "listing_visibility",
    &["hidden", "unauth"],
    "True if the mount is listed for every caller.",
);
const REQUEST_KEYS: Field = texts(
    "audit_non_hmac_request_keys",
    "Fields of requests that audit records show as they are.",
);
const RESPONSE_KEYS: Field = texts(
    "audit_non_hmac_response_keys",
    "Fields of answers that audit records show as they are.",
);
const REQUEST_HEADERS: Field = texts(
    "passthrough_request_headers",
    "Headers of requests that reach the method.",
);
const RESPONSE_HEADERS: Field = texts(
    "allowed_response_headers",
    "Headers that the method may set.",
);
const IDENTITY_KEY: Field = text(
    "identity_token_key",
    "The key that signs the mount's identity tokens: default.",
);
const DESCRIPTION: Field = text(
    "description",
    "What the mount is for, in the operator's words.",
);
const OPTIONS: Field = map("options", "Options of the method.");
const TRIMS: Field = boolean(
    "trim_request_trailing_slashes",
    "Accepted for clients that send it: a slash at the end of a path makes no difference.",
);

const TUNING: &[Field] = &[
    DEFAULT_TTL,
    MAX_TTL,
    DESCRIPTION,
    TOKEN_TYPE,
    VISIBILITY,
    REQUEST_KEYS,
    RESPONSE_KEYS,
    REQUEST_HEADERS,
    RESPONSE_HEADERS,
    IDENTITY_KEY,
    TRIMS,
    OPTIONS,
    text("plugin_version", "The version of the method; there is one."),
];

const ENABLE: &[Field] = &[
    choice("type", &["gcp"], "The auth method.").required(),
    DESCRIPTION,
    object(
        "config",
        &[
            DEFAULT_TTL,
            MAX_TTL,
            boolean(
                "force_no_cache",
                "Accepted for clients that send it; has no effect.",
            ),
            TOKEN_TYPE,
            VISIBILITY,
            REQUEST_KEYS,
            RESPONSE_KEYS,
            REQUEST_HEADERS,
            RESPONSE_HEADERS,
            IDENTITY_KEY,
            TRIMS,
            OPTIONS,
        ],
        "Tuning of the mount.",
    ),
    OPTIONS,
    boolean("local", "Accepted for clients that send it; has no effect."),
    boolean(
        "seal_wrap",
        "Accepted for clients that send it; has no effect.",
    ),
    boolean(
        "external_entropy_access",
        "Accepted for clients that send it; has no effect.",
    ),
];

const REMOUNT: &[Field] = &[
    text("from", "Present path, beginning with auth/.").required(),
    text("to", "New path, beginning with auth/.").required(),
];

/// Below `sys/`.
#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    route("auth", "Lists the auth methods.", &[
        read("auth-list-enabled-methods", "List the auth methods.", mounts::list),
    ]),
    route("auth/{path}", "Enables, shows and disables an auth method.", &[
        read("auth-read-configuration", "Read the mount of an auth method.", mounts::read),
        write("auth-enable-method", "Enable an auth method.", ENABLE, mounts::enable),
        delete("auth-disable-method", "Disable an auth method, and end its tokens.", mounts::disable),
    ]).capturing(&[AUTH_PATH]).slashed().sudo(),
    route("auth/{path}/tune", "Shows and changes how an auth method is tuned.", &[
        read("auth-read-tuning-information", "Read the tuning.", tuning::read),
        write("auth-tune-configuration-parameters", "Tune an auth method; what is not sent stays.", TUNING, tuning::write),
    ]).capturing(&[AUTH_PATH]).slashed().sudo(),
    route("mounts", "Lists what is mounted beside the auth methods.", &[
        read("mounts-list-secrets-engines", "List the mounts that are not auth methods.", system_mounts::list),
    ]),
    route("mounts/{path}", "Shows what is mounted beside the auth methods.", &[
        read("mounts-read-configuration", "Read a mount that is not an auth method.", system_mounts::read),
        delete("mounts-disable-secrets-engine", "Unmount a path; succeeds if nothing is mounted there.", system_mounts::remove),
    ])
    .capturing(&[path("path", "Where it is mounted.")])
    .slashed(),
    route("mounts/auth/{path}", "Shows an auth method.", &[
        read("mounts-read-auth-configuration", "Read the mount of an auth method.", mounts::read),
        delete("mounts-disable-auth-method", "Refuse to disable an auth method, which is done at sys/auth.", system_mounts::remove_auth),
    ]).capturing(&[AUTH_PATH]).slashed(),
    route("mounts/auth/{path}/tune", "Shows and changes how an auth method is tuned, without sudo.", &[
        read("mounts-read-tuning-information", "Read the tuning.", tuning::read),
        write("mounts-tune-configuration-parameters", "Tune an auth method; what is not sent stays.", TUNING, tuning::write),
    ]).capturing(&[AUTH_PATH]).slashed(),
    route("remount", "Moves an auth method to another path.", &[
        ask("remount", "Move an auth method.", REMOUNT, remount::remount),
    ]).sudo(),
    route("remount/status/{migration_id}", "Shows the outcome of a move.", &[
        read("remount-status", "Read the outcome of a move.", remount::status),
    ])
    .capturing(&[path("migration_id", "Identifier that the answer to the move gave.")]),
    route("internal/ui/mounts", "Lists the mounts that a caller can use, for user interfaces.", &[
        read("internal-ui-list-enabled-visible-mounts", "List what the caller may see.", internal_ui::mounts),
    ]).open(),
    route("internal/ui/mounts/{path}", "Shows which mount serves a path, for user interfaces.", &[
        read("internal-ui-read-mount-information", "Read which mount serves a path.", internal_ui::mount),
    ]).capturing(&[path("path", "Any path.")]).slashed(),
];
