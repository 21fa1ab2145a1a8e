//! Policies and capabilities (contract 5.6).

use serde_json::json;

use crate::step::{Step, delete, get, list, post, put};

pub fn requests() -> Vec<Step> {
    [endpoints(), texts(), decisions(), capabilities()].concat()
}

const READ_X: &str = r#"{"policy":"path \"x\" { capabilities = [\"read\"] }"}"#;

fn endpoints() -> Vec<Step> {
    vec![
        list("sys/policies/acl"),
        get("sys/policies/acl"),
        get("sys/policy"),
        list("sys/policy"),
        get("sys/policy?list=true"),
        post("sys/policies/acl/p1", READ_X),
        put("sys/policies/acl/P2", READ_X),
        get("sys/policies/acl/p1"),
        get("sys/policies/acl/P1"),
        get("sys/policies/acl/p2"),
        get("sys/policies/acl/none"),
        get("sys/policy/p1"),
        get("sys/policy/none"),
        put(
            "sys/policy/p3",
            r#"{"rules":"path \"y\" { policy = \"write\" }"}"#,
        ),
        get("sys/policy/p3"),
        get("sys/policies/acl/p3"),
        post(
            "sys/policy/p4",
            r#"{"policy":"path \"y\" { policy = \"read\" }","rules":"x"}"#,
        ),
        list("sys/policies/acl"),
        get("sys/policy"),
        delete("sys/policies/acl/p1"),
        delete("sys/policies/acl/p1"),
        delete("sys/policy/p2"),
        get("sys/policies/acl/p1"),
        get("sys/policies/acl/root"),
        get("sys/policy/root"),
        post("sys/policies/acl/root", READ_X),
        delete("sys/policies/acl/root"),
        delete("sys/policies/acl/default"),
        delete("sys/policy/default"),
        post("sys/policies/acl/response-wrapping", READ_X),
        delete("sys/policies/acl/response-wrapping"),
        get("sys/policies/acl/response-wrapping"),
        post("sys/policies/acl/control-group", READ_X),
        list("sys/policies/acl/p3"),
    ]
}

fn written(name: &str, text: &str) -> Step {
    post(
        format!("sys/policies/acl/{name}"),
        json!({ "policy": text }).to_string(),
    )
}

