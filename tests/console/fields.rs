//! Forms against the descriptions that the APIs give of themselves: a field that an API gains has to be in the form as well.

use serde_json::{Value, json};

use crate::SERVER;
use crate::browser::{Browser, Shown};

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
            assert!(explains(&shown, &field), "{page} has no field {field}");
        }
    }
}

/// True if a form on the page has the field, and says what it is for.
fn explains(shown: &Shown, field: &str) -> bool {
    let has = |attribute: &str| shown.text.contains(&format!(" {attribute}\""));
    has(&format!("name=\"{field}")) && has(&format!("id=\"{field}-help"))
}

/// The attributes or relationships, as `members` says, that a PATCH of an organization takes.
fn written_of_organization(document: &Value, members: &str) -> Vec<String> {
    let schema = &document["components"]["schemas"]["Organization"];
    let properties = schema["properties"][members]["properties"].as_object();
    let properties = properties.unwrap_or_else(|| panic!("no {members} in {schema}"));
    let written = properties
        .iter()
        .filter(|(_, property)| property["readOnly"] != true);
    written.map(|(name, _)| name.clone()).collect()
}

#[test]
fn every_field_that_an_owner_may_set_is_in_the_form_of_an_organization_and_explained() {
    /// The fields that the form leaves out, each with the reason.
    const WITHOUT: [(&str, &str); 3] = [
        (
            "default-agent-pool-id",
            "the relationship default-agent-pool says the same",
        ),
        (
            "enforce-hyok",
            "no organization can have keys of its own to enforce",
        ),
        (
            "registry-monorepo-support-enabled",
            "the API does not show it, so that a form would overwrite it unseen",
        ),
    ];
    let document = SERVER.as_root("GET", "/api/v2/openapi.json", None).json();
    let attributes = written_of_organization(&document, "attributes");
    let relationships = written_of_organization(&document, "relationships");
    assert!(attributes.contains(&"email".to_owned()), "{attributes:?}");
    assert!(
        relationships.contains(&"default-agent-pool".to_owned()),
        "{relationships:?}"
    );
    let organization = json!({ "data": { "type": "organizations", "attributes": { "name": "console-fields", "email": "ops@example.com" } } });
    let made = SERVER.as_root("POST", "/api/v2/organizations", Some(&organization));
    assert_eq!(made.status, 201, "{made:?}");
    let mut browser = Browser::signed_in(SERVER.process.address(), &SERVER.root_token);
    let page = "/ui/organizations/show?name=console-fields";
    let shown = browser.get(page);
    assert_eq!(shown.status, 200, "{}", shown.text);
    for (field, why) in WITHOUT {
        assert!(attributes.contains(&field.to_owned()), "{field}: {why}");
        assert!(!explains(&shown, field), "{page} has the field {field}");
    }
    for field in attributes.iter().chain(&relationships) {
        let is_left_out = WITHOUT.iter().any(|(without, _)| without == field);
        assert!(
            is_left_out || explains(&shown, field),
            "{page} has no field {field}"
        );
    }
}
