//! Moving an installation between Spin and our own server, in the way that docs/hosts/spin.md describes, and putting back copies of its
//! stores.

use std::fs;
use std::path::Path;

use gatehouse_tests::{Host, Installation, OPERATOR, Storage};
use serde_json::{Value, json};

use crate::HOST;
use crate::command::{Run, run};
use crate::stage::{fill, logged_in, make_organization, status_of, write};

/// The lines that the operator adds to the description by hand: facts that no server reports of itself, or that an import leaves out.
const BY_HAND: &str = "
[organizations.demo-acme]
email = \"ops@example.com\"
collaborator-auth-policy = \"password\"
";

fn started(host: Host, storage: Storage) -> Installation {
    Installation::start_program(host.program(), storage, "").unwrap()
}

/// A server that gets its access to Google where that of `of` does, so that the key of `of` opens it.
fn started_beside(host: Host, of: &Installation) -> Installation {
    let mut installation = started(host, Storage::Durable);
    installation.server().kill();
    let file = installation.configuration();
    let settings = fs::read_to_string(&file).unwrap();
    let [own, theirs] = [&installation, of].map(|it| it.google().token_url());
    fs::write(&file, settings.replace(&own, &theirs)).unwrap();
    installation.run().unwrap();
    installation
}

fn data(installation: &Installation, path: &str) -> Value {
    let read = installation.as_root("GET", path, None);
    assert_eq!(read.status, 200, "{path}: {read:?}");
    read.json()["data"].take()
}

/// Moves the contents of `from` into `into` as the page says, with the key and the Google of `of`, and asserts the statements of its table.
fn move_installation(from: &Installation, into: &Installation, of: &Installation) {
    let folder = into.folder();
    let file = folder.join("installation.toml");
    let file = file.to_str().unwrap();
    let source = format!("http://{}", from.address());
    let token = [("GATEHOUSE_FROM_TOKEN", from.root_token())];
    let imported = run(
        into,
        ["import", "--from", &source, "--to-file", file],
        &token,
    );
    assert_eq!(imported.code, Some(0), "{imported:?}");
    let asked = "The private key of gcp/ cannot be read";
    assert!(imported.errors.contains(asked), "{imported:?}");
    let described = fs::read_to_string(file).unwrap();
    assert!(!described.contains("PRIVATE KEY"), "{described}");
    assert!(!described.contains("demo-acme"), "{described}");
    let key = of.google().credentials_json(OPERATOR).unwrap();
    fs::write(folder.join("key.json"), key).unwrap();
    fs::write(file, described + BY_HAND).unwrap();

    let apply = |arguments: &[&str]| -> Run {
        let all = ["apply", file].into_iter().chain(arguments.iter().copied());
        run(into, all, &[])
    };
    let applied = apply(&[]);
    assert_eq!(applied.code, Some(0), "{applied:?}");
    let key = fs::read_to_string(folder.join("key.json")).unwrap();
    write(into, "/v1/auth/gcp/config", &json!({"credentials": key}));
    let again = apply(&["--dry-run"]);
    assert_eq!(again.code, Some(0), "{again:?}");
    let nothing = "0 to add, 0 to change, 0 failed";
    assert!(again.summary().ends_with(nothing), "{again:?}");

    for path in [
        "/v1/auth/gcp/role/dev",
        "/v1/auth/gcp/role/vm",
        "/v1/sys/policies/acl/demo",
        "/v1/auth/token/roles/ci",
    ] {
        let read = |server: &Installation| {
            let mut data = data(server, path);
            if let Some(fields) = data.as_object_mut() {
                // Each server makes its own.
                fields.remove("role_id");
            }
            data
        };
        assert_eq!(read(into), read(from), "{path}");
    }
    let tuning = data(into, "/v1/sys/auth/gcp/tune");
    assert_eq!(tuning["description"], "workloads");
    assert_eq!(tuning["default_lease_ttl"], 7200);
    let entity = data(into, "/v1/identity/entity/name/ada");
    assert_eq!(entity["metadata"], json!({"team": "engines"}));
    let theirs = data(from, "/v1/identity/entity/name/ada");
    assert_ne!(entity["id"], theirs["id"], "identifiers are each server's");
    let group = data(into, "/v1/identity/group/name/engines");
    assert_eq!(group["member_entity_ids"], json!([entity["id"]]));
    let organization = data(into, "/api/v2/organizations/demo-acme");
    assert_eq!(organization["attributes"]["email"], "ops@example.com");

    // Workloads log in again; no token moves.
    let before = logged_in(of, from);
    assert_eq!(status_of(from, &before), 200);
    assert_eq!(status_of(into, &before), 403);
    assert_eq!(status_of(into, from.root_token()), 403);
    let after = logged_in(of, into);
    let path = "/api/v2/organizations/demo-acme";
    let shown = into.send("GET", path, Some(&after), None);
    assert_eq!(shown.status, 200, "{shown:?}");
}

#[test]
fn an_installation_moves_from_spin_into_our_own_server_and_back() {
    let under_spin = started(HOST, Storage::Durable);
    fill(&under_spin);
    let ours = started_beside(Host::Gatehouse, &under_spin);
    move_installation(&under_spin, &ours, &under_spin);
    let back = started_beside(HOST, &under_spin);
    move_installation(&ours, &back, &under_spin);
}

#[test]
fn an_installation_moves_from_key_value_stores_to_sqlite() {
    let before = started(Host::Spin3, Storage::Durable);
    fill(&before);
    let after = started_beside(HOST, &before);
    move_installation(&before, &after, &before);
}

#[test]
fn s11_no_backup_is_made_by_a_server_under_spin_and_the_command_says_how_one_is_made() {
    let installation = started(HOST, Storage::Memory);
    let file = installation.folder().join("backup");
    let address = format!("http://{}", installation.address());
    let file = file.to_str().unwrap();
    let refused = run(
        &installation,
        ["operator", "backup", "--address", &address, "--to", file],
        &[],
    );
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.errors.contains("400"), "{refused:?}");
    let cure = "gatehouse operator backup --spin-runtime";
    assert!(refused.errors.contains(cure), "{refused:?}");
    assert!(!Path::new(file).exists());
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[test]
fn a_copy_of_the_folder_that_is_put_back_is_the_installation_of_its_time_with_all_tokens() {
    let mut installation = started(HOST, Storage::Durable);
    fill(&installation);
    let kept = logged_in(&installation, &installation);
    installation.server().kill();
    let [stores, copied] = ["data", "copy"].map(|name| installation.folder().join(name));
    copy(&stores, &copied);

    installation.run().unwrap();
    let later = logged_in(&installation, &installation);
    make_organization(&installation, "demo-later");
    let revoke = "/v1/auth/token/revoke-self";
    let revoked = installation.send("POST", revoke, Some(&kept), None);
    assert_eq!(revoked.status, 204, "{revoked:?}");
    installation.server().kill();
    fs::rename(&stores, installation.folder().join("later")).unwrap();
    copy(&copied, &stores);
    installation.run().unwrap();

    for token in [installation.root_token(), &kept] {
        assert_eq!(status_of(&installation, token), 200);
    }
    assert_eq!(status_of(&installation, &later), 403);
    let mounts = data(&installation, "/v1/sys/auth");
    assert_eq!(mounts["gcp/"]["description"], "workloads");
    data(&installation, "/api/v2/organizations/demo-acme");
    let gone = installation.as_root("GET", "/api/v2/organizations/demo-later", None);
    assert_eq!(gone.status, 404);
    logged_in(&installation, &installation);
}
