//! IAM: the record of a service account, its keys, and acting in its name (contract 8.3, 8.4).

mod credentials;
mod keys;
mod record;

use std::borrow::Cow;

use http::{Method, StatusCode};

pub(crate) use self::keys::KeyPropagation;
use crate::account::Account;
use crate::answer::{self, Answer, Outcome};
use crate::call::Call;
use crate::caller::Principal;
use crate::endpoint::Endpoint;
use crate::route::decode;
use crate::state::{SharedState, State};

/// The scope, besides the one for all, that opens IAM.
const IAM_SCOPE: &str = "https://www.googleapis.com/auth/iam";

/// A request about one service account.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct IamRequest<'a> {
    /// Project that the account has to belong to; `-` for any.
    project: Cow<'a, str>,
    /// Email or unique ID.
    account: Cow<'a, str>,
    action: IamAction<'a>,
}

/// An action on the account.
#[derive(Debug, PartialEq, Eq)]
enum IamAction<'a> {
    Get,
    CreateKey,
    DeleteKey { key_id: Cow<'a, str> },
    GenerateAccessToken,
    SignJwt,
}

impl<'a> IamRequest<'a> {
    /// The request that the path segments behind `serviceAccounts` make.
    pub(crate) fn parse(method: &Method, project: &'a str, segments: &[&'a str]) -> Option<Self> {
        let (account, action) = match *segments {
            [account] if method == Method::GET => (decode(account), IamAction::Get),
            [account] if method == Method::POST => {
                let segment = decode(account);
                let (account, verb) = segment.rsplit_once(':')?;
                let action = match verb {
                    "generateAccessToken" => IamAction::GenerateAccessToken,
                    "signJwt" => IamAction::SignJwt,
                    _ => return None,
                };
                (Cow::Owned(account.to_owned()), action)
            }
            [account, "keys"] if method == Method::POST => (decode(account), IamAction::CreateKey),
            [account, "keys", key_id] if method == Method::DELETE => {
                let key_id = decode(key_id);
                (decode(account), IamAction::DeleteKey { key_id })
            }
            _ => return None,
        };
        Some(Self {
            project: decode(project),
            account,
            action,
        })
    }

    /// The kind of request.
    pub(crate) fn endpoint(&self) -> Endpoint {
        match self.action {
            IamAction::Get => Endpoint::ServiceAccount,
            IamAction::CreateKey => Endpoint::CreateKey,
            IamAction::DeleteKey { .. } => Endpoint::DeleteKey,
            IamAction::GenerateAccessToken => Endpoint::GenerateAccessToken,
            IamAction::SignJwt => Endpoint::SignJwt,
        }
    }

    /// The same request for another account.
    pub(crate) fn for_account(self, other: &'a str) -> Self {
        Self {
            account: Cow::Borrowed(other),
            ..self
        }
    }
}

/// Answers a request about a service account.
pub(crate) async fn answer(
    state: &SharedState,
    request: &IamRequest<'_>,
    call: &Call<'_>,
) -> Outcome {
    match &request.action {
        IamAction::Get => state.lock().service_account(request, call),
        IamAction::CreateKey => keys::create(state, request, call).await,
        IamAction::DeleteKey { key_id } => state.lock().delete_key(request, key_id, call),
        IamAction::GenerateAccessToken => state.lock().generate_access_token(request, call),
        IamAction::SignJwt => state.lock().sign_jwt(request, call),
    }
}

impl State {
    /// The account of a request whose caller holds a permission on it.
    fn permitted_account(
        &self,
        request: &IamRequest<'_>,
        permission: &str,
        call: &Call<'_>,
    ) -> Result<&Account, Box<Answer>> {
        let caller = self.authenticate(call, &[IAM_SCOPE])?;
        let account = self
            .account(&request.account)
            .filter(|account| request.project == "-" || request.project == account.spec.project_id);
        let project = account.map_or(request.project.as_ref(), |account| &account.spec.project_id);
        let permitted = match (caller, account) {
            (Principal::Federated { provider }, Some(account)) => {
                account.impersonators.contains(provider)
                    && matches!(
                        request.action,
                        IamAction::GenerateAccessToken | IamAction::SignJwt
                    )
            }
            _ => self.holds(caller, permission, project),
        };
        if permitted {
            account.ok_or_else(|| answer::refusal(StatusCode::NOT_FOUND, "Unknown service account"))
        } else {
            Err(permission_denied(permission))
        }
    }
}

fn permission_denied(permission: &str) -> Box<Answer> {
    answer::refusal(
        StatusCode::FORBIDDEN,
        &format!("Permission '{permission}' denied on resource (or it may not exist)."),
    )
}
