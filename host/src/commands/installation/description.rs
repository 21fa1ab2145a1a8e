//! The description of an installation: a file, in TOML or JSON.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use zeroize::{Zeroize as _, Zeroizing};

use super::Fields;
use crate::commands::bounded_file::read_bounded;

/// Most bytes of a description, and of a file that it names.
const MAXIMUM_FILE: u64 = 16 << 20;

/// The fields of a method's configuration that no server shows.
pub(super) const SECRET_FIELDS: [&str; 1] = ["credentials"];

/// The description of what an installation is to have. Objects that it does not name stay as they are.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::commands) struct Description {
    /// Texts of policies, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) policies: BTreeMap<String, PolicyText>,
    /// Auth methods, by the path below `auth/`, without a slash at its end.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) auth: BTreeMap<String, AuthMount>,
    /// Roles of `auth/token`, by name, with the fields of `auth/token/roles/<name>`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) token_roles: BTreeMap<String, Fields>,
    /// Entities, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) entities: BTreeMap<String, Entity>,
    /// Groups, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) groups: BTreeMap<String, Group>,
    /// Organizations, by name, with the attributes of `/api/v2/organizations/<name>`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) organizations: BTreeMap<String, Fields>,
}

/// The text of a policy, or the file that holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum PolicyText {
    Here(String),
    InFile(InFile),
}

/// A value that stands in a file of its own; a relative path is one from the folder of the description.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InFile {
    file: PathBuf,
}

/// An auth method.
#[derive(PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AuthMount {
    #[serde(rename = "type", default = "gcp")]
    pub(super) mount_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<String>,
    /// The fields of `sys/auth/<path>/tune`.
    #[serde(default, skip_serializing_if = "Fields::is_empty")]
    pub(super) tune: Fields,
    /// The fields of `auth/<path>/config`.
    #[serde(default, skip_serializing_if = "Fields::is_empty")]
    pub(super) config: Fields,
    /// Roles, by name, with the fields of `auth/<path>/role/<name>`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) roles: BTreeMap<String, Fields>,
}

/// Shows no configuration, which may hold secrets.
impl std::fmt::Debug for AuthMount {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("AuthMount")
            .field("mount_type", &self.mount_type)
            .finish_non_exhaustive()
    }
}

impl Drop for AuthMount {
    fn drop(&mut self) {
        for name in SECRET_FIELDS {
            if let Some(Value::String(secret)) = self.config.get_mut(name) {
                secret.zeroize();
            }
        }
    }
}

/// The type of a mount that names none: the one that the server has.
pub(super) fn gcp() -> String {
    "gcp".to_owned()
}

/// An entity: the fields of `identity/entity/name/<name>`, and its aliases.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Entity {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) aliases: Vec<Alias>,
    #[serde(flatten)]
    pub(super) fields: Fields,
}

/// A group: the fields of `identity/group/name/<name>`, its alias, and its members by name, for identifiers are each server's own.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Group {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) alias: Option<Alias>,
    /// Names of entities; stands for `member_entity_ids`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) member_entities: Option<Vec<String>>,
    /// Names of groups; stands for `member_group_ids`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) member_groups: Option<Vec<String>>,
    #[serde(flatten)]
    pub(super) fields: Fields,
}

/// The name by which an auth method knows an entity or a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Alias {
    /// The path of the method below `auth/`; stands for `mount_accessor`, which is each server's own.
    pub(super) mount: String,
    pub(super) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) custom_metadata: Option<Value>,
}

impl Description {
    /// Reads a description, and the files that it names. A file whose name ends in `.json` is JSON, any other one TOML.
    ///
    /// # Errors
    ///
    /// When a file cannot be read, or is no description. The error says where, and shows nothing of it.
    pub(in crate::commands) fn read(path: &Path) -> Result<Self> {
        let text = read_bounded(path, MAXIMUM_FILE)?;
        let is_json = path
            .extension()
            .is_some_and(|it| it.eq_ignore_ascii_case("json"));
        let parsed = if is_json {
            from_json(&text)
        } else {
            from_toml(&text)
        };
        let mut description =
            parsed.with_context(|| format!("{} is not usable", path.display()))?;
        description.take_in_files(path.parent().unwrap_or(Path::new("")))?;
        description.tidy_paths()?;
        Ok(description)
    }

    /// The description as TOML.
    ///
    /// # Errors
    ///
    /// When it holds what TOML cannot, such as null.
    pub(in crate::commands) fn to_toml(&self) -> Result<String> {
        Ok(toml::to_string_pretty(self)?)
    }

    /// Puts the contents of named files in their places.
    fn take_in_files(&mut self, folder: &Path) -> Result<()> {
        for policy in self.policies.values_mut() {
            if let PolicyText::InFile(InFile { file }) = policy {
                let text = read_bounded(&folder.join(file), MAXIMUM_FILE)?;
                *policy = PolicyText::Here(text.to_string());
            }
        }
        for mount in self.auth.values_mut() {
            for name in SECRET_FIELDS {
                let Some(value @ Value::Object(_)) = mount.config.get_mut(name) else {
                    continue;
                };
                // A key itself, as a table, is what the server takes as text.
                *value = match serde_json::from_value::<InFile>(value.clone()) {
                    Ok(InFile { file }) => {
                        let text = read_bounded(&folder.join(file), MAXIMUM_FILE)?;
                        Value::String(text.to_string())
                    }
                    Err(_) => Value::String(value.to_string()),
                };
            }
        }
        Ok(())
    }

