//! The rules that hold for every path (contract 1).

use crate::step::{Step, delete, get, list, post, put, send};

const FORM: &str = "application/x-www-form-urlencoded";

pub fn requests() -> Vec<Step> {
    [paths(), methods(), headers(), bodies(), refusals()].concat()
}

/// Contract 1.1.
fn paths() -> Vec<Step> {
    vec![
        get("/foo"),
        get("/v1"),
        get("/v2/sys/health"),
        get("/v1/"),
        get("/v1//sys/auth"),
        get("/v1/sys//auth"),
        get("/v1/sys/./auth"),
        get("/v1/secret/../sys/auth"),
        get("/v1/sys//auth?list=true"),
        list("/v1/sys//policies/acl"),
        post(
            "/v1/sys//policies/acl/redirected",
            r#"{"policy":"path \"x\" { capabilities = [\"read\"] }"}"#,
        ),
        delete("/v1/sys//policies/acl/redirected"),
        get("/v1/sys/auth//"),
        get("/v1/../v1/sys/auth"),
        get("/v1/../../sys/auth"),
        get("//v1/sys/auth"),
        get("/v1/sys/policies/acl/redirected"),
        get("/v1/sys/%2e%2e/auth"),
        get("/v1/sys/policies/acl/a%00b"),
        get("/v1/sys/policies/acl/a%0ab"),
        post(
            "sys/policies/acl/x/",
            r#"{"policy":"path \"x\" { capabilities = [\"read\"] }"}"#,
        ),
        post("auth/token/create/", "{}"),
    ]
}

/// Contract 1.1: methods, and the forms of a list.
fn methods() -> Vec<Step> {
    vec![
        list("sys/policies/acl"),
        list("sys/policies/acl/"),
        get("sys/policies/acl?list=true"),
        get("sys/policies/acl/?list=1"),
        get("sys/policies/acl?list=T"),
        get("sys/policies/acl?list=maybe"),
        get("sys/policies/acl?list=false"),
        get("sys/policies/acl?list="),
        get("sys/auth?list=true"),
        list("sys/auth"),
        send("OPTIONS", "sys/auth", ""),
        send("HEAD", "sys/auth", ""),
        send("HEAD", "auth/token/lookup-self", ""),
        send("FOO", "sys/auth", ""),
        send("PATCH", "sys/auth", "{}"),
        send("PATCH", "sys/auth", "{}").header("Content-Type", "application/json"),
        send("PATCH", "sys/auth", "{}").header("Content-Type", "application/merge-patch+json"),
        send("PATCH", "auth/token/create", "{}")
            .header("Content-Type", "application/merge-patch+json"),
        get("auth/token/create"),
        delete("auth/token/create"),
        list("auth/token/create"),
        get("sys/capabilities-self"),
        delete("sys/auth"),
        post("sys/auth", "{}"),
    ]
}

/// Contract 1.2.
fn headers() -> Vec<Step> {
    vec![
        get("auth/token/lookup-self")
            .by_nobody()
            .header("Authorization", "Bearer nonsense"),
        get("auth/token/lookup-self")
            .by_nobody()
            .header("Authorization", "Basic cm9vdDpyb290"),
        get("auth/token/lookup-self").header("Authorization", "Bearer nonsense"),
        get("auth/token/lookup-self").header("X-Vault-Request", "true"),
        get("auth/token/lookup-self").header("X-Vault-Namespace", ""),
        get("auth/token/lookup-self").header("X-Vault-Namespace", "/"),
        get("auth/token/lookup-self").header("X-Vault-Namespace", "root"),
        get("auth/token/lookup-self").header("X-Vault-Namespace", "team"),
        get("auth/token/lookup-self").header("X-Vault-Wrap-TTL", "nonsense"),
        get("auth/token/lookup-self").header("X-Vault-Wrap-TTL", "-1"),
        get("auth/token/lookup-self").header("X-Vault-Wrap-TTL", "-1s"),
        get("auth/token/lookup-self").header("X-Vault-Wrap-TTL", "0"),
        get("auth/token/lookup-self").header("X-Vault-Wrap-TTL", ""),
        get("auth/token/lookup-self").header("X-Vault-Policy-Override", "true"),
        get("auth/token/lookup-self").header("X-Vault-No-Request-Forwarding", "1"),
        get("auth/token/lookup-self").header("X-Vault-MFA", "a:b"),
    ]
}

