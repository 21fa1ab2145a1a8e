//! One tree: which state of it counts, and how the next one comes to count.

use std::cell::Cell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gatehouse_ports::rules::holds;
use gatehouse_ports::{
    Change, Check, Clock, CommitError, Random, RandomError, StoreError, Version,
};

use crate::bucket::{Bucket, BucketError, Host};
use crate::draft::{Draft, Drafted};
use crate::fault::{Failure, Fault};
use crate::memory::{Memory, View};
use crate::names::{Grove, PageId, RootId};
use crate::node::Node;
use crate::reader::Reader;
use crate::root::{Generation, Root, Seal};
use crate::surroundings::Surroundings;

/// How often a commit is tried while others come first, and a read while what it reads is cleared away.
pub const MAXIMUM_ATTEMPTS: u32 = 32;

/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_millis(64);

/// How many commits ago a page must have been replaced to be deleted: as long, whoever reads there can go on.
const GRACE_COMMITS: usize = 4;

/// Most records, and about the most bytes, that are written at once.
const BATCH_RECORDS: usize = 64;
const BATCH_BYTES: usize = 1024 * 1024;

/// How one attempt to commit ended.
enum Attempt {
    /// The changes are stored, or there was nothing to change.
    Done,
    /// Another commit came first.
    Outrun,
}

