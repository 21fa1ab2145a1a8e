//! The configuration files of `deploy`: each is taken as it stands.

use std::fs;
use std::path::{Path, PathBuf};

use gatehouse::settings::{Settings, StorageType};

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            found.push(path);
        }
    }
}

#[test]
fn the_settings_of_every_deployment_are_without_fault_and_of_a_store_that_lasts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy");
    let mut found = Vec::new();
    files(&folder, &mut found);
    assert_eq!(found.len(), 3, "{found:?}");
    for file in found {
        let is_database = file.to_string_lossy().contains("postgresql");
        if is_database && !cfg!(feature = "postgresql") {
            continue;
        }
        let settings = Settings::load(&file, Vec::new(), Vec::new());
        let settings = settings.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        assert_ne!(settings.storage.kind, StorageType::Memory);
        assert!(settings.seal.key_file.is_some());
        assert!(settings.listener.tls_files().is_some());
        assert_eq!(settings.audit.len(), 1);
    }
}

#[test]
fn what_the_unit_for_a_database_puts_into_the_environment_is_taken() {
    let text = "[storage]\ntype = \"redb\"\npath = \"/var/lib/gatehouse\"\n[seal]\nkey_file = \"/etc/gatehouse/seal.key\"\n";
    let variables = [
        ("GATEHOUSE_SEAL_KEY_FILE", "/run/gatehouse/seal.key"),
        (
            "GATEHOUSE_STORAGE_PASSWORD_FILE",
            "/run/gatehouse/database.password",
        ),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let settings = Settings::from_text(text, variables, Vec::new()).unwrap();
    let key = settings.seal.key_file.unwrap();
    assert_eq!(key, Path::new("/run/gatehouse/seal.key"));
    let password = settings.storage.password_file.unwrap();
    assert_eq!(password, Path::new("/run/gatehouse/database.password"));
}