    /// Gives each mount the one spelling of its path.
    fn tidy_paths(&mut self) -> Result<()> {
        let mut mounts = BTreeMap::new();
        for (path, mount) in std::mem::take(&mut self.auth) {
            let path = mount_path(&path).to_owned();
            if mounts.insert(path.clone(), mount).is_some() {
                bail!("auth.{path:?} is described twice");
            }
        }
        self.auth = mounts;
        Ok(())
    }
}

/// The path of a mount, as descriptions and most answers spell it: below `auth/`, without slashes around it.
pub(super) fn mount_path(path: &str) -> &str {
    let path = path.trim_matches('/');
    path.strip_prefix("auth/").unwrap_or(path)
}

/// The parser's own message would quote the line, which may hold a secret.
fn from_toml(text: &str) -> Result<Description> {
    toml::from_str(text).map_err(|error| {
        let place = error.span().map(|span| line_of(text, span.start));
        let place = place.map_or_else(String::new, |line| format!("line {line}: "));
        let message = Zeroizing::new(error.message().to_owned());
        anyhow::anyhow!("{place}{}", first_words(&message))
    })
}

fn from_json(text: &str) -> Result<Description> {
    serde_json::from_str(text).map_err(|error| {
        anyhow::anyhow!(
            "line {}, column {}: this is not what a description has there",
            error.line(),
            error.column()
        )
    })
}

/// The part of a parser's message that says which rule was broken, without the value that broke it.
fn first_words(message: &str) -> &str {
    let end = message.find(['"', '\n']).unwrap_or(message.len());
    message.get(..end).unwrap_or_default().trim_end()
}

fn line_of(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().get(..offset).unwrap_or_default();
    memchr::memchr_iter(b'\n', before).count().saturating_add(1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(name: &str, text: &str) -> Result<Description> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(folder.path().join("key.json"), "KEY").unwrap();
        std::fs::write(folder.path().join("readers.hcl"), "path \"a\" {}\n").unwrap();
        std::fs::write(&path, text).unwrap();
        Description::read(&path)
    }

    #[test]
    fn fields_pass_through_and_files_are_taken_in() {
        let text = r#"
            [policies]
            readers = { file = "readers.hcl" }
            [auth."auth/gcp/"]
            config.credentials = { file = "key.json" }
            config.custom_endpoint = { api = "https://www.googleapis.com" }
            roles.dev = { type = "iam", a_field_of_tomorrow = ["x"], token_ttl = "1h" }
            [entities.ada]
            metadata = { team = "engines" }
            aliases = [{ mount = "gcp", name = "1234" }]
            [groups.ops]
            member_entities = ["ada"]
            policies = ["readers"]
        "#;
        let description = read("installation.toml", text).unwrap();
        let mount = &description.auth["gcp"];
        assert_eq!(mount.mount_type, "gcp");
        assert_eq!(mount.config["credentials"], "KEY");
        assert_eq!(
            mount.config["custom_endpoint"]["api"],
            "https://www.googleapis.com"
        );
        assert_eq!(mount.roles["dev"]["a_field_of_tomorrow"], json!(["x"]));
        let text = PolicyText::Here("path \"a\" {}\n".to_owned());
        assert_eq!(description.policies["readers"], text);
        assert_eq!(
            description.entities["ada"].fields["metadata"]["team"],
            "engines"
        );
        assert_eq!(
            description.groups["ops"].fields["policies"],
            json!(["readers"])
        );
        assert!(!format!("{mount:?}").contains("KEY"));
    }

    #[test]
    fn json_says_the_same_and_a_key_may_stand_in_it() {
        let text = r#"{"auth": {"gcp": {"config": {"credentials": {"type": "service_account"}}}},
                       "organizations": {"acme": {"email": "a@example.com"}}}"#;
        let description = read("installation.JSON", text).unwrap();
        let credentials = &description.auth["gcp"].config["credentials"];
        assert_eq!(credentials, r#"{"type":"service_account"}"#);
        assert_eq!(description.organizations["acme"]["email"], "a@example.com");
    }

    #[test]
    fn a_mistake_is_located_and_nothing_of_the_file_is_shown() {
        for (name, text, place) in [
            ("a.toml", "policies = \"SECRET\"\n", "line 1"),
            (
                "a.toml",
                "[auth.gcp]\nconfig.credentials = \"SECRET\nx\"",
                "line 3",
            ),
            ("a.toml", "[auth.gcp]\ntype = { x = \"SECRET\" }", "line 2"),
            (
                "a.json",
                "{\"policies\": {}, \n\"other\": \"SECRET\"}",
                "line 2",
            ),
        ] {
            let message = format!("{:#}", read(name, text).unwrap_err());
            assert!(message.contains(place), "{message}");
            assert!(!message.contains("SECRET"), "{message}");
        }
        let twice = read("a.toml", "[auth.gcp]\n[auth.\"gcp/\"]\n").unwrap_err();
        assert!(twice.to_string().contains("twice"), "{twice}");
    }

    #[test]
    fn a_description_that_is_written_reads_the_same() {
        let text = "[policies]\na = \"\"\"\npath \"x\" {}\n\"\"\"\n[entities.\"a b\"]\nmetadata = { x = \"y\" }\n\
                    [groups.g]\ntype = \"external\"\nalias = { mount = \"gcp\", name = \"n\" }\n";
        let description = read("a.toml", text).unwrap();
        let again = read("b.toml", &description.to_toml().unwrap()).unwrap();
        assert_eq!(again, description);
    }
}
