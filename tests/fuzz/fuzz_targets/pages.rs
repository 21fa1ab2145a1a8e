//! Bytes that the bucket behind the storage adapter gives back: pages, roots, notes and heads.
//!
//! Properties (SEC-K1, K8, V1): nothing panics; a record that is altered, cut, exchanged or moved is never read as an entry; and without a
//! change of the head a reader gets the current state, or nothing. A change of the head may select another state, but only a whole one.
//!
//! The first byte selects: a decoder for the bytes that follow, or a bucket that has been used, on which they are a list of damages.

#![no_main]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use gatehouse_ports::doubles::{ManualClock, SeededRandom};
use gatehouse_ports::{Cache as _, Change, Put, Store as _, StoreError};
use gatehouse_storage_adapter::{Adapter, Bucket, BucketError, Host, untrusted};
use libfuzzer_sys::fuzz_target;
use zeroize::Zeroizing;

const LABEL: &str = "access";
const SEAL_KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const HEAD: &str = "gatehouse.access.records.head";
/// Most damages of one input.
const MAXIMUM_DAMAGES: usize = 4;

type Records = BTreeMap<String, Vec<u8>>;
type Contents = BTreeMap<String, Vec<u8>>;
type Instance = Adapter<Shelf, &'static ManualClock, SeededRandom>;

/// A bucket. Clones are the same bucket.
#[derive(Clone, Default)]
struct Shelf(Rc<RefCell<Records>>);

impl Bucket for Shelf {
    type Swap = (String, Option<Vec<u8>>);

    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, BucketError> {
        Ok(self.0.borrow().get(key).cloned())
    }

    fn set_many(&self, pairs: Vec<(String, Vec<u8>)>) -> Result<(), BucketError> {
        self.0.borrow_mut().extend(pairs);
        Ok(())
    }

    fn delete_many(&self, keys: Vec<String>) -> Result<(), BucketError> {
        self.0.borrow_mut().retain(|key, _| !keys.contains(key));
        Ok(())
    }

    fn increment(&self, key: &str, delta: i64) -> Result<i64, BucketError> {
        let mut records = self.0.borrow_mut();
        let number = records.entry(key.to_owned()).or_insert_with(|| vec![0; 8]);
        let bytes: [u8; 8] = number
            .as_slice()
            .try_into()
            .map_err(|_| BucketError::Other("no counter".to_owned()))?;
        let sum = i64::from_le_bytes(bytes).wrapping_add(delta);
        *number = sum.to_le_bytes().to_vec();
        Ok(sum)
    }

    fn current(&self, key: &str) -> Result<(Self::Swap, Option<Vec<u8>>), BucketError> {
        let value = self.0.borrow().get(key).cloned();
        Ok(((key.to_owned(), value.clone()), value))
    }

    fn swap(&self, (key, expected): Self::Swap, value: &[u8]) -> Result<bool, BucketError> {
        let mut records = self.0.borrow_mut();
        let is_same = records.get(&key) == expected.as_ref();
        if is_same {
            records.insert(key, value.to_vec());
        }
        Ok(is_same)
    }
}

impl Host for Shelf {
    type Bucket = Self;

    fn open(&self, _: &str) -> Result<Self, BucketError> {
        Ok(self.clone())
    }

    fn seal_key(&self) -> Result<Option<Zeroizing<String>>, String> {
        Ok(Some(Zeroizing::new(SEAL_KEY.to_owned())))
    }
}

struct World {
    clock: &'static ManualClock,
    /// The records after the last commit.
    records: Records,
    /// The contents after each commit, and before the first.
    states: Vec<Contents>,
    cached: Vec<u8>,
}

thread_local! {
    static WORLD: World = World::new();
}

impl World {
    fn new() -> Self {
        let clock: &'static ManualClock = Box::leak(Box::new(ManualClock::at_seconds(1_000)));
        let shelf = Shelf::default();
        let store = instance(&shelf, clock, 1);
        let mut states = vec![Contents::new()];
        for round in 0_u8..6 {
            // Leaves of several pages; values in them, and values in pages of their own, in one part and in two.
            let mut changes: Vec<Change> = (0..40_u8)
                .map(|number| {
                    put(
                        &format!("k/{number:03}"),
                        vec![round; 20 * usize::from(number)],
                    )
                })
                .collect();
            changes.push(put(&format!("round/{round}"), vec![round; 2_000]));
            changes.push(put("large", vec![round; 300 << 10]));
            store.commit(Vec::new(), changes).expect("a commit");
            states.push(contents(&store).expect("what was stored"));
        }
        let cached = b"remembered".to_vec();
        assert!(store.swap("c", None, &cached, u64::MAX));
        Self {
            clock,
            records: shelf.0.borrow().clone(),
            states,
            cached,
        }
    }
}

