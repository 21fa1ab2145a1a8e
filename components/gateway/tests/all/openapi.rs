//! The description of the API, which must be valid, complete and true (contract 6.1), and the help for a path (contract 1.10).

use std::collections::BTreeSet;

use gatehouse_gateway::Method;
use openapiv3::{OpenAPI, Operation, Parameter, PathItem, ReferenceOr, StatusCode};
use serde_json::{Value, json};

use super::server::{Answer, ROOT, Server, listed};

const PATH: &str = "sys/internal/specs/openapi";

fn document(server: &Server) -> Value {
    server.get(PATH).expect(200).json()
}

fn parsed(document: Value) -> OpenAPI {
    serde_json::from_value(document).unwrap()
}

/// The description of one path.
struct Described {
    path: String,
    item: PathItem,
}

impl Described {
    fn all() -> Vec<Self> {
        let document = parsed(document(&Server::with_method()));
        let paths = document.paths.paths.into_iter();
        let described = paths.map(|(path, item)| Self {
            path,
            item: item.into_item().unwrap(),
        });
        described.collect()
    }

    fn is_marked(&self, name: &str) -> bool {
        self.item.extensions.get(name) == Some(&Value::Bool(true))
    }

    /// A path that matches this template.
    fn example(&self) -> String {
        let segments = self.path.trim_start_matches('/').split('/');
        let segments = segments.map(|segment| match segment {
            "{path}" if self.path.starts_with("/sys/mounts/{") => "identity",
            "{path}" => "gcp",
            "{type}" => "auth",
            "{name}" if self.path.starts_with("/sys/plugins/") => "gcp",
            "{name}" | "{role_name}" => "dev",
            "{source}" => "platform",
            "{urlbytes}" => "16",
            "{urlalgorithm}" => "sha2-256",
            captured if captured.starts_with('{') => "x",
            word => word,
        });
        segments.collect::<Vec<_>>().join("/")
    }

    fn operations(&self) -> Vec<(Method, &Operation)> {
        let item = &self.item;
        let get = match &item.get {
            Some(operation) if query(operation, "list") == Some(true) => Method::List,
            _ => Method::Get,
        };
        [
            (get, &item.get),
            (Method::Head, &item.head),
            (Method::Post, &item.post),
            (Method::Delete, &item.delete),
        ]
        .into_iter()
        .filter_map(|(method, operation)| Some((method, operation.as_ref()?)))
        .collect()
    }
}

/// True if the parameter of the query is required; `None` where it does not exist.
fn query(operation: &Operation, name: &str) -> Option<bool> {
    let parameters = operation.parameters.iter().filter_map(ReferenceOr::as_item);
    let mut data = parameters.map(Parameter::parameter_data_ref);
    data.find(|data| data.name == name)
        .map(|data| data.required)
}

fn server() -> Server {
    let server = Server::with_role();
    let role = r#"{"allowed_policies":"default"}"#;
    server.post("auth/token/roles/dev", role).expect(204);
    server
}

/// A token without the default policy, whose rules would take precedence over those of `*`.
fn token_with_only(server: &Server, policy: &str) -> String {
    let policy = json!({ "policy": policy }).to_string();
    server.post("sys/policies/acl/only", &policy).expect(204);
    let request = r#"{"policies":["only"],"no_default_policy":true}"#;
    let made = server.post("auth/token/create", request).json();
    made["auth"]["client_token"].as_str().unwrap().to_owned()
}

fn is_unrouted(answer: &Answer) -> bool {
    answer.0.status == 405
        || ["unsupported path", "no handler", "unsupported operation"]
            .iter()
            .any(|text| answer.text().contains(text))
}

