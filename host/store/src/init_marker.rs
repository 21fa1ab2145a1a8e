//! The marker of a first start that has not finished: a store that has it holds nothing that counts.
//!
//! The mark is set in the commit that makes the keyring, and is taken away once everything that belongs to a first start is stored.
//! A host that opens a store and finds the mark of a first start that was given up wipes the store. The mark goes last, so that a wipe which
//! is interrupted is begun again.
//!
//! **The owner of the mark**: the mark holds a random name, and the host that made up the name owns it. All that a first start and a wipe
//! write is committed [under](Backend::commit_under) the version of the owner's mark. So once another host has set its own, nothing of the
//! former owner reaches the store any more, however long it was stopped and whatever it believes.
//!
//! **Given up or not**: where no other host can have the store, a mark that is found is given up. In a store that several hosts share, its
//! owner renews a lease beside it every second, and a mark is given up if mark and lease kept their versions for five seconds, by the clock of
//! the host that waits: no clocks are compared. An owner that was wrongly taken for dead loses its first start and nothing else.
//!
//! A host that is running knows its own first start by the sealed keyring, which is unique. It ends and undoes no other first start.

use std::time::Duration;

use gatehouse_ports::{
    Change, Check, CommitError, Entry, OsRandom, Random as _, RandomError, Requirement, StoreError,
    Version,
};
use tokio::time::{Instant, sleep};

use crate::layout::{
    GENERATION_KEY, HANDOVER_KEY, KEYRING_KEY, KEYS_KEY, SEAL_KEY, SEAL_ORDERS_KEY, put,
};
use crate::{Backend, Guard, Namespace, UnsealError};

const MARK_KEY: &str = "initialization";
const LEASE_KEY: &str = "initialization-lease";

/// Layout of the mark: this byte and the name of its owner. A mark of an earlier version, which is 1 and nothing else, has no owner.
const FORMAT: u8 = 2;
/// Layout of the lease: nothing but this byte.
const LEASE_FORMAT: u8 = 1;
const NAME_BYTES: usize = 16;

/// How many records are deleted in one commit.
const RECORDS_PER_COMMIT: u32 = 256;

/// How often the owner of a mark renews its lease.
pub const RENEWED_EVERY: Duration = Duration::from_secs(1);
/// The time without a change after which a mark is given up.
pub const LEASE: Duration = Duration::from_secs(5);
/// How often a host that waits for another host's first start looks at it.
pub const LOOKED_AT_EVERY: Duration = Duration::from_millis(100);
/// How long a host that is starting waits for a first start that is under way.
const PATIENCE: Duration = Duration::from_secs(60);

/// The key of the mark.
pub fn mark_key() -> String {
    MARK_KEY.to_owned()
}

/// The owner of a mark, or of a mark that is to be set.
pub struct Owner([u8; NAME_BYTES]);

impl Owner {
    /// A new one.
    pub fn generate() -> Result<Self, RandomError> {
        let mut name = [0; NAME_BYTES];
        OsRandom.fill(&mut name)?;
        Ok(Self(name))
    }

    /// Sets its mark, with a lease that has just begun.
    pub fn set_mark(&self) -> [Change; 2] {
        let mark = [&[FORMAT], &self.0[..]].concat();
        [put(MARK_KEY, mark), put(LEASE_KEY, vec![LEASE_FORMAT])]
    }

    /// The guard of what it writes, as long as the mark is its own.
    pub async fn guard(&self, backend: &impl Backend) -> Result<Option<Guard>, StoreError> {
        let [_, mark, _] = read(backend).await?;
        let own = mark.filter(|mark| mark.value.split_first() == Some((&FORMAT, &self.0[..])));
        Ok(own.map(|mark| Guard {
            key: mark_key(),
            version: mark.version,
        }))
    }

