//! Logins of instances: what Google says of them now, and whose word counts (contract 4.6, CVE-2020-16251).

use gatehouse_fake_google::{Endpoint, IdentityFormat, InstanceStatus};
use gatehouse_tests::{INSTANCE, WORKLOAD};
use serde_json::json;

use crate::stage::{MOUNT, PROJECT, Stage, assert_granted, assert_refused};

fn ready() -> Stage {
    let stage = Stage::new("");
    stage.enable_with_key(MOUNT);
    let role = json!({"type": "gce", "bound_regions": "europe-west1"});
    stage.role(MOUNT, "vm", &role);
    stage
}

#[test]
fn contract_4_6_an_instance_logs_in_and_is_asked_about_every_time() {
    let stage = ready();
    let google = stage.google();
    let instance = google.instance(INSTANCE).unwrap();
    for logins in 1..=3 {
        let answer = stage.log_instance_in(MOUNT, "vm");
        assert_granted(&answer);
        let auth = &answer.json()["auth"];
        assert_eq!(
            auth["metadata"],
            json!({
                "role": "vm",
                "project_id": PROJECT,
                "project_number": instance.project_number.to_string(),
                "zone": instance.zone,
                "instance_id": instance.instance_id,
                "instance_name": INSTANCE,
                "instance_creation_timestamp": instance.instance_creation_timestamp.to_string(),
                "service_account_id": stage_account(&stage),
                "service_account_email": WORKLOAD,
            })
        );
        assert_eq!(google.calls(Endpoint::Instance), logins);
    }
    assert_eq!(google.calls(Endpoint::GoogleCertificates), 1);
    assert_eq!(google.calls(Endpoint::AccountCertificates), 0);
    assert_eq!(google.calls(Endpoint::ServiceAccount), 1);
    assert_eq!(google.calls(Endpoint::InstanceGroups), 0);
}

/// The unique ID of the instance's account.
fn stage_account(stage: &Stage) -> serde_json::Value {
    let format = IdentityFormat::Standard;
    let claims = stage.google().identity_claims(INSTANCE, "any", format);
    claims.unwrap()["sub"].clone()
}

#[test]
fn g9_only_an_instance_that_starts_or_runs_logs_in() {
    use InstanceStatus::{
        Provisioning, Repairing, Running, Staging, Stopping, Suspended, Suspending, Terminated,
    };
    let stage = ready();
    for (status, name) in [
        (Stopping, "STOPPING"),
        (Suspending, "SUSPENDING"),
        (Suspended, "SUSPENDED"),
        (Repairing, "REPAIRING"),
        (Terminated, "TERMINATED"),
    ] {
        stage
            .google()
            .set_instance_status(INSTANCE, status)
            .unwrap();
        let text =
            format!("authenticating instance {INSTANCE} found but has invalid status '{name}'");
        assert_refused(&stage.log_instance_in(MOUNT, "vm"), 400, &text);
    }
    for status in [Provisioning, Staging, Running] {
        stage
            .google()
            .set_instance_status(INSTANCE, status)
            .unwrap();
        assert_granted(&stage.log_instance_in(MOUNT, "vm"));
    }
}

#[test]
fn g9_an_instance_in_the_place_of_another_is_another() {
    let stage = ready();
    let google = stage.google();
    let of_the_first = stage.instance_jwt("vm");
    assert_granted(&stage.show(MOUNT, "vm", &of_the_first));
    let mut second = google.instance(INSTANCE).unwrap();
    second.instance_id = "1111111111111111111".to_owned();
    google.replace_instance(second).unwrap();
    let refused = stage.show(MOUNT, "vm", &of_the_first);
    assert_refused(&refused, 400, "instance id does not match");
    assert_granted(&stage.log_instance_in(MOUNT, "vm"));

    google.delete_instance(INSTANCE).unwrap();
    let refused = stage.show(MOUNT, "vm", &of_the_first);
    let text = format!(
        "error when attempting to find instance (project {PROJECT}, zone: europe-west1-b, instance: {INSTANCE}) :"
    );
    assert_refused(&refused, 400, &text);
}

