//! The marker of a first start that has not finished: a store that has it holds nothing that counts.
//!
//! The mark is set in the commit that makes the keyring and is taken away once everything is stored that belongs to a first start.
//! A host that opens a store and finds the mark wipes the store. The mark goes last, so that a wipe which is interrupted is begun again.
//!
//! Only the host that has the store may do so: a file is locked, and a database is held by one server, whose commits are refused once another
//! one has it (`PostgresBackend::open_alone`). So no host wipes what another one is in the middle of, but only what was given up.
//!
//! A host that is running knows its own first start by the sealed keyring, of which there are no two alike. It ends and undoes no other.

use gatehouse_ports::{Change, Check, CommitError, Entry, Requirement, StoreError};

use crate::layout::{GENERATION_KEY, KEYRING_KEY, KEYS_KEY, SEAL_KEY};
use crate::{Backend, Namespace};

const MARK_KEY: &str = "initialization";

/// Layout of the mark: nothing but this byte.
const FORMAT: u8 = 1;

/// How many records are deleted in one commit.
const RECORDS_PER_COMMIT: u32 = 256;

/// The key under which the mark is.
pub fn mark_key() -> String {
    MARK_KEY.to_owned()
}

/// Sets the mark.
pub fn set_mark() -> Change {
    Change::Put {
        key: mark_key(),
        value: vec![FORMAT],
        expires_at: None,
    }
}

/// Takes the mark away: the first start that stored `sealed_keyring` is finished. Says whether it was there to be finished.
pub async fn clear_mark(backend: &impl Backend, sealed_keyring: &[u8]) -> Result<bool, StoreError> {
    let [Some(keyring), Some(mark)] = read(backend).await? else {
        return Ok(false);
    };
    if keyring.value != sealed_keyring {
        return Ok(false);
    }
    let checks = vec![unchanged(KEYRING_KEY, &keyring), unchanged(MARK_KEY, &mark)];
    commit_if(backend, checks, vec![delete(MARK_KEY)]).await
}

/// Tells whether the first start that stored `sealed_keyring` is finished.
pub async fn counts(backend: &impl Backend, sealed_keyring: &[u8]) -> Result<bool, StoreError> {
    let [keyring, mark] = read(backend).await?;
    Ok(mark.is_none() && keyring.is_some_and(|keyring| keyring.value == sealed_keyring))
}

/// Empties the store if it is marked.
pub async fn discard_if_marked(backend: &impl Backend) -> Result<(), StoreError> {
    let [_, mark] = read(backend).await?;
    if mark.is_some() {
        wipe(backend).await?;
    }
    Ok(())
}

/// Empties the store of the first start that stored `sealed_keyring`, marked or not. Says whether the store has no keyring then; it
/// keeps that of another one.
pub async fn discard(backend: &impl Backend, sealed_keyring: &[u8]) -> Result<bool, StoreError> {
    let absent = Check {
        key: KEYRING_KEY.to_owned(),
        requirement: Requirement::Absent,
    };
    // A commit and no read: a commit without a waiting caller may be stored only now, and this comes after it.
    if commit_if(backend, vec![absent], Vec::new()).await? {
        return Ok(true);
    }
    let [Some(keyring), _] = read(backend).await? else {
        // Another host has just wiped it.
        return Ok(true);
    };
    if keyring.value != sealed_keyring {
        return Ok(false);
    }
    let own = vec![unchanged(KEYRING_KEY, &keyring)];
    let is_marked = commit_if(backend, own, vec![set_mark()]).await?;
    if is_marked {
        wipe(backend).await?;
    }
    Ok(is_marked)
}

/// Empties the store, but for what others keep beside the keyring.
pub async fn wipe(backend: &impl Backend) -> Result<(), StoreError> {
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
            commit(backend, namespace, deletions).await?;
        }
    }
    let last = [KEYRING_KEY, SEAL_KEY, KEYS_KEY, GENERATION_KEY, MARK_KEY].map(delete);
    commit(backend, Namespace::Keyring, last.to_vec()).await
}

fn delete(key: &str) -> Change {
    let key = key.to_owned();
    Change::Delete { key }
}

/// Keyring and mark.
async fn read(backend: &impl Backend) -> Result<[Option<Entry>; 2], StoreError> {
    let keys = [KEYRING_KEY, MARK_KEY];
    let mut entries = backend.get(Namespace::Keyring, &keys).await?.into_iter();
    Ok([(); 2].map(|()| entries.next().flatten()))
}

fn unchanged(key: &str, entry: &Entry) -> Check {
    Check {
        key: key.to_owned(),
        requirement: Requirement::AtVersion(entry.version),
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

async fn commit(
    backend: &impl Backend,
    namespace: Namespace,
    changes: Vec<Change>,
) -> Result<(), StoreError> {
    match backend.commit(namespace, vec![], changes).await {
        Ok(()) => Ok(()),
        Err(CommitError::Failed(error)) => Err(error),
        // Without checks there is nothing to conflict with.
        Err(CommitError::Conflict(key)) => Err(StoreError::Unavailable(format!(
            "an unconditional change of {key} was refused"
        ))),
    }
}
