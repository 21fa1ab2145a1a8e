//! The description of a server that speaks Vault's protocol, read through its API, and the names of what cannot be copied.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::Value;

use super::Fields;
use super::client::{Server, below, fixed};
use super::comparison::RENAMED;
use super::description::{Alias, AuthMount, Description, Entity, Group, PolicyText, mount_path};
use super::reconciler::object;
use crate::commands::progress::Progress;

/// The type of method that is copied.
const METHOD: &str = "gcp";

/// Policies that belong to a server.
const BUILT_IN_POLICIES: [&str; 3] = ["root", "response-wrapping", "control-group"];

/// Engines that each server has.
const BUILT_IN_ENGINES: [&str; 4] = ["cubbyhole", "identity", "system", "ns_system"];

/// Fields that a read of a configuration shows and a write does not take.
const SHOWN_OF_CONFIG: [&str; 6] = [
    "client_email",
    "client_id",
    "credentials_source",
    "private_key",
    "private_key_id",
    "project_id",
];

/// Fields that a read of a role shows and a write does not take.
const SHOWN_OF_ROLE: [&str; 2] = ["name", "role_id"];

/// The fields of roles, entities and groups, beside the bounds of logins, that decide what a token may do and from where.
const RIGHTS: [&str; 6] = [
    "allowed_policies",
    "allowed_policies_glob",
    "disallowed_policies",
    "policies",
    "token_bound_cidrs",
    "token_policies",
];

/// The description read of a server.
#[derive(Debug, Default)]
pub(in crate::commands) struct Taken {
    pub(in crate::commands) description: Description,
    /// Paths of methods whose private key the server keeps to itself.
    pub(in crate::commands) keyless: Vec<String>,
    /// The objects that are not copied, each with its kind and name.
    pub(in crate::commands) left: Vec<String>,
    /// The paths that could not be read, each with the reason.
    pub(in crate::commands) failures: Vec<String>,
}

/// Reads all that can be copied, and continues after paths that cannot be read. `progress` is told of each read.
pub(in crate::commands) async fn take(server: &Server, progress: &Progress) -> Taken {
    let mut taking = Taking {
        server,
        progress,
        taken: Taken::default(),
    };
    taking.policies().await;
    taking.auth_methods().await;
    taking.engines().await;
    taking.token_roles().await;
    let entity_names = taking.entities().await;
    taking.groups(&entity_names).await;
    taking.taken
}

struct Taking<'a> {
    server: &'a Server,
    progress: &'a Progress,
    taken: Taken,
}

