//! Restores that are cut off at any of their writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use gatehouse_ports::{Change, Check, CommitError, Difference, HeldKey, Page, StoreError, Version};
use gatehouse_store::{
    Answer, Backend, BackupError, Namespace, ShareSeal, Snapshot, UnsealError, Unsealed,
};

use super::{Below, above, backup, content, fill, memory, open, private, restore};
use crate::subject::{put, root_key, value};

/// A backend that is gone after some writes.
struct Dying {
    below: Below,
    writes_left: AtomicU32,
}

impl Dying {
    fn fails(&self) -> Result<(), StoreError> {
        let left = self.writes_left.load(Ordering::SeqCst);
        if left == 0 {
            return Err(StoreError::Unavailable("the machine is gone".to_owned()));
        }
        self.writes_left.store(left - 1, Ordering::SeqCst);
        Ok(())
    }
}

impl Backend for Dying {
    fn get_changed<'a>(
        &'a self,
        namespace: Namespace,
        keys: &'a [HeldKey],
    ) -> Answer<'a, Result<Vec<Difference>, StoreError>> {
        self.below.get_changed(namespace, keys)
    }

    fn scan<'a>(
        &'a self,
        namespace: Namespace,
        prefix: &'a str,
        after: Option<&'a str>,
        limit: u32,
    ) -> Answer<'a, Result<Page, StoreError>> {
        self.below.scan(namespace, prefix, after, limit)
    }

    fn commit(
        &self,
        namespace: Namespace,
        checks: Vec<Check>,
        changes: Vec<Change>,
    ) -> Answer<'_, Result<(), CommitError>> {
        Box::pin(async move {
            self.fails()?;
            self.below.commit(namespace, checks, changes).await
        })
    }

    fn snapshot(&self) -> Answer<'_, Result<Box<dyn Snapshot>, StoreError>> {
        self.below.snapshot()
    }

    fn skip_versions(&self, version: Version) -> Answer<'_, Result<(), StoreError>> {
        Box::pin(async move {
            self.fails()?;
            self.below.skip_versions(version).await
        })
    }
}

async fn starts_nowhere(below: &Below) {
    let before = content(below).await;
    let by_file = above(below).unseal(&root_key()).await;
    assert_eq!(by_file, Err(UnsealError::RestoreUnfinished));
    let by_shares = ShareSeal::open(above(below), Duration::ZERO).await;
    assert_eq!(by_shares.err(), Some(UnsealError::RestoreUnfinished));
    assert_eq!(content(below).await, before);
    let unfinished = gatehouse_store::Backup::begin(below, root_key(), None, 0).await;
    let error = unfinished.err();
    assert!(matches!(
        error,
        Some(BackupError::Unfinished | BackupError::Empty)
    ));
}

#[tokio::test]
async fn s11_a_restore_that_is_cut_off_at_any_write_starts_nowhere_and_can_be_repeated() {
    let source = memory();
    let sealed = open(&source).await;
    fill(&sealed).await;
    let made = backup(&sealed).await.unwrap();
    let expected = content(&source).await;
    let mut writes = 0;
    loop {
        let below = memory();
        let dying: Below = Arc::new(Dying {
            below: below.clone(),
            writes_left: AtomicU32::new(writes),
        });
        let outcome = restore(&made, &dying).await;
        if outcome.is_ok() {
            break;
        }
        if writes > 0 {
            starts_nowhere(&below).await;
        }
        // Cut off a second time while it empties the store.
        let dying: Below = Arc::new(Dying {
            below: below.clone(),
            writes_left: AtomicU32::new(2),
        });
        assert!(restore(&made, &dying).await.is_err());
        starts_nowhere(&below).await;

        restore(&made, &below).await.unwrap();
        assert_eq!(content(&below).await, expected, "after {writes} writes");
        assert_eq!(
            above(&below).unseal(&root_key()).await,
            Ok(Unsealed::Opened)
        );
        writes += 1;
    }
    // Mark, versions, four namespaces, and the last one.
    assert_eq!(writes, 7);
}

#[tokio::test]
async fn s11_a_repeated_restore_leaves_nothing_of_the_one_before() {
    let source = memory();
    let sealed = open(&source).await;
    let access = private(&sealed, Namespace::Access);
    access.commit(vec![], vec![put("old", "")]).await.unwrap();
    let first = backup(&sealed).await.unwrap();
    let deleted = vec![Change::Delete("old".to_owned())];
    access.commit(vec![], deleted).await.unwrap();
    access.commit(vec![], vec![put("new", "")]).await.unwrap();
    let second = backup(&sealed).await.unwrap();

    let target = memory();
    let dying: Below = Arc::new(Dying {
        below: target.clone(),
        writes_left: AtomicU32::new(3),
    });
    assert!(restore(&first, &dying).await.is_err());
    restore(&second, &target).await.unwrap();
    let restored = open(&target).await;
    let access = private(&restored, Namespace::Access);
    assert_eq!(value(&access, "old").await, None);
    assert_eq!(value(&access, "new").await.as_deref(), Some(""));
}
