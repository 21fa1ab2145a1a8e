//! Records: a schema number, then JSON.

use gatehouse_ports::Version;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::StorageError;

/// A type that is kept in the store.
///
/// New optional fields (`#[serde(default)]`) keep the schema number. A change that an older reader would misunderstand raises it,
/// and the type then reads all older numbers too.
pub trait Record: Serialize + DeserializeOwned {
    /// The number that new records of this type carry; it is also the highest that is read.
    const SCHEMA: u16;
}

/// A record as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded<R> {
    /// The content of the record.
    pub record: R,
    /// The version to require in a commit that depends on it.
    pub version: Version,
}

/// The stored form of `record`: two bytes of schema number, big-endian, then JSON.
///
/// # Errors
///
/// [`StorageError::Malformed`] when the type does not serialize as JSON.
pub fn encode<R: Record>(record: &R) -> Result<Vec<u8>, StorageError> {
    let mut bytes = Vec::with_capacity(512);
    bytes.extend_from_slice(&R::SCHEMA.to_be_bytes());
    serde_json::to_writer(&mut bytes, record).map_err(|_| StorageError::Malformed)?;
    Ok(bytes)
}

/// The record in `bytes`.
///
/// # Errors
///
/// [`StorageError::NewerSchema`] when a newer version of this software wrote it, [`StorageError::Malformed`] when the bytes are
/// no record of this type.
pub fn decode<R: Record>(bytes: &[u8]) -> Result<R, StorageError> {
    let (schema, body) = bytes
        .split_first_chunk::<2>()
        .ok_or(StorageError::Malformed)?;
    let found = u16::from_be_bytes(*schema);
    if found > R::SCHEMA {
        return Err(StorageError::NewerSchema {
            found,
            known: R::SCHEMA,
        });
    }
    serde_json::from_slice(body).map_err(|_| StorageError::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Sample {
        name: String,
        #[serde(default)]
        added_later: u32,
    }

    impl Record for Sample {
        const SCHEMA: u16 = 3;
    }

    #[test]
    fn a_record_survives_the_round_trip() {
        let sample = Sample {
            name: "x".to_owned(),
            added_later: 7,
        };
        assert_eq!(decode::<Sample>(&encode(&sample).unwrap()), Ok(sample));
    }

    #[test]
    fn an_older_record_without_a_newer_field_is_read() {
        let sample: Sample = decode(b"\x00\x01{\"name\":\"x\"}").unwrap();
        assert_eq!(sample.added_later, 0);
    }

    #[test]
    fn storage_rule_6_a_newer_schema_is_refused() {
        let refused = decode::<Sample>(b"\x00\x04{\"name\":\"x\"}");
        assert_eq!(
            refused,
            Err(StorageError::NewerSchema { found: 4, known: 3 })
        );
    }

    #[test]
    fn cut_and_foreign_bytes_are_malformed() {
        for bytes in [&b""[..], b"\x00", b"\x00\x03", b"\x00\x03{", b"\x00\x03[]"] {
            assert_eq!(decode::<Sample>(bytes), Err(StorageError::Malformed));
        }
    }
}
