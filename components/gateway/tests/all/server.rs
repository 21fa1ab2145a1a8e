//! A gateway with all its capabilities, and short functions for requests to it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use gatehouse_access::AccessService;
use gatehouse_auth_method::{AuthMethodService, Identity, Renewed, TokenParameters};
use gatehouse_gateway::host::Host;
use gatehouse_gateway::{
    DutyOutcome, Gateway, Method, Part, Request, Response, ResumeError, Settings,
};
use gatehouse_orgs::Orgs;
use gatehouse_ports::doubles::{ManualClock, MemoryStore, ScriptedHttp, SeededRandom};
use gatehouse_ports::{HttpError, IpAddress, NoCache};
use serde_json::Value;

use super::method::{Script, ScriptedMethod};
use super::recorder::Recorder;

/// 2026-11-21T10:00:00Z
pub const NOW: u64 = 1_795_255_200;

pub type Clock = &'static ManualClock;
pub type Store = MemoryStore<Clock>;
type RealMethod = AuthMethodService<&'static Store, NoCache, ScriptedHttp, Clock, SeededRandom>;
type TestGateway = Gateway<
    ScriptedMethod<RealMethod>,
    AccessService<&'static Store, Clock, SeededRandom>,
    Orgs<&'static Store, Clock, SeededRandom>,
>;
/// A server under test.
pub struct Server {
    gateway: TestGateway,
    pub clock: Clock,
    pub access_store: &'static Store,
    pub method_store: &'static Store,
    pub organizations_store: &'static Store,
    pub operator_log: Arc<Mutex<Vec<String>>>,
    /// The recorder of all exchanges.
    pub audit: Recorder,
    /// The next answers of the method, which replace its own.
    pub script: Arc<Script>,
}

pub const ROOT: &str = "root-token";

impl Server {
    /// A server whose stores are empty.
    pub fn empty() -> Self {
        Self::on(Host::default(), Settings::default())
    }

    /// The same on this host and with these settings.
    pub fn on(host: Host, settings: Settings) -> Self {
        Self::with_quotas(host, settings, gatehouse_access::Settings::DEFAULT)
    }

