//! Tokens (contract 5.1 to 5.5).

use crate::step::{Step, delete, get, list, post, put};

pub fn requests() -> Vec<Step> {
    [
        creation(),
        looking_up(),
        renewal(),
        revocation(),
        restricted_callers(),
        roles(),
        batch_tokens(),
    ]
    .concat()
}

const MAKER: &str =
    r#"{"policy":"path \"auth/token/create*\" { capabilities = [\"create\",\"update\"] }"}"#;

fn create(body: &str) -> Step {
    post("auth/token/create", body)
}

/// Contract 5.4: the fields of `create`, and what they may not be.
fn creation() -> Vec<Step> {
    vec![
        create("{}"),
        create(r#"{"policies":["default"]}"#),
        create(r#"{"policies":["b","A","a"],"ttl":"1h"}"#),
        create(r#"{"policies":["root"]}"#),
        create(r#"{"policies":["root"],"ttl":"1h"}"#),
        create(r#"{"policies":["root","default"],"ttl":"1h"}"#),
        create(r#"{"policies":["response-wrapping"]}"#),
        create(r#"{"policies":["control-group"]}"#),
        create(r#"{"policies":[],"ttl":"1h"}"#),
        create(r#"{"policies":["nobody-wrote-this"],"ttl":"1h"}"#),
        create(r#"{"policies":["default"],"no_default_policy":true,"ttl":"1h"}"#),
        create(r#"{"policies":["a"],"no_default_policy":true,"ttl":"1h"}"#),
        create(r#"{"no_parent":true,"policies":["default"],"ttl":"1h"}"#),
        create(r#"{"policies":["default"],"ttl":"-1s"}"#),
        create(r#"{"policies":["default"],"ttl":-1}"#),
        create(r#"{"policies":["default"],"ttl":"9999h"}"#),
        create(r#"{"policies":["default"],"lease":"1h"}"#),
        create(r#"{"policies":["default"],"explicit_max_ttl":"1h"}"#),
        create(r#"{"policies":["default"],"explicit_max_ttl":"1h","ttl":"2h"}"#),
        create(r#"{"policies":["default"],"explicit_max_ttl":"9999h"}"#),
        create(r#"{"policies":["default"],"explicit_max_ttl":"-1s"}"#),
        create(r#"{"policies":["default"],"period":"1h"}"#),
        create(r#"{"policies":["default"],"period":"1h","ttl":"5m"}"#),
        create(r#"{"policies":["default"],"period":"9999h"}"#),
        create(r#"{"policies":["default"],"period":"1h","explicit_max_ttl":"30m"}"#),
        create(r#"{"policies":["default"],"period":"-1s"}"#),
        create(r#"{"policies":["default"],"period":"abc"}"#),
        create(r#"{"policies":["default"],"num_uses":-1}"#),
        create(r#"{"policies":["default"],"num_uses":5,"ttl":"1h"}"#),
        create(r#"{"policies":["default"],"type":"nonsense"}"#),
        create(r#"{"policies":["default"],"type":"service","ttl":"1h"}"#),
        create(r#"{"policies":["default"],"type":"default-service","ttl":"1h"}"#),
        create(r#"{"policies":["default"],"entity_alias":"x"}"#),
        create(r#"{"policies":["default"],"display_name":"a b/c.d-","ttl":"1h"}"#),
        create(r#"{"policies":["default"],"display_name":"","ttl":"1h"}"#),
        create(r#"{"policies":["default"],"renewable":false,"ttl":"1h"}"#),
        create(r#"{"policies":["default"],"ttl":"1h","id":"chosen-by-hand"}"#),
        create(r#"{"policies":["default"],"ttl":"1h","id":"chosen-by-hand"}"#),
        create(r#"{"policies":["default"],"ttl":"1h","id":"hvs.chosen"}"#),
        create(r#"{"policies":["default"],"ttl":"1h","id":"s.chosen"}"#),
        create(r#"{"policies":["default"],"ttl":"1h","id":"with.dot"}"#),
        get("auth/token/lookup-self").with_token("chosen-by-hand"),
        post(
            "auth/token/create-orphan",
            r#"{"policies":["default"],"ttl":"1h"}"#,
        ),
        post(
            "auth/token/create-orphan",
            r#"{"policies":["default"],"ttl":"1h","no_parent":false}"#,
        ),
        put(
            "auth/token/create-orphan",
            r#"{"policies":["default"],"period":"1h"}"#,
        ),
        put(
            "auth/token/create",
            r#"{"policies":["default"],"ttl":"1h0m0s","explicit_max_ttl":"0s","period":"0s","display_name":"","num_uses":0,"renewable":true,"type":"service","entity_alias":""}"#,
        ),
        post("auth/token/create/nonsense", "{}"),
    ]
}

/// Contract 5.5, and the errors of the lookups.
fn looking_up() -> Vec<Step> {
    vec![
        create(r#"{"policies":["default"],"ttl":"1h","meta":{"k":"v"},"display_name":"child"}"#)
            .keep_token("child")
            .keep("child accessor", "/auth/accessor"),
        get("auth/token/lookup-self"),
        get("auth/token/lookup-self").by("child"),
        post("auth/token/lookup-self", ""),
        put("auth/token/lookup", r#"{"token":"<child>"}"#),
        post("auth/token/lookup", r#"{"token":"<child>","other":1}"#),
        post("auth/token/lookup", "{}"),
        post("auth/token/lookup", r#"{"token":""}"#),
        post("auth/token/lookup", r#"{"token":"nonsense"}"#),
        post("auth/token/lookup", r#"{"token":"hvs.nonsense"}"#),
        post(
            "auth/token/lookup-accessor",
            r#"{"accessor":"<child accessor>"}"#,
        ),
        post("auth/token/lookup-accessor", r#"{"accessor":"nonsense"}"#),
        post("auth/token/lookup-accessor", r#"{"accessor":""}"#),
        post("auth/token/lookup-accessor", "{}"),
        create(r#"{"policies":["default"],"period":"1h","explicit_max_ttl":"4h","num_uses":9}"#)
            .keep_token("periodic"),
        post("auth/token/lookup", r#"{"token":"<periodic>"}"#),
        create(r#"{"policies":["root"]}"#).keep_token("second root"),
        post("auth/token/lookup", r#"{"token":"<second root>"}"#),
        get("auth/token/lookup-self").by("periodic"),
        get("auth/token/lookup-self").by("periodic"),
    ]
}

/// Contract 5.3 and 5.4.
fn renewal() -> Vec<Step> {
    vec![
        post("auth/token/renew-self", "{}").by("child"),
        put("auth/token/renew-self", r#"{"increment":0}"#).by("child"),
        put("auth/token/renew-self", r#"{"increment":"30m"}"#).by("child"),
        put("auth/token/renew-self", r#"{"increment":"9999h"}"#).by("child"),
        put("auth/token/renew-self", r#"{"increment":"-1s"}"#).by("child"),
        put("auth/token/renew-self", r#"{"increment":"abc"}"#).by("child"),
        put("auth/token/renew-self", r#"{"increment":60,"other":1}"#).by("child"),
        get("auth/token/lookup-self").by("child"),
        post(
            "auth/token/renew",
            r#"{"token":"<child>","increment":1800}"#,
        ),
        post("auth/token/renew", r#"{"increment":1800}"#),
        post("auth/token/renew", "{}"),
        post("auth/token/renew", r#"{"token":"nonsense"}"#),
        post("auth/token/renew", r#"{"token":"<second root>"}"#),
        post(
            "auth/token/renew-accessor",
            r#"{"accessor":"<child accessor>","increment":"20m"}"#,
        ),
        post("auth/token/renew-accessor", r#"{"accessor":"nonsense"}"#),
        post("auth/token/renew-accessor", "{}"),
        post("auth/token/renew-self", "{}"),
        post("auth/token/renew-self", "{}").by("periodic"),
        put("auth/token/renew-self", r#"{"increment":"10m"}"#).by("periodic"),
        create(r#"{"policies":["default"],"ttl":"1h","renewable":false}"#).keep_token("fixed"),
        post("auth/token/renew-self", "{}").by("fixed"),
        post("auth/token/renew", r#"{"token":"<fixed>"}"#),
        create(r#"{"policies":["default"],"ttl":"10m","explicit_max_ttl":"20m"}"#)
            .keep_token("bounded"),
        put("auth/token/renew-self", r#"{"increment":"1h"}"#).by("bounded"),
        get("auth/token/lookup-self").by("bounded"),
    ]
}

/// Contract 5.4.
fn revocation() -> Vec<Step> {
    vec![
        post("sys/policies/acl/maker", MAKER),
        create(r#"{"policies":["maker"],"ttl":"1h"}"#).keep_token("parent"),
        create(r#"{"ttl":"30m"}"#)
            .by("parent")
            .keep_token("grandchild"),
        post("auth/token/create-orphan", r#"{"ttl":"30m"}"#)
            .by("parent")
            .keep_token("orphan"),
        get("auth/token/lookup-self").by("grandchild"),
        put("auth/token/revoke-self", "").by("parent"),
        get("auth/token/lookup-self").by("parent"),
        get("auth/token/lookup-self").by("grandchild"),
        get("auth/token/lookup-self").by("orphan"),
        post("auth/token/revoke", r#"{"token":"<orphan>"}"#),
        post("auth/token/revoke", r#"{"token":"<orphan>"}"#),
        post("auth/token/revoke", r#"{"token":"nonsense"}"#),
        post("auth/token/revoke", "{}"),
        post(
            "auth/token/revoke-accessor",
            r#"{"accessor":"<child accessor>"}"#,
        ),
        post(
            "auth/token/revoke-accessor",
            r#"{"accessor":"<child accessor>"}"#,
        ),
        post("auth/token/revoke-accessor", r#"{"accessor":"nonsense"}"#),
        post("auth/token/revoke-accessor", "{}"),
        get("auth/token/lookup-self").by("child"),
        create(r#"{"policies":["maker"],"ttl":"1h"}"#).keep_token("left alone"),
        create(r#"{"ttl":"30m"}"#)
            .by("left alone")
            .keep_token("left child"),
        post("auth/token/revoke-orphan", r#"{"token":"<left alone>"}"#),
        get("auth/token/lookup-self").by("left alone"),
        get("auth/token/lookup-self").by("left child"),
        post("auth/token/revoke-orphan", r#"{"token":"nonsense"}"#),
        post("auth/token/revoke-orphan", "{}"),
        post("auth/token/revoke-orphan", r#"{"token":"<left child>"}"#).by("left child"),
        post("auth/token/tidy", "{}"),
    ]
}

/// Contract 5.4: what a caller without `sudo` may not ask for; contract 5.3: limited uses.
fn restricted_callers() -> Vec<Step> {
    vec![
        create(r#"{"policies":["maker"],"ttl":"1h"}"#).keep_token("maker"),
        create(r#"{"policies":["default"],"ttl":"10m"}"#).by("maker"),
        create(r#"{"policies":["root"]}"#).by("maker"),
        create(r#"{"policies":["other"]}"#).by("maker"),
        create(r#"{"policies":["maker","other"]}"#).by("maker"),
        create(r#"{"no_parent":true}"#).by("maker"),
        create(r#"{"period":"1h"}"#).by("maker"),
        create(r#"{"id":"mine"}"#).by("maker"),
        create(r#"{"ttl":"10m"}"#).by("maker"),
        create(r#"{"ttl":"10m","no_default_policy":true}"#).by("maker"),
        post("auth/token/create-orphan", r#"{"ttl":"10m"}"#).by("maker"),
        create(r#"{"policies":["maker"],"ttl":"1h","num_uses":2}"#).keep_token("two uses"),
        create(r#"{"ttl":"10m"}"#).by("two uses"),
        get("auth/token/lookup-self").by("two uses"),
        get("auth/token/lookup-self").by("two uses"),
        create(r#"{"policies":["default"],"ttl":"1h","num_uses":1}"#).keep_token("one use"),
        get("sys/auth").by("one use"),
        get("auth/token/lookup-self").by("one use"),
        list("auth/token/accessors").by("maker"),
        post("auth/token/revoke-orphan", r#"{"token":"<maker>"}"#).by("maker"),
    ]
}

/// Token-store roles (contract 5.4).
fn roles() -> Vec<Step> {
    vec![
        list("auth/token/roles"),
        get("auth/token/roles/r1"),
        post(
            "auth/token/roles/r1",
            r#"{"allowed_policies":["default","a"],"orphan":true,"token_explicit_max_ttl":"2h"}"#,
        ),
        get("auth/token/roles/r1"),
        list("auth/token/roles"),
        get("auth/token/roles?list=true"),
        post("auth/token/create/r1", "{}").keep_token("of role"),
        get("auth/token/lookup-self").by("of role"),
        post("auth/token/create/r1", r#"{"policies":["b"]}"#),
        post("auth/token/create/r1", r#"{"policies":["root"]}"#),
        post("auth/token/create/r1", r#"{"policies":["a"],"ttl":"3h"}"#),
        post(
            "auth/token/roles/r1",
            r#"{"disallowed_policies":"a","renewable":false}"#,
        ),
        get("auth/token/roles/r1"),
        post("auth/token/create/r1", r#"{"policies":["a"]}"#),
        post(
            "auth/token/roles/r2",
            r#"{"allowed_policies_glob":["dev-*"],"disallowed_policies_glob":["dev-x*"],"path_suffix":"team","token_period":"1h","token_num_uses":4,"token_no_default_policy":true}"#,
        ),
        get("auth/token/roles/r2"),
        post("auth/token/create/r2", r#"{"policies":["dev-a"]}"#),
        post("auth/token/create/r2", r#"{"policies":["dev-xa"]}"#),
        post("auth/token/create/r2", r#"{"entity_alias":"x"}"#),
        post("auth/token/roles/r3", r#"{"token_type":"batch"}"#),
        post(
            "auth/token/roles/r3",
            r#"{"token_type":"batch","orphan":true,"renewable":false}"#,
        ),
        post("auth/token/roles/r4", r#"{"path_suffix":"a b"}"#),
        post(
            "auth/token/roles/r4",
            r#"{"token_ttl":"2h","token_max_ttl":"1h"}"#,
        ),
        post("auth/token/roles/r4", r#"{"token_bound_cidrs":"nonsense"}"#),
        post("auth/token/roles/r4", r#"{"unknown":"x"}"#),
        post("auth/token/create/none", "{}"),
        delete("auth/token/roles/r1"),
        delete("auth/token/roles/none"),
        get("auth/token/roles/r1"),
    ]
}

/// Contract 5.1.
fn batch_tokens() -> Vec<Step> {
    vec![
        create(r#"{"policies":["default"],"type":"batch","ttl":"10m"}"#).keep_token("batch"),
        get("auth/token/lookup-self").by("batch"),
        post("auth/token/renew-self", "{}").by("batch"),
        put("auth/token/revoke-self", "").by("batch"),
        post("auth/token/renew", r#"{"token":"<batch>"}"#),
        post("auth/token/revoke", r#"{"token":"<batch>"}"#),
        post("auth/token/lookup", r#"{"token":"<batch>"}"#),
        create("{}").by("batch"),
        create(r#"{"policies":["default"],"type":"batch"}"#),
        create(r#"{"policies":["default"],"type":"batch","num_uses":2}"#),
        create(r#"{"policies":["default"],"type":"batch","period":"1h"}"#),
        create(r#"{"policies":["default"],"type":"batch","explicit_max_ttl":"1h"}"#),
        create(r#"{"policies":["root"],"type":"batch"}"#),
    ]
}