#[test]
fn g9_a_token_that_is_older_than_the_instance_is_of_another() {
    let stage = ready();
    let google = stage.google();
    let of_the_first = stage.instance_jwt("vm");
    let mut second = google.instance(INSTANCE).unwrap();
    second.instance_creation_timestamp += 2;
    google.replace_instance(second).unwrap();
    let text = "is before instance's creation time";
    assert_refused(&stage.show(MOUNT, "vm", &of_the_first), 400, text);
    assert_granted(&stage.log_instance_in(MOUNT, "vm"));
}

#[test]
fn g13_labels_count_as_they_are_now() {
    let stage = ready();
    let google = stage.google();
    let role = json!({"type": "gce", "bound_regions": "europe-west1", "bound_labels": ["env:demo", "team:platform"]});
    stage.role(MOUNT, "labelled", &role);
    assert_granted(&stage.log_instance_in(MOUNT, "labelled"));
    for (labels, missing) in [
        (vec![("env", "demo")], "team:platform"),
        (vec![("env", "other"), ("team", "platform")], "env:demo"),
    ] {
        google.set_instance_labels(INSTANCE, labels).unwrap();
        let text = format!("instance missing bound label \"{missing}\"");
        assert_refused(&stage.log_instance_in(MOUNT, "labelled"), 400, &text);
    }
    let labels = [("env", "demo"), ("team", "platform"), ("more", "")];
    google.set_instance_labels(INSTANCE, labels).unwrap();
    assert_granted(&stage.log_instance_in(MOUNT, "labelled"));
}

#[test]
fn cve_2020_16251_claims_of_an_instance_count_only_with_googles_signature() {
    let stage = ready();
    let google = stage.google();
    let audience = "http://vault/vm";
    let full = IdentityFormat::Full;
    let honest = google.identity_claims(INSTANCE, audience, full).unwrap();
    let mut under_own_name = honest.clone();
    under_own_name.insert("iss".to_owned(), WORKLOAD.into());
    under_own_name.insert("sub".to_owned(), WORKLOAD.into());
    for claims in [&honest, &under_own_name] {
        let forged = google.sign_jwt(WORKLOAD, claims).unwrap();
        let text = "no Google OAuth2 provider key found for GCE role";
        assert_refused(&stage.show(MOUNT, "vm", &forged), 400, text);
    }
    let key = google.account_key(WORKLOAD).unwrap();
    let google_key = google.google_key().unwrap();
    let header = serde_json::Map::from_iter([
        ("alg".to_owned(), "RS256".into()),
        ("kid".to_owned(), google_key.key_id().into()),
    ]);
    let forged = key.sign_jwt_with_header(&header, &honest).unwrap();
    let text = "unable to verify JWT signature";
    assert_refused(&stage.show(MOUNT, "vm", &forged), 400, text);
    for endpoint in [
        Endpoint::Instance,
        Endpoint::AccountCertificates,
        Endpoint::ServiceAccount,
        Endpoint::Token,
    ] {
        assert_eq!(google.calls(endpoint), 0, "{endpoint:?}");
    }
    assert_granted(&stage.log_instance_in(MOUNT, "vm"));
}

#[test]
fn g2_a_token_in_the_short_format_has_no_instance() {
    let stage = ready();
    let google = stage.google();
    let format = IdentityFormat::Standard;
    let jwt = google
        .identity_token(INSTANCE, "http://vault/vm", format)
        .unwrap();
    let text = "expected JWT to have claims with GCE metadata";
    assert_refused(&stage.show(MOUNT, "vm", &jwt), 400, text);
    assert_eq!(google.calls(Endpoint::Instance), 0);
}

#[test]
fn g11_the_accounts_of_a_gce_role_are_names_ids_or_a_star() {
    let stage = ready();
    let id = stage_account(&stage);
    for bound in [json!(WORKLOAD), id, json!("*"), json!("")] {
        let role = json!({"type": "gce", "bound_regions": "europe-west1", "bound_service_accounts": bound});
        stage.role(MOUNT, "bound", &role);
        assert_granted(&stage.log_instance_in(MOUNT, "bound"));
    }
    let role = json!({"type": "gce", "bound_regions": "europe-west1", "bound_service_accounts": "other@demo-project.iam.gserviceaccount.com"});
    stage.role(MOUNT, "bound", &role);
    let text = "is not in bound service accounts";
    assert_refused(&stage.log_instance_in(MOUNT, "bound"), 400, text);
}
