//! The caller behind the token of a request.
//!
//! Two kinds of tokens give access to organizations. `orgs` knows the API tokens, and the roles of their bearers in an organization. `access` knows
//! the service tokens: their policies say what they may do with an organization (`policy_rights.rs`), and their entity may be a user here, who
//! belongs to teams as people do. Either is enough.
//!
//! For policies, GET needs `read`, POST `create`, PATCH and PUT `update`, DELETE `delete`. A root token administers the whole site.

use gatehouse_access_api::{
    self as access, Access, AdmissionError, Operation, TokenReference, TokenView,
};
use gatehouse_orgs_api::{self as orgs, Capability, Credential, Edition, Identification, Identity};
use gatehouse_ports::organizations_api::TOKEN_MARK;

use super::api::Api;
use super::api_error::ApiError;
use super::parameters::parameters;
use super::policy_paths::{ORGANIZATIONS_PATH, Rights};
use crate::admission;
use crate::audit::client_request_id;
use crate::http::Method;

const ROOT_POLICY: &str = "root";

/// A caller with a valid token.
#[derive(Clone)]
pub(super) struct Caller<'a> {
    pub(super) identity: Identity,
    /// The token, if it is a service token: its policies can be asked about other paths.
    pub(super) service_token: Option<ServiceToken<'a>>,
    accessor: String,
    /// True if the policies of a service token allow exactly this request.
    pub(super) granted: bool,
}

/// A service token, whose policies can be asked about other paths.
#[derive(Clone)]
pub(super) struct ServiceToken<'a> {
    pub(super) text: &'a str,
    /// The rights that its policies grant at the path of this request, where they were found out during admission.
    rights_here: Option<RightsHere>,
}

/// The rights at one path.
#[derive(Clone)]
struct RightsHere {
    path: String,
    rights: Rights,
}

impl ServiceToken<'_> {
    /// The rights that the policies grant at `path`; `None` where access has to be asked.
    pub(super) fn rights_at(&self, path: &str) -> Option<Rights> {
        let here = self.rights_here.as_ref().filter(|here| here.path == path);
        here.map(|here| here.rights)
    }
}

impl Caller<'_> {
    /// True if the caller administers the whole installation.
    pub(super) const fn is_site_administrator(&self) -> bool {
        self.identity.is_site_administrator()
    }
}

/// The credential that a request presents, as far as `access` can identify it.
pub(super) struct Presented<'a> {
    pub(super) credential: Credential,
    pub(super) service_token: Option<ServiceToken<'a>>,
    /// The accessor of a service token; empty for others.
    accessor: String,
    /// True if the policies of a service token allow exactly this request.
    pub(super) granted: bool,
}

impl<'a> Presented<'a> {
    fn api_token(token: &str) -> Self {
        Self {
            credential: Credential::ApiToken(token.to_owned()),
            service_token: None,
            accessor: String::new(),
            granted: false,
        }
    }

    /// The caller, once their identity is known.
    fn into_caller(self, identity: Identity) -> Caller<'a> {
        let accessor = match &identity.token_id {
            Some(id) => id.clone(),
            None => self.accessor,
        };
        Caller {
            identity,
            service_token: self.service_token,
            accessor,
            granted: self.granted,
        }
    }
}

impl<'a, C: Access, O: Capability> Api<'a, C, O> {
    /// True if the request presents a token that can be a service token, and so can have policies.
    pub(super) fn comes_with_policies(&self) -> bool {
        let token = self.request.bearer_token();
        token.is_some_and(|token| !token.contains(TOKEN_MARK))
    }

