//! A description is brought about, once, and drift is found and mended.

use std::fs;
use std::path::PathBuf;

use gatehouse_tests::{Installation, OPERATOR, Storage, WORKLOAD};
use serde_json::json;

use crate::HOST;
use crate::command::{Run, run};

/// A description with every kind of object, each spelled as an operator would and not as the server shows it.
const DESCRIPTION: &str = r#"
[policies]
readers = { file = "readers.hcl" }
Writers = """
path "organizations/*" { capabilities = ["create"] }
"""

[auth."gcp/"]
description = "workloads"
[auth."gcp/".tune]
default_lease_ttl = "1h"
listing_visibility = "unauth"
[auth."gcp/".config]
credentials = { file = "key.json" }
iam_alias = "unique_id"
iam_metadata = "default"
gce_alias = ""
identity_token_ttl = 0
custom_endpoint = { api = "", crm = "" }
[auth."gcp/".roles.dev]
type = "iam"
bound_service_accounts = "WORKLOAD"
token_policies = "writers, readers"
token_ttl = "30m"
token_bound_cidrs = ["127.0.0.1/32", "10.0.0.0/8", "2001:DB8:0:0::/32"]
token_type = "service"
live_checks = true
max_jwt_exp = 0
[auth."gcp/".roles.vm]
type = "gce"
bound_zones = ["europe-west1-c", "projects/p/zones/europe-west1-b"]
bound_labels = ["team:engines", "env:prod"]
period = 3600

[auth.second]

[token_roles.ci]
allowed_policies = ["readers"]
token_period = "2h"
orphan = true
renewable = false

[entities.ada]
policies = ["readers"]
metadata = { team = "engines" }
aliases = [{ mount = "gcp", name = "1234", custom_metadata = { from = "file" } }]

[groups.engines]
policies = "readers"
member_entities = ["ada"]
[groups.all]
member_groups = ["engines"]
[groups.outside]
type = "external"
alias = { mount = "gcp", name = "folder-1" }

[organizations.acme]
email = "ops@example.com"
collaborator-auth-policy = "two_factor_mandatory"
"#;

struct Place {
    installation: Installation,
    file: PathBuf,
}

impl Place {
    fn start() -> Self {
        let installation =
            Installation::start_program(HOST.program(), Storage::Memory, "").unwrap();
        let folder = installation.folder();
        let key = installation.google().credentials_json(OPERATOR).unwrap();
        fs::write(folder.join("key.json"), key).unwrap();
        let policy = "path \"auth/token/lookup-self\" {\n  capabilities = [\"read\"]\n}\n";
        fs::write(folder.join("readers.hcl"), policy).unwrap();
        let file = folder.join("installation.toml");
        fs::write(&file, DESCRIPTION.replace("WORKLOAD", WORKLOAD)).unwrap();
        Self { installation, file }
    }

    fn apply(&self, arguments: &[&str]) -> Run {
        let file = self.file.to_str().unwrap();
        let arguments = ["apply", file].into_iter().chain(arguments.iter().copied());
        run(&self.installation, arguments, &[])
    }

    fn read(&self, path: &str) -> serde_json::Value {
        let answer = self.installation.as_root("GET", path, None);
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        answer.json()["data"].take()
    }
}

