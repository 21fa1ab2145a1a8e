//! One attempt to commit: the next state is written beside the one that counts, and the head is swapped.

use std::sync::Arc;

use gatehouse_ports::rules::holds;
use gatehouse_ports::{Change, Check, Clock, CommitError, Random, RandomError, StoreError};

use crate::batch::{Batch, delete_all};
use crate::bucket::{Bucket as _, BucketError, Host};
use crate::draft::{Draft, Drafted};
use crate::error::{PageError, ReadError};
use crate::memory::View;
use crate::names::{Grove, PageId, RootId};
use crate::node::Node;
use crate::note::Note;
use crate::root::{Generation, Root, Seal};
use crate::visit::{MAXIMUM_ATTEMPTS, Swap, Visit};

/// How many commits ago a page must have been replaced to be deleted: for that long, a reader that still uses it can continue.
const GRACE_COMMITS: usize = 4;

/// One of this many commits deletes: each deletion takes the host one transaction, no matter how much it deletes.
const COMMITS_BETWEEN_CLEARINGS: usize = 5;

/// How many generations of replaced pages a root names while none can be deleted, so that its size has a bound. The pages of older
/// generations stay.
const MAXIMUM_GENERATIONS: usize = 64;

/// The checks and changes to commit.
pub struct Commit<'a> {
    pub checks: &'a [Check],
    pub changes: &'a [Change],
}

impl Commit<'_> {
    fn first_key(&self) -> &str {
        let check = self.checks.first().map(|check| check.key.as_str());
        let change = || self.changes.first().map(Change::key);
        check.or_else(change).unwrap_or_default()
    }
}

/// How one attempt to commit ended.
pub enum Attempt {
    /// The changes are stored, or there was nothing to change.
    Done,
    /// Another commit came first.
    Outrun,
}

/// Why a commit was not prepared.
enum PrepareError {
    Conflict(String),
    Outrun,
    Read(ReadError),
}

impl From<ReadError> for PrepareError {
    fn from(failure: ReadError) -> Self {
        Self::Read(failure)
    }
}

/// A state that is written and does not count yet.
struct Next {
    id: RootId,
    view: View,
    nodes: Vec<(PageId, Arc<Node>)>,
    /// Everything that was written for it.
    own: Generation,
    /// Where its note is.
    note: Option<String>,
}

