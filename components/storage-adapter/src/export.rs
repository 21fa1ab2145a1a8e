//! Reading a store as a whole, for programs that move an installation to another kind of store.

use gatehouse_ports::StoreError;
use zeroize::Zeroizing;

/// An entry with its value opened.
#[derive(Clone, PartialEq, Eq)]
pub struct ExportedEntry {
    /// The whole key.
    pub key: String,
    /// The value.
    pub value: Zeroizing<Vec<u8>>,
    /// Milliseconds since 1970 from which on it reads as absent; `None` for never.
    pub expires_at: Option<u64>,
}

/// The content of a store, page after page. The pages are of one point in time only where the caller sees to that, by a transaction of the
/// database or because no other program writes.
pub trait Export {
    /// Opens the store and its keyring.
    ///
    /// # Errors
    ///
    /// When the database cannot be used, or was made with another key.
    fn open(&self) -> Result<(), StoreError>;

    /// Reads live entries whose key is greater than `after`, in byte order: at most `entries`, and none after the entry with which they
    /// pass `bytes`. Empty at the end.
    ///
    /// # Errors
    ///
    /// When the database fails, or an entry cannot be trusted.
    fn export(
        &self,
        after: Option<&str>,
        entries: u32,
        bytes: usize,
    ) -> Result<Vec<ExportedEntry>, StoreError>;
}
