//! Stores that earlier releases wrote, opened by the server of today: `stores/README.md` says how they are made.

use std::path::{Path, PathBuf};

use gatehouse_tests::{Installation, ROLE, WORKLOAD};
use serde_json::json;

/// The folder of each release.
fn stores() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("faults/stores");
    let mut stores: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    stores.sort();
    stores
}

#[test]
fn s12_stores_of_earlier_releases_open_and_keep_what_they_held() {
    let stores = stores();
    assert!(!stores.is_empty());
    for store in stores {
        let mut installation = Installation::over_kept_store(&store).unwrap();
        assert_kept(&installation, &store);
        // A store that the new server has written opens again, too.
        assert_eq!(installation.server().terminate().unwrap(), Some(0));
        installation.run().unwrap();
        assert_kept(&installation, &store);
    }
}

fn assert_kept(installation: &Installation, store: &Path) {
    let read = |path: &str| {
        let answer = installation.as_root("GET", path, None);
        assert_eq!(
            answer.status,
            200,
            "{}: {path}: {answer:?}",
            store.display()
        );
        answer.json()
    };
    let config = read("/v1/auth/gcp/config");
    assert!(config["data"]["client_email"].is_string(), "{config}");
    let role = read(&format!("/v1/auth/gcp/role/{ROLE}"));
    assert_eq!(role["data"]["bound_service_accounts"], json!([WORKLOAD]));
    let roles = read("/v1/auth/gcp/roles?list=true");
    let roles = roles["data"]["keys"].as_array().unwrap().clone();
    assert!(roles.contains(&json!(ROLE)), "{roles:?}");
    let policy = read("/v1/sys/policies/acl/demo");
    let text = policy["data"]["policy"].as_str().unwrap();
    assert!(text.contains("organizations/demo*"), "{policy}");
    let group = read("/v1/identity/group/name/kept");
    assert_eq!(group["data"]["policies"], json!(["demo"]));
    let token_role = read("/v1/auth/token/roles/kept");
    assert_eq!(token_role["data"]["allowed_policies"], json!(["demo"]));
    let organization = read("/api/v2/organizations/demo-kept");
    let attributes = &organization["data"]["attributes"];
    assert_eq!(attributes["email"], "kept@example.com");
    // The workload that logged in before has an entity.
    let entities = read("/v1/identity/entity/id?list=true");
    let entities = entities["data"]["keys"].as_array().unwrap().clone();
    assert_eq!(entities.len(), 1, "{entities:?}");
}
