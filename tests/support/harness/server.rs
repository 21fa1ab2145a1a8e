//! A server in a process of its own.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{LazyLock, OnceLock};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde::Deserialize;
use serde_json::Value;

use crate::program::Program;

/// The longest time that a server may take to say that it is ready. The first start compiles the components, and a busy machine takes
/// minutes for that; a server that ends instead is noticed at once.
const READY_WITHIN: Duration = Duration::from_secs(600);

/// Opens a connection for each request: servers are ended and started again behind its back. Making a client takes longer than a request.
static CLIENT: LazyLock<reqwest::blocking::Client> = LazyLock::new(|| {
    let client = reqwest::blocking::Client::builder().pool_max_idle_per_host(0);
    client.build().expect("a client can be made")
});

/// Keeps connections for the next request, but not for as long as servers do.
static KEEPING_CLIENT: LazyLock<reqwest::blocking::Client> = LazyLock::new(|| {
    let client = reqwest::blocking::Client::builder().pool_idle_timeout(Duration::from_secs(2));
    client.build().expect("a client can be made")
});

/// The `gatehouse` program in the profile of the tests, built once per test run.
pub fn gatehouse_binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| build("gatehouse"))
}

/// The host that serves components as Spin would, in the same profile.
pub fn spin_host_binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| build("gatehouse-spin-host"))
}

/// The root of the repository.
pub fn workspace() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_owned()
}

/// The workspace's target folder, where everything that tests make is put.
pub fn target_folder() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => workspace().join(folder),
        None => workspace().join("target"),
    }
}

/// The program of `package`, which is called like it.
///
/// For tests all packages are selected, as for `cargo run` and `cargo test`: with this one alone its dependencies would get other features,
/// and be compiled again.
///
/// # Panics
///
/// When it cannot be built: a test that cannot run is a failed test.
fn build(package: &str) -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .current_dir(workspace())
        .args(["build", "--bin", package])
        .arg("--target-dir")
        .arg(target_folder());
    let profile = if cfg!(debug_assertions) {
        "debug"
    } else {
        // Measurements are of the program that would be installed.
        command.args(["--release", "--package", package]);
        "release"
    };
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text == "CARGO_MANIFEST_DIR" {
            command.env_remove(&name);
        }
    }
    let output = command.output().expect("cargo can be run");
    assert!(
        output.status.success(),
        "building {package} failed:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    target_folder().join(profile).join(package)
}

/// A running `gatehouse`, ended with the test.
pub struct ServerProcess {
    child: Child,
    /// True if it leads a group of processes that are ended with it.
    leads_group: bool,
    address: String,
}

/// An answer, read whole.
#[derive(Debug)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The headers, with lower-case names.
    pub headers: Vec<(String, String)>,
    /// The body as it came.
    pub body: String,
}

impl Answer {
    /// The body as JSON; null when it is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }

    /// The first value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(candidate, _)| candidate == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The first error text of a `/v1` answer.
    pub fn error(&self) -> String {
        self.json()["errors"][0]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }
}

