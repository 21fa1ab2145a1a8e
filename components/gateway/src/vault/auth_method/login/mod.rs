//! `login`: the exchange of a signed token for a token of this server (contract 4.1, 4.8).

mod outcome;
mod rate;
pub(super) mod text;

use gatehouse_access_api::{self as access, Lifetime, LoginGrant, Mount as AdmittedMount};
use gatehouse_auth_method_api::{Identity, LoginRequest, Mount, TokenParameters, TokenType};
use gatehouse_ports::IpAddress;
use zeroize::Zeroizing;

use super::mount;
use crate::vault::auth_block::Granted;
use crate::vault::call::{Answer, Call};
use crate::vault::envelope::Reply;
use crate::vault::errors::ApiError;
use crate::vault::field::{Field, text};
use crate::vault::server::Server;

/// The fields that a caller can choose (SEC-A7).
pub(in crate::vault) const LOGIN: &[Field] = &[
    text("role", "Name of the role to log in under."),
    text(
        "jwt",
        "The JWT that a service account or an instance of Google Cloud signed.",
    )
    .required(),
];

/// `login`
pub(in crate::vault) fn login(call: &Call<'_>) -> Answer {
    let (server, mount) = (call.server, &mount(call)?);
    let count = |outcome| count(server, outcome);
    let request = request(call)
        .map(Zeroizing::new)
        .inspect_err(|_| count(outcome::MALFORMED_REQUEST))?;
    let identity = server
        .auth_method
        .login(mount, &request)
        .inspect_err(|error| count(outcome::of_refusal(error)))
        .map_err(text::refused)?;
    let grant = grant(mount, identity, call);
    let issued = server
        .access
        .issue_login(&grant)
        .inspect_err(|error| count(outcome::of_failure(error)))
        .map_err(text::not_issued)?;
    count(outcome::SUCCESS);
    Ok(Some(Reply::auth(Granted::New(Zeroizing::new(issued)))))
}

/// Refuses a login attempt beyond the rate limit, before anything is computed or recorded for it (SEC-R1).
///
/// # Errors
///
/// 429 with the time after which a retry is worthwhile.
pub(in crate::vault) fn limit(
    server: &Server<'_>,
    source: Option<IpAddress>,
    mount: &AdmittedMount,
) -> Result<(), ApiError> {
    rate::check(server, source, mount).inspect_err(|_| count(server, outcome::RATE_LIMITED))
}

fn count(server: &Server<'_>, outcome: &str) {
    let metrics = &server.host.metrics;
    metrics.count("logins", &[("outcome", outcome)], 1);
}

/// The fields that a caller sent.
pub(super) fn request(call: &Call<'_>) -> Result<LoginRequest, ApiError> {
    let fields = call.known_fields()?;
    Ok(LoginRequest {
        role: fields.string("role")?.unwrap_or_default(),
        jwt: fields.string("jwt")?.unwrap_or_default(),
        source_address: call.request.peer,
    })
}

fn grant(mount: &Mount, identity: Identity, call: &Call<'_>) -> LoginGrant {
    LoginGrant {
        mount_id: mount.id.clone(),
        mount_path: mount.path.clone(),
        role: identity.role,
        alias_name: identity.alias_name,
        metadata: identity.metadata,
        display_name: identity.display_name,
        group_aliases: Some(identity.group_aliases),
        parameters: parameters(identity.token),
        renewal_state: identity.renewal_state,
        source_address: call.request.peer,
    }
}

fn parameters(token: TokenParameters) -> access::TokenParameters {
    access::TokenParameters {
        lifetime: lifetime(&token),
        policies: token.policies,
        no_default_policy: token.no_default_policy,
        bound_cidrs: token.bound_cidrs,
        num_uses: token.number_of_uses,
        token_type: match token.token_type {
            TokenType::Default => None,
            TokenType::Service => Some(access::TokenType::Service),
            TokenType::Batch => Some(access::TokenType::Batch),
        },
    }
}

/// The lifetime that a role gives its tokens.
pub(super) const fn lifetime(token: &TokenParameters) -> Lifetime {
    Lifetime {
        ttl: token.ttl,
        max_ttl: token.maximum_ttl,
        explicit_max_ttl: token.explicit_maximum_ttl,
        period: token.period,
    }
}
