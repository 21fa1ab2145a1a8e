//! Life cycles with OpenTofu and the providers of both APIs: apply, a plan that is empty, change, an empty plan, import, destroy. Left out
//! where the programs are not given: see `build.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gatehouse_tests::{Installation, OPERATOR, Storage};
use serde_json::{Value, json};

/// The exit code of `tofu plan -detailed-exitcode` when there is nothing to do.
const NOTHING_TO_DO: Option<i32> = Some(0);

/// A folder with a configuration, and the state of what it has made.
struct Workspace {
    folder: tempfile::TempDir,
    settings: PathBuf,
    variables: Vec<(&'static str, String)>,
}

impl Workspace {
    /// A copy of the configuration in `tests/clients/tofu`, for a server.
    fn new(
        configuration: &str,
        installation: &Installation,
        variables: &[(&'static str, String)],
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/tofu");
        let source = source.join(configuration).join("main.tf");
        fs::copy(source, folder.path().join("main.tf")).unwrap();
        let settings = folder.path().join("tofu.rc");
        fs::write(&settings, settings_for(installation)).unwrap();
        let workspace = Self {
            folder,
            settings,
            variables: variables.to_vec(),
        };
        workspace.must("init", &["-no-color", "-input=false"]);
        workspace
    }

    fn tofu(&self, command: &str, arguments: &[&str]) -> Output {
        let mut tofu = Command::new(given("GATEHOUSE_TOFU"));
        // Nothing of the user who runs the tests: none of their settings, tokens or state.
        tofu.env_clear()
            .env("HOME", self.folder.path())
            .env("TF_CLI_CONFIG_FILE", &self.settings)
            .env("CHECKPOINT_DISABLE", "1")
            .env("TF_IN_AUTOMATION", "1")
            .current_dir(self.folder.path())
            .arg(command)
            .args(arguments);
        for (name, value) in &self.variables {
            tofu.env(format!("TF_VAR_{name}"), value);
        }
        tofu.output().unwrap()
    }

    /// The output of the command, which must succeed.
    #[track_caller]
    fn must(&self, command: &str, arguments: &[&str]) -> String {
        let output = self.tofu(command, arguments);
        assert!(
            output.status.success(),
            "tofu {command} {arguments:?}:\n{}",
            printed(&output)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    fn apply(&self, changed: bool) {
        let variable = format!("-var=changed={changed}");
        self.must(
            "apply",
            &["-no-color", "-input=false", "-auto-approve", &variable],
        );
    }

    /// Asserts that the state is what the configuration wants.
    #[track_caller]
    fn assert_nothing_to_do(&self, changed: bool) {
        let variable = format!("-var=changed={changed}");
        let plan = self.tofu(
            "plan",
            &["-no-color", "-input=false", "-detailed-exitcode", &variable],
        );
        assert_eq!(
            plan.status.code(),
            NOTHING_TO_DO,
            "the plan is not empty:\n{}",
            printed(&plan)
        );
    }

    /// The addresses of what a plan would make, change or remove.
    #[track_caller]
    fn planned(&self, changed: bool) -> BTreeSet<String> {
        let variable = format!("-var=changed={changed}");
        self.must(
            "plan",
            &["-no-color", "-input=false", "-out=plan", &variable],
        );
        let plan: Value = serde_json::from_str(&self.must("show", &["-json", "plan"])).unwrap();
        let changes = plan["resource_changes"].as_array().unwrap().iter();
        changes
            .filter(|change| change["change"]["actions"] != json!(["no-op"]))
            .map(|change| change["address"].as_str().unwrap().to_owned())
            .collect()
    }

    /// The addresses of what is in the state.
    fn resources(&self) -> Vec<String> {
        let listed = self.must("state", &["list"]);
        listed.lines().map(str::to_owned).collect()
    }
}

/// The absolute path that a variable names: it is used from folders other than that of the tests.
fn given(variable: &str) -> PathBuf {
    let path = std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is set"));
    fs::canonicalize(path).unwrap_or_else(|error| panic!("{variable}: {error}"))
}

fn printed(output: &Output) -> String {
    let [printed, errors] =
        [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    format!("{printed}{errors}")
}

/// The CLI's configuration: providers from a folder alone, and the address of the organizations API.
fn settings_for(installation: &Installation) -> String {
    let providers = given("GATEHOUSE_TOFU_PROVIDERS");
    format!(
        "provider_installation {{\n  filesystem_mirror {{\n    path = {providers:?}\n  }}\n}}\n\n\
         host \"gatehouse.test\" {{\n  services = {{\n    \"tfe.v2.2\" = \"http://{}/api/v2/\"\n  }}\n}}\n",
        installation.address()
    )
}

/// Makes, changes, imports and destroys everything that a configuration names. `unread` lists the resources that the provider does not read
/// in full, so that an import leaves something to write.
fn assert_life_cycle(
    configuration: &str,
    installation: &Installation,
    variables: &[(&'static str, String)],
    unread: &[&str],
) {
    let workspace = Workspace::new(configuration, installation, variables);
    workspace.apply(false);
    workspace.assert_nothing_to_do(false);
    workspace.apply(true);
    workspace.assert_nothing_to_do(true);

    let imports = workspace.must("output", &["-no-color", "-json", "imports"]);
    let imports: BTreeMap<String, String> = serde_json::from_str(&imports).unwrap();
    let second = Workspace::new(configuration, installation, variables);
    for (address, id) in &imports {
        let options = ["-no-color", "-input=false", "-var=changed=true"];
        second.must("import", &[&options[..], &[address, id]].concat());
    }
    assert_eq!(second.resources().len(), imports.len());
    let mut planned = second.planned(true);
    planned.retain(|address| imports.contains_key(address));
    assert_eq!(planned, unread.iter().map(|it| (*it).to_owned()).collect());
    // A resource that has no import is made once more, and is destroyed with the rest.
    second.apply(true);
    second.assert_nothing_to_do(true);
    second.must(
        "destroy",
        &[
            "-no-color",
            "-input=false",
            "-auto-approve",
            "-var=changed=true",
        ],
    );
    assert_eq!(second.resources(), Vec::<String>::new());
}

/// Makes a user with this name, and returns its token.
fn user(installation: &Installation, name: &str, administers: bool) -> String {
    let body = json!({"data": {"type": "users", "attributes": {
        "username": name,
        "email": format!("{name}@example.com"),
        "is-site-admin": administers,
    }}});
    let made = installation.as_root("POST", "/api/v2/admin/users", Some(&body));
    assert!(made.status < 300, "{made:?}");
    made.json()["meta"]["token"].as_str().unwrap().to_owned()
}

fn assert_organizations_live(edition: &str) {
    let settings = format!("[organizations]\nedition = {edition:?}");
    let installation = Installation::start(Storage::Durable, &settings).unwrap();
    let token = user(&installation, "tofu-owner", true);
    user(&installation, "tofu-member", false);
    user(&installation, "tofu-colleague", false);
    let variables = [
        ("token", token.clone()),
        ("name", "tofu-organization".to_owned()),
        ("owner", "tofu-owner".to_owned()),
        ("member", "tofu-member".to_owned()),
        ("colleague", "tofu-colleague".to_owned()),
    ];
    assert_life_cycle("organizations", &installation, &variables, &[]);
    let path = "/api/v2/organizations/tofu-organization";
    assert_eq!(
        installation.send("GET", path, Some(&token), None).status,
        404
    );
}

#[test]
#[cfg_attr(
    not(with_tofu),
    ignore = "no OpenTofu is given: GATEHOUSE_TOFU, GATEHOUSE_TOFU_PROVIDERS (docs/contributing/references.md)"
)]
fn tofu_makes_changes_imports_and_destroys_an_organization_hosted() {
    assert_organizations_live("hosted");
}

#[test]
#[cfg_attr(
    not(with_tofu),
    ignore = "no OpenTofu is given: GATEHOUSE_TOFU, GATEHOUSE_TOFU_PROVIDERS (docs/contributing/references.md)"
)]
fn tofu_makes_changes_imports_and_destroys_an_organization_self_hosted() {
    assert_organizations_live("self-hosted");
}

#[test]
#[cfg_attr(
    not(with_tofu),
    ignore = "no OpenTofu is given: GATEHOUSE_TOFU, GATEHOUSE_TOFU_PROVIDERS (docs/contributing/references.md)"
)]
fn tofu_makes_changes_imports_and_destroys_mounts_roles_policies_and_identities() {
    // Without it the provider leaves fields out: docs/terraform.md.
    let settings = "[version]\ncompatibility = \"1.21.4+ent\"";
    let installation = Installation::start(Storage::Durable, settings).unwrap();
    let credentials = installation.google().credentials_json(OPERATOR).unwrap();
    let variables = [
        ("address", format!("http://{}", installation.address())),
        ("token", installation.root_token().to_owned()),
        ("name", "tofu".to_owned()),
        ("credentials", credentials),
    ];
    // Credentials cannot be read, and lists that are empty are not shown (contract 2.5, 3.5).
    let unread = [
        "vault_gcp_auth_backend.gcp",
        "vault_gcp_auth_backend_role.accounts",
        "vault_gcp_auth_backend_role.instances",
    ];
    assert_life_cycle("vault", &installation, &variables, &unread);
    let mounts = installation.as_root("GET", "/v1/sys/auth", None).json();
    let mounts: Vec<&String> = mounts["data"].as_object().unwrap().keys().collect();
    assert_eq!(mounts, ["token/"]);
}

#[test]
#[cfg_attr(
    not(with_tofu),
    ignore = "no OpenTofu is given: GATEHOUSE_TOFU, GATEHOUSE_TOFU_PROVIDERS (docs/contributing/references.md)"
)]
fn tofu_manages_a_mount_with_the_rights_that_the_docs_name() {
    let docs = include_str!("../../docs/terraform.md");
    let (_, rights) = docs
        .split_once("### Rights of the provider's token")
        .unwrap();
    let rights = rights.split("```").nth(1).unwrap();
    let rights = rights.strip_prefix("hcl\n").unwrap();
    let installation = Installation::start(Storage::Durable, "").unwrap();
    let policy = json!({ "policy": rights });
    let written = installation.as_root("PUT", "/v1/sys/policies/acl/manages", Some(&policy));
    assert!(written.status < 300, "{written:?}");
    let token = json!({"policies": ["manages"], "no_default_policy": true, "ttl": "1h"});
    let made = installation.as_root("POST", "/v1/auth/token/create", Some(&token));
    let token = made.json()["auth"]["client_token"]
        .as_str()
        .unwrap()
        .to_owned();
    let credentials = installation.google().credentials_json(OPERATOR).unwrap();
    let variables = [
        ("address", format!("http://{}", installation.address())),
        ("token", token),
        ("credentials", credentials),
    ];
    let unread = [
        "vault_gcp_auth_backend.gcp",
        "vault_gcp_auth_backend_role.dev",
    ];
    assert_life_cycle("rights", &installation, &variables, &unread);
}
