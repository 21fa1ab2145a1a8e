//! Callers of the fake, and their permissions.

use std::collections::BTreeSet;

use http::StatusCode;
use http::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};

use crate::answer::{self, Answer};
use crate::call::Call;
use crate::state::State;

/// The scope that opens every API.
const CLOUD_PLATFORM: &str = "https://www.googleapis.com/auth/cloud-platform";

/// The principal that an access token stands for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Principal {
    /// A service account.
    Account {
        /// Its unique ID, which outlives a change of its email's owner.
        unique_id: String,
    },
    /// A person with a refresh token.
    User {
        /// Email address.
        email: String,
    },
    /// A caller that another issuer vouched for; it may only impersonate accounts.
    Federated {
        /// Resource name of the provider, as the audience of its exchanges.
        provider: String,
    },
}

/// The permissions that callers lack; all others are held.
#[derive(Debug, Default)]
pub(crate) struct Denials(BTreeSet<Denial>);

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Denial {
    principal: Principal,
    permission: String,
    /// None denies it in every project.
    project: Option<String>,
}

impl Denials {
    /// Takes a permission away, in one project or in all.
    pub(crate) fn deny(&mut self, principal: Principal, permission: &str, project: Option<&str>) {
        self.0.insert(Denial {
            principal,
            permission: permission.to_owned(),
            project: project.map(str::to_owned),
        });
    }

    /// Gives a permission back, wherever it was taken away.
    pub(crate) fn allow(&mut self, principal: &Principal, permission: &str) {
        self.0
            .retain(|denial| denial.principal != *principal || denial.permission != permission);
    }

    fn cover(&self, principal: &Principal, permission: &str, project: &str) -> bool {
        self.0.iter().any(|denial| {
            denial.principal == *principal
                && denial.permission == permission
                && denial
                    .project
                    .as_deref()
                    .is_none_or(|denied| denied == project)
        })
    }
}

impl State {
    /// The caller: the holder of a live access token who still exists, with one of these scopes or the one for all.
    pub(crate) fn authenticate(
        &self,
        call: &Call<'_>,
        scopes: &[&str],
    ) -> Result<&Principal, Box<Answer>> {
        let Some(bearer) = call.headers.get(AUTHORIZATION) else {
            return Err(unauthenticated(
                "Request is missing required authentication credential.",
            ));
        };
        let token = bearer
            .to_str()
            .ok()
            .and_then(|text| text.strip_prefix("Bearer "))
            .and_then(|text| self.access_tokens.find(text, call.now))
            .filter(|token| self.is_alive(&token.principal))
            .ok_or_else(|| unauthenticated("Request had invalid authentication credentials."))?;
        if token.has_scope(CLOUD_PLATFORM) || scopes.iter().any(|scope| token.has_scope(scope)) {
            Ok(&token.principal)
        } else {
            Err(answer::refusal(
                StatusCode::FORBIDDEN,
                "Request had insufficient authentication scopes.",
            ))
        }
    }

    /// True if the caller holds a permission in a project.
    pub(crate) fn holds(&self, caller: &Principal, permission: &str, project: &str) -> bool {
        !matches!(caller, Principal::Federated { .. })
            && !self.denials.cover(caller, permission, project)
    }

    fn is_alive(&self, principal: &Principal) -> bool {
        match principal {
            Principal::Account { unique_id } => self
                .account(unique_id)
                .is_some_and(|account| !account.disabled),
            Principal::User { email } => self.users.contains(email),
            Principal::Federated { provider } => self.providers.contains_key(provider),
        }
    }
}

fn unauthenticated(problem: &str) -> Box<Answer> {
    let message = format!(
        "{problem} Expected OAuth 2 access token, login cookie or other valid authentication credential. \
         See https://developers.google.com/identity/sign-in/web/devconsole-project."
    );
    let mut answer = answer::refusal(StatusCode::UNAUTHORIZED, &message);
    let challenge = HeaderValue::from_static("Bearer realm=\"https://accounts.google.com/\"");
    answer.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    answer
}