    /// Takes the store over if `checks` hold, and empties it. Answers true if they held and no other host took the store over in turn.
    async fn take_over(backend: &impl Backend, checks: Vec<Check>) -> Result<bool, StoreError> {
        let no_name = |error: RandomError| StoreError::Unavailable(error.to_string());
        let owner = Self::generate().map_err(no_name)?;
        if !commit_if(backend, checks, owner.set_mark().to_vec()).await? {
            return Ok(false);
        }
        let Some(guard) = owner.guard(backend).await? else {
            return Ok(false);
        };
        wipe(backend, &guard).await?;
        Ok(true)
    }
}

/// Renews the lease of a mark; says whether it is still the owner's.
pub async fn renew(backend: &impl Backend, guard: &Guard) -> Result<bool, StoreError> {
    commit_if(
        backend,
        vec![guard.check()],
        vec![put(LEASE_KEY, vec![LEASE_FORMAT])],
    )
    .await
}

/// Takes the mark away: the first start that stored `sealed_keyring` is finished. Says whether it was there to be finished.
pub async fn clear_mark(
    backend: &impl Backend,
    sealed_keyring: &[u8],
    guard: &Guard,
) -> Result<bool, StoreError> {
    let [Some(keyring), _, _] = read(backend).await? else {
        return Ok(false);
    };
    if keyring.value != sealed_keyring {
        return Ok(false);
    }
    let checks = vec![unchanged(KEYRING_KEY, &keyring), guard.check()];
    let changes = vec![delete(MARK_KEY), delete(LEASE_KEY)];
    commit_if(backend, checks, changes).await
}

/// Tells whether the first start that stored `sealed_keyring` is finished.
pub async fn counts(backend: &impl Backend, sealed_keyring: &[u8]) -> Result<bool, StoreError> {
    let [keyring, mark, _] = read(backend).await?;
    Ok(mark.is_none() && keyring.is_some_and(|keyring| keyring.value == sealed_keyring))
}

/// Waits until no first start is under way, and empties the store of one that was given up.
///
/// # Errors
///
/// [`UnsealError::Unfinished`] if another host's first start is under way for longer than one can take, and when the backend fails.
pub async fn settle(backend: &impl Backend) -> Result<(), UnsealError> {
    let deadline = Instant::now() + PATIENCE;
    let mut watch = Watch::default();
    while watch.look(backend).await? != Standing::Unmarked {
        if Instant::now() >= deadline {
            return Err(UnsealError::Unfinished);
        }
        sleep(LOOKED_AT_EVERY).await;
    }
    Ok(())
}

/// The state of a store as far as first starts are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// None is under way.
    Unmarked,
    /// One is under way, or was given up so lately that it cannot be told yet.
    UnderWay,
}

/// Watches the first start of another host.
#[derive(Default)]
pub struct Watch {
    /// The versions of mark and lease, and since when they are known.
    seen: Option<([Option<Version>; 2], Instant)>,
}

impl Watch {
    /// Looks at the mark. Empties the store if it was given up.
    pub async fn look(&mut self, backend: &impl Backend) -> Result<Standing, StoreError> {
        let before = Instant::now();
        let [_, mark, lease] = read(backend).await?;
        let Some(mark) = mark else {
            self.seen = None;
            return Ok(Standing::Unmarked);
        };
        let versions = [
            Some(mark.version),
            lease.as_ref().map(|lease| lease.version),
        ];
        if backend.is_shared() {
            let since = match self.seen {
                Some((seen, since)) if seen == versions => since,
                _ => Instant::now(),
            };
            self.seen = Some((versions, since));
            if before.saturating_duration_since(since) < LEASE {
                return Ok(Standing::UnderWay);
            }
        }
        // A mark whose lease is renewed at the last moment is not given up.
        let lease = match &lease {
            Some(lease) => unchanged(LEASE_KEY, lease),
            None => absent(LEASE_KEY),
        };
        let checks = vec![unchanged(MARK_KEY, &mark), lease];
        if !Owner::take_over(backend, checks).await? {
            return Ok(Standing::UnderWay);
        }
        self.seen = None;
        Ok(Standing::Unmarked)
    }
}