/// One tree in a bucket, as one instance knows it.
pub struct Tree {
    grove: Grove,
    memory: Mutex<Memory>,
    /// Held by the one commit of this instance that is under way: against each other they could only lose.
    turn: Mutex<()>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tree {
    pub fn new(grove: Grove) -> Self {
        Self {
            grove,
            memory: Mutex::default(),
            turn: Mutex::default(),
        }
    }

    /// Runs `read`, which asks for `key` first, on the state that counts now. It is run again when that state has been cleared away before
    /// it was done, or when it left out what has expired meanwhile and somebody else may have prolonged.
    pub fn read<H: Host, C: Clock, R: Random, T>(
        &self,
        around: &Surroundings<H, C, R>,
        key: &str,
        read: impl Fn(&Reader<'_, H::Bucket>, &View) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        let bucket = around.bucket()?;
        let mut head = self.head(around, &*bucket)?;
        for _ in 0..MAXIMUM_ATTEMPTS {
            let mut left_out_expired = false;
            let outcome = self
                .view(around, &*bucket, head)
                .map_err(|fault| fault.on_the_way_to(key))
                .and_then(|view| {
                    let reader = self.reader(around, &*bucket, &view);
                    let answer = read(&reader, &view);
                    left_out_expired = reader.left_out_expired.get();
                    answer
                });
            match outcome {
                Ok(answer) => {
                    let before = head;
                    if left_out_expired {
                        head = self.head(around, &*bucket)?;
                    }
                    if head == before {
                        return Ok(answer);
                    }
                }
                Err(failure) if failure.fault == Fault::Missing => {
                    let before = head;
                    head = self.head(around, &*bucket)?;
                    if head == before {
                        return Err(failure.into_error());
                    }
                }
                Err(failure) => return Err(failure.into_error()),
            }
        }
        Err(contended())
    }

    /// Applies all `changes` if every check holds, and otherwise nothing.
    pub fn commit<H: Host, C: Clock, R: Random>(
        &self,
        around: &Surroundings<H, C, R>,
        checks: &[Check],
        changes: &[Change],
    ) -> Result<(), CommitError> {
        let _turn = lock(&self.turn);
        for attempt in 0..MAXIMUM_ATTEMPTS {
            if attempt > 1 {
                around.clock.sleep(pause(attempt, &around.random));
            }
            match self.attempt(around, checks, changes)? {
                Attempt::Done => return Ok(()),
                Attempt::Outrun => {}
            }
        }
        Err(contended().into())
    }

    fn attempt<H: Host, C: Clock, R: Random>(
        &self,
        around: &Surroundings<H, C, R>,
        checks: &[Check],
        changes: &[Change],
    ) -> Result<Attempt, CommitError> {
        let bucket = around.bucket()?;
        let name = self.grove.head(&around.label);
        let current = || {
            let current = bucket.current(&name);
            current.map_err(|error| around.failed(error))
        };
        let (mut swap, mut found) = current()?;
        if found.is_none() {
            // A host may overwrite unasked what came into being after it was asked: so a swap needs a record that is there.
            let made = bucket.increment(&name, 0);
            made.map_err(|error| around.failed(error))?;
            (swap, found) = current()?;
            if found.is_none() {
                let why = "the host's key-value store does not keep the counter that was just made; use the SQLite provider";
                return Err(StoreError::Unavailable(why.to_owned()).into());
            }
        }
        let head = head_of(found)?;
        let prepared = self.prepare(around, &*bucket, head, checks, changes);
        let next = match prepared {
            // What held then must hold now: no swap shows it.
            Ok(None) if self.head(around, &*bucket)? == head => return Ok(Attempt::Done),
            Ok(None) => return Ok(Attempt::Outrun),
            Ok(Some(next)) => next,
            Err(Refusal::Conflict(key)) => return Err(CommitError::Conflict(key)),
            Err(Refusal::Failure(failure)) => {
                let is_outrun =
                    failure.fault == Fault::Missing && self.head(around, &*bucket)? != head;
                if is_outrun {
                    return Ok(Attempt::Outrun);
                }
                return Err(failure.into_error().into());
            }
        };
        match bucket.swap(swap, &next.id.to_head()) {
            Ok(true) => {}
            Ok(false) => {
                // Nobody has seen these pages, and nobody will. What stays where this fails takes room and does no harm.
                let _ = delete(&*bucket, next.own_names);
                return Ok(Attempt::Outrun);
            }
            Err(error) if self.came_to_count(around, &*bucket, next.id) => drop(error),
            Err(error) => return Err(around.failed(error).into()),
        }
        let mut memory = lock(&self.memory);
        for (page, node) in next.nodes {
            memory.keep_node(page, node);
        }
        memory.forget(&next.cleared);
        memory.keep_view(next.view);
        drop(memory);
        let _ = delete(&*bucket, next.cleared_names);
        Ok(Attempt::Done)
    }

    /// Evaluates the checks and writes everything of the next state but the head; `None` if there is nothing to change.
    fn prepare<H: Host, C: Clock, R: Random>(
        &self,
        around: &Surroundings<H, C, R>,
        bucket: &H::Bucket,
        head: Option<RootId>,
        checks: &[Check],
        changes: &[Change],
    ) -> Result<Option<Next>, Refusal> {
        let first = checks.first().map(|check| check.key.as_str());
        let first = first.or_else(|| changes.first().map(Change::key));
        let here = |fault: Fault| fault.on_the_way_to(first.unwrap_or_default());
        let view = self.view(around, bucket, head).map_err(here)?;
        let reader = self.reader(around, bucket, &view);
        let now = around.clock.now_milliseconds();
        for check in checks {
            let found = reader.find(&view.root.top, &check.key);
            let found = found.map_err(|fault| fault.on_the_way_to(&check.key))?;
            let live = found.filter(|item| reader.is_live(item, now));
            if !holds(check.requirement, live.map(|item| item.version)) {
                return Err(Refusal::Conflict(check.key.clone()));
            }
        }
        let sequence = match view.id {
            None => first_sequence(&around.random).map_err(|error| here(error.into()))?,
            Some(_) => view.root.sequence + 1,
        };
        let draft = Draft::new(&reader, &around.random, now);
        let drafted = draft.apply(&view.root.top, changes, Version(sequence))?;
        let Some(drafted) = drafted else {
            return Ok(None);
        };
        let next = self.write(around, bucket, &view, drafted, sequence);
        Ok(Some(next.map_err(here)?))
    }

    fn write<H: Host, C: Clock, R: Random>(
        &self,
        around: &Surroundings<H, C, R>,
        bucket: &H::Bucket,
        view: &View,
        drafted: Drafted<'_>,
        sequence: u64,
    ) -> Result<Next, Fault> {
        let (label, random) = (around.label.as_str(), &around.random);
        let Drafted {
            top,
            nodes,
            parts,
            retired,
        } = drafted;
        let seal = match &view.seal {
            Some(seal) => seal.clone(),
            None => Seal::generate(label, &around.root_key()?, random)?,
        };
        let replaced = Generation {
            root: view.id,
            pages: retired,
        };
        let over = (view.root.retired.len() + 1).saturating_sub(GRACE_COMMITS);
        let mut generations = view.root.retired.clone();
        let cleared: Vec<Generation> = generations.drain(..over.min(generations.len())).collect();
        generations.push(replaced);
        let root = Root {
            sequence,
            retired: generations,
            top: Arc::new(top),
        };

        let id = RootId::fresh(random)?;
        let mut batch = Batch::new(bucket);
        let write = || -> Result<(), Fault> {
            let mut put = |name: String, bytes: Vec<u8>| {
                let put = batch.put(name, bytes);
                put.map_err(|error| Fault::Store(around.failed(error)))
            };
            for (page, part) in parts {
                let name = page.name(label);
                let sealed = seal.seal(&name, part, random)?;
                put(name, sealed)?;
            }
            for (page, node) in &nodes {
                let name = page.name(label);
                let sealed = seal.seal(&name, &node.encode()?, random)?;
                put(name, sealed)?;
            }
            let name = self.grove.root(label, id);
            let record = seal.write(&name, &root, random)?;
            put(name, record)?;
            let flushed = batch.flush();
            flushed.map_err(|error| Fault::Store(around.failed(error)))
        };
        let written = write();
        let own_names = batch.written;
        if let Err(fault) = written {
            // No head names these pages. A store that is full is not to be filled by those who try again.
            let _ = delete(bucket, own_names);
            return Err(fault);
        }

        let root_name = |generation: &Generation| Some(self.grove.root(label, generation.root?));
        let cleared_pages: Vec<PageId> = cleared.iter().flat_map(|it| it.pages.clone()).collect();
        let page_names = cleared_pages.iter().map(|page| page.name(label));
        let cleared_names = page_names
            .chain(cleared.iter().filter_map(root_name))
            .collect();
        Ok(Next {
            id,
            view: View {
                id: Some(id),
                root: Arc::new(root),
                seal: Some(seal),
            },
            nodes,
            own_names,
            cleared: cleared_pages,
            cleared_names,
        })
    }

    /// Whether the commit that wrote root `id` counts, after a swap whose outcome nobody told.
    fn came_to_count<H: Host, C: Clock, R: Random>(
        &self,
        around: &Surroundings<H, C, R>,
        bucket: &H::Bucket,
        id: RootId,
    ) -> bool {
        let Ok(head) = self.head(around, bucket) else {
            return false;
        };
        if head == Some(id) {
            return true;
        }
        let follows = |view: View| view.root.retired.iter().any(|it| it.root == Some(id));
        self.view(around, bucket, head).is_ok_and(follows)
    }

    /// Which root counts now.
    fn head<H: Host, C: Clock, R: Random>(
        &self,
        around: &Surroundings<H, C, R>,
        bucket: &H::Bucket,
    ) -> Result<Option<RootId>, StoreError> {
        let name = self.grove.head(&around.label);
        let current = bucket.current(&name);
        let (_, found) = current.map_err(|error| around.failed(error))?;
        head_of(found)
    }

    /// The state that `head` names.
    fn view<H: Host, C: Clock, R: Random>(
        &self,
        around: &Surroundings<H, C, R>,
        bucket: &H::Bucket,
        head: Option<RootId>,
    ) -> Result<View, Fault> {
        let last = lock(&self.memory).last().cloned();
        let Some(id) = head else {
            // Nothing to open, and yet nobody reads or writes here without the key.
            around.root_key()?;
            return Ok(View {
                id: None,
                root: Arc::new(Root::empty()),
                seal: None,
            });
        };
        if let Some(last) = &last
            && last.id == head
        {
            return Ok(last.clone());
        }
        let name = self.grove.root(&around.label, id);
        let record = bucket.get(&name).map_err(|error| around.failed(error))?;
        let record = record.ok_or(Fault::Missing)?;
        let known = last.and_then(|view| view.seal);
        let root_key = || around.root_key();
        let (seal, root) = Seal::read(&around.label, &name, &record, known, root_key)?;
        let view = View {
            id: head,
            root: Arc::new(root),
            seal: Some(seal),
        };
        lock(&self.memory).keep_view(view.clone());
        Ok(view)
    }

    fn reader<'a, H: Host, C, R>(
        &'a self,
        around: &'a Surroundings<H, C, R>,
        bucket: &'a H::Bucket,
        view: &View,
    ) -> Reader<'a, H::Bucket> {
        Reader {
            bucket,
            label: &around.label,
            memory: &self.memory,
            seal: view.seal.clone(),
            left_out_expired: Cell::new(false),
        }
    }
}

