//! Rules about settings that concern more than the form of one value.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use tracing_subscriber::filter::Targets;
use url::{Host, Url};

use super::sections::is_of_name;
use super::source::SettingError;
use super::{AuditSinkSettings, AuditSinkType, SealType, Settings, StorageSettings, StorageType};
use crate::{database, traces};

/// Every rule that the settings break.
pub(super) fn broken_rules(settings: &Settings) -> Vec<SettingError> {
    let mut problems = Vec::new();
    check_listener(settings, &mut problems);
    check_storage(settings, &mut problems);
    check_node(settings, &mut problems);
    check_telemetry(settings, &mut problems);
    check_seal(settings, &mut problems);
    check_bootstrap(settings, &mut problems);
    check_google(settings, &mut problems);
    check_audit(settings, &mut problems);
    check_texts(settings, &mut problems);
    problems
}

fn check_listener(settings: &Settings, problems: &mut Vec<SettingError>) {
    let listener = &settings.listener;
    match (&listener.tls_cert_file, &listener.tls_key_file) {
        (Some(_), None) => problems.push(SettingError::new(
            "listener.tls_key_file",
            "missing; TLS needs the key of listener.tls_cert_file too",
        )),
        (None, Some(_)) => problems.push(SettingError::new(
            "listener.tls_cert_file",
            "missing; TLS needs the certificate of listener.tls_key_file too",
        )),
        (None, None) if !listener.address.ip().is_loopback() && !listener.allow_plain_http => {
            problems.push(SettingError::new(
                "listener.address",
                format!(
                    "{} can be reached from other machines and TLS is off; set listener.tls_cert_file and \
                     listener.tls_key_file, or listener.allow_plain_http = true where something in front speaks TLS",
                    listener.address
                ),
            ));
        }
        _ => {}
    }
    if let Some(url) = &listener.advertised_address
        && !is_origin(url)
    {
        problems.push(SettingError::new(
            "listener.advertised_address",
            "expected scheme, host and port alone, such as \"https://gatehouse.example.com:8200\"",
        ));
    }
    if settings.limits.target_bytes > settings.limits.header_bytes {
        problems.push(SettingError::new(
            "limits.target_bytes",
            "larger than limits.header_bytes, which includes the target; raise that one or lower this one",
        ));
    }
}

fn check_storage(settings: &Settings, problems: &mut Vec<SettingError>) {
    let storage = &settings.storage;
    match storage.kind {
        StorageType::Redb if storage.path.is_none() => problems.push(SettingError::new(
            "storage.path",
            "missing; name the directory of the durable store, or set storage.type = \"memory\" to keep nothing",
        )),
        StorageType::Postgresql if !database::IS_BUILT_IN => problems.push(SettingError::new(
            "storage.type",
            "this program was built without a client for PostgreSQL; take a release, or build it with `--features postgresql`",
        )),
        StorageType::Postgresql => check_database(storage, problems),
        _ => {}
    }
}

fn check_telemetry(settings: &Settings, problems: &mut Vec<SettingError>) {
    let Some(url) = &settings.telemetry.traces_url else {
        return;
    };
    if !traces::IS_BUILT_IN {
        problems.push(SettingError::new(
            "telemetry.traces_url",
            "this program was built without the export of traces; take a release, or build it with `--features otlp`",
        ));
    }
    if !matches!(url.scheme(), "http" | "https") {
        problems.push(SettingError::new(
            "telemetry.traces_url",
            "expected an address by http or https, such as \"http://127.0.0.1:4318/v1/traces\"",
        ));
    }
}

fn check_node(settings: &Settings, problems: &mut Vec<SettingError>) {
    let node = &settings.node;
    if let Some(name) = &node.name
        && (name.len() > 64 || !name.chars().all(is_of_name))
    {
        problems.push(SettingError::new(
            "node.name",
            "expected at most 64 letters, digits, `.`, `_` and `-`",
        ));
    }
    if node.address.as_ref().is_some_and(|url| !is_origin(url)) {
        problems.push(SettingError::new(
            "node.address",
            "expected scheme, host and port alone, such as \"https://one.gatehouse.example.com:8200\"",
        ));
    }
}

