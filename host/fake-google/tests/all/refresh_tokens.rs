//! People's application default credentials buy access tokens until they are revoked.

use gatehouse_fake_google::FakeGoogle;
use http::StatusCode;
use serde_json::Value;

use crate::client::{ROBOT, Reply, get_with_bearer, google_with_robot, post_form};

const PERSON: &str = "ada@example.com";
const PERMISSION: &str = "iam.serviceAccounts.get";

async fn refresh(google: &FakeGoogle, file: &Value, changed: Option<(&str, &str)>) -> Reply {
    let mut form = vec![("grant_type", "refresh_token")];
    for name in ["client_id", "client_secret", "refresh_token"] {
        match changed {
            Some((field, value)) if field == name => form.push((name, value)),
            _ => form.push((name, file[name].as_str().unwrap())),
        }
    }
    post_form(google, &form).await
}

#[tokio::test]
async fn refresh_token_buys_an_access_token_of_the_person() {
    let google = google_with_robot().await;
    let file: Value = serde_json::from_str(&google.authorized_user_json(PERSON).unwrap()).unwrap();
    assert_eq!(file["type"], "authorized_user");
    let reply = refresh(&google, &file, None).await;
    assert_eq!(reply.status, StatusCode::OK);
    let token = reply.json()["access_token"].as_str().unwrap().to_owned();

    let path = format!("/v1/projects/-/serviceAccounts/{ROBOT}");
    let status = async || get_with_bearer(&google, &path, &token).await.status;
    assert_eq!(status().await, StatusCode::OK);
    google.deny_permission(PERSON, PERMISSION).unwrap();
    assert_eq!(status().await, StatusCode::FORBIDDEN);
    google.allow_permission(PERSON, PERMISSION).unwrap();

    google.revoke_user(PERSON);
    assert_eq!(status().await, StatusCode::UNAUTHORIZED);
    let revoked = refresh(&google, &file, None).await;
    assert_eq!(revoked.status, StatusCode::BAD_REQUEST);
    assert_eq!(
        revoked.json()["error_description"],
        "Token has been expired or revoked."
    );
}

#[tokio::test]
async fn client_and_token_must_be_the_registered_ones() {
    let google = google_with_robot().await;
    let file: Value = serde_json::from_str(&google.authorized_user_json(PERSON).unwrap()).unwrap();
    for (field, error) in [
        ("client_id", "invalid_client"),
        ("client_secret", "invalid_client"),
        ("refresh_token", "invalid_grant"),
    ] {
        let reply = refresh(&google, &file, Some((field, "other"))).await;
        assert_eq!(reply.json()["error"], error, "{field}");
    }
    let bare = post_form(&google, &[("grant_type", "refresh_token")]).await;
    assert_eq!(bare.json()["error"], "invalid_request");
}