/// A state that is written and does not count yet.
struct Next {
    id: RootId,
    view: View,
    nodes: Vec<(PageId, Arc<Node>)>,
    /// Everything that was written for it.
    own_names: Vec<String>,
    /// Pages that nobody needs once it counts.
    cleared: Vec<PageId>,
    /// What to delete once it counts.
    cleared_names: Vec<String>,
}

/// Why a commit was not prepared.
enum Refusal {
    Conflict(String),
    Failure(Failure),
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

/// Records on their way to the bucket.
struct Batch<'a, B> {
    bucket: &'a B,
    waiting: Vec<(String, Vec<u8>)>,
    bytes: usize,
    /// The names of all that was written, or may have been.
    written: Vec<String>,
}

impl<'a, B: Bucket> Batch<'a, B> {
    const fn new(bucket: &'a B) -> Self {
        Self {
            bucket,
            waiting: Vec::new(),
            bytes: 0,
            written: Vec::new(),
        }
    }

    fn put(&mut self, name: String, bytes: Vec<u8>) -> Result<(), BucketError> {
        self.bytes += bytes.len();
        self.waiting.push((name, bytes));
        if self.waiting.len() >= BATCH_RECORDS || self.bytes >= BATCH_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), BucketError> {
        let batch = std::mem::take(&mut self.waiting);
        self.bytes = 0;
        self.written
            .extend(batch.iter().map(|(name, _)| name.clone()));
        if batch.is_empty() {
            return Ok(());
        }
        self.bucket.set_many(batch)
    }
}

