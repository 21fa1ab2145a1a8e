//! The running fake, as its owner holds it.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, json};
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

use crate::account::{Account, AccountSpec};
use crate::cache_headers::CacheHeaders;
use crate::description::Description;
use crate::endpoint::Endpoint;
use crate::error::FakeGoogleError;
use crate::fault::Fault;
use crate::instance::IdentityFormat;
use crate::journal::RecordedRequest;
use crate::jwt::Claims;
use crate::server::{self, Server};
use crate::signing_key::SigningKey;
use crate::start::{FakeGoogleOptions, GOOGLE_KEY_OWNER, initial_state};
use crate::state::{self, SharedState};

/// How long a login JWT of [`FakeGoogle::sign_login_jwt`] is valid, in seconds: what command lines ask for.
const LOGIN_JWT_LIFETIME: u64 = 15 * 60;

/// A Google on loopback. Dropping it closes its listener and all its connections.
///
/// Accounts are named by email or unique ID. Methods that make keys take a noticeable part of a second.
#[derive(Debug)]
pub struct FakeGoogle {
    address: SocketAddr,
    state: SharedState,
    server: AbortHandle,
}

impl FakeGoogle {
    /// Makes the keys and starts listening on a free port of `127.0.0.1`, on the current Tokio runtime.
    ///
    /// # Errors
    ///
    /// When there is no port or no key to be had, or the population names an account twice.
    pub async fn start(options: FakeGoogleOptions) -> Result<Self, FakeGoogleError> {
        let state = SharedState::new(initial_state(options).await?);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .map_err(FakeGoogleError::Listen)?;
        let address = listener.local_addr().map_err(FakeGoogleError::Listen)?;
        let server = Server {
            state: state.clone(),
            token_url: token_url_at(address),
        };
        let server = tokio::spawn(server::serve(listener, server)).abort_handle();
        Ok(Self {
            address,
            state,
            server,
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Base URL of all APIs, without a trailing slash.
    #[must_use]
    pub fn base_url(&self) -> String {
        base_url_at(self.address)
    }

    /// URL of the token endpoint, and the audience that assertions have to name.
    #[must_use]
    pub fn token_url(&self) -> String {
        token_url_at(self.address)
    }

    /// The whole of it for programs that sign for themselves. Holds private keys.
    ///
    /// # Errors
    ///
    /// When Google's own keys were all removed.
    pub fn description(&self) -> Result<Description, FakeGoogleError> {
        Description::of(&self.state.lock(), self.base_url())
    }

    /// A service-account key file as Google hands it out, with this fake's addresses in it. Holds a private key.
    ///
    /// # Errors
    ///
    /// When there is no such account, or it has no key.
    pub fn credentials_json(&self, account: &str) -> Result<String, FakeGoogleError> {
        let base = self.base_url();
        let mut state = self.state.lock();
        let account = state.require_account(account)?;
        let key = account.signing_key()?;
        let spec = &account.spec;
        let file = json!({
            "type": "service_account",
            "project_id": spec.project_id,
            "private_key_id": key.key_id(),
            "private_key": key.private_key_pem(),
            "client_email": spec.email,
            "client_id": spec.unique_id,
            "auth_uri": format!("{base}/o/oauth2/auth"),
            "token_uri": self.token_url(),
            "auth_provider_x509_cert_url": format!("{base}/oauth2/v1/certs"),
            "client_x509_cert_url": format!("{base}/service_accounts/v1/metadata/x509/{}", spec.email),
            "universe_domain": "googleapis.com",
        });
        Ok(format!("{file:#}"))
    }
}

/// Changing who exists, and with which keys.
impl FakeGoogle {
    /// Creates an account with one key.
    ///
    /// # Errors
    ///
    /// When its email or unique ID is taken, or no key can be made.
    pub fn add_account(&self, spec: AccountSpec) -> Result<(), FakeGoogleError> {
        let key = SigningKey::generate(&spec.unique_id)?;
        self.state.lock().add_account(Account::new(spec, key))
    }

    /// Disables or enables an account.
    ///
    /// # Errors
    ///
    /// When there is no such account.
    pub fn set_disabled(&self, account: &str, disabled: bool) -> Result<(), FakeGoogleError> {
        self.state.lock().require_account(account)?.disabled = disabled;
        Ok(())
    }

    /// Refuses (403) or allows reading an account's record in IAM.
    ///
    /// # Errors
    ///
    /// When there is no such account.
    pub fn set_hidden(&self, account: &str, hidden: bool) -> Result<(), FakeGoogleError> {
        self.state.lock().require_account(account)?.hidden = hidden;
        Ok(())
    }

    /// Deletes an account with its keys.
    ///
    /// # Errors
    ///
    /// When there is no such account.
    pub fn delete_account(&self, account: &str) -> Result<(), FakeGoogleError> {
        let mut state = self.state.lock();
        let unique_id = state.require_account(account)?.spec.unique_id.clone();
        state
            .accounts
            .retain(|account| account.spec.unique_id != unique_id);
        Ok(())
    }

    /// Gives an account a further key, which signs from now on, and returns its identifier. Older keys stay published.
    ///
    /// # Errors
    ///
    /// When there is no such account, or no key can be made.
    pub fn rotate_keys(&self, account: &str) -> Result<String, FakeGoogleError> {
        let unique_id = self
            .state
            .lock()
            .require_account(account)?
            .spec
            .unique_id
            .clone();
        let key = Arc::new(SigningKey::generate(&unique_id)?);
        self.state
            .lock()
            .require_account(&unique_id)?
            .keys
            .push(Arc::clone(&key));
        Ok(key.key_id().to_owned())
    }

    /// Removes an account's key; nothing happens when it has no such key.
    ///
    /// # Errors
    ///
    /// When there is no such account.
    pub fn remove_key(&self, account: &str, key_id: &str) -> Result<(), FakeGoogleError> {
        self.state
            .lock()
            .require_account(account)?
            .keys
            .retain(|key| key.key_id() != key_id);
        Ok(())
    }

    /// Publishes, in an account's X.509 document, a text that claims to be a certificate.
    ///
    /// # Errors
    ///
    /// When there is no such account.
    pub fn publish_certificate(
        &self,
        account: &str,
        key_id: &str,
        pem: &str,
    ) -> Result<(), FakeGoogleError> {
        let mut state = self.state.lock();
        state
            .require_account(account)?
            .foreign_certificates
            .insert(key_id.to_owned(), pem.to_owned());
        Ok(())
    }

    /// Gives Google itself a further key, which signs from now on, and returns its identifier. Older keys stay published.
    ///
    /// # Errors
    ///
    /// When no key can be made.
    pub fn rotate_google_keys(&self) -> Result<String, FakeGoogleError> {
        let key = Arc::new(SigningKey::generate(GOOGLE_KEY_OWNER)?);
        self.state.lock().google_keys.push(Arc::clone(&key));
        Ok(key.key_id().to_owned())
    }

    /// Removes one of Google's own keys; nothing happens when there is no such key.
    pub fn remove_google_key(&self, key_id: &str) {
        self.state
            .lock()
            .google_keys
            .retain(|key| key.key_id() != key_id);
    }

    /// Refuses, from now on, every access token issued so far.
    pub fn revoke_access_tokens(&self) {
        self.state.lock().access_tokens.revoke_all();
    }

    /// Changes how long access tokens live that are issued from now on, cut to whole seconds.
    pub fn set_access_token_lifetime(&self, lifetime: Duration) {
        self.state.lock().access_tokens.set_lifetime(lifetime);
    }
}

/// Signing as an account or as Google.
impl FakeGoogle {
    /// The key with which an account signs now; use it for JWTs that no honest client would send.
    ///
    /// # Errors
    ///
    /// When there is no such account, or it has no key.
    pub fn account_key(&self, account: &str) -> Result<Arc<SigningKey>, FakeGoogleError> {
        self.state
            .lock()
            .require_account(account)?
            .signing_key()
            .cloned()
    }

    /// The key with which Google itself signs now.
    ///
    /// # Errors
    ///
    /// When Google's own keys were all removed.
    pub fn google_key(&self) -> Result<Arc<SigningKey>, FakeGoogleError> {
        self.state.lock().google_signing_key().cloned()
    }

    /// A JWT with these claims, signed by an account.
    ///
    /// # Errors
    ///
    /// When there is no such account, or it has no key.
    pub fn sign_jwt(&self, account: &str, claims: &Claims) -> Result<String, FakeGoogleError> {
        self.account_key(account)?.sign_jwt(claims)
    }

    /// The claims of an honest login JWT: `sub` the account's email, `aud` `vault/<role>`, valid for 15 minutes.
    #[must_use]
    pub fn login_claims(email: &str, role: &str) -> Claims {
        let now = state::now();
        Map::from_iter([
            ("sub".to_owned(), email.into()),
            ("aud".to_owned(), format!("vault/{role}").into()),
            ("iat".to_owned(), now.into()),
            ("exp".to_owned(), (now + LOGIN_JWT_LIFETIME).into()),
        ])
    }

    /// An honest login JWT for a role, signed by the account with this email.
    ///
    /// # Errors
    ///
    /// When there is no such account, or it has no key.
    pub fn sign_login_jwt(&self, email: &str, role: &str) -> Result<String, FakeGoogleError> {
        self.sign_jwt(email, &Self::login_claims(email, role))
    }

    /// A JWT with these claims, signed by Google.
    ///
    /// # Errors
    ///
    /// When Google's own keys were all removed.
    pub fn sign_as_google(&self, claims: &Claims) -> Result<String, FakeGoogleError> {
        self.google_key()?.sign_jwt(claims)
    }

    /// The claims of the identity token that an instance would get from its metadata server.
    ///
    /// # Errors
    ///
    /// When there is no such instance, or its account is gone.
    pub fn identity_claims(
        &self,
        instance: &str,
        audience: &str,
        format: IdentityFormat,
    ) -> Result<Claims, FakeGoogleError> {
        let mut state = self.state.lock();
        let instance = state
            .instances
            .iter()
            .find(|candidate| candidate.instance_name == instance)
            .cloned()
            .ok_or_else(|| FakeGoogleError::UnknownInstance {
                instance: instance.to_owned(),
            })?;
        let account = state.require_account(&instance.service_account)?;
        Ok(instance.identity_claims(&account.spec, audience, format, state::now()))
    }

    /// The identity token that an instance would get from its metadata server.
    ///
    /// # Errors
    ///
    /// As [`FakeGoogle::identity_claims`], and when Google's own keys were all removed.
    pub fn identity_token(
        &self,
        instance: &str,
        audience: &str,
        format: IdentityFormat,
    ) -> Result<String, FakeGoogleError> {
        self.sign_as_google(&self.identity_claims(instance, audience, format)?)
    }
}

/// Watching and disturbing.
impl FakeGoogle {
    /// Requests of this kind since the start or the last [`FakeGoogle::forget_requests`], failed ones included.
    #[must_use]
    pub fn calls(&self, endpoint: Endpoint) -> u64 {
        self.state.lock().journal.calls(endpoint)
    }

    /// The latest requests (4,096 at most), oldest first.
    #[must_use]
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.state.lock().journal.requests()
    }

    /// Starts counting and recording from nought.
    pub fn forget_requests(&self) {
        self.state.lock().journal.clear();
    }

    /// Fails every request of this kind until [`FakeGoogle::clear_faults`].
    pub fn set_fault(&self, endpoint: Endpoint, fault: Fault) {
        self.state.lock().faults.set(endpoint, fault);
    }

    /// Fails the next requests of this kind, one fault each; then a standing fault, or none, is in force again.
    pub fn queue_faults(&self, endpoint: Endpoint, faults: impl IntoIterator<Item = Fault>) {
        self.state.lock().faults.queue(endpoint, faults);
    }

    /// Heals this kind of request.
    pub fn clear_faults(&self, endpoint: Endpoint) {
        self.state.lock().faults.clear(endpoint);
    }

    /// Changes the caching headers of a key document; the other endpoints never send any.
    pub fn set_cache_headers(&self, endpoint: Endpoint, headers: CacheHeaders) {
        self.state.lock().cache_headers.insert(endpoint, headers);
    }
}

impl Drop for FakeGoogle {
    fn drop(&mut self) {
        self.server.abort();
    }
}

fn base_url_at(address: SocketAddr) -> String {
    format!("http://{address}")
}

fn token_url_at(address: SocketAddr) -> String {
    format!("{}/token", base_url_at(address))
}