/// Contract 1.3, 1.4 and 1.9, at the endpoint with most kinds of fields.
fn bodies() -> Vec<Step> {
    vec![
        post("auth/token/create", ""),
        post("auth/token/create", "null"),
        post("auth/token/create", "[]"),
        post("auth/token/create", "1"),
        post("auth/token/create", "\"x\""),
        post("auth/token/create", "{"),
        post("auth/token/create", "nonsense"),
        put("auth/token/create", "policies=default&ttl=5m").header("Content-Type", FORM),
        put(
            "auth/token/create",
            r#"{"policies":["default"],"ttl":"5m"}"#,
        )
        .header("Content-Type", FORM),
        put(
            "auth/token/create",
            "ttl=5m&renewable=false&num_uses=3&display_name=a%20b",
        )
        .header("Content-Type", FORM),
        post("auth/token/create", r#"{"ttl":300}"#),
        post("auth/token/create", r#"{"ttl":300.9}"#),
        post("auth/token/create", r#"{"ttl":"300"}"#),
        post("auth/token/create", r#"{"ttl":"5m"}"#),
        post("auth/token/create", r#"{"ttl":"1.5h"}"#),
        post("auth/token/create", r#"{"ttl":"1h30m"}"#),
        post("auth/token/create", r#"{"ttl":"2d"}"#),
        post("auth/token/create", r#"{"ttl":""}"#),
        post("auth/token/create", r#"{"ttl":"abc"}"#),
        post("auth/token/create", r#"{"ttl":[1]}"#),
        post("auth/token/create", r#"{"ttl":{"a":1}}"#),
        post("auth/token/create", r#"{"ttl":true}"#),
        post("auth/token/create", r#"{"num_uses":"3","ttl":"1h"}"#),
        post("auth/token/create", r#"{"num_uses":3.9,"ttl":"1h"}"#),
        post("auth/token/create", r#"{"num_uses":"x"}"#),
        post("auth/token/create", r#"{"num_uses":""}"#),
        post("auth/token/create", r#"{"renewable":"false","ttl":"1h"}"#),
        post("auth/token/create", r#"{"renewable":0,"ttl":"1h"}"#),
        post("auth/token/create", r#"{"renewable":"T","ttl":"1h"}"#),
        post("auth/token/create", r#"{"renewable":"maybe"}"#),
        post("auth/token/create", r#"{"display_name":7,"ttl":"1h"}"#),
        post("auth/token/create", r#"{"policies":"default","ttl":"1h"}"#),
        post(
            "auth/token/create",
            r#"{"policies":"a,default","ttl":"1h"}"#,
        ),
        post(
            "auth/token/create",
            r#"{"meta":{"a":"b","n":1},"ttl":"1h"}"#,
        ),
        post("auth/token/create", r#"{"meta":"a=b","ttl":"1h"}"#),
        post("auth/token/create", r#"{"meta":["a=b","c=d"],"ttl":"1h"}"#),
        post(
            "auth/token/create",
            r#"{"meta":null,"ttl":null,"policies":null,"num_uses":null}"#,
        ),
        post(
            "auth/token/create",
            r#"{"ttl":"1h","unknown":1,"another":"x"}"#,
        ),
        post("auth/token/create", r#"{"ttl":"1h","ttl":"2h"}"#),
        get("sys/policies/acl/default?x=1&name=y"),
        get("sys/policy?x=1"),
        get("sys/policies/acl?list=true&y=2&x=1&y=3"),
        get("sys/auth/token?path=x&foo=1"),
        get("auth/token/lookup-self?x=1&help="),
        send("GET", "auth/token/lookup-self", "{\"not\":"),
        send("LIST", "sys/policies/acl", "["),
        delete("sys/policies/acl/none?x=y"),
        send("DELETE", "sys/policies/acl/none", "{"),
    ]
}

/// Contract 1.6 and 1.7: the order of refusals, and their texts.
fn refusals() -> Vec<Step> {
    vec![
        get("auth/token/lookup-self").by_nobody(),
        get("auth/token/lookup-self").with_token("nonsense"),
        get("sys/auth").by_nobody(),
        get("secret/nothing").by_nobody(),
        get("nothing/here").by_nobody(),
        get("nothing/here"),
        get("sys/nothing"),
        get("auth/token/nothing"),
        get("auth/nothing/here"),
        post("auth/nothing/login", "{}").by_nobody(),
        get("sys/policies/rgp"),
        get("identity/nothing"),
        post(
            "auth/token/create",
            r#"{"policies":["default"],"ttl":"1h"}"#,
        )
        .keep_token("least"),
        get("sys/auth").by("least"),
        get("nothing/here").by("least"),
        post("sys/auth/x", "{").by("least"),
        post("auth/token/create", "{").by_nobody(),
        get("auth/token/lookup-self").by("least"),
        post("auth/token/lookup-self", "{}").by("least"),
        get("sys/auth?help=1").by_nobody(),
    ]
}
