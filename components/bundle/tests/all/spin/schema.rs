//! The application manifest of Spin, version 2, as far as it is used here. What is not named is refused, as Spin refuses it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub spin_manifest_version: u32,
    pub application: Application,
    #[serde(default)]
    pub variables: BTreeMap<String, Variable>,
    pub trigger: Triggers,
    pub component: BTreeMap<String, Component>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Application {
    pub name: String,
    pub version: String,
    pub description: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variable {
    #[serde(default)]
    pub required: bool,
    pub default: Option<String>,
    #[serde(default)]
    pub secret: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Triggers {
    pub http: Vec<HttpTrigger>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpTrigger {
    pub route: String,
    pub component: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Component {
    pub source: String,
    #[serde(default)]
    pub variables: BTreeMap<String, String>,
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    #[serde(default)]
    pub allowed_outbound_hosts: Vec<String>,
    #[serde(default)]
    pub key_value_stores: BTreeSet<String>,
    #[serde(default)]
    pub sqlite_databases: BTreeSet<String>,
    #[serde(default)]
    pub dependencies: BTreeMap<String, Dependency>,
    pub build: Build,
}

/// A dependency in a file. Its list of what it inherits is known to Spin 4 only.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dependency {
    pub path: String,
    pub inherit_configuration: BTreeSet<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Build {
    pub command: String,
    pub watch: Vec<String>,
}

/// The runtime configuration, as far as it is used here.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuntimeConfiguration {
    #[serde(default)]
    pub key_value_store: BTreeMap<String, StoreFile>,
    #[serde(default)]
    pub sqlite_database: BTreeMap<String, StoreFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoreFile {
    #[serde(rename = "type")]
    pub kind: String,
    pub path: String,
}

/// The file called `name` in the root folder of the workspace.
pub fn text(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(name);
    std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{} cannot be read: {error}", path.display()))
}

/// The manifest called `name`.
pub fn manifest(name: &str) -> Manifest {
    toml::from_str(&text(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

impl Manifest {
    /// The one component that there is.
    pub fn only_component(&self) -> &Component {
        assert_eq!(self.component.len(), 1);
        self.component.values().next().unwrap()
    }
}
