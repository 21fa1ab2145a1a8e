//! The settings of a server, as an application of Spin has them: variables, environment, stores.

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use gatehouse::application_credentials;
use gatehouse::settings::{Origin, SealType, Settings, StorageType};
use gatehouse_spin_postgres::Pools;
use gatehouse_spin_sqlite::{Databases, Nature};
use gatehouse_wasi_key_value::KeyValue;

use crate::platform::Platform;

/// The databases and key-value stores that the manifests declare.
pub const STORES: [&str; 3] = ["access", "auth-method", "orgs"];

/// The file of all key-value stores in the folder of `storage.path`, where the databases are too.
const STORES_FILE: &str = "key-value";

/// How the components' variables begin in the environment of the native host. As variables of Spin they go without it, in lower case.
const PREFIX: &str = "GATEHOUSE_";

/// The variable with the address at which clients find the server. The native host says where it listens; Spin does not.
const ADVERTISED_ADDRESS: &str = "advertised_address";

/// The variable that named the edition in the past.
const EDITION: &str = "edition";

/// The variable with the root key.
const SEAL_KEY: &str = "seal_key";

/// The variable with the address of the database, where records are kept in one.
const POSTGRES_URL: &str = "postgres_url";

/// How the components get the text of the server's own credentials at Google.
const CREDENTIALS: &str = "GATEHOUSE_GOOGLE_APPLICATION_CREDENTIALS";

/// Sections and settings that are taken from the file, or that become variables of the components.
const TAKEN: [&str; 11] = [
    "compatibility.",
    "components.",
    "google.",
    "limits.api_rate_limiting",
    "limits.login_",
    "listener.address",
    "listener.advertised_address",
    "log.",
    "organizations.",
    "seal.",
    "storage.",
];

/// The settings that the components of a server are given.
pub struct Surroundings {
    /// Variables of the application.
    pub variables: BTreeMap<String, String>,
    /// Environment variables.
    pub environment: Vec<(String, String)>,
}

impl Surroundings {
    /// The surroundings of a server with these settings that listens at `address`. `given` takes precedence over the variables that these make.
    ///
    /// # Errors
    ///
    /// When the settings ask for a feature that does not exist under Spin, or name files that cannot be used.
    pub fn new(
        settings: &Settings,
        address: SocketAddr,
        given: Vec<(String, String)>,
    ) -> Result<Self> {
        refuse_what_is_not_there(settings)?;
        let mut environment = settings.environment_for_components(address);
        if let Some(file) = &settings.google.application_credentials {
            let credentials = application_credentials::read(file)?;
            environment.push((CREDENTIALS.to_owned(), credentials.to_string()));
        }
        let mut variables: BTreeMap<String, String> = environment
            .iter()
            .filter_map(|(name, value)| {
                let name = name.strip_prefix(PREFIX)?.to_ascii_lowercase();
                Some((name, value.clone()))
            })
            .collect();
        // The edition is an environment variable, and the front refuses it among the variables of the application.
        variables.remove(EDITION);
        if settings.listener.advertised_address.is_none() {
            variables.remove(ADVERTISED_ADDRESS);
        }
        let key_file = settings.seal.key_file.as_deref();
        let key_file = key_file.context("seal.key_file is needed: there is no key of its own")?;
        let key = fs::read_to_string(key_file).context("seal.key_file")?;
        variables.insert(SEAL_KEY.to_owned(), key.trim().to_owned());
        if let Some(url) = &settings.storage.url {
            variables.insert(POSTGRES_URL.to_owned(), url.clone());
        }
        variables.extend(given);
        Ok(Self {
            variables,
            environment,
        })
    }
}

/// The stores and variables of an application with these settings, whose databases are of that nature. The files of the server are in
/// `folder`; the caller removes it.
///
/// # Errors
///
/// When the stores cannot be opened.
pub fn platform(
    settings: &Settings,
    variables: BTreeMap<String, String>,
    folder: &Path,
    nature: Nature,
) -> Result<Platform> {
    let (stores, databases) = kept(settings, folder)?;
    Ok(Platform {
        stores,
        databases: databases.with(nature),
        postgres: Pools::default(),
        variables: Arc::new(variables),
    })
}

/// The stores and databases of the application. Its component imports one of the two kinds, or neither.
fn kept(settings: &Settings, short_lived: &Path) -> Result<(KeyValue, Databases)> {
    let path: Option<&Path> = match settings.storage.kind {
        StorageType::Memory | StorageType::Postgresql => None,
        StorageType::Redb => settings.storage.path.as_deref(),
    };
    let Some(folder) = path else {
        let folder = short_lived.join("databases");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        let databases = Databases::in_folder(&folder, &STORES);
        return Ok((KeyValue::new(&STORES), databases));
    };
    fs::create_dir_all(folder).context("storage.path")?;
    let stores = KeyValue::in_file(&folder.join(STORES_FILE), &STORES).context("storage.path")?;
    Ok((stores, Databases::in_folder(folder, &STORES)))
}

/// Refuses settings without a meaning here: a test that sets one would test nothing.
fn refuse_what_is_not_there(settings: &Settings) -> Result<()> {
    ensure!(
        settings.seal.kind == SealType::KeyFile,
        "seal.type: under Spin the root key is a variable, and not in shares"
    );
    ensure!(
        settings.audit.is_empty(),
        "audit: there are no sinks under Spin"
    );
    ensure!(
        settings.listener.tls_files().is_none(),
        "listener.tls_cert_file: this host has no TLS"
    );
    for setting in settings.effective() {
        let is_taken = TAKEN.iter().any(|taken| setting.name.starts_with(taken));
        if setting.origin != Origin::Default && !is_taken {
            tracing::warn!("{} means nothing under Spin and is ignored", setting.name);
        }
    }
    Ok(())
}
