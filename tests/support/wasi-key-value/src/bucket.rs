//! One store, and the handles of its compare-and-swaps.

use crate::client::{Call, KeyValue, Lie, Misuse, Operation};
use crate::{Error, SwapError};

/// An open store.
#[derive(Clone)]
pub struct Bucket {
    client: KeyValue,
    label: String,
}

impl Bucket {
    pub(crate) fn new(client: KeyValue, label: &str) -> Self {
        let label = label.to_owned();
        Self { client, label }
    }

    /// The value under `key`.
    ///
    /// # Errors
    ///
    /// When the call was made to fail.
    pub fn get(&self, key: &str) -> Result<Option<Vec<u8>>, Error> {
        self.client.count(|uses| uses.gets += 1);
        self.read(Operation::Get, key)
    }

    /// Stores `value` under `key`.
    ///
    /// # Errors
    ///
    /// When the call was made to fail.
    pub fn set(&self, key: &str, value: &[u8]) -> Result<(), Error> {
        self.client.count(|uses| uses.sets += 1);
        self.write(Operation::Set, key, value)
    }

    /// Removes what is under `key`, if anything is.
    ///
    /// # Errors
    ///
    /// When the call was made to fail.
    pub fn delete(&self, key: &str) -> Result<(), Error> {
        self.client.count(|uses| uses.deletes += 1);
        self.remove(Operation::Delete, key)
    }

    /// True if anything is under `key`.
    ///
    /// # Errors
    ///
    /// When the call was made to fail.
    pub fn exists(&self, key: &str) -> Result<bool, Error> {
        self.client.count(|uses| uses.others += 1);
        Ok(self.read(Operation::Exists, key)?.is_some())
    }

    /// All keys at once.
    ///
    /// # Errors
    ///
    /// When a cursor is given, or the call was made to fail.
    pub fn list_keys(&self, cursor: Option<&str>) -> Result<Vec<String>, Error> {
        self.client.count(|uses| uses.others += 1);
        if cursor.is_some() {
            return Err(Error::other("list_keys: cursor not supported"));
        }
        self.client.call(
            &call(Operation::ListKeys, "", None),
            |_| None,
            |records| Ok(records.keys(&self.label)),
        )
    }

    /// Adds `delta` to the number under `key`, which counts as 0 where there is none, and returns the sum.
    ///
    /// # Errors
    ///
    /// When what is there has not eight bytes, or the call was made to fail.
    pub fn increment(&self, key: &str, delta: i64) -> Result<i64, Error> {
        self.client.count(|uses| uses.increments += 1);
        self.client.call(
            &call(Operation::Increment, key, None),
            |_| None,
            |records| {
                let number = match records.get(&self.label, key) {
                    None => 0,
                    Some(bytes) => {
                        let Ok(bytes) = bytes.as_slice().try_into() else {
                            self.client.note(Misuse::IncrementOfNoCounter);
                            return Err(Error::other("the host panicked: no counter"));
                        };
                        i64::from_le_bytes(bytes)
                    }
                };
                let sum = number.wrapping_add(delta);
                records.put(&self.label, key, sum.to_le_bytes().to_vec());
                Ok(sum)
            },
        )
    }

    /// The pairs of those `keys` that have a value.
    ///
    /// # Errors
    ///
    /// When the call was made to fail.
    #[allow(clippy::type_complexity, reason = "the type that Spin's WIT has")]
    pub fn get_many(&self, keys: &[String]) -> Result<Vec<(String, Option<Vec<u8>>)>, Error> {
        self.client.count(|uses| uses.others += 1);
        let mut pairs = Vec::new();
        for key in keys.iter().rev() {
            if let Some(value) = self.read(Operation::GetMany, key)? {
                pairs.push((key.clone(), Some(value)));
            }
        }
        Ok(pairs)
    }

