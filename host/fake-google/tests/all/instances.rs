//! The compute API shows an instance as it is.

use gatehouse_fake_google::{
    FakeGoogle, FakeGoogleError, IdentityFormat, InstanceStatus, Population,
};
use http::StatusCode;
use serde_json::json;

use crate::client::{Reply, access_token_of, assert_refused, demo_google, get, get_with_bearer};

const PATH: &str = "projects/demo-project/zones/europe-west1-b/instances/workload-1";

async fn instance(google: &FakeGoogle, token: &str, path: &str) -> Reply {
    get_with_bearer(google, &format!("/compute/v1/{path}"), token).await
}

#[tokio::test]
async fn resource_has_google_s_shape() {
    let google = demo_google().await;
    let token = access_token_of(&google, Population::SERVER_ROOT).await;
    let expected = json!({
        "kind": "compute#instance",
        "id": "3508962384417235914",
        "creationTimestamp": "2025-12-31T17:00:00.417-07:00",
        "name": "workload-1",
        "status": "RUNNING",
        "zone": "https://www.googleapis.com/compute/v1/projects/demo-project/zones/europe-west1-b",
        "selfLink": format!("https://www.googleapis.com/compute/v1/{PATH}"),
        "labels": { "env": "demo", "team": "platform" },
        "serviceAccounts": [{
            "email": Population::WORKLOAD,
            "scopes": ["https://www.googleapis.com/auth/cloud-platform"],
        }],
    });
    let by_number = "projects/demo-project/zones/europe-west1-b/instances/3508962384417235914";
    for path in [
        PATH,
        by_number,
        &format!("{PATH}?alt=json&prettyPrint=false"),
    ] {
        assert_eq!(instance(&google, &token, path).await.json(), expected);
    }
    let masked = instance(&google, &token, &format!("{PATH}?fields=id,labels/env")).await;
    assert_eq!(
        masked.json(),
        json!({ "id": "3508962384417235914", "labels": { "env": "demo" } })
    );
    let malformed = instance(&google, &token, &format!("{PATH}?fields=id(")).await;
    assert_refused(
        &malformed,
        StatusCode::BAD_REQUEST,
        "INVALID_ARGUMENT",
        "Invalid field selection id(",
    );
}

#[tokio::test]
async fn changes_show_at_once() {
    let google = demo_google().await;
    let token = access_token_of(&google, Population::SERVER_ROOT).await;
    google
        .set_instance_status("workload-1", InstanceStatus::Terminated)
        .unwrap();
    google
        .set_instance_labels(PATH, [("team", "other")])
        .unwrap();
    let changed = instance(&google, &token, PATH).await.json();
    assert_eq!(changed["status"], "TERMINATED");
    assert_eq!(changed["labels"], json!({ "team": "other" }));

    let before = google
        .identity_claims("workload-1", "a", IdentityFormat::Full)
        .unwrap();
    let mut successor = google.instance("3508962384417235914").unwrap();
    successor.instance_id = "42".to_owned();
    successor.labels.clear();
    successor.service_account.clear();
    google.replace_instance(successor.clone()).unwrap();
    let replaced = instance(&google, &token, PATH).await.json();
    assert_eq!(replaced["id"], "42");
    assert_ne!(before["google"]["compute_engine"]["instance_id"], "42");
    // Google leaves empty fields out.
    assert!(replaced.get("labels").is_none() && replaced.get("serviceAccounts").is_none());

    assert!(matches!(
        google.add_instance(successor.clone()),
        Err(FakeGoogleError::DuplicateInstance { path }) if path == PATH
    ));
    google.delete_instance(PATH).unwrap();
    assert_refused(
        &instance(&google, &token, PATH).await,
        StatusCode::NOT_FOUND,
        "NOT_FOUND",
        &format!("The resource '{PATH}' was not found"),
    );
    assert!(matches!(
        google.replace_instance(successor.clone()),
        Err(FakeGoogleError::UnknownInstance { instance }) if instance == PATH
    ));
    google.add_instance(successor).unwrap();
    assert_eq!(instance(&google, &token, PATH).await.status, StatusCode::OK);
}

#[tokio::test]
async fn instance_needs_a_token_and_the_permission() {
    let google = demo_google().await;
    let url = format!("/compute/v1/{PATH}");
    for reply in [
        get(&google, &url).await,
        get_with_bearer(&google, &url, "ya29.x").await,
    ] {
        assert_eq!(reply.status, StatusCode::UNAUTHORIZED);
    }

    let token = access_token_of(&google, Population::SERVER_ROOT).await;
    let other = access_token_of(&google, Population::WORKLOAD).await;
    let permission = "compute.instances.get";
    google
        .deny_permission(Population::SERVER_ROOT, permission)
        .unwrap();
    assert_refused(
        &instance(&google, &token, PATH).await,
        StatusCode::FORBIDDEN,
        "PERMISSION_DENIED",
        &format!("Required '{permission}' permission for '{PATH}'"),
    );
    assert_eq!(instance(&google, &other, PATH).await.status, StatusCode::OK);
    google
        .allow_permission(Population::SERVER_ROOT, permission)
        .unwrap();
    google
        .deny_permission_in("another-project", Population::SERVER_ROOT, permission)
        .unwrap();
    assert_eq!(instance(&google, &token, PATH).await.status, StatusCode::OK);
    google
        .deny_permission_in("demo-project", Population::SERVER_ROOT, permission)
        .unwrap();
    assert_eq!(
        instance(&google, &token, PATH).await.status,
        StatusCode::FORBIDDEN
    );
    assert!(google.deny_permission("nobody", permission).is_err());
}
