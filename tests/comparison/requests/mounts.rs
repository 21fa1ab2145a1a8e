//! Auth mounts, their tuning, leases and what is built on mounts (contract 6.3 to 6.5).

use crate::step::{Step, delete, get, list, post, put};

pub fn requests() -> Vec<Step> {
    [enabling(), tuning(), remounting(), interface(), leases()].concat()
}

fn enabling() -> Vec<Step> {
    vec![
        get("sys/auth"),
        post("sys/auth/m1", r#"{"type":"<method>"}"#),
        post("sys/auth/m1", r#"{"type":"<method>"}"#),
        post("sys/auth/m1/below", r#"{"type":"<method>"}"#),
        post("sys/auth/m2", r#"{"type":"nonsense"}"#),
        post("sys/auth/m2", "{}"),
        post("sys/auth/m2", r#"{"type":""}"#),
        post("sys/auth/m2", r#"{"type":7}"#),
        post("sys/auth/token", r#"{"type":"<method>"}"#),
        post("sys/auth/token/x", r#"{"type":"<method>"}"#),
        post("sys/auth/m2", r#"{"type":"token"}"#),
        put(
            "sys/auth/m2",
            r#"{"type":"<method>","description":"second","config":{"options":null,"default_lease_ttl":"0s","max_lease_ttl":"0s","force_no_cache":false},"local":false,"seal_wrap":false,"external_entropy_access":false,"options":null}"#,
        ),
        post(
            "sys/auth/m3",
            r#"{"type":"<method>","config":{"default_lease_ttl":"2h","max_lease_ttl":"1h"}}"#,
        ),
        post(
            "sys/auth/m3",
            r#"{"type":"<method>","config":{"token_type":"nonsense"}}"#,
        ),
        post(
            "sys/auth/m3",
            r#"{"type":"<method>","config":{"default_lease_ttl":"abc"}}"#,
        ),
        post(
            "sys/auth/m3",
            r#"{"type":"<method>","config":{"listing_visibility":"nonsense"}}"#,
        ),
        post("sys/auth/m3", r#"{"type":"<method>","config":"x"}"#),
        post(
            "sys/auth/m3",
            r#"{"type":"<method>","description":"third","config":{"default_lease_ttl":"1h","max_lease_ttl":"2h","token_type":"default-batch","listing_visibility":"unauth","audit_non_hmac_request_keys":["a","b"],"passthrough_request_headers":["X-A"],"allowed_response_headers":["X-B"],"unknown":1},"local":true}"#,
        ),
        post("sys/auth/deep/er/m4", r#"{"type":"<method>"}"#),
        post("sys/auth/deep", r#"{"type":"<method>"}"#),
        get("sys/auth"),
        get("sys/auth/m1"),
        get("sys/auth/m1/"),
        get("sys/auth/m3"),
        get("sys/auth/deep/er/m4"),
        get("sys/auth/none"),
        delete("sys/auth/m2"),
        delete("sys/auth/m2"),
        delete("sys/auth/token"),
        delete("sys/auth/none"),
        get("sys/mounts"),
    ]
}

fn tuning() -> Vec<Step> {
    vec![
        get("sys/auth/m1/tune"),
        get("sys/mounts/auth/m1/tune"),
        get("sys/auth/token/tune"),
        get("sys/auth/none/tune"),
        get("sys/mounts/auth/none/tune"),
        get("sys/auth/m3/tune"),
        post(
            "sys/auth/m1/tune",
            r#"{"default_lease_ttl":"1h","max_lease_ttl":"2h","description":"tuned"}"#,
        ),
        get("sys/auth/m1/tune"),
        get("sys/auth/m1"),
        post(
            "sys/mounts/auth/m1/tune",
            r#"{"options":null,"default_lease_ttl":"30m0s","max_lease_ttl":"","force_no_cache":false}"#,
        ),
        get("sys/mounts/auth/m1/tune"),
        post("sys/auth/m1/tune", r#"{"default_lease_ttl":"3h"}"#),
        post("sys/auth/m1/tune", r#"{"max_lease_ttl":"10m"}"#),
        post("sys/auth/m1/tune", r#"{"default_lease_ttl":"abc"}"#),
        post("sys/auth/m1/tune", r#"{"token_type":"nonsense"}"#),
        post("sys/auth/m1/tune", r#"{"token_type":"batch"}"#),
        post("sys/auth/m1/tune", r#"{"listing_visibility":"nonsense"}"#),
        post(
            "sys/auth/m1/tune",
            r#"{"listing_visibility":"unauth","audit_non_hmac_request_keys":"a,b","audit_non_hmac_response_keys":["c"],"passthrough_request_headers":"X-A","allowed_response_headers":["X-B"]}"#,
        ),
        get("sys/auth/m1/tune"),
        post(
            "sys/auth/m1/tune",
            r#"{"default_lease_ttl":"system","max_lease_ttl":"system","listing_visibility":"","audit_non_hmac_request_keys":[]}"#,
        ),
        get("sys/auth/m1/tune"),
        post("sys/auth/m1/tune", "{}"),
        post("sys/auth/none/tune", r#"{"description":"x"}"#),
        post("sys/auth/token/tune", r#"{"description":"x"}"#),
        get("sys/auth/token"),
        post(
            "sys/auth/token/tune",
            r#"{"description":"token based credentials"}"#,
        ),
        delete("sys/auth/m1/tune"),
    ]
}

fn remounting() -> Vec<Step> {
    vec![
        post("sys/remount", r#"{"from":"auth/m3/","to":"auth/m5/"}"#)
            .keep("migration", "/migration_id"),
        get("sys/remount/status/<migration>"),
        get("sys/remount/status/none"),
        post("sys/remount", r#"{"from":"auth/none/","to":"auth/m6/"}"#),
        post("sys/remount", r#"{"from":"auth/m1","to":"auth/m5"}"#),
        post("sys/remount", r#"{"from":"auth/token","to":"auth/m6"}"#),
        post("sys/remount", r#"{"from":"auth/m1"}"#),
        post("sys/remount", r#"{"from":"auth/m1","to":"m6"}"#),
        get("sys/auth/m5"),
        get("sys/auth/m3"),
    ]
}

fn interface() -> Vec<Step> {
    vec![
        get("sys/internal/ui/mounts").by_nobody(),
        get("sys/internal/ui/mounts").by("least"),
        get("sys/internal/ui/mounts/auth/m1"),
        get("sys/internal/ui/mounts/auth/m1").by("least"),
        get("sys/internal/ui/mounts/auth/m1").by_nobody(),
        get("sys/internal/ui/mounts/auth/none"),
        get("sys/internal/ui/resultant-acl").by("least"),
        get("sys/internal/ui/resultant-acl"),
        get("sys/internal/ui/resultant-acl").by_nobody(),
    ]
}

fn leases() -> Vec<Step> {
    vec![
        put("sys/leases/lookup", r#"{"lease_id":"nonsense"}"#),
        put("sys/leases/lookup", "{}"),
        list("sys/leases/lookup/auth/token/none"),
        put("sys/leases/renew", r#"{"lease_id":"nonsense"}"#),
        put("sys/leases/renew", "{}"),
        put("sys/renew", r#"{"lease_id":"nonsense"}"#),
        put("sys/leases/renew/nonsense", "{}"),
        put("sys/leases/revoke", r#"{"lease_id":"nonsense"}"#),
        put("sys/leases/revoke", "{}"),
        put("sys/revoke", r#"{"lease_id":"nonsense"}"#),
        put("sys/leases/revoke-prefix/auth/m1/login", "{}"),
        put("sys/leases/revoke-prefix/auth/m1/login", r#"{"sync":true}"#),
        put("sys/revoke-prefix/auth/m1/login", "{}"),
        put("sys/leases/revoke-force/auth/m1/login", "{}"),
        put("sys/leases/revoke-prefix/auth/m1", "{}").by("least"),
        delete("sys/auth/m1"),
        delete("sys/auth/m5"),
        delete("sys/auth/deep/er/m4"),
        get("sys/auth"),
    ]
}
