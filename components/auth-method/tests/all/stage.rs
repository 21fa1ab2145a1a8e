//! The capability with everything around it.

use std::sync::Arc;

use gatehouse_auth_method::{
    AuthMethodService, Config, ConfigChanges, Identity, Login, LoginError, LoginRequest, Mount,
    Precondition, RenewalError, RenewalRequest, Renewed, RoleChanges, RoleError, RoleWritten,
    Roles, Settings,
};
use gatehouse_ports::doubles::{ManualClock, MemoryStore, ScriptedHttp, SeededRandom};
use gatehouse_ports::{Change, MAXIMUM_KEYS_PER_CALL, NoCache, Put, Store as _};
use serde_json::json;

use crate::google::{EMAIL, FakeGoogle};
use crate::keys;

/// The time at which every test begins.
pub const NOW: u64 = 1_800_000_000;

pub type Service = AuthMethodService<
    &'static MemoryStore<&'static ManualClock>,
    NoCache,
    &'static ScriptedHttp,
    &'static ManualClock,
    SeededRandom,
>;

pub struct Stage {
    pub google: Arc<FakeGoogle>,
    pub clock: &'static ManualClock,
    pub store: &'static MemoryStore<&'static ManualClock>,
    pub http: &'static ScriptedHttp,
    pub service: Service,
    pub mount: Mount,
}

pub fn mount(id: &str) -> Mount {
    Mount {
        id: id.to_owned(),
        accessor: format!("auth_gcp_{id}"),
        path: "gcp/".to_owned(),
        default_lease: 2_764_800,
        maximum_lease: 2_764_800,
    }
}

pub fn key_file() -> String {
    json!({
        "type": "service_account", "project_id": "ops", "private_key_id": "root-key",
        "private_key": keys::of_stranger().private_pem(), "client_email": "root@ops.example",
        "client_id": "999", "token_uri": "https://evil.example/token",
        "universe_domain": "evil.example",
    })
    .to_string()
}

/// Role `dev`: one service account of one project.
pub fn dev_role() -> RoleChanges {
    RoleChanges {
        role_type: Some("iam".to_owned()),
        bound_service_accounts: Some(vec![EMAIL.to_owned()]),
        token_policies: Some(vec!["Prod".to_owned()]),
        ..RoleChanges::default()
    }
}

impl Stage {
    /// Nothing is configured.
    pub fn bare() -> Self {
        Self::with_settings(Settings::default())
    }

    pub fn with_settings(settings: Settings) -> Self {
        let google = Arc::new(FakeGoogle::new());
        let clock: &'static ManualClock = Box::leak(Box::new(ManualClock::at_seconds(NOW)));
        let store: &'static MemoryStore<_> = Box::leak(Box::new(MemoryStore::new(clock)));
        let answering = Arc::clone(&google);
        let http: &'static ScriptedHttp = Box::leak(Box::new(ScriptedHttp::new(move |request| {
            answering.answer(request)
        })));
        Self {
            google,
            clock,
            store,
            http,
            service: AuthMethodService::new(
                store,
                NoCache,
                http,
                clock,
                SeededRandom::new(7),
                settings,
            ),
            mount: mount("m1"),
        }
    }

    /// A stage with credentials and role `dev`.
    pub fn ready() -> Self {
        let stage = Self::bare();
        stage.configure(ConfigChanges {
            credentials: Some(key_file()),
            ..ConfigChanges::default()
        });
        stage.role(dev_role());
        stage
    }

    /// Another instance over the same store and Google.
    pub fn another_instance(&self) -> Service {
        let random = SeededRandom::new(8);
        AuthMethodService::new(
            self.store,
            NoCache,
            self.http,
            self.clock,
            random,
            Settings::default(),
        )
    }

    /// The keys in the store, without those of the index of roles by name.
    pub fn keys(&self) -> Vec<String> {
        let mut keys = self.store.keys();
        keys.retain(|key| !key.contains("/role-name"));
        keys
    }

    /// Puts entries into the store as the release before the index of roles by name did.
    pub fn put_without_index(&self, entries: impl IntoIterator<Item = (String, Vec<u8>)>) {
        let entries: Vec<_> = entries.into_iter().collect();
        for chunk in entries.chunks(MAXIMUM_KEYS_PER_CALL) {
            let changes = chunk.iter().map(|(key, value)| {
                Change::Put(Put {
                    key: key.clone(),
                    value: value.clone(),
                    expires_at: None,
                })
            });
            self.store.commit(Vec::new(), changes.collect()).unwrap();
        }
        let keys = self.store.keys().into_iter();
        let index = keys.filter(|key| key.contains("/role-name"));
        let index: Vec<_> = index.map(Change::Delete).collect();
        for chunk in index.chunks(MAXIMUM_KEYS_PER_CALL) {
            self.store.commit(Vec::new(), chunk.to_vec()).unwrap();
        }
    }

    pub fn configure(&self, changes: ConfigChanges) {
        self.service.write_config(&self.mount, changes).unwrap();
    }

    /// Writes role `dev`.
    pub fn role(&self, changes: RoleChanges) {
        self.write_role("dev", changes).unwrap();
    }

    pub fn write_role(&self, name: &str, changes: RoleChanges) -> Result<RoleWritten, RoleError> {
        self.service
            .write_role(&self.mount, name, changes, Precondition::Any)
    }

    pub fn log_in_from(&self, jwt: &str, address: Option<&str>) -> Result<Identity, LoginError> {
        let request = LoginRequest {
            role: "dev".to_owned(),
            jwt: jwt.to_owned(),
            source_address: address.map(|it| it.parse().unwrap()),
        };
        let before = self.store.commits();
        let outcome = self.service.login(&self.mount, &request);
        assert_eq!(self.store.commits(), before, "a login stores nothing here");
        outcome
    }

    pub fn log_in(&self, jwt: &str) -> Result<Identity, LoginError> {
        self.log_in_from(jwt, Some("192.0.2.1"))
    }

    /// A refused login and how many calls Google saw of it.
    pub fn refuse(&self, jwt: &str) -> (LoginError, usize) {
        let before = self.http.urls().len();
        let error = self.log_in(jwt).unwrap_err();
        (error, self.http.urls().len() - before)
    }

    pub fn renew(&self, identity: &Identity) -> Result<Renewed, RenewalError> {
        self.renew_from(identity, Some("192.0.2.1"))
    }

    pub fn renew_from(
        &self,
        identity: &Identity,
        address: Option<&str>,
    ) -> Result<Renewed, RenewalError> {
        let mut token_policies = vec!["default".to_owned()];
        let folded = identity
            .token
            .policies
            .iter()
            .map(|name| name.to_lowercase());
        token_policies.extend(folded);
        self.service.revalidate(
            &self.mount,
            &RenewalRequest {
                renewal_state: identity.renewal_state.clone(),
                token_policies,
                source_address: address.map(|it| it.parse().unwrap()),
            },
        )
    }
}

#[test]
fn the_service_can_be_shared_between_threads() {
    fn is_shared<T: Send + Sync>(_: &T) {}
    is_shared(&Stage::bare().service);
}
