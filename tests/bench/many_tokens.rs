//! A durable store with very many live tokens, made by the capability itself and without a request for each.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result, anyhow};
use gatehouse_access::{Access, AccessService, LoginGrant, Operation, Request, TokenParameters};
use gatehouse_ports::{
    Change, Check, CommitError, Entry, OsRandom, Page, Store, StoreError, SystemClock,
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
    let access = AccessService::new(&store, SystemClock, OsRandom);
    let grant = grant(&access)?;
    let issue = |_| {
        let issued = access.issue_login(&grant)?;
        anyhow::Ok(issued.client_token.expose().to_owned())
    };
    let tokens = (0..count).map(issue).collect::<Result<_>>()?;
    store.finish()?;
    Ok(tokens)
}

/// What a login of the workload earns.
fn grant(access: &impl Access) -> Result<LoginGrant> {
    let admission = access.admit(&Request {
        token: None,
        operation: Operation::Update,
        path: "auth/gcp/login",
        parameters: None,
        wrap_ttl: None,
        source_address: None,
    })?;
    let mount = admission.mount.context("no mount at gcp/")?;
    let fact = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    Ok(LoginGrant {
        mount_id: mount.id,
        mount_path: mount.path,
        alias_name: "workload-in-bulk".to_owned(),
        metadata: BTreeMap::from([
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

/// A store that gathers changes which nobody has to check, and commits many of them together.
struct GatheringStore {
    runtime: Runtime,
    store: PrivateStore,
    gathered: Mutex<Gathered>,
}

#[derive(Default)]
struct Gathered {
    changes: Vec<Change>,
    commits: JoinSet<Result<(), CommitError>>,
}

impl GatheringStore {
    /// Waits until everything is durable.
    fn finish(&self) -> Result<()> {
        let mut gathered = self.gathered.lock().map_err(|_| anyhow!("poisoned"))?;
        self.start_commit(&mut gathered);
        Ok(self.wait_for(&mut gathered, 0)?)
    }

    fn start_commit(&self, gathered: &mut Gathered) {
        let changes = std::mem::take(&mut gathered.changes);
        let store = self.store.clone();
        let commit = async move { store.commit(Vec::new(), changes).await };
        gathered.commits.spawn_on(commit, self.runtime.handle());
    }

    /// Waits until no more than so many commits are under way.
    fn wait_for(&self, gathered: &mut Gathered, remaining: usize) -> Result<(), CommitError> {
        while gathered.commits.len() > remaining {
            let next = gathered.commits.join_next();
            if let Some(committed) = self.runtime.block_on(next) {
                committed.expect("no commit panics")?;
            }
        }
        Ok(())
    }
}

impl Store for GatheringStore {
    fn get(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        self.runtime.block_on(self.store.get(keys))
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError> {
        self.runtime.block_on(self.store.scan(prefix, after, limit))
    }

    fn commit(&self, checks: Vec<Check>, changes: Vec<Change>) -> Result<(), CommitError> {
        // The first login makes the identity, which every later one reads.
        if !checks.is_empty() {
            return self.runtime.block_on(self.store.commit(checks, changes));
        }
        let mut gathered = self.gathered.lock().expect("nobody panics");
        gathered.changes.extend(changes);
        if gathered.changes.len() >= CHANGES_AT_ONCE {
            self.start_commit(&mut gathered);
            self.wait_for(&mut gathered, COMMITS_AT_ONCE)?;
        }
        Ok(())
    }
}
