//! Backups of the store that the settings name: made beside a server or without one, verified, and restored (SEC-S11).
//!
//! The file and what is proven about it are `gatehouse_store`'s. Here is what is around it: where the key comes from, where the file goes,
//! that tokens end which would be valid again, and the witness, which would take a restored store for an old copy.

mod destination;
mod making;
mod restoring;
mod root_key;
mod served;
#[cfg(feature = "spin")]
mod spin;

pub use destination::Destination;
pub use making::begin_offline;
pub use restoring::{RestoreOptions, Restored, restore};
pub use root_key::{KeySource, root_key};
pub use served::ServedBackups;
#[cfg(feature = "spin")]
pub use spin::{SpinInstallation, SpinRecords, begin_under_spin, restore_under_spin};
