//! The interfaces `gatehouse:storage/key-value` and `gatehouse:storage/cache` over a store of `wasi:keyvalue` 0.2.0-draft2, such as
//! Spin has: no transactions, no order, and a compare-and-swap of single records.
//!
//! **How a commit becomes one write.** The entries are a tree of pages (a B+tree). A page is never changed: it is sealed, stored under a
//! random number, and read by that number. One record of eight bytes, the head, holds the number of the root that counts. A commit
//! reads the head, evaluates its checks on the state that it names, writes new pages beside the old ones up to a new root, and moves
//! the head by compare-and-swap. That swap is the commit: before it nothing has changed for any reader, after it everything has. Nothing
//! is applied later, so an instance that is cut off after any write leaves a whole state, and perhaps pages that no root refers to.
//!
//! - A commit that loses the swap deletes its own pages and decides again on the state that won. After 32 attempts the store is
//!   `unavailable` because it is contended. The pauses between attempts have jitter, and grow with the time that an attempt takes.
//! - A swap that failed or was refused may have happened nevertheless: a host that repeats a swap after it lost the answer is refused by
//!   its own success. So the commit first looks for its root, in the head and among the 128 earlier roots that the root which counts names.
//!   Pages that may still come to count are not deleted, and the answer is `unavailable`.
//! - The pages that a commit replaces stay for at least four commits, for readers that still use them. Every fifth commit deletes the older
//!   ones, in one call, before it writes anything: an instance that is cut off in between leaves them to a later commit. A reader whose
//!   pages are gone by then begins again at the head. A page that is missing while its root counts is `corrupt`.
//! - An attempt lists the pages that it writes in a note, in one of eight places, which goes into its first batch. If the attempt is cut
//!   off, a later attempt that comes to the same place deletes these pages, once the first one has permanently lost. Notes only save room:
//!   the state that counts never depends on one, so it does not matter that a host may write a batch in pieces.
//! - The head is made by adding zero to it: on Spin a swap compares only records that existed when it began, and a counter that does not
//!   have eight bytes makes Spin panic. So the head always has eight bytes.
//! - Values above 1.5 KiB lie in pages of their own, in parts of at most 256 KiB.
//! - Expired entries read as absent, and are dropped by commits that touch their leaf, and a few leaves more each time.
//! - The cache is a second tree with a head of its own in the same bucket. Where it is damaged, the next commit begins it anew.
//!
//! **What holds** (SEC-K1, SEC-K2, SEC-K8): pages and roots are sealed whole by the [barrier](gatehouse_barrier), each for the record
//! that it is under. Keys and values of entries never show in the bucket, and neither does their order. A page that was altered, cut,
//! exchanged or moved does not open, and the call fails with `corrupt` and the key that was asked for. The keys that seal are in the root's
//! record, sealed by the key that the host's configuration has as `seal_key`. Without that variable every call fails with `sealed`; with
//! another key, or where the label has no store, with `unavailable` and a text that says what to mend. Layouts have a number, and what a
//! newer version wrote is refused and left alone.
//!
//! **What does not**: a party that can write to the bucket can put an older head, or none, in the place of the one that counts. As long as
//! the pages of that state exist, the store is then what it was at that time, and that goes unnoticed. The sizes of pages, and the number
//! of pages that a commit wrote, are visible.
//!
//! The logic is plain Rust over the ports of [`gatehouse_ports`] and the two traits [`Host`] and [`Bucket`]. Compiled with the feature
//! `component` and one of the features `label-…` it is a component; the label is part of the component so that no configuration can
//! give a capability another one's records.
//!
//! With the feature `over-sqlite` besides, the component keeps records in a SQLite database of the host instead ([`sqlite`]), and with
//! `over-postgres` in a PostgreSQL database that the host can reach ([`postgres`]): where a database is available, it is the better place,
//! since a commit is one statement there.

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
