//! The sections of the configuration, one struct each: the meaning, unit and default of every setting.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use gatehouse_access::RootTokenHash;
use gatehouse_orgs::Edition;
use ipnet::IpNet;
use url::Url;

use super::kind::SettingKind;
use super::source::Section;
use super::value::{Count, Interval, OrNone, SettingValue, named_choices};

/// `[listener]`: where clients are served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListenerSettings {
    /// Where to listen. Default `127.0.0.1:8200`.
    pub address: SocketAddr,
    /// PEM file with the certificate chain, leaf first. Together with `tls_key_file` it turns TLS on.
    pub tls_cert_file: Option<PathBuf>,
    /// PEM file with the private key of the certificate.
    pub tls_key_file: Option<PathBuf>,
    /// Proxies whose `X-Forwarded-For` is believed. Default none: the address of the connection counts (SEC-H9).
    pub trusted_proxies: Vec<IpNet>,
    /// Largest request body in bytes. Default 1 MiB (SEC-H1).
    pub body_limit: usize,
    /// Allows plain HTTP on an address that other machines can reach. Default false (SEC-H7).
    pub allow_plain_http: bool,
    /// Address at which others reach this server, such as `https://gatehouse.example.com:8200`: scheme, host and port. Without it, where it
    /// listens, unless that is every address of the machine.
    pub advertised_address: Option<Url>,
}

impl ListenerSettings {
    pub(super) fn read(section: &mut Section<'_>) -> Self {
        Self {
            address: section.value("address", SocketAddr::from((Ipv4Addr::LOCALHOST, 8200))),
            tls_cert_file: section.optional("tls_cert_file"),
            tls_key_file: section.optional("tls_key_file"),
            trusted_proxies: section.value("trusted_proxies", Vec::new()),
            body_limit: section.size("body_limit", 1 << 20),
            allow_plain_http: section.value("allow_plain_http", false),
            advertised_address: section.optional("advertised_address"),
        }
    }

    /// Scheme, host and port by which others reach a server that listens on `local_address`; `None` where the settings do not tell.
    #[must_use]
    pub fn advertised(&self, local_address: SocketAddr) -> Option<String> {
        if let Some(url) = &self.advertised_address {
            return Some(url.origin().ascii_serialization());
        }
        let scheme = if self.tls_files().is_some() {
            "https"
        } else {
            "http"
        };
        (!local_address.ip().is_unspecified()).then(|| format!("{scheme}://{local_address}"))
    }

    /// Certificate file and key file, when TLS is on.
    #[must_use]
    pub fn tls_files(&self) -> Option<(PathBuf, PathBuf)> {
        self.tls_cert_file.clone().zip(self.tls_key_file.clone())
    }
}

/// The kinds of store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StorageType {
    /// Nothing survives the process.
    Memory,
    /// The embedded durable store.
    Redb,
    /// A database that speaks PostgreSQL's protocol.
    Postgresql,
}

named_choices!(
    StorageType,
    "\"memory\", \"redb\" or \"postgresql\"",
    Memory = "memory",
    Redb = "redb",
    Postgresql = "postgresql",
);

impl StorageType {
    /// The word of the protocol for this kind of store: Vault's own where it has the same kind.
    #[must_use]
    pub const fn name_for_clients(self) -> &'static str {
        match self {
            Self::Memory => "inmem",
            Self::Redb => "redb",
            Self::Postgresql => "postgresql",
        }
    }
}

/// `[storage]`: where records are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorageSettings {
    /// The kind of store. Default `redb`.
    pub kind: StorageType,
    /// Directory of the durable store. Needed for `redb`.
    pub path: Option<PathBuf>,
    /// Address of the database, `postgresql://USER@HOST:PORT/DATABASE`, with several hosts separated by commas, of which the primary is
    /// used. Without a password. Needed for `postgresql`.
    pub url: Option<String>,
    /// File with the password of the database's user, readable by its owner alone. None by default.
    pub password_file: Option<PathBuf>,
    /// PEM file with certificate authorities that are trusted for the database beside those of the operating system.
    pub ca_file: Option<PathBuf>,
    /// Most connections to the database at one time, beside two of the server's own. Default 16.
    pub connections: usize,
    /// True if a start makes the tables in the database or brings them up to date, which its user needs the right to do. Default false:
    /// `gatehouse operator database migrate` does it.
    pub migrate: bool,
}

