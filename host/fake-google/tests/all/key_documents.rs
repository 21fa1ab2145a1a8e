//! Keys are published as certificates and as JWKs, and can be rotated and removed.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use gatehouse_fake_google::{AccountSpec, CacheHeaders, Endpoint, FakeGoogle};
use http::StatusCode;

use crate::client::{ROBOT, get, google_with_robot};

const ROBOT_CERTIFICATES: &str =
    "/service_accounts/v1/metadata/x509/robot@test-project.iam.gserviceaccount.com?alt=json";

async fn published(google: &FakeGoogle, path: &str) -> Vec<String> {
    get(google, path)
        .await
        .json()
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect()
}

#[tokio::test]
async fn documents_publish_the_signing_keys_without_credentials() {
    let google = google_with_robot().await;
    let (own, robot) = (
        google.google_key().unwrap(),
        google.account_key(ROBOT).unwrap(),
    );
    let unique_id = AccountSpec::new("robot", "test-project").unique_id;
    let documents = [
        ("/oauth2/v1/certs".to_owned(), &own),
        (ROBOT_CERTIFICATES.to_owned(), &robot),
        (
            format!("/service_accounts/v1/metadata/x509/{unique_id}"),
            &robot,
        ),
    ];
    for (path, key) in documents {
        let document = get(&google, &path).await;
        assert_eq!(document.status, StatusCode::OK);
        assert_eq!(
            document.json()[key.key_id()],
            key.certificate_pem(),
            "{path}"
        );
    }
    for (path, key) in [
        ("/oauth2/v3/certs", &own),
        (
            &format!("/service_accounts/v1/metadata/jwk/{ROBOT}"),
            &robot,
        ),
    ] {
        assert_eq!(
            get(&google, path).await.json()["keys"][0],
            key.jwk(),
            "{path}"
        );
    }
}

#[tokio::test]
async fn certificate_holds_the_public_key() {
    let google = google_with_robot().await;
    let key = google.google_key().unwrap();
    let base64: String = key
        .certificate_pem()
        .lines()
        .filter(|line| !line.starts_with("-----"))
        .collect();
    let certificate = BASE64_STANDARD.decode(base64).unwrap();
    let modulus = BASE64_URL_SAFE_NO_PAD
        .decode(key.jwk()["n"].as_str().unwrap())
        .unwrap();
    assert!(
        certificate
            .windows(modulus.len())
            .any(|part| part == modulus)
    );
}

#[tokio::test]
async fn jwk_has_a_2048_bit_modulus_and_the_usual_exponent() {
    let google = google_with_robot().await;
    let jwk = google.google_key().unwrap().jwk();
    assert_eq!(jwk["e"], "AQAB");
    let modulus = BASE64_URL_SAFE_NO_PAD
        .decode(jwk["n"].as_str().unwrap())
        .unwrap();
    assert_eq!(modulus.len(), 256);
    assert!(modulus[0] >= 0x80);
}

#[tokio::test]
async fn unknown_account_has_no_document() {
    let google = google_with_robot().await;
    for form in ["x509", "jwk"] {
        let reply = get(
            &google,
            &format!("/service_accounts/v1/metadata/{form}/nobody@example.com"),
        )
        .await;
        assert_eq!(reply.status, StatusCode::NOT_FOUND);
        assert_eq!(reply.json()["error"]["code"], 404);
        assert!(!reply.headers.contains_key("cache-control"));
    }
}

#[tokio::test]
async fn rotation_adds_a_key_and_removal_takes_one_away() {
    let google = google_with_robot().await;
    let first = google.account_key(ROBOT).unwrap().key_id().to_owned();
    let second = google.rotate_keys(ROBOT).unwrap();
    assert_eq!(google.account_key(ROBOT).unwrap().key_id(), second);
    assert_eq!(published(&google, ROBOT_CERTIFICATES).await.len(), 2);
    google.remove_key(ROBOT, &first).unwrap();
    assert_eq!(
        published(&google, ROBOT_CERTIFICATES).await,
        std::slice::from_ref(&second)
    );
    google.remove_key(ROBOT, &second).unwrap();
    assert!(google.account_key(ROBOT).is_err());

    let first = google.google_key().unwrap().key_id().to_owned();
    let second = google.rotate_google_keys().unwrap();
    google.remove_google_key(&first);
    assert_eq!(published(&google, "/oauth2/v1/certs").await, [second]);
}

#[tokio::test]
async fn foreign_certificates_stand_beside_the_account_s_own() {
    let google = google_with_robot().await;
    google
        .publish_certificate(ROBOT, "weak", "-----BEGIN CERTIFICATE-----\n")
        .unwrap();
    let document = get(&google, ROBOT_CERTIFICATES).await.json();
    assert_eq!(document["weak"], "-----BEGIN CERTIFICATE-----\n");
    assert_eq!(document.as_object().unwrap().len(), 2);
}

#[tokio::test]
async fn cache_headers_are_as_set() {
    let google = google_with_robot().await;
    let lifetime = get(&google, "/oauth2/v1/certs").await;
    assert_eq!(
        lifetime.headers["cache-control"],
        "public, max-age=3600, must-revalidate, no-transform"
    );

    let aged = CacheHeaders {
        age: Some("10".to_owned()),
        ..CacheHeaders::max_age(Duration::from_secs(60))
    };
    google.set_cache_headers(Endpoint::GoogleCertificates, aged);
    let document = get(&google, "/oauth2/v1/certs").await;
    assert_eq!(
        document.headers["cache-control"],
        "public, max-age=60, must-revalidate, no-transform"
    );
    assert_eq!(document.headers["age"], "10");

    google.set_cache_headers(Endpoint::AccountCertificates, CacheHeaders::default());
    assert!(
        !get(&google, ROBOT_CERTIFICATES)
            .await
            .headers
            .contains_key("cache-control")
    );
}
