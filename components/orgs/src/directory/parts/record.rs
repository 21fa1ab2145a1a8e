//! The state of the index of parts: how far it has been built, and the runs it consists of.

use gatehouse_storage::{Cacheable, Record};
use serde::{Deserialize, Serialize};

/// The key of the record about the whole index.
pub const PARTS_KEY: &str = "directory/parts";
/// Before everything else of it.
pub const PARTS_PREFIX: &str = "directory/parts/";

/// Runs of one level that make one of the next, and blocks that make a run of the lowest.
pub const FAN: u32 = 4;

/// How the index of parts is divided up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartsShape {
    /// Documents in a block.
    pub block: u32,
    /// Rows in a run of the lowest level.
    pub rows: u32,
    /// The documents of a run that are told for one gram; where there are more, the gram tells nothing there.
    pub told: usize,
    /// Documents that a search looks at. One that would have to look at more goes through all organizations.
    pub candidates: usize,
    /// Rows written in one step of merging.
    pub step: u32,
    /// From how many documents on the index is made anew when most of them are gone.
    pub worn: u32,
}

impl PartsShape {
    /// The shape outside tests.
    pub const USUAL: Self = Self {
        block: 64,
        rows: 16,
        told: 4096,
        candidates: 4096,
        step: 256,
        worn: 4096,
    };

    /// Documents in a run of that level; `None` where that is more than there can be.
    pub fn documents(&self, level: usize) -> Option<u32> {
        let level = u32::try_from(level).ok()?;
        FAN.checked_pow(level)?.checked_mul(FAN * self.block)
    }

    /// Rows in a run of that level.
    pub fn rows(&self, level: usize) -> Option<u32> {
        let level = u32::try_from(level).ok()?;
        FAN.checked_pow(level)?.checked_mul(self.rows)
    }
}

/// The record about the whole index.
///
/// Each organization is a *document*, numbered in the order in which the directory came to know of it. One that changes gets a new
/// number, and nothing is left of the former. The texts of the documents are in *blocks*. A *run* tells for 256 documents, or four
/// times as many at each level above, which of them have a gram. A run is never changed: four of a level are merged into one of the
/// next. So a search looks at a few runs of each level and at the youngest blocks, and a document is written once for each level.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartsRecord {
    /// How many numbers have been given.
    pub documents: u32,
    /// How many of these have nothing left.
    #[serde(default)]
    pub gone: u32,
    /// From the lowest on.
    #[serde(default)]
    pub levels: Vec<Level>,
    /// While the index is being made: only names before this one are in it. `None` once it is whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_to: Option<String>,
}

/// The runs of one level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u32, u32, u64)", into = "(u32, u32, u64)")]
pub struct Level {
    /// How many have become whole, from the first document on.
    pub runs: u32,
    /// How many rows of the level below have been merged into the next one.
    pub merged: u32,
    /// How many rows of the level below have been removed, as whole runs tell of them.
    pub cleared: u64,
}

impl From<(u32, u32, u64)> for Level {
    fn from((runs, merged, cleared): (u32, u32, u64)) -> Self {
        Self {
            runs,
            merged,
            cleared,
        }
    }
}

impl From<Level> for (u32, u32, u64) {
    fn from(level: Level) -> Self {
        (level.runs, level.merged, level.cleared)
    }
}

impl Record for PartsRecord {
    const SCHEMA: u16 = 1;
}

impl Cacheable for PartsRecord {}

/// A run, by its place among those of its level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    pub level: usize,
    pub number: u32,
}

impl PartsRecord {
    /// An index that nothing has been entered into yet.
    pub fn unmade() -> Self {
        Self {
            made_to: Some(String::new()),
            ..Self::default()
        }
    }

    pub const fn is_whole(&self) -> bool {
        self.made_to.is_none()
    }

    /// True if an organization of that name is to be in the index.
    pub fn covers(&self, name: &str) -> bool {
        self.made_to.as_deref().is_none_or(|made_to| name < made_to)
    }

    /// True if the index should be made anew.
    pub const fn is_worn(&self, shape: &PartsShape) -> bool {
        self.documents >= shape.worn && self.gone > self.documents / 2
    }

    pub fn level(&self, level: usize) -> Level {
        self.levels.get(level).copied().unwrap_or_default()
    }

    /// The fewest runs that tell of all documents but the youngest, each with its first document, and the first document that none
    /// tells of.
    pub fn runs(&self, shape: &PartsShape) -> (Vec<(Run, u32)>, u32) {
        let mut runs = Vec::new();
        let mut told = 0;
        for (level, state) in self.levels.iter().enumerate().rev() {
            let Some(documents) = shape.documents(level) else {
                continue;
            };
            for number in told / documents..state.runs {
                runs.push((Run { level, number }, number * documents));
                told = (number + 1) * documents;
            }
        }
        (runs, told)
    }

    /// How many documents are in that block.
    pub fn in_block(&self, block: u32, shape: &PartsShape) -> u32 {
        let before = block.saturating_mul(shape.block);
        self.documents.saturating_sub(before).min(shape.block)
    }
}

impl Run {
    /// The row that tells of `gram`, in a run of so many `rows`. Four rows tell what one does in a run of a quarter of them.
    pub fn row_of(gram: u32, rows: u32) -> u32 {
        let row = (u64::from(gram) * u64::from(rows)) >> u32::BITS;
        u32::try_from(row).unwrap_or(u32::MAX)
    }

    pub fn key(self, row: u32) -> String {
        let Self { level, number } = self;
        format!("{PARTS_PREFIX}run/{level:02}/{number:08}/{row:08}")
    }
}

/// The key of a block.
pub fn block_key(number: u32) -> String {
    format!("{PARTS_PREFIX}block/{number:08}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runs_of_many_documents_are_few_and_tell_of_each_document_once() {
        let shape = PartsShape::USUAL;
        let documents = 1_000_000;
        let levels = (0..).map_while(|level| {
            let runs = documents / shape.documents(level)?;
            (runs > 0).then_some(Level {
                runs,
                ..Level::default()
            })
        });
        let parts = PartsRecord {
            documents,
            levels: levels.collect(),
            ..PartsRecord::default()
        };
        let (runs, told) = parts.runs(&shape);
        assert!(runs.len() <= 3 * parts.levels.len(), "{}", runs.len());
        let mut next = 0;
        for (run, first) in runs {
            assert_eq!(first, next);
            next += shape.documents(run.level).unwrap();
        }
        assert_eq!(next, told);
        assert!(documents - told < 256);
    }
}