impl StorageSettings {
    pub(super) fn read(section: &mut Section<'_>) -> Self {
        Self {
            kind: section.value("type", StorageType::Redb),
            path: section.optional("path"),
            url: section.optional("url"),
            password_file: section.optional("password_file"),
            ca_file: section.optional("ca_file"),
            connections: section.count("connections", 16),
            migrate: section.value("migrate", false),
        }
    }
}

/// `[node]`: this server among those that share its store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeSettings {
    /// The name that `sys/ha-status` and the audit log show, of letters, digits, `.`, `_` and `-`. Default: the name of the machine.
    pub name: Option<String>,
    /// Address at which clients reach this one server and no other, such as `https://one.gatehouse.example.com:8200`: scheme, host and port.
    /// Default: `listener.advertised_address`, which behind a load balancer is the address of all.
    pub address: Option<Url>,
}

impl NodeSettings {
    pub(super) fn read(section: &mut Section<'_>) -> Self {
        Self {
            name: section.optional("name"),
            address: section.optional("address"),
        }
    }

    /// The name of this server: at most 64 characters that need no quotes anywhere.
    #[must_use]
    pub fn name(&self) -> String {
        let machine = || std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let name = self.name.clone().unwrap_or_else(machine);
        let fits = |character: &char| is_of_name(*character);
        let name: String = name.trim().chars().filter(fits).take(64).collect();
        if name.is_empty() {
            return "unnamed".to_owned();
        }
        name
    }
}

/// True if a character may be part of the name of a server.
pub(super) const fn is_of_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-')
}

/// The kinds of seal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SealType {
    /// The server reads the root key from a file at every start.
    KeyFile,
    /// People hold the root key in shares and unseal the server after every start.
    Shamir,
}

named_choices!(
    SealType,
    "\"key-file\" or \"shamir\"",
    KeyFile = "key-file",
    Shamir = "shamir"
);

/// `[seal]`: what unlocks the stored records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealSettings {
    /// The kind of seal. Default `key-file`. A store keeps its kind until `gatehouse operator seal migrate` changes it.
    pub kind: SealType,
    /// File with the root key, readable by its owner alone and outside the directory of the store (SEC-K2).
    /// Needed for the kind `key-file` and every store that outlives the process.
    pub key_file: Option<PathBuf>,
    /// File that records the counter of the store, outside the directory of the store, so that an old copy of the store is refused at the
    /// start (SEC-K9). Made where it is missing. None by default: then an old copy is not noticed.
    pub witness: Option<PathBuf>,
}

impl SealSettings {
    pub(super) fn read(section: &mut Section<'_>) -> Self {
        Self {
            kind: section.value("type", SealType::KeyFile),
            key_file: section.optional("key_file"),
            witness: section.optional("witness"),
        }
    }
}

/// `[bootstrap]`: the first start of a server, decided before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BootstrapSettings {
    /// The hash of the first root token, as `gatehouse operator root-token` prints it. With it, only a request with that
    /// token initializes the server; without it, the first request does. It has no effect on an initialized server. None by default.
    pub root_token_hash: Option<RootTokenHash>,
    /// A description as `gatehouse apply` takes it. The first start initializes the server and applies it before it serves clients, and
    /// leaves no root token; a start that was interrupted is continued by the next. Needs `seal.key_file`, and takes the place of
    /// `root_token_hash`. It has no effect on a server that is initialized. None by default.
    pub file: Option<PathBuf>,
}

impl BootstrapSettings {
    pub(super) fn read(section: &mut Section<'_>) -> Self {
        Self {
            root_token_hash: section.optional("root_token_hash"),
            file: section.optional("file"),
        }
    }
}

