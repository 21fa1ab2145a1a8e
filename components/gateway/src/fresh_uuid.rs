//! Names that no other exchange or lease has.

use gatehouse_ports::{Random, RandomError};

/// A fresh random UUID in lower case.
pub(crate) fn fresh_uuid(random: &dyn Random) -> Result<String, RandomError> {
    let mut bytes = [0; 16];
    random.fill(&mut bytes)?;
    let id = uuid::Builder::from_random_bytes(bytes).into_uuid();
    Ok(id.hyphenated().to_string())
}
