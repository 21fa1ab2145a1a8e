//! A plain HTTP client, and a fake with one account to talk to.

use bytes::Bytes;
use gatehouse_fake_google::{AccountSpec, Claims, FakeGoogle, FakeGoogleOptions, Population};
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, Request, StatusCode};
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
        instances: Vec::new(),
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
