//! OpenBao on the same core under the same load: its `jwt` method with a local key, which asks nobody outside.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use gatehouse_fake_google::{Claims, SigningKey};
use serde_json::{Value, json};

use crate::cores::Cores;
use crate::load::{Measured, request};
use crate::row;

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

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Prints rows for a login that makes a service token, and for a lookup of one; the latter is returned.
pub fn measure_logins(cores: &Cores, program: &PathBuf) -> Result<Measured> {
    let address = gatehouse_tests::free_address()?;
    cores.enter_server_core()?;
    let _server = Server(
        Command::new(program)
            .args(["server", "-dev", "-dev-no-store-token", "-log-level=error"])
            .arg(format!("-dev-root-token-id={ROOT_TOKEN}"))
            .arg(format!("-dev-listen-address={address}"))
            .env("GOMAXPROCS", "1")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?,
    );
    cores.enter_load_core()?;
    let server: SocketAddr = address.parse()?;
    wait_for(&address)?;

    let key = SigningKey::generate("bench")?;
    post(&address, "sys/auth/jwt", &json!({"type": "jwt"}))?;
    let certificate = key.certificate_pem();
    post(
        &address,
        "auth/jwt/config",
        &json!({"jwt_validation_pubkeys": [certificate]}),
    )?;
    post(
        &address,
        "auth/jwt/role/dev",
        &json!({
            "role_type": "jwt", "user_claim": "sub", "bound_audiences": ["vault/dev"],
            "token_policies": ["default"],
        }),
    )?;
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed()?.as_secs();
    let claims: Claims = serde_json::from_value(json!({
        "sub": "workload", "aud": "vault/dev", "iat": now, "exp": now + 900,
    }))?;
    let jwt = key.sign_jwt(&claims)?;
    let body = json!({"role": "dev", "jwt": jwt}).to_string();
    row(
        "OpenBao: jwt login, in memory",
        server,
        &request("POST", "/v1/auth/jwt/login", None, &body),
    )?;
    let login = post(&address, "auth/jwt/login", &serde_json::from_str(&body)?)?;
    let token = login["auth"]["client_token"].as_str();
    let lookup = request("GET", "/v1/auth/token/lookup-self", token, "");
    row(
        "OpenBao: lookup-self, in memory, few tokens",
        server,
        &lookup,
    )
}

fn wait_for(address: &str) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(30);
    while reqwest::blocking::get(format!("http://{address}/v1/sys/health")).is_err() {
        ensure!(Instant::now() < deadline, "OpenBao is not ready in time");
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

fn post(address: &str, path: &str, body: &Value) -> Result<Value> {
    let response = reqwest::blocking::Client::new()
        .post(format!("http://{address}/v1/{path}"))
        .header("X-Vault-Token", ROOT_TOKEN)
        .body(body.to_string())
        .send()
        .with_context(|| path.to_owned())?;
    let status = response.status();
    let text = response.text()?;
    ensure!(status.is_success(), "{path}: {text}");
    // Some answers have no body.
    Ok(serde_json::from_str(&text).unwrap_or_default())
}
