//! Secrets that one service token keeps for itself (contract 6.1).
//!
//! All secrets of a token are one record beside the token's own, so that the commit that ends the token ends them too, and they are
//! bounded together. Their content is encrypted under a key that only the token yields. A token whose record does not say that it keeps
//! secrets keeps none, whatever is stored under the key.

mod secrets;

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Attempt, Loaded, Records, Transaction, commit_with_retries};

use self::secrets::{CubbyholeRecord, Secrets};
use crate::api::{Cubbyhole, CubbyholeError, ServiceError, WritePermission};
use crate::records::{TokenRecord, cubbyhole_key, token_key};
use crate::secret::TokenHash;
use crate::service::{AccessService, load_next};
use crate::token_location::{TokenLocation, load_named};
use crate::token_store::put_token;

/// For how long secrets outlive a token whose last use is to read them: that request has still to be answered.
const LAST_USE_SECONDS: u64 = 60;

/// True if a request is about what its token keeps.
pub(crate) fn concerns(path: &str) -> bool {
    path.split('/').next() == Some("cubbyhole")
}

/// The secrets of a token, as they were read.
struct Kept {
    hash: TokenHash,
    /// `None` after its last use.
    token: Option<Loaded<TokenRecord>>,
    /// The record under the key, theirs or not.
    record: Option<Loaded<CubbyholeRecord>>,
    secrets: Secrets,
}

impl<S: Store, C: Clock, R: Random> Cubbyhole for AccessService<S, C, R> {
    fn read_cubbyhole(&self, token: &str, path: &str) -> Result<Option<Vec<u8>>, CubbyholeError> {
        let mut content = self.shown_secrets(token)?.take(path);
        Ok(content
            .as_mut()
            .map(|content| std::mem::take(&mut **content)))
    }

    fn list_cubbyhole(&self, token: &str, folder: &str) -> Result<Vec<String>, CubbyholeError> {
        Ok(self.shown_secrets(token)?.keys(folder))
    }

    fn write_cubbyhole(
        &self,
        token: &str,
        path: &str,
        content: &[u8],
        permission: WritePermission,
    ) -> Result<(), CubbyholeError> {
        self.change_secrets(token, |secrets| {
            let permitted = match secrets.has(path) {
                true => permission.update,
                false => permission.create,
            };
            if !permitted {
                return Err(CubbyholeError::Denied);
            }
            secrets.put(path, content)?;
            Ok(true)
        })
    }

    fn delete_cubbyhole(&self, token: &str, path: &str) -> Result<(), CubbyholeError> {
        self.change_secrets(token, |secrets| Ok(secrets.take(path).is_some()))
    }
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// The secrets to show to the caller who holds `token`. After the token's last use the record is deleted with the answer.
    fn shown_secrets(&self, token: &str) -> Result<Secrets, CubbyholeError> {
        let kept = self.kept_secrets(token)?;
        if let (None, Some(record)) = (&kept.token, &kept.record) {
            let key = cubbyhole_key(&kept.hash);
            let mut transaction = Transaction::new();
            transaction
                .require(key.as_str(), record.version)
                .delete(key);
            // Else it belongs to another token by now.
            Attempt::from_commit(self.records.commit(transaction), ())?;
        }
        Ok(kept.secrets)
    }

