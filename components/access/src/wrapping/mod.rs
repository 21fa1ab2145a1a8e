//! Responses that a token gives out once (contract 1.8, 6.6).
//!
//! A wrapping token is an ordinary token record beside a record with the content; whatever ends the first ends the second in
//! the same commit.

mod sealing;

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Attempt, Loaded, Transaction, TransactionError, commit_with_retries};

use self::sealing::ContentCipher;
use crate::api::{
    Operation, Request, ServiceError, UnwrapError, WrapError, WrapRequest, Wrapping, WrappingToken,
    WrappingView,
};
use crate::lifetime::SYSTEM_MAX_LEASE_TTL;
use crate::policy::RESPONSE_WRAPPING;
use crate::random;
use crate::records::{TokenRecord, WrappedRecord, token_key, wrapped_key};
use crate::secret::{IdentifierHasher, TokenHash};
use crate::service::{AccessService, load_next};
use crate::token_location::load_named;
use crate::token_store::{delete_token, put_new_token};

/// Longest content, in bytes: what a record can hold in base64, beside the rest of it.
const MAXIMUM_CONTENT_BYTES: usize = 700 * 1024;

/// The path at which a wrapping token is shown without being used. There the token in the request counts, not the caller.
pub(crate) const LOOKUP_PATH: &str = "sys/wrapping/lookup";
/// The paths that use up a wrapping token by unwrapping it.
const PATHS_OF_USE: [&str; 2] = ["sys/wrapping/unwrap", "sys/wrapping/rewrap"];

/// True if the request will take the use of the caller's token by itself, together with what is wrapped. If admission
/// took it, a crash in between would lose the content. The front sees to it that such a caller asks for nothing but its own
/// content, so the use is taken in any case. On every other path a use is a use (contract 5.3): the policy
/// `response-wrapping` then refuses the request, and the content is gone, by which its rightful owner notices that the token was
/// in other hands.
pub(crate) fn spends_itself(token: &TokenRecord, request: &Request) -> bool {
    token.is_wrapping()
        && request.operation == Operation::Update
        && PATHS_OF_USE.contains(&request.path.as_str())
}

/// A wrapping token that has not been used.
struct UnusedWrapping {
    hash: TokenHash,
    token: Loaded<TokenRecord>,
    wrapped: WrappedRecord,
}

impl UnusedWrapping {
    fn open(&self, hasher: &IdentifierHasher, token: &str) -> Result<Vec<u8>, ServiceError> {
        ContentCipher::new(hasher, token).open(&self.wrapped.sealed_content)
    }

    /// Adds the one use to a commit: it does not apply a second time (SEC-T4).
    fn stage_use(&self, transaction: &mut Transaction, hasher: &IdentifierHasher) {
        transaction.require(token_key(&self.hash), self.token.version);
        delete_token(transaction, hasher, &self.hash, &self.token.record);
    }
}

impl<S: Store, C: Clock, R: Random> Wrapping for AccessService<S, C, R> {
    fn wrap(&self, request: &WrapRequest) -> Result<WrappingToken, WrapError> {
        if request.ttl == 0 {
            return Err(WrapError::NoTtl);
        }
        if request.content.len() > MAXIMUM_CONTENT_BYTES {
            return Err(WrapError::TooLarge(MAXIMUM_CONTENT_BYTES as u32));
        }
        let mut transaction = Transaction::new();
        let wrapping = self.stage_wrapping(&mut transaction, request)?;
        match self.records.commit(transaction) {
            Ok(()) => Ok(wrapping),
            Err(TransactionError::Storage(error)) => Err(error.into()),
            Err(TransactionError::Conflict(_)) => Err(ServiceError::Contended.into()),
        }
    }

    fn read_wrapping(&self, token: &str) -> Result<WrappingView, UnwrapError> {
        let unused = self.unused_wrapping(token)?;
        let record = unused.token.record;
        Ok(WrappingView {
            creation_time: record.creation_time,
            creation_ttl: record.creation_ttl,
            creation_path: record.path,
        })
    }

