//! A token that logs in once (SEC-G12, contract 9.4).

use gatehouse_ports::Store;
use gatehouse_storage::{Record, Records, Transaction, TransactionError};
use serde::{Deserialize, Serialize};

use crate::jwt::CLOCK_SKEW;
use crate::proof::Proof;
use crate::{LoginError, Mount, StorageError, record_keys};

/// The mark of a token that has logged in. It lives as long as the token could be presented again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct UsedToken {
    /// Seconds since 1970.
    expires: u64,
}

impl Record for UsedToken {
    const SCHEMA: u16 = 1;
}

/// Takes the one use of a token. Of any number of logins with it, on any number of servers over one store, one succeeds; one whose
/// outcome got lost counts too.
pub(crate) fn take<S: Store>(
    records: &Records<S>,
    mount: &Mount,
    proof: &Proof,
) -> Result<(), LoginError> {
    let key = record_keys::used_token(mount, &proof.jwt.fingerprint());
    let record = UsedToken {
        expires: proof.expires,
    };
    let until = proof.expires.saturating_add(CLOCK_SKEW);
    let mut transaction = Transaction::new();
    transaction.require_absent(key.as_str());
    transaction.put_until(key, &record, Some(until.saturating_mul(1000)))?;
    match records.commit(transaction) {
        Ok(()) => Ok(()),
        Err(TransactionError::Conflict(_)) => Err(LoginError::Replayed),
        Err(TransactionError::Storage(error)) => Err(error.into()),
    }
}

/// True if the token has logged in.
pub(crate) fn is_used<S: Store>(
    records: &Records<S>,
    mount: &Mount,
    proof: &Proof,
) -> Result<bool, StorageError> {
    let key = record_keys::used_token(mount, &proof.jwt.fingerprint());
    Ok(records.get::<UsedToken>(&key)?.is_some())
}
