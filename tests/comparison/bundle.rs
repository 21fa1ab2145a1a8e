//! The facts that Vault's own program collects about this server.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use gatehouse_tests::{Installation, Storage};
use serde_json::Value;

fn json(bundle: &Path, file: &str) -> Value {
    let text = std::fs::read(bundle.join(file)).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// A program that is ended with the test, however that ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
#[cfg_attr(
    not(with_vault),
    ignore = "no program of Vault is given: GATEHOUSE_VAULT (docs/contributing/references.md)"
)]
fn vaults_own_program_collects_all_that_there_is() {
    let installation = Installation::start(Storage::Memory, "").unwrap();
    let bundle = installation.folder().join("bundle");
    let collecting = Command::new(std::env::var_os("GATEHOUSE_VAULT").unwrap())
        .args([
            "debug",
            "-duration=6s",
            "-interval=5s",
            "-metrics-interval=5s",
            "-compress=false",
        ])
        .arg(format!("-output={}", bundle.display()))
        // No settings, credentials or proxies of the user who runs the tests.
        .env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
        .env("HOME", installation.folder())
        .env("VAULT_ADDR", format!("http://{}", installation.address()))
        .env("VAULT_TOKEN", installation.root_token())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut collecting = Running(collecting);
    // The rotations give the server something to log while the log is followed.
    let status = loop {
        let rotated = installation.as_root("PUT", "/v1/sys/rotate", None);
        assert_eq!(rotated.status, 204);
        if let Some(status) = collecting.0.try_wait().unwrap() {
            break status;
        }
        sleep(Duration::from_millis(200));
    };
    assert!(status.success());

    for file in [
        "host_info.json",
        "metrics.json",
        "requests.json",
        "server_status.json",
    ] {
        assert!(
            !json(&bundle, file).as_array().unwrap().is_empty(),
            "{file}"
        );
    }
    let replication = json(&bundle, "replication_status.json");
    assert_eq!(replication[0]["mode"], "disabled");
    let log = std::fs::read_to_string(bundle.join("vault.log")).unwrap();
    assert!(log.contains("a new key seals the store"), "{log}");
    let index = json(&bundle, "index.json");
    for error in index["errors"].as_array().unwrap() {
        // Profiles exist only in the other program's language.
        let target = error["target"].as_str().unwrap();
        assert!(target.starts_with("pprof."), "{error}");
    }
}
