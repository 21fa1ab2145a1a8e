//! The commands that the documents show, run as they stand there.
//!
//! A block with `<!-- run by a test -->` on the line before it is run, all such blocks of one document in their order in one shell, beside a
//! `gatehouse dev` of its own. What a document names by example is replaced by what there is: see [`Shell::run`].

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use gatehouse_tests::{
    DevServer, ServiceAccount, WORKLOAD, bao_program, gatehouse_binary, workspace,
};
use serde_json::json;

const MARK: &str = "<!-- run by a test -->\n";

/// Makes every command that fails end the run, an HTTP error of curl among them, and hands variables on to programs as `export` would.
const PRELUDE: &str =
    "set -euo pipefail\nset -a\ncurl() { command curl --fail-with-body \"$@\"; }\n";

/// The marked blocks of a document as one script of bash.
fn script(document: &str) -> String {
    let mut script = PRELUDE.to_owned();
    for rest in document.split(MARK).skip(1) {
        let (language, rest) = rest.split_once('\n').expect("a block follows its mark");
        let (block, _) = rest.split_once("\n```").expect("a block has an end");
        match language {
            "```console" => {
                for line in block.lines() {
                    let command = line.strip_prefix("$ ").unwrap_or(line);
                    writeln!(script, "{command}").unwrap();
                }
            }
            "```python" => writeln!(script, "python - <<'END'\n{block}\nEND").unwrap(),
            other => panic!("{other} cannot be run"),
        }
    }
    script
}

/// A server for the commands of one document.
struct Shell {
    server: DevServer,
    folder: tempfile::TempDir,
}

impl Shell {
    fn start() -> Self {
        Self {
            server: DevServer::start(&[]).unwrap(),
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn workload(&self) -> &ServiceAccount {
        let accounts = &self.server.google.service_accounts;
        accounts.iter().find(|it| it.email == WORKLOAD).unwrap()
    }

    /// Writes the key file of the account that logs in, as Google gives it out.
    fn key_file(&self) -> String {
        let account = self.workload();
        let file = self.folder.path().join("workload.json");
        let key = json!({
            "type": "service_account",
            "client_email": account.email,
            "private_key_id": account.kid,
            "private_key": account.private_key_pem,
        });
        fs::write(&file, key.to_string()).unwrap();
        file.to_str().unwrap().to_owned()
    }

    /// A login JWT for the role `platform`, which documents have from a cloud.
    fn jwt(&self, key_file: &str) -> String {
        let arguments = ["login-jwt", "--credentials", key_file, "--role", "platform"];
        let made = Command::new(gatehouse_binary())
            .args(arguments)
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
        String::from_utf8(made.stdout).unwrap().trim().to_owned()
    }

    /// Runs the marked blocks of `document` and gives back what they printed.
    ///
    /// # Errors
    ///
    /// With what was printed, when a command fails.
    fn run(&self, document: &str) -> Result<String, String> {
        let address = self.server.process.address();
        let key_file = self.key_file();
        let script = script(document)
            .replace("http://127.0.0.1:8200", address)
            .replace("/tmp/.../workload.json", &key_file)
            .replace(
                "target/debug/gatehouse",
                gatehouse_binary().to_str().unwrap(),
            )
            .replace("ci@my-project.iam.gserviceaccount.com", WORKLOAD);
        let programs = bao_program();
        let programs = programs.parent().unwrap().to_str().unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        let run = Command::new("bash")
            .args(["-c", &script])
            .current_dir(&self.folder)
            .env("PATH", format!("{programs}:{path}"))
            .env("HOME", self.folder.path())
            .env("BAO_ADDR", address)
            .env("BAO_TOKEN", &self.server.root_token)
            .env("TOKEN", &self.server.root_token)
            .env("JWT", self.jwt(&key_file))
            .output()
            .expect("bash can be run");
        let printed = String::from_utf8_lossy(&run.stdout).into_owned();
        if run.status.success() {
            return Ok(printed);
        }
        let errors = String::from_utf8_lossy(&run.stderr);
        Err(format!("{printed}{errors}"))
    }
}

/// Runs the commands of the document at `path` below the root of the repository.
fn printed_by(path: &str) -> String {
    let document = fs::read_to_string(workspace().join(path)).unwrap();
    let printed = Shell::start().run(&document);
    printed.unwrap_or_else(|printed| panic!("the commands of {path} fail:\n{printed}"))
}

/// The documents with marked blocks, below `folder`.
fn marked(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            marked(&path, found);
        } else if path.extension().is_some_and(|it| it == "md")
            && fs::read_to_string(&path).unwrap().contains(MARK)
        {
            let path = path.strip_prefix(workspace()).unwrap();
            found.push(path.to_str().unwrap().to_owned());
        }
    }
}

#[test]
fn the_first_login_of_the_readme_brings_a_token_and_an_organization() {
    let printed = printed_by("README.md");
    for shown in [
        WORKLOAD,
        "\"name\":\"demo-first\"",
        "token_policies",
        "['default', ",
    ] {
        assert!(printed.contains(shown), "{shown} in {printed}");
    }
}

#[test]
fn the_marked_commands_of_all_documents_succeed() {
    let mut documents = Vec::new();
    marked(&workspace().join("docs"), &mut documents);
    assert!(documents.len() > 2, "{documents:?}");
    for document in documents {
        printed_by(&document);
    }
}

#[test]
fn a_command_that_fails_or_is_refused_is_noticed() {
    let shell = Shell::start();
    for refused in [
        "$ false\n$ true",
        "$ curl -sS http://127.0.0.1:8200/v1/auth/token/lookup-self",
        "$ bao read auth/gcp/role/missing",
    ] {
        let document = format!("{MARK}```console\n{refused}\n```\n");
        assert!(shell.run(&document).is_err(), "{refused}");
    }
    let document = format!("{MARK}```console\n$ echo \"$JWT\" \\\n    | wc -l\n```\n");
    assert_eq!(shell.run(&document).unwrap().trim(), "1");
}
