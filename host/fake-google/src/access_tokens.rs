//! The access tokens in circulation.

use std::collections::HashMap;
use std::time::Duration;

use aws_lc_rs::rand;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

use crate::caller::Principal;

/// Random bytes in a token.
const ENTROPY: usize = 32;
/// Start of every token of an account or a user.
const PREFIX: &str = "ya29.";
/// Start of a federated token, which Google marks too.
const FEDERATED_PREFIX: &str = "ya29.d.";

/// The access tokens that were issued and have not expired.
#[derive(Debug)]
pub(crate) struct AccessTokens {
    issued: HashMap<String, AccessToken>,
    lifetime: Duration,
}

/// An access token: its principal and scopes.
#[derive(Debug)]
pub(crate) struct AccessToken {
    /// The principal that it was issued to.
    pub(crate) principal: Principal,
    /// Scopes, separated by spaces.
    scope: String,
    /// First second, since the Unix epoch, at which it is no longer accepted.
    expires_at: u64,
}

/// The crypto library gave no random bytes.
#[derive(Debug, thiserror::Error)]
#[error("no randomness")]
pub(crate) struct NoRandomness;

impl AccessTokens {
    /// No tokens; those to come live for `lifetime`.
    pub(crate) fn new(lifetime: Duration) -> Self {
        Self {
            issued: HashMap::new(),
            lifetime,
        }
    }

    /// Forgets all tokens, so that they are refused from now on.
    pub(crate) fn revoke_all(&mut self) {
        self.issued.clear();
    }

    /// Changes how long tokens live that are issued from now on.
    pub(crate) fn set_lifetime(&mut self, lifetime: Duration) {
        self.lifetime = lifetime;
    }

    /// Seconds for which a token lives whose caller asked for no lifetime.
    pub(crate) fn lifetime(&self) -> u64 {
        self.lifetime.as_secs()
    }

    /// The live token of this text.
    pub(crate) fn find(&self, text: &str, now: u64) -> Option<&AccessToken> {
        self.issued.get(text).filter(|token| now < token.expires_at)
    }

    /// Makes a token that lives for `lifetime` seconds.
    pub(crate) fn issue(
        &mut self,
        principal: Principal,
        scope: &str,
        lifetime: u64,
        now: u64,
    ) -> Result<String, NoRandomness> {
        self.issued.retain(|_, token| now < token.expires_at);
        let mut entropy = [0; ENTROPY];
        rand::fill(&mut entropy).map_err(|_| NoRandomness)?;
        let prefix = match principal {
            Principal::Federated { .. } => FEDERATED_PREFIX,
            Principal::Account { .. } | Principal::User { .. } => PREFIX,
        };
        let text = format!("{prefix}{}", BASE64_URL_SAFE_NO_PAD.encode(entropy));
        let token = AccessToken {
            principal,
            scope: scope.to_owned(),
            expires_at: now.saturating_add(lifetime),
        };
        self.issued.insert(text.clone(), token);
        Ok(text)
    }
}

impl AccessToken {
    /// True if it was asked for with this scope.
    pub(crate) fn has_scope(&self, wanted: &str) -> bool {
        self.scope.split(' ').any(|scope| scope == wanted)
    }
}
