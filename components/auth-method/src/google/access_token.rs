//! An access token in the memory of an instance.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zeroize::Zeroizing;

/// An access token in memory.
///
/// It has no `Debug`: it is a secret.
#[derive(Serialize, Deserialize)]
pub(super) struct AccessToken {
    #[serde(
        serialize_with = "serialize_secret",
        deserialize_with = "deserialize_secret"
    )]
    pub(super) text: Zeroizing<String>,
}

impl AccessToken {
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

/// Only the memory that instances share sees it.
fn serialize_secret<S: Serializer>(
    text: &Zeroizing<String>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}

fn deserialize_secret<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Zeroizing<String>, D::Error> {
    String::deserialize(deserializer).map(Zeroizing::new)
}
