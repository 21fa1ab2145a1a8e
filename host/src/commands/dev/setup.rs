//! Makes a new server ready for a first login, by the API that every operator has.

use std::net::{IpAddr, Ipv4Addr};

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use gatehouse::listener::RequestHandler;
use gatehouse_fake_google::{FakeGoogle, Population};
use http::{Method, Request, header};
use http_body_util::BodyExt;
use serde::Deserialize;
use serde_json::{Value, json};

/// The role that the workload of the fake Google may log in with.
pub(super) const ROLE: &str = "dev";

/// The role that the instance of the fake Google may log in with.
pub(super) const INSTANCE_ROLE: &str = "vm";

/// The first user of the organizations API, who administers the installation.
const SITE_ADMINISTRATOR: &str = "admin";

/// The policy that both roles give.
pub(super) const POLICY: &str = "demo-organizations";

const POLICY_TEXT: &str = r#"# Organizations whose name begins with "demo".
path "organizations/demo*" {
  capabilities = ["create", "read", "update", "delete", "list"]
}
path "organizations" {
  capabilities = ["list"]
}
"#;

/// The secrets of a server that has just been initialized.
pub(super) struct Initialized {
    pub(super) root_token: String,
    pub(super) unseal_keys: Vec<String>,
    /// An API token of the first user of the organizations API.
    pub(super) site_admin_token: String,
}

#[derive(Deserialize)]
struct InitAnswer {
    root_token: String,
    #[serde(default)]
    keys_base64: Vec<String>,
}

/// Initializes the server, enables the method at `gcp/`, and configures it for `google`.
///
/// # Errors
///
/// When the server refuses a step; the message is the server's.
pub(super) async fn run<H: RequestHandler>(
    handler: &H,
    google: &FakeGoogle,
    root_token: Option<&str>,
) -> Result<Initialized> {
    let mut api = Api {
        handler,
        token: None,
    };
    let answer = api
        .write(
            "sys/init",
            json!({"secret_shares": 1, "secret_threshold": 1}),
        )
        .await?;
    let answer: InitAnswer =
        serde_json::from_value(answer).context("the answer to sys/init is not as expected")?;
    let first_root_token = answer.root_token;
    api.token = Some(first_root_token.clone());

    let root_token = match root_token {
        None => first_root_token,
        Some(wanted) => {
            let fields = json!({"id": wanted, "policies": ["root"], "no_parent": true, "display_name": "dev-root"});
            api.write("auth/token/create", fields)
                .await
                .context("--root-token")?;
            api.write("auth/token/revoke-self", json!({})).await?;
            api.token = Some(wanted.to_owned());
            wanted.to_owned()
        }
    };
    enable_method(&api, google).await?;
    let site_admin_token = create_site_administrator(&api).await?;
    Ok(Initialized {
        root_token,
        unseal_keys: answer.keys_base64,
        site_admin_token,
    })
}

async fn create_site_administrator<H: RequestHandler>(api: &Api<'_, H>) -> Result<String> {
    let document = json!({"data": {"type": "users", "attributes": {
        "username": SITE_ADMINISTRATOR,
        "email": "admin@example.com",
        "is-site-admin": true,
    }}});
    let answer = api.send("/api/v2/admin/users", &document).await?;
    let token = answer.pointer("/meta/token").and_then(Value::as_str);
    let token = token.context("the answer to the first user is not as expected")?;
    Ok(token.to_owned())
}

async fn enable_method<H: RequestHandler>(api: &Api<'_, H>, google: &FakeGoogle) -> Result<()> {
    let base = google.base_url();
    api.write(
        "sys/auth/gcp",
        json!({"type": "gcp", "description": "fake Google"}),
    )
    .await?;
    let configuration = json!({
        "credentials": google.credentials_json(Population::SERVER_ROOT)?,
        "custom_endpoint": {"api": base, "iam": base, "crm": base, "compute": base},
    });
    api.write("auth/gcp/config", configuration).await?;
    api.write(
        &format!("sys/policies/acl/{POLICY}"),
        json!({"policy": POLICY_TEXT}),
    )
    .await?;
    let role = json!({
        "type": "iam",
        "bound_service_accounts": [Population::WORKLOAD],
        "token_policies": [POLICY],
    });
    api.write(&format!("auth/gcp/role/{ROLE}"), role).await?;
    let role = json!({
        "type": "gce",
        "bound_zones": ["europe-west1-b"],
        "token_policies": [POLICY],
    });
    api.write(&format!("auth/gcp/role/{INSTANCE_ROLE}"), role)
        .await?;
    Ok(())
}