    /// Identifies the caller, and finds out whether the policies of a service token allow the request at `path`; `None` is the path of all
    /// organizations.
    ///
    /// # Errors
    ///
    /// [`ApiError::RateLimited`] if the request is beyond the limit, [`ApiError::Unauthorized`] without a valid token.
    pub(super) fn authenticate(&self, path: Option<&str>) -> Result<Caller<'a>, ApiError> {
        let presented = self.presented(path)?;
        let found = match &presented {
            Some(presented) => self
                .organizations
                .identify(&presented.credential, self.limiter.lacks_rate())?,
            None => Identification::default(),
        };
        self.identified(presented, found)
    }

    /// The caller behind the presented credential. The request is counted.
    ///
    /// # Errors
    ///
    /// As [`Self::authenticate`].
    pub(super) fn identified(
        &self,
        presented: Option<Presented<'a>>,
        found: Identification,
    ) -> Result<Caller<'a>, ApiError> {
        let caller = presented
            .zip(found.identity)
            .map(|(presented, identity)| presented.into_caller(identity));
        let counted = caller.as_ref();
        self.admit_rate(
            counted.map(|caller| (&caller.identity, caller.accessor.as_str())),
            found.api_rate,
        )?;
        if caller.is_none() {
            let token = self.request.bearer_token();
            self.trail.borrow_mut().refused(token, self.access);
        }
        caller.ok_or(ApiError::Unauthorized)
    }

    /// Identifies the caller again, for a further part of an answer. This counts against no rate limit and takes no use of the token.
    ///
    /// # Errors
    ///
    /// [`ApiError::Unauthorized`] where the token is no longer valid, or its last use was taken.
    pub(super) fn authenticate_again(&self) -> Result<Caller<'a>, ApiError> {
        let presented = match self.request.bearer_token() {
            None => None,
            Some(token) if token.contains(TOKEN_MARK) => Some(Presented::api_token(token)),
            Some(token) => match self.looked_up(token)? {
                Some(view) if view.num_uses > 0 => {
                    let path = ORGANIZATIONS_PATH.to_owned();
                    // Looking a token up says nothing about its entity; asking for its rights does.
                    let rights = self.unconditional(token, &[path])?;
                    rights.map(|_| self.service_token(token, Some(view), false, None))
                }
                _ => self.presented_service_token(token, ORGANIZATIONS_PATH)?,
            },
        };
        let Some(presented) = presented else {
            return Err(ApiError::Unauthorized);
        };
        let found = self
            .organizations
            .identify(&presented.credential, self.limiter.lacks_rate())?;
        let identity = found.identity.ok_or(ApiError::Unauthorized)?;
        Ok(presented.into_caller(identity))
    }

    /// Admits site administrators only.
    ///
    /// # Errors
    ///
    /// As [`Self::enter`]: for all other callers the resource does not exist.
    pub(super) fn administer(&self) -> Result<Caller<'a>, ApiError> {
        let caller = self.authenticate(None)?;
        self.check_media_type()?;
        self.administering(caller)
    }

    /// The same for a caller who has been identified.
    pub(super) fn administering(&self, caller: Caller<'a>) -> Result<Caller<'a>, ApiError> {
        let allowed = caller.is_site_administrator();
        self.decided(&caller, allowed)?;
        allowed.then_some(caller).ok_or(ApiError::NotFound)
    }

    /// Admits requests whose route exists only in this edition.
    ///
    /// # Errors
    ///
    /// In the other edition [`ApiError::NotFound`], preceded by [`ApiError::Unauthorized`] without a valid token.
    pub(super) fn exists_only_in(&self, edition: Edition) -> Result<(), ApiError> {
        if self.settings.edition == edition {
            return Ok(());
        }
        let caller = self.authenticate(None)?;
        self.decided(&caller, false)?;
        Err(ApiError::NotFound)
    }

    /// Sets whether the request is allowed, and records an allowed request.
    ///
    /// # Errors
    ///
    /// When the request cannot be recorded. It must not be carried out then.
    pub(super) fn decided(&self, caller: &Caller<'_>, allowed: bool) -> Result<(), ApiError> {
        let mut trail = self.trail.borrow_mut();
        let token = self.request.bearer_token();
        Ok(trail.decided(token, &caller.accessor, allowed)?)
    }

    /// The caller in the form that the capability records.
    pub(super) fn recorded_as(&self, caller: &Caller<'_>) -> orgs::Caller {
        orgs::Caller {
            identity: caller.identity.clone(),
            request_id: self.request_id.to_owned(),
            client_request_id: client_request_id(self.request).map(str::to_owned),
        }
    }

    /// Finds out the credential that the request presents at `path`, from `access` alone; `None` for a token that cannot be valid.
    ///
    /// # Errors
    ///
    /// When access cannot answer.
    pub(super) fn presented(&self, path: Option<&str>) -> Result<Option<Presented<'a>>, ApiError> {
        match self.request.bearer_token() {
            None => Ok(None),
            Some(token) if token.contains(TOKEN_MARK) => Ok(Some(Presented::api_token(token))),
            Some(token) => self.presented_service_token(token, path.unwrap_or(ORGANIZATIONS_PATH)),
        }
    }

    /// A service token that access admits to the request at `path`, or that is valid but not admitted.
    fn presented_service_token(
        &self,
        token: &'a str,
        path: &str,
    ) -> Result<Option<Presented<'a>>, ApiError> {
        let operation = operation_of(self.request.method);
        let asked = access::Request {
            token: Some(token.into()),
            operation,
            path: path.to_owned(),
            source_address: self.request.peer,
            wrap_ttl: None,
            parameters: None,
        };
        let admitted =
            admission::admit(self.access, &asked, || parameters(self.request, operation));
        let mut rights_here = None;
        let (view, granted) = match admitted {
            Ok(admission) => {
                let granted = operation != Operation::CreateOrUpdate || admission.write.create;
                // A token whose last use was taken by this request has no rights left.
                if !admission.limited_uses {
                    rights_here = Some(RightsHere {
                        rights: Rights::granted_by(&admission.unconditional),
                        path: path.to_owned(),
                    });
                }
                (admission.caller, granted)
            }
            Err(
                AdmissionError::Denied
                | AdmissionError::ParametersNeeded
                | AdmissionError::NoMount
                | AdmissionError::MalformedPath,
            ) => (self.looked_up(token)?, false),
            Err(
                AdmissionError::NoToken
                | AdmissionError::InvalidToken
                | AdmissionError::AddressDenied
                | AdmissionError::EntityUnusable,
            ) => return Ok(None),
            Err(AdmissionError::Failure(failure)) => return Err(failure.into()),
        };
        Ok(Some(self.service_token(token, view, granted, rights_here)))
    }

    /// The credential of a valid service token.
    fn service_token(
        &self,
        token: &'a str,
        view: Option<TokenView>,
        granted: bool,
        rights_here: Option<RightsHere>,
    ) -> Presented<'a> {
        self.trail.borrow_mut().comes_from(view.as_ref());
        Presented {
            credential: credential_of(view.as_ref()),
            service_token: Some(ServiceToken {
                text: token,
                rights_here,
            }),
            accessor: view.map(|view| view.accessor).unwrap_or_default(),
            granted,
        }
    }

    /// Looks up a token that policies refused; `None` if the refused request took its last use.
    fn looked_up(&self, token: &str) -> Result<Option<TokenView>, ApiError> {
        match self.access.lookup_token(&TokenReference::Id(token.into())) {
            Ok(view) => Ok(Some(view)),
            Err(access::LookupError::UnknownToken) => Ok(None),
            Err(access::LookupError::Failure(failure)) => Err(failure.into()),
        }
    }
}

/// The credential of a valid service token.
fn credential_of(view: Option<&TokenView>) -> Credential {
    let is_root = |view: &TokenView| view.policies.iter().any(|policy| policy == ROOT_POLICY);
    match view {
        Some(view) if is_root(view) => Credential::Root,
        Some(TokenView {
            entity_id: Some(entity),
            ..
        }) => Credential::Entity(entity.clone()),
        _ => Credential::WithoutEntity,
    }
}

/// The operation that policies must allow.
const fn operation_of(method: Method) -> Operation {
    match method {
        Method::Post => Operation::CreateOrUpdate,
        Method::Patch | Method::Put => Operation::Update,
        Method::Delete => Operation::Delete,
        _ => Operation::Read,
    }
}
