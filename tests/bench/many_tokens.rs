//! A durable store with very many live tokens, made by the capability itself and without a request for each.

use std::path::Path;
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result, anyhow};
use gatehouse_access::{
    Access, AccessService, LoginGrant, Logins as _, Operation, Request, Settings, TokenParameters,
};
use gatehouse_ports::{
    Change, Check, CommitError, Difference, Entry, HeldKey, OsRandom, Page, Store, StoreError,
    SystemClock,
};
use gatehouse_store::{
    Backend, Namespace, PrivateStore, RedbBackend, SealedBackend, read_key_file,
};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

/// Changes that are committed together: as many as a store takes, less those of one token.
const CHANGES_AT_ONCE: usize = 1000;
/// Commits under way at one time, which the backend makes durable together.
const COMMITS_AT_ONCE: usize = 64;

/// Logs a workload in at the mount `gcp/` so many times, in the store of a server that is not running, and returns the tokens.
///
/// # Errors
///
/// When the store cannot be opened or a login fails.
pub fn issue(installation: &Path, count: usize) -> Result<Vec<String>> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let clock = Arc::new(SystemClock);
    let file = installation.join("data").join("gatehouse.redb");
    let sealed = SealedBackend::new(RedbBackend::open(&file, clock.clone())?, clock);
    let key = read_key_file(&installation.join("seal.key"))?;
    runtime.block_on(sealed.unseal(&key))?;
    let backend: Arc<dyn Backend> = Arc::new(sealed);
    let store = GatheringStore {
        runtime,
        store: PrivateStore::new(backend, Namespace::Access),
        gathered: Mutex::default(),
    };
    // Without a quota: so many are as many as one mount may have.
    let settings = |name: &str| (name == "GATEHOUSE_LIVE_TOKENS_PER_MOUNT").then(|| "0".to_owned());
    let access = AccessService::new(&store, SystemClock, OsRandom)
        .with_settings(Settings::from_variables(settings));
    let grant = grant(&access)?;
    let issue = |_| {
        let issued = access.issue_login(&grant)?;
        anyhow::Ok(issued.client_token.expose().to_owned())
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

/// A store that gathers changes which need no check, and commits them in the order of their keys: a tree that is filled in another
/// order writes every page of it again and again.
struct GatheringStore {
    runtime: Runtime,
    store: PrivateStore,
    gathered: Mutex<Vec<Change>>,
}

impl GatheringStore {
    /// Commits everything and waits until it is durable.
    fn finish(self) -> Result<()> {
        let mut changes = self
            .gathered
            .into_inner()
            .map_err(|_| anyhow!("poisoned"))?;
        changes.sort_unstable_by(|left, right| key(left).cmp(key(right)));
        let mut changes = changes.into_iter().peekable();
        self.runtime.block_on(async {
            let mut commits = JoinSet::new();
            while changes.peek().is_some() {
                let together: Vec<Change> = changes.by_ref().take(CHANGES_AT_ONCE).collect();
                let store = self.store.clone();
                commits.spawn(async move { store.commit(Vec::new(), together).await });
                if commits.len() >= COMMITS_AT_ONCE
                    && let Some(committed) = commits.join_next().await
                {
                    committed??;
                }
            }
            while let Some(committed) = commits.join_next().await {
                committed??;
            }
            Ok(())
        })
    }
}

fn key(change: &Change) -> &str {
    match change {
        Change::Put { key, .. } | Change::Delete { key } => key,
    }
}

impl Store for GatheringStore {
    fn get(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        self.runtime.block_on(self.store.get(keys))
    }

    fn get_changed(&self, keys: &[HeldKey<'_>]) -> Result<Vec<Difference>, StoreError> {
        self.runtime.block_on(self.store.get_changed(keys))
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError> {
        self.runtime.block_on(self.store.scan(prefix, after, limit))
    }

    fn commit(&self, checks: Vec<Check>, changes: Vec<Change>) -> Result<(), CommitError> {
        // The first login makes the identity, which every later one reads.
        if !checks.is_empty() {
            return self.runtime.block_on(self.store.commit(checks, changes));
        }
        self.gathered.lock().expect("nobody panics").extend(changes);
        Ok(())
    }
}
