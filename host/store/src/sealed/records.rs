//! Records on their way through the barrier: sealed as they are written, opened as they are read.

use std::borrow::Cow;
use std::sync::Arc;

use gatehouse_barrier::Barrier;
use gatehouse_ports::rules::has_expired;
use gatehouse_ports::{
    Change, Check, CommitError, Difference, Entry, HeldKey, Item, OsRandom, Page, Put, StoreError,
};

use super::{KEYRING_ATTEMPTS, Opened, SealedBackend, address};
use crate::{Answer, Backend, Guard, Namespace};

impl<B: Backend> SealedBackend<B> {
    /// Opens what the backend answered about a key, and notes it down where the reader will ask again.
    fn difference(
        &self,
        barriers: &Barriers,
        namespace: Namespace,
        held: &HeldKey,
        found: Difference,
        now: u64,
    ) -> Result<Difference, StoreError> {
        let Difference::Changed(entry) = found else {
            return Ok(found);
        };
        let (entry, expires_at) = open(barriers, namespace, &held.key, entry)?;
        if has_expired(expires_at, now) {
            return Ok(Difference::Absent);
        }
        if held.version.is_some() {
            self.verified
                .note(namespace, &held.key, entry.version, expires_at);
        }
        Ok(Difference::between(held.version, Some(entry)))
    }

    /// Refuses what no component may ask, and everything while sealed.
    fn admit(&self, namespace: Namespace) -> Result<Opened, StoreError> {
        if namespace == Namespace::Keyring {
            let message = "the keyring belongs to the barrier alone";
            return Err(StoreError::Invalid(message.to_owned()));
        }
        self.opened()
    }

    fn seal_changes(
        &self,
        barrier: &Barrier,
        namespace: Namespace,
        mut changes: Vec<Change>,
    ) -> Result<Vec<Change>, StoreError> {
        for change in &mut changes {
            if let Change::Put(Put {
                key,
                value,
                expires_at,
            }) = change
            {
                let address = address(namespace, key);
                *value = barrier
                    .seal(address, value, *expires_at, &OsRandom)
                    .map_err(|error| StoreError::Unavailable(error.to_string()))?;
                self.count_encryptions(1);
            }
        }
        Ok(changes)
    }
}

/// The barriers before and after a backend was asked: meanwhile a key may have been added, or dropped that nothing needs any more.
struct Barriers {
    before: Arc<Barrier>,
    after: Arc<Barrier>,
}

impl Barriers {
    fn new(before: Arc<Barrier>, after: &Opened) -> Self {
        let after = Arc::clone(&after.barrier);
        Self { before, after }
    }

    fn barrier_of(&self, sealed: &[u8]) -> &Barrier {
        match Barrier::term_of(sealed) {
            Some(term) if !self.after.holds(term) => &self.before,
            _ => &self.after,
        }
    }

    /// Tells whether it takes a key to open this that neither of them holds.
    fn lack(&self, sealed: &[u8]) -> bool {
        Barrier::term_of(sealed)
            .is_some_and(|term| !self.after.holds(term) && !self.before.holds(term))
    }
}

/// Opens what a backend answered, and tells from when on it reads as absent.
fn open(
    barriers: &Barriers,
    namespace: Namespace,
    key: &str,
    entry: Entry,
) -> Result<(Entry, Option<u64>), StoreError> {
    let record = barriers
        .barrier_of(&entry.value)
        .open(address(namespace, key), entry.value)
        .map_err(|_| StoreError::Corrupt(key.to_owned()))?;
    let opened = Entry {
        value: record.value,
        version: entry.version,
    };
    Ok((opened, record.expires_at))
}

impl<B: Backend> Backend for SealedBackend<B> {
    fn get_changed<'a>(
        &'a self,
        namespace: Namespace,
        keys: &'a [HeldKey],
    ) -> Answer<'a, Result<Vec<Difference>, StoreError>> {
        Box::pin(async move {
            let mut attempts = 1..KEYRING_ATTEMPTS;
            loop {
                let before = self.admit(namespace)?.barrier;
                let now = self.clock.now_milliseconds();
                let mut asked = Cow::Borrowed(keys);
                for (place, held) in keys.iter().enumerate() {
                    let is_verified =
                        |version| self.verified.contains(namespace, &held.key, version, now);
                    if !held.version.is_none_or(is_verified)
                        && let Some(asked) = asked.to_mut().get_mut(place)
                    {
                        asked.version = None;
                    }
                }
                let found = self.backend.get_changed(namespace, &asked).await?;
                // Only now: a record may have been sealed by a key that was added while the backend was asked.
                let after = self.opened()?;
                let barriers = Barriers::new(before, &after);
                let is_lacking = |found: &Difference| matches!(found, Difference::Changed(entry) if barriers.lack(&entry.value));
                if found.iter().any(is_lacking)
                    && attempts.next().is_some()
                    && self.follow(&after).await?
                {
                    continue;
                }
                let now = self.clock.now_milliseconds();
                return keys
                    .iter()
                    .zip(found)
                    .map(|(held, found)| self.difference(&barriers, namespace, held, found, now))
                    .collect();
            }
        })
    }

    fn scan<'a>(
        &'a self,
        namespace: Namespace,
        prefix: &'a str,
        after: Option<&'a str>,
        limit: u32,
    ) -> Answer<'a, Result<Page, StoreError>> {
        Box::pin(async move {
            let from = after;
            let mut attempts = 1..KEYRING_ATTEMPTS;
            loop {
                let before = self.admit(namespace)?.barrier;
                let page = self.backend.scan(namespace, prefix, from, limit).await?;
                let after = self.opened()?;
                let barriers = Barriers::new(before, &after);
                if page
                    .items
                    .iter()
                    .any(|item| barriers.lack(&item.entry.value))
                    && attempts.next().is_some()
                    && self.follow(&after).await?
                {
                    continue;
                }
                let now = self.clock.now_milliseconds();
                let mut items = Vec::with_capacity(page.items.len());
                for Item { key, entry } in page.items {
                    let (entry, expires_at) = open(&barriers, namespace, &key, entry)?;
                    if !has_expired(expires_at, now) {
                        items.push(Item { key, entry });
                    }
                }
                let more = page.more;
                return Ok(Page { items, more });
            }
        })
    }

    fn commit(
        &self,
        namespace: Namespace,
        checks: Vec<Check>,
        changes: Vec<Change>,
    ) -> Answer<'_, Result<(), CommitError>> {
        Box::pin(async move {
            let mut attempts = 1..KEYRING_ATTEMPTS;
            loop {
                // Held until the backend has answered: that is how others know what is still on its way.
                let opened = self.admit(namespace)?;
                let Some(guard) = opened.guard.clone() else {
                    let changes = self.seal_changes(&opened.barrier, namespace, changes)?;
                    return self.backend.commit(namespace, checks, changes).await;
                };
                let sealed = self.seal_changes(&opened.barrier, namespace, changes.clone())?;
                let commit = self
                    .backend
                    .commit_under(guard, namespace, checks.clone(), sealed);
                let outcome = commit.await;
                let is_lost = opened.follows() && outcome == Err(Guard::lost());
                if is_lost && attempts.next().is_some() {
                    self.follow(&opened).await?;
                    continue;
                }
                return outcome;
            }
        })
    }

    fn is_shared(&self) -> bool {
        self.backend.is_shared()
    }
}
