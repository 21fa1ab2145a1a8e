//! A durable store with very many live tokens, made by the capability itself and without a request for each.

use std::path::Path;
use std::sync::Mutex;

use anyhow::{Context, Result, anyhow};
use gatehouse_access::{
    Access, AccessService, LoginGrant, Logins as _, Operation, Request, Settings, TokenParameters,
};
use gatehouse_ports::{
    Change, Check, CommitError, Difference, Entry, HeldKey, OsRandom, Page, Store, StoreError,
    SystemClock,
};
use gatehouse_store::Namespace;

use crate::stopped_store::StoppedStore;

/// Logs a workload in at the mount `gcp/` so many times, in the store of a server that is not running, and returns the tokens.
///
/// # Errors
///
/// When the store cannot be opened or a login fails.
pub fn issue(installation: &Path, count: usize) -> Result<Vec<String>> {
    let store = GatheringStore {
        stopped: StoppedStore::open(installation, Namespace::Access)?,
        gathered: Mutex::default(),
    };
    // Without a quota: so many are as many as one mount may have.
    let settings = |name: &str| (name == "GATEHOUSE_LIVE_TOKENS_PER_MOUNT").then(|| "0".to_owned());
    let access = AccessService::new(&store, SystemClock, OsRandom)
        .with_settings(Settings::from_variables(settings));
    let grant = grant(&access)?;
    let issue = |_| {
        let issued = access.issue_login(&grant)?;
        anyhow::Ok(issued.client_token.clone())
    };
    // The first one alone, for it makes the identity.
    let first = issue(0)?;
    let issue_half = |count| (0..count).map(issue).collect::<Result<Vec<String>>>();
    let half = count.saturating_sub(1) / 2;
    let tokens = std::thread::scope(|scope| {
        let others = scope.spawn(|| issue_half(half));
        let mut tokens = issue_half(count - 1 - half)?;
        tokens.extend(others.join().expect("nobody panics")?);
        tokens.push(first);
        anyhow::Ok(tokens)
    })?;
    drop(access);
    store.finish()?;
    Ok(tokens)
}

/// The grant that a login of the workload earns.
fn grant(access: &impl Access) -> Result<LoginGrant> {
    let admission = access.admit(&Request {
        token: None,
        operation: Operation::Update,
        path: "auth/gcp/login".into(),
        parameters: None,
        wrap_ttl: None,
        source_address: None,
    })?;
    let mount = admission.mount.context("no mount at gcp/")?;
    let fact = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    Ok(LoginGrant {
        mount_id: mount.id,
        mount_path: mount.path,
        role: "dev".to_owned(),
        alias_name: "workload-in-bulk".to_owned(),
        metadata: Vec::from([
            fact("project_id", "demo-project"),
            fact("role", "dev"),
            fact("service_account_email", gatehouse_tests::WORKLOAD),
            fact("service_account_id", "146962245930852870482"),
        ]),
        display_name: gatehouse_tests::WORKLOAD.to_owned(),
        group_aliases: None,
        parameters: TokenParameters {
            policies: vec!["demo".to_owned()],
            ..TokenParameters::default()
        },
        renewal_state: vec![b'x'; 128],
        source_address: None,
    })
}

/// A store that gathers changes which need no check, and commits them all at the end.
struct GatheringStore {
    stopped: StoppedStore,
    gathered: Mutex<Vec<Change>>,
}

impl GatheringStore {
    /// Commits everything and waits until it is durable.
    fn finish(self) -> Result<()> {
        let mut changes = self
            .gathered
            .into_inner()
            .map_err(|_| anyhow!("poisoned"))?;
        changes.sort_unstable_by(|left, right| left.key().cmp(right.key()));
        self.stopped.fill(changes)
    }
}

impl Store for GatheringStore {
    fn get(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        self.stopped.get(keys)
    }

    fn get_changed(&self, keys: &[HeldKey]) -> Result<Vec<Difference>, StoreError> {
        self.stopped.get_changed(keys)
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError> {
        self.stopped.scan(prefix, after, limit)
    }

    fn commit(&self, checks: Vec<Check>, changes: Vec<Change>) -> Result<(), CommitError> {
        // The first login makes the identity, which every later one reads.
        if !checks.is_empty() {
            return self.stopped.commit(checks, changes);
        }
        self.gathered.lock().expect("nobody panics").extend(changes);
        Ok(())
    }
}
