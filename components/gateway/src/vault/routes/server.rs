//! The routes below `sys/` that are about the server itself: its state, its seal, and its records.

use crate::vault::ceremonies::{self, bare, in_envelope, with_token};
use crate::vault::field::{Field, boolean, choice, integer, path, text};
use crate::vault::route::{
    Handler, Route, Success, Verb, ask, delete, document, list, read, route, unadmitted,
    undescribed, write,
};
use crate::vault::{
    audit, backup, facts, initialization, keys, metrics, monitor, plugins, seal, status,
};

const SINK: Field = path("path", "Name of the sink.");

const KIND: Field = choice("type", &["auth", "database", "secret"], "Kind of plugin.");

const ANY_PATH: Field = path("path", "");

const HEALTH: &[Field] = &[
    integer("activecode", "Status code of a server that serves."),
    integer("sealedcode", "Status code of a sealed server."),
    integer(
        "uninitcode",
        "Status code of a server that is not initialized.",
    ),
];

const INITIALIZATION: &[Field] = &[
    integer(
        "secret_shares",
        "Number of shares that the key is split into.",
    ),
    integer("secret_threshold", "Number of shares that unseal."),
    text("root_token", "The root token; a random one if not given."),
];

const SHARE: &[Field] = &[
    text("key", "A share, in hexadecimal or in base64."),
    boolean("reset", "True to forget the shares that were given."),
    boolean(
        "migrate",
        "Refused if true: a seal is migrated with gatehouse operator seal migrate.",
    ),
];

const ONE_TIME_PASSWORD: &[Field] = &[text(
    "otp",
    "One-time password that masks the token; generated if not given.",
)];

const GIVEN: &[Field] = &[
    text("key", "A share, in hexadecimal or in base64."),
    text("nonce", "Nonce of the attempt."),
];

const REKEY: &[Field] = &[
    integer(
        "secret_shares",
        "Number of shares that the key is split into.",
    ),
    integer("secret_threshold", "Number of shares that unseal."),
    boolean(
        "require_verification",
        "True if the new shares take effect only once they were verified.",
    ),
];

const ROTATION: &[Field] = &[
    integer("max_operations", "Rotate after this many records."),
    text("interval", "Rotate after this time; 0 for never."),
    boolean("enabled", "True if keys are rotated automatically."),
];

const SEAL: &[Field] = &[boolean(
    "cluster",
    "True if all servers that share the store are sealed, and not this one alone.",
)];

const NO_RECOVERY_KEYS: Handler = Handler::Unadmitted(ceremonies::no_recovery_keys_to_rekey);
const OTHER_METHODS: Handler = Handler::Unadmitted(status::otherwise);
const OTHER_STEPS: Handler = Handler::Unadmitted(ceremonies::otherwise);

const METRICS: &[Field] = &[choice("format", &["prometheus"], "Format of the answer.")];
const LOG: &[Field] = &[
    choice(
        "log_level",
        &["error", "warn", "info", "debug", "trace"],
        "Lowest level that is shown; `info` if not given. `debug` and `trace` show the server's own parts only.",
    ),
    choice(
        "log_format",
        &["standard", "json"],
        "Format of a line; `standard` if not given.",
    ),
];

