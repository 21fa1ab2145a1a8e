//! Valid tokens: one of them, and the list of their accessors, read page by page (contract 5.4, SEC-S14).
//!
//! The list is in the order of hashed accessors. That of most tokens is the token's own key, and so the tokens are their own index; the
//! others have a place in the index of accessors. Both are walked together.

use std::collections::BTreeMap;

use gatehouse_ports::{Clock, Page, Random, Store, StoreError};
use gatehouse_storage::{Record, Records};

use crate::api::{Failure, KeyPage, LookupError, TokenLookup, TokenReference, TokenView};
use crate::records::{ACCESSOR_PREFIX, AccessorRecord, TOKEN_PREFIX, TokenRecord, token_key};
use crate::service::AccessService;
use crate::token_store::load_next;

/// Most accessors in one answer.
const MAXIMUM_LIMIT: u32 = 10_000;
/// Tokens looked at in one round.
const ROUND: u32 = 200;
/// Tokens looked at in one call beyond those that are shown, so that many dead ones do not hold a caller up.
const MAXIMUM_DEAD: usize = 10_000;

/// A part of the list of all stored tokens.
struct ListedTokens {
    /// In the order of their hashed accessors.
    records: Vec<TokenRecord>,
    /// The hash behind which the rest is; `None` when there is none.
    position: Option<String>,
}

impl<S: Store, C: Clock, R: Random> TokenLookup for AccessService<S, C, R> {
    fn lookup_token(&self, reference: &TokenReference) -> Result<TokenView, LookupError> {
        let token = self.find(reference)?.ok_or(LookupError::UnknownToken)?;
        Ok(token.view(self.clock.now_seconds()))
    }

    fn list_accessors(&self, after: Option<&str>, limit: u32) -> Result<KeyPage, Failure> {
        let limit = usize::try_from(limit.clamp(1, MAXIMUM_LIMIT)).unwrap_or(usize::MAX);
        let hasher = self.hasher()?;
        let mut position = after.map(|after| hasher.accessor(after).as_str().to_owned());
        let mut keys = Vec::new();
        let mut last = None;
        let mut dead = 0;
        loop {
            let listed = self.tokens_behind(position.as_deref())?;
            position = listed.position;
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
            let goes_on = position.is_some() || rest.peek().is_some();
            if !goes_on || keys.len() == limit || dead == MAXIMUM_DEAD {
                let next = last.filter(|_| goes_on);
                return Ok(KeyPage { keys, next });
            }
        }
    }
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// The stored tokens whose hashed accessors come after `position`, a bounded number of them.
    fn tokens_behind(&self, position: Option<&str>) -> Result<ListedTokens, Failure> {
        let scan = |prefix: &str| -> Result<Page, StoreError> {
            let after = position.map(|position| format!("{prefix}{position}"));
            self.records.store().scan(prefix, after.as_deref(), ROUND)
        };
        let (tokens, places) = (scan(TOKEN_PREFIX)?, scan(ACCESSOR_PREFIX)?);
        // As far as both were read.
        let end = |page: &Page, prefix: &str| {
            let last = page.items.last().filter(|_| page.more)?;
            last.key.strip_prefix(prefix).map(str::to_owned)
        };
        let ends = [end(&tokens, TOKEN_PREFIX), end(&places, ACCESSOR_PREFIX)];
        let position = ends.into_iter().flatten().min();

        let mut records = BTreeMap::new();
        for (hash, token) in read_to::<S, TokenRecord>(tokens, TOKEN_PREFIX, position.as_deref())? {
            if token.proof.is_some() {
                records.insert(hash, token);
            }
        }
        let places = read_to::<S, AccessorRecord>(places, ACCESSOR_PREFIX, position.as_deref())?;
        let keys: Vec<String> = places.iter().map(|(_, it)| token_key(&it.token)).collect();
        let mut entries = self.read_all(keys.iter())?;
        for (hash, _) in places {
            let token = load_next::<S, TokenRecord>(&mut entries)?;
            records.extend(token.map(|token| (hash, token.record)));
        }
        Ok(ListedTokens {
            records: records.into_values().collect(),
            position,
        })
    }
}

/// The records of a page of the keys that begin with `prefix`, by the rest of their keys, up to `end`.
fn read_to<S: Store, T: Record>(
    page: Page,
    prefix: &str,
    end: Option<&str>,
) -> Result<Vec<(String, T)>, Failure> {
    let mut records = Vec::with_capacity(page.items.len());
    for item in page.items {
        let Some(hash) = item.key.strip_prefix(prefix) else {
            continue;
        };
        if end.is_some_and(|end| hash > end) {
            break;
        }
        let record = Records::<S>::load::<T>(Some(item.entry))?;
        records.extend(record.map(|it| (hash.to_owned(), it.record)));
    }
    Ok(records)
}
