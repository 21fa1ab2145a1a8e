//! Requests that Vault answers and OpenBao does not, or otherwise: names with slashes, tuning below a mount, cubbyholes, facts about
//! the server.

use crate::step::{Step, delete, get, list, post, put, send};

const READ_X: &str = r#"{"policy":"path \"x\" { capabilities = [\"read\"] }"}"#;

pub fn requests() -> Vec<Step> {
    [
        encoded_paths(),
        tuning(),
        tokens(),
        policies(),
        names(),
        cubbyholes(),
        facts(),
        help(),
    ]
    .concat()
}

/// Contract 1.1, rule 4.
fn encoded_paths() -> Vec<Step> {
    vec![
        post("sys/auth/n/deep", r#"{"type":"gcp"}"#),
        get("auth/n%2Fdeep/config"),
        post(
            "auth/n%2fdeep/role/r",
            r#"{"type":"iam","bound_service_accounts":"a@b"}"#,
        ),
        get("auth/n/deep/role/r"),
        list("auth/n%2Fdeep/roles"),
        get("sys/auth/n%2Fdeep"),
        get("auth/n%252Fdeep/config"),
        get("auth/n/deep%5cconfig"),
        get("auth/n/deep/con%66ig"),
        get("auth/n/deep/role/%72"),
        get("/v1/auth/n/deep//role/r"),
        delete("auth/n%2Fdeep/role/r"),
    ]
}

/// Contract 6.1, 6.3.
fn tuning() -> Vec<Step> {
    let tune = |body: &str| post("sys/mounts/auth/n/deep/tune", body);
    vec![
        post(
            "sys/mounts/auth/n/deep/config/tune",
            r#"{"description":"below"}"#,
        ),
        get("sys/mounts/auth/n/deep/config/tune"),
        get("sys/mounts/auth/n/deep/tune"),
        post("sys/auth/n/deep/config/tune", r#"{"description":"again"}"#),
        get("sys/auth/n/deep/config/tune"),
        get("sys/auth/n/deep"),
        get("sys/mounts/auth/n/tune"),
        tune(r#"{"max_lease_ttl":"-1"}"#),
        tune(r#"{"identity_token_key":"none"}"#),
        tune(r#"{"user_lockout_config":{"lockout_threshold":"5"}}"#),
        tune(r#"{"trim_request_trailing_slashes":true}"#),
        get("sys/mounts/auth/n/deep/tune"),
        tune(r#"{"trim_request_trailing_slashes":false}"#),
        tune(r#"{"plugin_version":"v9.9.9"}"#),
        tune(r#"{"options":{"a":"b"}}"#),
        tune(r#"{"unknown":1}"#),
        tune(r#"{"description":""}"#),
        get("sys/mounts/auth/n/deep/tune"),
    ]
}

/// Contract 5.2, 5.4.
fn tokens() -> Vec<Step> {
    let create = |body: &str| post("auth/token/create", body);
    vec![
        get("auth/token/lookup"),
        get("auth/token/lookup?token=nonsense"),
        create(r#"{"policies":["default"],"ttl":"1h"}"#).keep_token("plain"),
        get("auth/token/lookup").by("plain"),
        create(r#"{"policies":[""],"ttl":"1h"}"#),
        create(r#"{"policies":" ","ttl":"1h"}"#),
        create(r#"{"policies":[""],"no_default_policy":true,"ttl":"1h"}"#),
        create(r#"{"policies":"a,b","ttl":"1h"}"#),
        create(r#"{"policies":["a,b"],"ttl":"1h"}"#),
        create(r#"{"meta":{"a":{"b":1,"b":2}}}"#),
        post(
            "auth/token/roles/b",
            r#"{"token_type":"default-batch","token_period":"1h"}"#,
        ),
        post(
            "auth/token/roles/b",
            r#"{"token_type":"default-batch","orphan":true}"#,
        ),
        get("auth/token/roles/b"),
        post("auth/token/create/b", r#"{"policies":["default"]}"#),
        delete("auth/token/roles/b"),
    ]
}

/// Contract 5.6.
fn policies() -> Vec<Step> {
    vec![
        post("sys/policies/acl/team/app", READ_X),
        get("sys/policies/acl/team/app"),
        put("sys/policies/acl/Team/App", READ_X),
        get("sys/policy/team/app"),
        list("sys/policies/acl"),
        put(
            "sys/policy/old",
            r#"{"rules":"path \"x\" { capabilities = [\"read\"] }"}"#,
        ),
        post(
            "sys/policies/acl/listed",
            r#"{"policy":"{\"path\":[{\"a\":{\"capabilities\":[\"read\"]}},{\"b\":{\"capabilities\":[\"list\"]}}]}"}"#,
        ),
        post(
            "sys/policies/acl/all",
            r#"{"policy":"path \"all\" { capabilities = [\"update\",\"sudo\",\"read\",\"list\",\"patch\",\"delete\",\"create\"] }"}"#,
        ),
        post("auth/token/create", r#"{"policies":["all"],"ttl":"1h"}"#).keep_token("all"),
        post("sys/capabilities-self", r#"{"paths":["all"]}"#).by("all"),
        delete("sys/policies/acl/team/app"),
        delete("sys/policies/acl/listed"),
        delete("sys/policies/acl/all"),
        delete("sys/policies/acl/old"),
    ]
}

/// Contract 7.2.
fn names() -> Vec<Step> {
    vec![
        post(
            "identity/entity/name/team/person",
            r#"{"metadata":{"a":"b"}}"#,
        ),
        get("identity/entity/name/team/person"),
        get("identity/entity/name/Team/Person"),
        post("identity/group/name/team/people", "{}"),
        get("identity/group/name/team/people"),
        list("identity/entity/name"),
        list("identity/group/name"),
        delete("identity/entity/name/team/person"),
        delete("identity/group/name/team/people"),
        post(
            "identity/oidc/config",
            r#"{"issuer":"https://gatehouse.example.com"}"#,
        ),
        get("identity/oidc/config"),
        post("identity/oidc/config", r#"{"issuer":""}"#),
    ]
}

/// Contract 6.1.
fn cubbyholes() -> Vec<Step> {
    vec![
        list("cubbyhole/"),
        get("cubbyhole/a").by("plain"),
        post("cubbyhole/a", "{}").by("plain"),
        post("cubbyhole/a", r#"{"k":"v","n":1}"#).by("plain"),
        put("cubbyhole/a/b", r#"{"k":["v"]}"#).by("plain"),
        get("cubbyhole/a").by("plain"),
        get("cubbyhole/a"),
        list("cubbyhole").by("plain"),
        list("cubbyhole/a").by("plain"),
        delete("cubbyhole/a").by("plain"),
        delete("cubbyhole/none").by("plain"),
        get("cubbyhole/a").by("plain"),
        post("cubbyhole/", r#"{"k":"v"}"#).by("plain"),
        get("cubbyhole/a").by_nobody(),
    ]
}

fn facts() -> Vec<Step> {
    vec![
        get("sys/ha-status"),
        get("sys/version-history?list=true"),
        list("sys/version-history"),
        get("sys/version-history"),
        get("sys/plugins/catalog/auth/gcp"),
        get("sys/plugins/catalog/auth/none"),
        get("sys/plugins/catalog/nonsense"),
        post("sys/plugins/catalog/auth/x", "{}"),
        get("sys/in-flight-req").by("plain"),
        get("sys/host-info").by("plain"),
        post("sys/leases/tidy", "{}"),
        delete("sys/mounts/none"),
        delete("sys/mounts/sys"),
        delete("sys/mounts/auth/n/deep"),
        get("sys/metrics?format=nonsense"),
        post("sys/tools/hash", r#"{"input":"YQ=="}"#),
        post(
            "sys/tools/hash/sha2-512",
            r#"{"input":"YQ==","format":"base64"}"#,
        ),
        post("sys/tools/hash/nonsense", r#"{"input":"YQ=="}"#),
        post("sys/tools/random/0", "{}"),
        get("sys/internal/counters/activity").by("plain"),
    ]
}

/// Contract 1.10: a question, whatever the method.
fn help() -> Vec<Step> {
    vec![
        post("sys/policies/acl/asked?help=1", READ_X),
        get("sys/policies/acl/asked"),
        delete("auth/n/deep/config?help=1"),
        get("auth/n/deep?help=1").by_nobody(),
        get("auth/n/none?help=1"),
        send("LIST", "auth/n/deep/roles?help=1", ""),
        delete("sys/auth/n/deep"),
    ]
}
