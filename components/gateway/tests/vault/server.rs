//! A gateway with everything behind it, and short ways to talk to it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use gatehouse_access::AccessService;
use gatehouse_auth_method::{
    AuthMethod, AuthMethodService, ConfigChanges, ConfigError, ConfigView, Identity, LoginError,
    LoginRequest, Mount, Precondition, RenewalError, RenewalRequest, Role, RoleChanges, RoleError,
    RoleWritten, TokenParameters,
};
use gatehouse_gateway::{Gateway, Method, Request, Response, Settings};
use gatehouse_orgs::Orgs;
use gatehouse_ports::HttpError;
use gatehouse_ports::doubles::{ManualClock, MemoryStore, ScriptedHttp, SeededRandom};
use gatehouse_storage::StorageError;
use serde_json::Value;

/// 2026-11-21T10:00:00Z
pub const NOW: u64 = 1_795_255_200;

type Clock = &'static ManualClock;
type Store = MemoryStore<Clock>;
type Google = AuthMethodService<&'static Store, ScriptedHttp, Clock, SeededRandom>;
type TestGateway = Gateway<
    ScriptedMethod,
    AccessService<&'static Store, Clock, SeededRandom>,
    Orgs<&'static Store, Clock, SeededRandom>,
>;
type LoginOutcome = Result<Identity, LoginError>;
type RenewalOutcome = Result<TokenParameters, RenewalError>;

/// The real method, except that what Google would have said about a caller is scripted.
pub struct ScriptedMethod {
    real: Google,
    logins: Arc<Mutex<Option<LoginOutcome>>>,
    renewals: Arc<Mutex<Option<RenewalOutcome>>>,
}

/// A server under test.
pub struct Server {
    gateway: TestGateway,
    pub clock: Clock,
    pub access_store: &'static Store,
    pub method_store: &'static Store,
    pub operator_log: Arc<Mutex<Vec<String>>>,
    logins: Arc<Mutex<Option<LoginOutcome>>>,
    renewals: Arc<Mutex<Option<RenewalOutcome>>>,
}

pub const ROOT: &str = "root-token";