    fn unwrap_content(&self, token: &str) -> Result<Vec<u8>, UnwrapError> {
        let hasher = self.hasher()?;
        commit_with_retries(&self.clock, &self.random, || {
            let unused = self.unused_wrapping(token)?;
            // Opened first, so that a record that cannot be read does not cost the use.
            let content = unused.open(hasher, token)?;
            let mut transaction = Transaction::new();
            unused.stage_use(&mut transaction, hasher);
            Ok(Attempt::from_commit(
                self.records.commit(transaction),
                content,
            )?)
        })
    }

    fn rewrap(&self, token: &str, ttl: Option<u64>) -> Result<WrappingToken, UnwrapError> {
        let hasher = self.hasher()?;
        commit_with_retries(&self.clock, &self.random, || {
            let unused = self.unused_wrapping(token)?;
            let content = unused.open(hasher, token)?;
            let record = &unused.token.record;
            let shorter = ttl.filter(|ttl| (1..record.creation_ttl).contains(ttl));
            let request = WrapRequest {
                content,
                creation_path: record.path.clone(),
                ttl: shorter.unwrap_or(record.creation_ttl),
                wrapped_accessor: unused.wrapped.wrapped_accessor.clone(),
            };
            let mut transaction = Transaction::new();
            unused.stage_use(&mut transaction, hasher);
            let wrapping = self.stage_wrapping(&mut transaction, &request)?;
            Ok(Attempt::from_commit(
                self.records.commit(transaction),
                wrapping,
            )?)
        })
    }
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// The wrapping token and its content as they are now, in one round trip.
    fn unused_wrapping(&self, token: &str) -> Result<UnusedWrapping, UnwrapError> {
        let names = self.hasher()?.names(token);
        let keys = [token_key(&names.hash), wrapped_key(&names.hash)];
        let mut entries = self.read_all(keys.iter())?;
        let found = load_named::<S>(&names, entries.next().flatten())?;
        let token = found.ok_or(UnwrapError::InvalidToken)?;
        let wrapped = load_next::<S, WrappedRecord>(&mut entries)?;
        let now = self.clock.now_seconds();
        let is_usable = token.record.is_alive_at(now) && token.record.is_wrapping();
        let wrapped = wrapped.filter(|_| is_usable);
        Ok(UnusedWrapping {
            hash: names.hash,
            token,
            wrapped: wrapped.ok_or(UnwrapError::InvalidToken)?.record,
        })
    }

    /// Adds a new wrapping token to a commit.
    fn stage_wrapping(
        &self,
        transaction: &mut Transaction,
        request: &WrapRequest,
    ) -> Result<WrappingToken, ServiceError> {
        let hasher = self.hasher()?;
        let client_token = random::client_token(&self.random, self.clock.now_milliseconds())?;
        let now = self.clock.now_seconds();
        let ttl = request.ttl.min(SYSTEM_MAX_LEASE_TTL);
        let mut record = TokenRecord {
            accessor: String::new(),
            proof: None,
            ancestors: Vec::new(),
            origin: None,
            generation: 0,
            policies: vec![RESPONSE_WRAPPING.to_owned()],
            entity_id: None,
            display_name: String::new(),
            path: request.creation_path.clone(),
            role: None,
            metadata: None,
            bound_cidrs: Vec::new(),
            creation_time: now,
            creation_ttl: ttl,
            expire_time: Some(now.saturating_add(ttl)),
            last_renewal_time: None,
            explicit_max_ttl: ttl,
            period: 0,
            num_uses: 1,
            renewable: false,
            places: Vec::new(),
            keeps_secrets: false,
        };
        let cipher = ContentCipher::new(hasher, client_token.expose());
        let wrapped = WrappedRecord {
            sealed_content: cipher.seal(&request.content)?,
            wrapped_accessor: request.wrapped_accessor.clone(),
        };
        let names = hasher.names(client_token.expose());
        let hash = put_new_token(transaction, hasher, &self.random, names, &mut record)?;
        transaction.put_until(wrapped_key(&hash), &wrapped, record.expires_at())?;
        Ok(WrappingToken {
            token: client_token.expose().to_owned(),
            accessor: record.accessor,
            ttl,
            creation_time: now,
            creation_path: record.path,
            wrapped_accessor: wrapped.wrapped_accessor,
        })
    }
}
