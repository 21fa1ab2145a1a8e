//! Valid tokens: one of them, and the list of their accessors, read page by page (contract 5.4, SEC-S14).

use gatehouse_ports::{Clock, Page, Random, Store};
use gatehouse_storage::{Loaded, Records};

use crate::api::{Failure, KeyPage, LookupError, TokenLookup, TokenReference, TokenView};
use crate::records::{ACCESSOR_PREFIX, AccessorRecord, TokenRecord, accessor_key, token_key};
use crate::secret::TokenHash;
use crate::service::AccessService;
use crate::token_store::load_next;

/// Most accessors in one answer.
const MAXIMUM_LIMIT: u32 = 10_000;
/// Tokens looked at in one round.
const ROUND: u32 = 200;
/// Tokens looked at in one call beyond those that are shown, so that many dead ones do not hold a caller up.
const MAXIMUM_DEAD: usize = 10_000;

/// The token behind a place in the index of accessors.
pub(crate) struct IndexedToken {
    /// Of the place itself.
    pub(crate) key: String,
    pub(crate) hash: TokenHash,
    /// `None` when it has ended.
    pub(crate) token: Option<Loaded<TokenRecord>>,
}

impl<S: Store, C: Clock, R: Random> TokenLookup for AccessService<S, C, R> {
    fn lookup_token(&self, reference: &TokenReference) -> Result<TokenView, LookupError> {
        let token = self.find(reference)?.ok_or(LookupError::UnknownToken)?;
        Ok(token.view(self.clock.now_seconds()))
    }

    /// The index is in the order of hashed accessors, and so is the list.
    fn list_accessors(&self, after: Option<&str>, limit: u32) -> Result<KeyPage, Failure> {
        let limit = usize::try_from(limit.clamp(1, MAXIMUM_LIMIT)).unwrap_or(usize::MAX);
        let hasher = self.hasher()?;
        let mut position = after.map(|after| accessor_key(&hasher.accessor(after)));
        let mut keys = Vec::new();
        let mut last = None;
        let mut dead = 0;
        loop {
            let page = self
                .records
                .store()
                .scan(ACCESSOR_PREFIX, position.as_deref(), ROUND)?;
            let more = page.more;
            position = page.items.last().map(|item| item.key.clone());
            let tokens = self.indexed_tokens(page)?;
            let records = tokens.into_iter().filter_map(|it| Some(it.token?.record));
            let records: Vec<TokenRecord> = records.collect();
            let foundations = self.foundations(records.iter())?;
            let mut rest = records.into_iter().peekable();
            while let Some(record) = rest.next_if(|_| keys.len() < limit && dead < MAXIMUM_DEAD) {
                if foundations.carry(&record) {
                    keys.push(record.accessor.clone());
                } else {
                    dead += 1;
                }
                last = Some(record.accessor);
            }
            let goes_on = more || rest.peek().is_some();
            if !goes_on || keys.len() == limit || dead == MAXIMUM_DEAD {
                let next = last.filter(|_| goes_on);
                return Ok(KeyPage { keys, next });
            }
        }
    }
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// The tokens behind a page of the index.
    pub(crate) fn indexed_tokens(&self, page: Page) -> Result<Vec<IndexedToken>, Failure> {
        let mut tokens = Vec::with_capacity(page.items.len());
        for item in page.items {
            let accessor = Records::<S>::load::<AccessorRecord>(Some(item.entry))?;
            tokens.extend(accessor.map(|accessor| IndexedToken {
                key: item.key,
                hash: accessor.record.token,
                token: None,
            }));
        }
        let keys: Vec<String> = tokens.iter().map(|it| token_key(&it.hash)).collect();
        let mut entries = self.read_all(keys.iter())?;
        for token in &mut tokens {
            token.token = load_next::<S, TokenRecord>(&mut entries)?;
        }
        Ok(tokens)
    }
}
