//! Operations as requests.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

/// The request that is sent for an operation.
#[derive(Debug)]
pub struct Request {
    /// The method, `LIST` too.
    pub method: &'static str,
    /// With the query.
    pub path: String,
    /// Where there is one.
    pub body: Option<Value>,
    /// True if it is sent without a token.
    pub is_login: bool,
}

impl Request {
    /// The request for an operation with these arguments; those that are not given have no place in requests.
    pub fn for_operation(
        operation: &str,
        given: &Value,
        mount: &str,
        names: &HashMap<String, String>,
    ) -> Self {
        let changes = || Some(snake_case(&given["changes"]));
        let text = |name: &str| given[name].as_str().unwrap_or_default();
        let of_mount = |path: &str| format!("/v1/auth/{mount}/{path}");
        let role = || of_mount(&format!("role/{}", text("name")));
        let organization = || {
            let id = text("external-id");
            let name = names.get(id).map_or(id, String::as_str);
            format!("/api/v2/organizations/{name}")
        };
        let document = || {
            let attributes = attributes(&given["changes"]);
            Some(json!({"data": {"type": "organizations", "attributes": attributes}}))
        };
        let (method, path, body) = match operation {
            "write-config" => {
                let mut changes = snake_case(&given["changes"]);
                if let Some(endpoints) = given["changes"]["custom-endpoint"].as_array() {
                    let pair = |pair: &Value| Some((pair[0].as_str()?.to_owned(), pair[1].clone()));
                    changes["custom_endpoint"] = endpoints.iter().filter_map(pair).collect();
                }
                ("POST", of_mount("config"), Some(changes))
            }
            "read-config" => ("GET", of_mount("config"), None),
            "delete-config" => ("DELETE", of_mount("config"), None),
            "write-role" => ("POST", role(), changes().map(with_type)),
            "read-role" => ("GET", role(), None),
            "delete-role" => ("DELETE", role(), None),
            "list-roles" => ("LIST", of_mount("roles"), None),
            "edit-role-accounts" => {
                let path = format!("{}/service-accounts", role());
                ("POST", path, Some(given["edit"].clone()))
            }
            "log-in" => ("POST", of_mount("login"), Some(given["request"].clone())),
            "create-organization" => ("POST", "/api/v2/organizations".to_owned(), document()),
            "read-organization" => {
                let path = format!("/api/v2/organizations/{}", text("name"));
                ("GET", path, None)
            }
            "list-organizations" => {
                let name = given["filter"]["name"].as_str().unwrap_or_default();
                (
                    "GET",
                    format!("/api/v2/organizations?q%5Bname%5D={name}"),
                    None,
                )
            }
            "update-organization" => ("PATCH", organization(), document()),
            "delete-organization" => ("DELETE", organization(), None),
            _ => panic!("there is no request for {operation}"),
        };
        Self {
            method,
            path,
            body,
            is_login: operation == "log-in",
        }
    }
}

/// The names of WIT as `/v1` has them.
fn snake_case(changes: &Value) -> Value {
    let members = changes.as_object().into_iter().flatten();
    members
        .map(|(name, value)| (name.replace('-', "_"), value.clone()))
        .collect()
}

/// A role's type is called `type` there.
fn with_type(mut changes: Value) -> Value {
    if let Some(members) = changes.as_object_mut()
        && let Some(kind) = members.remove("role_type")
    {
        members.insert("type".to_owned(), kind);
    }
    changes
}

/// The attributes that changes speak of.
fn attributes(changes: &Value) -> Map<String, Value> {
    let members = changes.as_object().into_iter().flatten();
    members
        .filter(|(_, change)| change["tag"] != "absent")
        .map(|(name, change)| (name.clone(), change["val"].clone()))
        .collect()
}
