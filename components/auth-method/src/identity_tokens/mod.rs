//! This server as an issuer of identity tokens, which federation exchanges for access tokens (contract 7.4).

mod issuer;
mod key_set;
mod token;

use gatehouse_ports::{Cache, Clock, Http, Random, Store};
use gatehouse_storage::{Attempt, Transaction, commit_with_retries};
use zeroize::Zeroizing;

use self::issuer::IssuerRecord;
use self::key_set::KeySet;
use crate::rs256::SigningKey;
use crate::service::AuthMethodService;
use crate::{
    IdentityTokenError, IdentityTokens, IssuerError, Mount, PublicKey, StorageError, record_keys,
};

/// Below an issuer's base URL.
const PATH: &str = "/v1/identity/oidc/plugins";
/// Seconds after which a key gets a successor from the background work.
const ROTATED_AFTER: u64 = 24 * 3600;
/// Seconds after which it gets one also from a request that needs a key: making it takes longer than a request should.
const OVERDUE_AFTER: u64 = 48 * 3600;

impl<S: Store, M: Cache, H: Http, C: Clock, R: Random> IdentityTokens
    for AuthMethodService<S, M, H, C, R>
{
    fn read_issuer(&self) -> Result<String, StorageError> {
        let stored = self
            .records()
            .get::<IssuerRecord>(record_keys::IDENTITY_TOKEN_ISSUER)?;
        Ok(stored.map_or_else(String::new, |loaded| loaded.record.base_url))
    }

    fn write_issuer(&self, issuer: &str) -> Result<(), IssuerError> {
        let key = record_keys::IDENTITY_TOKEN_ISSUER;
        if issuer.is_empty() {
            return Ok(self.delete([key.to_owned()])?);
        }
        let base_url = issuer::base_url(issuer, self.settings().allow_http_loopback)
            .ok_or(IssuerError::NotUrl)?;
        let mut transaction = Transaction::new();
        transaction.put(key, &IssuerRecord { base_url })?;
        Ok(self.commit_unchecked(transaction)?)
    }

    fn issuer(&self) -> Result<String, IdentityTokenError> {
        let set = self.read_issuer()?;
        let advertised = self.settings().advertised_address.as_deref();
        let base = if set.is_empty() {
            advertised.unwrap_or_default()
        } else {
            &set
        };
        match base.trim_end_matches('/') {
            "" => Err(IdentityTokenError::NoIssuer),
            base => Ok(format!("{base}{PATH}")),
        }
    }

    fn public_keys(&self) -> Result<Vec<PublicKey>, IdentityTokenError> {
        let keys = self.key_set(OVERDUE_AFTER, 0)?;
        Ok(keys.listed(self.now()))
    }

    fn maintain_keys(&self) -> Result<Option<u64>, IdentityTokenError> {
        match self.issuer() {
            Ok(_) => Ok(self.key_set(ROTATED_AFTER, 0)?.newest_made_at()),
            Err(IdentityTokenError::NoIssuer) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl<S: Store, M: Cache, H: Http, C: Clock, R: Random> AuthMethodService<S, M, H, C, R> {
    /// A token that says which mount this is, valid for `lifetime` seconds.
    pub(crate) fn identity_token(
        &self,
        mount: &Mount,
        audience: &str,
        lifetime: u64,
    ) -> Result<Zeroizing<String>, IdentityTokenError> {
        let issuer = self.issuer()?;
        let keys = self.key_set(OVERDUE_AFTER, lifetime)?;
        let now = self.now();
        let (key_id, key) = keys.signing_key(now)?;
        token::signed(mount, &issuer, audience, now, lifetime, &key_id, &key)
    }

    /// The keys, the newest of them made less than `longest_age` seconds ago, and the one that signs allowed to do so for `lifetime`
    /// seconds. Of several instances that find a key due, one makes it.
    fn key_set(&self, longest_age: u64, lifetime: u64) -> Result<KeySet, IdentityTokenError> {
        let place = record_keys::IDENTITY_TOKEN_KEYS;
        commit_with_retries(self.clock(), self.random(), || {
            let stored = self.records().get::<KeySet>(place)?;
            let version = stored.as_ref().map(|loaded| loaded.version);
            let mut keys = stored.map(|loaded| loaded.record).unwrap_or_default();
            let now = self.now();
            let is_due = keys.is_due(now, longest_age);
            if is_due {
                let key =
                    SigningKey::generate(self.random()).map_err(|_| IdentityTokenError::Random)?;
                keys.add(&key, now);
            }
            if !keys.allow_lifetime(now, lifetime) && !is_due {
                return Ok(Attempt::Done(keys));
            }
            let mut transaction = Transaction::new();
            transaction.require_unchanged(place, version);
            transaction.put(place, &keys)?;
            Ok(Attempt::from_commit(
                self.records().commit(transaction),
                keys,
            )?)
        })
    }
}
