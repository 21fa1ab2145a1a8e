//! The metadata server answers programs on its instance, and no client that was tricked into asking.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use gatehouse_fake_google::{FakeGoogle, Population};
use http::{Request, StatusCode};
use http_body_util::Full;
use serde_json::Value;

use crate::client::{Reply, demo_google, get, get_with_bearer, google_with_robot, try_send};

const TOKEN: &str = "/computeMetadata/v1/instance/service-accounts/default/token";
const IDENTITY: &str = "/computeMetadata/v1/instance/service-accounts/default/identity";

async fn ask_with(google: &FakeGoogle, path: &str, headers: &[(&str, &str)]) -> Reply {
    let mut request = Request::get(format!("{}{path}", google.base_url()));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    try_send(request.body(Full::default()).unwrap())
        .await
        .unwrap()
}

async fn ask(google: &FakeGoogle, path: &str) -> Reply {
    ask_with(google, path, &[("Metadata-Flavor", "Google")]).await
}

fn claims(reply: &Reply) -> Value {
    assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
    let token = std::str::from_utf8(&reply.body).unwrap();
    let payload = token.split('.').nth(1).unwrap();
    serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap()
}

#[tokio::test]
async fn token_stands_for_the_default_account() {
    let google = demo_google().await;
    let reply = ask(&google, TOKEN).await;
    assert_eq!(reply.headers["metadata-flavor"], "Google");
    assert_eq!(reply.json()["token_type"], "Bearer");
    assert_eq!(reply.json()["expires_in"], 3600);
    let token = reply.json()["access_token"].as_str().unwrap().to_owned();
    let record = format!("/v1/projects/-/serviceAccounts/{}", Population::WORKLOAD);
    let status = async || get_with_bearer(&google, &record, &token).await.status;
    assert_eq!(status().await, StatusCode::OK);
    google
        .deny_permission(Population::WORKLOAD, "iam.serviceAccounts.get")
        .unwrap();
    assert_eq!(status().await, StatusCode::FORBIDDEN);

    google
        .set_metadata_account(Population::SERVER_ROOT)
        .unwrap();
    let by_email = TOKEN.replace("default", Population::SERVER_ROOT);
    assert_eq!(ask(&google, &by_email).await.status, StatusCode::OK);
    let former = TOKEN.replace("default", Population::WORKLOAD);
    assert_eq!(ask(&google, &former).await.status, StatusCode::NOT_FOUND);
    google.set_disabled(Population::SERVER_ROOT, true).unwrap();
    assert_eq!(ask(&google, TOKEN).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn flavor_is_asked_for_and_shown() {
    let google = demo_google().await;
    for probe in ["/", "/computeMetadata/v1/"] {
        let reply = get(&google, probe).await;
        assert_eq!(reply.status, StatusCode::OK, "{probe}");
        assert_eq!(reply.headers["metadata-flavor"], "Google");
    }
    for headers in [
        &[] as &[_],
        &[("Metadata-Flavor", "google")],
        &[
            ("Metadata-Flavor", "Google"),
            ("X-Forwarded-For", "10.0.0.1"),
        ],
    ] {
        let refused = ask_with(&google, TOKEN, headers).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN, "{headers:?}");
    }
    google.set_metadata_flavor(false);
    for path in ["/computeMetadata/v1/", TOKEN] {
        let plain = ask(&google, path).await;
        assert_eq!(plain.status, StatusCode::OK);
        assert!(!plain.headers.contains_key("metadata-flavor"));
    }
}

#[tokio::test]
async fn identity_is_that_of_the_chosen_instance() {
    let google = demo_google().await;
    let standard = claims(&ask(&google, &format!("{IDENTITY}?audience=vault%2Fdev")).await);
    assert_eq!(standard["aud"], "vault/dev");
    assert_eq!(standard["email"], Population::WORKLOAD);
    assert!(standard.get("google").is_none());

    google.set_metadata_instance("batch-1").unwrap();
    let full = claims(&ask(&google, &format!("{IDENTITY}?audience=a&format=full")).await);
    assert_eq!(full["google"]["compute_engine"]["instance_name"], "batch-1");
    assert_eq!(full["email"], "batch@demo-project.iam.gserviceaccount.com");

    for query in ["", "?audience=", "?audience=a&format=half"] {
        let refused = ask(&google, &format!("{IDENTITY}{query}")).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{query}");
    }
    assert!(google.set_metadata_instance("none").is_err());
}

#[tokio::test]
async fn machine_that_is_no_instance_has_no_account_until_it_is_given_one() {
    let google = google_with_robot().await;
    assert_eq!(ask(&google, TOKEN).await.status, StatusCode::NOT_FOUND);
    google.set_metadata_account(crate::client::ROBOT).unwrap();
    assert_eq!(ask(&google, TOKEN).await.status, StatusCode::OK);
    let identity = ask(&google, &format!("{IDENTITY}?audience=a")).await;
    assert_eq!(identity.status, StatusCode::NOT_FOUND);
}