    /// Stores all pairs, one by one.
    ///
    /// # Errors
    ///
    /// When one of the writes was made to fail; those before it have happened.
    pub fn set_many(&self, pairs: &[(String, Vec<u8>)]) -> Result<(), Error> {
        self.client.count(|uses| uses.set_manys += 1);
        pairs
            .iter()
            .rev()
            .try_for_each(|(key, value)| self.write(Operation::SetMany, key, value))
    }

    /// Removes what is under `keys`, one by one.
    ///
    /// # Errors
    ///
    /// When one of the writes was made to fail; those before it have happened.
    pub fn delete_many(&self, keys: &[String]) -> Result<(), Error> {
        self.client.count(|uses| uses.others += 1);
        keys.iter()
            .rev()
            .try_for_each(|key| self.remove(Operation::DeleteMany, key))
    }

    /// A compare-and-swap of what is under `key`, which has compared nothing yet.
    #[must_use]
    pub fn cas(&self, key: &str) -> Cas {
        Cas {
            bucket: self.clone(),
            key: key.to_owned(),
            read: None,
        }
    }

    fn read(&self, operation: Operation, key: &str) -> Result<Option<Vec<u8>>, Error> {
        self.client.call(
            &call(operation, key, None),
            |lie| match lie {
                Lie::Stored(value) => Some(value),
                Lie::Changed => None,
            },
            |records| Ok(records.get(&self.label, key).cloned()),
        )
    }

    fn write(&self, operation: Operation, key: &str, value: &[u8]) -> Result<(), Error> {
        self.client.call(
            &call(operation, key, Some(value)),
            |_| None,
            |records| {
                records.put(&self.label, key, value.to_vec());
                Ok(())
            },
        )
    }

    fn remove(&self, operation: Operation, key: &str) -> Result<(), Error> {
        self.client.call(
            &call(operation, key, None),
            |_| None,
            |records| {
                records.remove(&self.label, key);
                Ok(())
            },
        )
    }
}

const fn call<'a>(operation: Operation, key: &'a str, value: Option<&'a [u8]>) -> Call<'a> {
    Call {
        operation,
        key,
        value,
    }
}

/// A compare-and-swap under way.
pub struct Cas {
    bucket: Bucket,
    key: String,
    /// The value that is compared; `None` compares nothing.
    read: Option<Vec<u8>>,
}

impl Cas {
    /// The value that is there now; the swap will compare with it.
    ///
    /// # Errors
    ///
    /// When the call was made to fail.
    pub fn current(&mut self) -> Result<Option<Vec<u8>>, Error> {
        self.bucket.client.count(|uses| uses.currents += 1);
        let found = self.bucket.read(Operation::Current, &self.key)?;
        self.read.clone_from(&found);
        Ok(found)
    }

    /// Stores `value` if the record is what [`Self::current`] returned; in any case if that was nothing or was not called.
    ///
    /// # Errors
    ///
    /// When the record has changed, or the call was made to fail.
    pub fn swap(self, value: &[u8]) -> Result<(), SwapError> {
        let Self { bucket, key, read } = self;
        bucket.client.count(|uses| uses.swaps += 1);
        let outcome = bucket.client.call(
            &call(Operation::Swap, &key, Some(value)),
            |lie| matches!(lie, Lie::Changed).then_some(false),
            |records| {
                let stored = records.get(&bucket.label, &key);
                match (&read, stored) {
                    (Some(read), stored) if stored != Some(read) => return Ok(false),
                    (None, Some(_)) => bucket.client.note(Misuse::BlindSwap),
                    _ => {}
                }
                records.put(&bucket.label, &key, value.to_vec());
                Ok(true)
            },
        );
        match outcome {
            Ok(true) => Ok(()),
            Ok(false) => {
                let mut next = bucket.cas(&key);
                next.current().map_err(SwapError::Store)?;
                Err(SwapError::Failed(next))
            }
            Err(error) => Err(SwapError::Store(error)),
        }
    }
}

impl std::fmt::Debug for Cas {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Cas")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}
