//! IAM makes and deletes the keys of accounts.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use gatehouse_fake_google::{Endpoint, FakeGoogle};
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::client::{
    ROBOT, Reply, access_token, assert_refused, assertion_claims, call, exchange, get,
    google_with_robot, post,
};

fn keys_path(account: &str) -> String {
    format!("/v1/projects/-/serviceAccounts/{account}/keys")
}

fn order() -> Value {
    json!({ "keyAlgorithm": "KEY_ALG_RSA_2048", "privateKeyType": "TYPE_GOOGLE_CREDENTIALS_FILE" })
}

async fn create(google: &FakeGoogle, token: &str) -> Reply {
    post(google, &keys_path(ROBOT), token, &order()).await
}

async fn delete(google: &FakeGoogle, token: &str, path: &str) -> Reply {
    call(google, Method::DELETE, path, token, &json!({})).await
}

async fn published(google: &FakeGoogle) -> Vec<String> {
    let document = get(
        google,
        &format!("/service_accounts/v1/metadata/x509/{ROBOT}"),
    )
    .await;
    document
        .json()
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect()
}

#[tokio::test]
async fn created_key_comes_as_a_key_file_and_works() {
    let google = google_with_robot().await;
    let token = access_token(&google).await;
    let created = create(&google, &token).await.json();
    let file = BASE64_STANDARD
        .decode(created["privateKeyData"].as_str().unwrap())
        .unwrap();
    let file: Value = serde_json::from_slice(&file).unwrap();
    let key_id = file["private_key_id"].as_str().unwrap().to_owned();
    assert_eq!(
        created["name"],
        format!("projects/test-project/serviceAccounts/{ROBOT}/keys/{key_id}")
    );
    assert_eq!(file["client_email"], ROBOT);
    assert_eq!(file["token_uri"], google.token_url());
    assert_eq!(google.key_ids(ROBOT).unwrap().last(), Some(&key_id));
    assert!(published(&google).await.contains(&key_id));

    let key = google.account_key(ROBOT).unwrap();
    assert_eq!(file["private_key"], key.private_key_pem());
    let reply = exchange(&google, &key.sign_jwt(&assertion_claims(&google)).unwrap()).await;
    assert_eq!(reply.status, StatusCode::OK);
}

#[tokio::test]
async fn deleted_key_stops_working() {
    let google = google_with_robot().await;
    let token = access_token(&google).await;
    let old = google.account_key(ROBOT).unwrap();
    assert_eq!(create(&google, &token).await.status, StatusCode::OK);

    let path = format!(
        "/v1/projects/test-project/serviceAccounts/{ROBOT}/keys/{}",
        old.key_id()
    );
    let deleted = delete(&google, &token, &path).await;
    assert_eq!(
        (deleted.status, deleted.json()),
        (StatusCode::OK, json!({}))
    );
    let refused = exchange(&google, &old.sign_jwt(&assertion_claims(&google)).unwrap()).await;
    assert_eq!(
        refused.json()["error_description"],
        "Invalid JWT Signature."
    );
    assert!(!published(&google).await.contains(&old.key_id().to_owned()));

    assert_refused(
        &delete(&google, &token, &path).await,
        StatusCode::NOT_FOUND,
        "NOT_FOUND",
        &format!("Service account key {} does not exist.", old.key_id()),
    );
    let elsewhere = path.replace("test-project/serviceAccounts", "other/serviceAccounts");
    assert_eq!(
        delete(&google, &token, &elsewhere).await.status,
        StatusCode::NOT_FOUND
    );
    assert_eq!(google.calls(Endpoint::DeleteKey), 3);
}

#[tokio::test]
async fn new_key_is_refused_until_its_news_has_spread() {
    let google = google_with_robot().await;
    let token = access_token(&google).await;
    google.set_key_propagation(2);
    create(&google, &token).await;
    let key = google.account_key(ROBOT).unwrap();
    let assertion = key.sign_jwt(&assertion_claims(&google)).unwrap();
    for _ in 0..2 {
        let expected =
            json!({ "error": "invalid_grant", "error_description": "Invalid JWT Signature." });
        assert_eq!(exchange(&google, &assertion).await.json(), expected);
    }
    assert_eq!(exchange(&google, &assertion).await.status, StatusCode::OK);
}

#[tokio::test]
async fn account_has_ten_keys_at_most() {
    let google = google_with_robot().await;
    let token = access_token(&google).await;
    for _ in google.key_ids(ROBOT).unwrap().len()..10 {
        assert_eq!(create(&google, &token).await.status, StatusCode::OK);
    }
    assert_refused(
        &create(&google, &token).await,
        StatusCode::BAD_REQUEST,
        "FAILED_PRECONDITION",
        "Precondition check failed.",
    );
    assert_eq!(google.key_ids(ROBOT).unwrap().len(), 10);
}

#[tokio::test]
async fn wrong_orders_create_nothing() {
    let google = google_with_robot().await;
    let token = access_token(&google).await;
    let path = keys_path(ROBOT);
    for order in [
        json!({ "keyAlgorithm": "KEY_ALG_RSA_1024" }),
        json!({ "privateKeyType": "TYPE_PKCS12_FILE" }),
        json!({ "keyAlgorithm": 2048 }),
        json!([]),
    ] {
        let reply = post(&google, &path, &token, &order).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{order}");
    }
    let anonymous = post(&google, &path, "", &order()).await;
    assert_eq!(anonymous.status, StatusCode::UNAUTHORIZED);
    let stranger = post(&google, &keys_path("nobody@example.com"), &token, &order()).await;
    assert_eq!(stranger.status, StatusCode::NOT_FOUND);
    for permission in [
        "iam.serviceAccountKeys.create",
        "iam.serviceAccountKeys.delete",
    ] {
        google.deny_permission(ROBOT, permission).unwrap();
    }
    let own = google.account_key(ROBOT).unwrap();
    let replies = [
        (create(&google, &token).await, "create"),
        (
            delete(&google, &token, &format!("{path}/{}", own.key_id())).await,
            "delete",
        ),
    ];
    for (reply, verb) in replies {
        let message = format!(
            "Permission 'iam.serviceAccountKeys.{verb}' denied on resource (or it may not exist)."
        );
        assert_refused(&reply, StatusCode::FORBIDDEN, "PERMISSION_DENIED", &message);
    }
    assert_eq!(google.key_ids(ROBOT).unwrap(), [own.key_id()]);
}
