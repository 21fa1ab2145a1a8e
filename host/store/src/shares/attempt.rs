//! The shares that were given so far.

use std::ops::ControlFlow;

use gatehouse_barrier::{KeyShare, RootKey, Sharing};
use gatehouse_ports::{OsRandom, Random as _, RandomError};

/// How many shares are kept beyond those that it takes: any caller may give one, and that many wrong ones do not keep the right ones from
/// yielding the key.
const SPARE: usize = 3;

/// How many sets of shares are tried for one that is given: all up to a threshold of 14, and some beyond.
const MAXIMUM_SETS: usize = 512;

/// Different shares, enough of which are meant to yield one key.
#[derive(Default)]
pub struct Attempt {
    shares: Vec<KeyShare>,
    nonce: String,
    /// True if sets of them could not be tried, because the store was out of order.
    is_untried: bool,
}

impl Attempt {
    /// Adds a share, unless it is there.
    pub fn add(&mut self, share: KeyShare) -> Result<(), RandomError> {
        if self.shares.iter().any(|given| given.is_same_as(&share)) {
            return Ok(());
        }
        if self.shares.is_empty() {
            let mut bytes = [0; 16];
            OsRandom.fill(&mut bytes)?;
            let id = uuid::Builder::from_random_bytes(bytes).into_uuid();
            self.nonce = id.hyphenated().to_string();
        }
        self.shares.push(share);
        Ok(())
    }

    /// Tells whether this very share is there.
    pub fn holds(&self, share: &KeyShare) -> bool {
        self.shares.iter().any(|given| given.is_same_as(share))
    }

    /// How many there are.
    pub fn given(&self) -> usize {
        self.shares.len()
    }

    /// How many may be right where it takes `threshold`: of as many that were tried one at least is wrong.
    pub fn promising(&self, threshold: usize) -> usize {
        let most = if self.is_untried {
            threshold
        } else {
            threshold.saturating_sub(1)
        };
        self.shares.len().min(most)
    }

    /// Tells whether there are as many as are kept where it takes `threshold`. Of a single one that yields nothing, nothing is kept.
    pub fn is_full(&self, threshold: usize) -> bool {
        threshold < 2 || self.shares.len() >= threshold + SPARE
    }

    /// Tells whether sets of them could not be tried.
    pub const fn is_untried(&self) -> bool {
        self.is_untried
    }

    /// Says whether sets of them could not be tried.
    pub const fn leave_untried(&mut self, is_untried: bool) {
        self.is_untried = is_untried;
    }

    /// A name for this attempt; empty before the first share.
    pub fn nonce(&self) -> String {
        self.nonce.clone()
    }

    /// The key that all of them yield.
    pub fn combined(&self) -> Option<RootKey> {
        RootKey::combine(&self.shares)
    }

    /// The keys that sets of them with `share` yield, one of which is right if that share and enough others are.
    pub fn keys_with(&self, share: &KeyShare, sharing: Sharing) -> Vec<RootKey> {
        let others: Vec<&KeyShare> = self
            .shares
            .iter()
            .filter(|given| !given.is_same_as(share))
            .collect();
        let needed = usize::from(sharing.threshold()).saturating_sub(1);
        let Some(surplus) = others.len().checked_sub(needed) else {
            return Vec::new();
        };
        let copied = |share: &KeyShare| {
            let bytes = share.as_bytes().to_vec();
            KeyShare::from_bytes(bytes.into(), sharing)
        };
        let mut keys = Vec::new();
        let mut tried = 0;
        let _ = each_choice(others.len(), surplus, 0, &mut Vec::new(), &mut |left_out| {
            let places = others.iter().enumerate();
            let chosen = places.filter(|(place, _)| !left_out.contains(place));
            let set = chosen.map(|(_, other)| *other).chain([share]);
            let set: Option<Vec<KeyShare>> = set.map(copied).collect();
            keys.extend(set.and_then(|shares| {
                Self {
                    shares,
                    ..Self::default()
                }
                .combined()
            }));
            tried += 1;
            if tried < MAXIMUM_SETS {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
        keys
    }
}

/// Hands every choice of `number` of the places from `from` up to `end` to `take`, until that breaks off.
fn each_choice(
    end: usize,
    number: usize,
    from: usize,
    chosen: &mut Vec<usize>,
    take: &mut impl FnMut(&[usize]) -> ControlFlow<()>,
) -> ControlFlow<()> {
    if chosen.len() == number {
        return take(chosen);
    }
    for place in from..end {
        chosen.push(place);
        let flow = each_choice(end, number, place + 1, chosen, take);
        chosen.pop();
        flow?;
    }
    ControlFlow::Continue(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_choices_come_once_and_no_more_than_are_wanted() {
        let choices = |end, number, most: usize| {
            let mut found = Vec::new();
            let _ = each_choice(end, number, 0, &mut Vec::new(), &mut |chosen| {
                found.push(chosen.to_vec());
                if found.len() < most {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            });
            found
        };
        assert_eq!(choices(3, 0, 9), [[0; 0]; 1]);
        assert_eq!(choices(3, 2, 9), [[0, 1], [0, 2], [1, 2]]);
        assert_eq!(choices(3, 2, 2), [[0, 1], [0, 2]]);
        assert_eq!(choices(16, 3, MAXIMUM_SETS).len(), MAXIMUM_SETS);
        assert_eq!(choices(13 + 3, 3, usize::MAX).len(), 560);
    }
}
