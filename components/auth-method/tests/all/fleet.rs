//! Several instances over one store, one shared cache and one Google.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

use gatehouse_auth_method::{
    AuthMethodService, Config, ConfigChanges, Identity, Login, LoginError, LoginRequest, Mount,
    Precondition, Roles, Settings,
};
use gatehouse_ports::doubles::{MemoryCache, MemoryStore, ScriptedHttp, SeededRandom};
use gatehouse_ports::{Cache, Clock};

use crate::google::FakeGoogle;
use crate::stage::{NOW, dev_role, key_file, mount};

pub type Instance<C, M> = AuthMethodService<
    &'static MemoryStore<&'static C>,
    M,
    &'static ScriptedHttp,
    &'static C,
    SeededRandom,
>;

type Hook = Box<dyn FnOnce() + Send>;

pub struct Fleet<C: Clock + 'static> {
    pub google: Arc<FakeGoogle>,
    pub clock: &'static C,
    pub store: &'static MemoryStore<&'static C>,
    pub cache: &'static MemoryCache<&'static C>,
    pub http: &'static ScriptedHttp,
    pub instances: &'static [Instance<C, &'static MemoryCache<&'static C>>],
    pub mount: Mount,
    hooks: Arc<Mutex<Vec<(&'static str, Hook)>>>,
}

fn forever<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

impl<C: Clock + Send + Sync> Fleet<C> {
    /// A fleet with credentials and role `dev`, before the first login.
    pub fn new(size: u64, clock: C) -> Self {
        let google = Arc::new(FakeGoogle::new());
        let hooks: Arc<Mutex<Vec<(&'static str, Hook)>>> = Arc::default();
        let clock = forever(clock);
        let store = forever(MemoryStore::new(clock));
        let cache = forever(MemoryCache::new(clock));
        let (answering, called) = (Arc::clone(&google), Arc::clone(&hooks));
        let http = forever(ScriptedHttp::new(move |request| {
            let hook = {
                let mut hooks = called.lock().unwrap();
                let found = hooks
                    .iter()
                    .position(|(part, _)| request.url.contains(part));
                found.map(|found| hooks.remove(found).1)
            };
            if let Some(hook) = hook {
                hook();
            }
            answering.answer(request)
        }));
        let instance = |seed| {
            let random = SeededRandom::new(seed);
            AuthMethodService::new(store, cache, http, clock, random, Settings::default())
        };
        let fleet = Self {
            google,
            clock,
            store,
            cache,
            http,
            instances: (0..size).map(instance).collect::<Vec<_>>().leak(),
            mount: mount("m1"),
            hooks,
        };
        fleet.configure();
        let any = Precondition::Any;
        fleet.instances[0]
            .write_role(&fleet.mount, "dev", dev_role(), any)
            .unwrap();
        fleet
    }

    /// Writes the same configuration again.
    pub fn configure(&self) {
        let changes = ConfigChanges {
            credentials: Some(key_file()),
            ..ConfigChanges::default()
        };
        self.instances[0]
            .write_config(&self.mount, changes)
            .unwrap();
    }

    /// One more instance, with a cache of its own kind.
    pub fn instance_with<M: Cache>(&self, cache: M) -> Instance<C, M> {
        let random = SeededRandom::new(99);
        AuthMethodService::new(
            self.store,
            cache,
            self.http,
            self.clock,
            random,
            Settings::default(),
        )
    }

    /// Runs `hook` while the next question whose URL contains `part` is in the air.
    pub fn during(&self, part: &'static str, hook: impl FnOnce() + Send + 'static) {
        self.hooks.lock().unwrap().push((part, Box::new(hook)));
    }

    pub fn log_in(&self, instance: usize, jwt: &str) -> Result<Identity, LoginError> {
        self.instances[instance].login(&self.mount, &request(jwt))
    }

    /// How often Google was asked for its keys, an account's keys, an account, and an access token.
    pub fn calls(&self) -> [usize; 4] {
        ["oauth2/v1/certs", "x509", "serviceAccounts/", "/token"]
            .map(|part| self.google.calls(part))
    }
}

pub fn request(jwt: &str) -> LoginRequest {
    LoginRequest {
        role: "dev".to_owned(),
        jwt: jwt.to_owned(),
        source_address: None,
    }
}

/// A clock on which no time passes, and which knows who sleeps by it. Nothing runs out on it, so that what threads do does not depend on
/// how fast they are.
#[derive(Default)]
pub struct Dormitory(Mutex<HashSet<ThreadId>>);

impl Dormitory {
    /// Returns once `number` threads have gone to sleep since it was called.
    pub fn wait_for(&self, number: usize) {
        self.0.lock().unwrap().clear();
        while self.0.lock().unwrap().len() < number {
            thread::yield_now();
        }
    }
}

impl Clock for Dormitory {
    fn now_milliseconds(&self) -> u64 {
        NOW * 1000
    }

    fn sleep(&self, _: Duration) {
        self.0.lock().unwrap().insert(thread::current().id());
        thread::sleep(Duration::from_millis(1));
    }
}
