//! OpenBao on the same core under the same load: its `jwt` method with a local key, which asks no other server.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use gatehouse_fake_google::{Claims, SigningKey};
use serde_json::{Value, json};

use crate::cores::Cores;
use crate::load::{Target, request};
use crate::report::{LOOKUP, PEER, Report};
use crate::{lookup_request, repeated};

/// The token that a server in memory is started with.
const ROOT_TOKEN: &str = "root";

/// The `bao` program: of the client tests' environment, or on the search path.
pub fn find() -> Option<PathBuf> {
    let search = std::env::var_os("PATH")?;
    let environment = gatehouse_tests::clients_folder().join("bin");
    std::iter::once(environment)
        .chain(std::env::split_paths(&search))
        .map(|folder| folder.join("bao"))
        .find(|program| program.is_file())
}

/// Measures logins and lookups, in memory and with the storage that its makers recommend.
///
/// # Errors
///
/// When the server does not start or does not answer as expected.
pub fn run(cores: &Cores, report: &mut Report, program: &Path) -> Result<()> {
    let server = Server::in_memory(cores, program)?;
    server.set_up()?;
    let logins = [
        ("login, service token, in memory", "service"),
        ("login, batch token, in memory", "batch"),
    ];
    for (work, role) in logins {
        let login = request("POST", "/v1/auth/jwt/login", None, &server.login(role)?);
        report.row(PEER, work, repeated(server.target, work, &login)?);
    }
    let lookup = lookup_request(&server.token()?);
    report.row(PEER, LOOKUP, repeated(server.target, LOOKUP, &lookup)?);
    let health = request("GET", "/v1/sys/health", None, "");
    report.row(
        PEER,
        "sys/health",
        repeated(server.target, "sys/health", &health)?,
    );
    drop(server);

    let server = Server::durable(cores, program)?;
    server.set_up()?;
    let login = request(
        "POST",
        "/v1/auth/jwt/login",
        None,
        &server.login("service")?,
    );
    let lookup = lookup_request(&server.token()?);
    let rows = [
        ("login, service token, durable", login),
        ("lookup-self, durable", lookup),
    ];
    for (work, request) in rows {
        report.row(PEER, work, repeated(server.target, work, &request)?);
    }
    Ok(())
}

struct Server {
    process: Child,
    target: Target,
    address: String,
    root_token: String,
    key: SigningKey,
    // Its store, where it has one.
    _folder: Option<tempfile::TempDir>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Server {
    fn in_memory(cores: &Cores, program: &Path) -> Result<Self> {
        let address = gatehouse_tests::free_address();
        let mut command = Command::new(program);
        command
            .args(["server", "-dev", "-dev-no-store-token", "-log-level=error"])
            .arg(format!("-dev-root-token-id={ROOT_TOKEN}"))
            .arg(format!("-dev-listen-address={address}"));
        let mut server = Self::start(cores, command, address, None)?;
        server.root_token = ROOT_TOKEN.to_owned();
        Ok(server)
    }

    /// One node with integrated storage, unsealed.
    fn durable(cores: &Cores, program: &Path) -> Result<Self> {
        let address = gatehouse_tests::free_address();
        let cluster = gatehouse_tests::free_address();
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("raft");
        std::fs::create_dir(&path)?;
        let configuration = json!({
            "storage": {"raft": {"path": path, "node_id": "one"}},
            "listener": {"tcp": {"address": address, "tls_disable": true}},
            "api_addr": format!("http://{address}"),
            "cluster_addr": format!("http://{cluster}"),
            "disable_mlock": true,
        });
        let file = folder.path().join("server.json");
        std::fs::write(&file, configuration.to_string())?;
        let mut command = Command::new(program);
        command
            .args(["server", "-log-level=error"])
            .arg(format!("-config={}", file.display()));
        let mut server = Self::start(cores, command, address, Some(folder))?;
        let made = server.post(
            "sys/init",
            &json!({"secret_shares": 1, "secret_threshold": 1}),
        )?;
        let share = &made["keys"][0];
        server.post("sys/unseal", &json!({"key": share}))?;
        server.root_token = made["root_token"].as_str().context("no token")?.to_owned();
        // It leads a cluster of one after some seconds.
        let deadline = Instant::now() + Duration::from_secs(60);
        while server
            .post("sys/capabilities-self", &json!({"path": "sys/auth"}))
            .is_err()
        {
            ensure!(Instant::now() < deadline, "OpenBao does not become active");
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(server)
    }

    fn start(
        cores: &Cores,
        mut command: Command,
        address: String,
        folder: Option<tempfile::TempDir>,
    ) -> Result<Self> {
        cores.enter_server_core()?;
        let process = command
            .env("GOMAXPROCS", "1")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        cores.enter_load_core()?;
        let target = Target {
            address: address.parse::<SocketAddr>()?,
            process: process.id(),
        };
        let server = Self {
            process,
            target,
            address,
            root_token: String::new(),
            key: SigningKey::generate("bench")?,
            _folder: folder,
        };
        wait_for(&server.address)?;
        Ok(server)
    }

    /// The method, and a role for each kind of token.
    fn set_up(&self) -> Result<()> {
        self.post("sys/auth/jwt", &json!({"type": "jwt"}))?;
        let certificate = self.key.certificate_pem();
        self.post(
            "auth/jwt/config",
            &json!({"jwt_validation_pubkeys": [certificate]}),
        )?;
        for kind in ["service", "batch"] {
            self.post(
                &format!("auth/jwt/role/{kind}"),
                &json!({
                    "role_type": "jwt", "user_claim": "sub", "bound_audiences": ["vault/dev"],
                    "token_policies": ["default"], "token_type": kind,
                }),
            )?;
        }
        Ok(())
    }

    /// The body of a login under the role.
    fn login(&self, role: &str) -> Result<String> {
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed()?.as_secs();
        let claims: Claims = serde_json::from_value(json!({
            "sub": "workload", "aud": "vault/dev", "iat": now, "exp": now + 900,
        }))?;
        Ok(json!({"role": role, "jwt": self.key.sign_jwt(&claims)?}).to_string())
    }

    /// A token of a login.
    fn token(&self) -> Result<String> {
        let body = serde_json::from_str(&self.login("service")?)?;
        let login = self.post("auth/jwt/login", &body)?;
        let token = login["auth"]["client_token"].as_str();
        Ok(token.context("no token")?.to_owned())
    }

    fn post(&self, path: &str, body: &Value) -> Result<Value> {
        let response = reqwest::blocking::Client::new()
            .post(format!("http://{}/v1/{path}", self.address))
            .header("X-Vault-Token", &self.root_token)
            .body(body.to_string())
            .send()
            .with_context(|| path.to_owned())?;
        let status = response.status();
        let text = response.text()?;
        ensure!(status.is_success(), "{path}: {text}");
        // Some answers have no body.
        Ok(serde_json::from_str(&text).unwrap_or_default())
    }
}

fn wait_for(address: &str) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(30);
    while reqwest::blocking::get(format!("http://{address}/v1/sys/health")).is_err() {
        ensure!(Instant::now() < deadline, "OpenBao is not ready in time");
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}
