//! The Security Token Service takes the tokens of registered issuers, and of no others.

use gatehouse_fake_google::{Claims, Endpoint, FakeGoogle, IssuerKeys, SigningKey};
use http::header::CONTENT_TYPE;
use http::{Request, StatusCode};
use http_body_util::Full;
use serde_json::{Value, json};

use crate::client::{CLOUD_PLATFORM, Reply, google_with_robot, try_send};
use crate::issuer::{Issuer, SUBJECT};

const HOUR: i64 = 3600;

/// The form of an honest exchange.
fn form<'a>(audience: &'a str, token: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("audience", audience),
        (
            "grant_type",
            "urn:ietf:params:oauth:grant-type:token-exchange",
        ),
        (
            "requested_token_type",
            "urn:ietf:params:oauth:token-type:access_token",
        ),
        ("subject_token_type", "urn:ietf:params:oauth:token-type:jwt"),
        ("subject_token", token),
        ("scope", CLOUD_PLATFORM),
    ]
}

async fn send(google: &FakeGoogle, form: &[(&str, &str)]) -> Reply {
    let body = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(form)
        .finish();
    let request = Request::post(format!("{}/v1/token", google.base_url()))
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded");
    try_send(request.body(Full::from(body)).unwrap())
        .await
        .unwrap()
}

/// Exchanges a token at the issuer's registered provider.
pub async fn exchange(google: &FakeGoogle, issuer: &Issuer, token: &str) -> Reply {
    send(google, &form(&issuer.provider().audience(), token)).await
}

/// A federated access token that was obtained honestly.
pub async fn federated_token(google: &FakeGoogle, issuer: &Issuer) -> String {
    let audience = format!("https:{}", issuer.provider().audience());
    let token = issuer.key.sign_jwt(&issuer.claims(&audience)).unwrap();
    let reply = exchange(google, issuer, &token).await;
    assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
    reply.json()["access_token"].as_str().unwrap().to_owned()
}

/// A fake that discovers the keys of an issuer.
pub async fn google_and_issuer() -> (FakeGoogle, Issuer) {
    let (google, issuer) = (google_with_robot().await, Issuer::start().await);
    google.add_workload_identity_provider(issuer.provider());
    (google, issuer)
}

fn assert_denied(reply: &Reply, error: &str) {
    assert!(reply.status.is_client_error(), "{reply:?}");
    assert_eq!(reply.json()["error"], error, "{reply:?}");
}

#[tokio::test]
async fn honest_token_buys_a_federated_one() {
    let (google, issuer) = google_and_issuer().await;
    let audience = issuer.provider().audience();
    for audience in [audience.clone(), format!("https:{audience}")] {
        let token = issuer.key.sign_jwt(&issuer.claims(&audience)).unwrap();
        let reply = exchange(&google, &issuer, &token).await;
        assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
        let body = reply.json();
        assert!(
            body["access_token"]
                .as_str()
                .unwrap()
                .starts_with("ya29.d.")
        );
        assert_eq!(
            (
                &body["issued_token_type"],
                &body["token_type"],
                &body["expires_in"]
            ),
            (
                &json!("urn:ietf:params:oauth:token-type:access_token"),
                &json!("Bearer"),
                &json!(3600)
            )
        );
    }
    assert_eq!(google.calls(Endpoint::SecurityTokenService), 2);
}

#[tokio::test]
async fn each_wrong_parameter_is_refused() {
    let (google, issuer) = google_and_issuer().await;
    let audience = issuer.provider().audience();
    let token = issuer.key.sign_jwt(&issuer.claims(&audience)).unwrap();
    let unknown = audience.replace("gatehouse", "other");
    let with_scheme = format!("https:{audience}");
    for (field, value, error) in [
        ("audience", unknown.as_str(), "invalid_target"),
        ("audience", &with_scheme, "invalid_target"),
        ("audience", "", "invalid_request"),
        ("grant_type", "authorization_code", "unsupported_grant_type"),
        (
            "requested_token_type",
            "urn:ietf:params:oauth:token-type:jwt",
            "invalid_request",
        ),
        (
            "subject_token_type",
            "urn:ietf:params:oauth:token-type:saml2",
            "invalid_request",
        ),
        ("subject_token", "", "invalid_request"),
        ("subject_token", "a.b.c", "invalid_grant"),
        ("scope", "", "invalid_request"),
    ] {
        let mut form = form(&audience, &token);
        form.retain(|(name, _)| *name != field);
        form.push((field, value));
        assert_denied(&send(&google, &form).await, error);
    }
    let untyped = Request::post(format!("{}/v1/token", google.base_url()));
    let reply = try_send(untyped.body(Full::from("{}")).unwrap())
        .await
        .unwrap();
    assert_denied(&reply, "invalid_request");
}

#[tokio::test]
async fn each_wrong_claim_is_refused() {
    let (google, issuer) = google_and_issuer().await;
    let honest = issuer.claims(&issuer.provider().audience());
    let now = honest["iat"].as_i64().unwrap();
    let wrong = [
        ("iss", Some(json!("https://other.example.com"))),
        ("iss", None),
        ("aud", Some(json!("https://iam.googleapis.com/other"))),
        ("aud", Some(json!([]))),
        ("aud", None),
        ("sub", None),
        ("exp", Some(json!(now - HOUR))),
        ("exp", Some(json!(now + 25 * HOUR))),
        ("exp", None),
        ("iat", Some(json!(now + HOUR))),
        ("iat", Some(json!(now - 24 * HOUR))),
        ("iat", None),
        ("nbf", Some(json!(now + HOUR))),
    ];
    for (claim, value) in wrong {
        let mut claims = honest.clone();
        match value {
            Some(value) => claims.insert(claim.to_owned(), value),
            None => claims.remove(claim),
        };
        let reply = exchange(&google, &issuer, &issuer.key.sign_jwt(&claims).unwrap()).await;
        assert_denied(&reply, "invalid_grant");
    }
    let mut without_start = honest;
    without_start.remove("nbf");
    let token = issuer.key.sign_jwt(&without_start).unwrap();
    assert_eq!(
        exchange(&google, &issuer, &token).await.status,
        StatusCode::OK
    );
}

