//! Ending every token at once, for a restored store: tokens that were revoked after its backup was made would be valid again.

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::Records;

use crate::api::{PrefixError, ServiceError, Tidying as _};
use crate::records::{TOKEN_PREFIX, TokenRecord};
use crate::secret::TokenHash;
use crate::service::AccessService;
use crate::token_location::LocatedToken;

/// Tokens read at a time.
const PAGE: u32 = 500;

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// Ends all tokens: root tokens, wrapping tokens and batch tokens too, with everything that they keep or wrap. Callers have
    /// to log in again, or have a root token made. Takes time in proportion to the number of tokens.
    ///
    /// For a caller that holds the store alone: a token that is issued meanwhile may stay.
    ///
    /// # Errors
    ///
    /// When the store does not answer or was never initialized. Some may have ended then; the next call ends the rest.
    pub fn end_all_tokens(&self) -> Result<(), ServiceError> {
        self.hasher()?;
        // The keys, and not only the generation of the mounts: the lost store may have come to a later one, and its tokens name that.
        self.forget_batch_keys()?;
        self.cut_all_mounts()?;
        self.end_tokens_of_no_mount()?;
        // The records of the others, which count for nothing from here on.
        self.tidy_tokens()?;
        Ok(())
    }

    /// Ends whatever a mount has issued.
    fn cut_all_mounts(&self) -> Result<(), ServiceError> {
        self.cut_mounts(|_| Some("")).map_err(|error| match error {
            PrefixError::Failure(failure) => failure,
            // A cut of all takes the place of all others, so there is room for it.
            PrefixError::TooManyPrefixes(_) => {
                ServiceError::Damaged("a mount keeps too many prefixes apart".to_owned())
            }
        })
    }

    /// Ends root tokens and wrapping tokens.
    fn end_tokens_of_no_mount(&self) -> Result<(), ServiceError> {
        let mut position: Option<String> = None;
        loop {
            let store = self.records.store();
            let page = store.scan(TOKEN_PREFIX, position.as_deref(), PAGE)?;
            position = page.items.last().map(|item| item.key.clone());
            for item in page.items {
                let hash = item.key.strip_prefix(TOKEN_PREFIX);
                let hash = hash.and_then(TokenHash::parse);
                let token = Records::<S>::load::<TokenRecord>(Some(item.entry))?;
                if let (Some(hash), Some(token)) = (hash, token)
                    && token.record.issuer().is_none()
                {
                    self.revoke_located(LocatedToken::stored(hash, token))?;
                }
            }
            if !page.more {
                return Ok(());
            }
        }
    }
}
