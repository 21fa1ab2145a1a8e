//! The routes below `sys/` that are about the server itself: how it is, its seal, and what it records.

use crate::vault::ceremonies::{self, Asked, bare, in_envelope, with_token};
use crate::vault::field::{Field, boolean, choice, integer, path, text};
use crate::vault::route::{
    Handler, Route, Success, Verb, ask, delete, document, list, read, route, unadmitted,
    undescribed, write,
};
use crate::vault::{
    audit, backup, facts, initialization, keys, metrics, monitor, plugins, seal, status,
};

const SINK: Field = path("path", "Name of the sink.");

const KIND: Field = choice("type", &["auth", "database", "secret"], "Of which kind.");

const ANY_PATH: Field = path("path", "");

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
    boolean("reset", "True to forget the shares that were given."),
    boolean("migrate", "Is refused: there is no other seal to go to."),
];

const ONE_TIME_PASSWORD: &[Field] = &[text(
    "otp",
    "What the token is hidden by; made where there is none.",
)];

const GIVEN: &[Field] = &[
    text("key", "A share, in hexadecimal or in base64."),
    text("nonce", "What is under way."),
];

const REKEY: &[Field] = &[
    integer("secret_shares", "Into how many shares the key is split."),
    integer("secret_threshold", "How many of them open the seal."),
    boolean(
        "require_verification",
        "True if the new shares count only once they have been given.",
    ),
];

const ROTATION: &[Field] = &[
    integer("max_operations", "After so many records."),
    text("interval", "After so much time; 0 for never."),
    boolean("enabled", "True if keys are rotated by these two."),
];

const SEAL: &[Field] = &[boolean(
    "cluster",
    "True if all servers that share the store are sealed, and not this one alone.",
)];

const NO_RECOVERY_KEYS: Handler = Handler::Unadmitted(ceremonies::no_recovery_keys_to_rekey);
const OTHER_METHODS: Handler = Handler::Unadmitted(status::otherwise);
const OTHER_STEPS: Handler = Handler::Unadmitted(ceremonies::otherwise);

const METRICS: &[Field] = &[choice("format", &["prometheus"], "How it is written.")];
const LOG: &[Field] = &[
    choice(
        "log_level",
        &["error", "warn", "info", "debug", "trace"],
        "The least that is told; `info` if not given. `debug` and `trace` are of the server itself.",
    ),
    choice(
        "log_format",
        &["standard", "json"],
        "How a line is written; `standard` if not given.",
    ),
];

