//! The fields that a server takes, by its own description of its API.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, bail};
use http::Method;
use serde_json::Value;

use super::Fields;
use super::client::{Server, fixed};
use super::report::shown;

/// A kind of object, by the path where it is written, without its mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    MethodConfig,
    MethodRole,
    Tuning,
    TokenRole,
    Entity,
    Group,
    Organization,
}

impl Kind {
    const ALL: [Self; 6] = [
        Self::MethodConfig,
        Self::MethodRole,
        Self::Tuning,
        Self::TokenRole,
        Self::Entity,
        Self::Group,
    ];

    /// Tells whether `path`, as the description of the API spells it, is where such objects are written.
    fn is_written_at(self, path: &str) -> bool {
        let of_method = |end: &str| {
            let rest = path
                .strip_prefix("/auth/{")
                .and_then(|rest| rest.strip_suffix(end));
            rest.is_some_and(|rest| rest.ends_with('}'))
        };
        match self {
            Self::MethodConfig => of_method("/config"),
            Self::MethodRole => of_method("/role/{name}"),
            Self::Tuning => path == "/sys/auth/{path}/tune",
            Self::TokenRole => path == "/auth/token/roles/{role_name}",
            Self::Entity => path == "/identity/entity/name/{name}",
            Self::Group => path == "/identity/group/name/{name}",
            // Described in another document.
            Self::Organization => false,
        }
    }
}

/// The fields of each kind, as far as the server tells them.
#[derive(Debug, Default)]
pub(super) struct ServedFields(BTreeMap<Kind, BTreeSet<String>>);

impl ServedFields {
    /// Asks the server. One that does not tell, or not this caller, is believed to serve all.
    pub(super) async fn ask(server: &Server) -> Self {
        let segments = fixed("sys/internal/specs/openapi");
        let asked = serde_json::json!({"generic_mount_paths": true});
        let mut served = match server.write(&segments, &asked).await {
            Ok(answer) if answer.status.is_success() => Self::in_document(&answer.body),
            _ => Self::default(),
        };
        let segments = fixed("openapi.json");
        let described = server.organizations(Method::GET, &segments, None).await;
        if let Ok(answer) = described
            && answer.status.is_success()
            && let Some(attributes) = organization_attributes(&answer.body)
        {
            served.0.insert(Kind::Organization, attributes);
        }
        served
    }

    fn in_document(document: &Value) -> Self {
        let paths = document.get("paths").and_then(Value::as_object);
        let mut found = BTreeMap::new();
        for (path, item) in paths.into_iter().flatten() {
            let Some(kind) = Kind::ALL.into_iter().find(|kind| kind.is_written_at(path)) else {
                continue;
            };
            if let Some(fields) = written_fields(document, item) {
                found.insert(kind, fields);
            }
        }
        Self(found)
    }

    /// Refuses fields that the server does not have.
    ///
    /// # Errors
    ///
    /// When there are some, with their names.
    pub(super) fn ensure_all(&self, kind: Kind, fields: &Fields) -> Result<()> {
        let unknown = self.unknown(kind, fields);
        if unknown.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = unknown.iter().map(|name| shown(name)).collect();
        bail!("the server has no such field: {}", names.join(", "))
    }

    /// The names of fields that the server does not have.
    pub(super) fn unknown(&self, kind: Kind, fields: &Fields) -> Vec<String> {
        let Some(known) = self.0.get(&kind) else {
            return Vec::new();
        };
        let unknown = fields.keys().filter(|name| !known.contains(*name));
        unknown.cloned().collect()
    }
}

/// The names of the attributes that an organization is made with or changed to.
fn organization_attributes(document: &Value) -> Option<BTreeSet<String>> {
    let written = [
        ("/api/v2/organizations", "post"),
        ("/api/v2/organizations/{name}", "patch"),
    ];
    let mut names = BTreeSet::new();
    for (path, method) in written {
        let operation = document.get("paths")?.get(path)?.get(method)?;
        let contents = operation.pointer("/requestBody/content")?.as_object()?;
        let data = contents
            .values()
            .find_map(|content| content.pointer("/schema/properties/data"))?;
        let attributes = referred(document, data)?.pointer("/properties/attributes")?;
        let attributes = attributes.get("properties")?.as_object()?;
        let taken = attributes
            .iter()
            .filter(|(_, schema)| schema.get("readOnly") != Some(&Value::Bool(true)));
        names.extend(taken.map(|(name, _)| name.clone()));
    }
    Some(names)
}

/// The schema itself, or the one that it names.
fn referred<'d>(document: &'d Value, schema: &'d Value) -> Option<&'d Value> {
    match schema.get("$ref").and_then(Value::as_str) {
        Some(reference) => document.pointer(reference.strip_prefix('#')?),
        None => Some(schema),
    }
}

/// The names of the fields that a POST to this path takes.
fn written_fields(document: &Value, item: &Value) -> Option<BTreeSet<String>> {
    let schema = item.pointer("/post/requestBody/content/application~1json/schema")?;
    let properties = referred(document, schema)?.get("properties")?.as_object()?;
    Some(properties.keys().cloned().collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unknown_fields_are_named_where_the_server_tells_its_own() {
        let document = json!({
            "paths": {
                "/auth/{gcp_mount_path}/role/{name}": {"post": {"requestBody": {"content": {"application/json":
                    {"schema": {"$ref": "#/components/schemas/RoleRequest"}}}}}},
                "/auth/{gcp_mount_path}/config": {"get": {}},
            },
            "components": {"schemas": {"RoleRequest": {"properties": {"type": {}, "token_ttl": {}}}}},
        });
        let served = ServedFields::in_document(&document);
        let fields = Fields::from_iter([
            ("type".to_owned(), json!("iam")),
            ("tokn_ttl".to_owned(), json!(1)),
        ]);
        let refused = served.ensure_all(Kind::MethodRole, &fields).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "the server has no such field: tokn_ttl"
        );
        served.ensure_all(Kind::MethodConfig, &fields).unwrap();
        served.ensure_all(Kind::TokenRole, &fields).unwrap();
        assert!(
            ServedFields::in_document(&Value::Null)
                .unknown(Kind::MethodRole, &fields)
                .is_empty()
        );
    }
}
