//! The routes below `sys/` that are about the server itself: how it is, its seal, and what it records.

use crate::vault::openapi::route::{
    Answer, Field, Route, ask, boolean, choice, delete, integer, list, path, read, route, text,
    write,
};

const SINK: Field = path("path", "Name of the sink.");

const KIND: Field = choice("type", &["auth", "database", "secret"], "Of which kind.");

const HEALTH: &[Field] = &[
    integer("activecode", "The status of a server that serves."),
    integer("sealedcode", "The status of a sealed server."),
    integer(
        "uninitcode",
        "The status of a server that is not initialized.",
    ),
];

const INITIALIZATION: &[Field] = &[
    integer("secret_shares", "Into how many shares the key is split."),
    integer("secret_threshold", "How many of them open the seal."),
    text(
        "root_token",
        "The root token to be made; a random one where there is none.",
    ),
];

const SHARE: &[Field] = &[
    text("key", "A share, in hexadecimal or in base64."),
    boolean("reset", "Whether to forget the shares that were given."),
    boolean("migrate", "Is refused: there is no other seal to go to."),
];

const GIVEN: &[Field] = &[
    text("key", "A share, in hexadecimal or in base64."),
    text("nonce", "What is under way."),
];

const REKEY: &[Field] = &[
    integer("secret_shares", "Into how many shares the key is split."),
    integer("secret_threshold", "How many of them open the seal."),
    boolean(
        "require_verification",
        "Whether the new shares count only once they have been given.",
    ),
];

const ROTATION: &[Field] = &[
    integer("max_operations", "After so many records."),
    text("interval", "After so much time; 0 for never."),
    boolean("enabled", "Whether at all."),
];

