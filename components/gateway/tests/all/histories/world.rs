//! A gateway that is called from many threads.

use gatehouse_access::AccessService;
use gatehouse_auth_method::AuthMethodService;
use gatehouse_gateway::{Gateway, Method, Request, Settings};
use gatehouse_histories::{Answer, Reply, Request as Asked, Server};
use gatehouse_orgs::Orgs;
use gatehouse_ports::doubles::{ManualClock, MemoryStore, ScriptedHttp, SeededRandom};
use gatehouse_ports::{HttpError, IpAddress, NoCache};
use serde_json::{Value, json};

use super::eager::{EagerStore, Failing};

const ROOT: &str = "root-token";
const NOW: u64 = 1_795_255_200;

type Clock = &'static ManualClock;
type Store = &'static MemoryStore<Clock>;
type Served = Gateway<
    AuthMethodService<Store, NoCache, ScriptedHttp, Clock, SeededRandom>,
    AccessService<&'static EagerStore, Clock, SeededRandom>,
    Orgs<Store, Clock, SeededRandom>,
>;

pub struct World {
    gateway: Served,
}

impl World {
    /// An initialized server whose tokens are in a store with this fault.
    pub fn new(failing: Failing) -> Self {
        let clock: Clock = Box::leak(Box::new(ManualClock::at_seconds(NOW)));
        let store: Store = Box::leak(Box::new(MemoryStore::new(clock)));
        let method = AuthMethodService::new(
            store,
            NoCache,
            ScriptedHttp::new(|_| Err(HttpError::Denied)),
            clock,
            SeededRandom::new(1),
            gatehouse_auth_method::Settings::default(),
        );
        let tokens: &'static EagerStore = Box::leak(Box::new(EagerStore::new(clock, failing)));
        let access = AccessService::new(tokens, clock, SeededRandom::new(2));
        let store: Store = Box::leak(Box::new(MemoryStore::new(clock)));
        let organizations = Orgs::new(store, clock, SeededRandom::new(3));
        let gateway = Gateway::new(method, access, organizations, Settings::default())
            .with_surroundings(clock, SeededRandom::new(4));
        let world = Self { gateway };
        world.must(&Asked {
            method: "PUT",
            ..Asked::post("sys/init", "", json!({ "root_token": ROOT }))
        });
        world
    }
}

impl Server for World {
    fn root_token(&self) -> &str {
        ROOT
    }

    fn send(&self, asked: &Asked<'_>) -> Reply {
        let method = match asked.method {
            "GET" => Method::Get,
            "PUT" => Method::Put,
            _ => Method::Post,
        };
        let mut request = Request::new(method, format!("/v1/{}", asked.path));
        if !asked.token.is_empty() {
            request.headers.push("X-Vault-Token", asked.token);
        }
        if let Some(ttl) = asked.wrap_ttl {
            request.headers.push("X-Vault-Wrap-TTL", ttl);
        }
        if !asked.body.is_null() {
            request.body = asked.body.to_string().into_bytes();
        }
        request.peer = Some(IpAddress::Ipv4((192, 0, 2, 1)));
        let response = self.gateway.handle(&request);
        Reply::Answer(Answer {
            status: response.status,
            body: serde_json::from_slice(&response.body).unwrap_or(Value::Null),
        })
    }
}