#[test]
fn the_description_is_valid_openapi() {
    let server = Server::with_method();
    for target in [PATH.to_owned(), format!("{PATH}?generic_mount_paths=true")] {
        let raw = server.get(&target).expect(200).json();
        assert!(raw.get("data").is_none() && raw["openapi"] == "3.0.2");
        let document = parsed(raw.clone());
        let mut ids = BTreeSet::new();
        let mut templates = BTreeSet::new();
        for (path, item) in document.paths.iter() {
            let item = item.as_item().unwrap();
            let names: Vec<&str> = path.split('/').filter(|it| it.starts_with('{')).collect();
            let declared: Vec<String> = item
                .parameters
                .iter()
                .filter_map(ReferenceOr::as_item)
                .filter(|it| matches!(it, Parameter::Path { .. }))
                .map(Parameter::parameter_data_ref)
                .inspect(|data| assert!(data.required))
                .map(|data| format!("{{{}}}", data.name))
                .collect();
            assert_eq!(names, declared, "{path}");
            let blind = |segment: &str| match segment.starts_with('{') {
                true => "{}".to_owned(),
                false => segment.to_owned(),
            };
            assert!(
                templates.insert(path.split('/').map(blind).collect::<Vec<_>>()),
                "{path} is there twice"
            );
            assert!(item.iter().next().is_some());
            for (_, operation) in item.iter() {
                let id = operation.operation_id.clone().unwrap();
                assert!(ids.insert(id.clone()), "{id} is there twice");
                assert_eq!(operation.tags.len(), 1);
            }
        }
        let references = references(&raw);
        assert!(references.len() > 100);
        for reference in references {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(raw.pointer(pointer).is_some(), "{reference}");
        }
        let schemas = &raw["components"]["schemas"];
        let total = raw.to_string();
        for name in schemas.as_object().unwrap().keys() {
            assert!(
                total.contains(&format!("schemas/{name}\"")),
                "{name} is of no use"
            );
        }
    }
}

/// Every reference in a document.
pub fn references(document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect_references(document, &mut found);
    found
}

fn collect_references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get("$ref") {
                found.push(reference.clone());
            }
            members
                .values()
                .for_each(|it| collect_references(it, found));
        }
        Value::Array(elements) => elements.iter().for_each(|it| collect_references(it, found)),
        _ => {}
    }
}

#[test]
fn what_is_described_is_served_and_answers_with_a_described_status() {
    for described in Described::all() {
        for (method, operation) in described.operations() {
            let path = described.example();
            let answer = server().send(method, &path, Some(ROOT), "{}");
            let told = format!("{method:?} {path}: {} {}", answer.0.status, answer.text());
            assert!(!is_unrouted(&answer), "{told}");
            let statuses = &operation.responses.responses;
            let status = answer.0.status;
            let is_told = statuses.contains_key(&StatusCode::Code(status))
                || statuses.contains_key(&StatusCode::Range(status / 100));
            assert!(is_told, "{told}");
        }
    }
}

/// A value that fits `schema`.
fn plausible(schema: &Value) -> Value {
    match (schema["type"].as_str().unwrap(), &schema["enum"][0]) {
        (_, Value::String(word)) => json!(word),
        ("string", _) => json!("x"),
        ("boolean", _) => json!(false),
        ("integer", _) => json!(1),
        ("array", _) => json!(["x"]),
        ("object", _) => json!({}),
        (other, _) => panic!("{other}"),
    }
}

#[test]
fn contract_1_9_no_field_that_is_described_is_unknown() {
    let raw = document(&Server::with_method());
    for described in Described::all() {
        let item = &raw["paths"][&described.path];
        let content = &item["post"]["requestBody"]["content"]["application/json"];
        let Some(reference) = content["schema"]["$ref"].as_str() else {
            continue;
        };
        let schema = raw.pointer(reference.trim_start_matches('#')).unwrap();
        let properties = schema["properties"].as_object().unwrap();
        let body = properties
            .iter()
            .map(|(name, schema)| (name.clone(), plausible(schema)));
        let body = Value::Object(body.collect()).to_string();
        let path = described.example();
        let answer = server().send(Method::Post, &path, Some(ROOT), &body);
        let is_unknown =
            answer.0.status == 422 || answer.text().contains("unrecognized parameters");
        assert!(!is_unknown, "{path} {body}: {}", answer.text());
    }
}