/// Below `sys/`.
pub(super) const ROUTES: &[Route] = &[
    route(
        "health",
        "Says how the server is, to load balancers and to clients that are about to begin.",
        &[
            read("read-health-status", "Read how the server is.")
                .querying(HEALTH)
                .answering(Answer::Status),
            read(
                "check-health-status",
                "Ask how the server is, by status alone.",
            )
            .querying(HEALTH)
            .answering(Answer::Status)
            .head(),
        ],
    )
    .open(),
    route(
        "seal-status",
        "Says whether the server is sealed.",
        &[read("seal-status", "Read whether the server is sealed.").answering(Answer::Document)],
    )
    .open(),
    route(
        "leader",
        "Says which server of several leads.",
        &[read("leader-status", "Read who leads.").answering(Answer::Document)],
    )
    .open(),
    route(
        "init",
        "Makes a new server ready: its keys and its root token.",
        &[
            read(
                "read-initialization-status",
                "Read whether the server is initialized.",
            )
            .answering(Answer::Document),
            ask(
                "initialize-system",
                "Initialize the server.",
                INITIALIZATION,
            )
            .answering(Answer::Document),
        ],
    )
    .open(),
    route(
        "metrics",
        "What the server counts, as JSON or for Prometheus.",
        &[read("metrics", "Read what the server counts.")
            .querying(&[choice("format", &["prometheus"], "How it is written.")])
            .answering(Answer::DocumentOrText)],
    ),
    route(
        "monitor",
        "Tells what the server logs from now on, for as long as it is read.",
        &[read("monitor", "Follow the log.")
            .querying(&[
                choice(
                    "log_level",
                    &["error", "warn", "info", "debug", "trace"],
                    "The least that is told; `info` if not given. `debug` and `trace` are of the server itself.",
                ),
                choice("log_format", &["standard", "json"], "How a line is written; `standard` if not given."),
            ])
            .answering(Answer::Text)],
    )
    .sudo(),
    route(
        "ha-status",
        "Lists the servers of the cluster: this one.",
        &[read("ha-status", "Read which servers there are.")],
    ),
    route(
        "host-info",
        "Tells of the machine what the server knows: the time.",
        &[read("collect-host-information", "Read about the machine.")],
    ),
    route(
        "replication/status",
        "Tells how the server is replicated: not at all.",
        &[read("read-replication-status", "Read how it is replicated.")],
    ),
    route(
        "version-history",
        "Lists the versions that the server has run in: the present one.",
        &[list("version-history", "List the versions.")],
    ),
    route(
        "in-flight-req",
        "Shows which requests are being answered: the one that asks.",
        &[read(
            "collect-in-flight-request-information",
            "Read which they are.",
        )
        .answering(Answer::Document)],
    ),
    route(
        "plugins/catalog",
        "Lists what can be enabled.",
        &[read(
            "plugins-catalog-list-plugins",
            "Read what can be enabled.",
        )],
    ),
    route(
        "plugins/catalog/{type}",
        "Lists what of a kind can be enabled.",
        &[list("plugins-catalog-list-plugins-with-type", "List it.")],
    )
    .capturing(&[KIND]),
    route(
        "plugins/catalog/{type}/{name}",
        "Tells about something that can be enabled.",
        &[read(
            "plugins-catalog-read-plugin-configuration-with-type",
            "Read about it.",
        )],
    )
    .capturing(&[KIND, text("name", "Its name.")]),
    route(
        "unseal",
        "Takes the shares of the key, one by one.",
        &[ask("unseal", "Give a share.", SHARE).answering(Answer::Document)],
    )
    .open(),
    route(
        "seal",
        "Makes the server forget its key.",
        &[write("seal", "Seal the server.", &[])],
    )
    .sudo(),
    route(
        "key-status",
        "Tells about the key that seals what is stored.",
        &[read(
            "encryption-key-status",
            "Read its number, its age and how much it has sealed.",
        )],
    ),
    route(
        "rotate",
        "Adds a key, which seals what is stored from now on.",
        &[write("rotate-encryption-key", "Add a key.", &[])],
    )
    .sudo(),
    route(
        "rotate/config",
        "Says when a key is added without anybody asking.",
        &[
            read("encryption-key-read-rotation-configuration", "Read when."),
            write("encryption-key-configure-rotation", "Set when.", ROTATION),
        ],
    ),
    route(
        "generate-root/attempt",
        "Lets holders of shares make a root token.",
        &[
            read("root-token-generation-progress", "Read how far they are.")
                .answering(Answer::Document),
            ask(
                "root-token-generation-initialize",
                "Begin.",
                &[text(
                    "otp",
                    "What the token is hidden by; made where there is none.",
                )],
            )
            .answering(Answer::Document),
            delete("root-token-generation-cancel", "Give it up."),
        ],
    )
    .open(),
    route(
        "generate-root/update",
        "Takes the shares for a root token, one by one.",
        &[ask("root-token-generation-update", "Give a share.", GIVEN).answering(Answer::Document)],
    )
    .open(),
    route(
        "rekey/init",
        "Lets holders of shares make new ones.",
        &[
            read("rekey-attempt-read-progress", "Read how far they are.")
                .answering(Answer::Document),
            ask("rekey-attempt-initialize", "Begin.", REKEY).answering(Answer::Document),
            delete("rekey-attempt-cancel", "Give it up."),
        ],
    )
    .open(),
    route(
        "rekey/update",
        "Takes the present shares for new ones, one by one.",
        &[ask("rekey-attempt-update", "Give a share.", GIVEN).answering(Answer::Document)],
    )
    .open(),
    route(
        "rekey/verify",
        "Takes the new shares, to see that their holders have them.",
        &[
            read("rekey-verification-read-progress", "Read how far they are.")
                .answering(Answer::Document),
            ask("rekey-verification-update", "Give a new share.", GIVEN)
                .answering(Answer::Document),
            delete("rekey-verification-cancel", "Begin the verification anew."),
        ],
    )
    .open(),
    route(
        "audit",
        "Lists where requests are recorded.",
        &[read("auditing-list-enabled-devices", "List the sinks.")],
    )
    .sudo(),
    route(
        "audit/{path}",
        "Refuses to change where requests are recorded: the configuration file says that.",
        &[
            write("auditing-enable-device", "Enable a sink.", &[]).answering(Answer::Refusal),
            delete(
                "auditing-disable-device",
                "Disable a sink; one that is not there is as good as disabled.",
            ),
        ],
    )
    .capturing(&[SINK])
    .sudo(),
    route(
        "audit-hash/{path}",
        "Says what the records of a sink show in the place of a text.",
        &[ask(
            "auditing-calculate-hash",
            "Hash a text as a sink does.",
            &[text("input", "The text.").required()],
        )],
    )
    .capturing(&[SINK]),
];
