//! The forms of roles, configurations and tunings against the API's own description: a field that it gains has to be in the form as well.

use serde_json::Value;

use crate::SERVER;
use crate::browser::Browser;

/// The fields that a POST to `path` takes, without old names for what others say.
fn fields_of(document: &Value, path: &str) -> Vec<String> {
    let content = &document["paths"][path]["post"]["requestBody"]["content"];
    let schema = &content["application/json"]["schema"];
    let pointer = schema["$ref"].as_str().unwrap_or_default();
    let schema = document
        .pointer(pointer.trim_start_matches('#'))
        .unwrap_or_else(|| panic!("{path} takes no body: {schema}"));
    let properties = schema["properties"].as_object().unwrap();
    let current = properties
        .iter()
        .filter(|(_, field)| field["deprecated"] != true);
    current.map(|(name, _)| name.clone()).collect()
}

#[test]
fn every_field_that_the_api_takes_is_in_its_form_and_explained() {
    let described = SERVER.as_root("GET", "/v1/sys/internal/specs/openapi", None);
    let document = described.json();
    let mut browser = Browser::signed_in(SERVER.process.address(), &SERVER.root_token);
    for (path, page, known, without) in [
        (
            "/auth/gcp/role/{name}",
            "/ui/roles/edit?mount=gcp",
            "token_policies",
            &[][..],
        ),
        (
            "/auth/gcp/config",
            "/ui/mounts/config?mount=gcp",
            "credentials",
            &[],
        ),
        (
            "/sys/mounts/auth/{path}/tune",
            "/ui/mounts/tune?mount=gcp",
            "max_lease_ttl",
            // The method has no options, and there is one version of it.
            &["options", "plugin_version"],
        ),
    ] {
        let fields = fields_of(&document, path);
        assert!(fields.iter().any(|field| field == known), "{fields:?}");
        let shown = browser.get(page);
        assert_eq!(shown.status, 200, "{}", shown.text);
        for field in fields {
            if without.contains(&field.as_str()) {
                continue;
            }
            let is_there = shown.text.contains(&format!(" name=\"{field}\""));
            let is_explained = shown.text.contains(&format!(" id=\"{field}-help\""));
            assert!(is_there && is_explained, "{page} has no field {field}");
        }
    }
}
