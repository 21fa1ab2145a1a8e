//! Renewals (contract 4.10) while the role, the account and the instance change, and what ends logins.

use gatehouse_fake_google::{FakeGoogle, InstanceStatus};
use gatehouse_tests::{INSTANCE, WORKLOAD};

use super::{disabled, enabled, login, role};
use crate::step::{Step, delete, get, list, post, put};

fn renew(token: &'static str) -> Step {
    post("auth/token/renew-self", "{}").by(token)
}

/// A write that changes nothing: a server that remembers what Google said forgets it.
fn forget() -> Step {
    post("auth/g/config", "{}")
}

pub fn requests() -> Vec<Step> {
    [
        enabled(),
        vec![
            role("dev", r#"{"type":"iam","bound_service_accounts":"<workload>","token_policies":["prod","a"],"token_ttl":"1h","token_max_ttl":"4h"}"#),
            login("dev", "jwt of dev").keep_token("dev").keep("dev accessor", "/auth/accessor"),
            role("vm", r#"{"type":"gce","bound_regions":"europe-west1"}"#),
            login("vm", "instance jwt of vm").keep_token("vm"),
        ],
        lifetimes(),
        policies(),
        accounts(),
        instances(),
        metadata(),
        ends(),
        vec![disabled()],
    ]
    .concat()
}

fn lifetimes() -> Vec<Step> {
    vec![
        renew("dev"),
        put("auth/token/renew-self", r#"{"increment":"2h"}"#).by("dev"),
        put("auth/token/renew-self", r#"{"increment":"5h"}"#).by("dev"),
        put("auth/token/renew-self", r#"{"increment":0}"#).by("dev"),
        get("auth/token/lookup-self").by("dev"),
        post("auth/token/renew", r#"{"token":"<dev>","increment":60}"#),
        post(
            "auth/token/renew-accessor",
            r#"{"accessor":"<dev accessor>"}"#,
        ),
        role("dev", r#"{"token_ttl":"2h","token_max_ttl":"3h"}"#),
        renew("dev"),
        role("dev", r#"{"token_ttl":0,"token_max_ttl":0}"#),
        renew("dev"),
        role("dev", r#"{"token_period":"30m"}"#),
        renew("dev"),
        role(
            "dev",
            r#"{"token_period":0,"token_explicit_max_ttl":"10m"}"#,
        ),
        renew("dev"),
        get("auth/token/lookup-self").by("dev"),
        role("dev", r#"{"token_explicit_max_ttl":0,"token_ttl":"1h"}"#),
        role("dev", r#"{"token_num_uses":3}"#),
        renew("dev"),
        role(
            "dev",
            r#"{"token_num_uses":0,"token_bound_cidrs":"10.0.0.0/8"}"#,
        ),
        renew("dev"),
        role("dev", r#"{"token_bound_cidrs":[]}"#),
        post(
            "sys/auth/g/tune",
            r#"{"default_lease_ttl":"20m","max_lease_ttl":"30m"}"#,
        ),
        renew("dev"),
        renew("vm"),
        post(
            "sys/auth/g/tune",
            r#"{"default_lease_ttl":"system","max_lease_ttl":"system"}"#,
        ),
        renew("vm"),
    ]
}

fn policies() -> Vec<Step> {
    vec![
        role("dev", r#"{"token_policies":["A","prod","default"]}"#),
        renew("dev"),
        role("dev", r#"{"token_policies":["a","prod","more"]}"#),
        renew("dev"),
        role("dev", r#"{"token_policies":["a"]}"#),
        renew("dev"),
        role("dev", r#"{"token_policies":["prod","a"]}"#),
        renew("dev"),
        role("dev", r#"{"token_no_default_policy":true}"#),
        renew("dev"),
        role("dev", r#"{"token_no_default_policy":false}"#),
    ]
}

fn accounts() -> Vec<Step> {
    vec![
        role("dev", r#"{"bound_projects":"another"}"#),
        renew("dev"),
        role("dev", r#"{"bound_projects":[]}"#),
        role("dev", r#"{"bound_service_accounts":"other@b"}"#),
        renew("dev"),
        role("dev", r#"{"bound_service_accounts":"<workload>"}"#),
        renew("dev"),
        login("dev", "instance jwt of dev").keep_token("inferred"),
        renew("inferred"),
        role("dev", r#"{"allow_gce_inference":false}"#),
        renew("inferred"),
        role("dev", r#"{"allow_gce_inference":true}"#),
        forget(),
        renew("dev").after("the account is disabled", |google| {
            google.set_disabled(WORKLOAD, true).unwrap();
        }),
        login("dev", "jwt of dev").after("it is enabled", |google| {
            google.set_disabled(WORKLOAD, false).unwrap();
        }),
        forget(),
        renew("dev").after("the account is hidden", |google| {
            google.set_hidden(WORKLOAD, true).unwrap();
        }),
        login("dev", "jwt of dev"),
        forget(),
        renew("dev").after("it is shown", |google| {
            google.set_hidden(WORKLOAD, false).unwrap();
        }),
    ]
}

fn status(google: &FakeGoogle, status: InstanceStatus) {
    google.set_instance_status(INSTANCE, status).unwrap();
}

fn instances() -> Vec<Step> {
    vec![
        renew("vm").after("the instance is stopped", |google| {
            status(google, InstanceStatus::Terminated);
        }),
        login("vm", "instance jwt of vm"),
        renew("vm").after("it runs", |google| status(google, InstanceStatus::Running)),
        role("vm", r#"{"bound_regions":"us-central1"}"#),
        renew("vm"),
        role("vm", r#"{"bound_regions":[],"bound_labels":"env:prod"}"#),
        renew("vm"),
        role("vm", r#"{"bound_labels":[],"bound_projects":"another"}"#),
        renew("vm"),
        role(
            "vm",
            r#"{"bound_projects":[],"bound_service_accounts":"other@b"}"#,
        ),
        renew("vm"),
        role(
            "vm",
            r#"{"bound_service_accounts":[],"bound_zones":"europe-west1-b","bound_instance_groups":"workload-zonal"}"#,
        ),
        renew("vm"),
        role("vm", r#"{"bound_instance_groups":"nothing"}"#),
        renew("vm"),
        role(
            "vm",
            r#"{"bound_instance_groups":[],"bound_zones":[],"bound_regions":"europe-west1"}"#,
        ),
        renew("vm"),
    ]
}

/// Logins whose tokens show less than renewals of the reference read.
fn metadata() -> Vec<Step> {
    vec![
        post(
            "auth/g/config",
            r#"{"iam_metadata":"","gce_metadata":"role"}"#,
        ),
        login("dev", "jwt of dev").keep_token("bare account"),
        renew("bare account"),
        login("vm", "instance jwt of vm").keep_token("bare instance"),
        renew("bare instance"),
        post(
            "auth/g/config",
            r#"{"iam_metadata":"default","gce_metadata":"default"}"#,
        ),
    ]
}

fn ends() -> Vec<Step> {
    vec![
        delete("auth/g/role/dev"),
        renew("dev"),
        get("auth/token/lookup-self").by("dev"),
        role("dev", r#"{"type":"gce","token_policies":["prod","a"]}"#),
        renew("dev"),
        delete("auth/g/role/dev"),
        role(
            "dev",
            r#"{"type":"iam","bound_service_accounts":"<workload>","token_policies":["prod","a"]}"#,
        ),
        renew("dev"),
        put("auth/token/revoke-self", "").by("dev"),
        get("auth/token/lookup-self").by("dev"),
        login("dev", "jwt of dev")
            .keep_token("second dev")
            .keep("second accessor", "/auth/accessor"),
        list("sys/leases/lookup/auth/g/login/none"),
        post(
            "auth/token/revoke-accessor",
            r#"{"accessor":"<second accessor>"}"#,
        ),
        get("auth/token/lookup-self").by("second dev"),
        login("dev", "jwt of dev").keep_token("third dev"),
        put("sys/leases/revoke-prefix/auth/g/login", r#"{"sync":true}"#),
        get("auth/token/lookup-self").by("third dev"),
        get("auth/token/lookup-self").by("vm"),
        login("dev", "jwt of dev").keep_token("fourth dev"),
        post("auth/g/config/rotate-root", "{}"),
        login("dev", "jwt of dev"),
        delete("sys/auth/g"),
        get("auth/token/lookup-self").by("fourth dev"),
        login("dev", "jwt of dev"),
    ]
}
