//! The records of the directory.

use std::collections::BTreeMap;
use std::convert::Infallible;

use gatehouse_storage::{Cacheable, Record};
use serde::{Deserialize, Serialize, Serializer};

use super::column::Column;
use super::derived::Derived;
use crate::record::OrganizationRecord;
use crate::search::{Barred, folded_text};

/// The key of the root.
pub const ROOT_KEY: &str = "directory/root";
/// Before the folded name of an organization that changed.
pub const PENDING_PREFIX: &str = "directory/pending/";

/// The key of a leaf.
pub fn leaf_key(number: u32) -> String {
    format!("directory/leaf/{number:08}")
}

/// The key of what an organization's entry has become.
pub fn pending_key(name: &str) -> String {
    format!("{PENDING_PREFIX}{name}")
}

/// The leaves that there are, in the order of their names. It changes in every commit that changes a leaf.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RootRecord {
    pub leaves: Vec<LeafReference>,
    /// The number of the next leaf that is made.
    pub next_leaf: u32,
    /// While the directory is being built: the name up to which it has come. `None` once it is whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub built_to: Option<String>,
    #[serde(skip)]
    names_before: Derived<Vec<u64>>,
}

impl Record for RootRecord {
    const SCHEMA: u16 = 1;
}

impl Cacheable for RootRecord {}

impl RootRecord {
    /// A directory that nothing has been read into yet.
    pub fn unbuilt() -> Self {
        Self {
            built_to: Some(String::new()),
            ..Self::whole(0)
        }
    }

    /// A whole directory without leaves, whose next leaf has this number.
    pub const fn whole(next_leaf: u32) -> Self {
        Self {
            leaves: Vec::new(),
            next_leaf,
            built_to: None,
            names_before: Derived::new(),
        }
    }

    /// How many names there are before each leaf, in their order, and last how many there are in all leaves.
    pub fn names_before(&self) -> &[u64] {
        let add_up = || {
            let leaves = self.leaves.iter().map(|leaf| u64::from(leaf.names));
            let mut before = Vec::with_capacity(self.leaves.len() + 1);
            let mut sum = 0;
            before.push(sum);
            before.extend(leaves.map(|names| {
                sum += names;
                sum
            }));
            Ok::<_, Infallible>(before)
        };
        let Ok(before) = self.names_before.get(add_up);
        before
    }

    pub const fn is_whole(&self) -> bool {
        self.built_to.is_none()
    }

    /// The place of the leaf in which `name` is, or would be. Names before those of the first leaf belong to the first.
    pub fn place_of(&self, name: &str) -> usize {
        let after = self
            .leaves
            .partition_point(|leaf| leaf.first.as_str() <= name);
        after.saturating_sub(1)
    }

    /// The name with which the leaf after the one at `place` begins; `None` for the last.
    pub fn end_of(&self, place: usize) -> Option<&str> {
        self.leaves.get(place + 1).map(|leaf| leaf.first.as_str())
    }
}

/// A leaf as the root knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(String, u32, u32)", into = "(String, u32, u32)")]
pub struct LeafReference {
    /// The name that the leaf begins with. Whatever comes before it belongs to the leaf before; empty in an empty leaf.
    pub first: String,
    pub number: u32,
    /// How many names are in the leaf.
    pub names: u32,
}

impl From<(String, u32, u32)> for LeafReference {
    fn from((first, number, names): (String, u32, u32)) -> Self {
        Self {
            first,
            number,
            names,
        }
    }
}

impl From<LeafReference> for (String, u32, u32) {
    fn from(leaf: LeafReference) -> Self {
        (leaf.first, leaf.number, leaf.names)
    }
}

/// An organization as the directory knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Folded.
    pub name: &'a str,
    /// Folded.
    pub email: &'a str,
    pub barred: Barred,
}

impl Entry<'_> {
    /// An entry of no organization.
    pub const fn nothing() -> Self {
        Self {
            name: "",
            email: "",
            barred: Barred {
                disabled: false,
                user_tokens_off: false,
            },
        }
    }
}

/// Some of the organizations, by name.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Columns")]
pub struct LeafRecord(Columns);