impl Taking<'_> {
    /// The answer, or nothing, with a note about the failure.
    fn noted<T>(&mut self, what: &str, outcome: Result<T>) -> Option<T> {
        self.progress.one_more();
        match outcome {
            Ok(value) => Some(value),
            Err(error) => {
                self.taken.failures.push(format!("{what}: {error:#}"));
                None
            }
        }
    }

    async fn list(&mut self, what: &str, path: &str) -> Vec<String> {
        let listed = self.server.list(&fixed(path)).await;
        let mut names = self.noted(what, listed).unwrap_or_default();
        names.retain(|name| {
            // Only the name of a folder ends with a slash, and no object that is copied is one.
            let is_folder = name.ends_with('/');
            if is_folder {
                self.taken
                    .left
                    .push(format!("{what}: what is below {name}"));
            }
            !is_folder
        });
        names
    }

    async fn read(&mut self, what: &str, path: &[String]) -> Option<Fields> {
        let found = async { self.server.read(path).await?.found() }.await;
        object(self.noted(what, found)?)
    }

    async fn policies(&mut self) {
        for name in self.list("policies", "sys/policies/acl").await {
            if BUILT_IN_POLICIES.contains(&name.as_str()) {
                continue;
            }
            let label = format!("policy {name}");
            let found = self.read(&label, &below("sys/policies/acl", &name)).await;
            let text = found
                .as_ref()
                .and_then(|found| found.get("policy")?.as_str());
            if let Some(text) = text {
                let text = PolicyText::Here(text.to_owned());
                self.taken.description.policies.insert(name, text);
            }
        }
    }

    async fn auth_methods(&mut self) {
        let listed = async { self.server.read(&fixed("sys/auth")).await?.data() }.await;
        let Some(Value::Object(listed)) = self.noted("auth methods", listed) else {
            return;
        };
        for (path, mount) in listed {
            let mount_type = text(&mount, "type").to_owned();
            if mount_type != METHOD {
                let left = format!("auth method {path} of type {mount_type}");
                self.taken.left.push(left);
                continue;
            }
            let path = mount_path(&path).to_owned();
            let mut tune = object(mount.get("config").cloned()).unwrap_or_default();
            if let Some(options) = mount.get("options") {
                tune.insert("options".to_owned(), options.clone());
            }
            // Each server has its own versions.
            tune.remove("plugin_version");
            tune.retain(|_, value| !is_empty(value) && !is_zero(value));
            let described = AuthMount {
                mount_type,
                description: Some(text(&mount, "description").to_owned())
                    .filter(|text| !text.is_empty()),
                tune,
                config: self.configuration(&path).await,
                roles: self.roles(&path).await,
            };
            self.taken.description.auth.insert(path, described);
        }
    }

    async fn configuration(&mut self, path: &str) -> Fields {
        let label = format!("configuration of {path}/");
        let found = self
            .read(&label, &fixed(&format!("auth/{path}/config")))
            .await;
        let mut config = found.unwrap_or_default();
        let has_key = ["private_key_id", "client_email"]
            .iter()
            .any(|name| config.get(*name).is_some_and(|value| !is_empty(value)));
        if has_key {
            self.taken.keyless.push(path.to_owned());
        }
        config.retain(|name, value| {
            !SHOWN_OF_CONFIG.contains(&name.as_str()) && !is_empty(value) && !is_zero(value)
        });
        config
    }

    async fn roles(&mut self, path: &str) -> BTreeMap<String, Fields> {
        let mut roles = BTreeMap::new();
        let what = format!("roles of {path}/");
        for name in self.list(&what, &format!("auth/{path}/role")).await {
            let label = format!("role {path}/{name}");
            let found = self
                .read(&label, &below(&format!("auth/{path}/role"), &name))
                .await;
            if let Some(fields) = found {
                roles.insert(name, role_fields(fields));
            }
        }
        roles
    }

    async fn engines(&mut self) {
        let listed = async { self.server.read(&fixed("sys/mounts")).await?.data() }.await;
        let listed = self.noted("secrets engines", listed).unwrap_or_default();
        for (path, engine) in listed.as_object().into_iter().flatten() {
            let engine_type = text(engine, "type");
            if !BUILT_IN_ENGINES.contains(&engine_type) {
                let left = format!("secrets engine {path} of type {engine_type}");
                self.taken.left.push(left);
            }
        }
    }

    async fn token_roles(&mut self) {
        for name in self.list("token roles", "auth/token/roles").await {
            let label = format!("token role {name}");
            let found = self.read(&label, &below("auth/token/roles", &name)).await;
            if let Some(fields) = found {
                let fields = role_fields(fields);
                self.taken.description.token_roles.insert(name, fields);
            }
        }
    }

    /// Reads entities and their aliases. Answers the names of the entities, by identifier.
    async fn entities(&mut self) -> BTreeMap<String, String> {
        let mut names = BTreeMap::new();
        for name in self.list("entities", "identity/entity/name").await {
            let label = format!("entity {name}");
            let Some(found) = self
                .read(&label, &below("identity/entity/name", &name))
                .await
            else {
                continue;
            };
            if let Some(id) = found.get("id").and_then(Value::as_str) {
                names.insert(id.to_owned(), name.clone());
            }
            let aliases = found.get("aliases").and_then(Value::as_array);
            let aliases = aliases.into_iter().flatten();
            let aliases = aliases
                .filter_map(|alias| self.alias(&label, alias))
                .collect();
            let fields = chosen(found, &["disabled", "metadata", "policies"]);
            self.taken
                .description
                .entities
                .insert(name, Entity { aliases, fields });
        }
        names
    }

    async fn groups(&mut self, entity_names: &BTreeMap<String, String>) {
        let mut found_groups: Vec<(String, Fields)> = Vec::new();
        for name in self.list("groups", "identity/group/name").await {
            let label = format!("group {name}");
            let path = below("identity/group/name", &name);
            if let Some(found) = self.read(&label, &path).await {
                found_groups.push((name, found));
            }
        }
        let group_names: BTreeMap<String, String> = found_groups
            .iter()
            .filter_map(|(name, found)| Some((found.get("id")?.as_str()?.to_owned(), name.clone())))
            .collect();
        for (name, found) in found_groups {
            let label = format!("group {name}");
            let is_external = found.get("type").and_then(Value::as_str) == Some("external");
            let mut members = |field: &str, names: &BTreeMap<String, String>| {
                let ids = found.get(field).and_then(Value::as_array);
                let ids = ids.into_iter().flatten().filter_map(Value::as_str);
                let mut known = Vec::new();
                for id in ids {
                    match names.get(id) {
                        Some(name) => known.push(name.clone()),
                        None => self.taken.left.push(format!("member {id} of {label}")),
                    }
                }
                // An empty list is written too: otherwise members that only this server's group has would keep its rights.
                Some(known)
            };
            let member_groups = members("member_group_ids", &group_names);
            // Logins bring the members of an external group.
            let member_entities = match is_external {
                true => None,
                false => members("member_entity_ids", entity_names),
            };
            let alias = found.get("alias").filter(|alias| !is_empty(alias)).cloned();
            let group = Group {
                alias: alias.and_then(|alias| self.alias(&label, &alias)),
                member_entities,
                member_groups,
                fields: chosen(found, &["metadata", "policies", "type"]),
            };
            self.taken.description.groups.insert(name, group);
        }
    }

    /// An alias, if it is one of a method that is copied.
    fn alias(&mut self, owner: &str, alias: &Value) -> Option<Alias> {
        let mount = mount_path(text(alias, "mount_path"));
        let name = text(alias, "name");
        let mount_type = text(alias, "mount_type");
        if mount_type != METHOD {
            let left = format!("alias {name} of {owner} at {mount}/ of type {mount_type}");
            self.taken.left.push(left);
            return None;
        }
        Some(Alias {
            mount: mount.to_owned(),
            name: name.to_owned(),
            custom_metadata: alias
                .get("custom_metadata")
                .filter(|value| !is_empty(value))
                .cloned(),
        })
    }
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The fields of a role that a write takes, each by one name.
fn role_fields(mut fields: Fields) -> Fields {
    let names: Vec<String> = fields.keys().cloned().collect();
    for name in names {
        // Older names are shown beside those that took their places.
        let is_repeated =
            RENAMED.contains(&name.as_str()) && fields.contains_key(&format!("token_{name}"));
        let is_left_out = fields.get(&name).is_some_and(is_empty) && !decides_rights(&name);
        if is_repeated || is_left_out || SHOWN_OF_ROLE.contains(&name.as_str()) {
            fields.remove(&name);
        }
    }
    with_empty_rights(fields)
}

