//! `gatehouse status` and `gatehouse health`: how a running server is. Neither needs a token.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use clap::Args;
use http::{Request, Response};
use http_body_util::Full;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::client::RemoteServer;

/// How long a person waits for an answer.
const STATUS_TIMEOUT: Duration = Duration::from_secs(30);

const SEAL_STATUS: &str = "/v1/sys/seal-status";
const HEALTH: &str = "/v1/sys/health";
/// The description of the API, in which the server's own version stands: the one of the seal's status is that which clients are to take it for.
const DESCRIPTION: &str = "/api/v2/openapi.json";

/// The type of the seal of a server whose key is in a file.
const KEY_FILE: &str = "static";

pub(super) const STATUS_HELP: &str = "\
Exit codes: 0 the server is initialized and unsealed, 1 it could not be asked, 2 it is sealed or not initialized, 64 the command line is not \
understood.";

pub(super) const HEALTH_HELP: &str = "\
Exit codes: 0 the server can serve, 1 it cannot (it is sealed, not initialized or without its store) or could not be asked, 64 the command \
line is not understood. \
Made for the probes of container images, which have no curl.";

#[derive(Debug, Args)]
pub(super) struct StatusArguments {
    #[command(flatten)]
    server: RemoteServer,
    /// Prints one line of JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct HealthArguments {
    #[command(flatten)]
    server: RemoteServer,
    /// How long to wait for the answer, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=600))]
    timeout: u64,
}

/// The stages of a server, from a new one to one that serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum State {
    NotInitialized,
    Sealed,
    Ready,
}

impl State {
    const fn from_status(status: &SealStatus) -> Self {
        match (status.initialized, status.sealed) {
            (false, _) => Self::NotInitialized,
            (true, true) => Self::Sealed,
            (true, false) => Self::Ready,
        }
    }

    /// The word, with what leads on under this type of seal.
    fn in_words(self, seal_type: &str) -> &'static str {
        match self {
            Self::NotInitialized => {
                "not initialized: send PUT /v1/sys/init; where a hash of the first root token is set, with that token"
            }
            Self::Sealed if seal_type == KEY_FILE => "sealed: start it anew, its key is in a file",
            Self::Sealed => "sealed: unseal it with its shares",
            Self::Ready => "ready",
        }
    }

    fn exit_code(self) -> ExitCode {
        match self {
            Self::Ready => ExitCode::SUCCESS,
            Self::NotInitialized | Self::Sealed => ExitCode::from(2),
        }
    }
}

/// The members of `sys/seal-status` that are shown.
#[derive(Debug, Deserialize)]
struct SealStatus {
    #[serde(rename = "type")]
    seal_type: String,
    initialized: bool,
    sealed: bool,
    /// How many shares unseal.
    t: u32,
    /// How many shares there are.
    n: u32,
    /// How many were given.
    progress: u32,
    version: String,
    cluster_name: Option<String>,
    cluster_id: Option<String>,
    storage_type: String,
}

/// The member of the API's description that is shown.
#[derive(Debug, Deserialize)]
struct Description {
    info: DescriptionInfo,
}

#[derive(Debug, Deserialize)]
struct DescriptionInfo {
    version: String,
}

/// The line for programs.
#[derive(Debug, Serialize)]
struct Report<'a> {
    address: &'a str,
    state: State,
    seal_type: &'a str,
    shares: u32,
    threshold: u32,
    progress: u32,
    server_version: Option<&'a str>,
    /// The version that clients are to take the server for.
    version: &'a str,
    cluster_name: Option<&'a str>,
    cluster_id: Option<&'a str>,
    storage_type: &'a str,
}

pub(super) async fn status(arguments: StatusArguments) -> Result<ExitCode> {
    let server = &arguments.server;
    let answer = server
        .send(get(server, SEAL_STATUS)?, STATUS_TIMEOUT)
        .await?;
    let status = read(&answer)?;
    let version = own_version(server).await;
    let (address, version) = (server.address().as_str(), version.as_deref());
    let text = if arguments.json {
        in_json(address, version, &status)?
    } else {
        in_lines(address, version, &status)
    };
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(State::from_status(&status).exit_code())
}

pub(super) async fn health(arguments: HealthArguments) -> Result<()> {
    let server = &arguments.server;
    let time = Duration::from_secs(arguments.timeout);
    let answer = server.send(get(server, HEALTH)?, time).await?;
    judge(&answer)
}