impl SettingValue for Edition {
    const EXPECTED: &'static str = "\"hosted\" or \"self-hosted\"";
    const KIND: &'static SettingKind =
        &SettingKind::Choice(&[Self::Hosted.as_str(), Self::SelfHosted.as_str()]);

    fn from_text(text: &str) -> Option<Self> {
        Self::from_text(text)
    }

    fn to_text(&self) -> String {
        format!("{:?}", self.as_str())
    }
}

/// `[organizations]`: how the organizations API presents itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrganizationsSettings {
    /// The product to behave like. Default `hosted`.
    pub edition: Edition,
    /// True if bodies must be of the type `application/vnd.api+json`, not `application/json`, and writes without a body must name
    /// it too, as that product insists. Default false.
    pub strict_media_type: bool,
}

impl OrganizationsSettings {
    pub(super) fn read(section: &mut Section<'_>) -> Self {
        Self {
            edition: section.value("edition", Edition::Hosted),
            strict_media_type: section.value("strict_media_type", false),
        }
    }
}

/// `[version]`: the release that is told to clients that switch features on by version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionSettings {
    /// The version that the status endpoints show, as plain `X.Y.Z` (contract 6.2), with `+ent` after it where clients are to send fields
    /// that they take for those of the enterprise edition. Default `1.21.0`.
    pub compatibility: String,
}

impl VersionSettings {
    pub(super) fn read(section: &mut Section<'_>) -> Self {
        Self {
            compatibility: section.value("compatibility", "1.21.0".to_owned()),
        }
    }
}

/// `[components]`: how the WebAssembly components are prepared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComponentsSettings {
    /// Directory for compiled code, so that later starts are quick and take less memory. Without it, the user's cache directory.
    pub cache_directory: Option<PathBuf>,
}

impl ComponentsSettings {
    pub(super) fn read(section: &mut Section<'_>) -> Self {
        Self {
            cache_directory: section.optional("cache_directory"),
        }
    }
}

/// `[console]`: pages for people below `/ui/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsoleSettings {
    /// True if the pages are served. Default false.
    pub enabled: bool,
    /// How long a visitor's session lives without a request. However much it is used, it ends twelve hours after signing in, or after this
    /// time where that is longer. Default 15 min.
    pub idle_timeout: Duration,
}

impl ConsoleSettings {
    pub(super) fn read(section: &mut Section<'_>) -> Self {
        Self {
            enabled: section.value("enabled", false),
            idle_timeout: section.value("idle_timeout", Duration::from_secs(15 * 60)),
        }
    }
}