/// The server's API, without a socket.
struct Api<'a, H> {
    handler: &'a H,
    token: Option<String>,
}

impl<H: RequestHandler> Api<'_, H> {
    async fn write(&self, path: &str, fields: Value) -> Result<Value> {
        self.send(&format!("/v1/{path}"), &fields).await
    }

    async fn send(&self, path: &str, document: &Value) -> Result<Value> {
        let mut request = Request::builder()
            .method(Method::POST)
            .uri(path)
            .header(header::HOST, "localhost")
            .header(header::CONTENT_TYPE, "application/json");
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let body = Bytes::from(serde_json::to_vec(document)?);
        let answer = self
            .handler
            .handle(request.body(body)?, IpAddr::V4(Ipv4Addr::LOCALHOST))
            .await
            .with_context(|| format!("{path} failed"))?;
        let status = answer.status();
        let body = answer.into_body().collect().await?.to_bytes();
        if !status.is_success() {
            bail!(
                "{path} answered {status}: {}",
                String::from_utf8_lossy(&body).trim()
            );
        }
        if body.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&body)
            .with_context(|| format!("{path} answered something that is not JSON"))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use gatehouse::listener::{AnswerBody, RequestError};
    use gatehouse_fake_google::FakeGoogleOptions;
    use http::Response;

    use super::*;

    /// Writes down path, token and body of every request.
    #[derive(Default)]
    struct Recorder(Mutex<Vec<(String, String, Value)>>);

    impl RequestHandler for Recorder {
        async fn handle(
            &self,
            request: Request<Bytes>,
            _: IpAddr,
        ) -> Result<Response<AnswerBody>, RequestError> {
            let path = request.uri().path().to_owned();
            let token = request.headers().get(header::AUTHORIZATION);
            let token = token.map_or("", |token| token.to_str().unwrap());
            let token = token.trim_start_matches("Bearer ").to_owned();
            let answer = match path.as_str() {
                "/v1/sys/init" => {
                    r#"{"keys":["00"],"keys_base64":["AA=="],"root_token":"hvs.first"}"#
                }
                "/api/v2/admin/users" => r#"{"meta":{"token":"x.atlasv1.y"}}"#,
                _ => "",
            };
            let body = serde_json::from_slice(request.body()).unwrap();
            self.0.lock().unwrap().push((path, token, body));
            Ok(Response::new(Bytes::from(answer).into()))
        }
    }

    #[tokio::test]
    async fn the_first_root_token_gives_way_to_the_one_asked_for() {
        let google = FakeGoogle::start(FakeGoogleOptions::default())
            .await
            .unwrap();
        let recorder = Recorder::default();
        let initialized = run(&recorder, &google, Some("mine")).await.unwrap();
        assert_eq!(initialized.root_token, "mine");
        assert_eq!(initialized.unseal_keys, ["AA=="]);
        assert_eq!(initialized.site_admin_token, "x.atlasv1.y");

        let calls = recorder.0.into_inner().unwrap();
        let steps: Vec<(&str, &str)> = calls
            .iter()
            .map(|(path, token, _)| (path.as_str(), token.as_str()))
            .collect();
        assert_eq!(
            steps,
            [
                ("/v1/sys/init", ""),
                ("/v1/auth/token/create", "hvs.first"),
                ("/v1/auth/token/revoke-self", "hvs.first"),
                ("/v1/sys/auth/gcp", "mine"),
                ("/v1/auth/gcp/config", "mine"),
                ("/v1/sys/policies/acl/demo-organizations", "mine"),
                ("/v1/auth/gcp/role/dev", "mine"),
                ("/v1/auth/gcp/role/vm", "mine"),
                ("/api/v2/admin/users", "mine"),
            ]
        );
        let custom_endpoint = &calls[4].2["custom_endpoint"];
        assert_eq!(custom_endpoint["api"], google.base_url());
    }
}