#[tokio::test]
async fn signature_must_be_by_a_published_key() {
    let (google, issuer) = google_and_issuer().await;
    let claims = issuer.claims(&issuer.provider().audience());
    let stranger = SigningKey::generate("stranger").unwrap();
    let header = |alg: &str, kid: &str| {
        json!({ "alg": alg, "kid": kid })
            .as_object()
            .unwrap()
            .clone()
    };
    let own = issuer.key.key_id();
    for token in [
        stranger.sign_jwt(&claims).unwrap(),
        stranger
            .sign_jwt_with_header(&header("RS256", own), &claims)
            .unwrap(),
        issuer
            .key
            .sign_jwt_with_header(&header("none", own), &claims)
            .unwrap(),
        issuer
            .key
            .sign_jwt_with_header(&header("RS256", "other"), &claims)
            .unwrap(),
    ] {
        assert_denied(&exchange(&google, &issuer, &token).await, "invalid_grant");
    }

    // Rotation counts at once, because every exchange discovers anew.
    issuer.publish_key_set(json!({ "keys": [stranger.jwk(), { "kty": "EC", "kid": "ec" }] }));
    let rotated = stranger.sign_jwt(&claims).unwrap();
    assert_eq!(
        exchange(&google, &issuer, &rotated).await.status,
        StatusCode::OK
    );
    let retired = issuer.key.sign_jwt(&claims).unwrap();
    assert_denied(&exchange(&google, &issuer, &retired).await, "invalid_grant");
}

#[tokio::test]
async fn discovery_must_name_the_issuer_and_lead_to_keys() {
    let (google, issuer) = google_and_issuer().await;
    let token = issuer
        .key
        .sign_jwt(&issuer.claims(&issuer.provider().audience()))
        .unwrap();
    let keys = format!("{}/.well-known/keys", issuer.url);
    for (discovery, problem) in [
        (
            json!({ "issuer": format!("{}/", issuer.url), "jwks_uri": keys }),
            "does not match",
        ),
        (json!({ "issuer": issuer.url }), "malformed"),
        (
            json!({ "issuer": issuer.url, "jwks_uri": format!("{}/none", issuer.url) }),
            "connecting",
        ),
        (
            json!({ "issuer": issuer.url, "jwks_uri": "http://127.0.0.1:1/" }),
            "connecting",
        ),
    ] {
        issuer.publish_discovery(discovery);
        let reply = exchange(&google, &issuer, &token).await;
        assert_denied(&reply, "invalid_grant");
        let description = reply.json()["error_description"].clone();
        assert!(
            description.as_str().unwrap().contains(problem),
            "{description}"
        );
    }
}

#[tokio::test]
async fn uploaded_keys_need_no_issuer_on_the_network() {
    let (google, issuer) = google_and_issuer().await;
    let mut provider = issuer.provider();
    "https://vault.example.com/v1/identity/oidc/plugins".clone_into(&mut provider.issuer);
    provider.keys = IssuerKeys::Uploaded(issuer.key_set());
    provider.allowed_audiences = vec!["gatehouse".to_owned()];
    provider.condition_subject = Some(SUBJECT.to_owned());
    google.add_workload_identity_provider(provider.clone());
    let mut claims = issuer.claims("gatehouse");
    claims.insert("iss".to_owned(), provider.issuer.clone().into());
    let sign = |claims: &Claims| issuer.key.sign_jwt(claims).unwrap();
    assert_eq!(
        exchange(&google, &issuer, &sign(&claims)).await.status,
        StatusCode::OK
    );

    claims.insert(
        "sub".to_owned(),
        "plugin-identity:root:auth:auth_gcp_other".into(),
    );
    let other = exchange(&google, &issuer, &sign(&claims)).await;
    assert_eq!(other.status, StatusCode::UNAUTHORIZED);
    assert_denied(&other, "unauthorized_client");
    claims.insert("sub".to_owned(), SUBJECT.into());
    claims.insert("aud".to_owned(), provider.audience().into());
    assert_denied(
        &exchange(&google, &issuer, &sign(&claims)).await,
        "invalid_grant",
    );

    provider.keys = IssuerKeys::Uploaded(Value::Null);
    google.add_workload_identity_provider(provider);
    assert_denied(
        &exchange(&google, &issuer, &sign(&claims)).await,
        "invalid_grant",
    );
}

#[tokio::test]
async fn issuer_may_be_reached_at_another_origin() {
    let (google, issuer) = google_and_issuer().await;
    let (origin, path) = issuer.url.split_at(issuer.url.rfind("/v1").unwrap());
    let mut provider = issuer.provider();
    provider.issuer = format!("https://vault.example.com{path}");
    provider.keys = IssuerKeys::DiscoveredAt(origin.to_owned());
    issuer.publish_discovery(json!({
        "issuer": provider.issuer,
        "jwks_uri": format!("{}/.well-known/keys", provider.issuer),
    }));
    google.add_workload_identity_provider(provider.clone());
    let mut claims = issuer.claims(&provider.audience());
    claims.insert("iss".to_owned(), provider.issuer.into());
    let token = issuer.key.sign_jwt(&claims).unwrap();
    let reply = exchange(&google, &issuer, &token).await;
    assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
}