#[test]
fn contract_3_2_a_role_takes_every_type_of_token_that_is_described() {
    let server = Server::with_role();
    let described = document(&server);
    let role = &described["components"]["schemas"]["GoogleCloudWriteRoleRequest"];
    let types = role["properties"]["token_type"]["enum"].as_array().unwrap();
    assert_eq!(types.len(), 3);
    for token_type in types {
        let change = json!({"token_type": token_type}).to_string();
        server.post("auth/gcp/role/dev", &change).expect(200);
        let shown = &server.get("auth/gcp/role/dev").data()["token_type"];
        assert_eq!(shown, token_type);
    }
}

#[test]
fn what_is_not_described_is_not_served() {
    let server = server();
    let all = Described::all();
    for described in &all {
        let path = described.example();
        // A list has a path of its own where it has other requirements than the other operations.
        let same = all
            .iter()
            .filter(|it| it.path.trim_end_matches('/') == described.path.trim_end_matches('/'));
        let known: Vec<Method> = same
            .flat_map(Described::operations)
            .flat_map(|(method, operation)| match query(operation, "list") {
                Some(false) => vec![method, Method::List],
                _ => vec![method],
            })
            .collect();
        for method in [
            Method::Get,
            Method::List,
            Method::Post,
            Method::Delete,
            Method::Head,
        ] {
            if known.contains(&method) {
                continue;
            }
            let answer = server.send(method, &path, Some(ROOT), "{}");
            // A policy has no entries below it, and its list is empty, as in the reference.
            let is_empty_list = method == Method::List && answer.0.status == 404;
            assert!(
                is_unrouted(&answer)
                    || is_empty_list
                    || (method == Method::Post && path.ends_with('/')),
                "{method:?} {path}: {} {}",
                answer.0.status,
                answer.text()
            );
        }
    }
}

#[test]
fn contract_5_6_sudo_is_needed_where_it_is_said() {
    let everything_but =
        r#"path "*" { capabilities = ["create","read","update","delete","list"] }"#;
    for described in Described::all() {
        let needed = described.is_marked("x-vault-sudo");
        for (method, _) in described.operations() {
            if method == Method::Head {
                continue;
            }
            let server = server();
            let token = token_with_only(&server, everything_but);
            let path = described.example();
            let answer = server.send(method, &path, Some(&token), "{}");
            let is_denied = answer.0.status == 403 && answer.text().contains("permission denied");
            assert_eq!(is_denied, needed, "{method:?} {path}: {}", answer.text());
        }
    }
}

#[test]
fn contract_5_6_the_second_names_of_rotations_need_sudo_too() {
    let everything_but = r#"path "*" { capabilities = ["create","read","update","delete"] }"#;
    let server = server();
    let token = token_with_only(&server, everything_but);
    for (method, path) in [
        (Method::Post, "sys/rotate/keyring"),
        (Method::Get, "sys/rotate/root/init"),
        (Method::Post, "sys/rotate/root/init"),
        (Method::Delete, "sys/rotate/root/init"),
        (Method::Post, "sys/rotate/root/update"),
        (Method::Get, "sys/rotate/root/verify"),
        (Method::Get, "sys/rotate/root/backup"),
    ] {
        let answer = server.send(method, path, Some(&token), "{}");
        assert_eq!(answer.0.status, 403, "{method:?} {path}: {}", answer.text());
    }
    let answer = server.send(Method::Get, "sys/rotate/config", Some(&token), "{}");
    assert_ne!(answer.0.status, 403, "{}", answer.text());
}

