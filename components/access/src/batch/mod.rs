//! Batch tokens: they carry their record themselves, and the store holds the keys alone (contract 5.1, SEC-T8).
//!
//! Nothing is stored for a batch token, so nothing of it can be renewed, counted or revoked. Its mount, its ancestors and its entity
//! are read at every use, as for a service token.

mod keys;
mod sealing;

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::Transaction;

pub(crate) use self::keys::{BatchKeyRecord, NO_KEY, batch_key};
use self::sealing::{MAXIMUM_RECORD_BYTES, SALT_BYTES};
pub(crate) use self::sealing::{SealError, SealedToken};
use crate::api::{ClientToken, CreateError, LoginError, ServiceError};
use crate::records::TokenRecord;
use crate::service::AccessService;

impl From<SealError> for LoginError {
    fn from(error: SealError) -> Self {
        match error {
            SealError::TooLarge => Self::BatchTooLarge(MAXIMUM_RECORD_BYTES as u32),
            SealError::Failure(failure) => Self::Failure(failure),
        }
    }
}

impl From<SealError> for CreateError {
    fn from(error: SealError) -> Self {
        match error {
            SealError::TooLarge => Self::BatchTooLarge(MAXIMUM_RECORD_BYTES as u32),
            SealError::Failure(failure) => Self::Failure(failure),
        }
    }
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// The batch token that carries `record`, which ends. It must not be handed out before the transaction is committed: that may
    /// hold the key which opens it (SEC-T11).
    pub(crate) fn stage_batch_token(
        &self,
        transaction: &mut Transaction,
        record: &TokenRecord,
    ) -> Result<ClientToken, SealError> {
        let mut salt = [0_u8; SALT_BYTES];
        self.random.fill(&mut salt).map_err(ServiceError::from)?;
        let key = self.issuing_key(transaction, record.creation_time, record.creation_ttl)?;
        key.seal(record, &salt)
    }
}