/// Below `sys/`.
#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    route("health", "Says how the server is, to load balancers and to clients that are about to begin.", &[
        unadmitted(Verb::Get, "read-health-status", "Read how the server is.", status::health).querying(HEALTH).answering(Success::Status),
        unadmitted(Verb::Head, "check-health-status", "Ask how the server is, by status alone.", status::health)
            .querying(HEALTH).answering(Success::Status),
    ]).unrecorded().otherwise(OTHER_METHODS),
    route("seal-status", "Says whether the server is sealed.", &[
        unadmitted(Verb::Get, "seal-status", "Read whether the server is sealed.", seal::status),
    ]).unrecorded().otherwise(OTHER_METHODS),
    route("leader", "Says which server of several leads.", &[
        unadmitted(Verb::Get, "leader-status", "Read who leads.", status::leader),
    ]).unrecorded().otherwise(OTHER_METHODS),
    route("init", "Makes a new server ready: its keys and its root token.", &[
        unadmitted(Verb::Get, "read-initialization-status", "Read whether the server is initialized.", initialization::status),
        unadmitted(Verb::Post, "initialize-system", "Initialize the server.", initialization::initialize).sending(INITIALIZATION),
    ]).unrecorded().otherwise(OTHER_METHODS),
    route("metrics", "What the server counts, as JSON or for Prometheus.", &[
        document(Verb::Get, "metrics", "Read what the server counts.", Handler::Document(metrics::read))
            .querying(METRICS).answering(Success::DocumentOrText),
    ]),
    route("monitor", "Tells what the server logs from now on, for as long as it is read.", &[
        document(Verb::Get, "monitor", "Follow the log.", Handler::Document(monitor::read)).querying(LOG).answering(Success::Text),
    ]).sudo(),
    route("backup", "Gives everything that the server holds at this moment, sealed as it is stored.", &[
        document(Verb::Get, "backup", "Make a backup.", Handler::Document(backup::read)).answering(Success::File),
    ]).sudo(),
    route("ha-status", "Lists the servers of the cluster: this one, and those that share its store.", &[
        read("ha-status", "Read which servers there are.", facts::ha_status),
    ]),
    route("host-info", "Tells of the machine what the server knows: the time.", &[
        read("collect-host-information", "Read about the machine.", facts::host_info),
    ]),
    route("replication/status", "Tells how the server is replicated: not at all.", &[
        read("read-replication-status", "Read how it is replicated.", facts::replication_status),
    ]),
    route("version-history", "Lists the versions that the server has run in: the present one.", &[
        list("version-history", "List the versions.", facts::version_history),
    ]),
    route("in-flight-req", "Shows which requests are being answered: the one that asks.", &[
        document(Verb::Get, "collect-in-flight-request-information", "Read which they are.", Handler::Document(facts::in_flight)),
    ]),
    route("plugins/catalog", "Lists what can be enabled.", &[
        read("plugins-catalog-list-plugins", "Read what can be enabled.", plugins::all),
    ]),
    route("plugins/catalog/{type}", "Lists what of a kind can be enabled.", &[
        list("plugins-catalog-list-plugins-with-type", "List it.", plugins::names),
    ]).capturing(&[KIND]),
    route("plugins/catalog/{type}/{name}", "Tells about something that can be enabled.", &[
        read("plugins-catalog-read-plugin-configuration-with-type", "Read about it.", plugins::one),
    ]).capturing(&[KIND, path("name", "Its name.")]),
    route("unseal", "Takes the shares of the key, one by one.", &[
        unadmitted(Verb::Post, "unseal", "Give a share.", seal::unseal).sending(SHARE),
    ]).open().otherwise(OTHER_METHODS),
    route("seal", "Makes the server forget its key.", &[
        write("seal", "Seal the server.", SEAL, seal::seal),
    ]).sudo(),
    route("key-status", "Tells about the key that seals what is stored.", &[
        read("encryption-key-status", "Read its number, its age and how much it has sealed.", keys::status),
    ]),
    route("rotate", "Adds a key, which seals what is stored from now on.", &[
        write("rotate-encryption-key", "Add a key.", &[], keys::rotate),
    ]).sudo(),
    undescribed("rotate/keyring", &[
        write("", "", &[], keys::rotate),
    ]).sudo(),
    route("rotate/config", "Says when the server adds a key by itself.", &[
        read("encryption-key-read-rotation-configuration", "Read when.", keys::read_policy),
        write("encryption-key-configure-rotation", "Set when.", ROTATION, keys::write_policy),
    ]),
    undescribed("rotate/keyring/config", &[
        read("", "", keys::read_policy),
        write("", "", ROTATION, keys::write_policy),
    ]),
    undescribed("rotate/root/init", &[
        read("", "", |call| with_token(call, Asked::rekey_progress)),
        write("", "", REKEY, |call| with_token(call, Asked::begin_rekey)),
        delete("", "", |call| with_token(call, Asked::cancel_rekey)),
    ]).sudo(),
    undescribed("rotate/root/update", &[
        write("", "", GIVEN, |call| with_token(call, Asked::give_for_rekey)),
    ]).sudo(),
    undescribed("rotate/root/verify", &[
        read("", "", |call| with_token(call, Asked::verification_progress)),
        write("", "", GIVEN, |call| with_token(call, Asked::verify)),
        delete("", "", |call| with_token(call, Asked::restart_verification)),
    ]).sudo(),
    undescribed("rotate/root/backup", &[
        read("", "", |call| with_token(call, ceremonies::backup)),
        delete("", "", |call| with_token(call, ceremonies::delete_backup)),
    ]).sudo(),
    undescribed("rotate/recovery/{path}", &[]).capturing(&[ANY_PATH]).otherwise(Handler::Envelope(ceremonies::no_recovery_keys_to_rotate)),
    route("generate-root/attempt", "Lets holders of shares make a root token.", &[
        unadmitted(Verb::Get, "root-token-generation-progress", "Read how far they are.", |asked| bare(asked, Asked::root_progress)),
        unadmitted(Verb::Post, "root-token-generation-initialize", "Begin.", |asked| bare(asked, Asked::begin_root)).sending(ONE_TIME_PASSWORD),
        unadmitted(Verb::Delete, "root-token-generation-cancel", "Give it up.", |asked| bare(asked, Asked::cancel_root)),
    ]).open().otherwise(OTHER_STEPS),
    undescribed("generate-root-token/attempt", &[
        unadmitted(Verb::Get, "", "", |asked| in_envelope(asked, Asked::root_progress)),
        unadmitted(Verb::Post, "", "", |asked| in_envelope(asked, Asked::begin_root)).sending(ONE_TIME_PASSWORD),
        unadmitted(Verb::Delete, "", "", |asked| in_envelope(asked, Asked::cancel_root)),
    ]).open().otherwise(OTHER_STEPS),
    route("generate-root/update", "Takes the shares for a root token, one by one.", &[
        unadmitted(Verb::Post, "root-token-generation-update", "Give a share.", |asked| bare(asked, Asked::give_for_root)).sending(GIVEN),
    ]).open().otherwise(OTHER_STEPS),
    undescribed("generate-root-token/update", &[
        unadmitted(Verb::Post, "", "", |asked| in_envelope(asked, Asked::give_for_root)).sending(GIVEN),
    ]).open().otherwise(OTHER_STEPS),
    route("rekey/init", "Lets holders of shares make new ones.", &[
        unadmitted(Verb::Get, "rekey-attempt-read-progress", "Read how far they are.", |asked| bare(asked, Asked::rekey_progress)),
        unadmitted(Verb::Post, "rekey-attempt-initialize", "Begin.", |asked| bare(asked, Asked::begin_rekey)).sending(REKEY),
        unadmitted(Verb::Delete, "rekey-attempt-cancel", "Give it up.", |asked| bare(asked, Asked::cancel_rekey)),
    ]).open().otherwise(OTHER_STEPS),
    route("rekey/update", "Takes the present shares for new ones, one by one.", &[
        unadmitted(Verb::Post, "rekey-attempt-update", "Give a share.", |asked| bare(asked, Asked::give_for_rekey)).sending(GIVEN),
    ]).open().otherwise(OTHER_STEPS),
    route("rekey/verify", "Takes the new shares, to see that their holders have them.", &[
        unadmitted(Verb::Get, "rekey-verification-read-progress", "Read how far they are.", |asked| bare(asked, Asked::verification_progress)),
        unadmitted(Verb::Post, "rekey-verification-update", "Give a new share.", |asked| bare(asked, Asked::verify)).sending(GIVEN),
        unadmitted(Verb::Delete, "rekey-verification-cancel", "Begin the verification anew.", |asked| bare(asked, Asked::restart_verification)),
    ]).open().otherwise(OTHER_STEPS),
    undescribed("rekey/backup", &[
        unadmitted(Verb::Get, "", "", |asked| bare(asked, ceremonies::backup)),
        unadmitted(Verb::Delete, "", "", |asked| bare(asked, ceremonies::delete_backup)),
    ]).open().otherwise(OTHER_STEPS),
    undescribed("rekey/recovery-key-backup", &[]).open().otherwise(NO_RECOVERY_KEYS),
    undescribed("rekey-recovery-key/{path}", &[]).capturing(&[ANY_PATH]).open().otherwise(NO_RECOVERY_KEYS),
    route("audit", "Lists where requests are recorded.", &[
        read("auditing-list-enabled-devices", "List the sinks.", audit::list),
    ]).sudo(),
    route("audit/{path}", "Refuses to change where requests are recorded: the configuration file says that.", &[
        write("auditing-enable-device", "Enable a sink.", &[], audit::refuse_enabling).answering(Success::Refusal),
        delete("auditing-disable-device", "Disable a sink; one that is not there is as good as disabled.", audit::refuse_disabling),
    ]).capturing(&[SINK]).sudo(),
    route("audit-hash/{path}", "Says what the records of a sink show in the place of a text.", &[
        ask("auditing-calculate-hash", "Hash a text as a sink does.", &[text("input", "The text.").required()], audit::hash),
    ]).capturing(&[SINK]),
];
