//! Answers as the values that operations give, as far as requests show them.

use gatehouse_tests::Answer;
use serde_json::{Value, json};

/// The result that an answer tells where something was done; `None` where it is a refusal.
pub fn result(operation: &str, answer: &Answer) -> Option<Value> {
    let body = answer.json();
    let data = &body["data"];
    if answer.status == 404 {
        // That something is not there is an answer to these, and a refusal of the others.
        return match operation {
            "read-role" | "read-organization" => Some(Value::Null),
            "list-roles" => Some(json!([])),
            "delete-organization" => Some(json!(false)),
            _ => None,
        };
    }
    if answer.status >= 300 {
        return None;
    }
    Some(match operation {
        "read-config" => config(data),
        "read-role" => role(data),
        "list-roles" => data["keys"].clone(),
        "write-config" | "edit-role-accounts" => match &body["warnings"] {
            Value::Null => json!([]),
            warnings => warnings.clone(),
        },
        "write-role" => json!({}),
        "log-in" => identity(&body["auth"]),
        "create-organization" | "read-organization" | "update-organization" => organization(data),
        "list-organizations" => {
            let listed = data.as_array().into_iter().flatten();
            json!({"organizations": listed.map(organization).collect::<Value>()})
        }
        "delete-organization" => json!(true),
        _ => Value::Null,
    })
}

fn config(data: &Value) -> Value {
    let alias = |name: &str, of_caller: &str| match &data[name] {
        alias if alias == "role_id" => json!("role-id"),
        alias if alias == of_caller => json!("caller"),
        other => other.clone(),
    };
    let credentials = match &data["client_email"] {
        Value::Null => Value::Null,
        email => json!({"client-email": email}),
    };
    let endpoint = |name: &str| data["custom_endpoint"][name].clone();
    json!({
        "credentials": credentials,
        "iam-alias": alias("iam_alias", "unique_id"),
        "gce-alias": alias("gce_alias", "instance_id"),
        "custom-endpoint": {"api": endpoint("api"), "iam": endpoint("iam")},
        "identity-token-audience": data["identity_token_audience"],
        "identity-token-ttl": data["identity_token_ttl"],
    })
}

fn role(data: &Value) -> Value {
    json!({
        "role-id": data["role_id"],
        "rules": {"tag": data["type"], "val": {"maximum-jwt-lifetime": data["max_jwt_exp"]}},
        "bound-service-accounts": data["bound_service_accounts"],
        "bound-projects": data["bound_projects"],
        "token": {"ttl": data["token_ttl"], "policies": data["token_policies"]},
    })
}

/// The identity that has logged in. Tokens have the policy `default` beside those of the role.
fn identity(auth: &Value) -> Value {
    let policies = auth["policies"].as_array().into_iter().flatten();
    let metadata = auth["metadata"].as_object().into_iter().flatten();
    json!({
        "role": auth["metadata"]["role"],
        "token": {"policies": policies.filter(|name| *name != "default").collect::<Vec<_>>()},
        "metadata": metadata.map(|(name, value)| json!([name, value])).collect::<Value>(),
    })
}

fn organization(data: &Value) -> Value {
    let attributes = &data["attributes"];
    json!({
        "name": attributes["name"],
        "external-id": attributes["external-id"],
        "settings": {
            "email": attributes["email"],
            "session-timeout": attributes["session-timeout"],
        },
    })
}
