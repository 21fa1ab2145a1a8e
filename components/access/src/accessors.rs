//! Valid tokens: one of them, and the list of their accessors, read page by page (contract 5.4, SEC-S14).
//!
//! First come the tokens that the server generated, in the order of time: their accessors lead to their keys, so they are their own
//! index. Then come those whose accessors have a place in the index of accessors.

use gatehouse_ports::{Clock, Page, Random, Store, StoreError};
use gatehouse_storage::{Record, Records};

use crate::api::{KeyPage, LookupError, ServiceError, TokenLookup, TokenReference, TokenView};
use crate::bounds::PAGE_ITEMS;
use crate::records::{
    ACCESSOR_PREFIX, AccessorRecord, TOKEN_PREFIX, TokenRecord, accessor_key, token_key,
};
use crate::secret::{IN_ORDER, TokenHash};
use crate::service::{AccessService, load_next};

/// Tokens looked at in one round.
const ROUND: u32 = 200;
/// Dead tokens that one call looks at beside those that it returns, so that many dead ones do not hold a caller up.
const MAXIMUM_DEAD: usize = 10_000;

/// A part of the list of all stored tokens.
struct ListedTokens {
    records: Vec<TokenRecord>,
    /// The key after which the list continues; `None` at its end.
    position: Option<String>,
}

impl<S: Store, C: Clock, R: Random> TokenLookup for AccessService<S, C, R> {
    fn lookup_token(&self, reference: &TokenReference) -> Result<TokenView, LookupError> {
        let token = self.find(reference)?.ok_or(LookupError::UnknownToken)?;
        Ok(token.view(self.clock.now_seconds()))
    }

    fn list_accessors(&self, after: Option<&str>, limit: u32) -> Result<KeyPage, ServiceError> {
        let limit = usize::try_from(limit.clamp(1, PAGE_ITEMS)).unwrap_or(usize::MAX);
        let hasher = self.hasher()?;
        let key = |hash: TokenHash| match hash.is_in_order() {
            true => token_key(&hash),
            false => accessor_key(&hash),
        };
        let after = after.map(|after| key(hasher.accessor(after)));
        let mut position = after.unwrap_or_else(generated_tokens);
        let mut keys = Vec::new();
        let mut last = None;
        let mut dead = 0;
        loop {
            let listed = self.tokens_behind(&position)?;
            let foundations = self.foundations(listed.records.iter())?;
            let mut rest = listed.records.into_iter().peekable();
            while let Some(record) = rest.next_if(|_| keys.len() < limit && dead < MAXIMUM_DEAD) {
                if foundations.carry(&record) {
                    keys.push(record.accessor.clone());
                } else {
                    dead += 1;
                }
                last = Some(record.accessor);
            }
            let goes_on = listed.position.is_some() || rest.peek().is_some();
            match listed.position {
                Some(next) if keys.len() < limit && dead < MAXIMUM_DEAD => position = next,
                _ => {
                    let next = last.filter(|_| goes_on);
                    return Ok(KeyPage { keys, next });
                }
            }
        }
    }
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// The stored tokens behind the key `position`, a bounded number of them.
    fn tokens_behind(&self, position: &str) -> Result<ListedTokens, ServiceError> {
        if position.starts_with(TOKEN_PREFIX) {
            let page = self.scan(&generated_tokens(), position)?;
            let end = page.items.last().filter(|_| page.more);
            let end = end.map_or_else(|| ACCESSOR_PREFIX.to_owned(), |last| last.key.clone());
            return Ok(ListedTokens {
                records: records::<S, TokenRecord>(page)?,
                position: Some(end),
            });
        }
        let page = self.scan(ACCESSOR_PREFIX, position)?;
        let end = page.items.last().filter(|_| page.more);
        let position = end.map(|last| last.key.clone());
        let places = records::<S, AccessorRecord>(page)?;
        let keys: Vec<String> = places.iter().map(|it| token_key(&it.token)).collect();
        let mut entries = self.read_all(keys.iter())?;
        let mut records = Vec::with_capacity(keys.len());
        for _ in keys {
            let token = load_next::<S, TokenRecord>(&mut entries)?;
            records.extend(token.map(|token| token.record));
        }
        Ok(ListedTokens { records, position })
    }

    fn scan(&self, prefix: &str, position: &str) -> Result<Page, StoreError> {
        self.records.store().scan(prefix, Some(position), ROUND)
    }
}

/// The prefix of the keys of all tokens whose accessor leads to them.
fn generated_tokens() -> String {
    format!("{TOKEN_PREFIX}{IN_ORDER}")
}

fn records<S: Store, T: Record>(page: Page) -> Result<Vec<T>, ServiceError> {
    let mut records = Vec::with_capacity(page.items.len());
    for item in page.items {
        let record = Records::<S>::load::<T>(Some(item.entry))?;
        records.extend(record.map(|it| it.record));
    }
    Ok(records)
}
