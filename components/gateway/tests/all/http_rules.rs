//! The rules of all paths: headers, queries, nulls, warnings, help, and the order of refusals (contract 1).

use gatehouse_gateway::Method;
use serde_json::{Value, json};

use super::server::{ROOT, Server, listed, request};

const UNKNOWN: &str = "Endpoint ignored these unrecognized parameters: ";
const REPLACED: &str = "Endpoint replaced the value of these parameters with the values captured from the endpoint's path: ";

#[test]
fn contract_1_2_headers_that_concern_clusters_and_policies_of_others_are_ignored() {
    let server = Server::initialized();
    let plain = server.list("sys/policies/acl").expect(200).data();
    for (name, value) in [
        ("X-Vault-Request", "true"),
        ("X-Vault-MFA", "method:code"),
        ("X-Vault-Policy-Override", "true"),
        ("X-Vault-No-Request-Forwarding", "1"),
        ("X-Vault-Forward", "active-node"),
        ("X-Vault-Index", "djE6"),
        ("X-Vault-Inconsistent", "forward-active-node"),
        ("X-Forwarded-For", "203.0.113.9"),
        ("Content-Type", "text/plain"),
    ] {
        let mut request = request(Method::List, "sys/policies/acl", "");
        request.headers.push("x-vault-token", ROOT);
        request.headers.push(name, value);
        assert_eq!(server.handle(&request).expect(200).data(), plain, "{name}");
    }
}

