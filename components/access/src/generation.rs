//! Cuts: one change ends all tokens that a mount has issued, or all that it has issued at one of its paths (contract 6.5).
//!
//! A mount counts its cuts, and a token carries the count at which it was issued. So one change ends any number of tokens at their
//! next use.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Most paths of one mount whose cuts are kept separately.
const MAXIMUM_PATHS: usize = 256;

/// The generations of a mount's tokens that still count.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Generations {
    /// The generation of a token that is issued now.
    current: u64,
    /// For a path below the mount, empty for all of the mount: the first generation whose tokens count.
    first: BTreeMap<String, u64>,
}

/// The error of a mount that already keeps cuts of as many paths as it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooManyPathsError;

impl Generations {
    /// The generation of a token that is issued now.
    pub(crate) const fn current(&self) -> u64 {
        self.current
    }

    /// True if nothing has been cut off yet.
    pub(crate) const fn is_first(&self) -> bool {
        self.current == 0
    }

    /// Cuts off what was issued so far at `path` and below it.
    pub(crate) fn cut(&mut self, path: &str) -> Result<(), TooManyPathsError> {
        self.first.retain(|cut, _| !is_at_or_below(cut, path));
        if self.first.len() >= MAXIMUM_PATHS {
            return Err(TooManyPathsError);
        }
        self.current = self.current.saturating_add(1);
        self.first.insert(path.to_owned(), self.current);
        Ok(())
    }

    /// True if a token that was issued at `path` in `generation` counts.
    pub(crate) fn count(&self, path: &str, generation: u64) -> bool {
        let mut cuts = self.first.iter();
        cuts.all(|(cut, first)| generation >= *first || !is_at_or_below(path, cut))
    }
}

/// True if `path` is `ancestor` or lies below it; everything lies below the empty path.
pub(crate) fn is_at_or_below(path: &str, ancestor: &str) -> bool {
    path.strip_prefix(ancestor)
        .is_some_and(|rest| ancestor.is_empty() || rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contract_6_5_a_cut_ends_what_was_issued_at_its_path_and_below() {
        let mut generations = Generations::default();
        assert!(generations.is_first());
        generations.cut("create").unwrap();
        for (path, counts) in [
            ("create", false),
            ("create/role", false),
            ("create-orphan", true),
            ("login", true),
        ] {
            assert_eq!(generations.count(path, 0), counts, "{path}");
            assert!(generations.count(path, generations.current()), "{path}");
        }
        generations.cut("").unwrap();
        assert!(!generations.count("login", 1));
        assert!(generations.count("create", 2));
    }

    #[test]
    fn a_narrow_cut_leaves_a_wider_one_in_force_and_a_wider_one_replaces_it() {
        let mut generations = Generations::default();
        generations.cut("").unwrap();
        generations.cut("create").unwrap();
        assert!(!generations.count("create", 1));
        assert!(generations.count("login", 1));
        assert!(!generations.count("login", 0));
        generations.cut("").unwrap();
        assert_eq!(generations.first.len(), 1);
    }

    #[test]
    fn the_number_of_paths_is_bounded_and_a_wider_cut_makes_room() {
        let mut generations = Generations::default();
        for number in 0..MAXIMUM_PATHS {
            generations.cut(&format!("create/{number}")).unwrap();
        }
        let before = generations.clone();
        assert_eq!(generations.cut("create/x"), Err(TooManyPathsError));
        assert_eq!(generations, before);
        assert_eq!(generations.cut("create/0"), Ok(()));
        assert_eq!(generations.cut("create"), Ok(()));
    }
}
