//! The audit log of a whole server: nothing secret in it, nothing done without it, nothing changed in it unseen (SEC-L1 to L3).

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gatehouse_tests::{Installation, ROLE, Storage, gatehouse_binary};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder that only the server's user may change, outside the installation's own.
struct Logs(TempDir);

impl Logs {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn log(&self) -> PathBuf {
        self.path("audit.log")
    }

    fn settings(&self) -> String {
        format!(
            "[audit.main]\npath = {:?}\n",
            self.log().display().to_string()
        )
    }

    fn records(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.log()).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

fn verify(arguments: &[&Path]) -> Output {
    Command::new(gatehouse_binary())
        .args(["audit", "verify"])
        .args(arguments)
        .output()
        .unwrap()
}

fn last_record(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().find_map(|line| line.strip_prefix("last: "));
    last.unwrap().to_owned()
}

#[test]
fn audit_l5_no_secret_reaches_the_log_and_every_exchange_does() {
    let logs = Logs::new();
    let mut installation = Installation::start(Storage::Durable, &logs.settings()).unwrap();
    installation.set_up_login().unwrap();
    let mut secrets = vec![installation.root_token().to_owned()];
    for _ in 0..20 {
        let jwt = installation.login_jwt().unwrap();
        let body = json!({"role": ROLE, "jwt": jwt});
        let login = installation.send("POST", "/v1/auth/gcp/login", None, Some(&body));
        assert_eq!(login.status, 200, "{login:?}");
        let auth = &login.json()["auth"];
        secrets.extend([jwt, auth["client_token"].as_str().unwrap().to_owned()]);
        secrets.push(auth["accessor"].as_str().unwrap().to_owned());
    }
    let canaries = json!({"meta": {"canary-name": "canary-meta"}, "id": "canary-token", "policies": ["default"]});
    installation.as_root("POST", "/v1/auth/token/create", Some(&canaries));
    let credentials = json!({"credentials": "{\"private_key\":\"canary-key\"}"});
    installation.as_root("POST", "/v1/auth/gcp/config", Some(&credentials));
    installation.send(
        "POST",
        "/v1/auth/gcp/login",
        Some("canary-caller"),
        Some(&json!({"jwt": "canary-jwt"})),
    );
    installation.as_root("PUT", "/v1/auth/token/revoke/canary-path", None);
    let organization = json!({"data": {"type": "organizations", "attributes": {"name": "canary-org", "email": "canary@example.com"}}});
    installation.as_root("POST", "/api/v2/organizations", Some(&organization));
    secrets.extend(
        [
            "canary-token",
            "canary-key",
            "canary-caller",
            "canary-jwt",
            "canary-path",
            "canary-org",
            "canary@",
        ]
        .map(str::to_owned),
    );

    let text = fs::read_to_string(logs.log()).unwrap();
    for secret in &secrets {
        assert!(!text.contains(secret.as_str()), "{secret}");
    }
    // Metadata that a caller attaches to a token is there to be read.
    assert!(text.contains("canary-name"));
    let records = logs.records();
    let of = |side: &str| -> Vec<&Value> {
        let mut ids: Vec<&Value> = records
            .iter()
            .filter(|record| record["type"] == side)
            .map(|record| &record["request"]["id"])
            .collect();
        ids.sort_by_key(|id| id.to_string());
        ids
    };
    assert_eq!(of("request"), of("response"));
    assert!(of("request").len() > 30);
    let head = last_record(&verify(&[&logs.log()]));

    // A text that is known can be found by its hash, before and after a restart.
    let jwt = json!({ "input": secrets[1] });
    let hash = |installation: &Installation| {
        let answer = installation.as_root("POST", "/v1/sys/audit-hash/main", Some(&jwt));
        answer.json()["data"]["hash"].as_str().unwrap().to_owned()
    };
    let found = hash(&installation);
    assert!(text.contains(&found), "{found}");
    installation.server().kill();
    installation.run().unwrap();
    assert_eq!(hash(&installation), found);

    // Rotation, with a chain over both files.
    fs::rename(logs.log(), logs.path("audit.log.1")).unwrap();
    let id = installation.server().id().to_string();
    assert!(
        Command::new("kill")
            .args(["-HUP", &id])
            .status()
            .unwrap()
            .success()
    );
    while !logs.log().exists() {
        installation.as_root("GET", "/v1/sys/auth", None);
    }
    installation.as_root("GET", "/v1/sys/auth", None);
    let both = verify(&[&logs.path("audit.log.1"), &logs.log()]);
    last_record(&both);
    let remembered = Command::new(gatehouse_binary())
        .args(["audit", "verify", "--expect", &head])
        .args([logs.path("audit.log.1"), logs.log()])
        .output()
        .unwrap();
    assert!(remembered.status.success(), "{remembered:?}");

    let forged = fs::read_to_string(logs.path("audit.log.1")).unwrap();
    fs::write(
        logs.path("forged"),
        forged.replacen("hmac-sha256:", "hmac-sha256:0", 1),
    )
    .unwrap();
    let refused = verify(&[&logs.path("forged")]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains(", line "));
}

#[test]
fn audit_l1_without_a_sink_that_writes_nothing_is_done() {
    let logs = Logs::new();
    let folder = logs.path("logs");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    let log = folder.join("audit.log").display().to_string();
    let key = logs.path("audit.key").display().to_string();
    let settings = format!("[audit.main]\npath = {log:?}\nkey_file = {key:?}\n");
    let installation = Installation::start(Storage::Durable, &settings).unwrap();
    installation.set_up_login().unwrap();
    assert_eq!(installation.login().unwrap().status, 200);
    let tokens = || {
        let listed = installation.as_root("LIST", "/v1/auth/token/accessors", None);
        listed.json()["data"]["keys"].as_array().map(Vec::len)
    };
    let before = tokens();

    fs::remove_dir_all(&folder).unwrap();
    let policy = json!({"policy": "path \"x\" { capabilities = [\"read\"] }"});
    for _ in 0..3 {
        let login = installation.login().unwrap();
        assert_eq!(
            (login.status, login.error().as_str()),
            (500, "internal error")
        );
        let written = installation.as_root("PUT", "/v1/sys/policies/acl/unseen", Some(&policy));
        assert_eq!(written.status, 500, "{written:?}");
    }
    assert_eq!(
        installation
            .send("GET", "/v1/sys/health", None, None)
            .status,
        200
    );

    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(tokens(), before);
    let read = installation.as_root("GET", "/v1/sys/policies/acl/unseen", None);
    assert_eq!(read.status, 404, "{read:?}");
    assert_eq!(installation.login().unwrap().status, 200);
    // The log that is there is a chain of its own file, and names what it follows.
    last_record(&verify(&[Path::new(&log)]));
}

#[test]
fn audit_l4_a_log_that_others_may_use_stops_the_start() {
    let logs = Logs::new();
    fs::write(logs.log(), "").unwrap();
    fs::set_permissions(logs.log(), fs::Permissions::from_mode(0o755)).unwrap();
    let refused = Installation::start(Storage::Memory, &logs.settings());
    assert!(refused.is_err());
    let settings = logs.path("gatehouse.toml");
    fs::write(
        &settings,
        format!("[storage]\ntype = \"memory\"\n{}", logs.settings()),
    )
    .unwrap();
    let check = Command::new(gatehouse_binary())
        .args(["config", "check", "--config"])
        .arg(&settings)
        .output()
        .unwrap();
    assert!(!check.status.success());
    let message = String::from_utf8_lossy(&check.stderr);
    assert!(
        message.contains("audit.main") && message.contains("chmod 600"),
        "{message}"
    );
}
