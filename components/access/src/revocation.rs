//! Ending tokens, with what descends from them (SEC-T5) or without.

use std::collections::BTreeSet;

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Attempt, Loaded, Records, Transaction, commit_with_retries};

use crate::api::{Revocation, RevokeError, ServiceError, TokenReference};
use crate::records::{
    ChildRecord, RelinquishedRecord, TokenRecord, child_key, children_prefix, relinquished_key,
    token_key,
};
use crate::secret::TokenHash;
use crate::service::{AccessService, load_next};
use crate::token_location::{LocatedToken, StoredToken};
use crate::token_store::{ReadScope, delete_token};

/// Children removed in one commit.
const SWEEP_PAGE: u32 = 200;
/// Pages after which a revocation leaves the rest of a very large subtree to [`AccessService::sweep`]: nothing of it is valid any
/// more, and the caller waits for an answer. Every token of the subtree takes one page or two.
const REVOCATION_PAGES: usize = 20_000;

impl<S: Store, C: Clock, R: Random> Revocation for AccessService<S, C, R> {
    fn revoke_token(&self, reference: &TokenReference) -> Result<bool, RevokeError> {
        match self.locate(reference)? {
            Some(token) if token.stored.is_some() => Ok(self.revoke_located(token)?),
            Some(carried) => match self.live_token(carried, ReadScope::Liveness, None)? {
                Some(_) => Err(RevokeError::BatchToken),
                None => Ok(false),
            },
            None => {
                // It may have ended without its descendants' records.
                if let TokenReference::Id(id) = reference {
                    let names = self.hasher()?.names(id);
                    self.clear_descendants(names.hash)?;
                }
                Ok(false)
            }
        }
    }

    fn revoke_token_alone(&self, reference: &TokenReference) -> Result<bool, RevokeError> {
        let hasher = self.hasher()?;
        let ended = commit_with_retries(&self.clock, &self.random, || {
            let Some(token) = self.find(reference)? else {
                return Ok(Attempt::Done(None));
            };
            let stored = token.stored.ok_or(RevokeError::BatchToken)?;
            let mut transaction = Transaction::new();
            transaction.require(token_key(&stored.hash), stored.version);
            // A token that is being revoked with its subtree has no children to leave.
            for (ancestor, version) in &token.ancestors {
                transaction.require(token_key(ancestor), *version);
            }
            delete_token(&mut transaction, hasher, &stored.hash, &token.record);
            let left = RelinquishedRecord {
                end_time: self.clock.now_seconds(),
            };
            transaction
                .put(relinquished_key(&stored.hash), &left)
                .map_err(ServiceError::from)?;
            let outcome = self.records.commit(transaction);
            let attempt = Attempt::from_commit(outcome, Some(stored.hash));
            Ok::<_, RevokeError>(attempt.map_err(ServiceError::from)?)
        })?;
        if let Some(hash) = &ended {
            self.forget_if_childless(hash)?;
        }
        Ok(ended.is_some())
    }
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// Ends the stored token that was read, in one commit: without its record no descendant is valid either. Then clears the
    /// descendants' records away. False when it ended meanwhile.
    pub(crate) fn revoke_located(&self, located: LocatedToken) -> Result<bool, ServiceError> {
        let LocatedToken { record, stored } = located;
        let Some(StoredToken { hash, version }) = stored else {
            return Ok(false);
        };
        let hasher = self.hasher()?;
        let key = token_key(&hash);
        let mut read = Some(Loaded { record, version });
        let found = commit_with_retries(&self.clock, &self.random, || {
            let current = match read.take() {
                Some(read) => Some(read),
                None => self.records.get::<TokenRecord>(&key)?,
            };
            let Some(token) = current else {
                return Ok(Attempt::Done(false));
            };
            let mut transaction = Transaction::new();
            // Checked, so that a renewal under way cannot bring the token back.
            transaction.require(key.as_str(), token.version);
            delete_token(&mut transaction, hasher, &hash, &token.record);
            Ok::<_, ServiceError>(Attempt::from_commit(
                self.records.commit(transaction),
                true,
            )?)
        })?;
        self.clear_descendants(hash)?;
        Ok(found)
    }

