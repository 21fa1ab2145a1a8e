//! Bodies of roles, of configurations and of organizations, and the queries of lists.
//!
//! The first byte selects the reader. Properties (SEC-G15, K5, H11, V1): nothing panics; a role that was written is the same when it
//! is written again; no configuration that is accepted names another host than those of the APIs that are called, or shows its private
//! key; and the reader of an organization's document finds the same as another parser.

#![no_main]

use gatehouse_auth_method::{Settings, untrusted as method};
use gatehouse_gateway::organizations::untrusted as organizations;
use gatehouse_gateway::vault::untrusted as vault;
use gatehouse_gateway::{Method, Request};
use gatehouse_orgs_api::Attribute;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|input: &[u8]| {
    let Some((choice, input)) = input.split_first() else {
        return;
    };
    match choice % 4 {
        0 => role(&request("role/x", input)),
        1 => config(&request("config", input)),
        2 => organization(input),
        _ => {
            if let Ok(text) = std::str::from_utf8(input) {
                query(text);
            }
        }
    }
});

fn request(path: &str, body: &[u8]) -> Request {
    Request {
        body: body.to_vec(),
        ..Request::new(Method::Post, format!("/v1/auth/gcp/{path}"))
    }
}

fn role(request: &Request) {
    if let Some(changes) = vault::role_body(request)
        && let Ok(made) = method::role(None, &changes)
    {
        assert_eq!(method::role(Some(made.clone()), &changes), Ok(made));
    }
}

fn config(request: &Request) {
    let Some(changes) = vault::config_body(request) else {
        return;
    };
    let Ok(view) = method::config(&changes, &Settings::default()) else {
        return;
    };
    let endpoints = &view.custom_endpoint;
    for endpoint in [
        &endpoints.api,
        &endpoints.iam,
        &endpoints.crm,
        &endpoints.compute,
    ]
    .into_iter()
    .flatten()
    {
        let host = host(endpoint);
        // With the dot of the root at its end it is the same name.
        let host = host.trim_end_matches('.');
        assert!(is_callable(host), "{endpoint:?} names {host:?}");
    }
    let key_file = changes.credentials.as_deref().unwrap_or_default();
    let members = serde_json::from_str::<Value>(key_file).unwrap_or_default();
    // A shorter text may stand in another member by chance.
    if let Some(key) = members["private_key"].as_str()
        && key.len() >= 32
    {
        assert!(!format!("{view:?}").contains(key));
    }
}

/// The host of a base URL, by the plainest reading.
fn host(endpoint: &str) -> String {
    let endpoint = endpoint.trim().to_ascii_lowercase();
    let rest = endpoint
        .split_once("://")
        .map_or(endpoint.as_str(), |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    // An empty port is the usual one.
    let without_port = host.strip_suffix(":443").or(host.strip_suffix(':'));
    without_port.unwrap_or(host).to_owned()
}

/// The hosts that the contract lists (2.3), written down once more: the APIs that are called, their documented forms, and the two
/// names of private access. Below the same domain any customer may serve what they like, `storage.googleapis.com` first of all.
fn is_callable(host: &str) -> bool {
    const SERVICES: [&str; 7] = [
        "cloudresourcemanager",
        "compute",
        "iam",
        "iamcredentials",
        "oauth2",
        "sts",
        "www",
    ];
    let is_service = |label: &str| SERVICES.contains(&label);
    let is_plain = |label: &str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        !label.is_empty() && label.bytes().all(is_plain)
    };
    let Some(labels) = host.strip_suffix(".googleapis.com") else {
        return false;
    };
    let labels: Vec<&str> = labels.split('.').collect();
    match labels[..] {
        ["private" | "restricted"] => true,
        [service] | [service, "mtls"] => is_service(service),
        [service, region, "rep"] => is_service(service) && is_plain(region),
        [endpoint, "p"] => endpoint
            .split_once('-')
            .is_some_and(|(service, name)| is_service(service) && is_plain(name)),
        _ => false,
    }
}

fn organization(body: &[u8]) {
    let Some(changes) = organizations::organization(body) else {
        return;
    };
    let document: Value = serde_json::from_slice(body).expect("what is accepted is JSON");
    assert_eq!(document["data"]["type"], "organizations");
    if let Attribute::Value(email) = changes.email {
        let attributes = document["data"]["attributes"].as_object();
        let is_there = attributes.is_some_and(|all| all.values().any(|value| *value == email));
        assert!(is_there, "{email:?} is not in the document");
    }
}

fn query(text: &str) {
    let page = organizations::page(text);
    assert!((1..=100).contains(&(page.end - page.start)));
    let filter = organizations::filter(text);
    for wanted in [filter.name_or_email, filter.name, filter.email]
        .into_iter()
        .flatten()
    {
        assert!(!wanted.is_empty());
    }
}