/// Organizations, row by row: those of a leaf, or of a block of the index of parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Columns {
    names: Column,
    emails: Column,
    /// Those that are barred by something, by name: few, if any.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    barred: BTreeMap<String, Barred>,
}

/// A leaf whose columns do not fit together.
#[derive(Debug, thiserror::Error)]
#[error("a leaf of the directory is not in order")]
pub struct Disorder;

impl TryFrom<Columns> for LeafRecord {
    type Error = Disorder;

    fn try_from(columns: Columns) -> Result<Self, Disorder> {
        let fits = columns.names.len() == columns.emails.len()
            && columns.names.iter().is_sorted_by(|a, b| a < b);
        fits.then_some(Self(columns)).ok_or(Disorder)
    }
}

// Without a copy of the leaf, which is what `serde(into)` would make.
impl Serialize for LeafRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl Record for LeafRecord {
    const SCHEMA: u16 = 1;
}

impl Cacheable for LeafRecord {}

impl Record for Columns {
    const SCHEMA: u16 = 1;
}

impl Cacheable for Columns {}

impl Columns {
    /// One row for each of `entries`.
    pub fn from_entries(entries: &[Entry<'_>]) -> Self {
        let barred = entries.iter().filter(|entry| !entry.barred.by_nothing());
        Self {
            names: entries.iter().map(|entry| entry.name).collect(),
            emails: entries.iter().map(|entry| entry.email).collect(),
            barred: barred
                .map(|entry| (entry.name.to_owned(), entry.barred))
                .collect(),
        }
    }

    /// How many rows there are; `None` where not every name has an address.
    pub fn rows(&self) -> Option<usize> {
        let rows = self.names.len();
        (rows == self.emails.len()).then_some(rows)
    }

    pub fn entry(&self, row: usize) -> Option<Entry<'_>> {
        let name = self.names.get(row)?;
        Some(Entry {
            name,
            email: self.emails.get(row)?,
            barred: self.barred(name),
        })
    }

    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let rows = self.names.iter().zip(self.emails.iter());
        rows.map(|(name, email)| Entry {
            name,
            email,
            barred: self.barred(name),
        })
    }

    fn barred(&self, name: &str) -> Barred {
        self.barred.get(name).copied().unwrap_or_default()
    }
}

impl LeafRecord {
    /// A leaf of `entries`, which are in the order of their names.
    pub fn with_entries(entries: &[Entry<'_>]) -> Self {
        Self(Columns::from_entries(entries))
    }

    pub const fn len(&self) -> usize {
        self.0.names.len()
    }

    pub const fn names(&self) -> &Column {
        &self.0.names
    }

    pub const fn emails(&self) -> &Column {
        &self.0.emails
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.names.find_sorted(name)
    }

    pub fn barred(&self, name: &str) -> Barred {
        self.0.barred(name)
    }

    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        self.0.entries()
    }

    /// True if this is the leaf that the root speaks of.
    pub fn is(&self, reference: &LeafReference) -> bool {
        self.len() == reference.names as usize
            && self.0.names.get(0).unwrap_or_default() == reference.first
    }

    /// The greatest name.
    pub fn last(&self) -> Option<&str> {
        self.0.names.get(self.len().checked_sub(1)?)
    }
}

/// The change of an organization since its leaf was written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingRecord {
    /// The e-mail address, folded; `None` where no organization has that name any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    #[serde(default, skip_serializing_if = "Barred::by_nothing")]
    pub barred: Barred,
}

impl Record for PendingRecord {
    const SCHEMA: u16 = 1;
}

impl PendingRecord {
    /// The change that enters an organization.
    pub fn entering(organization: &OrganizationRecord) -> Self {
        Self {
            email: Some(folded_text(&organization.settings.email)),
            barred: Barred::reasons_of(organization),
        }
    }

    /// The entry that the directory is to have; `None` where that is nothing any more.
    pub fn entry<'a>(&'a self, name: &'a str) -> Option<Entry<'a>> {
        Some(Entry {
            name,
            email: self.email.as_deref()?,
            barred: self.barred,
        })
    }
}
