//! Reading and deleting many records of a mount: in pages, so that neither their number nor their size decides how much memory it takes
//! (SEC-S14).

use std::ops::ControlFlow;

use gatehouse_ports::{Item, Store};
use gatehouse_storage::{Records, StorageError};

/// Records that are read at once where each may be as large as values can be: 16 MiB at most.
pub(crate) const LARGE_AT_ONCE: u32 = 16;
/// Records that are read at once where each is a few bytes.
pub(crate) const SMALL_AT_ONCE: u32 = 1000;

/// Shows `visit` the entries below `prefix` that follow the key `after`, in byte order, until it breaks off. No more than `at_once` of
/// them are held at a time.
pub(crate) fn visit<S: Store>(
    records: &Records<S>,
    prefix: &str,
    mut after: Option<String>,
    at_once: u32,
    mut visit: impl FnMut(Item) -> Result<ControlFlow<()>, StorageError>,
) -> Result<(), StorageError> {
    loop {
        let page = records.store().scan(prefix, after.as_deref(), at_once)?;
        after = page.items.last().map(|item| item.key.clone());
        for item in page.items {
            if visit(item)?.is_break() {
                return Ok(());
            }
        }
        if !page.more {
            return Ok(());
        }
    }
}
