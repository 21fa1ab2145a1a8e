//! The `auth` member: a token's terms, shown when it is made or renewed (contract 4.8, 5.5).

use gatehouse_access_api::{
    Cap, ClientToken, Issued, TokenGrant, TokenType, TokenWarning, duration,
};
use serde::Serialize;
use zeroize::Zeroizing;

use super::text::quoted;
use crate::metadata::Metadata;

/// A token and its terms.
pub(crate) enum Granted {
    /// The request created it, so no client knows it yet.
    New(Zeroizing<Issued>),
    /// The request renewed it.
    Renewed {
        /// The token; `None` where the caller does not own it.
        client_token: Option<ClientToken>,
        /// Its terms.
        grant: TokenGrant,
    },
}

impl Granted {
    /// The token, if the caller may see it.
    fn client_token(&self) -> Option<&str> {
        match self {
            Self::New(issued) => Some(&issued.client_token),
            Self::Renewed { client_token, .. } => client_token.as_ref().map(ClientToken::expose),
        }
    }

    /// The terms of the token.
    pub(super) fn grant(&self) -> &TokenGrant {
        match self {
            Self::New(issued) => &issued.grant,
            Self::Renewed { grant, .. } => grant,
        }
    }
}

/// A token as its owner sees it.
#[derive(Serialize)]
pub(super) struct AuthBlock<'a> {
    client_token: &'a str,
    accessor: &'a str,
    policies: &'a [String],
    token_policies: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    identity_policies: &'a [String],
    metadata: Option<Metadata<'a>>,
    lease_duration: u64,
    renewable: bool,
    entity_id: &'a str,
    token_type: &'static str,
    orphan: bool,
    mfa_requirement: (),
    num_uses: u64,
}

impl<'a> From<&'a Granted> for AuthBlock<'a> {
    fn from(granted: &'a Granted) -> Self {
        let grant = granted.grant();
        Self {
            client_token: granted.client_token().unwrap_or_default(),
            accessor: &grant.accessor,
            policies: &grant.policies,
            token_policies: &grant.token_policies,
            identity_policies: &grant.identity_policies,
            metadata: grant.metadata.as_deref().map(Metadata),
            lease_duration: grant.lease_duration,
            renewable: grant.renewable,
            entity_id: grant.entity_id.as_deref().unwrap_or_default(),
            token_type: token_type(grant.token_type),
            orphan: grant.orphan,
            mfa_requirement: (),
            num_uses: grant.num_uses,
        }
    }
}

/// The name of a token type.
pub(crate) const fn token_type(token_type: TokenType) -> &'static str {
    match token_type {
        TokenType::Service => "service",
        TokenType::Batch => "batch",
    }
}

/// The text of each warning, in order.
pub(crate) fn warnings(grant: &TokenGrant) -> impl Iterator<Item = String> + '_ {
    grant.warnings.iter().map(|warning| match warning {
        TokenWarning::TtlCapped(Cap {
            asked,
            effective_max_ttl,
        }) => format!(
            "TTL of {} exceeded the effective max_ttl of {}; TTL value is capped accordingly",
            quoted(&duration::short(*asked)),
            quoted(&duration::short(*effective_max_ttl)),
        ),
        TokenWarning::PeriodCapped(Cap {
            asked,
            effective_max_ttl,
        }) => format!(
            "period of {} exceeded the effective max_ttl of {}; period value is capped accordingly",
            quoted(&duration::short(*asked)),
            quoted(&duration::short(*effective_max_ttl)),
        ),
        TokenWarning::LesserExplicitMaxTtl(lesser) => format!(
            "Explicit max TTL specified both during creation call and in role; using the lesser value of {lesser} seconds"
        ),
        TokenWarning::LesserPeriod(lesser) => format!(
            "Period specified both during creation call and in role; using the lesser value of {lesser} seconds"
        ),
        TokenWarning::UnknownPolicy(name) => format!("Policy {} does not exist", quoted(name)),
        TokenWarning::ChosenId => {
            "Supplying a custom ID for the token makes it as easy to guess as the ID that was chosen"
                .to_owned()
        }
        TokenWarning::IgnoredId => {
            "The supplied ID was ignored: a batch token consists of what it carries".to_owned()
        }
    })
}