/// Below `sys/`.
#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    route("health", "Health of the server, for load balancers and clients.", &[
        unadmitted(Verb::Get, "read-health-status", "Read the health of the server.", status::health).querying(HEALTH).answering(Success::Status),
        unadmitted(Verb::Head, "check-health-status", "Read the health of the server as a status code.", status::health)
            .querying(HEALTH).answering(Success::Status),
    ]).unrecorded().otherwise(OTHER_METHODS),
    route("seal-status", "Seal status of the server.", &[
        unadmitted(Verb::Get, "seal-status", "Read the seal status.", seal::status),
    ]).unrecorded().otherwise(OTHER_METHODS),
    route("leader", "Which server leads: each of several that share a store.", &[
        unadmitted(Verb::Get, "leader-status", "Read which server leads.", status::leader),
    ]).unrecorded().otherwise(OTHER_METHODS),
    route("init", "Initializes a new server: makes its keys and its root token.", &[
        unadmitted(Verb::Get, "read-initialization-status", "Read whether the server is initialized.", initialization::status),
        unadmitted(Verb::Post, "initialize-system", "Initialize the server.", initialization::initialize).sending(INITIALIZATION),
    ]).unrecorded().otherwise(OTHER_METHODS),
    route("metrics", "Metrics of the server, as JSON or for Prometheus.", &[
        document(Verb::Get, "metrics", "Read the metrics.", Handler::Document(metrics::read))
            .querying(METRICS).answering(Success::DocumentOrText),
    ]),
    route("monitor", "Streams the server's log from now on, for as long as the client reads.", &[
        document(Verb::Get, "monitor", "Follow the log.", Handler::Document(monitor::read)).querying(LOG).answering(Success::Text),
    ]).sudo(),
    route("backup", "A backup of everything in the store at this moment, sealed as it is stored.", &[
        document(Verb::Get, "backup", "Make a backup.", Handler::Document(backup::read)).answering(Success::File),
    ]).sudo(),
    route("ha-status", "Lists the servers of the cluster: this one, and those that share its store.", &[
        read("ha-status", "List the servers.", facts::ha_status),
    ]),
    route("host-info", "What the server knows about its machine: the time.", &[
        read("collect-host-information", "Read about the machine.", facts::host_info),
    ]),
    route("replication/status", "Replication status, which is always disabled.", &[
        read("read-replication-status", "Read the replication status.", facts::replication_status),
    ]),
    route("version-history", "Lists the versions that the server knows of: the present one.", &[
        list("version-history", "List the versions.", facts::version_history),
    ]),
    route("in-flight-req", "Shows the requests in progress: the one that asks.", &[
        document(Verb::Get, "collect-in-flight-request-information", "Read the requests in progress.", Handler::Document(facts::in_flight)),
    ]),
    route("plugins/catalog", "Lists the plugins that can be enabled.", &[
        read("plugins-catalog-list-plugins", "Read the plugins that can be enabled.", plugins::all),
    ]),
    route("plugins/catalog/{type}", "Lists the plugins of a kind that can be enabled.", &[
        list("plugins-catalog-list-plugins-with-type", "List the plugins of a kind.", plugins::names),
    ]).capturing(&[KIND]),
    route("plugins/catalog/{type}/{name}", "A plugin that can be enabled.", &[
        read("plugins-catalog-read-plugin-configuration-with-type", "Read about a plugin.", plugins::one),
    ]).capturing(&[KIND, path("name", "Name of the plugin.")]),
    route("unseal", "Takes the shares of the key, one by one.", &[
        unadmitted(Verb::Post, "unseal", "Give a share.", seal::unseal).sending(SHARE),
    ]).open().otherwise(OTHER_METHODS),
    route("seal", "Seals the server: it forgets its key.", &[
        write("seal", "Seal the server.", SEAL, seal::seal),
    ]).sudo(),
    route("key-status", "The data key that seals what is stored.", &[
        read("encryption-key-status", "Read the number of the data key, its age and how many records it has sealed.", keys::status),
    ]),
    route("rotate", "Adds a data key, which seals what is stored from now on.", &[
        write("rotate-encryption-key", "Add a key.", &[], keys::rotate),
    ]).sudo(),
    undescribed("rotate/keyring", &[
        write("", "", &[], keys::rotate),
    ]).sudo(),
    route("rotate/config", "When the server adds a data key automatically.", &[
        read("encryption-key-read-rotation-configuration", "Read when data keys are added.", keys::read_policy),
        write("encryption-key-configure-rotation", "Set when data keys are added.", ROTATION, keys::write_policy),
    ]),
    undescribed("rotate/keyring/config", &[
        read("", "", keys::read_policy),
        write("", "", ROTATION, keys::write_policy),
    ]),
    undescribed("rotate/root/init", &[
        read("", "", |call| with_token(call, ceremonies::rekey_progress)),
        write("", "", REKEY, |call| with_token(call, ceremonies::begin_rekey)),
        delete("", "", |call| with_token(call, ceremonies::cancel_rekey)),
    ]).sudo(),
    undescribed("rotate/root/update", &[
        write("", "", GIVEN, |call| with_token(call, ceremonies::give_for_rekey)),
    ]).sudo(),
    undescribed("rotate/root/verify", &[
        read("", "", |call| with_token(call, ceremonies::verification_progress)),
        write("", "", GIVEN, |call| with_token(call, ceremonies::verify)),
        delete("", "", |call| with_token(call, ceremonies::restart_verification)),
    ]).sudo(),
    undescribed("rotate/root/backup", &[
        read("", "", |call| with_token(call, ceremonies::backup)),
        delete("", "", |call| with_token(call, ceremonies::delete_backup)),
    ]).sudo(),
    undescribed("rotate/recovery/{path}", &[]).capturing(&[ANY_PATH]).otherwise(Handler::Envelope(ceremonies::no_recovery_keys_to_rotate)),
    route("generate-root/attempt", "An attempt of the holders of shares to make a root token.", &[
        unadmitted(Verb::Get, "root-token-generation-progress", "Read the progress of the attempt.", |asked| bare(asked, ceremonies::root_progress)),
        unadmitted(Verb::Post, "root-token-generation-initialize", "Begin an attempt.", |asked| bare(asked, ceremonies::begin_root)).sending(ONE_TIME_PASSWORD),
        unadmitted(Verb::Delete, "root-token-generation-cancel", "Cancel the attempt.", |asked| bare(asked, ceremonies::cancel_root)),
    ]).open().otherwise(OTHER_STEPS),
    undescribed("generate-root-token/attempt", &[
        unadmitted(Verb::Get, "", "", |asked| in_envelope(asked, ceremonies::root_progress)),
        unadmitted(Verb::Post, "", "", |asked| in_envelope(asked, ceremonies::begin_root)).sending(ONE_TIME_PASSWORD),
        unadmitted(Verb::Delete, "", "", |asked| in_envelope(asked, ceremonies::cancel_root)),
    ]).open().otherwise(OTHER_STEPS),
    route("generate-root/update", "Takes the shares for a root token, one by one.", &[
        unadmitted(Verb::Post, "root-token-generation-update", "Give a share.", |asked| bare(asked, ceremonies::give_for_root)).sending(GIVEN),
    ]).open().otherwise(OTHER_STEPS),
    undescribed("generate-root-token/update", &[
        unadmitted(Verb::Post, "", "", |asked| in_envelope(asked, ceremonies::give_for_root)).sending(GIVEN),
    ]).open().otherwise(OTHER_STEPS),
    route("rekey/init", "An attempt of the holders of shares to make new shares.", &[
        unadmitted(Verb::Get, "rekey-attempt-read-progress", "Read the progress of the attempt.", |asked| bare(asked, ceremonies::rekey_progress)),
        unadmitted(Verb::Post, "rekey-attempt-initialize", "Begin an attempt.", |asked| bare(asked, ceremonies::begin_rekey)).sending(REKEY),
        unadmitted(Verb::Delete, "rekey-attempt-cancel", "Cancel the attempt.", |asked| bare(asked, ceremonies::cancel_rekey)),
    ]).open().otherwise(OTHER_STEPS),
    route("rekey/update", "Takes the present shares for the attempt to make new ones, one by one.", &[
        unadmitted(Verb::Post, "rekey-attempt-update", "Give a share.", |asked| bare(asked, ceremonies::give_for_rekey)).sending(GIVEN),
    ]).open().otherwise(OTHER_STEPS),
    route("rekey/verify", "Verifies the new shares: takes them from their holders, one by one.", &[
        unadmitted(Verb::Get, "rekey-verification-read-progress", "Read the progress of the attempt.", |asked| bare(asked, ceremonies::verification_progress)),
        unadmitted(Verb::Post, "rekey-verification-update", "Give a new share.", |asked| bare(asked, ceremonies::verify)).sending(GIVEN),
        unadmitted(Verb::Delete, "rekey-verification-cancel", "Restart the verification.", |asked| bare(asked, ceremonies::restart_verification)),
    ]).open().otherwise(OTHER_STEPS),
    undescribed("rekey/backup", &[
        unadmitted(Verb::Get, "", "", |asked| bare(asked, ceremonies::backup)),
        unadmitted(Verb::Delete, "", "", |asked| bare(asked, ceremonies::delete_backup)),
    ]).open().otherwise(OTHER_STEPS),
    undescribed("rekey/recovery-key-backup", &[]).open().otherwise(NO_RECOVERY_KEYS),
    undescribed("rekey-recovery-key/{path}", &[]).capturing(&[ANY_PATH]).open().otherwise(NO_RECOVERY_KEYS),
    route("audit", "Lists the sinks of the audit log.", &[
        read("auditing-list-enabled-devices", "List the sinks.", audit::list),
    ]).sudo(),
    route("audit/{path}", "Refuses to change the sinks of the audit log, which the configuration file names.", &[
        write("auditing-enable-device", "Enable a sink.", &[], audit::refuse_enabling).answering(Success::Refusal),
        delete("auditing-disable-device", "Disable a sink; succeeds if there is none.", audit::refuse_disabling),
    ]).capturing(&[SINK]).sudo(),
    route("audit-hash/{path}", "The hash that the records of a sink show in place of a text.", &[
        ask("auditing-calculate-hash", "Hash a text as a sink does.", &[text("input", "The text.").required()], audit::hash),
    ]).capturing(&[SINK]),
];
