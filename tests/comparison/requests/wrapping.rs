//! Response wrapping (contract 1.8, 6.6).

use crate::step::{Step, get, list, post, put};

const TTL: &str = "X-Vault-Wrap-TTL";

fn wrapped(body: &str) -> Step {
    post("sys/wrapping/wrap", body).header(TTL, "5m")
}

pub fn requests() -> Vec<Step> {
    vec![
        post("sys/wrapping/wrap", r#"{"a":"b"}"#),
        wrapped(r#"{"a":"b","n":12,"deep":{"x":[1,null]}}"#).keep("wrapper", "/wrap_info/token"),
        post("sys/wrapping/lookup", r#"{"token":"<wrapper>"}"#),
        post("sys/wrapping/lookup", r#"{"token":"<wrapper>"}"#).by_nobody(),
        get("sys/wrapping/lookup").by("wrapper"),
        get("auth/token/lookup-self").by("wrapper"),
        post("sys/wrapping/unwrap", r#"{"token":"<wrapper>"}"#),
        post("sys/wrapping/unwrap", r#"{"token":"<wrapper>"}"#),
        put("sys/wrapping/unwrap", "").by("wrapper"),
        post("sys/wrapping/lookup", r#"{"token":"<wrapper>"}"#),
        wrapped(r#"{"a":"b"}"#).keep("second wrapper", "/wrap_info/token"),
        put("sys/wrapping/unwrap", "").by("second wrapper"),
        wrapped(r#"{"a":"b"}"#).keep("third wrapper", "/wrap_info/token"),
        post("sys/wrapping/rewrap", r#"{"token":"<third wrapper>"}"#)
            .keep("rewrapped", "/wrap_info/token"),
        post("sys/wrapping/unwrap", r#"{"token":"<third wrapper>"}"#),
        post("sys/wrapping/unwrap", r#"{"token":"<rewrapped>"}"#),
        wrapped("{}"),
        wrapped(""),
        post(
            "auth/token/create",
            r#"{"policies":["default"],"ttl":"1h"}"#,
        )
        .header(TTL, "60")
        .keep("wrapped token", "/wrap_info/token"),
        post("sys/wrapping/lookup", r#"{"token":"<wrapped token>"}"#),
        post("sys/wrapping/unwrap", r#"{"token":"<wrapped token>"}"#).keep_token("unwrapped"),
        get("auth/token/lookup-self").by("unwrapped"),
        get("auth/token/lookup-self")
            .header(TTL, "1m")
            .keep("wrapped lookup", "/wrap_info/token"),
        post("sys/wrapping/unwrap", r#"{"token":"<wrapped lookup>"}"#),
        list("sys/policies/acl").header(TTL, "1m"),
        get("sys/auth")
            .header(TTL, "1m")
            .keep("wrapped mounts", "/wrap_info/token"),
        put("sys/wrapping/unwrap", "").by("wrapped mounts"),
        get("sys/policies/acl/none").header(TTL, "1m"),
        post(
            "sys/policies/acl/w",
            r#"{"policy":"path \"x\" { capabilities = [\"read\"] }"}"#,
        )
        .header(TTL, "1m"),
        post("sys/wrapping/unwrap", r#"{"token":"nonsense"}"#),
        post("sys/wrapping/unwrap", "{}"),
        post("sys/wrapping/unwrap", "{}").by_nobody(),
        post("sys/wrapping/lookup", "{}"),
        post("sys/wrapping/lookup", r#"{"token":"nonsense"}"#),
        post("sys/wrapping/rewrap", r#"{"token":"nonsense"}"#),
        get("sys/wrapping/unwrap"),
        get("sys/health").by_nobody().header(TTL, "1m"),
    ]
}
