//! Uses of a token whose number is limited (SEC-T4).

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Attempt, Loaded, Transaction, commit_with_retries};

use crate::api::{AdmissionError, Operation, Request};
use crate::cubbyhole;
use crate::records::{TokenRecord, token_key};
use crate::service::AccessService;
use crate::token_store::{LiveToken, delete_token, put_token};
use crate::wrapping::spends_itself;

/// The effect of a token's last use on the secrets that it keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastUse {
    /// Ends them with the token.
    Ends,
    /// Keeps them until the request, which shows some of them, has been answered.
    ReadsSecrets,
}

impl LastUse {
    pub(crate) fn new(request: &Request, is_granted: bool) -> Self {
        let reads = matches!(request.operation, Operation::Read | Operation::List);
        match is_granted && reads && cubbyhole::concerns(&request.path) {
            true => Self::ReadsSecrets,
            false => Self::Ends,
        }
    }
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// The caller's token after this use, which counts whatever the policies say.
    pub(crate) fn spend_use(
        &self,
        token: LiveToken,
        request: &Request,
        last_use: LastUse,
    ) -> Result<LiveToken, AdmissionError> {
        if token.record.num_uses > 0 && !spends_itself(&token.record, request) {
            return self.take_use(token, last_use);
        }
        Ok(token)
    }

    /// Takes one use by a conditional commit: of N uses N succeed, however many try (SEC-T4). The last one removes the token.
    fn take_use(
        &self,
        mut token: LiveToken,
        last_use: LastUse,
    ) -> Result<LiveToken, AdmissionError> {
        let hasher = self.hasher()?;
        // Only what is stored can be counted.
        let stored = token.stored.as_mut().ok_or(AdmissionError::InvalidToken)?;
        let key = token_key(&stored.hash);
        let mut current = Some(Loaded {
            record: token.record.clone(),
            version: stored.version,
        });
        let (record, version) = commit_with_retries(&self.clock, &self.random, || {
            let read = match current.take() {
                Some(read) => Some(read),
                None => self.records.get::<TokenRecord>(&key)?,
            };
            let Some(mut read) = read.filter(|read| read.record.num_uses > 0) else {
                return Err(AdmissionError::InvalidToken);
            };
            read.record.num_uses -= 1;
            let mut transaction = Transaction::new();
            transaction.require(key.as_str(), read.version);
            if read.record.num_uses == 0 {
                if last_use == LastUse::ReadsSecrets {
                    self.stage_last_look(&mut transaction, &stored.hash, &mut read.record)?;
                }
                delete_token(&mut transaction, hasher, &stored.hash, &read.record);
            } else {
                put_token(&mut transaction, hasher, &stored.hash, &read.record)?;
            }
            let used = (read.record, read.version);
            Ok(Attempt::from_commit(
                self.records.commit(transaction),
                used,
            )?)
        })?;
        token.record = record;
        stored.version = version;
        Ok(token)
    }
}