impl Server {
    /// A server whose store is empty.
    pub fn empty() -> Self {
        let clock: Clock = Box::leak(Box::new(ManualClock::at_seconds(NOW)));
        let store = || -> &'static Store { Box::leak(Box::new(MemoryStore::new(clock))) };
        let (access_store, method_store) = (store(), store());
        let logins = Arc::new(Mutex::new(None));
        let renewals = Arc::new(Mutex::new(None));
        let method = ScriptedMethod {
            real: AuthMethodService::new(
                method_store,
                ScriptedHttp::new(|_| Err(HttpError::Denied)),
                clock,
                SeededRandom::new(2),
                gatehouse_auth_method::Settings::default(),
            ),
            logins: Arc::clone(&logins),
            renewals: Arc::clone(&renewals),
        };
        let access = AccessService::new(access_store, clock, SeededRandom::new(1));
        let organizations = Orgs::new(store(), clock, SeededRandom::new(3));
        let operator_log = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&operator_log);
        let gateway = Gateway::new(method, access, organizations, Settings::default())
            .with_surroundings(clock, SeededRandom::new(4))
            .with_operator_log(move |line| log.lock().unwrap().push(line.to_owned()));
        Self {
            gateway,
            clock,
            access_store,
            method_store,
            operator_log,
            logins,
            renewals,
        }
    }

    /// A server with root token [`ROOT`].
    pub fn initialized() -> Self {
        let server = Self::empty();
        let body = format!("{{\"root_token\":\"{ROOT}\"}}");
        server
            .send(Method::Put, "sys/init", None, &body)
            .expect(200);
        server
    }

    /// The same with the method enabled at `gcp/`.
    pub fn with_method() -> Self {
        let server = Self::initialized();
        server.post("sys/auth/gcp", r#"{"type":"gcp"}"#).expect(204);
        server
    }

    /// The same with role `dev`.
    pub fn with_role() -> Self {
        let server = Self::with_method();
        let role = r#"{"type":"iam","bound_service_accounts":"dev@p1.iam.gserviceaccount.com","bound_projects":"p1","token_policies":"prod"}"#;
        server.post("auth/gcp/role/dev", role).expect(200);
        server
    }

    /// Sends any request.
    pub fn handle(&self, request: &Request) -> Answer {
        Answer(self.gateway.handle(request))
    }

    /// Sends a request below `/v1/`; `target` may have a query.
    pub fn send(&self, method: Method, target: &str, token: Option<&str>, body: &str) -> Answer {
        let mut request = request(method, target, body);
        if let Some(token) = token {
            request.headers.push("X-Vault-Token", token);
        }
        self.handle(&request)
    }

    /// As root.
    pub fn get(&self, target: &str) -> Answer {
        self.send(Method::Get, target, Some(ROOT), "")
    }

    /// As root.
    pub fn list(&self, target: &str) -> Answer {
        self.send(Method::List, target, Some(ROOT), "")
    }

    /// As root.
    pub fn post(&self, target: &str, body: &str) -> Answer {
        self.send(Method::Post, target, Some(ROOT), body)
    }

    /// As root.
    pub fn delete(&self, target: &str) -> Answer {
        self.send(Method::Delete, target, Some(ROOT), "")
    }

    /// What the next login finds.
    pub fn next_login(&self, outcome: LoginOutcome) {
        *self.logins.lock().unwrap() = Some(outcome);
    }

    /// What the next renewal finds.
    pub fn next_renewal(&self, outcome: RenewalOutcome) {
        *self.renewals.lock().unwrap() = Some(outcome);
    }

    /// A token with a policy of this text.
    pub fn token_with(&self, policy: &str) -> String {
        let body = serde_json::json!({ "policy": policy }).to_string();
        self.post("sys/policies/acl/under-test", &body).expect(204);
        let made = self.post("auth/token/create", r#"{"policies":["under-test"]}"#);
        made.json()["auth"]["client_token"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// How often the stores have changed.
    pub fn commits(&self) -> u64 {
        self.access_store.commits() + self.method_store.commits()
    }

    pub fn pass(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }
}

/// A request below `/v1/`.
pub fn request(method: Method, target: &str, body: &str) -> Request {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut request = Request::new(method, format!("/v1/{path}"));
    request.query = query.to_owned();
    request.body = body.as_bytes().to_vec();
    request.peer = Some([192, 0, 2, 1].into());
    request
}

/// Somebody whom Google vouches for.
pub fn identity() -> Identity {
    Identity {
        role: "dev".to_owned(),
        role_id: "6bbfab2b-ca32-6044-4829-4515728d87b1".to_owned(),
        display_name: "dev@p1.iam.gserviceaccount.com".to_owned(),
        alias_name: "6bbfab2b-ca32-6044-4829-4515728d87b1".to_owned(),
        metadata: vec![
            ("project_id".to_owned(), "p1".to_owned()),
            ("role".to_owned(), "dev".to_owned()),
        ],
        token: parameters(),
        renewal_state: b"state".to_vec(),
    }
}

pub fn parameters() -> TokenParameters {
    TokenParameters {
        policies: vec!["prod".to_owned()],
        ..TokenParameters::default()
    }
}

/// A response with assertions.
#[derive(Debug)]
pub struct Answer(pub Response);

impl Answer {
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.0.status, status, "{}", self.text());
        assert_eq!(self.0.header("content-type"), Some("application/json"));
        self
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.0.body.clone()).unwrap()
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.0.body).unwrap_or_else(|_| panic!("{}", self.text()))
    }

    #[track_caller]
    pub fn data(&self) -> Value {
        self.json()["data"].clone()
    }

    /// Asserts status and the one error text.
    #[track_caller]
    pub fn refused(&self, status: u16, error: &str) {
        assert_eq!(self.0.status, status, "{}", self.text());
        assert_eq!(self.json(), serde_json::json!({ "errors": [error] }));
    }

    /// Asserts status and an empty list of errors.
    #[track_caller]
    pub fn silently_refused(&self, status: u16) {
        assert_eq!(self.0.status, status, "{}", self.text());
        assert_eq!(self.json(), serde_json::json!({ "errors": [] }));
    }

    #[track_caller]
    pub fn warnings(&self) -> Vec<String> {
        match &self.json()["warnings"] {
            Value::Null => Vec::new(),
            warnings => serde_json::from_value(warnings.clone()).unwrap(),
        }
    }
}

/// How a coded error looks on an authenticated path.
pub fn listed(text: &str) -> String {
    format!("1 error occurred:\n\t* {text}\n\n")
}

impl AuthMethod for ScriptedMethod {
    fn read_config(&self, mount: &Mount) -> Result<ConfigView, StorageError> {
        self.real.read_config(mount)
    }

    fn write_config(&self, mount: &Mount, changes: ConfigChanges) -> Result<(), ConfigError> {
        self.real.write_config(mount, changes)
    }

    fn delete_config(&self, mount: &Mount) -> Result<(), StorageError> {
        self.real.delete_config(mount)
    }

    fn read_role(&self, mount: &Mount, name: &str) -> Result<Option<Role>, StorageError> {
        self.real.read_role(mount, name)
    }

    fn write_role(
        &self,
        mount: &Mount,
        name: &str,
        changes: RoleChanges,
        precondition: Precondition,
    ) -> Result<RoleWritten, RoleError> {
        self.real.write_role(mount, name, changes, precondition)
    }

    fn delete_role(&self, mount: &Mount, name: &str) -> Result<(), StorageError> {
        self.real.delete_role(mount, name)
    }

    fn list_roles(&self, mount: &Mount) -> Result<Vec<String>, StorageError> {
        self.real.list_roles(mount)
    }

    fn login(&self, mount: &Mount, request: &LoginRequest) -> Result<Identity, LoginError> {
        match self.logins.lock().unwrap().take() {
            Some(outcome) => outcome,
            None => self.real.login(mount, request),
        }
    }

    fn revalidate(
        &self,
        mount: &Mount,
        request: &RenewalRequest,
    ) -> Result<TokenParameters, RenewalError> {
        match self.renewals.lock().unwrap().take() {
            Some(outcome) => outcome,
            None => self.real.revalidate(mount, request),
        }
    }

    fn forget_mount(&self, mount_id: &str) -> Result<(), StorageError> {
        self.real.forget_mount(mount_id)
    }
}
