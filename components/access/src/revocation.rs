//! Ending tokens and what descends from them (SEC-T5).

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Attempt, Records, Transaction, TransactionError, commit_with_retries};

use crate::api::{Failure, RevokeError, TokenReference};
use crate::records::{ChildRecord, TokenRecord, accessor_key, children_prefix, token_key};
use crate::secret::TokenHash;
use crate::service::AccessService;
use crate::token_location::TokenLocation;
use crate::token_store::{Reading, delete_token, load_next};

/// Children removed in one commit.
const SWEEP_PAGE: u32 = 200;
/// Pages after which a revocation leaves the rest of a very large subtree to its expiry: nothing of it is valid any more, and the
/// caller waits for an answer. Every token of the subtree takes one page or two.
const SWEEP_PAGES: usize = 20_000;

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    pub(crate) fn revoke(&self, reference: TokenReference<'_>) -> Result<bool, RevokeError> {
        match self.location_of(reference)? {
            None => Ok(false),
            Some(TokenLocation::Stored(hash)) => Ok(self.revoke_stored(hash)?),
            Some(carried) => match self.find_at(carried, Reading::Standing)? {
                Some(_) => Err(RevokeError::BatchToken),
                None => Ok(false),
            },
        }
    }

    /// Ends the token in one commit: without its record no descendant is valid either. Then clears the descendants' records away.
    pub(crate) fn revoke_stored(&self, hash: TokenHash) -> Result<bool, Failure> {
        let hasher = self.hasher()?;
        let key = token_key(&hash);
        let found = commit_with_retries(&self.clock, &self.random, || {
            let Some(token) = self.records.get::<TokenRecord>(&key)? else {
                return Ok(Attempt::Done(false));
            };
            let mut transaction = Transaction::new();
            // Checked, so that a renewal under way cannot bring the token back.
            transaction.require(key.as_str(), token.version);
            delete_token(&mut transaction, hasher, &hash, &token.record);
            Ok::<_, Failure>(Attempt::from_commit(
                self.records.commit(transaction),
                true,
            )?)
        })?;
        self.sweep_descendants(hash)?;
        Ok(found)
    }

    fn sweep_descendants(&self, revoked: TokenHash) -> Result<(), Failure> {
        let mut parents = vec![revoked];
        for _ in 0..SWEEP_PAGES {
            let Some(parent) = parents.last() else {
                return Ok(());
            };
            let children = self.sweep_children(parent)?;
            if children.is_empty() {
                parents.pop();
            } else {
                // Depth first: the list grows with the tree's depth, not with its size.
                parents.extend(children);
            }
        }
        Ok(())
    }

    /// Removes one page of a dead token's children and says which they were.
    fn sweep_children(&self, parent: &TokenHash) -> Result<Vec<TokenHash>, Failure> {
        let hasher = self.hasher()?;
        let page = self
            .records
            .store()
            .scan(&children_prefix(parent), None, SWEEP_PAGE)?;
        let mut children = Vec::with_capacity(page.items.len());
        let mut transaction = Transaction::new();
        for item in page.items {
            transaction.delete(item.key);
            if let Some(child) = Records::<S>::load::<ChildRecord>(Some(item.entry))? {
                children.push(child.record.token);
            }
        }
        let keys: Vec<String> = children.iter().map(token_key).collect();
        let mut entries = self.read_all(keys.iter())?;
        for key in keys {
            transaction.delete(key);
            if let Some(token) = load_next::<S, TokenRecord>(&mut entries)? {
                let accessor = hasher.accessor(&token.record.accessor);
                transaction.delete(accessor_key(&accessor));
            }
        }
        match self.records.commit(transaction) {
            Ok(()) => Ok(children),
            Err(TransactionError::Storage(error)) => Err(error.into()),
            Err(TransactionError::Conflict(_)) => Err(Failure::Contended),
        }
    }
}
