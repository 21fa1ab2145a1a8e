//! The configuration of a mount (contract 2).

use crate::step::{Step, delete, get, list, post, put, send};

const CONFIG: &str = "auth/c/config";

fn write(body: &str) -> Step {
    post(CONFIG, body)
}

pub fn requests() -> Vec<Step> {
    [
        vec![post("sys/auth/c", r#"{"type":"gcp"}"#)],
        operations(),
        credentials(),
        aliases_and_metadata(),
        endpoints(),
        federation_and_rotation(),
        help(),
        vec![delete("sys/auth/c")],
    ]
    .concat()
}

fn operations() -> Vec<Step> {
    vec![
        get(CONFIG),
        get(CONFIG).by("least"),
        get(CONFIG).by_nobody(),
        write("{}"),
        write(""),
        write("null"),
        get(CONFIG),
        list(CONFIG),
        send("PATCH", CONFIG, "{}").header("Content-Type", "application/merge-patch+json"),
        write("{}").by("least"),
        write(r#"{"zeta":1,"alpha":2}"#),
        write(r#"{"iam_alias":"unique_id","unknown":1}"#),
        get(CONFIG),
        post("auth/c/config/", "{}"),
        get("auth/c/config/nothing"),
        get("auth/c/nothing"),
        get("auth/c/"),
        get("auth/c"),
        list("auth/c"),
    ]
}

fn credentials() -> Vec<Step> {
    vec![
        post("auth/c/config/rotate-root", "{}"),
        get("auth/c/config/rotate-root"),
        write(r#"{"credentials":"nonsense"}"#),
        write(r#"{"credentials":"{"}"#),
        write(r#"{"credentials":"[]"}"#),
        write(r#"{"credentials":"{}"}"#),
        write(r#"{"credentials":7}"#),
        write(r#"{"credentials":["a"]}"#),
        write(r#"{"credentials":"{\"client_email\":\"a@b\",\"private_key\":\"key\"}"}"#),
        get(CONFIG),
        put(CONFIG, r#"{"credentials":"<credentials>"}"#),
        get(CONFIG),
        write(r#"{"google_certs_endpoint":"https://www.googleapis.com/oauth2/v3/certs"}"#),
        get(CONFIG),
        write(r#"{"credentials":null}"#),
        get(CONFIG),
        write(r#"{"credentials":""}"#),
        get(CONFIG),
    ]
}

fn aliases_and_metadata() -> Vec<Step> {
    vec![
        write(r#"{"iam_alias":"unique_id","gce_alias":"instance_id"}"#),
        get(CONFIG),
        write(r#"{"iam_alias":"role_id","gce_alias":"role_id"}"#),
        get(CONFIG),
        write(r#"{"iam_alias":""}"#),
        write(r#"{"iam_metadata":["Role","project_id","role"]}"#),
        get(CONFIG),
        write(r#"{"iam_metadata":"default"}"#),
        get(CONFIG),
        write(r#"{"iam_metadata":""}"#),
        get(CONFIG),
        write(r#"{"iam_metadata":[]}"#),
        write(r#"{"iam_metadata":["role","default"]}"#),
        write(r#"{"iam_metadata":["zone"]}"#),
        write(r#"{"gce_metadata":"zone,instance_name"}"#),
        get(CONFIG),
        write(r#"{"gce_metadata":["a","default"]}"#),
        write(r#"{"gce_metadata":["nonsense"]}"#),
        write(r#"{"gce_metadata":"default","iam_metadata":"default"}"#),
        get(CONFIG),
    ]
}

fn endpoints() -> Vec<Step> {
    vec![
        write(r#"{"custom_endpoint":{"api":"https://www.googleapis.com"}}"#),
        get(CONFIG),
        write(r#"{"custom_endpoint":{"iam":"https://iam.googleapis.com/"}}"#),
        get(CONFIG),
        write(r#"{"custom_endpoint":{"nonsense":"https://iam.googleapis.com","api":"x"}}"#),
        get(CONFIG),
        write(r#"{"custom_endpoint":{}}"#),
        write(r#"{"custom_endpoint":"crm=https://cloudresourcemanager.googleapis.com"}"#),
        write(r#"{"custom_endpoint":["compute=https://compute.googleapis.com/compute/v1/"]}"#),
        get(CONFIG),
        write(r#"{"custom_endpoint":{"api":"","iam":"","crm":"","compute":""}}"#),
        get(CONFIG),
        write(r#"{"custom_endpoint":7}"#),
    ]
}

fn federation_and_rotation() -> Vec<Step> {
    vec![
        write(r#"{"identity_token_audience":"x"}"#),
        write(r#"{"credentials":"<credentials>","identity_token_audience":"x"}"#),
        write(r#"{"identity_token_ttl":"abc"}"#),
        write(r#"{"identity_token_ttl":"-1s"}"#),
        write(r#"{"rotation_period":"-1s"}"#),
        write(r#"{"rotation_period":"abc"}"#),
        write(r#"{"rotation_schedule":"nonsense"}"#),
        write(r#"{"rotation_schedule":"0 0 * * *","rotation_period":60}"#),
        write(r#"{"rotation_window":60}"#),
        write(r#"{"rotation_window":60,"rotation_period":60}"#),
        write(r#"{"disable_automated_rotation":true}"#),
        get(CONFIG),
        write(r#"{"disable_automated_rotation":false}"#),
        write(r#"{"disable_automated_rotation":"maybe"}"#),
        get(CONFIG),
        write(r#"{"service_account_email":"a@b"}"#),
        get(CONFIG),
        write(r#"{"service_account_email":""}"#),
        write(r#"{"identity_token_audience":"x","service_account_email":"a@b"}"#),
        write(r#"{"identity_token_audience":"","service_account_email":""}"#),
        write(r#"{"rotation_period":86400}"#),
        write(r#"{"rotation_period":0}"#),
        get(CONFIG),
    ]
}

/// The texts are each server's own; that they are there is not.
fn help() -> Vec<Step> {
    vec![
        get("auth/c/config?help=1"),
        get("auth/c/config?help=1").by("least"),
        get("auth/c/role/x?help=1"),
        get("auth/c?help=1"),
        get("auth/c/?help=1"),
        post("auth/c/config?help=1", r#"{"iam_alias":"unique_id"}"#),
        get(CONFIG),
    ]
}