impl ServerProcess {
    /// Starts `program` for a configuration file and waits until it answers health checks at `address`. It writes its output to `output`.
    ///
    /// # Errors
    ///
    /// When it does not start or does not answer in time.
    pub fn start(
        program: &Program,
        configuration: &Path,
        address: &str,
        output: File,
    ) -> Result<Self> {
        let mut command = Command::new(&program.path);
        command
            .args(&program.arguments)
            .arg(configuration)
            .env("GATEHOUSE_LOG_LEVEL", "warn")
            .stdin(Stdio::null())
            .stdout(output);
        if program.has_children {
            command.process_group(0);
        }
        let child = command.spawn().context("cannot start gatehouse")?;
        let mut server = Self {
            child,
            leads_group: program.has_children,
            address: format!("http://{address}"),
        };
        let deadline = Instant::now() + READY_WITHIN;
        let health = format!("{}/v1/sys/health", server.address);
        while CLIENT.get(&health).send().is_err() {
            if let Some(status) = server.child.try_wait()? {
                bail!("gatehouse ended with {status}");
            }
            ensure!(Instant::now() < deadline, "gatehouse is not ready in time");
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// Scheme, host and port.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The id of the process, for tests that measure it or send it signals.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends the process as a power cut would: SIGKILL, nothing flushed.
    pub fn kill(&mut self) {
        if self.leads_group
            && let Ok(process) = self.process()
        {
            let _ = kill_process_group(process, Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Asks the process to end and waits for it; returns its exit code.
    ///
    /// # Errors
    ///
    /// When the signal cannot be sent.
    pub fn terminate(&mut self) -> Result<Option<i32>> {
        kill_process(self.process()?, Signal::TERM)?;
        Ok(self.child.wait()?.code())
    }

    fn process(&self) -> Result<Pid> {
        let id = i32::try_from(self.child.id())?;
        Pid::from_raw(id).context("no such process")
    }

    /// Sends a request with an optional token and JSON body, and reads the whole answer.
    pub fn send(
        &self,
        method: &str,
        path: &str,
        token: Option<&str>,
        body: Option<&Value>,
    ) -> Answer {
        send(&CLIENT, &self.address, method, path, token, body)
    }

    /// The same over a connection that is kept for further requests: for very many of them, to a server that is not ended meanwhile.
    pub fn send_and_keep(
        &self,
        method: &str,
        path: &str,
        token: Option<&str>,
        body: Option<&Value>,
    ) -> Answer {
        send(&KEEPING_CLIENT, &self.address, method, path, token, body)
    }
}

fn send(
    client: &reqwest::blocking::Client,
    address: &str,
    method: &str,
    path: &str,
    token: Option<&str>,
    body: Option<&Value>,
) -> Answer {
    let method = reqwest::Method::from_bytes(method.as_bytes()).expect("a method");
    let mut request = client.request(method, format!("{address}{path}"));
    if let Some(token) = token {
        request = request
            .header("X-Vault-Token", token)
            .header("Authorization", format!("Bearer {token}"));
    }
    if let Some(body) = body {
        request = request
            .header("Content-Type", "application/vnd.api+json")
            .body(body.to_string());
    }
    let response = request.send().expect("the server answers");
    let headers = response.headers().iter();
    Answer {
        status: response.status().as_u16(),
        headers: headers
            .map(|(name, value)| {
                let value = String::from_utf8_lossy(value.as_bytes());
                (name.as_str().to_owned(), value.into_owned())
            })
            .collect(),
        body: response.text().expect("the answer is text"),
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The output of `gatehouse dev --json` when it is ready.
#[derive(Debug, Clone, Deserialize)]
struct Ready {
    address: String,
    root_token: String,
    google: Google,
}

/// The Google that the dev command runs.
#[derive(Debug, Clone, Deserialize)]
pub struct Google {
    /// Scheme, host and port.
    pub address: String,
    /// Accounts with their keys.
    pub service_accounts: Vec<ServiceAccount>,
}

/// A service account with its key.
#[derive(Debug, Clone, Deserialize)]
pub struct ServiceAccount {
    /// Its e-mail address.
    pub email: String,
    /// Its numeric id.
    pub unique_id: String,
    /// Its project.
    pub project_id: String,
    /// The id of its key.
    pub kid: String,
    /// The key, PKCS#8 in PEM.
    pub private_key_pem: String,
}

/// A server started by `gatehouse dev`.
pub struct DevServer {
    /// The process.
    pub process: ServerProcess,
    /// The token of the operator.
    pub root_token: String,
    /// The Google beside it.
    pub google: Google,
    /// Ends the server when this program ends, also where this value is never dropped.
    _end: Child,
}

impl DevServer {
    /// Starts `gatehouse dev --json` on a free port, with further `arguments`.
    ///
    /// # Errors
    ///
    /// When it does not say in time that it is ready.
    pub fn start(arguments: &[&str]) -> Result<Self> {
        let mut child = Command::new(gatehouse_binary())
            .args(["dev", "--json", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start gatehouse dev")?;
        let end = Command::new("sh")
            .args(["-c", "read -r _; kill -KILL \"$0\""])
            .arg(child.id().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start a shell")?;
        let output = child.stdout.take().context("no standard output")?;
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut line = String::new();
            let _ = output.read_line(&mut line);
            let _ = sender.send(line);
            // Keeps the pipe open, so that the server never fails to write.
            let _ = output.read_to_end(&mut Vec::new());
        });
        let mut process = ServerProcess {
            child,
            leads_group: false,
            address: String::new(),
        };
        let line = receiver.recv_timeout(READY_WITHIN).unwrap_or_default();
        let ready: Ready = serde_json::from_str(&line)
            .with_context(|| format!("gatehouse dev did not say that it is ready, but {line:?}"))?;
        process.address = ready.address;
        Ok(Self {
            process,
            root_token: ready.root_token,
            google: ready.google,
            _end: end,
        })
    }

    /// Sends a request as the operator.
    pub fn as_root(&self, method: &str, path: &str, body: Option<&Value>) -> Answer {
        self.process
            .send(method, path, Some(&self.root_token), body)
    }
}
