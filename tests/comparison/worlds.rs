//! The two servers that are asked, and a third that stands in for ours while it is being changed.

use std::path::Path;
use std::process::Command;

use gatehouse_access::AccessService;
use gatehouse_auth_method::AuthMethodService;
use gatehouse_fake_google::FakeGoogle;
use gatehouse_gateway::{Gateway, Method, Settings};
use gatehouse_orgs::Orgs;
use gatehouse_ports::doubles::{MemoryStore, ScriptedHttp};
use gatehouse_ports::{HttpError, NoCache, OsRandom, SystemClock};
use gatehouse_tests::{Installation, ReferenceProcess, Storage, TlsListener, bao_program};

use crate::http::{Answer, Request, Sender};

/// A server that answers the list of requests.
pub trait World {
    /// Sends one request.
    fn send(&self, request: &Request) -> Answer;
    /// The operator's token.
    fn root_token(&self) -> &str;
    /// The type of auth method that is mounted where the list mounts one: no other has both servers' names.
    fn method(&self) -> &'static str;
}

/// A dev server of the test's own, of OpenBao or of Vault, ended with it.
pub struct Reference {
    sender: Sender,
    method: &'static str,
    _process: ReferenceProcess,
}

impl Reference {
    /// OpenBao, which has no method for Google.
    pub fn openbao() -> Self {
        Self::start(&bao_program(), "approle", |_| {})
    }

    /// The program of Vault that `GATEHOUSE_VAULT` names, with the Google behind this proxy.
    pub fn vault(proxy: &TlsListener) -> Self {
        let program = std::env::var_os("GATEHOUSE_VAULT").expect("GATEHOUSE_VAULT is set");
        Self::start(Path::new(&program), "gcp", |command| {
            command
                .env("HTTPS_PROXY", format!("http://{}", proxy.address()))
                .env("SSL_CERT_FILE", proxy.authority());
        })
    }

    fn start(program: &Path, method: &'static str, settings: impl FnOnce(&mut Command)) -> Self {
        let process = ReferenceProcess::start(program, settings);
        Self {
            sender: Sender::new(process.address()),
            method,
            _process: process,
        }
    }
}

impl World for Reference {
    fn send(&self, request: &Request) -> Answer {
        self.sender.send(request)
    }

    fn root_token(&self) -> &str {
        ReferenceProcess::ROOT_TOKEN
    }

    fn method(&self) -> &'static str {
        self.method
    }
}

/// The release server.
pub struct Released {
    sender: Sender,
    installation: Installation,
}

impl Released {
    pub fn start() -> Self {
        let installation = Installation::start(Storage::Memory, "").unwrap();
        Self {
            sender: Sender::new(installation.address()),
            installation,
        }
    }

    /// The Google beside it.
    pub fn google(&self) -> &FakeGoogle {
        self.installation.google()
    }
}

impl World for Released {
    fn send(&self, request: &Request) -> Answer {
        self.sender.send(request)
    }

    fn root_token(&self) -> &str {
        self.installation.root_token()
    }

    fn method(&self) -> &'static str {
        "gcp"
    }
}

type Store = MemoryStore<SystemClock>;
type GcpMethod = AuthMethodService<Store, NoCache, ScriptedHttp, SystemClock, OsRandom>;
type Organizations = Orgs<Store, SystemClock, OsRandom>;

/// The same gateway over the same capabilities in this process, without the server around them.
pub struct InProcess {
    gateway: Gateway<GcpMethod, AccessService<Store, SystemClock, OsRandom>, Organizations>,
    root_token: String,
}

impl InProcess {
    pub fn start() -> Self {
        let store = || MemoryStore::new(SystemClock);
        let method = AuthMethodService::new(
            store(),
            NoCache,
            ScriptedHttp::new(|_| Err(HttpError::Denied)),
            SystemClock,
            OsRandom,
            gatehouse_auth_method::Settings::default(),
        );
        let access = AccessService::new(store(), SystemClock, OsRandom);
        let organizations = Orgs::new(store(), SystemClock, OsRandom);
        let settings = Settings {
            storage_type: "inmem".to_owned(),
            ..Settings::default()
        };
        let mut world = Self {
            gateway: Gateway::new(method, access, organizations, settings),
            root_token: String::new(),
        };
        let answer = world.send(&Request {
            method: "PUT".to_owned(),
            target: "/v1/sys/init".to_owned(),
            headers: Vec::new(),
            body: "{}".to_owned(),
        });
        let made: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
        made["root_token"]
            .as_str()
            .unwrap()
            .clone_into(&mut world.root_token);
        world
    }
}

impl World for InProcess {
    fn send(&self, request: &Request) -> Answer {
        let (path, query) = request
            .target
            .split_once('?')
            .unwrap_or((&request.target, ""));
        let answer = self.gateway.handle(&gatehouse_gateway::Request {
            id: None,
            method: Method::named(&request.method),
            path: path.to_owned(),
            query: query.to_owned(),
            headers: request.headers.iter().cloned().collect(),
            body: request.body.clone().into_bytes(),
            peer: Some(std::net::IpAddr::from([127, 0, 0, 1]).into()),
        });
        let header = |name| answer.header(name).unwrap_or_default().to_owned();
        Answer {
            status: answer.status,
            content_type: header("content-type"),
            location: header("location"),
            body: String::from_utf8(answer.body.clone()).unwrap(),
        }
    }

    fn root_token(&self) -> &str {
        &self.root_token
    }

    fn method(&self) -> &'static str {
        "gcp"
    }
}
