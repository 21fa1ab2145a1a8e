//! Request bodies in the form in which the Go client writes them: members without a value are left out.

use serde_json::{Value, json};

/// A resource without an id, of any type. The Go client sends an empty type for some.
pub fn resource(kind: &str, attributes: Value) -> Value {
    let mut data = json!({"type": kind});
    if attributes
        .as_object()
        .is_some_and(|members| !members.is_empty())
    {
        data["attributes"] = attributes;
    }
    json!({"data": data})
}

/// The same for an organization.
pub fn organization(attributes: Value) -> Value {
    resource("organizations", attributes)
}

/// A body that names resources and says nothing of them.
pub fn identifiers(kind: &str, ids: &[&str]) -> Value {
    let data: Vec<Value> = ids
        .iter()
        .map(|id| json!({"type": kind, "id": id}))
        .collect();
    json!({"data": data})
}
