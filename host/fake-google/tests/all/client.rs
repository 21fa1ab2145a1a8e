//! A plain HTTP client, and a fake with one account to talk to.

use bytes::Bytes;
use gatehouse_fake_google::{AccountSpec, Claims, FakeGoogle, FakeGoogleOptions, Population};
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};

pub const ROBOT: &str = "robot@test-project.iam.gserviceaccount.com";
pub const CLOUD_PLATFORM: &str = "https://www.googleapis.com/auth/cloud-platform";

/// An answer, read to its end.
#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("the body is JSON")
    }
}

/// A fake in which only [`ROBOT`] lives.
pub async fn google_with_robot() -> FakeGoogle {
    let accounts = vec![AccountSpec::new("robot", "test-project")];
    let population = Population {
        accounts,
        ..Population::default()
    };
    FakeGoogle::start(FakeGoogleOptions {
        population,
        ..FakeGoogleOptions::default()
    })
    .await
    .expect("the fake starts")
}

pub async fn try_send(request: Request<Full<Bytes>>) -> Result<Reply, Error> {
    let client = Client::builder(TokioExecutor::new()).build_http();
    let (head, body) = client.request(request).await?.into_parts();
    let body = body.collect().await.expect("the body arrives").to_bytes();
    Ok(Reply {
        status: head.status,
        headers: head.headers,
        body,
    })
}

pub async fn get(google: &FakeGoogle, path: &str) -> Reply {
    try_send(
        Request::get(format!("{}{path}", google.base_url()))
            .body(Full::default())
            .unwrap(),
    )
    .await
    .expect("an answer")
}

pub async fn get_with_bearer(google: &FakeGoogle, path: &str, bearer: &str) -> Reply {
    let request = Request::get(format!("{}{path}", google.base_url()))
        .header(AUTHORIZATION, format!("Bearer {bearer}"));
    try_send(request.body(Full::default()).unwrap())
        .await
        .expect("an answer")
}

pub async fn post_form(google: &FakeGoogle, form: &[(&str, &str)]) -> Reply {
    let body = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(form)
        .finish();
    let request =
        Request::post(google.token_url()).header(CONTENT_TYPE, "application/x-www-form-urlencoded");
    try_send(request.body(Full::from(body)).unwrap())
        .await
        .expect("an answer")
}

pub async fn exchange(google: &FakeGoogle, assertion: &str) -> Reply {
    post_form(
        google,
        &[
            ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
            ("assertion", assertion),
        ],
    )
    .await
}

/// The claims that a client library sends for [`ROBOT`].
pub fn assertion_claims(google: &FakeGoogle) -> Claims {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let claims = json!({
        "iss": ROBOT, "scope": CLOUD_PLATFORM, "aud": google.token_url(), "iat": now, "exp": now + 3600,
    });
    claims.as_object().unwrap().clone()
}

/// An access token that [`ROBOT`] obtained honestly.
pub async fn access_token(google: &FakeGoogle) -> String {
    let assertion = google.sign_jwt(ROBOT, &assertion_claims(google)).unwrap();
    let reply = exchange(google, &assertion).await;
    assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
    reply.json()["access_token"]
        .as_str()
        .expect("a token")
        .to_owned()
}

/// A fake with the demonstration population.
pub async fn demo_google() -> FakeGoogle {
    FakeGoogle::start(FakeGoogleOptions::default())
        .await
        .expect("the fake starts")
}

/// An access token that an account obtained honestly, with its newest key.
pub async fn access_token_of(google: &FakeGoogle, email: &str) -> String {
    let mut claims = assertion_claims(google);
    claims.insert("iss".to_owned(), email.into());
    let reply = exchange(google, &google.sign_jwt(email, &claims).unwrap()).await;
    assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
    reply.json()["access_token"].as_str().unwrap().to_owned()
}

/// A call with a JSON body to an API, as the holder of an access token.
pub async fn call(
    google: &FakeGoogle,
    method: Method,
    path: &str,
    bearer: &str,
    body: &Value,
) -> Reply {
    let request = Request::builder()
        .method(method)
        .uri(format!("{}{path}", google.base_url()))
        .header(AUTHORIZATION, format!("Bearer {bearer}"))
        .header(CONTENT_TYPE, "application/json");
    try_send(request.body(Full::from(body.to_string())).unwrap())
        .await
        .expect("an answer")
}

pub async fn post(google: &FakeGoogle, path: &str, bearer: &str, body: &Value) -> Reply {
    call(google, Method::POST, path, bearer, body).await
}

/// Expects a refusal by one of Google's APIs.
pub fn assert_refused(reply: &Reply, status: StatusCode, canonical: &str, message: &str) {
    let error = &reply.json()["error"];
    assert_eq!(
        (
            reply.status,
            error["status"].as_str(),
            error["message"].as_str()
        ),
        (status, Some(canonical), Some(message)),
        "{reply:?}"
    );
}
