//! Every endpoint is counted and recorded, and fails as it is told to.

use gatehouse_fake_google::{Endpoint, Fault};
use http::{Method, StatusCode};
use serde_json::json;

use crate::client::{access_token, call, google_with_robot};

const ACCOUNT: &str = "/v1/projects/-/serviceAccounts/a";
const COMPUTE: &str = "/compute/v1/projects/p";
const METADATA: &str = "/computeMetadata/v1/instance/service-accounts/default";

fn requests() -> Vec<(Endpoint, Method, String)> {
    let get = |endpoint, path: String| (endpoint, Method::GET, path);
    let post = |endpoint, path: String| (endpoint, Method::POST, path);
    vec![
        get(Endpoint::ServiceAccount, ACCOUNT.to_owned()),
        post(Endpoint::CreateKey, format!("{ACCOUNT}/keys")),
        (
            Endpoint::DeleteKey,
            Method::DELETE,
            format!("{ACCOUNT}/keys/k"),
        ),
        post(
            Endpoint::GenerateAccessToken,
            format!("{ACCOUNT}:generateAccessToken"),
        ),
        post(Endpoint::SignJwt, format!("{ACCOUNT}:signJwt")),
        post(Endpoint::Token, "/token".to_owned()),
        post(Endpoint::SecurityTokenService, "/v1/token".to_owned()),
        get(
            Endpoint::Instance,
            format!("{COMPUTE}/zones/z/instances/n?alt=json"),
        ),
        get(
            Endpoint::InstanceGroups,
            format!("{COMPUTE}/aggregated/instanceGroups?pageToken=t"),
        ),
        post(
            Endpoint::ZonalGroupMembers,
            format!("{COMPUTE}/zones/z/instanceGroups/g/listInstances"),
        ),
        post(
            Endpoint::RegionalGroupMembers,
            format!("{COMPUTE}/regions/r/instanceGroups/g/listInstances"),
        ),
        post(Endpoint::Ancestry, "/v1/projects/p:getAncestry".to_owned()),
        post(
            Endpoint::TestPermissions,
            "/v1/projects/p:testIamPermissions".to_owned(),
        ),
        get(Endpoint::MetadataProbe, "/computeMetadata/v1/".to_owned()),
        get(Endpoint::MetadataToken, format!("{METADATA}/token")),
        get(
            Endpoint::MetadataIdentity,
            format!("{METADATA}/identity?audience=a"),
        ),
    ]
}

#[tokio::test]
async fn every_endpoint_is_counted_recorded_and_breakable() {
    let google = google_with_robot().await;
    let token = access_token(&google).await;
    for (endpoint, method, path) in requests() {
        google.forget_requests();
        google.queue_faults(
            endpoint,
            [
                Fault::too_many_requests(2),
                Fault::GarbageBody,
                Fault::OversizedBody { bytes: 70_000 },
                Fault::Redirect {
                    location: "http://127.0.0.1:9/".to_owned(),
                },
            ],
        );
        let body = json!({});
        let send = || call(&google, method.clone(), &path, &token, &body);
        let limited = send().await;
        assert_eq!(limited.status, StatusCode::TOO_MANY_REQUESTS, "{path}");
        assert_eq!(limited.headers["retry-after"], "2");
        let garbage = send().await;
        assert!(serde_json::from_slice::<serde_json::Value>(&garbage.body).is_err());
        assert_eq!(send().await.body.len(), 70_000, "{path}");
        assert_eq!(send().await.status, StatusCode::FOUND, "{path}");

        assert_eq!(google.calls(endpoint), 4, "{path}");
        for request in google.requests() {
            assert_eq!((request.endpoint, &request.method), (endpoint, &method));
            assert_eq!(request.path_and_query, path);
        }
    }
}
