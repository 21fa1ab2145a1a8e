//! Callers act in an account's name while they may.

use gatehouse_fake_google::{AccountSpec, Claims, FakeGoogle};
use http::StatusCode;
use serde_json::{Value, json};

use crate::client::{
    CLOUD_PLATFORM, ROBOT, Reply, access_token, assert_refused, get_with_bearer, google_with_robot,
    post,
};
use crate::federation::{federated_token, google_and_issuer};

const DENIED: &str =
    "Permission 'iam.serviceAccounts.getAccessToken' denied on resource (or it may not exist).";

fn order() -> Value {
    json!({ "lifetime": "1800s", "scope": [CLOUD_PLATFORM] })
}

async fn generate(google: &FakeGoogle, bearer: &str, account: &str, order: &Value) -> Reply {
    let path = format!("/v1/projects/-/serviceAccounts/{account}:generateAccessToken");
    post(google, &path, bearer, order).await
}

async fn record(google: &FakeGoogle, bearer: &str) -> StatusCode {
    let path = format!("/v1/projects/-/serviceAccounts/{ROBOT}");
    get_with_bearer(google, &path, bearer).await.status
}

#[tokio::test]
async fn federated_token_becomes_the_account_s() {
    let (google, issuer) = google_and_issuer().await;
    let federated = federated_token(&google, &issuer).await;
    let provider = issuer.provider().audience();
    let refused = generate(&google, &federated, ROBOT, &order()).await;
    assert_refused(&refused, StatusCode::FORBIDDEN, "PERMISSION_DENIED", DENIED);

    google.allow_impersonation(&provider, ROBOT).unwrap();
    let reply = generate(&google, &federated, ROBOT, &order()).await;
    assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
    let body = reply.json();
    let expiry = body["expireTime"].as_str().unwrap();
    assert_eq!(
        (expiry.len(), expiry.ends_with('Z')),
        (20, true),
        "{expiry}"
    );
    // The federated token opens nothing but this door.
    assert_eq!(record(&google, &federated).await, StatusCode::FORBIDDEN);
    assert_eq!(
        record(&google, body["accessToken"].as_str().unwrap()).await,
        StatusCode::OK
    );

    google.forbid_impersonation(&provider, ROBOT).unwrap();
    let ended = generate(&google, &federated, ROBOT, &order()).await;
    assert_eq!(ended.status, StatusCode::FORBIDDEN);
    google.remove_workload_identity_provider(&provider);
    let gone = generate(&google, &federated, ROBOT, &order()).await;
    assert_eq!(gone.status, StatusCode::UNAUTHORIZED);
    assert!(google.allow_impersonation(&provider, ROBOT).is_err());
}

#[tokio::test]
async fn disabled_and_unknown_accounts_are_not_impersonated() {
    let (google, issuer) = google_and_issuer().await;
    let federated = federated_token(&google, &issuer).await;
    google
        .allow_impersonation(&issuer.provider().audience(), ROBOT)
        .unwrap();
    google.set_disabled(ROBOT, true).unwrap();
    assert_refused(
        &generate(&google, &federated, ROBOT, &order()).await,
        StatusCode::BAD_REQUEST,
        "FAILED_PRECONDITION",
        "Service account is disabled and cannot be impersonated.",
    );
    // A caller who holds nothing is not told that the account does not exist.
    let unknown = generate(&google, &federated, "nobody@example.com", &order()).await;
    assert_refused(&unknown, StatusCode::FORBIDDEN, "PERMISSION_DENIED", DENIED);
}

#[tokio::test]
async fn lifetime_and_scope_are_checked() {
    let google = google_with_robot().await;
    let token = access_token(&google).await;
    for (order, status) in [
        (json!({ "scope": [CLOUD_PLATFORM] }), StatusCode::OK),
        (
            json!({ "lifetime": "43200s", "scope": [CLOUD_PLATFORM] }),
            StatusCode::OK,
        ),
        (
            json!({ "lifetime": "43201s", "scope": [CLOUD_PLATFORM] }),
            StatusCode::BAD_REQUEST,
        ),
        (
            json!({ "lifetime": "0s", "scope": [CLOUD_PLATFORM] }),
            StatusCode::BAD_REQUEST,
        ),
        (
            json!({ "lifetime": "3600", "scope": [CLOUD_PLATFORM] }),
            StatusCode::BAD_REQUEST,
        ),
        (
            json!({ "lifetime": 3600, "scope": [CLOUD_PLATFORM] }),
            StatusCode::BAD_REQUEST,
        ),
        (
            json!({ "lifetime": "3600s", "scope": [] }),
            StatusCode::BAD_REQUEST,
        ),
        (json!({ "lifetime": "3600s" }), StatusCode::BAD_REQUEST),
    ] {
        let reply = generate(&google, &token, ROBOT, &order).await;
        assert_eq!(reply.status, status, "{order}");
    }
    google
        .deny_permission(ROBOT, "iam.serviceAccounts.getAccessToken")
        .unwrap();
    let denied = generate(&google, &token, ROBOT, &order()).await;
    assert_refused(&denied, StatusCode::FORBIDDEN, "PERMISSION_DENIED", DENIED);
}

#[tokio::test]
async fn jwt_is_signed_by_the_account_s_key() {
    let google = google_with_robot().await;
    let other = AccountSpec::new("other", "test-project");
    google.add_account(other.clone()).unwrap();
    let token = access_token(&google).await;
    let path = format!("/v1/projects/-/serviceAccounts/{}:signJwt", other.email);
    let claims: Claims = FakeGoogle::login_claims(&other.email, "dev");
    let payload = Value::Object(claims.clone()).to_string();
    let reply = post(&google, &path, &token, &json!({ "payload": payload })).await;
    let expected = google.sign_jwt(&other.email, &claims).unwrap();
    // PKCS#1 v1.5 signatures are deterministic.
    assert_eq!(reply.json()["signedJwt"], expected);
    assert_eq!(
        reply.json()["keyId"],
        google.account_key(&other.email).unwrap().key_id()
    );

    let mut late = claims;
    let expiry = late["exp"].as_u64().unwrap() + 13 * 3600;
    late.insert("exp".to_owned(), expiry.into());
    for payload in [
        Value::Object(late).to_string(),
        "[]".to_owned(),
        String::new(),
    ] {
        let reply = post(&google, &path, &token, &json!({ "payload": payload })).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{payload}");
    }
}
