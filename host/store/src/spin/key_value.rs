//! The file of a key-value store of Spin, for reading.

use gatehouse_storage_adapter::{Bucket, BucketError, Host};
use rusqlite::OptionalExtension as _;
use zeroize::Zeroizing;

use super::file::{FileHost, SharedConnection};

/// Says to an operator that these stores are read only.
pub(super) const READ_ONLY: &str =
    "only Spin itself writes to its key-value stores: move the installation to SQLite first";

/// The records of one label.
pub(super) struct FileBucket {
    connection: SharedConnection,
    label: String,
}

impl Host for FileHost {
    type Bucket = FileBucket;

    fn open(&self, label: &str) -> Result<FileBucket, BucketError> {
        Ok(FileBucket {
            connection: self.connection.clone(),
            label: label.to_owned(),
        })
    }

    fn seal_key(&self) -> Result<Option<Zeroizing<String>>, String> {
        Ok(Some(self.seal_key.clone()))
    }
}

impl Bucket for FileBucket {
    type Swap = ();

    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, BucketError> {
        let connection = self.connection.lock();
        let statement = "select value from spin_key_value where store = ?1 and key = ?2";
        let value = connection
            .prepare_cached(statement)
            .and_then(|mut statement| {
                let row = statement.query_row([self.label.as_str(), key], |row| row.get(0));
                row.optional()
            });
        value.map_err(|error| BucketError::Other(error.to_string()))
    }

    fn set_many(&self, _: Vec<(String, Vec<u8>)>) -> Result<(), BucketError> {
        Err(read_only())
    }

    fn delete_many(&self, _: Vec<String>) -> Result<(), BucketError> {
        Err(read_only())
    }

    fn increment(&self, _: &str, _: i64) -> Result<i64, BucketError> {
        Err(read_only())
    }

    fn current(&self, key: &str) -> Result<((), Option<Vec<u8>>), BucketError> {
        Ok(((), self.get(key)?))
    }

    fn swap(&self, (): (), _: &[u8]) -> Result<bool, BucketError> {
        Err(read_only())
    }
}

fn read_only() -> BucketError {
    BucketError::Other(READ_ONLY.to_owned())
}
