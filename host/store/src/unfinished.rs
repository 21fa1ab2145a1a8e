//! A first start that was begun and not finished: a mark says so, and what is marked counts for nothing.
//!
//! The mark is set in the commit that makes the keyring and is taken away once everything is stored that belongs to a first start.
//! Whoever finds it wipes the store. It goes last, so that a wipe which is interrupted is begun again.

use gatehouse_ports::{Change, CommitError, StoreError};

use crate::sealed::KEYRING_KEY;
use crate::shares::SEAL_KEY;
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

/// Whether the mark is set.
pub async fn is_marked(backend: &impl Backend) -> Result<bool, StoreError> {
    let mark = backend.get(Namespace::Keyring, &[MARK_KEY]).await?;
    Ok(mark.into_iter().any(|entry| entry.is_some()))
}

/// Takes the mark away: what was begun is finished.
pub async fn clear_mark(backend: &impl Backend) -> Result<(), StoreError> {
    commit(backend, Namespace::Keyring, vec![delete(MARK_KEY)]).await
}

/// Empties the store if it is marked.
pub async fn discard_if_marked(backend: &impl Backend) -> Result<(), StoreError> {
    if is_marked(backend).await? {
        wipe(backend).await?;
    }
    Ok(())
}

/// Empties the store, marked or not.
pub async fn discard(backend: &impl Backend) -> Result<(), StoreError> {
    commit(backend, Namespace::Keyring, vec![set_mark()]).await?;
    wipe(backend).await
}

async fn wipe(backend: &impl Backend) -> Result<(), StoreError> {
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
    let last = [KEYRING_KEY, SEAL_KEY, MARK_KEY].map(delete);
    commit(backend, Namespace::Keyring, last.to_vec()).await
}

fn delete(key: &str) -> Change {
    let key = key.to_owned();
    Change::Delete { key }
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
