//! The records beside its own that a token's validity and rights rest on, guessed from its last request.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gatehouse_storage::CachedReads;

use crate::secret::TokenHash;

/// How many tokens are remembered; beyond that the memory begins anew.
const MAXIMUM_TOKENS: usize = 256;
/// Most keys that are remembered of a token.
const MAXIMUM_KEYS: usize = 32;

/// Remembers for the tokens of the last requests which keys were read after their records, so that the next request asks for all of them
/// in one round trip.
///
/// A guess decides nothing: the records come from the store at each request, and it is followed only where the token's record, read with
/// them, asks for the same keys.
pub(crate) struct FoundationGuesses(Mutex<BTreeMap<TokenHash, Arc<[String]>>>);

/// Records that were read together with a token's, by a guess.
pub(crate) struct GuessedReads<'a> {
    pub(crate) keys: Arc<[String]>,
    /// Comes to the first of the keys next.
    pub(crate) reads: CachedReads<'a>,
}

impl FoundationGuesses {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// The keys that the last request of this token read after its record.
    pub(crate) fn keys_for(&self, token: &TokenHash) -> Option<Arc<[String]>> {
        self.lock().get(token).cloned()
    }

    /// Remembers the keys that this token's record asked for.
    pub(crate) fn remember(&self, token: &TokenHash, keys: &[String]) {
        if keys.is_empty() || keys.len() > MAXIMUM_KEYS {
            self.forget(token);
            return;
        }
        let mut guesses = self.lock();
        if guesses.len() >= MAXIMUM_TOKENS && !guesses.contains_key(token) {
            guesses.clear();
        }
        guesses.insert(token.clone(), keys.into());
    }

    /// Forgets a token whose record is gone, so that it costs no more than one that never was (SEC-T10).
    pub(crate) fn forget(&self, token: &TokenHash) {
        self.lock().remove(token);
    }

    // Nothing panics half-way, so a poisoned lock still guards a whole map.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<TokenHash, Arc<[String]>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(number: usize) -> TokenHash {
        TokenHash::parse(&format!("{number:064x}")).unwrap()
    }

    #[test]
    fn the_memory_has_a_bound_in_tokens_and_in_keys() {
        let guesses = FoundationGuesses::new();
        let keys = vec!["rules/a".to_owned(); MAXIMUM_KEYS];
        for number in 0..MAXIMUM_TOKENS {
            guesses.remember(&hash(number), &keys);
        }
        assert_eq!(guesses.keys_for(&hash(0)).unwrap().len(), MAXIMUM_KEYS);
        guesses.remember(&hash(0), &keys);
        assert_eq!(guesses.lock().len(), MAXIMUM_TOKENS);
        guesses.remember(&hash(MAXIMUM_TOKENS), &keys);
        assert_eq!(guesses.lock().len(), 1);
        let more = vec!["rules/a".to_owned(); MAXIMUM_KEYS + 1];
        guesses.remember(&hash(MAXIMUM_TOKENS), &more);
        assert!(guesses.keys_for(&hash(MAXIMUM_TOKENS)).is_none());
    }
}