    fn clear_descendants(&self, ended: TokenHash) -> Result<(), ServiceError> {
        match self.sweep_descendants(ended, &mut { REVOCATION_PAGES }) {
            // Another call sweeps the same subtree.
            Ok(_) | Err(ServiceError::Contended) => Ok(()),
            Err(failure) => Err(failure),
        }
    }

    /// Makes sure that nothing in the store would come to descend from a new token of this hash, which an ended one had. False when
    /// that cannot be, since the ended one left its children.
    pub(crate) fn clear_for_reuse(&self, hash: &TokenHash) -> Result<bool, ServiceError> {
        if self.is_relinquished(hash)? {
            return Ok(false);
        }
        let cleared = self.sweep_descendants(hash.clone(), &mut { REVOCATION_PAGES })?;
        cleared.then_some(true).ok_or(ServiceError::Contended)
    }

    /// Removes the [`RelinquishedRecord`] of a token that has no children any more. It cannot get new ones.
    pub(crate) fn forget_if_childless(&self, parent: &TokenHash) -> Result<(), ServiceError> {
        if self.has_children(parent)? {
            return Ok(());
        }
        commit_with_retries(&self.clock, &self.random, || {
            let mut transaction = Transaction::new();
            transaction.delete(relinquished_key(parent));
            Ok(Attempt::from_commit(self.records.commit(transaction), ())?)
        })
    }

    fn has_children(&self, parent: &TokenHash) -> Result<bool, ServiceError> {
        let prefix = children_prefix(parent);
        let page = self.records.store().scan(&prefix, None, 1)?;
        Ok(!page.items.is_empty())
    }

    /// Clears away what descends from a token that has ended, unless that left its children. Each page of children takes one of
    /// `pages`; false when they did not suffice.
    pub(crate) fn sweep_descendants(
        &self,
        ended: TokenHash,
        pages: &mut usize,
    ) -> Result<bool, ServiceError> {
        if !self.has_children(&ended)? || self.is_relinquished(&ended)? {
            return Ok(true);
        }
        let mut parents = vec![ended];
        while let Some(parent) = parents.last() {
            if *pages == 0 {
                return Ok(false);
            }
            *pages -= 1;
            let children = self.sweep_children(parent)?;
            if children.is_empty() {
                parents.pop();
            } else {
                // Depth first: the list grows with the tree's depth, not with its size.
                parents.extend(children);
            }
        }
        Ok(true)
    }

    /// Removes one page of a dead token's children and says which they were.
    fn sweep_children(&self, parent: &TokenHash) -> Result<Vec<TokenHash>, ServiceError> {
        let hasher = self.hasher()?;
        let prefix = children_prefix(parent);
        commit_with_retries(&self.clock, &self.random, || {
            let page = self.records.store().scan(&prefix, None, SWEEP_PAGE)?;
            let mut children = Vec::with_capacity(page.items.len());
            // No commit may name a key twice, and a child's own removal names its entry here.
            let mut entries = BTreeSet::new();
            for item in page.items {
                entries.insert(item.key);
                let child = Records::<S>::load::<ChildRecord>(Some(item.entry))?;
                children.extend(child.map(|child| child.record.token));
            }
            let mut transaction = Transaction::new();
            let keys: Vec<String> = children.iter().map(token_key).collect();
            let mut tokens = self.read_all(keys.iter())?;
            for (key, child) in keys.into_iter().zip(&children) {
                if let Some(token) = load_next::<S, TokenRecord>(&mut tokens)? {
                    transaction.require(key, token.version);
                    delete_token(&mut transaction, hasher, child, &token.record);
                    if let Some(its_parent) = token.record.ancestors.last() {
                        entries.remove(&child_key(its_parent, child));
                    }
                }
            }
            for entry in entries {
                transaction.delete(entry);
            }
            let outcome = self.records.commit(transaction);
            Ok(Attempt::from_commit(outcome, children)?)
        })
    }
}