fn instance(shelf: &Shelf, clock: &'static ManualClock, seed: u64) -> Instance {
    Adapter::new(shelf.clone(), LABEL, clock, SeededRandom::new(seed))
}

fn put(key: &str, value: Vec<u8>) -> Change {
    Change::Put(Put {
        key: key.to_owned(),
        value,
        expires_at: None,
    })
}

/// Everything that `store` holds.
fn contents(store: &Instance) -> Result<Contents, StoreError> {
    let mut contents = Contents::new();
    let mut after: Option<String> = None;
    loop {
        let page = store.scan("", after.as_deref(), 50)?;
        after = page.items.last().map(|item| item.key.clone());
        let items = page.items.into_iter();
        contents.extend(items.map(|item| (item.key, item.entry.value)));
        if !page.more {
            return Ok(contents);
        }
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((choice, input)) = input.split_first() else {
        return;
    };
    match choice % 4 {
        0 => stays(untrusted::node, input),
        1 => stays(untrusted::root, input),
        2 => stays(untrusted::note, input),
        _ => WORLD.with(|world| damaged(world, input)),
    }
});

/// Asserts that a page that can be read is the same when it is written and read again.
fn stays(read: fn(&[u8]) -> Option<Zeroizing<Vec<u8>>>, bytes: &[u8]) {
    if let Some(written) = read(bytes) {
        assert_eq!(read(&written).as_ref(), Some(&written));
    }
}

fn damaged(world: &World, input: &[u8]) {
    let mut records = world.records.clone();
    for damage in input.chunks_exact(5).take(MAXIMUM_DAMAGES) {
        apply(&mut records, damage);
    }
    let head_is_whole = records.get(HEAD) == world.records.get(HEAD);
    let shelf = Shelf(Rc::new(RefCell::new(records)));
    let last = world.states.last().expect("there were commits");
    let store = instance(&shelf, world.clock, 2);
    if let Ok(found) = contents(&store) {
        let known = if head_is_whole {
            found == *last
        } else {
            world.states.contains(&found)
        };
        assert!(known, "{:?}", found.keys().collect::<Vec<_>>());
    }
    for key in ["k/007", "k/039", "large", "round/0", "never"] {
        if let Ok(found) = gatehouse_ports::Store::get(&store, &[key]) {
            let value = found.into_iter().next().flatten().map(|entry| entry.value);
            let fits = |state: &Contents| state.get(key) == value.as_ref();
            assert!(
                if head_is_whole {
                    fits(last)
                } else {
                    world.states.iter().any(fits)
                },
                "{key}"
            );
        }
    }
    let cached = gatehouse_ports::Cache::get(&store, "c").map(|entry| entry.value);
    assert!(cached.is_none_or(|value| value == world.cached));
    // A writer whose commit succeeds reads back what it has written.
    let writer = instance(&shelf, world.clock, 3);
    if writer
        .commit(Vec::new(), vec![put("k/007", b"new".to_vec())])
        .is_ok()
    {
        let found =
            gatehouse_ports::Store::get(&writer, &["k/007"]).expect("it was stored just now");
        assert!(matches!(&found[..], [Some(entry)] if entry.value == b"new"));
    }
}

/// Applies a damage of five bytes: its kind, the record, a number of two bytes, and a number of one byte.
fn apply(records: &mut Records, damage: &[u8]) {
    let nth = |number: u8| {
        let place = usize::from(number) % records.len().max(1);
        records.keys().nth(place).cloned()
    };
    let (Some(name), Some(other)) = (nth(damage[1]), nth(damage[4])) else {
        return;
    };
    let place = usize::from(u16::from_be_bytes([damage[2], damage[3]]));
    match damage[0] % 6 {
        0 => {
            let record = records.entry(name).or_default();
            let length = record.len().max(1);
            if let Some(byte) = record.get_mut(place % length) {
                *byte ^= damage[4];
            }
        }
        1 => records.entry(name).or_default().truncate(place),
        2 => records.entry(name).or_default().push(damage[4]),
        3 => {
            records.remove(&name);
        }
        4 => {
            let copy = records.get(&other).cloned().unwrap_or_default();
            records.insert(name, copy);
        }
        // A head that names an existing root, or none.
        _ => {
            let root = name.rsplit_once(".root.").map(|(_, number)| number);
            let number = root.and_then(|number| u64::from_str_radix(number, 16).ok());
            records.insert(HEAD.to_owned(), number.unwrap_or(0).to_le_bytes().to_vec());
        }
    }
}