fn check_database(storage: &StorageSettings, problems: &mut Vec<SettingError>) {
    const FORM: &str = "postgresql://USER@HOST:PORT/DATABASE";
    let Some(url) = &storage.url else {
        let missing = format!("missing; name the database by {FORM}");
        return problems.push(SettingError::new("storage.url", missing));
    };
    let rest = ["postgresql://", "postgres://"];
    let rest = rest.iter().find_map(|scheme| url.strip_prefix(scheme));
    let Some(rest) = rest else {
        return problems.push(SettingError::new("storage.url", format!("expected {FORM}")));
    };
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let user = authority.rsplit_once('@').map(|(user, _)| user);
    if user.is_some_and(|user| user.contains(':')) || rest.contains("password=") {
        problems.push(SettingError::new(
            "storage.url",
            "holds a password; put that into a file and name it in storage.password_file",
        ));
    }
    if storage.path.is_some() {
        problems.push(SettingError::new(
            "storage.path",
            "not used with storage.type = \"postgresql\"; remove one of the two",
        ));
    }
}

fn check_seal(settings: &Settings, problems: &mut Vec<SettingError>) {
    let is_durable = settings.storage.kind != StorageType::Memory;
    if let (Some(directory), Some(witness)) = (&settings.storage.path, &settings.seal.witness)
        && is_durable
        && absolute(witness).starts_with(absolute(directory))
    {
        problems.push(SettingError::new(
            "seal.witness",
            "inside storage.path; an old copy of that directory would bring an old witness with it, so keep it in another one",
        ));
    }
    if !is_durable && settings.seal.witness.is_some() {
        problems.push(SettingError::new(
            "seal.witness",
            "not used with storage.type = \"memory\", of which there are no old copies; remove one of the two",
        ));
    }
    match (settings.seal.kind, &settings.seal.key_file) {
        (SealType::KeyFile, None) if is_durable => problems.push(SettingError::new(
            "seal.key_file",
            "missing; `gatehouse operator seal-key FILE` makes a key file, and there is no built-in key; or set \
             seal.type = \"shamir\" for a key that people hold in shares",
        )),
        (SealType::KeyFile, Some(key_file)) if is_durable => {
            if let Some(directory) = &settings.storage.path
                && absolute(key_file).starts_with(absolute(directory))
            {
                problems.push(SettingError::new(
                    "seal.key_file",
                    "inside storage.path; a copy of the store would have its key with it, so keep it in another directory",
                ));
            }
        }
        (SealType::Shamir, Some(_)) => problems.push(SettingError::new(
            "seal.key_file",
            "not used with seal.type = \"shamir\", where shares are the key; remove one of the two",
        )),
        _ => {}
    }
}

fn check_audit(settings: &Settings, problems: &mut Vec<SettingError>) {
    let mut paths: HashSet<PathBuf> = HashSet::new();
    for sink in &settings.audit {
        let subject = format!("{}.path", sink.section());
        match (sink.kind, &sink.path) {
            (AuditSinkType::File, None) => problems.push(SettingError::new(
                subject,
                "missing; name the file of the log, or set type = \"stdout\"",
            )),
            (AuditSinkType::File, Some(path)) if !paths.insert(absolute(path)) => {
                problems.push(SettingError::new(
                    subject,
                    "another sink writes to this file; every log has one writer",
                ));
            }
            (AuditSinkType::Stdout, Some(_)) => problems.push(SettingError::new(
                subject,
                "standard output has no path; leave it out, or set type = \"file\"",
            )),
            _ => {}
        }
    }
    let on_stdout = |sink: &&AuditSinkSettings| sink.kind == AuditSinkType::Stdout;
    if let Some(second) = settings.audit.iter().filter(on_stdout).nth(1) {
        problems.push(SettingError::new(
            format!("{}.type", second.section()),
            "another sink writes to standard output; every log has one writer",
        ));
    }
}