fn delete(bucket: &impl Bucket, names: Vec<String>) -> Result<(), BucketError> {
    for batch in names.chunks(BATCH_RECORDS) {
        bucket.delete_many(batch.to_vec())?;
    }
    Ok(())
}

fn head_of(found: Option<Vec<u8>>) -> Result<Option<RootId>, StoreError> {
    let Some(found) = found else {
        return Ok(None);
    };
    let head = <[u8; 8]>::try_from(found).map_err(|found| {
        StoreError::Unavailable(format!(
            "the head of the store has {} bytes instead of 8: it was altered, or the provider behind the key-value store keeps \
             numbers in a way of its own; use the SQLite provider",
            found.len()
        ))
    })?;
    Ok(RootId::from_head(head))
}

fn contended() -> StoreError {
    StoreError::Unavailable(format!(
        "the store is contended: other commits came first {MAXIMUM_ATTEMPTS} times in a row"
    ))
}

/// The version of the first commit: random, so that no version of one store is one of another, or of this one before it was lost.
/// Counting up from there takes more commits than there is time for.
fn first_sequence(random: &impl Random) -> Result<u64, RandomError> {
    let mut bytes = [0; 8];
    random.fill(&mut bytes)?;
    Ok(u64::from_be_bytes(bytes) >> 1)
}

/// A random part of a bound that doubles from 1 ms to 64 ms.
fn pause(attempt: u32, random: &impl Random) -> Duration {
    let bound = Duration::from_millis(1)
        .saturating_mul(1 << attempt.min(6))
        .min(LONGEST_PAUSE);
    let mut byte = [u8::MAX];
    // Without randomness the pause is the longest: slower, never wrong.
    if random.fill(&mut byte).is_err() {
        return bound;
    }
    let [byte] = byte;
    bound.mul_f64(f64::from(byte) / 255.0)
}