/// Empties the store of the first start that stored `sealed_keyring`, marked or not. Answers true if the store has no keyring then; the
/// keyring of another first start stays.
pub async fn discard(backend: &impl Backend, sealed_keyring: &[u8]) -> Result<bool, StoreError> {
    // A commit and no read: a commit without a waiting caller may be stored only now, and this comes after it.
    if commit_if(backend, vec![absent(KEYRING_KEY)], Vec::new()).await? {
        return Ok(true);
    }
    let [Some(keyring), _, _] = read(backend).await? else {
        // Another host has just wiped it.
        return Ok(true);
    };
    if keyring.value != sealed_keyring {
        return Ok(false);
    }
    let own = vec![unchanged(KEYRING_KEY, &keyring)];
    Owner::take_over(backend, own).await
}

/// Empties the store, except for entries that others keep beside the keyring. The caller owns the entry of `guard`; once it does not, nothing
/// more is written.
pub async fn wipe(backend: &impl Backend, guard: &Guard) -> Result<(), StoreError> {
    let mut renewed = Instant::now();
    let others = Namespace::ALL.into_iter();
    for namespace in others.filter(|namespace| *namespace != Namespace::Keyring) {
        loop {
            let page = backend
                .scan(namespace, "", None, RECORDS_PER_COMMIT)
                .await?;
            if page.items.is_empty() {
                break;
            }
            let deletions = page.items.iter().map(|item| delete(&item.key)).collect();
            let deleted = backend.commit_under(guard.clone(), namespace, vec![], deletions);
            deleted.await.map_err(refused)?;
            if backend.is_shared() && renewed.elapsed() >= RENEWED_EVERY {
                renewed = Instant::now();
                renew(backend, guard).await?;
            }
        }
    }
    let last = [
        KEYRING_KEY,
        SEAL_KEY,
        KEYS_KEY,
        GENERATION_KEY,
        HANDOVER_KEY,
        SEAL_ORDERS_KEY,
        MARK_KEY,
        LEASE_KEY,
    ];
    let last = last.map(delete).to_vec();
    if commit_if(backend, vec![guard.check()], last).await? {
        return Ok(());
    }
    Err(refused(Guard::lost()))
}

fn delete(key: &str) -> Change {
    let key = key.to_owned();
    Change::Delete(key)
}

/// Keyring, mark and lease.
async fn read(backend: &impl Backend) -> Result<[Option<Entry>; 3], StoreError> {
    let keys = [KEYRING_KEY, MARK_KEY, LEASE_KEY];
    let mut entries = backend.get(Namespace::Keyring, &keys).await?.into_iter();
    Ok([(); 3].map(|()| entries.next().flatten()))
}

fn unchanged(key: &str, entry: &Entry) -> Check {
    Check {
        key: key.to_owned(),
        requirement: Requirement::AtVersion(entry.version),
    }
}

fn absent(key: &str) -> Check {
    Check {
        key: key.to_owned(),
        requirement: Requirement::Absent,
    }
}

/// Changes what is beside the keyring if all checks hold; says whether they did.
async fn commit_if(
    backend: &impl Backend,
    checks: Vec<Check>,
    changes: Vec<Change>,
) -> Result<bool, StoreError> {
    match backend.commit(Namespace::Keyring, checks, changes).await {
        Ok(()) => Ok(true),
        Err(CommitError::Conflict(_)) => Ok(false),
        Err(CommitError::Failed(error)) => Err(error),
    }
}

fn refused(error: CommitError) -> StoreError {
    match error {
        CommitError::Failed(error) => error,
        // Without checks there is nothing to conflict with.
        CommitError::Conflict(key) => {
            StoreError::Unavailable(format!("an unconditional change of {key} was refused"))
        }
    }
}
