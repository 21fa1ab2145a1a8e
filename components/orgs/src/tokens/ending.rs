//! Ending every token at once, for a restored store: tokens that were revoked after its backup was made would be valid again.

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Records, Transaction};

use super::record::TokenRecord;
use crate::{Orgs, ServiceError};

/// The prefix of the keys of all tokens.
const PREFIX: &str = "token/";
/// Tokens that end in one commit.
const PAGE: u32 = 100;

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    /// Ends all tokens of users, teams, organizations, audit trails and agent pools. Says how many there were.
    ///
    /// For a caller that holds the store alone: a token that is issued meanwhile may stay. The audit trails of organizations do not tell.
    ///
    /// # Errors
    ///
    /// When the store does not answer. Some may have ended then; the next call ends the rest.
    pub fn end_all_tokens(&self) -> Result<u64, ServiceError> {
        let mut ended: u64 = 0;
        loop {
            let page = self.records.store().scan(PREFIX, None, PAGE)?;
            if page.items.is_empty() {
                return Ok(ended);
            }
            let mut transaction = Transaction::new();
            for item in page.items {
                let token = Records::<S>::load::<TokenRecord>(Some(item.entry))?;
                if let (Some(hash), Some(token)) = (item.key.strip_prefix(PREFIX), token) {
                    self.end_token(&mut transaction, hash, &token.record)?;
                    ended = ended.saturating_add(1);
                }
                transaction.delete(item.key);
            }
            self.commit_unconditionally(transaction)?;
        }
    }
}