/// `[limits]`: the bounds of a request, a connection and the whole server. The defaults are those of SEC section 2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitsSettings {
    /// Bytes of a request's header block, target included. Default 16 KiB.
    pub header_bytes: usize,
    /// Fields of a request's header block. Default 100.
    pub header_fields: usize,
    /// Bytes of a request's target. Default 8 KiB.
    pub target_bytes: usize,
    /// From the first byte of a header block to its last. Default 10 s.
    pub header_timeout: Duration,
    /// From the end of the header block to the end of the body. Default 30 s.
    pub body_timeout: Duration,
    /// From the end of the header block to the answer. Default 90 s.
    pub request_timeout: Duration,
    /// How long a connection may be without a request. Default 60 s.
    pub idle_timeout: Duration,
    /// From accepting a connection to the end of the TLS handshake. Default 10 s.
    pub tls_handshake_timeout: Duration,
    /// Connections at one time. Default 10,000.
    pub connections: usize,
    /// Connections at one time from one address (IPv6: one /64), trusted proxies aside. Default 500.
    pub connections_per_address: usize,
    /// HTTP/2 streams at one time on one connection. Default 100.
    pub http2_streams: usize,
    /// HTTP/2 streams that a client may abandon at once on one connection. Default 100.
    pub http2_resets: usize,
    /// How many more it may abandon each second after that. Default 33.
    pub http2_resets_per_second: usize,
    /// How long requests may continue after the signal to stop. Default 30 s (SEC-O1).
    pub drain_timeout: Duration,
    /// Component instances at one time, and so requests in progress. Default 64.
    pub instances: usize,
    /// Requests that one instance serves, one after the other, before it is thrown away. 1 means a fresh instance
    /// for every request. Default 10,000.
    pub instance_reuse: usize,
    /// Memory of one component instance, and so what one call of it may hand over to the host. Default 64 MiB.
    pub instance_memory: usize,
    /// Computing time of a component for one request. Default 1 s.
    pub instance_cpu_time: Duration,
    /// Time of a component for one request, waiting included. Default 30 s.
    pub instance_wall_time: Duration,
    /// Requests that may wait for an instance; those beyond get 503. Default 1,024.
    pub queue: usize,
    /// From the start of an outgoing call to its connection. Default 5 s.
    pub outbound_connect_timeout: Duration,
    /// Whole outgoing call. Default 10 s.
    pub outbound_timeout: Duration,
    /// Bytes of the answer to an outgoing call. Default 8 MiB.
    pub outbound_response_bytes: usize,
    /// Outgoing calls in flight to one host. Default 64.
    pub outbound_calls_per_host: usize,
    /// Logins in a second from one address (IPv6: one /64), in the long run; `None` means no limit. Default 50 (SEC-R1).
    pub login_rate_per_source: Option<usize>,
    /// Logins at once from one address that has been idle. Default 100.
    pub login_burst_per_source: usize,
    /// Logins in a second at one mount, in the long run; `None` means no limit. Default 5,000.
    pub login_rate_per_mount: Option<usize>,
    /// Logins at once at one mount that has been idle. Default 10,000.
    pub login_burst_per_mount: usize,
    /// Service tokens of logins that may live at once at one mount; `None` means no limit. Default 1,000,000 (SEC-T12).
    pub live_tokens_per_mount: Option<usize>,
    /// Service tokens of logins that may live at once under one role of a mount; `None` means no limit. Default none.
    pub live_tokens_per_role: Option<usize>,
    /// Entities that may be created by the aliases that tokens of one token role name; `None` means no limit. Default 10,000.
    pub entities_per_token_role: Option<usize>,
    /// True if requests of the organizations API are limited for each caller: 30 a second, unless a site administrator says
    /// otherwise through that API. Default true.
    pub api_rate_limiting: bool,
    /// From one run of background work to the next, give or take a tenth; 0 means never. Default 60 s.
    pub background_interval: Option<Duration>,
    /// Computing time of one run of background work. Default 30 s.
    pub background_cpu_time: Duration,
    /// Time of one run of background work, waiting included. Default 2 min.
    pub background_wall_time: Duration,
}

impl LimitsSettings {
    pub(super) fn read(section: &mut Section<'_>) -> Self {
        let seconds = Duration::from_secs;
        Self {
            header_bytes: section.size("header_bytes", 16 << 10),
            header_fields: section.count("header_fields", 100),
            target_bytes: section.size("target_bytes", 8 << 10),
            header_timeout: section.value("header_timeout", seconds(10)),
            body_timeout: section.value("body_timeout", seconds(30)),
            request_timeout: section.value("request_timeout", seconds(90)),
            idle_timeout: section.value("idle_timeout", seconds(60)),
            tls_handshake_timeout: section.value("tls_handshake_timeout", seconds(10)),
            connections: section.count("connections", 10_000),
            connections_per_address: section.count("connections_per_address", 500),
            http2_streams: section.count("http2_streams", 100),
            http2_resets: section.count("http2_resets", 100),
            http2_resets_per_second: section.count("http2_resets_per_second", 33),
            drain_timeout: section.value("drain_timeout", seconds(30)),
            instances: section.count("instances", 64),
            instance_reuse: section.count("instance_reuse", 10_000),
            instance_memory: section.size("instance_memory", 64 << 20),
            instance_cpu_time: section.value("instance_cpu_time", seconds(1)),
            instance_wall_time: section.value("instance_wall_time", seconds(30)),
            queue: section.count("queue", 1_024),
            outbound_connect_timeout: section.value("outbound_connect_timeout", seconds(5)),
            outbound_timeout: section.value("outbound_timeout", seconds(10)),
            outbound_response_bytes: section.size("outbound_response_bytes", 8 << 20),
            outbound_calls_per_host: section.count("outbound_calls_per_host", 64),
            login_rate_per_source: section.count_or_none("login_rate_per_source", 50),
            login_burst_per_source: section.count("login_burst_per_source", 100),
            login_rate_per_mount: section.count_or_none("login_rate_per_mount", 5_000),
            login_burst_per_mount: section.count("login_burst_per_mount", 10_000),
            live_tokens_per_mount: section.count_or_none("live_tokens_per_mount", 1_000_000),
            live_tokens_per_role: section
                .value("live_tokens_per_role", OrNone::<Count>(None))
                .0
                .map(|count| count.0),
            entities_per_token_role: section.count_or_none("entities_per_token_role", 10_000),
            api_rate_limiting: section.value("api_rate_limiting", true),
            background_interval: section
                .value("background_interval", Interval(Some(seconds(60))))
                .0,
            background_cpu_time: section.value("background_cpu_time", seconds(30)),
            background_wall_time: section.value("background_wall_time", seconds(120)),
        }
    }
}

