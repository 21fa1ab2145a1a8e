//! The fake fails as it is told to, and counts all the same.

use std::time::{Duration, Instant};

use bytes::Bytes;
use gatehouse_fake_google::{AccountSpec, Endpoint, FakeGoogle, Fault};
use http::{Request, StatusCode};
use http_body_util::Full;

use crate::client::{ROBOT, access_token, get, get_with_bearer, google_with_robot, try_send};

const CERTIFICATES: &str = "/oauth2/v1/certs";

fn request(google: &FakeGoogle) -> Request<Full<Bytes>> {
    Request::get(format!("{}{CERTIFICATES}", google.base_url()))
        .body(Full::default())
        .unwrap()
}

#[tokio::test]
async fn statuses_carry_google_s_error_body() {
    let google = google_with_robot().await;
    google.queue_faults(
        Endpoint::GoogleCertificates,
        [Fault::too_many_requests(3), Fault::unavailable()],
    );
    let limited = get(&google, CERTIFICATES).await;
    assert_eq!(limited.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(limited.headers["retry-after"], "3");
    assert_eq!(limited.json()["error"]["status"], "RESOURCE_EXHAUSTED");
    let down = get(&google, CERTIFICATES).await;
    assert_eq!(down.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(!down.headers.contains_key("retry-after"));
    assert_eq!(get(&google, CERTIFICATES).await.status, StatusCode::OK);
    assert_eq!(google.calls(Endpoint::GoogleCertificates), 3);
    google.forget_requests();
    assert_eq!(
        (
            google.calls(Endpoint::GoogleCertificates),
            google.requests().len()
        ),
        (0, 0)
    );
}

#[tokio::test]
async fn garbage_oversized_and_redirecting_answers() {
    let google = google_with_robot().await;
    let healthy = get(&google, CERTIFICATES).await.json();

    google.set_fault(Endpoint::GoogleCertificates, Fault::GarbageBody);
    let garbage = get(&google, CERTIFICATES).await;
    assert_eq!(garbage.status, StatusCode::OK);
    assert!(serde_json::from_slice::<serde_json::Value>(&garbage.body).is_err());

    google.set_fault(
        Endpoint::GoogleCertificates,
        Fault::OversizedBody { bytes: 2_000_000 },
    );
    let oversized = get(&google, CERTIFICATES).await;
    assert_eq!(oversized.body.len(), 2_000_000);
    assert_eq!(oversized.json(), healthy);

    google.set_fault(
        Endpoint::GoogleCertificates,
        Fault::Redirect {
            location: "http://127.0.0.1:9/".to_owned(),
        },
    );
    let redirect = get(&google, CERTIFICATES).await;
    assert_eq!(redirect.status, StatusCode::FOUND);
    assert_eq!(redirect.headers["location"], "http://127.0.0.1:9/");

    google.clear_faults(Endpoint::GoogleCertificates);
    assert_eq!(get(&google, CERTIFICATES).await.json(), healthy);
}

#[tokio::test]
async fn latency_delays_a_right_answer() {
    let google = google_with_robot().await;
    google.set_fault(
        Endpoint::GoogleCertificates,
        Fault::Latency(Duration::from_millis(50)),
    );
    let begun = Instant::now();
    assert_eq!(get(&google, CERTIFICATES).await.status, StatusCode::OK);
    assert!(begun.elapsed() >= Duration::from_millis(50));
}

#[tokio::test]
async fn connection_is_closed_without_an_answer() {
    let google = google_with_robot().await;
    google.set_fault(Endpoint::GoogleCertificates, Fault::CloseConnection);
    assert!(try_send(request(&google)).await.is_err());
    assert!(google.calls(Endpoint::GoogleCertificates) >= 1);
}

#[tokio::test]
async fn hanging_request_ends_when_the_fake_is_dropped() {
    let google = google_with_robot().await;
    google.set_fault(Endpoint::GoogleCertificates, Fault::Hang);
    let waiting = tokio::spawn(try_send(request(&google)));
    while google.calls(Endpoint::GoogleCertificates) == 0 {
        tokio::task::yield_now().await;
    }
    assert!(!waiting.is_finished());
    drop(google);
    assert!(waiting.await.unwrap().is_err());
}

#[tokio::test]
async fn another_account_s_answer_is_given() {
    let google = google_with_robot().await;
    let impostor = AccountSpec::new("impostor", "test-project");
    google.add_account(impostor.clone()).unwrap();
    let token = access_token(&google).await;
    let fault = Fault::WrongAccount {
        account: impostor.email.clone(),
    };
    google.set_fault(Endpoint::ServiceAccount, fault.clone());
    google.set_fault(Endpoint::AccountCertificates, fault);

    let record = get_with_bearer(
        &google,
        &format!("/v1/projects/-/serviceAccounts/{ROBOT}"),
        &token,
    )
    .await;
    assert_eq!(record.json()["email"], impostor.email);
    let certificates = get(
        &google,
        &format!("/service_accounts/v1/metadata/x509/{ROBOT}"),
    )
    .await
    .json();
    assert!(
        certificates
            .get(google.account_key(&impostor.email).unwrap().key_id())
            .is_some()
    );
}
