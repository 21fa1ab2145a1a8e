//! Roles (contract 3).

use super::{disabled, enabled, role};
use crate::step::{Step, delete, get, list, post, put, send};

const DEV: &str = r#"{"type":"iam","bound_service_accounts":"<workload>"}"#;

fn iam(more: &str) -> String {
    format!(r#"{{"type":"iam","bound_service_accounts":"a@b"{more}}}"#)
}

fn gce(more: &str) -> String {
    format!(r#"{{"type":"gce"{more}}}"#)
}

pub fn requests() -> Vec<Step> {
    [
        enabled(),
        operations(),
        names(),
        iam_fields(),
        gce_fields(),
        token_fields(),
        old_names(),
        updates(),
        service_accounts(),
        labels(),
        vec![disabled()],
    ]
    .concat()
}

fn operations() -> Vec<Step> {
    vec![
        list("auth/g/roles"),
        list("auth/g/role"),
        get("auth/g/role/dev"),
        delete("auth/g/role/dev"),
        role("dev", DEV),
        get("auth/g/role/dev"),
        put("auth/g/role/dev", DEV),
        list("auth/g/roles"),
        list("auth/g/role"),
        get("auth/g/roles?list=true"),
        get("auth/g/roles"),
        get("auth/g/role"),
        post("auth/g/roles", "{}"),
        send("PATCH", "auth/g/role/dev", "{}")
            .header("Content-Type", "application/merge-patch+json"),
        get("auth/g/role/dev").by("least"),
        role("dev", DEV).by("least"),
        get("auth/g/role/dev").by_nobody(),
        get("auth/g/role/dev?x=1&name=y"),
        delete("auth/g/role/dev"),
        get("auth/g/role/dev"),
    ]
}

fn names() -> Vec<Step> {
    vec![
        role("Dev", DEV),
        get("auth/g/role/dev"),
        get("auth/g/role/DEV"),
        delete("auth/g/role/DEV"),
        get("auth/g/role/dev"),
        delete("auth/g/role/dev"),
        role("a.b-c_d", DEV),
        role("-a", DEV),
        role("a-", DEV),
        role(".", DEV),
        role("a%20b", DEV),
        role("a/b", DEV),
        role(
            "x",
            r#"{"name":"y","type":"iam","bound_service_accounts":"a@b"}"#,
        ),
        list("auth/g/roles"),
        delete("auth/g/role/a.b-c_d"),
        delete("auth/g/role/x"),
        post("auth/g/role/", DEV),
    ]
}

fn iam_fields() -> Vec<Step> {
    vec![
        role("i", "{}"),
        role("i", ""),
        role("i", r#"{"type":""}"#),
        role("i", r#"{"type":"nonsense"}"#),
        role("i", r#"{"type":"IAM","bound_service_accounts":"a@b"}"#),
        role("i", r#"{"type":"iam"}"#),
        role("i", r#"{"type":"iam","bound_service_accounts":""}"#),
        role(
            "i",
            r#"{"type":"iam","bound_service_accounts":["*","a@b"]}"#,
        ),
        role("i", &iam(r#","zeta":1,"alpha":2"#)),
        role("i", &iam(r#","bound_labels":"a:b""#)),
        role("i", &iam(r#","bound_regions":[]"#)),
        role("i", &iam(r#","max_jwt_exp":3601"#)),
        role("i", &iam(r#","max_jwt_exp":"61m""#)),
        role("i", &iam(r#","max_jwt_exp":"abc""#)),
        role("i", &iam(r#","max_jwt_exp":-1"#)),
        role("i", &iam(r#","allow_gce_inference":"maybe""#)),
        get("auth/g/role/i"),
        role(
            "i",
            r#"{"type":"iam","bound_service_accounts":" b@c , a@b,,a@b","bound_projects":["p2","p1","p1"],"max_jwt_exp":"30m","allow_gce_inference":false,"add_group_aliases":true}"#,
        ),
        get("auth/g/role/i"),
        delete("auth/g/role/i"),
        role("i", r#"{"type":"iam","bound_service_accounts":"*"}"#),
        get("auth/g/role/i"),
        role("i", r#"{"max_jwt_exp":3600}"#),
        role("i", r#"{"max_jwt_exp":0}"#),
        get("auth/g/role/i"),
        delete("auth/g/role/i"),
    ]
}

fn gce_fields() -> Vec<Step> {
    vec![
        role("v", &gce("")),
        get("auth/g/role/v"),
        delete("auth/g/role/v"),
        role("v", &gce(r#","max_jwt_exp":60"#)),
        role("v", &gce(r#","allow_gce_inference":true"#)),
        role("v", &gce(r#","bound_instance_groups":"a""#)),
        role("v", &gce(r#","bound_labels":"nonsense""#)),
        role("v", &gce(r#","bound_labels":["a:b","Bad Label"]"#)),
        role("v", &gce(r#","bound_labels":["a:b","c:","d:e_f-1"]"#)),
        get("auth/g/role/v"),
        role(
            "v",
            &gce(
                r#","bound_zones":["b","a","a"," "],"bound_regions":"r2,r1","bound_instance_groups":["g2","g1"],"bound_projects":"p","bound_service_accounts":"a@b""#,
            ),
        ),
        get("auth/g/role/v"),
        role("v", r#"{"bound_labels":[]}"#),
        role("v", r#"{"bound_labels":{"x":"y"}}"#),
        get("auth/g/role/v"),
        role("v", r#"{"bound_zones":[],"bound_regions":[]}"#),
        role("v", r#"{"bound_instance_groups":[],"bound_zones":""}"#),
        get("auth/g/role/v"),
        role("w", &gce(r#","bound_service_accounts":["*"]"#)),
        role(
            "w",
            &gce(r#","bound_zone":"z","bound_region":"r","bound_instance_group":"i""#),
        ),
        get("auth/g/role/w"),
        role("w", r#"{"bound_zone":"y"}"#),
        get("auth/g/role/w"),
        role("w", r#"{"bound_zone":"y","bound_zones":"x"}"#),
        role("w", r#"{"bound_region":"y","bound_regions":"x"}"#),
        role(
            "w",
            r#"{"bound_instance_group":"y","bound_instance_groups":"x"}"#,
        ),
        delete("auth/g/role/v"),
        delete("auth/g/role/w"),
    ]
}

fn token_fields() -> Vec<Step> {
    let mut steps: Vec<Step> = [
        r#","token_ttl":"2h","token_max_ttl":"1h""#,
        r#","token_ttl":"-1s""#,
        r#","token_ttl":"abc""#,
        r#","token_ttl":"9999h""#,
        r#","token_max_ttl":"9999h""#,
        r#","token_max_ttl":"-1""#,
        r#","token_period":"9999h""#,
        r#","token_period":"100h0m0s","token_type":"batch""#,
        r#","token_type":"batch","token_num_uses":2"#,
        r#","token_type":"nonsense""#,
        r#","token_type":"default-service""#,
        r#","token_type":"default-batch""#,
        r#","token_type":"batch""#,
        r#","token_type":"service""#,
        r#","token_type":"default""#,
        r#","token_type":"""#,
        r#","token_num_uses":-1"#,
        r#","token_num_uses":"x""#,
        r#","token_num_uses":3.9"#,
        r#","token_bound_cidrs":"nonsense""#,
        r#","token_bound_cidrs":["10.0.0.0/8","10.1.2.3/32","::1"]"#,
        r#","token_no_default_policy":"maybe""#,
        r#","token_policies":["root"]"#,
        r#","token_policies":[" B ","a","a"]"#,
        r#","token_policies":"b,a""#,
        r#","token_explicit_max_ttl":"-1s""#,
        r#","token_explicit_max_ttl":"1h","token_ttl":"2h""#,
        r#","alias_metadata":{"a":"b"}"#,
        r#","token_strictly_bind_ip":true"#,
    ]
    .into_iter()
    .flat_map(|more| {
        [
            role("t", &iam(more)),
            get("auth/g/role/t"),
            delete("auth/g/role/t"),
        ]
    })
    .collect();
    steps.push(role("t", &iam(r#","token_ttl":60,"token_max_ttl":"2m","token_period":"0","token_num_uses":"7","token_no_default_policy":"true","token_explicit_max_ttl":"1h30m""#)));
    steps.push(get("auth/g/role/t"));
    steps.push(delete("auth/g/role/t"));
    steps
}

fn old_names() -> Vec<Step> {
    vec![
        role(
            "o",
            &iam(r#","policies":"B,a,a","ttl":"30m","max_ttl":"1h","period":"10m""#),
        ),
        get("auth/g/role/o"),
        role("o", r#"{"policies":"","ttl":0,"max_ttl":0,"period":0}"#),
        get("auth/g/role/o"),
        role(
            "o",
            r#"{"policies":["x"],"token_policies":["y"],"ttl":1,"token_ttl":2}"#,
        ),
        get("auth/g/role/o"),
        role("o", r#"{"token_policies":["z"],"token_ttl":3}"#),
        get("auth/g/role/o"),
        role("o", r#"{"service_accounts":"c@d"}"#),
        get("auth/g/role/o"),
        role(
            "o",
            r#"{"service_accounts":"c@d","bound_service_accounts":"e@f"}"#,
        ),
        role("o", r#"{"project_id":"p"}"#),
        get("auth/g/role/o"),
        role("o", r#"{"project_id":"p","bound_projects":"q"}"#),
        role("o", r#"{"bound_zone":"z"}"#),
        get("auth/g/role/o"),
        delete("auth/g/role/o"),
        role(
            "o",
            r#"{"type":"iam","project_id":"","policies":"","bound_service_accounts":"a@b,c@d","max_jwt_exp":"","ttl":"","max_ttl":"","period":""}"#,
        ),
        get("auth/g/role/o"),
        delete("auth/g/role/o"),
    ]
}

fn updates() -> Vec<Step> {
    vec![
        role("u", &iam("")),
        role("u", r#"{"type":"gce"}"#),
        role("u", r#"{"type":"iam"}"#),
        role("u", r#"{"bound_zones":"a"}"#),
        role("u", r#"{"bound_service_accounts":[]}"#),
        role(
            "u",
            r#"{"token_policies":null,"token_ttl":null,"type":null}"#,
        ),
        role("u", r#"{"token_policies":["p"]}"#),
        role("u", "{}"),
        get("auth/g/role/u"),
        delete("auth/g/role/u"),
    ]
}

fn service_accounts() -> Vec<Step> {
    let edit = |body: &str| post("auth/g/role/s/service-accounts", body);
    vec![
        role("s", &iam("")),
        edit("{}"),
        edit(r#"{"add":[],"remove":[]}"#),
        edit(r#"{"add":["c@d"," b@c "]}"#),
        get("auth/g/role/s"),
        edit(r#"{"add":"e@f","remove":"a@b,nothing"}"#),
        get("auth/g/role/s"),
        edit(r#"{"add":"x@y","remove":"x@y"}"#),
        edit(r#"{"add":"*"}"#),
        edit(r#"{"remove":"b@c,c@d,e@f,*"}"#),
        edit(r#"{"add":"g@h","unknown":1}"#),
        get("auth/g/role/s"),
        get("auth/g/role/s/service-accounts"),
        delete("auth/g/role/s/service-accounts"),
        post("auth/g/role/s/labels", r#"{"add":"a:b"}"#),
        edit(r#"{"add":"z@z"}"#).by("least"),
        delete("auth/g/role/s"),
    ]
}

fn labels() -> Vec<Step> {
    let edit = |body: &str| post("auth/g/role/l/labels", body);
    vec![
        role("l", &gce(r#","bound_labels":"a:b","bound_zones":"z""#)),
        edit("{}"),
        edit(r#"{"add":["c:d","a:x"]}"#),
        get("auth/g/role/l"),
        edit(r#"{"remove":["c","nothing"]}"#),
        get("auth/g/role/l"),
        edit(r#"{"add":"bad"}"#),
        edit(r#"{"add":"e:f","unknown":1}"#),
        post("auth/g/role/l/service-accounts", r#"{"add":"a@b"}"#),
        get("auth/g/role/l/labels"),
        get("auth/g/role/l"),
        delete("auth/g/role/l"),
    ]
}
