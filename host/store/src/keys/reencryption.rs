//! Sealing anew what an earlier key has sealed.

use gatehouse_barrier::Barrier;
use gatehouse_ports::{Change, Check, CommitError, Item, OsRandom, Put, Requirement, StoreError};

use super::Tended;
use super::record::{KeyRecord, Pass};
use crate::layout::unsealable;
use crate::sealed::{Opened, address};
use crate::{Backend, Namespace, SealedBackend};

/// How many records are looked at together; what of them is sealed anew is one commit.
const PAGE: u32 = 64;
/// How many pages one call looks at.
const PAGES: u32 = 8;

/// The namespaces that are walked, in this order. The records beside the keyring are sealed anew together with the keyring.
const WALKED: [Namespace; 4] = [
    Namespace::AuthMethod,
    Namespace::Access,
    Namespace::Orgs,
    Namespace::Host,
];

impl<B: Backend> SealedBackend<B> {
    /// Continues the pass of `record`, and notes there how far it got.
    pub(super) async fn reseal_some(
        &self,
        opened: &Opened,
        record: &mut KeyRecord,
        tended: &mut Tended,
    ) -> Result<(), StoreError> {
        if record.pass == Pass::Idle {
            if !self.former_barriers_are_gone() {
                tended.more = true;
                return Ok(());
            }
            // A commit whose caller did not wait for it may be queued still; this one comes after it.
            self.commit_below(opened, Namespace::Keyring, vec![], vec![])
                .await?;
            record.pass = Pass::UnderWay {
                namespace: 0,
                after: String::new(),
            };
        }
        for _ in 0..PAGES {
            let Pass::UnderWay { namespace, after } = &record.pass else {
                break;
            };
            let Some(walked) = WALKED.get(usize::from(*namespace)) else {
                record.pass = Pass::Ended;
                break;
            };
            let from = Some(after.as_str()).filter(|after| !after.is_empty());
            let page = self.backend().scan(*walked, "", from, PAGE).await?;
            let last = page.items.last().map(|item| item.key.clone());
            let next = *namespace;
            match self.reseal(opened, *walked, page.items).await? {
                Some(resealed) => tended.resealed += resealed,
                None => {
                    tended.blocked = true;
                    record.pass = Pass::Blocked;
                    break;
                }
            }
            record.pass = match last {
                Some(after) if page.more => Pass::UnderWay {
                    namespace: next,
                    after,
                },
                _ => Pass::UnderWay {
                    namespace: next.saturating_add(1),
                    after: String::new(),
                },
            };
        }
        if let Pass::UnderWay { namespace, .. } = &record.pass
            && usize::from(*namespace) >= WALKED.len()
        {
            record.pass = Pass::Ended;
        }
        tended.more = matches!(record.pass, Pass::UnderWay { .. });
        Ok(())
    }

    /// Seals anew those of `items` that need it; `None` where one of them does not open. What a writer has changed meanwhile was
    /// sealed by the active key then, and is left alone.
    async fn reseal(
        &self,
        opened: &Opened,
        namespace: Namespace,
        items: Vec<Item>,
    ) -> Result<Option<u32>, StoreError> {
        let barrier = &opened.barrier;
        let mut work = Vec::new();
        for Item { key, entry } in items {
            if Barrier::term_of(&entry.value) == Some(barrier.active_term()) {
                continue;
            }
            let Ok(record) = barrier.open(address(namespace, &key), entry.value) else {
                return Ok(None);
            };
            let value = zeroize::Zeroizing::new(record.value);
            let sealed = barrier.seal(
                address(namespace, &key),
                &value,
                record.expires_at,
                &OsRandom,
            );
            let change = Change::Put(Put {
                key: key.clone(),
                value: sealed.map_err(unsealable)?,
                expires_at: record.expires_at,
            });
            let requirement = Requirement::AtVersion(entry.version);
            work.push((Check { key, requirement }, change));
        }
        if work.is_empty() {
            return Ok(Some(0));
        }
        let count = u32::try_from(work.len()).unwrap_or(u32::MAX);
        let (checks, changes) = work.iter().cloned().unzip();
        if self
            .commit_below(opened, namespace, checks, changes)
            .await?
        {
            return Ok(Some(count));
        }
        let mut resealed = 0;
        for (check, change) in work {
            let alone = self.commit_below(opened, namespace, vec![check], vec![change]);
            resealed += u32::from(alone.await?);
        }
        Ok(Some(resealed))
    }

    /// Commits below the barrier; says whether the checks held. Fails where another host has changed the keyring: what that one writes now
    /// may need another key than what is being written here.
    async fn commit_below(
        &self,
        opened: &Opened,
        namespace: Namespace,
        checks: Vec<Check>,
        changes: Vec<Change>,
    ) -> Result<bool, StoreError> {
        let sealed = u64::try_from(changes.len()).unwrap_or(u64::MAX);
        let backend = self.backend();
        let commit = match opened.guard.clone() {
            Some(guard) => backend.commit_under(guard, namespace, checks, changes),
            None => backend.commit(namespace, checks, changes),
        };
        match commit.await {
            Ok(()) => {
                self.count_encryptions(sealed);
                Ok(true)
            }
            Err(CommitError::Conflict(_)) => Ok(false),
            Err(CommitError::Failed(error)) => Err(error),
        }
    }
}