/// The version of the server's program; `None` where the server does not tell it, which is no reason to tell nothing.
async fn own_version(server: &RemoteServer) -> Option<String> {
    let request = get(server, DESCRIPTION).ok()?;
    let answer = server.send(request, STATUS_TIMEOUT).await.ok()?;
    read_own_version(&answer)
}

fn read_own_version(answer: &Response<Bytes>) -> Option<String> {
    if !answer.status().is_success() {
        return None;
    }
    let description: Description = serde_json::from_slice(answer.body()).ok()?;
    Some(description.info.version)
}

fn get(server: &RemoteServer, path: &str) -> Result<Request<Full<Bytes>>> {
    let request = Request::get(server.target(path).as_str());
    Ok(request.body(Full::default())?)
}

/// Refuses all statuses but the one of a server that serves.
fn judge(answer: &Response<Bytes>) -> Result<()> {
    let status = answer.status();
    let body: Value = serde_json::from_slice(answer.body()).unwrap_or_default();
    match status.as_u16() {
        200 => Ok(()),
        501 => bail!("the server is not initialized"),
        503 if is_sealed(&body) => bail!("the server is sealed"),
        503 => bail!("the server cannot serve now: {}", why_not_now(&body)),
        _ => bail!("the server answered {status}"),
    }
}

/// Tells whether this answer of `sys/health` is that of a sealed server: others have the same status.
pub(super) fn is_sealed(health: &Value) -> bool {
    health.get("sealed") == Some(&Value::Bool(true))
}

/// Why a server that is not sealed cannot serve, by its answer.
pub(super) fn why_not_now(health: &Value) -> String {
    let errors = health.get("errors").and_then(Value::as_array);
    let errors = errors.into_iter().flatten().filter_map(Value::as_str);
    let errors: Vec<String> = errors.map(on_one_line).collect();
    match errors.is_empty() {
        true => {
            "it has too much to do, or does not reach its database; its log says which".to_owned()
        }
        false => errors.join("; "),
    }
}

fn read(answer: &Response<Bytes>) -> Result<SealStatus> {
    if !answer.status().is_success() {
        bail!("the server answered {}; its log says why", answer.status());
    }
    serde_json::from_slice(answer.body())
        .context("the answer is no seal status; is there a Gatehouse server at this address?")
}

fn in_json(address: &str, own_version: Option<&str>, status: &SealStatus) -> Result<String> {
    let report = Report {
        address,
        state: State::from_status(status),
        seal_type: &status.seal_type,
        shares: status.n,
        threshold: status.t,
        progress: status.progress,
        server_version: own_version,
        version: &status.version,
        cluster_name: status.cluster_name.as_deref(),
        cluster_id: status.cluster_id.as_deref(),
        storage_type: &status.storage_type,
    };
    Ok(format!("{}\n", serde_json::to_string(&report)?))
}

fn in_lines(address: &str, own_version: Option<&str>, status: &SealStatus) -> String {
    let seal = if status.sealed && status.t > 1 {
        format!(
            "{}, {} of {} needed shares given",
            status.seal_type, status.progress, status.t
        )
    } else if status.n > 1 {
        format!(
            "{}, {} of {} shares unseal",
            status.seal_type, status.t, status.n
        )
    } else {
        status.seal_type.clone()
    };
    let unknown = "not known before the server is unsealed";
    let lines = [
        ("Address", address),
        (
            "State",
            State::from_status(status).in_words(&status.seal_type),
        ),
        ("Seal", seal.as_str()),
        ("Version", own_version.unwrap_or("not told by the server")),
        ("Version for clients", status.version.as_str()),
        ("Cluster", status.cluster_name.as_deref().unwrap_or(unknown)),
        (
            "Cluster id",
            status.cluster_id.as_deref().unwrap_or(unknown),
        ),
        ("Storage", status.storage_type.as_str()),
    ];
    let lines = lines.map(|(name, value)| format!("{name:<21}{}\n", on_one_line(value)));
    lines.concat()
}