#[test]
fn a_description_is_brought_about_once_and_a_second_run_changes_nothing() {
    let place = Place::start();
    let dry = place.apply(&["--dry-run"]);
    assert_eq!(dry.code, Some(2), "{dry:?}");
    assert!(
        dry.summary().ends_with("to add, 0 to change, 0 failed"),
        "{dry:?}"
    );
    let absent = place
        .installation
        .as_root("GET", "/v1/sys/policies/acl/readers", None);
    assert_eq!(absent.status, 404, "a dry run writes nothing");

    let first = place.apply(&[]);
    assert_eq!(first.code, Some(0), "{first:?}");
    assert_eq!(
        first.summary(),
        dry.summary()
            .replace("to add", "added")
            .replace("to change", "changed"),
        "{first:?}"
    );
    for run in [&dry, &first] {
        assert!(
            run.output.contains("    + credentials: (secret)\n"),
            "{run:?}"
        );
        let all = format!("{}{}", run.output, run.errors);
        assert!(!all.contains("PRIVATE KEY"), "{all}");
    }
    let role = place.read("/v1/auth/gcp/role/dev");
    assert_eq!(role["token_ttl"], 1800);
    assert_eq!(role["token_policies"], json!(["writers", "readers"]));
    assert_eq!(place.read("/v1/auth/gcp/config")["client_email"], OPERATOR);
    assert_eq!(
        place.read("/v1/sys/auth/gcp/tune")["default_lease_ttl"],
        3600
    );
    assert_eq!(place.read("/v1/auth/token/roles/ci")["token_period"], 7200);
    let entity = place.read("/v1/identity/entity/name/ada");
    assert_eq!(entity["aliases"][0]["name"], "1234");
    let group = place.read("/v1/identity/group/name/engines");
    assert_eq!(group["member_entity_ids"], json!([entity["id"]]));
    let all = place.read("/v1/identity/group/name/all");
    assert_eq!(all["member_group_ids"], json!([group["id"]]));
    assert_eq!(
        place.read("/v1/identity/group/name/outside")["alias"]["name"],
        "folder-1"
    );
    let organization = place.read("/api/v2/organizations/acme");
    assert_eq!(organization["attributes"]["email"], "ops@example.com");

    for arguments in [&["--dry-run"][..], &[]] {
        let again = place.apply(arguments);
        assert_eq!(again.code, Some(0), "{again:?}");
        assert_eq!(again.output.lines().count(), 1, "{again:?}");
        assert!(again.summary().contains("unchanged; 0 "), "{again:?}");
    }
    let rewritten = place.apply(&["--write-secrets", "--dry-run"]);
    assert_eq!(rewritten.code, Some(2), "{rewritten:?}");
    assert!(
        rewritten
            .output
            .contains("~ configuration of gcp/\n    + credentials: (secret)\n")
    );
}

#[test]
fn drift_of_one_field_is_found_shown_and_mended_alone() {
    let place = Place::start();
    assert_eq!(place.apply(&[]).code, Some(0));
    let drift = json!({"token_ttl": "2h", "bound_audiences": ["kept"]});
    let answer = place
        .installation
        .as_root("POST", "/v1/auth/gcp/role/dev", Some(&drift));
    assert!(answer.status < 300, "{answer:?}");
    let answer = place.installation.as_root(
        "POST",
        "/v1/identity/group/name/engines",
        Some(&json!({"member_entity_ids": []})),
    );
    assert!(answer.status < 300, "{answer:?}");

    let dry = place.apply(&["--dry-run"]);
    assert_eq!(dry.code, Some(2), "{dry:?}");
    assert!(
        dry.output
            .contains("~ role gcp/dev\n    ~ token_ttl: 7200 -> \"30m\"\n"),
        "{dry:?}"
    );
    assert!(
        dry.output
            .contains("~ group engines\n    ~ member_entities: [] -> [\"ada\"]\n"),
        "{dry:?}"
    );
    assert!(
        dry.summary().contains("0 to add, 2 to change, 0 failed"),
        "{dry:?}"
    );
    assert_eq!(place.read("/v1/auth/gcp/role/dev")["token_ttl"], 7200);

    assert_eq!(place.apply(&[]).code, Some(0));
    let role = place.read("/v1/auth/gcp/role/dev");
    assert_eq!(role["token_ttl"], 1800);
    assert_eq!(
        role["bound_audiences"],
        json!(["kept"]),
        "what is not described stays"
    );
    assert_eq!(place.apply(&["--dry-run"]).code, Some(0));
}

#[test]
fn what_fails_is_told_and_the_rest_goes_on() {
    let mut place = Place::start();
    let text = "[policies]\nbroken = \"path\"\nfine = 'path \"a\" { capabilities = [\"read\"] }'\n\
                \"\\u001b\" = \"path\"\n[token_roles.ci]\ntokn_period = 1\n[groups.g]\nmember_entities = [\"nobody\"]\n\
                [organizations.acme]\nemail = \"ops@example.com\"\ncolaborator-auth-policy = \"password\"\n";
    place.file = place.installation.folder().join("other.toml");
    fs::write(&place.file, text).unwrap();
    let run = place.apply(&[]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.output.contains("! policy broken: "), "{run:?}");
    assert!(
        run.output
            .contains("! token role ci: the server has no such field: tokn_period\n"),
        "{run:?}"
    );
    assert!(
        run.output.contains("! group g: there is no entity nobody"),
        "{run:?}"
    );
    assert!(run.output.contains("+ policy fine\n"), "{run:?}");
    assert!(!run.output.contains('\u{1b}'), "{run:?}");
    assert!(
        run.output.contains(
            "! organization acme: the server has no such field: colaborator-auth-policy\n"
        ),
        "{run:?}"
    );
    assert!(
        run.summary().ends_with("1 added, 0 changed, 5 failed"),
        "{run:?}"
    );
    place.read("/v1/sys/policies/acl/fine");
}
