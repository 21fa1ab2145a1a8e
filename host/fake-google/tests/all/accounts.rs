//! IAM tells callers with a token about accounts.

use gatehouse_fake_google::{AccountSpec, Endpoint, FakeGoogleError};
use http::StatusCode;
use serde_json::json;

use crate::client::{
    ROBOT, access_token, assertion_claims, exchange, get, get_with_bearer, google_with_robot,
};

fn record_path(account: &str) -> String {
    format!("/v1/projects/-/serviceAccounts/{account}")
}

#[tokio::test]
async fn record_is_found_by_email_and_by_unique_id() {
    let google = google_with_robot().await;
    let token = access_token(&google).await;
    let spec = AccountSpec::new("robot", "test-project");
    let expected = json!({
        "name": format!("projects/test-project/serviceAccounts/{ROBOT}"),
        "projectId": "test-project",
        "uniqueId": spec.unique_id,
        "email": ROBOT,
    });
    for name in [ROBOT, &ROBOT.replace('@', "%40"), &spec.unique_id] {
        let reply = get_with_bearer(&google, &record_path(name), &token).await;
        assert_eq!(
            (reply.status, reply.json()),
            (StatusCode::OK, expected.clone()),
            "{name}"
        );
    }
    let masked = format!(
        "{}?fields=email&alt=json&prettyPrint=false",
        record_path(ROBOT)
    );
    assert_eq!(
        get_with_bearer(&google, &masked, &token).await.status,
        StatusCode::OK
    );
}

#[tokio::test]
async fn disabled_is_shown_only_when_true() {
    let google = google_with_robot().await;
    google
        .add_account(AccountSpec::new("retired", "test-project"))
        .unwrap();
    let retired = AccountSpec::new("retired", "test-project").email;
    google.set_disabled(&retired, true).unwrap();
    let token = access_token(&google).await;
    assert_eq!(
        get_with_bearer(&google, &record_path(&retired), &token)
            .await
            .json()["disabled"],
        true
    );
    assert!(
        get_with_bearer(&google, &record_path(ROBOT), &token)
            .await
            .json()
            .get("disabled")
            .is_none()
    );
}

#[tokio::test]
async fn record_needs_a_bearer_token() {
    let google = google_with_robot().await;
    let replies = [
        get(&google, &record_path(ROBOT)).await,
        get_with_bearer(&google, &record_path(ROBOT), "ya29.x").await,
    ];
    for reply in replies {
        assert_eq!(reply.status, StatusCode::UNAUTHORIZED);
        assert_eq!(reply.json()["error"]["code"], 401);
        assert_eq!(reply.json()["error"]["status"], "UNAUTHENTICATED");
        assert!(reply.headers.contains_key("www-authenticate"));
    }
    let sent: Vec<_> = google
        .requests()
        .into_iter()
        .map(|request| request.authorized)
        .collect();
    assert_eq!(sent, [false, true]);
}

#[tokio::test]
async fn narrow_scope_does_not_open_iam() {
    let google = google_with_robot().await;
    let mut claims = assertion_claims(&google);
    claims.insert(
        "scope".to_owned(),
        "https://www.googleapis.com/auth/devstorage.read_only".into(),
    );
    let reply = exchange(&google, &google.sign_jwt(ROBOT, &claims).unwrap())
        .await
        .json();
    let refusal = get_with_bearer(
        &google,
        &record_path(ROBOT),
        reply["access_token"].as_str().unwrap(),
    )
    .await;
    assert_eq!(refusal.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn hidden_deleted_and_unknown_accounts_are_refused_in_google_s_words() {
    let google = google_with_robot().await;
    let token = access_token(&google).await;
    let spec = AccountSpec::new("shy", "test-project");
    google.add_account(spec.clone()).unwrap();
    google.set_hidden(&spec.email, true).unwrap();

    let forbidden = get_with_bearer(&google, &record_path(&spec.email), &token).await;
    assert_eq!(forbidden.status, StatusCode::FORBIDDEN);
    let error = &forbidden.json()["error"];
    assert_eq!(
        (&error["status"], &error["errors"][0]["reason"]),
        (&json!("PERMISSION_DENIED"), &json!("forbidden"))
    );

    google.delete_account(&spec.unique_id).unwrap();
    for name in [spec.email.as_str(), "nobody@example.com"] {
        let missing = get_with_bearer(&google, &record_path(name), &token).await;
        assert_eq!(missing.status, StatusCode::NOT_FOUND);
        let error = &missing.json()["error"];
        assert_eq!(
            (&error["message"], &error["status"]),
            (&json!("Unknown service account"), &json!("NOT_FOUND"))
        );
        assert_eq!(error["errors"][0]["reason"], "notFound");
    }
    assert_eq!(google.calls(Endpoint::ServiceAccount), 3);
}

#[tokio::test]
async fn changes_to_accounts_that_cannot_be_made_are_errors() {
    let google = google_with_robot().await;
    let twin = google.add_account(AccountSpec::new("robot", "test-project"));
    assert!(matches!(twin, Err(FakeGoogleError::DuplicateAccount { email }) if email == ROBOT));
    let stranger = google.set_disabled("nobody@example.com", true);
    assert!(
        matches!(stranger, Err(FakeGoogleError::UnknownAccount { account }) if account == "nobody@example.com")
    );
}