#[test]
fn h13_no_token_is_needed_where_it_is_said_and_nowhere_else() {
    let server = server();
    for described in Described::all() {
        let open = described.is_marked("x-vault-unauthenticated");
        for (method, operation) in described.operations() {
            let path = described.example();
            let answer = server.send(method, &path, None, "{}");
            let is_denied = answer.0.status == 403 || answer.text().contains("wrapping token");
            // The refusal of an unwrapping without a token is about the wrapping token.
            let is_denied = is_denied && path != "sys/wrapping/lookup";
            assert_eq!(!is_denied, open, "{method:?} {path}: {}", answer.text());
            assert_eq!(operation.security == Some(Vec::new()), open);
        }
    }
}

#[test]
fn contract_3_1_create_is_told_from_update_where_it_is_said() {
    let only_create = r#"path "*" { capabilities = ["create","sudo"] }"#;
    let server = Server::with_method();
    let token = token_with_only(&server, only_create);
    for described in Described::all() {
        if described.item.post.is_none() || described.is_marked("x-vault-unauthenticated") {
            continue;
        }
        let path = described.example();
        let answer = server.send(Method::Post, &path, Some(&token), "{}");
        let is_denied = answer.0.status == 403 && answer.text().contains("permission denied");
        let told = described.is_marked("x-vault-createSupported");
        assert_eq!(!is_denied, told, "{path}: {}", answer.text());
    }
}