#[test]
fn contract_1_1_queries_of_reads_and_lists_are_fields() {
    let server = Server::with_role();
    server
        .post("identity/entity", r#"{"name":"e"}"#)
        .expect(200);
    for (target, warnings) in [
        (
            "sys/policies/acl/default?x=1",
            vec![format!("{UNKNOWN}[x]")],
        ),
        (
            "sys/policies/acl?list=true&y=2&x=1&y=3",
            vec![format!("{UNKNOWN}[x y]")],
        ),
        (
            "sys/policies/acl/default?name=x",
            vec![format!("{REPLACED}[name]")],
        ),
        (
            "sys/auth/token?path=x&foo=1",
            vec![format!("{UNKNOWN}[foo]"), format!("{REPLACED}[path]")],
        ),
        (
            "identity/entity/name/e?name=x",
            vec![format!("{REPLACED}[name]")],
        ),
        ("auth/token/lookup-self?x=1", vec![format!("{UNKNOWN}[x]")]),
        ("auth/token/lookup-self?help=&list=", vec![]),
        (
            "auth/gcp/role/dev?x=1&name=y",
            vec![format!("{UNKNOWN}[x]"), format!("{REPLACED}[name]")],
        ),
        ("auth/gcp/config?x=1", vec![format!("{UNKNOWN}[x]")]),
        (
            "auth/gcp/roles?list=true&x=1",
            vec![format!("{UNKNOWN}[x]")],
        ),
        ("identity/entity/id?list=true&after=0&limit=1", vec![]),
    ] {
        assert_eq!(
            server.get(target).expect(200).warnings(),
            warnings,
            "{target}"
        );
    }
    let listed = server.list("sys/policies/acl?x=1").expect(200);
    assert_eq!(listed.warnings(), [format!("{UNKNOWN}[x]")]);
    server.delete("sys/policies/acl/none?x=1").expect(204);
}

#[test]
fn contract_1_9_warnings_come_in_their_order() {
    let server = Server::initialized();
    let body = r#"{"policies":["none"],"ttl":"9999h","foo":1,"bar":2}"#;
    let created = server.post("auth/token/create", body).expect(200);
    let ttl = r#"TTL of "9999h" exceeded the effective max_ttl of "768h"; TTL value is capped accordingly"#;
    let policy = r#"Policy "none" does not exist"#;
    let unknown = format!("{UNKNOWN}[bar foo]");
    assert_eq!(created.warnings(), [ttl, policy, &unknown]);

    let named = r#"{"name":"other","foo":1}"#;
    let entity = server.post("identity/entity/name/e", named).expect(200);
    let expected = [format!("{UNKNOWN}[foo]"), format!("{REPLACED}[name]")];
    assert_eq!(entity.warnings(), expected);
    assert_eq!(entity.data()["name"], "e");
    // Where the answer has no content, there is no warning.
    server.post("identity/entity/name/e", named).expect(204);
}

#[test]
fn contract_1_3_null_counts_as_absent_everywhere() {
    let server = Server::with_role();
    let entity = r#"{"name":"e","policies":["p"],"metadata":{"k":"v"}}"#;
    server.post("identity/entity", entity).expect(200);
    let unchanged = |path: &str, fields: &[&str], status: u16| {
        let mut before = server.get(path).expect(200).data();
        let nulls: serde_json::Map<String, Value> = fields
            .iter()
            .map(|field| ((*field).to_owned(), Value::Null))
            .collect();
        server
            .post(path, &Value::Object(nulls).to_string())
            .expect(status);
        let mut after = server.get(path).expect(200).data();
        for shown in [&mut before, &mut after] {
            shown["last_update_time"] = Value::Null;
        }
        assert_eq!(after, before, "{path}");
    };
    unchanged(
        "identity/entity/name/e",
        &["policies", "metadata", "disabled"],
        204,
    );
    unchanged(
        "auth/gcp/role/dev",
        &[
            "token_ttl",
            "token_policies",
            "bound_projects",
            "token_type",
        ],
        200,
    );
    unchanged(
        "sys/auth/gcp/tune",
        &["default_lease_ttl", "description", "options", "token_type"],
        204,
    );
    let nulls = r#"{"policies":["default"],"ttl":null,"meta":null,"num_uses":null,"period":null,"id":null,"type":null,"renewable":null}"#;
    let made = server.post("auth/token/create", nulls).expect(200).json();
    assert_eq!(made["auth"]["renewable"], true);
    assert_eq!(made["auth"]["metadata"], Value::Null);
}

#[test]
fn contract_1_4_a_token_means_the_same_in_all_three_spellings() {
    let server = Server::initialized();
    for (content_type, body) in [
        (
            "application/json",
            r#"{"policies":["default"],"ttl":5400,"explicit_max_ttl":7200,"num_uses":3,"renewable":false,"no_parent":true,"display_name":"7","meta":{"k":"v"}}"#,
        ),
        (
            "",
            r#"{"policies":"default","ttl":"1.5h","explicit_max_ttl":"2h0m0s","num_uses":"3","renewable":"F","no_parent":"1","display_name":7,"meta":"k=v"}"#,
        ),
        (
            "application/x-www-form-urlencoded",
            "policies=default&ttl=90m&explicit_max_ttl=7200&num_uses=3&renewable=0&no_parent=true&display_name=7&meta=k%3Dv",
        ),
    ] {
        let mut create = request(Method::Put, "auth/token/create", body);
        create.headers.push("x-vault-token", ROOT);
        create.headers.push("content-type", content_type);
        let made = server.handle(&create).expect(200).json();
        let token = json!({"token": made["auth"]["client_token"]}).to_string();
        let shown = server.post("auth/token/lookup", &token).expect(200).data();
        for (member, expected) in [
            ("policies", json!(["default"])),
            ("creation_ttl", json!(5400)),
            ("explicit_max_ttl", json!(7200)),
            ("num_uses", json!(3)),
            ("renewable", json!(false)),
            ("orphan", json!(true)),
            ("display_name", json!("token-7")),
            ("meta", json!({"k": "v"})),
        ] {
            assert_eq!(shown[member], expected, "{member} of {body}");
        }
    }
}

#[test]
fn contract_1_6_refusals_come_in_their_order() {
    let server = Server::with_method();
    let little = server.token_with(r#"path "sys/policies/acl/mine" { capabilities = ["update"] }"#);
    let put = |path: &str, namespace: &str, token: Option<&str>, body: &str| {
        let mut request = request(Method::Put, path, body);
        request.headers.push("x-vault-namespace", namespace);
        if let Some(token) = token {
            request.headers.push("x-vault-token", token);
        }
        server.handle(&request)
    };
    let before = server.commits();
    // First everything is wrong, and then one fault after another is corrected.
    put("sys/nothing", "team", None, "{").refused(404, "namespace not found");
    put("sys/nothing", "", None, "{").refused(403, "permission denied");
    put("sys/nothing", "", Some(&little), "{").refused(403, &listed("permission denied"));
    put("sys/nothing", "", Some(ROOT), "{").refused(404, &listed("unsupported path"));
    put("sys/policies/acl/mine", "", Some(&little), "{").refused(400, "error parsing JSON");
    put("sys/policies/acl/mine", "", Some(&little), "{}")
        .refused(400, "'policy' parameter not supplied or empty");
    assert_eq!(server.commits(), before);
}

#[test]
fn contract_1_10_help_says_what_a_path_is_for() {
    let server = Server::with_role();
    let token = server.token_with(r#"path "x" { capabilities = ["read"] }"#);
    let mut texts = Vec::new();
    for path in [
        "auth/gcp/login",
        "auth/gcp/config",
        "auth/gcp/role/dev",
        "auth/gcp/roles",
        "auth/token/create",
        "auth/token/renew-self",
        "sys/auth",
        "sys/policies/acl/x",
        "sys/capabilities-self",
        "sys/wrapping/wrap",
        "identity/entity",
        "identity/group/id/x",
    ] {
        let target = format!("{path}?help=1");
        let help = server
            .send(Method::Get, &target, Some(&token), "")
            .expect(200)
            .json();
        assert_eq!(help["see_also"], Value::Null);
        let text = help["help"].as_str().unwrap().to_owned();
        assert!(text.len() > 20 && !texts.contains(&text), "{path}: {text}");
        texts.push(text);
    }
    for path in ["sys/nothing", "auth/token/nothing", "auth/gcp/nothing"] {
        server
            .get(&format!("{path}?help=1"))
            .refused(404, &listed("unsupported path"));
    }
}
