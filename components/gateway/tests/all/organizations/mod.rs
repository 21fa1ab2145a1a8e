//! The organizations protocol over the real `access` and `orgs`, each with a store in memory.

mod administration;
mod agent_pools;
mod authorization;
mod checks;
mod lifecycle;
mod listing;
mod long_lists;
mod openapi;
mod parameters;
mod people;
mod plans;
mod rate;
mod retention;
mod sharing;
mod sizes;
mod tokens;
mod transport;
mod unimplemented_endpoints;
mod users;

use gatehouse_gateway::host::Host;
use gatehouse_gateway::{Edition, Method, Part, Request, Response, ResumeError, Settings};
use serde_json::{Value, json};

use super::server::{Answer, ROOT, Server, Store};

const JSON_API: &str = "application/vnd.api+json";

/// A server, and the store of its organizations.
struct World {
    server: Server,
    store: &'static Store,
}

fn world(edition: Edition) -> World {
    let settings = Settings {
        edition,
        ..Settings::default()
    };
    world_on(Host::default(), settings)
}

fn world_on(host: Host, settings: Settings) -> World {
    let server = Server::on(host, settings).initialize();
    World {
        store: server.organizations_store,
        server,
    }
}

fn hosted() -> World {
    world(Edition::Hosted)
}

fn self_hosted() -> World {
    world(Edition::SelfHosted)
}

/// A request with this token, if there is one.
fn request(method: Method, target: &str, token: Option<&str>) -> Request {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut request = Request::new(method, path);
    request.query = query.to_owned();
    request.headers.push("host", "gatehouse.example");
    if let Some(token) = token {
        request
            .headers
            .push("authorization", format!("Bearer {token}"));
    }
    request
}

fn with_body(mut request: Request, media_type: Option<&str>, body: impl Into<Vec<u8>>) -> Request {
    if let Some(media_type) = media_type {
        request.headers.push("content-type", media_type);
    }
    request.body = body.into();
    request
}

impl World {
    fn handle(&self, request: &Request) -> Response {
        self.server.handle(request).0
    }

    fn resume(&self, request: &Request, continuation: &[u8]) -> Result<Part, ResumeError> {
        self.server.resume(request, continuation)
    }

    /// Sends a request with the root token, and with a document if there is one.
    fn send(&self, method: Method, target: &str, document: Option<&Value>) -> Response {
        self.send_as(ROOT, method, target, document)
    }

    fn send_as(
        &self,
        token: &str,
        method: Method,
        target: &str,
        document: Option<&Value>,
    ) -> Response {
        let request = request(method, target, Some(token));
        self.handle(&match document {
            Some(document) => with_body(request, Some(JSON_API), document.to_string()),
            None => request,
        })
    }

    fn get(&self, target: &str) -> Response {
        self.send(Method::Get, target, None)
    }

    fn create(&self, attributes: &Value) -> Response {
        self.send(
            Method::Post,
            "/api/v2/organizations",
            Some(&document(attributes)),
        )
    }

    fn create_named(&self, name: &str) -> Value {
        let created = self.create(&json!({"name": name, "email": "ops@example.com"}));
        assert_eq!(created.status, 201, "{}", text(&created));
        body(&created)
    }

    fn update(&self, name: &str, attributes: &Value) -> Response {
        let target = format!("/api/v2/organizations/{name}");
        self.send(Method::Patch, &target, Some(&document(attributes)))
    }

    /// A token with one policy that has these rules.
    fn token(&self, policy: &str, rules: &[(&str, &[&str])]) -> String {
        self.token_with_uses(policy, rules, None)
    }

    fn token_with_uses(
        &self,
        policy: &str,
        rules: &[(&str, &[&str])],
        num_uses: Option<i64>,
    ) -> String {
        let rules = rules.iter().map(|(path, capabilities)| {
            ((*path).to_owned(), json!({"capabilities": capabilities}))
        });
        self.write_policy(policy, &Value::Object(rules.collect()));
        let wanted = json!({"policies": [policy], "num_uses": num_uses.unwrap_or_default()});
        let issued = self.server.post("auth/token/create", &wanted.to_string());
        client_token(&issued)
    }

    /// Writes a policy with these rules, by their paths.
    fn write_policy(&self, name: &str, rules: &Value) {
        let policy = json!({"policy": json!({"path": rules}).to_string()}).to_string();
        let target = format!("sys/policies/acl/{name}");
        self.server.post(&target, &policy).expect(204);
    }
}

/// The token in an answer of `/v1`.
fn client_token(answer: &Answer) -> String {
    let token = &answer.json()["auth"]["client_token"];
    token.as_str().unwrap().to_owned()
}

/// The document that creates or updates an organization.
fn document(attributes: &Value) -> Value {
    json!({"data": {"type": "organizations", "attributes": attributes}})
}

fn text(response: &Response) -> String {
    String::from_utf8(response.body.clone()).unwrap()
}

fn body(response: &Response) -> Value {
    assert_eq!(response.header("content-type"), Some(JSON_API));
    serde_json::from_slice(&response.body).unwrap()
}

/// The pointers and details of a 422.
fn faults(response: &Response) -> Vec<(String, String)> {
    assert_eq!(response.status, 422, "{}", text(response));
    let body = body(response);
    let errors = body["errors"].as_array().unwrap();
    errors
        .iter()
        .map(|error| {
            assert_eq!(error["status"], "422");
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            (text(&error["source"]["pointer"]), text(&error["detail"]))
        })
        .collect()
}

fn assert_not_found(response: &Response) {
    assert_eq!(response.status, 404);
    assert_eq!(
        text(response),
        r#"{"errors":[{"status":"404","title":"not found"}]}"#
    );
}
