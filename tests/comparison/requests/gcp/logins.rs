//! Logins (contract 4.1 to 4.9), what they leave in the identity store (contract 7.1, 7.3), and their tokens.

use super::{disabled, enabled, login, role};
use crate::step::{Step, delete, get, list, post, put};

pub fn requests() -> Vec<Step> {
    [
        enabled(),
        vec![
            role("dev", r#"{"type":"iam","bound_service_accounts":"<workload>","token_policies":["prod","a"],"token_ttl":"1h","token_max_ttl":"4h"}"#),
            role("vm", r#"{"type":"gce","bound_regions":"europe-west1","token_policies":"prod"}"#),
        ],
        requests_of_any_role(),
        tokens_of_accounts(),
        odd_tokens(),
        iam_roles(),
        tokens_of_instances(),
        gce_roles(),
        identity(),
        wrapped(),
        vec![disabled()],
    ]
    .concat()
}

fn requests_of_any_role() -> Vec<Step> {
    let ask = |body: &str| post("auth/g/login", body).by_nobody();
    vec![
        ask("{}"),
        ask(""),
        ask(r#"{"jwt":"<jwt of dev>"}"#),
        ask(r#"{"role":""}"#),
        ask(r#"{"role":"none","jwt":"x"}"#),
        ask(r#"{"role":"dev"}"#),
        ask(r#"{"role":"dev","jwt":""}"#),
        ask(r#"{"role":"dev","jwt":null}"#),
        ask(r#"{"role":"dev","jwt":"nonsense"}"#),
        ask(r#"{"role":"dev","jwt":"a.b.c"}"#),
        ask(r#"{"role":"dev","jwt":"ya29.nonsense"}"#),
        ask(r#"{"role":"dev","jwt":["a"]}"#),
        ask(r#"{"role":7,"jwt":"x"}"#),
        ask(r#"{"role":"dev","jwt":"<jwt of dev>","zeta":1,"alpha":2}"#),
        ask("{"),
        get("auth/g/login").by_nobody(),
        get("auth/g/login"),
        list("auth/g/login").by_nobody(),
        delete("auth/g/login").by_nobody(),
        post("auth/g/login/", "{}").by_nobody(),
        post("auth/none/login", r#"{"role":"dev","jwt":"x"}"#).by_nobody(),
        post("auth/none/login", r#"{"role":"dev","jwt":"x"}"#),
    ]
}

fn tokens_of_accounts() -> Vec<Step> {
    vec![
        login("dev", "jwt of dev")
            .keep_token("dev")
            .keep("dev accessor", "/auth/accessor")
            .keep("dev entity", "/auth/entity_id"),
        get("auth/token/lookup-self").by("dev"),
        post(
            "auth/token/lookup-accessor",
            r#"{"accessor":"<dev accessor>"}"#,
        ),
        put("auth/g/login", r#"{"role":"dev","jwt":"<jwt of dev>"}"#).by_nobody(),
        post("auth/g/login", r#"{"role":"dev","jwt":"<jwt of dev>"}"#).with_token("nonsense"),
        post("auth/g/login", r#"{"role":"dev","jwt":"<jwt of dev>"}"#),
        put("auth/g/login", "role=dev&jwt=<jwt of dev>")
            .by_nobody()
            .header("Content-Type", "application/x-www-form-urlencoded"),
        login("DEV", "jwt of dev"),
        post("auth/token/create", r#"{"ttl":"10m"}"#).by("dev"),
        post("sys/capabilities-self", r#"{"path":"auth/g/login"}"#).by("dev"),
    ]
}

fn odd_tokens() -> Vec<Step> {
    [
        "jwt for half an hour",
        "jwt for two hours",
        "expired jwt",
        "jwt without exp",
        "jwt of tomorrow",
        "jwt for another role",
        "jwt without aud",
        "jwt with two aud",
        "jwt with glued aud",
        "jwt with url aud",
        "jwt without sub",
        "jwt of nobody",
        "jwt of odd sub",
        "jwt by id",
        "jwt with issuer",
        "jwt of batch",
        "broken jwt",
    ]
    .into_iter()
    .map(|jwt| login("dev", jwt))
    .collect()
}

fn iam_roles() -> Vec<Step> {
    vec![
        role("wide", r#"{"type":"iam","bound_service_accounts":"*"}"#),
        login("wide", "jwt of wide").keep_token("wide"),
        role("wide", r#"{"bound_projects":"another"}"#),
        login("wide", "jwt of wide"),
        role(
            "id",
            r#"{"type":"iam","bound_service_accounts":"<workload id>","bound_projects":["demo-project","another"]}"#,
        ),
        login("id", "jwt of id"),
        role(
            "elsewhere",
            r#"{"type":"iam","bound_service_accounts":"other@demo-project.iam.gserviceaccount.com"}"#,
        ),
        login("elsewhere", "jwt of elsewhere"),
        role(
            "near",
            r#"{"type":"iam","bound_service_accounts":"*","token_bound_cidrs":"10.0.0.0/8"}"#,
        ),
        login("near", "jwt of near"),
        role("near", r#"{"token_bound_cidrs":"127.0.0.1"}"#),
        login("near", "jwt of near").keep_token("near"),
        get("auth/token/lookup-self").by("near"),
        role(
            "counted",
            r#"{"type":"iam","bound_service_accounts":"*","token_num_uses":2,"token_no_default_policy":true}"#,
        ),
        login("counted", "jwt of counted").keep_token("counted"),
        get("auth/token/lookup-self").by("counted"),
        role(
            "batched",
            r#"{"type":"iam","bound_service_accounts":"*","token_type":"batch","token_ttl":"10m"}"#,
        ),
        login("batched", "jwt of batched").keep_token("batched"),
        get("auth/token/lookup-self").by("batched"),
        post("auth/token/renew-self", "{}").by("batched"),
        role(
            "periodic",
            r#"{"type":"iam","bound_service_accounts":"*","token_period":"10m","token_explicit_max_ttl":"1h"}"#,
        ),
        login("periodic", "jwt of periodic").keep_token("regular"),
        get("auth/token/lookup-self").by("regular"),
        post("auth/token/renew-self", "{}").by("regular"),
        role(
            "rooted",
            r#"{"type":"iam","bound_service_accounts":"*","token_policies":"root"}"#,
        ),
        login("rooted", "jwt of rooted"),
        role(
            "rooted",
            r#"{"token_policies":[" B ","a","A"],"token_ttl":"9999h"}"#,
        ),
        login("rooted", "jwt of rooted"),
        post(
            "sys/auth/g/tune",
            r#"{"default_lease_ttl":"20m","max_lease_ttl":"30m"}"#,
        ),
        login("wide", "jwt of wide"),
        login("dev", "jwt of dev"),
        post("sys/auth/g/tune", r#"{"token_type":"batch"}"#),
        login("dev", "jwt of dev"),
        post(
            "sys/auth/g/tune",
            r#"{"default_lease_ttl":"system","max_lease_ttl":"system","token_type":"default-service"}"#,
        ),
    ]
}

fn tokens_of_instances() -> Vec<Step> {
    vec![
        login("vm", "instance jwt of vm")
            .keep_token("vm")
            .keep("vm entity", "/auth/entity_id"),
        get("auth/token/lookup-self").by("vm"),
        login("vm", "short instance jwt"),
        login("vm", "forged instance jwt"),
        login("vm", "batch instance jwt"),
        login("vm", "jwt of dev"),
        login("dev", "instance jwt of dev"),
        login("dev", "short instance jwt of dev"),
        role("dev", r#"{"allow_gce_inference":false}"#),
        login("dev", "instance jwt of dev"),
        role("dev", r#"{"allow_gce_inference":true}"#),
    ]
}

fn gce_roles() -> Vec<Step> {
    vec![
        role(
            "zonal",
            r#"{"type":"gce","bound_zones":"europe-west1-b","bound_regions":"us-central1"}"#,
        ),
        login("zonal", "instance jwt of zonal"),
        role(
            "far",
            r#"{"type":"gce","bound_zones":["a","us-central1-a"]}"#,
        ),
        login("far", "instance jwt of far"),
        role("far", r#"{"bound_zones":[],"bound_regions":"us-central1"}"#),
        login("far", "instance jwt of far"),
        role(
            "labelled",
            r#"{"type":"gce","bound_labels":["env:demo","team:platform"]}"#,
        ),
        login("labelled", "instance jwt of labelled"),
        role("mislabelled", r#"{"type":"gce","bound_labels":"env:prod"}"#),
        login("mislabelled", "instance jwt of mislabelled"),
        role("foreign", r#"{"type":"gce","bound_projects":["a","b"]}"#),
        login("foreign", "instance jwt of foreign"),
        role(
            "members",
            r#"{"type":"gce","bound_zones":"europe-west1-b","bound_instance_groups":"workload-zonal"}"#,
        ),
        login("members", "instance jwt of members"),
        role(
            "members",
            r#"{"bound_zones":[],"bound_regions":"europe-west1","bound_instance_groups":"workload-regional"}"#,
        ),
        login("members", "instance jwt of members"),
        role(
            "nobodies",
            r#"{"type":"gce","bound_zones":"europe-west1-b","bound_instance_groups":"nothing"}"#,
        ),
        login("nobodies", "instance jwt of nobodies"),
        role(
            "nobodies",
            r#"{"bound_zones":[],"bound_regions":"europe-west1"}"#,
        ),
        login("nobodies", "instance jwt of nobodies"),
        role(
            "owned",
            r#"{"type":"gce","bound_service_accounts":"<workload>"}"#,
        ),
        login("owned", "instance jwt of owned"),
        role(
            "owned",
            r#"{"bound_service_accounts":"other@demo-project.iam.gserviceaccount.com"}"#,
        ),
        login("owned", "instance jwt of owned"),
        role("owned", r#"{"bound_service_accounts":"*"}"#),
        login("owned", "instance jwt of owned"),
    ]
}

fn identity() -> Vec<Step> {
    vec![
        get("identity/entity/id/<dev entity>").keep("dev alias", "/data/aliases/0/id"),
        get("identity/entity-alias/id/<dev alias>"),
        get("identity/entity/id/<vm entity>"),
        post(
            "auth/g/config",
            r#"{"iam_alias":"unique_id","gce_alias":"instance_id"}"#,
        ),
        login("wide", "jwt of wide"),
        role("wide", r#"{"bound_projects":[]}"#),
        login("wide", "jwt of wide").keep("unique entity", "/auth/entity_id"),
        get("identity/entity/id/<unique entity>"),
        login("vm", "instance jwt of vm").keep("instance entity", "/auth/entity_id"),
        get("identity/entity/id/<instance entity>"),
        post(
            "auth/g/config",
            r#"{"iam_metadata":"role","gce_metadata":""}"#,
        ),
        login("wide", "jwt of wide"),
        get("identity/entity/id/<unique entity>"),
        login("vm", "instance jwt of vm").keep_token("bare"),
        post(
            "auth/g/config",
            r#"{"iam_metadata":"default","gce_metadata":"default"}"#,
        ),
        post(
            "identity/entity/id/<unique entity>",
            r#"{"policies":["of-entity"]}"#,
        ),
        login("wide", "jwt of wide").keep_token("wider"),
        get("auth/token/lookup-self").by("wider"),
        post("identity/entity/id/<unique entity>", r#"{"disabled":true}"#),
        login("wide", "jwt of wide"),
        get("auth/token/lookup-self").by("wider"),
        post(
            "identity/entity/id/<unique entity>",
            r#"{"disabled":false}"#,
        ),
        get("sys/auth/g").keep("g accessor", "/data/accessor"),
        post(
            "identity/group",
            r#"{"name":"of-folder","type":"external","policies":["of-group"]}"#,
        )
        .keep("folder group", "/data/id"),
        post(
            "identity/group-alias",
            r#"{"name":"folder-519283746510","mount_accessor":"<g accessor>","canonical_id":"<folder group>"}"#,
        ),
        role(
            "grouped",
            r#"{"type":"iam","bound_service_accounts":"*","add_group_aliases":true}"#,
        ),
        login("grouped", "jwt of grouped")
            .keep_token("grouped")
            .keep("grouped entity", "/auth/entity_id"),
        get("auth/token/lookup-self").by("grouped"),
        get("identity/group/id/<folder group>"),
        get("identity/entity/id/<grouped entity>"),
        delete("identity/group/id/<folder group>"),
        get("auth/token/lookup-self").by("grouped"),
        delete("identity/entity/id/<grouped entity>"),
        get("auth/token/lookup-self").by("grouped"),
    ]
}

fn wrapped() -> Vec<Step> {
    vec![
        login("dev", "jwt of dev")
            .header("X-Vault-Wrap-TTL", "5m")
            .keep("wrapped login", "/wrap_info/token"),
        post("sys/wrapping/lookup", r#"{"token":"<wrapped login>"}"#),
        put("sys/wrapping/unwrap", "")
            .by("wrapped login")
            .keep_token("unwrapped login"),
        get("auth/token/lookup-self").by("unwrapped login"),
        login("none", "jwt of dev").header("X-Vault-Wrap-TTL", "5m"),
    ]
}
