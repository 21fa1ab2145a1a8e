//! The token endpoint gives tokens for honest assertions and for no others.

use std::time::Duration;

use gatehouse_fake_google::{AccountSpec, Endpoint, FakeGoogle};
use http::{Request, StatusCode};
use http_body_util::Full;
use serde_json::{Value, json};

use crate::client::{
    ROBOT, access_token, assertion_claims, exchange, get_with_bearer, google_with_robot, post_form,
    try_send,
};

const ROBOT_RECORD: &str =
    "/v1/projects/-/serviceAccounts/robot@test-project.iam.gserviceaccount.com";

/// Signs the honest claims with one of them changed (none: left out), and expects this refusal.
async fn assert_claim_refused(google: &FakeGoogle, claim: &str, value: Option<Value>, error: &str) {
    let mut claims = assertion_claims(google);
    match value {
        Some(value) => claims.insert(claim.to_owned(), value),
        None => claims.remove(claim),
    };
    let reply = exchange(google, &google.sign_jwt(ROBOT, &claims).unwrap()).await;
    assert_eq!(reply.json()["error"], error, "{claim}: {reply:?}");
    assert!(reply.status.is_client_error());
}

#[tokio::test]
async fn honest_assertion_buys_a_bearer_token() {
    let google = google_with_robot().await;
    google.set_access_token_lifetime(Duration::from_secs(1234));
    let reply = exchange(
        &google,
        &google.sign_jwt(ROBOT, &assertion_claims(&google)).unwrap(),
    )
    .await;
    assert_eq!(reply.status, StatusCode::OK);
    let body = reply.json();
    assert_eq!(
        (&body["token_type"], &body["expires_in"]),
        (&json!("Bearer"), &json!(1234))
    );

    let record = get_with_bearer(
        &google,
        ROBOT_RECORD,
        body["access_token"].as_str().unwrap(),
    )
    .await;
    assert_eq!(record.status, StatusCode::OK);
}

#[tokio::test]
async fn each_wrong_claim_is_refused() {
    let google = google_with_robot().await;
    let iat = assertion_claims(&google)["iat"].as_u64().unwrap();
    let wrong = [
        (
            "iss",
            Some(json!("stranger@test-project.iam.gserviceaccount.com")),
            "invalid_grant",
        ),
        ("iss", None, "invalid_grant"),
        (
            "aud",
            Some(json!("https://oauth2.googleapis.com/token")),
            "invalid_grant",
        ),
        ("aud", None, "invalid_grant"),
        ("exp", Some(json!(iat + 3601)), "invalid_grant"),
        ("exp", Some(json!(iat)), "invalid_grant"),
        ("exp", Some(json!(iat.to_string())), "invalid_grant"),
        ("exp", None, "invalid_grant"),
        ("iat", Some(json!(iat + 600)), "invalid_grant"),
        ("iat", Some(json!(iat - 600)), "invalid_grant"),
        ("iat", None, "invalid_grant"),
        ("scope", Some(json!(" ")), "invalid_scope"),
        ("scope", None, "invalid_scope"),
        (
            "sub",
            Some(json!("someone@example.com")),
            "unauthorized_client",
        ),
    ];
    for (claim, value, error) in wrong {
        assert_claim_refused(&google, claim, value, error).await;
    }
}

#[tokio::test]
async fn behind_a_proxy_an_assertion_may_name_the_public_token_endpoint_and_no_other() {
    let google = google_with_robot().await;
    google.set_proxied(true);
    let mut claims = assertion_claims(&google);
    for (audience, status) in [
        (google.token_url(), StatusCode::OK),
        (
            "https://oauth2.googleapis.com/token".to_owned(),
            StatusCode::OK,
        ),
        (
            "https://oauth2.example.com/token".to_owned(),
            StatusCode::BAD_REQUEST,
        ),
    ] {
        claims.insert("aud".to_owned(), audience.as_str().into());
        let reply = exchange(&google, &google.sign_jwt(ROBOT, &claims).unwrap()).await;
        assert_eq!(reply.status, status, "{audience}");
    }
}

#[tokio::test]
async fn expired_assertion_is_refused() {
    let google = google_with_robot().await;
    let mut claims = assertion_claims(&google);
    let iat = claims["iat"].as_u64().unwrap() - 4000;
    claims.insert("iat".to_owned(), iat.into());
    claims.insert("exp".to_owned(), (iat + 3600).into());
    let reply = exchange(&google, &google.sign_jwt(ROBOT, &claims).unwrap()).await;
    assert_eq!(reply.status, StatusCode::BAD_REQUEST);
    assert_eq!(reply.json()["error"], "invalid_grant");
}