    /// Changes the secrets of a token; `change` says whether it did.
    fn change_secrets(
        &self,
        token: &str,
        change: impl Fn(&mut Secrets) -> Result<bool, CubbyholeError>,
    ) -> Result<(), CubbyholeError> {
        let hasher = self.hasher()?;
        commit_with_retries(&self.clock, &self.random, || {
            let mut kept = self.kept_secrets(token)?;
            let mut found = kept.token.ok_or(CubbyholeError::InvalidToken)?;
            if !change(&mut kept.secrets)? {
                return Ok(Attempt::Done(()));
            }
            let key = cubbyhole_key(&kept.hash);
            let mut transaction = Transaction::new();
            // Secrets do not outlive their token: no write brings back what ended with it.
            transaction
                .require(token_key(&kept.hash), found.version)
                .require_unchanged(key.as_str(), kept.record.map(|record| record.version));
            if kept.secrets.is_empty() {
                transaction.delete(key);
            } else {
                let record = kept.secrets.seal(hasher, token, &self.random)?;
                transaction.put_until(key, &record, found.record.expires_at())?;
            }
            if !found.record.keeps_secrets {
                found.record.keeps_secrets = true;
                put_token(&mut transaction, hasher, &kept.hash, &found.record)?;
            }
            let outcome = self.records.commit(transaction);
            Ok(Attempt::from_commit(outcome, ())?)
        })
    }

    /// The token and what it keeps, in one round trip.
    fn kept_secrets(&self, token: &str) -> Result<Kept, CubbyholeError> {
        let hasher = self.hasher()?;
        let names = match TokenLocation::new(hasher, token) {
            TokenLocation::Stored(names) => names,
            TokenLocation::Carried(_) => return Err(CubbyholeError::BatchToken),
        };
        let keys = [token_key(&names.hash), cubbyhole_key(&names.hash)];
        let mut entries = self.read_all(keys.iter())?;
        let found = load_named::<S>(&names, entries.next().flatten())?;
        let record = load_next::<S, CubbyholeRecord>(&mut entries)?;
        let now = self.clock.now_seconds();
        let are_its_own = match &found {
            Some(found) if found.record.is_alive_at(now) => found.record.keeps_secrets,
            Some(_) => return Err(CubbyholeError::InvalidToken),
            // Admission has let in the last request of the token; no other caller comes this far.
            None if record.is_some() => true,
            None => return Err(CubbyholeError::InvalidToken),
        };
        let secrets = match &record {
            Some(record) if are_its_own => Secrets::open(hasher, token, &record.record)?,
            _ => Secrets::default(),
        };
        Ok(Kept {
            hash: names.hash,
            token: found,
            record,
            secrets,
        })
    }

    /// Adds to the commit that ends a token with a request to read its secrets that they stay until that is answered. The record of
    /// the token says from then on that it keeps none, so that the rest of the commit leaves them alone.
    pub(crate) fn stage_last_look(
        &self,
        transaction: &mut Transaction,
        hash: &TokenHash,
        token: &mut TokenRecord,
    ) -> Result<(), ServiceError> {
        let end = self.clock.now_seconds().saturating_add(LAST_USE_SECONDS);
        let end = token.expire_time.map_or(end, |expiry| end.min(expiry));
        if self.stage_secrets_until(transaction, hash, token, Some(end.saturating_mul(1000)))? {
            token.keeps_secrets = false;
        }
        Ok(())
    }

    /// Adds to a commit that moves the end of a token that the end of its secrets moves along.
    pub(crate) fn stage_secrets_end(
        &self,
        transaction: &mut Transaction,
        hash: &TokenHash,
        token: &TokenRecord,
    ) -> Result<(), ServiceError> {
        self.stage_secrets_until(transaction, hash, token, token.expires_at())?;
        Ok(())
    }

    /// Says whether there are any.
    fn stage_secrets_until(
        &self,
        transaction: &mut Transaction,
        hash: &TokenHash,
        token: &TokenRecord,
        expires_at: Option<u64>,
    ) -> Result<bool, ServiceError> {
        if !token.keeps_secrets {
            return Ok(false);
        }
        let key = cubbyhole_key(hash);
        let entry = self.read_all([&key].into_iter())?.next().flatten();
        let Some(kept) = Records::<S>::load::<CubbyholeRecord>(entry)? else {
            return Ok(false);
        };
        transaction
            .require(key.as_str(), kept.version)
            .put_until(key, &kept.record, expires_at)?;
        Ok(true)
    }
}