fn absolute(path: &Path) -> PathBuf {
    path.canonicalize()
        .or_else(|_| std::path::absolute(path))
        .unwrap_or_else(|_| path.to_owned())
}

fn check_bootstrap(settings: &Settings, problems: &mut Vec<SettingError>) {
    if settings.bootstrap.file.is_none() {
        return;
    }
    if settings.bootstrap.root_token_hash.is_some() {
        problems.push(SettingError::new(
            "bootstrap.root_token_hash",
            "set together with bootstrap.file, which initializes the server and leaves no root token; leave one of them out",
        ));
    }
    if settings.seal.key_file.is_none() {
        problems.push(SettingError::new(
            "bootstrap.file",
            "needs seal.key_file: the holders of shares initialize a server, so use `gatehouse apply` after that",
        ));
    }
}

fn check_google(settings: &Settings, problems: &mut Vec<SettingError>) {
    let google = &settings.google;
    let urls = [
        ("google.token_url", &google.token_url),
        ("google.sts_url", &google.sts_url),
        ("google.iam_credentials_url", &google.iam_credentials_url),
    ];
    for (name, url) in urls {
        if let Some(message) = url
            .as_ref()
            .and_then(|url| fault_of_url(url, google.allow_http_loopback))
        {
            problems.push(SettingError::new(name, message));
        }
    }
    if !is_domain(&google.universe_domain) {
        problems.push(SettingError::new(
            "google.universe_domain",
            "expected a domain such as \"googleapis.com\", without scheme, port or path",
        ));
    }
    if let Some(host) = &google.metadata_host
        && !is_authority(host)
    {
        problems.push(SettingError::new(
            "google.metadata_host",
            "expected a host with an optional port, such as \"metadata.google.internal\" or \"127.0.0.1:8080\", here or in \
             GCE_METADATA_HOST",
        ));
    }
}

fn fault_of_url(url: &Url, allow_http_loopback: bool) -> Option<&'static str> {
    let loopback = match url.host()? {
        Host::Domain(name) => name.eq_ignore_ascii_case("localhost"),
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    };
    match url.scheme() {
        _ if !url.username().is_empty() || url.password().is_some() => {
            Some("remove the user name and password")
        }
        _ if url.query().is_some() || url.fragment().is_some() => {
            Some("remove what follows `?` or `#`")
        }
        "https" => None,
        "http" if loopback && allow_http_loopback => None,
        "http" if loopback => {
            Some("plain HTTP to this machine needs google.allow_http_loopback = true")
        }
        _ => Some("use https; secrets are sent there"),
    }
}

/// True if a URL is one of HTTP and names a server and nothing on it.
fn is_origin(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
        && url.path() == "/"
        && url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none()
}

fn is_authority(text: &str) -> bool {
    !text.contains('@') && text.parse::<http::uri::Authority>().is_ok()
}

fn is_domain(text: &str) -> bool {
    text.contains('.')
        && text.split('.').all(|label| {
            !label.is_empty()
                && label
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        })
}

fn check_texts(settings: &Settings, problems: &mut Vec<SettingError>) {
    let version = &settings.version.compatibility;
    let numbers = version.strip_suffix("+ent").unwrap_or(version);
    let numbers: Vec<&str> = numbers.split('.').collect();
    if numbers.len() != 3 || numbers.iter().any(|number| number.parse::<u16>().is_err()) {
        problems.push(SettingError::new(
            "version.compatibility",
            "expected three numbers such as \"1.21.0\", and \"+ent\" after them where clients are to send the fields of that edition; they parse it",
        ));
    }
    if settings.log.level.parse::<Targets>().is_err() {
        problems.push(SettingError::new(
            "log.level",
            "expected error, warn, info, debug or trace, or one for each module as in \"info,gatehouse=debug\"",
        ));
    }
    if settings
        .google
        .user_agent
        .parse::<http::HeaderValue>()
        .is_err()
    {
        problems.push(SettingError::new(
            "google.user_agent",
            "expected visible ASCII characters; it becomes a header",
        ));
    }
}
