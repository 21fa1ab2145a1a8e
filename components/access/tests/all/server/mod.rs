//! A capability over doubles, initialized, with what tests ask of it most.

pub mod batch;

use std::time::Duration;

use gatehouse_access::{
    AccessService, Admission, AdmissionError, CreateRequest, Issued, LoginGrant, Logins as _,
    Mount, MountRequest, Mounts as _, Operation, Parent, Policies as _, Request, Requests as _,
    System as _, Tidying as _, TokenCreation as _, TokenLookup as _, TokenParameters,
    TokenReference,
};
use gatehouse_ports::IpAddress;
use gatehouse_ports::doubles::{ManualClock, MemoryStore, SeededRandom};

pub type TestStore = MemoryStore<&'static ManualClock>;
pub type Service = AccessService<&'static TestStore, &'static ManualClock, &'static SeededRandom>;

pub const START: u64 = 1_700_000_000;
pub const HOUR: u64 = 3600;
pub const ROOT: &str = "root-for-tests";

/// A request from no address and without parameters.
pub fn request(token: Option<&str>, operation: Operation, path: &str) -> Request {
    Request {
        token: token.map(Into::into),
        operation,
        path: path.into(),
        source_address: None,
        wrap_ttl: None,
        parameters: None,
    }
}

/// A request by which a token looks itself up.
pub fn lookup_self(token: &str) -> Request {
    request(Some(token), Operation::Read, "auth/token/lookup-self")
}

/// A request to log in at the mount of the auth method.
pub fn login_request() -> Request {
    request(None, Operation::Update, "auth/gcp/login")
}

pub struct Server {
    pub access: Service,
    pub store: &'static TestStore,
    pub clock: &'static ManualClock,
    pub random: &'static SeededRandom,
}

impl Server {
    /// A server with an empty store.
    pub fn empty() -> Self {
        let clock: &'static ManualClock = Box::leak(Box::new(ManualClock::at_seconds(START)));
        let store: &'static TestStore = Box::leak(Box::new(MemoryStore::new(clock)));
        let random: &'static SeededRandom = Box::leak(Box::new(SeededRandom::new(7)));
        Self {
            access: AccessService::new(store, clock, random),
            store,
            clock,
            random,
        }
    }

    /// An initialized server, with the root token [`ROOT`] and the method enabled at `gcp/`.
    pub fn ready() -> Self {
        let server = Self::empty();
        server.access.initialize(Some(ROOT)).ok().unwrap();
        server.enable("gcp");
        server
    }

    /// Another instance over the same store.
    pub fn another_instance(&self) -> Service {
        AccessService::new(self.store, self.clock, self.random)
    }

    pub fn enable(&self, path: &str) {
        let request = MountRequest {
            mount_type: "gcp".to_owned(),
            ..MountRequest::default()
        };
        self.access.enable_mount(path, &request).unwrap();
    }

    /// Has everything removed that no valid token leads to.
    pub fn tidy(&self) {
        self.access.tidy_tokens().unwrap();
        self.access.maintain().unwrap();
        while self.store.keys().iter().any(|key| key == "sweep") {
            self.access.maintain().unwrap();
        }
    }

    pub fn advance(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }

    pub fn admit(
        &self,
        token: &str,
        operation: Operation,
        path: &str,
    ) -> Result<Admission, AdmissionError> {
        let mut request = request(Some(token), operation, path);
        request.source_address = Some(IpAddress::Ipv4((192, 0, 2, 1)));
        self.access.admit(&request)
    }

    pub fn is_valid(&self, token: &str) -> bool {
        self.access
            .lookup_token(&TokenReference::Id(token.into()))
            .is_ok()
    }

    /// The mount as the admission of a login gives it.
    pub fn mount(&self, path: &str) -> Mount {
        let request = request(None, Operation::Update, &format!("auth/{path}login"));
        self.access.admit(&request).unwrap().mount.unwrap()
    }

    pub fn grant(&self, alias: &str, parameters: TokenParameters) -> LoginGrant {
        self.grant_at("gcp/", alias, parameters)
    }

    pub fn grant_at(&self, path: &str, alias: &str, parameters: TokenParameters) -> LoginGrant {
        let mount = self.mount(path);
        LoginGrant {
            mount_id: mount.id,
            mount_path: mount.path,
            role: "dev".to_owned(),
            alias_name: alias.to_owned(),
            metadata: Vec::from([("role".to_owned(), "dev".to_owned())]),
            display_name: "dev@p1.example".to_owned(),
            group_aliases: None,
            parameters,
            renewal_state: vec![0, 1, 255],
            source_address: Some(IpAddress::Ipv4((192, 0, 2, 1))),
        }
    }

    pub fn log_in(&self, parameters: TokenParameters) -> Issued {
        let grant = self.grant("1234", parameters);
        self.access.issue_login(&grant).ok().unwrap()
    }

    /// A login token with one policy of its own, whose text this is.
    pub fn log_in_with_policy(&self, text: &str) -> Issued {
        self.access.write_policy("own", text).unwrap();
        self.log_in(policies(&["own"]))
    }

    /// A child of `parent`, made with `sudo`.
    pub fn child(&self, parent: &str, request: &CreateRequest) -> Issued {
        let created = self.access.create_token(&sudo(parent), request);
        created.map_err(|error| error.to_string()).ok().unwrap()
    }
}

pub fn sudo(token: &str) -> Parent {
    Parent {
        token: token.into(),
        sudo: true,
        limited_uses: false,
        orphan_path: false,
    }
}

pub fn plain(token: &str) -> Parent {
    let mut parent = sudo(token);
    parent.sudo = false;
    parent
}

pub fn policies(names: &[&str]) -> TokenParameters {
    TokenParameters {
        policies: names.iter().map(|&name| name.to_owned()).collect(),
        ..TokenParameters::default()
    }
}
