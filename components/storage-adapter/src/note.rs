//! The note that an attempt to commit writes first: if the attempt is cut off, another one can delete its pages.

use gatehouse_ports::{Random, RandomError};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::error::PageError;
use crate::memory::View;
use crate::names::RootId;
use crate::node;
use crate::root::Generation;

/// The number of places for notes in a tree. An attempt that comes to a place which is taken reads the note there first.
const PLACES: u8 = 8;

/// A note of one attempt.
#[derive(Serialize, Deserialize)]
pub struct Note {
    /// The root that counted when it began.
    pub base: RootId,
    /// The pages that it writes: its root, and those that are new in it.
    pub own: Generation,
}

impl Note {
    /// The places that an attempt tries for its note; it takes the last one in any case. The first one is random, so that concurrent
    /// commits do not all take the same place.
    pub fn places(random: &impl Random) -> Result<[u8; 3], RandomError> {
        let mut first = [0];
        random.fill(&mut first)?;
        let [first] = first;
        Ok([0, 1, 2].map(|next| first.wrapping_add(next) % PLACES))
    }

    /// True if this attempt may still win as far as `view` shows. Its note must not be overwritten then: it would be missing if the attempt
    /// were cut off.
    pub fn may_yet_win(&self, view: &View) -> bool {
        view.id == Some(self.base)
    }

    /// True if `view` shows that this attempt has permanently lost: another root replaced its base. This holds even if `view` is out of
    /// date, since the head never names a base again once it was replaced.
    pub fn has_lost(&self, view: &View) -> bool {
        let lineage = &view.root.lineage;
        let counts = |id: &RootId| lineage.contains(id) || view.id == Some(*id);
        lineage.contains(&self.base) && !self.own.root.as_ref().is_some_and(counts)
    }

    /// The note as bytes.
    pub fn encode(&self) -> Result<Zeroizing<Vec<u8>>, PageError> {
        Ok(node::encode(self, self.own.size())?)
    }

    /// The note in `bytes`.
    pub fn decode(bytes: &[u8]) -> Result<Self, PageError> {
        Ok(node::decode(bytes)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use crate::root::Root;

    fn id(number: u64) -> RootId {
        RootId::from_head(number.to_le_bytes()).unwrap()
    }

    fn note(base: u64, own: u64) -> Note {
        let own = Generation {
            root: Some(id(own)),
            pages: Vec::new(),
        };
        Note {
            base: id(base),
            own,
        }
    }

    #[test]
    fn s5_an_attempt_has_lost_when_its_base_was_replaced_by_something_else() {
        let root = Root {
            lineage: [1, 2, 3].map(id).to_vec(),
            ..Root::empty()
        };
        let view = View {
            root: Arc::new(root),
            ..View::empty(Some(id(4)))
        };
        for (base, own, expected) in [
            (1, 9, true),
            (3, 9, true),
            // It counts, or did.
            (1, 2, false),
            (3, 4, false),
            // It may come to count.
            (4, 9, false),
            // The instance that looks is out of date, or the attempt is older than what is remembered.
            (9, 10, false),
        ] {
            assert_eq!(note(base, own).has_lost(&view), expected, "{base}, {own}");
        }
        assert!(!note(4, 9).has_lost(&View::empty(Some(id(4)))));
    }
}