#[tokio::test]
async fn signature_must_be_by_the_named_key_of_the_issuer() {
    let google = google_with_robot().await;
    google
        .add_account(AccountSpec::new("other", "test-project"))
        .unwrap();
    let other = google
        .account_key("other@test-project.iam.gserviceaccount.com")
        .unwrap();
    let robot = google.account_key(ROBOT).unwrap();
    let claims = assertion_claims(&google);
    let header = |alg: &str, kid: &str| {
        json!({ "alg": alg, "kid": kid })
            .as_object()
            .unwrap()
            .clone()
    };

    let honest = robot.sign_jwt(&claims).unwrap();
    let (signed, signature) = honest.rsplit_once('.').unwrap();
    let mut flipped = signature.to_owned().into_bytes();
    flipped[10] = if flipped[10] == b'A' { b'B' } else { b'A' };
    let forgeries = [
        other.sign_jwt(&claims).unwrap(),
        other
            .sign_jwt_with_header(&header("RS256", robot.key_id()), &claims)
            .unwrap(),
        robot
            .sign_jwt_with_header(&header("RS256", "no such key"), &claims)
            .unwrap(),
        robot
            .sign_jwt_with_header(&header("none", robot.key_id()), &claims)
            .unwrap(),
        robot
            .sign_jwt_with_header(json!({ "alg": "RS256" }).as_object().unwrap(), &claims)
            .unwrap(),
        format!("{signed}.{}", String::from_utf8(flipped).unwrap()),
        format!("{signed}."),
    ];
    for forgery in forgeries {
        let reply = exchange(&google, &forgery).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{forgery}");
        let expected =
            json!({ "error": "invalid_grant", "error_description": "Invalid JWT Signature." });
        assert_eq!(reply.json(), expected, "{forgery}");
    }
    assert_eq!(exchange(&google, &honest).await.status, StatusCode::OK);
}

#[tokio::test]
async fn malformed_requests_are_refused() {
    let google = google_with_robot().await;
    for assertion in ["", "a.b", "a.b.c", "not a jwt", "e30.e30.e30"] {
        assert_eq!(
            exchange(&google, assertion).await.json()["error"],
            "invalid_grant",
            "{assertion:?}"
        );
    }
    assert_eq!(
        post_form(&google, &[("grant_type", "password")])
            .await
            .json()["error"],
        "unsupported_grant_type"
    );
    assert_eq!(
        post_form(&google, &[]).await.json()["error"],
        "invalid_request"
    );
    let untyped = Request::post(google.token_url())
        .body(Full::from("grant_type=x"))
        .unwrap();
    assert_eq!(
        try_send(untyped).await.unwrap().json()["error"],
        "invalid_request"
    );
    let oversized = "x".repeat(70_000);
    assert_eq!(
        exchange(&google, &oversized).await.json()["error"],
        "invalid_request"
    );
    assert_eq!(google.calls(Endpoint::Token), 9);
}

#[tokio::test]
async fn disabled_account_gets_no_token_and_loses_those_it_has() {
    let google = google_with_robot().await;
    let token = access_token(&google).await;
    google.set_disabled(ROBOT, true).unwrap();

    let assertion = google.sign_jwt(ROBOT, &assertion_claims(&google)).unwrap();
    assert_eq!(
        exchange(&google, &assertion).await.json()["error"],
        "disabled_client"
    );
    assert_eq!(
        get_with_bearer(&google, ROBOT_RECORD, &token).await.status,
        StatusCode::UNAUTHORIZED
    );

    google.set_disabled(ROBOT, false).unwrap();
    assert_eq!(
        get_with_bearer(&google, ROBOT_RECORD, &token).await.status,
        StatusCode::OK
    );
}

#[tokio::test]
async fn expired_and_revoked_tokens_are_refused() {
    let google = google_with_robot().await;
    let revoked = access_token(&google).await;
    google.revoke_access_tokens();
    google.set_access_token_lifetime(Duration::ZERO);
    let expired = access_token(&google).await;
    for token in [revoked, expired] {
        assert_eq!(
            get_with_bearer(&google, ROBOT_RECORD, &token).await.status,
            StatusCode::UNAUTHORIZED
        );
    }
}
