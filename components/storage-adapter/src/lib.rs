//! The interfaces `gatehouse:storage/key-value` and `gatehouse:storage/cache` over a store of `wasi:keyvalue` 0.2.0-draft2, such as
//! Spin has: no transactions, no order, and a compare-and-swap of single records.
//!
//! **How a commit becomes one write.** The entries are a tree of pages (a B+tree). A page is never changed: it is sealed, stored under a
//! random number, and read by that number. One record of eight bytes, the head, holds the number of the root that counts. A commit
//! reads the head, evaluates its checks on the state that it names, writes new pages beside the old ones up to a new root, and moves
//! the head by compare-and-swap. That swap is the commit: before it nothing has changed for any reader, after it everything has. Nothing
//! is applied later, so whoever is cut off after any write leaves a whole state, and perhaps pages that no root refers to.
//!
//! - Whoever loses the swap deletes its own pages and decides again on the state that won, at most 32 times; then the store is
//!   `unavailable` because it is contended. The pauses between have jitter, and follow how long an attempt takes.
//! - A swap that failed or was refused may have happened nevertheless: a host that repeats one whose answer it has lost is refused by its
//!   own success. So its root is looked for first, in the head and among the 128 roots that the one which counts names as those before
//!   it. What may still come to count is not deleted, and the answer is `unavailable`.
//! - What a commit replaces stays for at least four commits, for those who still read there. Every fifth one deletes what is left from
//!   before, in one call, before it writes anything: so whoever is cut off in between leaves it to a later commit. A reader whose pages are gone by then begins
//!   again at the head. A page that is missing while its root counts is `corrupt`.
//! - What an attempt writes it says in a note, in one of eight places, which goes into its first batch. Who comes to the same place later
//!   deletes what an attempt has left that was cut off, once it has lost for ever. Notes serve room alone: what counts never depends on
//!   one, so it does not matter that a host may write a batch in pieces.
//! - The head is made by adding zero to it: on Spin a swap compares only records that were there when it began, and a counter that
//!   has not eight bytes makes it panic. So the head always has eight bytes.
//! - Values above 1.5 KiB lie in pages of their own, in parts of at most 256 KiB.
//! - Expired entries read as absent, and are dropped by commits that touch their leaf, and a few leaves more each time.
//! - The cache is a second tree with a head of its own in the same bucket. Where it is damaged, the next commit begins it anew.
//!
//! **What holds** (SEC-K1, SEC-K2, SEC-K8): pages and roots are sealed whole by the [barrier](gatehouse_barrier), each for the record
//! that it is under. Keys and values of entries never show in the bucket, nor how they are ordered. A page that was altered, cut,
//! exchanged or moved does not open, and the call fails with `corrupt` and the key that was asked for. The keys that seal are in the
//! root's record, sealed by the key that the host's configuration has as `seal_key`. Without that variable every call fails with
//! `sealed`; with another key, or where the label has no store, with `unavailable` and a text that says what to mend. Layouts have a
//! number, and what a newer version wrote is refused and left alone.
//!
//! **What does not**: who can write to the bucket can put an older head, or none, in the place of the one that counts. As long as the pages
//! of that state are there, the store is then what it was at that time, and that goes unnoticed. Sizes of pages, and how many a commit
//! wrote, show.
//!
//! The logic is plain Rust over the ports of [`gatehouse_ports`] and the two traits [`Host`] and [`Bucket`]. Compiled with the feature
//! `component` and one of the features `label-…` it is a component; the label is part of the component so that no configuration can
//! give a capability another one's records.
//!
//! With the feature `over-sqlite` besides, the component keeps records in a SQLite database of the host instead ([`sqlite`]), and with
//! `over-postgres` in a PostgreSQL database that the host can reach ([`postgres`]): where there is one, that is the better place, since a
//! commit is one statement there.

mod adapter;
mod batch;
mod bucket;
mod commit;
#[cfg(all(target_family = "wasm", feature = "component"))]
mod component;
mod draft;
mod error;
mod export;
mod memory;
mod names;
mod node;
mod note;
pub mod postgres;
mod reader;
mod root;
mod seal_key;
pub mod sql;
pub mod sqlite;
mod surroundings;
mod tree;
pub mod untrusted;
mod visit;

pub use adapter::Adapter;
pub use bucket::{Bucket, BucketError, Host};
pub use export::{Export, ExportedEntry};
pub use visit::MAXIMUM_ATTEMPTS;