/// A text of the server, which is not trusted, without characters that would move a terminal's cursor.
fn on_one_line(text: &str) -> String {
    let shown = |it: char| if it.is_control() { '?' } else { it };
    text.chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer(status: u16, body: &Value) -> Response<Bytes> {
        let body = Bytes::from(body.to_string());
        Response::builder().status(status).body(body).unwrap()
    }

    fn seal(initialized: bool, sealed: bool) -> Value {
        json!({
            "type": "shamir", "initialized": initialized, "sealed": sealed, "t": 2, "n": 3, "progress": 1, "nonce": "",
            "version": "1.21.0", "build_date": "1970-01-01T00:00:00Z", "migration": false, "recovery_seal": false,
            "storage_type": "gatehouse",
        })
    }

    #[test]
    fn each_stage_has_its_word_and_its_exit_code() {
        for (initialized, sealed, word, code) in [
            (false, true, "not-initialized", 2),
            (true, true, "sealed", 2),
            (true, false, "ready", 0),
        ] {
            let status = read(&answer(200, &seal(initialized, sealed))).unwrap();
            let told = in_json("http://here", Some("0.1.0"), &status).unwrap();
            let told: Value = serde_json::from_str(&told).unwrap();
            assert_eq!(told["state"], word);
            assert_eq!(told["server_version"], "0.1.0");
            assert_eq!(told["version"], "1.21.0");
            assert_eq!(told["cluster_name"], Value::Null);
            let exit = State::from_status(&status).exit_code();
            assert_eq!(format!("{exit:?}"), format!("{:?}", ExitCode::from(code)));
        }
    }

    #[test]
    fn a_person_is_told_how_many_shares_were_given_and_who_the_server_is() {
        let sealed = read(&answer(200, &seal(true, true))).unwrap();
        let text = in_lines("http://here", None, &sealed);
        assert!(text.contains("1 of 2 needed shares given"), "{text}");
        assert!(text.contains("Version              not told"), "{text}");
        let mut unsealed = seal(true, false);
        unsealed["cluster_name"] = json!("gatehouse-\u{1b}[2Jcluster");
        let own = Some("0.1.0");
        let text = in_lines("http://here", own, &read(&answer(200, &unsealed)).unwrap());
        assert!(text.contains("Version              0.1.0\n"), "{text}");
        assert!(text.contains("Version for clients  1.21.0\n"), "{text}");
        assert!(text.contains("State                ready\n"), "{text}");
        assert!(text.contains("2 of 3 shares unseal"), "{text}");
        assert!(text.contains("gatehouse-?[2Jcluster"), "{text}");
    }

    #[test]
    fn the_servers_own_version_is_that_of_its_description_and_may_be_missing() {
        let description = json!({"openapi": "3.0.3", "info": {"title": "x", "version": "0.1.0"}});
        let found = |status, body: &Value| read_own_version(&answer(status, body));
        assert_eq!(found(200, &description).as_deref(), Some("0.1.0"));
        assert_eq!(found(503, &description), None);
        assert_eq!(found(200, &json!({"info": "0.1.0"})), None);
        assert_eq!(found(200, &json!([])), None);
    }

    #[test]
    fn other_answers_are_no_status() {
        assert!(read(&answer(500, &seal(true, false))).is_err());
        let stranger = read(&answer(200, &json!({"hello": 1}))).unwrap_err();
        assert!(stranger.to_string().contains("Gatehouse"), "{stranger}");
    }

    #[test]
    fn only_a_server_that_serves_is_healthy() {
        judge(&answer(200, &json!({}))).unwrap();
        for status in [204, 301, 404, 429, 472, 500, 501, 503] {
            assert!(judge(&answer(status, &json!({}))).is_err());
        }
        let told = |body| judge(&answer(503, &body)).unwrap_err().to_string();
        assert_eq!(told(json!({"sealed": true})), "the server is sealed");
        let away = told(json!({"errors": ["the store is away"]}));
        assert_eq!(away, "the server cannot serve now: the store is away");
        assert!(told(Value::Null).contains("database"));
    }

    #[test]
    fn a_sealed_server_whose_key_is_in_a_file_has_no_shares() {
        let mut sealed = seal(true, true);
        sealed["type"] = json!("static");
        sealed["t"] = json!(1);
        sealed["n"] = json!(1);
        let text = in_lines("http://here", None, &read(&answer(200, &sealed)).unwrap());
        assert!(text.contains("start it anew"), "{text}");
        assert!(!text.contains("share"), "{text}");
    }
}