impl<H: Host, C: Clock, R: Random> Visit<'_, H, C, R> {
    /// Tries once to make the commit.
    pub fn attempt(&self, commit: &Commit<'_>) -> Result<Attempt, CommitError> {
        let (swap, head) = self.head_to_swap()?;
        let prepared = match self.prepare(head, commit) {
            Err(PrepareError::Read(failure)) if self.can_begin_anew(&failure, head)? => {
                self.prepare_on(&View::empty(head), commit)
            }
            prepared => prepared,
        };
        match prepared {
            Ok(Some(next)) => self.swap(swap, next),
            // There is no swap that shows if the checks still hold, so the head is read again.
            Ok(None) if self.head()? == head => Ok(Attempt::Done),
            Ok(None) | Err(PrepareError::Outrun) => Ok(Attempt::Outrun),
            Err(PrepareError::Conflict(key)) => Err(CommitError::Conflict(key)),
            Err(PrepareError::Read(failure)) if failure.fault == PageError::Missing => {
                if self.head()? == head {
                    return Err(failure.into_error().into());
                }
                Ok(Attempt::Outrun)
            }
            Err(PrepareError::Read(failure)) => Err(failure.into_error().into()),
        }
    }

    /// Moves the head to `next`, unless another commit has moved it since `swap` looked.
    fn swap(&self, swap: Swap<H>, next: Next) -> Result<Attempt, CommitError> {
        let swapped = self.bucket.swap(swap, &next.id.to_head());
        let counts = match swapped {
            Ok(true) => Some(true),
            // A host that repeats a swap whose answer it has lost is refused by its own success.
            Ok(false) | Err(_) => self.came_to_count(&next),
        };
        match (counts, swapped) {
            (Some(true), _) => {
                let mut memory = self.memory();
                for (page, node) in next.nodes {
                    memory.keep_node(page, node);
                }
                memory.keep_view(next.view);
                Ok(Attempt::Done)
            }
            (Some(false), _) => {
                self.discard(&next.own, next.note);
                Ok(Attempt::Outrun)
            }
            (None, Err(error)) => Err(self.around.failed(error).into()),
            (None, Ok(_)) => Err(StoreError::Unavailable(
                "the host refused a commit, and whether it counts nevertheless cannot be known: read before you repeat it"
                    .to_owned(),
            )
            .into()),
        }
    }

    /// True if the commit that wrote `next` counts, where the swap itself does not tell; `None` where that cannot be known.
    fn came_to_count(&self, next: &Next) -> Option<bool> {
        let root = &next.view.root;
        for _ in 0..MAXIMUM_ATTEMPTS {
            let head @ Some(_) = self.head().ok()? else {
                return None;
            };
            if head == next.view.id {
                return Some(true);
            }
            if head == root.lineage.last().copied() {
                // No other commit has come first: the swap may still be under way.
                return None;
            }
            match self.view(head) {
                Ok(now) => return now.root.follows(next.id, root.sequence),
                // It was cleared away meanwhile.
                Err(PageError::Missing) => {}
                Err(_) => return None,
            }
        }
        None
    }

    /// True if the tree is a cache, which may lose its entries, and is damaged; false where `head` is only out of date.
    fn can_begin_anew(
        &self,
        failure: &ReadError,
        head: Option<RootId>,
    ) -> Result<bool, StoreError> {
        let is_damage = matches!(failure.fault, PageError::Missing | PageError::Damaged);
        Ok(is_damage && self.grove == Grove::Cache && self.head()? == head)
    }

    /// Evaluates the checks and writes everything of the next state but the head; `None` if there is nothing to change.
    fn prepare(
        &self,
        head: Option<RootId>,
        commit: &Commit<'_>,
    ) -> Result<Option<Next>, PrepareError> {
        let view = self.view(head);
        let view = view.map_err(|fault| fault.on_the_way_to(commit.first_key()))?;
        self.prepare_on(&view, commit)
    }

    fn prepare_on(&self, view: &View, commit: &Commit<'_>) -> Result<Option<Next>, PrepareError> {
        let here = |fault: PageError| fault.on_the_way_to(commit.first_key());
        let reader = self.reader(view, self.around.clock.now_milliseconds());
        for check in commit.checks {
            let found = reader.find(&view.root.top, &check.key);
            let found = found.map_err(|fault| fault.on_the_way_to(&check.key))?;
            let live = found.filter(|item| reader.is_live(item));
            if !holds(check.requirement, live.map(|item| item.version)) {
                return Err(PrepareError::Conflict(check.key.clone()));
            }
        }
        let random = &self.around.random;
        let sequence = match view.seal {
            None => first_sequence(random).map_err(|error| here(error.into()))?,
            Some(_) => view.root.sequence + 1,
        };
        let draft = Draft::new(&reader, random);
        let drafted = draft.apply(&view.root.top, commit.changes, sequence)?;
        let Some(drafted) = drafted else {
            return Ok(None);
        };
        // Another commit may have come first during the read. An attempt that sees this in time writes nothing, and is not in the way of
        // others.
        if self.head().map_err(|error| here(error.into()))? != view.id {
            return Err(PrepareError::Outrun);
        }
        Ok(Some(self.write(view, drafted, sequence).map_err(here)?))
    }

    fn write(&self, view: &View, drafted: Drafted<'_>, sequence: u64) -> Result<Next, PageError> {
        let around = self.around;
        let seal = match &view.seal {
            Some(seal) => seal.clone(),
            None => Seal::generate(&around.label, &around.root_key()?, &around.random)?,
        };
        let id = RootId::fresh(&around.random)?;
        let parts = drafted.parts.iter().map(|(page, _)| *page);
        let own = Generation {
            root: Some(id),
            pages: parts
                .chain(drafted.nodes.iter().map(|(page, _)| *page))
                .collect(),
        };
        let note = self.note_of(view, &own)?;
        let mut retired = self.clear(&view.root.retired);
        retired.push(Generation {
            root: view.id,
            pages: drafted.retired,
        });
        let root = Root {
            sequence,
            lineage: view.root.next_lineage(view.id),
            retired,
            top: Arc::new(drafted.top),
        };
        let name_of_note = note.as_ref().map(|(name, _)| name.clone());
        let batch = Batch::beginning_with(&*self.bucket, note);
        let written = self.write_all(batch, &seal, &drafted.parts, &drafted.nodes, (id, &root));
        if let Err(fault) = written {
            // The store may be full, and the caller may retry: attempts that failed must not fill it further.
            self.discard(&own, name_of_note);
            return Err(fault);
        }
        Ok(Next {
            id,
            view: View {
                id: Some(id),
                root: Arc::new(root),
                seal: Some(seal),
            },
            nodes: drafted.nodes,
            own,
            note: name_of_note,
        })
    }

    fn write_all(
        &self,
        mut batch: Batch<'_, H::Bucket>,
        seal: &Seal,
        parts: &[(PageId, &[u8])],
        nodes: &[(PageId, Arc<Node>)],
        (id, root): (RootId, &Root),
    ) -> Result<(), PageError> {
        let (label, random) = (self.around.label.as_str(), &self.around.random);
        let failed = |error: BucketError| PageError::Store(self.around.failed(error));
        for (page, part) in parts {
            let name = page.name(label);
            let sealed = seal.seal(&name, part, random)?;
            batch.put(name, sealed).map_err(failed)?;
        }
        for (page, node) in nodes {
            let name = page.name(label);
            let sealed = seal.seal(&name, &node.encode()?, random)?;
            batch.put(name, sealed).map_err(failed)?;
        }
        let name = self.grove.root(label, id);
        let record = seal.write(&name, root, random)?;
        batch.put(name, record).map_err(failed)?;
        batch.flush().map_err(failed)
    }

    /// Deletes, once in some commits, all replaced pages that no reader needs any more, and returns the rest.
    ///
    /// This comes before any write of the next state: an instance that is cut off here leaves a root that still names these pages, so a
    /// later commit deletes them. An attempt that will be outrun may delete them as well, since no later state refers to them.
    fn clear(&self, retired: &[Generation]) -> Vec<Generation> {
        let mut left = retired;
        if retired.len() + 1 >= GRACE_COMMITS + COMMITS_BETWEEN_CLEARINGS
            && let Some((due, needed)) = retired.split_at_checked(retired.len() + 1 - GRACE_COMMITS)
            && self.delete(due, None).is_ok()
        {
            left = needed;
        }
        let over = left.len().saturating_sub(MAXIMUM_GENERATIONS - 1);
        left.iter().skip(over).cloned().collect()
    }

    /// The note about the pages of an attempt, to be written with the first of them, and the name of its place. Deletes the pages of an
    /// attempt that has lost and left its note there.
    fn note_of(
        &self,
        view: &View,
        own: &Generation,
    ) -> Result<Option<(String, Vec<u8>)>, PageError> {
        let around = self.around;
        // No other instance has the keys of a first commit until that commit counts.
        let (Some(base), Some(seal)) = (view.id, &view.seal) else {
            return Ok(None);
        };
        let mut name = String::new();
        for place in Note::places(&around.random)? {
            name = self.grove.note(&around.label, place);
            let Some(before) = self.note(seal, &name) else {
                break;
            };
            if before.has_lost(view) {
                // A page that stays where this fails takes room and does no harm.
                let _ = self.delete(std::slice::from_ref(&before.own), None);
            }
            if !before.may_yet_win(view) {
                break;
            }
        }
        let own = own.clone();
        let sealed = seal.seal(&name, &Note { base, own }.encode()?, &around.random)?;
        Ok(Some((name, sealed)))
    }

    /// The note under `name`; `None` also where it cannot be read, since a note only saves room.
    fn note(&self, seal: &Seal, name: &str) -> Option<Note> {
        let sealed = self.bucket.get(name).ok()??;
        Note::decode(&seal.open(name, sealed).ok()?).ok()
    }

    /// Deletes pages that no head names, and their note. The note may be that of another attempt by now, which then has none.
    fn discard(&self, own: &Generation, note: Option<String>) {
        // A page that stays where this fails takes room and does no harm.
        let _ = self.delete(std::slice::from_ref(own), note);
    }

    /// Deletes the records of these generations, and a note behind them.
    fn delete(&self, generations: &[Generation], note: Option<String>) -> Result<(), BucketError> {
        let label = self.around.label.as_str();
        let names = generations.iter().flat_map(|generation| {
            let pages = generation.pages.iter().map(|page| page.name(label));
            let root = generation.root.map(|id| self.grove.root(label, id));
            pages.chain(root)
        });
        delete_all(&*self.bucket, &names.chain(note).collect::<Vec<_>>())?;
        let mut memory = self.memory();
        for generation in generations {
            memory.forget(&generation.pages);
        }
        Ok(())
    }
}

/// The version of the first commit: random, so that no version of one store is one of another, or of this one before it was lost. It cannot
/// overflow: that takes more commits than there is time for.
fn first_sequence(random: &impl Random) -> Result<u64, RandomError> {
    let mut bytes = [0; 8];
    random.fill(&mut bytes)?;
    Ok(u64::from_be_bytes(bytes) >> 1)
}