    /// The same with quotas of tokens and entities.
    pub fn with_quotas(host: Host, settings: Settings, quotas: gatehouse_access::Settings) -> Self {
        let clock: Clock = Box::leak(Box::new(ManualClock::at_seconds(NOW)));
        let store = || -> &'static Store { Box::leak(Box::new(MemoryStore::new(clock))) };
        let (access_store, method_store, organizations_store) = (store(), store(), store());
        let script = Arc::new(Script::default());
        let method = ScriptedMethod {
            real: AuthMethodService::new(
                method_store,
                NoCache,
                ScriptedHttp::new(|_| Err(HttpError::Denied)),
                clock,
                SeededRandom::new(2),
                gatehouse_auth_method::Settings::default(),
            ),
            script: Arc::clone(&script),
        };
        let access =
            AccessService::new(access_store, clock, SeededRandom::new(1)).with_settings(quotas);
        let organizations = Orgs::new(organizations_store, clock, SeededRandom::new(3))
            .with_edition(settings.edition);
        let operator_log = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&operator_log);
        let audit = Recorder::default();
        let host = Host {
            audit: Box::new(audit.clone()),
            ..host
        };
        let gateway = Gateway::new(method, access, organizations, settings)
            .with_host(host)
            .with_surroundings(clock, SeededRandom::new(4))
            .with_operator_log(move |line| log.lock().unwrap().push(line.to_owned()));
        Self {
            gateway,
            clock,
            access_store,
            method_store,
            organizations_store,
            operator_log,
            audit,
            script,
        }
    }

    /// A server with root token [`ROOT`].
    pub fn initialized() -> Self {
        Self::empty().initialize()
    }

    /// Initializes an empty server with the root token [`ROOT`].
    pub fn initialize(self) -> Self {
        let body = format!("{{\"root_token\":\"{ROOT}\"}}");
        self.send(Method::Put, "sys/init", None, &body).expect(200);
        self
    }

    /// An initialized server with the method enabled at `gcp/`.
    pub fn with_method() -> Self {
        Self::initialized().enable_method()
    }

    /// Enables the method at `gcp/`.
    pub fn enable_method(self) -> Self {
        self.post("sys/auth/gcp", r#"{"type":"gcp"}"#).expect(204);
        self
    }

    /// The same with the role `dev`.
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

    /// The next part of the answer to `request`.
    pub fn resume(&self, request: &Request, continuation: &[u8]) -> Result<Part, ResumeError> {
        self.gateway.resume(request, continuation)
    }

    /// Sends a request below `/v1/`; `target` may have a query.
    pub fn send(&self, method: Method, target: &str, token: Option<&str>, body: &str) -> Answer {
        let mut request = request(method, target, body);
        if let Some(token) = token {
            request.headers.push("X-Vault-Token", token);
        }
        self.handle(&request)
    }

    /// Sends a GET request as root.
    pub fn get(&self, target: &str) -> Answer {
        self.send(Method::Get, target, Some(ROOT), "")
    }

    /// Sends a LIST request as root.
    pub fn list(&self, target: &str) -> Answer {
        self.send(Method::List, target, Some(ROOT), "")
    }

    /// Sends a POST request as root.
    pub fn post(&self, target: &str, body: &str) -> Answer {
        self.send(Method::Post, target, Some(ROOT), body)
    }

    /// Sends a DELETE request as root.
    pub fn delete(&self, target: &str) -> Answer {
        self.send(Method::Delete, target, Some(ROOT), "")
    }

    /// Does the work that is due without a request.
    pub fn run_background(&self) {
        self.run_duties();
    }

    /// Does the work that is due without a request, and returns the duties that failed.
    pub fn run_duties(&self) -> Vec<&'static str> {
        let failed = |(name, duty): &(&'static str, fn(&TestGateway) -> DutyOutcome)| {
            duty(&self.gateway).is_err().then_some(*name)
        };
        TestGateway::DUTIES.iter().filter_map(failed).collect()
    }

    /// Reports the events for the operator.
    pub fn report_events(&self) -> DutyOutcome {
        self.gateway.report_events()
    }

    /// The lines for the operator since the last call.
    pub fn operator_lines(&self) -> Vec<String> {
        std::mem::take(&mut *self.operator_log.lock().unwrap())
    }

    /// A token with a policy that has this text.
    pub fn token_with(&self, policy: &str) -> String {
        let body = serde_json::json!({ "policy": policy }).to_string();
        self.post("sys/policies/acl/under-test", &body).expect(204);
        let made = self.post("auth/token/create", r#"{"policies":["under-test"]}"#);
        made.json()["auth"]["client_token"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// The number of commits to all stores.
    pub fn commits(&self) -> u64 {
        self.stores().iter().map(|store| store.commits()).sum()
    }

    /// The number of reads from all stores.
    pub fn reads(&self) -> u64 {
        self.stores().iter().map(|store| store.reads()).sum()
    }

    const fn stores(&self) -> [&'static Store; 3] {
        [
            self.access_store,
            self.method_store,
            self.organizations_store,
        ]
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
    request.peer = Some(IpAddress::Ipv4((192, 0, 2, 1)));
    request
}

/// An account that Google vouches for.
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
        group_aliases: Vec::new(),
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

/// A renewal that the method allows.
pub fn renewed(token: TokenParameters) -> Renewed {
    Renewed {
        token,
        group_aliases: None,
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

    /// Asserts the status and the only error text.
    #[track_caller]
    pub fn refused(&self, status: u16, error: &str) {
        assert_eq!(self.0.status, status, "{}", self.text());
        assert_eq!(self.json(), serde_json::json!({ "errors": [error] }));
    }

    /// Asserts the status and an empty list of errors.
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

/// The rendering of a listed error on an authenticated path.
pub fn listed(text: &str) -> String {
    format!("1 error occurred:\n\t* {text}\n\n")
}
