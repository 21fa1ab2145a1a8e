//! The resource manager knows what lies above a project, and what the caller may do in it.

use gatehouse_fake_google::{Ancestor, FakeGoogle, Population};
use http::StatusCode;
use serde_json::json;

use crate::client::{Reply, access_token_of, assert_refused, demo_google, post};

async fn ask(google: &FakeGoogle, token: &str, verb: &str, body: serde_json::Value) -> Reply {
    post(
        google,
        &format!("/v1/projects/demo-project:{verb}"),
        token,
        &body,
    )
    .await
}

#[tokio::test]
async fn ancestry_leads_from_the_project_to_the_organization() {
    let google = demo_google().await;
    let token = access_token_of(&google, Population::SERVER_ROOT).await;
    let resource = |kind: &str, id: &str| json!({ "resourceId": { "type": kind, "id": id } });
    let reply = ask(&google, &token, "getAncestry", json!({})).await;
    let expected = json!({ "ancestor": [
        resource("project", "demo-project"),
        resource("folder", Population::FOLDER),
        resource("organization", Population::ORGANIZATION),
    ] });
    assert_eq!(reply.json(), expected);

    let folders = ["1", "2"].map(|number| Ancestor::Folder(number.to_owned()));
    google.set_ancestors("demo-project", folders);
    let moved = ask(&google, &token, "getAncestry", json!({})).await.json();
    assert_eq!(moved["ancestor"][2], resource("folder", "2"));
    assert_eq!(moved["ancestor"].as_array().unwrap().len(), 3);
    google.set_ancestors("demo-project", []);
    let alone = ask(&google, &token, "getAncestry", json!({})).await.json();
    assert_eq!(
        alone["ancestor"],
        json!([resource("project", "demo-project")])
    );
}

#[tokio::test]
async fn ancestry_is_hidden_from_strangers() {
    let google = demo_google().await;
    let anonymous = ask(&google, "", "getAncestry", json!({})).await;
    assert_eq!(anonymous.status, StatusCode::UNAUTHORIZED);
    let token = access_token_of(&google, Population::SERVER_ROOT).await;
    google
        .deny_permission(Population::SERVER_ROOT, "resourcemanager.projects.get")
        .unwrap();
    let unknown = post(
        &google,
        "/v1/projects/nowhere:getAncestry",
        &token,
        &json!({}),
    )
    .await;
    for reply in [
        ask(&google, &token, "getAncestry", json!({})).await,
        unknown,
    ] {
        assert_refused(
            &reply,
            StatusCode::FORBIDDEN,
            "PERMISSION_DENIED",
            "The caller does not have permission",
        );
    }
}

#[tokio::test]
async fn only_held_permissions_are_answered() {
    let google = demo_google().await;
    let token = access_token_of(&google, Population::SERVER_ROOT).await;
    let all = json!({ "permissions": ["iam.serviceAccounts.get", "compute.instances.get"] });
    let reply = ask(&google, &token, "testIamPermissions", all.clone()).await;
    assert_eq!(reply.json(), all);

    let root = Population::SERVER_ROOT;
    google
        .deny_permission(root, "compute.instances.get")
        .unwrap();
    let some = ask(&google, &token, "testIamPermissions", all.clone()).await;
    assert_eq!(
        some.json(),
        json!({ "permissions": ["iam.serviceAccounts.get"] })
    );
    google
        .deny_permission_in("demo-project", root, "iam.serviceAccounts.get")
        .unwrap();
    let none = ask(&google, &token, "testIamPermissions", all).await;
    assert_eq!(none.json(), json!({}));

    for invalid in ["*", "compute.instances.*", "get"] {
        let order = json!({ "permissions": [invalid] });
        let refused = ask(&google, &token, "testIamPermissions", order).await;
        assert_refused(
            &refused,
            StatusCode::BAD_REQUEST,
            "INVALID_ARGUMENT",
            &format!("Permission {invalid} is not valid for this resource."),
        );
    }
}
