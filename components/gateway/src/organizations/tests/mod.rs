//! The protocol over the real `access` and `orgs`, each on a store in memory.

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

use gatehouse_access::AccessService;
use gatehouse_access_api::{CreateRequest, Parent, Policies as _, System as _, TokenCreation as _};
use gatehouse_auth_method::AuthMethodService;
use gatehouse_orgs::Orgs;
use gatehouse_ports::doubles::{MemoryStore, ScriptedHttp};
use gatehouse_ports::{HttpError, NoCache, OsRandom, SystemClock};
use serde_json::{Value, json};

use crate::http::Method;
use crate::{Edition, Gateway, Request, Response, Settings};

type Store = &'static MemoryStore<SystemClock>;

const ROOT: &str = "root-token";
const JSON_API: &str = "application/vnd.api+json";

type TestAuthMethod = AuthMethodService<Store, NoCache, ScriptedHttp, SystemClock, OsRandom>;
type TestAccess = AccessService<Store, SystemClock, OsRandom>;
type TestOrgs = Orgs<Store, SystemClock, OsRandom>;

/// A gateway, and the store beneath its organizations.
struct World {
    gateway: Gateway<TestAuthMethod, TestAccess, TestOrgs>,
    store: Store,
}

fn store() -> Store {
    Box::leak(Box::new(MemoryStore::new(SystemClock)))
}

fn world(edition: Edition) -> World {
    world_with(Settings {
        edition,
        ..Settings::default()
    })
}

fn world_with(settings: Settings) -> World {
    let access = AccessService::new(store(), SystemClock, OsRandom);
    access.initialize(Some(ROOT)).unwrap();
    let store_of_organizations = store();
    let auth_method = AuthMethodService::new(
        store(),
        NoCache,
        ScriptedHttp::new(|_| Err(HttpError::Denied)),
        SystemClock,
        OsRandom,
        gatehouse_auth_method::Settings::default(),
    );
    let organizations = Orgs::new(store_of_organizations, SystemClock, OsRandom);
    World {
        gateway: Gateway::new(auth_method, access, organizations, settings),
        store: store_of_organizations,
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
    /// Sends a request of the root token, with a document if there is one.
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
        self.gateway.handle(&match document {
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

    /// The first token of a new user.
    fn person(&self, username: &str, site_administrator: bool) -> String {
        let document = json!({"data": {"type": "users", "attributes": {
            "username": username,
            "email": format!("{username}@example.com"),
            "is-site-admin": site_administrator,
        }}});
        let created = self.send(Method::Post, "/api/v2/admin/users", Some(&document));
        assert_eq!(created.status, 201, "{}", text(&created));
        let token = body(&created)["meta"]["token"].clone();
        token.as_str().unwrap().to_owned()
    }

    /// A token that holds one policy, of these rules.
    fn token(&self, policy: &str, rules: &[(&str, &[&str])]) -> String {
        self.token_with_uses(policy, rules, None)
    }

    fn token_with_uses(
        &self,
        policy: &str,
        rules: &[(&str, &[&str])],
        num_uses: Option<i64>,
    ) -> String {
        let paths: serde_json::Map<String, Value> = rules
            .iter()
            .map(|(path, capabilities)| ((*path).to_owned(), json!({"capabilities": capabilities})))
            .collect();
        let access = &self.gateway.access;
        access
            .write_policy(policy, &json!({"path": paths}).to_string())
            .unwrap();
        let parent = Parent {
            token: ROOT.into(),
            sudo: true,
            limited_uses: false,
            orphan_path: false,
        };
        let wanted = CreateRequest {
            policies: Some(vec![policy.to_owned()]),
            num_uses,
            ..CreateRequest::default()
        };
        let issued = access.create_token(&parent, &wanted).unwrap();
        issued.client_token.expose().to_owned()
    }
}

/// The document of a create or an update.
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
