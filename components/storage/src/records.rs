//! Reading records.

use gatehouse_ports::{Entry, Item, Store};

use crate::{Loaded, Record, StorageError, Transaction, TransactionError, decode};

/// How many entries one round of a longer scan asks for.
const SCAN_PAGE: u32 = 500;

/// A store seen as records.
#[derive(Debug, Clone, Copy)]
pub struct Records<S> {
    store: S,
}

impl<S: Store> Records<S> {
    /// Records in `store`.
    pub const fn new(store: S) -> Self {
        Self { store }
    }

    /// The store beneath, for what records do not cover.
    pub const fn store(&self) -> &S {
        &self.store
    }

    /// Reads one record; `None` where there is none.
    ///
    /// # Errors
    ///
    /// When the store does not answer or the entry is not a record of this type.
    pub fn get<R: Record>(&self, key: &str) -> Result<Option<Loaded<R>>, StorageError> {
        let entry = self.store.get(&[key])?.into_iter().next().flatten();
        Self::load(entry)
    }

    /// Reads the entries of several keys of different types in one round trip; [`Self::load`] turns each into its record.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub fn entries<const N: usize>(
        &self,
        keys: [&str; N],
    ) -> Result<[Option<Entry>; N], StorageError> {
        self.store
            .get(&keys)?
            .try_into()
            .map_err(|_| StorageError::Malformed)
    }

    /// Reads several records of one type, in the order of `keys`.
    ///
    /// # Errors
    ///
    /// When the store does not answer or an entry is not a record of this type.
    pub fn get_all<R: Record>(
        &self,
        keys: &[&str],
    ) -> Result<Vec<Option<Loaded<R>>>, StorageError> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        self.store.get(keys)?.into_iter().map(Self::load).collect()
    }

    /// The record in an entry that was read.
    ///
    /// # Errors
    ///
    /// When the entry is not a record of this type.
    pub fn load<R: Record>(entry: Option<Entry>) -> Result<Option<Loaded<R>>, StorageError> {
        entry
            .map(|entry| {
                Ok(Loaded {
                    record: decode(&entry.value)?,
                    version: entry.version,
                })
            })
            .transpose()
    }

    /// All items under `prefix`, in byte order, read in pages.
    ///
    /// For sets that an operator keeps small, such as the roles of one mount; what grows with use is paged by its reader.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub fn scan_all(&self, prefix: &str) -> Result<Vec<Item>, StorageError> {
        let mut items: Vec<Item> = Vec::new();
        loop {
            let after = items.last().map(|item| item.key.clone());
            let page = self.store.scan(prefix, after.as_deref(), SCAN_PAGE)?;
            items.extend(page.items);
            if !page.more {
                return Ok(items);
            }
        }
    }

    /// Commits `transaction`; one without changes and checks is a success without a call.
    ///
    /// # Errors
    ///
    /// When a check did not hold or the store failed.
    pub fn commit(&self, transaction: Transaction) -> Result<(), TransactionError> {
        if transaction.is_empty() {
            return Ok(());
        }
        let (checks, changes) = transaction.into_parts();
        Ok(self.store.commit(checks, changes)?)
    }
}
