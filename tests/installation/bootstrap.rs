//! `bootstrap.file`: a first start that needs no operator to ask for a root token (SEC-A8).

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

use gatehouse_tests::{
    Answer, Installation, OPERATOR, ROLE, ServerProcess, Storage, WORKLOAD, gatehouse_binary,
};
use serde_json::json;
use tempfile::TempDir;

/// A server that was not started yet, whose settings name a file.
struct First {
    installation: Installation,
    file: PathBuf,
    _folder: TempDir,
}

impl First {
    fn with(storage: Storage) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("installation.json");
        let settings = format!("[bootstrap]\nfile = {:?}\n", file.display().to_string());
        let installation = Installation::not_started(storage, &settings).unwrap();
        Self {
            installation,
            file,
            _folder: folder,
        }
    }

    /// Describes the method, a role for the workload with this field beside its own, and the policy `admin`.
    fn describe(&self, field: &str, more_policies: &[&str]) {
        let google = self.installation.google();
        let base = google.base_url();
        let mut policies = json!({
            "admin": "path \"sys/policies/acl/*\" { capabilities = [\"read\"] }\n\
                      path \"auth/token/accessors/*\" { capabilities = [\"list\", \"sudo\"] }",
        });
        for name in more_policies {
            policies[name] = json!("path \"demo/*\" { capabilities = [\"read\"] }");
        }
        let credentials = self.file.with_file_name("key.json");
        fs::write(&credentials, google.credentials_json(OPERATOR).unwrap()).unwrap();
        let mut role = json!({"type": "iam", "bound_service_accounts": [WORKLOAD], "token_policies": ["admin"]});
        role[field] = json!("30m");
        let description = json!({
            "policies": policies,
            "auth": {"gcp": {
                "config": {
                    "credentials": {"file": "key.json"},
                    "custom_endpoint": {"api": base, "iam": base, "compute": base, "crm": base},
                },
                "roles": {ROLE: role},
            }},
            "organizations": {"acme": {"email": "ops@example.com"}},
        });
        fs::write(&self.file, description.to_string()).unwrap();
    }

    /// Runs the server until it ends by itself; returns its output.
    fn failed_start(&self) -> String {
        let output = Command::new(gatehouse_binary())
            .args(["server", "--config"])
            .arg(self.installation.configuration())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    /// The workload's token at one of the servers.
    fn log_in(&self, server: &ServerProcess) -> String {
        let body = json!({"role": ROLE, "jwt": self.installation.login_jwt().unwrap()});
        token_in(&server.send("POST", "/v1/auth/gcp/login", None, Some(&body)))
    }
}

fn token_in(login: &Answer) -> String {
    assert_eq!(login.status, 200, "{login:?}");
    let token = &login.json()["auth"]["client_token"];
    token.as_str().unwrap().to_owned()
}

fn accessors(server: &ServerProcess, token: &str) -> usize {
    let answer = server.send("LIST", "/v1/auth/token/accessors/", Some(token), None);
    answer.json()["data"]["keys"].as_array().unwrap().len()
}

fn initialize(server: &ServerProcess) -> Answer {
    server.send("PUT", "/v1/sys/init", None, Some(&json!({})))
}

#[test]
fn a8_the_file_of_a_first_start_is_brought_about_once_and_no_root_token_is_left() {
    let mut first = First::with(Storage::Durable);
    first.describe("token_ttl", &[]);
    first.installation.run().unwrap();
    let refused = initialize(first.installation.server());
    assert_eq!(
        (refused.status, refused.error().as_str()),
        (400, "Vault is already initialized")
    );
    let token = token_in(&first.installation.login().unwrap());
    assert_eq!(
        accessors(first.installation.server(), &token),
        1,
        "the workload's alone"
    );
    let status = |installation: &Installation, path| {
        let answer = installation.send("GET", path, Some(&token), None);
        answer.status
    };
    assert_eq!(
        status(&first.installation, "/v1/sys/policies/acl/admin"),
        200
    );

    // Later changes of the file are for `gatehouse apply`.
    first.describe("token_ttl", &["later"]);
    assert_eq!(first.installation.server().terminate().unwrap(), Some(0));
    first.installation.run().unwrap();
    assert_eq!(
        status(&first.installation, "/v1/sys/policies/acl/later"),
        404
    );
    assert_eq!(accessors(first.installation.server(), &token), 1);
}

#[test]
fn a_first_start_that_fails_names_what_did_and_the_next_one_goes_on_with_it() {
    let mut first = First::with(Storage::Durable);
    let missing = first.failed_start();
    assert!(missing.contains("bootstrap.file"), "{missing}");
    first.describe("tokn_ttl", &[]);
    for _ in 0..2 {
        let refused = first.failed_start();
        assert!(
            refused.contains("correct the file and start again"),
            "{refused}"
        );
        assert!(refused.contains("no such field: tokn_ttl"), "{refused}");
        assert!(!refused.contains("PRIVATE KEY"), "{refused}");
    }
    first.describe("token_ttl", &[]);
    first.installation.run().unwrap();
    let answer = first.installation.login().unwrap();
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json()["auth"]["lease_duration"], 1_800);
}

#[test]
fn servers_that_start_for_the_first_time_at_once_bring_the_file_about_together() {
    let first = First::with(Storage::Postgres);
    first.describe("token_ttl", &[]);
    let start = || first.installation.another_server().unwrap();
    let servers: Vec<ServerProcess> = thread::scope(|scope| {
        let starting = [(); 2].map(|()| scope.spawn(start));
        starting.map(|server| server.join().unwrap()).into()
    });
    for server in &servers {
        assert_eq!(initialize(server).status, 400);
        first.log_in(server);
    }
    let token = first.log_in(&servers[0]);
    assert_eq!(
        accessors(&servers[1], &token),
        3,
        "those of the workload alone"
    );
}
