//! Service-account key files (contract 2.2).

use gatehouse_storage::Record;
use serde::{Deserialize, Serialize};
use zeroize::ZeroizeOnDrop;

use super::CredentialsIdentity;
use crate::rs256::SigningKey;
use crate::{JsonPosition, KeyFileError};

const MAXIMUM_BYTES: usize = 64 * 1024;

/// The stored part of a key file that is needed to get access tokens.
///
/// It has no `Debug`: it holds a private key.
#[derive(Clone, Serialize, Deserialize, ZeroizeOnDrop)]
pub(crate) struct CredentialsRecord {
    pub(crate) client_email: String,
    pub(crate) private_key_id: String,
    /// PEM.
    pub(crate) private_key: String,
}

impl Record for CredentialsRecord {
    const SCHEMA: u16 = 1;
}

/// The members of a key file that are read. Above all `token_uri` is not among them: it would decide where assertions go.
#[derive(Deserialize, ZeroizeOnDrop)]
struct KeyFile {
    #[serde(rename = "type")]
    kind: Option<String>,
    client_email: Option<String>,
    client_id: Option<String>,
    private_key_id: Option<String>,
    private_key: Option<String>,
    project_id: Option<String>,
}

/// Reads a key file and proves that its key can sign. Since when it is in use is for the caller to say.
pub(crate) fn read_key_file(
    text: &str,
) -> Result<(CredentialsIdentity, CredentialsRecord), KeyFileError> {
    if text.len() > MAXIMUM_BYTES {
        return Err(KeyFileError::TooLong);
    }
    // Serde would take an array for a structure too.
    if !text.trim_ascii_start().starts_with('{') {
        return Err(not_json(1, 0));
    }
    let mut file: KeyFile =
        serde_json::from_str(text).map_err(|error| not_json(error.line(), error.column()))?;
    let private_key_id = file.private_key_id.take().unwrap_or_default();
    if private_key_id.is_empty() {
        return Err(KeyFileError::PrivateKeyIdMissing);
    }
    if file
        .kind
        .as_deref()
        .is_some_and(|kind| kind != "service_account")
    {
        return Err(KeyFileError::NotServiceAccount);
    }
    let client_email = file.client_email.take().unwrap_or_default();
    if client_email.is_empty() {
        return Err(KeyFileError::ClientEmailMissing);
    }
    let private_key = file.private_key.take().unwrap_or_default();
    let record = CredentialsRecord {
        client_email: client_email.clone(),
        private_key_id: private_key_id.clone(),
        private_key,
    };
    SigningKey::from_pem(&record.private_key).map_err(|_| KeyFileError::PrivateKeyUnusable)?;
    let identity = CredentialsIdentity {
        client_email,
        client_id: file.client_id.take().unwrap_or_default(),
        private_key_id,
        project_id: file.project_id.take().unwrap_or_default(),
        since: 0,
    };
    Ok((identity, record))
}

fn not_json(line: usize, column: usize) -> KeyFileError {
    let counted = |place| u32::try_from(place).unwrap_or(u32::MAX);
    KeyFileError::NotJson(JsonPosition {
        line: counted(line),
        column: counted(column),
    })
}

#[cfg(test)]
mod tests {
    use super::{CredentialsRecord, KeyFile};
    use crate::rs256::SigningKey;

    #[test]
    fn k6_private_keys_cannot_be_printed() {
        gatehouse_ports::assert_lacks!(
            [CredentialsRecord, KeyFile, SigningKey],
            [std::fmt::Debug, std::fmt::Display]
        );
        gatehouse_ports::assert_lacks!([KeyFile, SigningKey], [serde::Serialize]);
    }
}