/// The forms of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

named_choices!(
    LogFormat,
    "\"text\" or \"json\"",
    Text = "text",
    Json = "json"
);

/// Where the access log goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccessLog {
    /// Nowhere: there is none.
    None,
    /// To standard output.
    Stdout,
    /// To standard error, among the other lines.
    Stderr,
    /// To the end of a file.
    File(PathBuf),
}

impl SettingValue for AccessLog {
    const EXPECTED: &'static str = "\"none\", \"stdout\", \"stderr\", or the absolute path of a file, such as \"/var/log/gatehouse/access.log\"";
    const KIND: &'static SettingKind = &SettingKind::Text;

    fn from_text(text: &str) -> Option<Self> {
        match text {
            "none" => Some(Self::None),
            "stdout" => Some(Self::Stdout),
            "stderr" => Some(Self::Stderr),
            // A word that is misspelled is no file.
            path => path.starts_with('/').then(|| Self::File(path.into())),
        }
    }

    fn to_text(&self) -> String {
        match self {
            Self::None => "\"none\"".to_owned(),
            Self::Stdout => "\"stdout\"".to_owned(),
            Self::Stderr => "\"stderr\"".to_owned(),
            Self::File(path) => path.to_text(),
        }
    }
}

/// `[log]`: the lines on standard error, and the access log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSettings {
    /// A level (`error`, `warn`, `info`, `debug`, `trace`), or one for each module as in `info,gatehouse=debug`.
    /// Default `info`.
    pub level: String,
    /// The form of a line. Default `text`.
    pub format: LogFormat,
    /// Where the access log goes, a line of JSON for each answer: `none`, `stdout`, `stderr`, or the absolute path of a file, which SIGHUP
    /// opens again. Default `none`.
    pub access: AccessLog,
}

impl LogSettings {
    pub(super) fn read(section: &mut Section<'_>) -> Self {
        Self {
            level: section.value("level", "info".to_owned()),
            format: section.value("format", LogFormat::Text),
            access: section.value("access", AccessLog::None),
        }
    }
}

/// `[telemetry]`: the traces that are exported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TelemetrySettings {
    /// Where spans are sent by OTLP over HTTP, with the whole path: `http://127.0.0.1:4318/v1/traces` for a collector beside the server. None
    /// by default: no traces are kept.
    pub traces_url: Option<Url>,
    /// Of the traces that begin here, one in this many is exported; of those that a client's `traceparent` names, the client decides.
    /// Default 1: all.
    pub traces_one_in: usize,
    /// PEM file with certificate authorities that are trusted for the collector beside those of the operating system.
    pub ca_file: Option<PathBuf>,
}

impl TelemetrySettings {
    pub(super) fn read(section: &mut Section<'_>) -> Self {
        Self {
            traces_url: section.optional("traces_url"),
            traces_one_in: section.count("traces_one_in", 1),
            ca_file: section.optional("ca_file"),
        }
    }
}