fn chosen(mut fields: Fields, names: &[&str]) -> Fields {
    fields.retain(|name, value| {
        names.contains(&name.as_str()) && (!is_empty(value) || decides_rights(name))
    });
    with_empty_rights(fields)
}

/// True if a field decides which callers are let in, or what they may do. If it were left out where it is empty, the rights here would differ
/// from those there.
fn decides_rights(name: &str) -> bool {
    name.starts_with("bound_") || RIGHTS.contains(&name)
}

/// The same fields, with an empty list for each field of rights that the other server shows as null.
fn with_empty_rights(mut fields: Fields) -> Fields {
    for (name, value) in &mut fields {
        if value.is_null() && decides_rights(name) {
            *value = Value::Array(Vec::new());
        }
    }
    fields
}

/// Tells whether a value is the absence of one.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        _ => false,
    }
}

impl Taken {
    /// The description as a file, with the reminders that concern it.
    ///
    /// # Errors
    ///
    /// When it cannot be written as TOML.
    pub(in crate::commands) fn to_file_text(&self) -> Result<String> {
        let mut text = String::new();
        for path in &self.keyless {
            text.push_str(&format!(
                "# The private key of {path}/ could not be read: add config.credentials = {{ file = \"key.json\" }}.\n"
            ));
        }
        text.push_str(
            &self
                .description
                .to_toml()
                .context("it cannot be written as TOML")?,
        );
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_role_is_taken_with_rights_that_are_empty_and_without_what_its_server_made_and_older_names()
    {
        let shown = json!({
            "role_id": "1", "name": "dev", "policies": ["a"], "token_policies": ["a"], "ttl": 1, "token_ttl": 1,
            "bound_projects": [], "renewable": false, "type": "iam", "allowed_entity_aliases": null, "token_type": "batch",
            "allowed_policies": null, "path_suffix": "",
        });
        let fields = role_fields(object(Some(shown)).unwrap());
        let expected = json!({"allowed_policies": [], "bound_projects": [], "token_policies": ["a"], "token_ttl": 1, "renewable": false, "type": "iam", "token_type": "batch"});
        assert_eq!(Value::Object(fields), expected);
    }

    #[test]
    fn the_file_says_which_keys_it_lacks() {
        let taken = Taken {
            keyless: vec!["gcp".to_owned()],
            ..Taken::default()
        };
        let text = taken.to_file_text().unwrap();
        assert!(
            text.starts_with("# The private key of gcp/ could not be read"),
            "{text}"
        );
    }
}