#[test]
fn every_mount_is_described_by_its_path_or_by_a_name_for_it() {
    let server = Server::with_method();
    let enable = |path: &str| {
        let target = format!("sys/auth/{path}");
        server.post(&target, r#"{"type":"gcp"}"#).expect(204);
    };
    enable("team/a");
    enable("team-a");
    enable("od{d}");
    let named = document(&server);
    let login =
        |path: &str| named["paths"][format!("/auth/{path}/login")]["post"]["operationId"].clone();
    assert_eq!(login("gcp"), "google-cloud-login");
    assert_eq!(login("team/a"), "google-cloud-login_team_2fa");
    assert_eq!(login("team-a"), "google-cloud-login_team-a");
    assert_eq!(login("od%7Bd%7D"), "google-cloud-login_od_7bd_7d");
    for generic in [
        server.get(&format!("{PATH}?generic_mount_paths=true")),
        server.post(PATH, r#"{"generic_mount_paths":true}"#),
    ] {
        let generic = generic.expect(200).json();
        let item = &generic["paths"]["/auth/{gcp_mount_path}/login"];
        assert_eq!(item["post"]["operationId"], "google-cloud-login");
        assert_eq!(item["parameters"][0]["name"], "gcp_mount_path");
        assert_eq!(item["parameters"][0]["schema"]["default"], "gcp");
        let paths = generic["paths"].as_object().unwrap();
        let logins = paths.keys().filter(|path| path.ends_with("/login"));
        assert_eq!(logins.count(), 1);
    }
}

#[test]
fn callers_see_what_they_have_rights_to() {
    let server = Server::with_method();
    server
        .post("sys/auth/secret", r#"{"type":"gcp"}"#)
        .expect(204);
    let policy = format!(
        r#"path "{PATH}" {{ capabilities = ["read"] }} path "auth/gcp/role/*" {{ capabilities = ["read"] }}"#
    );
    let token = server.token_with(&policy);
    let seen = server
        .send(Method::Get, PATH, Some(&token), "")
        .expect(200)
        .json();
    let seen = seen["paths"].as_object().unwrap();
    assert!(seen.contains_key("/auth/gcp/login"));
    assert!(seen.contains_key("/auth/token/lookup-self"));
    assert!(!seen.contains_key("/auth/secret/login"));
    let token = server.token_with(r#"path "auth/gcp/*" { capabilities = ["read"] }"#);
    let denied = listed("permission denied");
    server
        .send(Method::Get, PATH, Some(&token), "")
        .refused(403, &denied);
    server
        .send(Method::Get, PATH, None, "")
        .refused(403, "permission denied");
}

#[test]
fn contract_1_10_help_describes_the_one_path() {
    let server = Server::with_role();
    let help = server
        .get("auth/gcp/role/dev/labels?help=1")
        .expect(200)
        .json();
    let described = parsed(help["openapi"].clone());
    let paths: Vec<&String> = described.paths.paths.keys().collect();
    assert_eq!(paths, ["/auth/gcp/role/{name}/labels"]);
    let text = help["help"].as_str().unwrap();
    for line in [
        "Request:        role/dev/labels",
        "Matching Route: role/{name}/labels",
        "    name (string)",
        "    add (list)",
        "    remove (list)",
    ] {
        assert!(text.lines().any(|it| it == line), "{line}: {text}");
    }
    let about = &help["openapi"]["paths"]["/auth/gcp/role/{name}/labels"]["description"];
    assert!(text.contains(about.as_str().unwrap()), "{text}");
    // The meaning of a parameter is below its name, in the words of the description.
    let schemas = help["openapi"]["components"]["schemas"]
        .as_object()
        .unwrap();
    for name in ["add", "remove"] {
        let mut fields = schemas.values().map(|it| &it["properties"][name]);
        let meaning = fields.find_map(|it| it["description"].as_str()).unwrap();
        assert!(meaning.len() > 10, "{name}: {meaning}");
        let parameter = format!("    {name} (list)\n\n        {meaning}\n");
        assert!(text.contains(&parameter), "{parameter}: {text}");
    }
}

#[test]
fn contract_1_10_help_at_a_root_names_the_paths_below() {
    let server = Server::with_role();
    for (root, path) in [
        ("auth/gcp", "role/{name}"),
        ("auth/gcp/", "config"),
        ("auth/token", "lookup-self"),
        ("sys", "policies/acl/{name}"),
        ("sys/", "mounts"),
        ("identity", "entity"),
    ] {
        let help = server.get(&format!("{root}?help=1")).expect(200).json();
        let text = help["help"].as_str().unwrap();
        let line = format!("    {path}");
        assert!(text.lines().any(|it| it == line), "{root}: {text}");
        let described = parsed(help["openapi"].clone());
        assert!(described.paths.paths.len() > 5, "{root}");
    }
    let token = server.token_with(r#"path "x" { capabilities = ["read"] }"#);
    let missing = server.send(Method::Get, "auth/none?help=1", Some(&token), "");
    missing.expect(404);
}

#[test]
fn contract_1_10_who_asks_for_help_does_nothing_else() {
    let server = Server::with_role();
    let before = server.commits();
    for (method, path) in [
        (Method::Post, "auth/token/create"),
        (Method::Put, "auth/token/revoke-self"),
        (Method::Delete, "auth/gcp/role/dev"),
        (Method::Post, "sys/seal"),
        (Method::Put, "sys/rekey/init"),
        (Method::Put, "sys/generate-root/attempt"),
        (Method::Post, "auth/gcp/login"),
    ] {
        let asked = format!("{path}?help=1");
        let help = server.send(method, &asked, Some(ROOT), r#"{"role":"dev"}"#);
        let help = help.expect(200).json();
        assert!(help["help"].is_string(), "{path}: {help}");
        assert_eq!(help.get("auth"), None, "{path}");
    }
    assert_eq!(server.commits(), before);
    server.get("auth/gcp/role/dev").expect(200);
}

#[test]
fn every_described_path_has_help() {
    let server = Server::with_role();
    for described in Described::all() {
        // A request for help cannot distinguish a list from the object at the same path.
        if described.path.ends_with('/') {
            continue;
        }
        let help = server
            .get(&format!("{}?help=1", described.example()))
            .json();
        let text = help["help"].as_str().unwrap_or_default();
        let about = described.item.description.as_deref().unwrap();
        assert!(text.contains(about), "{}: {help}", described.path);
    }
}
