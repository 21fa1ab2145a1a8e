//! The fake signs login JWTs and identity tokens, and describes itself to other programs.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use gatehouse_fake_google::{
    FakeGoogle, FakeGoogleError, FakeGoogleOptions, IdentityFormat, Population,
};
use serde_json::{Value, json};

async fn demo_google() -> FakeGoogle {
    FakeGoogle::start(FakeGoogleOptions::default())
        .await
        .expect("the fake starts")
}

fn part(jwt: &str, index: usize) -> Value {
    let part = jwt.split('.').nth(index).expect("three parts");
    serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
}

#[tokio::test]
async fn login_jwt_names_account_role_and_key() {
    let google = demo_google().await;
    let jwt = google.sign_login_jwt(Population::WORKLOAD, "dev").unwrap();
    let key = google.account_key(Population::WORKLOAD).unwrap();
    assert_eq!(
        part(&jwt, 0),
        json!({ "alg": "RS256", "kid": key.key_id(), "typ": "JWT" })
    );
    let claims = part(&jwt, 1);
    assert_eq!(
        (&claims["sub"], &claims["aud"]),
        (&json!(Population::WORKLOAD), &json!("vault/dev"))
    );
    assert_eq!(
        claims["exp"].as_u64().unwrap() - claims["iat"].as_u64().unwrap(),
        900
    );
}

#[tokio::test]
async fn identity_tokens_say_as_much_as_their_format_allows() {
    let google = demo_google().await;
    let full = google
        .identity_token("workload-1", "vault/dev", IdentityFormat::Full)
        .unwrap();
    assert_eq!(part(&full, 0)["kid"], google.google_key().unwrap().key_id());
    let claims = part(&full, 1);
    assert_eq!(claims["iss"], "https://accounts.google.com");
    assert_eq!(claims["email"], Population::WORKLOAD);
    assert_eq!(
        claims["google"]["compute_engine"]["instance_name"],
        "workload-1"
    );
    assert_eq!(
        claims["google"]["compute_engine"]["project_id"],
        "demo-project"
    );

    let standard = google
        .identity_token("workload-1", "vault/dev", IdentityFormat::Standard)
        .unwrap();
    assert!(part(&standard, 1).get("google").is_none());

    let unknown = google.identity_token("nowhere", "vault/dev", IdentityFormat::Full);
    assert!(
        matches!(unknown, Err(FakeGoogleError::UnknownInstance { instance }) if instance == "nowhere")
    );
}

#[tokio::test]
async fn key_file_points_to_the_fake() {
    let google = demo_google().await;
    let file: Value =
        serde_json::from_str(&google.credentials_json(Population::SERVER_ROOT).unwrap()).unwrap();
    assert_eq!(file["type"], "service_account");
    assert_eq!(file["client_email"], Population::SERVER_ROOT);
    assert_eq!(file["token_uri"], google.token_url());
    let key = google.account_key(Population::SERVER_ROOT).unwrap();
    assert_eq!(
        (&file["private_key_id"], &file["private_key"]),
        (&json!(key.key_id()), &json!(key.private_key_pem()))
    );
    assert!(
        key.private_key_pem()
            .starts_with("-----BEGIN PRIVATE KEY-----")
    );
}

#[tokio::test]
async fn description_has_the_keys_of_everybody() {
    let google = demo_google().await;
    let description = serde_json::to_value(google.description().unwrap()).unwrap();
    assert_eq!(description["address"], google.base_url());
    assert_eq!(
        description["oauth_key"]["kid"],
        google.google_key().unwrap().key_id()
    );
    let accounts = description["service_accounts"].as_array().unwrap();
    assert_eq!(accounts.len(), 3);
    let mut fields: Vec<_> = accounts[0]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    fields.sort_unstable();
    assert_eq!(
        fields,
        ["email", "kid", "private_key_pem", "project_id", "unique_id"]
    );
    assert_eq!(
        description["instances"][0]["service_account"],
        Population::WORKLOAD
    );
    assert_eq!(description["instances"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn debug_output_holds_no_private_key() {
    let google = demo_google().await;
    let shown = format!(
        "{google:?} {:?} {:?}",
        google.description().unwrap(),
        google.google_key().unwrap()
    );
    assert!(!shown.contains("PRIVATE KEY"));
}