fn texts() -> Vec<Step> {
    let mut steps = vec![
        post("sys/policies/acl/t", "{}"),
        post("sys/policies/acl/t", r#"{"policy":""}"#),
        post("sys/policies/acl/t", r#"{"policy":null}"#),
        post(
            "sys/policies/acl/t",
            r#"{"policy":"cGF0aCAieCIgeyBjYXBhYmlsaXRpZXMgPSBbInJlYWQiXSB9"}"#,
        ),
        get("sys/policies/acl/t"),
    ];
    steps.extend(
        [
            "path \"x\" { capabilities = [\"nonsense\"] }",
            "path \"x\" { capabilities = [\"read\"] nonsense = 1 }",
            "nonsense = 1",
            "path \"x\" {",
            "path \"x\" { policy = \"nonsense\" }",
            "path \"x+*\" { capabilities = [\"read\"] }",
            "path \"x/+*\" { capabilities = [\"read\"] }",
            "path \"x/+/*\" { capabilities = [\"read\"] }",
            "{\"path\":{\"x\":{\"capabilities\":[\"read\"]}}}",
            "# a comment\n// another\n/* and\n another */\npath \"/x\" { capabilities = [\"read\"] }\npath \"x\" { capabilities = [\"list\"] }\n",
            "path \"x\" { capabilities = [\"create\"] allowed_parameters = { \"a\" = [\"1\", \"2*\"] \"*\" = [] } denied_parameters = { \"b\" = [] } required_parameters = [\"a\"] }",
            "path \"x\" { capabilities = [\"read\"] min_wrapping_ttl = \"1m\" max_wrapping_ttl = \"1h\" }",
            "path \"x\" { capabilities = [\"read\"] min_wrapping_ttl = \"2h\" max_wrapping_ttl = \"1h\" }",
            "path \"x\" { capabilities = [] }",
            "path \"x\" { comment = \"none\" }",
            "name = \"n\"\npath \"x\" { capabilities = [\"deny\", \"read\"] }",
        ]
        .map(|text| written("t", text)),
    );
    steps.push(get("sys/policies/acl/t"));
    steps
}

const DECISIONS: &str = r#"
path "sys/policies/acl" { capabilities = ["list"] }
path "sys/policies/acl/*" { capabilities = ["read"] }
path "sys/policies/acl/secret*" { capabilities = ["deny"] }
path "sys/policies/acl/+/deep" { capabilities = ["read"] }
path "sys/auth" { capabilities = ["read"] }
path "sys/auth/seen" { capabilities = ["read", "create", "update"] }
path "auth/token/create" { capabilities = ["update"] allowed_parameters = { "policies" = [], "ttl" = ["5m"] } }
path "auth/token/lookup" { capabilities = ["update"] required_parameters = ["token"] }
path "auth/token/renew" { capabilities = ["update"] denied_parameters = { "increment" = [] } }
path "sys/wrapping/wrap" { capabilities = ["update"] min_wrapping_ttl = "1m" max_wrapping_ttl = "1h" }
"#;

fn decisions() -> Vec<Step> {
    vec![
        written("decides", DECISIONS),
        written("secret1", "path \"x\" { capabilities = [\"read\"] }"),
        post(
            "auth/token/create",
            r#"{"policies":["decides"],"ttl":"1h"}"#,
        )
        .keep_token("decided"),
        list("sys/policies/acl").by("decided"),
        list("sys/policies/acl/").by("decided"),
        get("sys/policies/acl").by("decided"),
        get("sys/policies/acl/decides").by("decided"),
        get("sys/policies/acl/secret1").by("decided"),
        get("sys/policies/acl/none").by("decided"),
        delete("sys/policies/acl/none").by("decided"),
        get("sys/auth").by("decided"),
        get("sys/auth/seen").by("decided"),
        post("sys/auth/seen", r#"{"type":"<method>"}"#).by("decided"),
        post(
            "auth/token/create",
            r#"{"policies":["decides"],"ttl":"5m"}"#,
        )
        .by("decided"),
        post(
            "auth/token/create",
            r#"{"policies":["decides"],"ttl":"6m"}"#,
        )
        .by("decided"),
        post("auth/token/create", r#"{"ttl":"5m","num_uses":1}"#).by("decided"),
        post("auth/token/lookup", "{}").by("decided"),
        post("auth/token/lookup", r#"{"token":"<decided>"}"#).by("decided"),
        post("auth/token/renew", r#"{"token":"<decided>","increment":5}"#).by("decided"),
        post("auth/token/renew", r#"{"token":"<decided>"}"#).by("decided"),
        post("sys/wrapping/wrap", r#"{"a":"b"}"#)
            .by("decided")
            .header("X-Vault-Wrap-TTL", "5m"),
        post("sys/wrapping/wrap", r#"{"a":"b"}"#)
            .by("decided")
            .header("X-Vault-Wrap-TTL", "5s"),
        post("sys/wrapping/wrap", r#"{"a":"b"}"#)
            .by("decided")
            .header("X-Vault-Wrap-TTL", "2h"),
        post("sys/wrapping/wrap", r#"{"a":"b"}"#).by("decided"),
        written("decides", "path \"sys/auth\" { capabilities = [\"deny\"] }"),
        get("sys/auth").by("decided"),
        delete("sys/policies/acl/decides"),
        get("sys/auth").by("decided"),
    ]
}

fn capabilities() -> Vec<Step> {
    vec![
        written(
            "capable",
            "path \"a/*\" { capabilities = [\"create\",\"read\",\"update\",\"delete\",\"list\",\"sudo\",\"patch\"] }\npath \"a/b\" { capabilities = [\"deny\"] }\npath \"l/\" { capabilities = [\"list\"] }\npath \"m\" { capabilities = [\"list\", \"read\"] }\npath \"w/+/x\" { policy = \"write\" }",
        ),
        post(
            "auth/token/create",
            r#"{"policies":["capable"],"ttl":"1h"}"#,
        )
        .keep_token("capable")
        .keep("capable accessor", "/auth/accessor"),
        post(
            "sys/capabilities-self",
            r#"{"paths":["a/c","a/b","l","l/","m","m/","w/1/x","w/1/2/x","none"]}"#,
        )
        .by("capable"),
        post("sys/capabilities-self", r#"{"path":"a/c"}"#).by("capable"),
        post("sys/capabilities-self", r#"{"paths":"a/c,a/b"}"#).by("capable"),
        post("sys/capabilities-self", r#"{"paths":["a/c"]}"#).by("capable"),
        post(
            "sys/capabilities-self",
            r#"{"path":"a/c","token":"ignored"}"#,
        )
        .by("capable"),
        post("sys/capabilities-self", "{}").by("capable"),
        post("sys/capabilities-self", r#"{"paths":[]}"#).by("capable"),
        post("sys/capabilities-self", r#"{"paths":["x","y"]}"#),
        post(
            "sys/capabilities",
            r#"{"token":"<capable>","paths":["a/c","none"]}"#,
        ),
        post("sys/capabilities", r#"{"token":"<capable>","path":"a/c"}"#),
        post("sys/capabilities", r#"{"token":"nonsense","path":"a/c"}"#),
        post("sys/capabilities", r#"{"token":"","path":"a/c"}"#),
        post("sys/capabilities", r#"{"path":"a/c"}"#),
        post(
            "sys/capabilities-accessor",
            r#"{"accessor":"<capable accessor>","paths":["a/c"]}"#,
        ),
        post(
            "sys/capabilities-accessor",
            r#"{"accessor":"nonsense","paths":["a/c"]}"#,
        ),
        post("sys/capabilities-accessor", r#"{"paths":["a/c"]}"#),
    ]
}
