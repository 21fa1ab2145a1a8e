//! The caller, and what they may do.
//!
//! Two kinds of tokens open organizations. Those of this API are known to `orgs`, which also knows what their bearers are to an
//! organization. A service token is known to `access`: its policies say what it may do with an organization (`policy_rights.rs`),
//! and its entity may be a user here, who belongs to teams as people do. Either is enough.
//!
//! For policies, GET needs `read`, POST `create`, PATCH and PUT `update`, DELETE `delete`. A root token administers the whole site. What
//! is not allowed does not exist, as far as the caller can tell.

use gatehouse_access_api::{self as access, Access, Operation, Refusal, TokenReference, TokenView};
use gatehouse_orgs_api::{
    self as orgs, AccessDecision, Action, Capability, Credential, Decision, DelegationScope,
    Description, Edition, Identity, Organization, OrganizationRole, OrganizationTarget, Right,
};
use gatehouse_ports::organizations_api::TOKEN_MARK;

use super::Api;
use super::api_error::ApiError;
use super::parameters::parameters;
use super::policy_paths::{ORGANIZATIONS_PATH, Rights, path_of};
use crate::admission;
use crate::audit::client_request_id;
use crate::http::Method;

const ROOT_POLICY: &str = "root";

/// A caller with a valid token.
#[derive(Clone)]
pub(super) struct Caller<'a> {
    pub(super) identity: Identity,
    /// The token, if it is a service token: its policies can be asked for more.
    pub(super) service_token: Option<&'a str>,
    accessor: String,
    /// True if the policies of a service token allow this very request.
    pub(super) granted: bool,
    /// The rights that they grant at the path of this request, where that was found out with the rest.
    rights_here: Option<RightsHere>,
}

/// The rights at one path.
#[derive(Clone)]
struct RightsHere {
    path: String,
    rights: Rights,
}

impl Caller<'_> {
    /// Says whether the caller administers the whole installation.
    pub(super) const fn is_site_administrator(&self) -> bool {
        self.identity.is_site_administrator()
    }

    /// The rights that the policies grant at `path`; `None` where access has to be asked.
    pub(super) fn rights_at(&self, path: &str) -> Option<Rights> {
        let here = self.rights_here.as_ref().filter(|here| here.path == path);
        here.map(|here| here.rights)
    }
}

/// The caller who presents a token, and how many requests callers have; neither where the token is not valid.
#[derive(Default)]
struct Bearer<'a> {
    caller: Option<Caller<'a>>,
    api_rate: Option<orgs::ApiRate>,
}

/// A caller who may do what they ask, and the organization they may do it with.
pub(super) struct Entry<'a> {
    pub(super) caller: Caller<'a>,
    pub(super) position: AccessDecision,
}

/// A caller with a valid token who asks about something with an identifier. Whether they may has not been decided yet.
pub(super) struct Arrival<'a> {
    pub(super) caller: Caller<'a>,
    /// The organization to which it belongs, if there is such a thing.
    target: OrganizationTarget,
}

impl<'a, C: Access, O: Capability> Api<'a, C, O> {
    /// Lets the caller do something with the organization of this name. For policies it stands at `organizations/<name>`, and below
    /// that where `below` says what it concerns, such as `agent-pools`.
    ///
    /// # Errors
    ///
    /// In the order of contract 1.5: [`ApiError::Unauthorized`] without a valid token, the error of the media type, and
    /// [`ApiError::NotFound`], [`ApiError::Forbidden`] or [`ApiError::Unauthorized`] where it is not allowed.
    pub(super) fn enter(
        &self,
        name: &str,
        action: Action,
        below: Option<&str>,
    ) -> Result<Entry<'a>, ApiError> {
        self.enter_describing(name, action, below, Description::NOTHING)
    }

    /// The same, with these parts of the organization's description.
    ///
    /// # Errors
    ///
    /// As [`Self::enter`].
    pub(super) fn enter_describing(
        &self,
        name: &str,
        action: Action,
        below: Option<&str>,
        described: Description,
    ) -> Result<Entry<'a>, ApiError> {
        let path = path_of(name).map(|path| match below {
            Some(below) => format!("{path}/{below}"),
            None => path,
        });
        let caller = self.authenticate(path.as_deref())?;
        self.check_media_type()?;
        self.admit(caller, &named(name), action, described, |_| true)
    }

    /// The same where the answer shows the permissions of the caller in the organization, for which their policies count as well, and
    /// perhaps the entitlements of its plan.
    ///
    /// # Errors
    ///
    /// As [`Self::enter`].
    pub(super) fn enter_to_show(
        &self,
        name: &str,
        action: Action,
        entitlements: bool,
    ) -> Result<Entry<'a>, ApiError> {
        let caller = self.authenticate(path_of(name).as_deref())?;
        self.check_media_type()?;
        let described = Description {
            entitlements,
            permissions: true,
            role_by_policies: self.role_by_policies(&caller, name)?,
        };
        self.admit(caller, &named(name), action, described, |_| true)
    }

    /// Lets a caller do something with an organization if it is the one that is meant.
    fn admit(
        &self,
        caller: Caller<'a>,
        target: &OrganizationTarget,
        action: Action,
        described: Description,
        is_meant: impl FnOnce(&Organization) -> bool,
    ) -> Result<Entry<'a>, ApiError> {
        let position = self.organizations.decide_access(
            self.settings.edition,
            &caller.identity,
            caller.granted,
            target,
            action,
            described,
        )?;
        let position = position.filter(|position| is_meant(&position.organization));
        let position = position.ok_or(ApiError::NotFound);
        let decided = position.and_then(|position| match position.decision {
            Decision::Allowed => Ok(position),
            Decision::Hidden => Err(ApiError::NotFound),
            Decision::Forbidden => Err(ApiError::Forbidden(FORBIDDEN.into())),
            Decision::UserTokensOff => Err(ApiError::Unauthorized),
        });
        self.decided(&caller, decided.is_ok())?;
        Ok(Entry {
            caller,
            position: decided?,
        })
    }

    /// The same for what has an identifier of its own, such as `agent-pools` with the id of one: the organization is the one to which
    /// it belongs.
    ///
    /// # Errors
    ///
    /// As [`Self::enter`]; what there is not is not found.
    pub(super) fn enter_by_id(
        &self,
        id: &str,
        action: Action,
        collection: &str,
    ) -> Result<Entry<'a>, ApiError> {
        self.enter_below(id, action, &format!("{collection}/{id}"))
    }

    /// The same for a part of what has an identifier: `below` says for policies what it concerns.
    ///
    /// # Errors
    ///
    /// As [`Self::enter`]; what there is not is not found.
    pub(super) fn enter_below(
        &self,
        id: &str,
        action: Action,
        below: &str,
    ) -> Result<Entry<'a>, ApiError> {
        let arrival = self.arrive(id, below)?;
        self.enter_arrived(arrival, action)
    }

    /// Finds out who asks about something with an identifier, or about a part of it, which `below` names for policies.
    ///
    /// # Errors
    ///
    /// [`ApiError::Unauthorized`] without a valid token, and the problem of the media type.
    pub(super) fn arrive(&self, id: &str, below: &str) -> Result<Arrival<'a>, ApiError> {
        // Only policies need to know the organization before it is known who asks.
        let path = if self.comes_with_policies() {
            let owner = self.organizations.organization_of(id)?;
            let path = owner.and_then(|owner| path_of(&owner.name));
            path.map(|path| format!("{path}/{below}"))
        } else {
            None
        };
        let caller = self.authenticate(path.as_deref())?;
        self.check_media_type()?;
        let target = OrganizationTarget::OwnerOf(id.to_owned());
        Ok(Arrival { caller, target })
    }

    /// Lets the caller do something with the organization to which it belongs that it asks about.
    ///
    /// # Errors
    ///
    /// As [`Self::enter`]; what there is not is not found.
    pub(super) fn enter_arrived(
        &self,
        arrival: Arrival<'a>,
        action: Action,
    ) -> Result<Entry<'a>, ApiError> {
        let (caller, target) = (arrival.caller, &arrival.target);
        self.admit(caller, target, action, Description::NOTHING, |_| true)
    }

    /// With which teams and members of the organization the caller may deal. Policies that allow this very request are as the `right` to
    /// it, unless they make an owner of the caller.
    ///
    /// # Errors
    ///
    /// When access cannot answer.
    pub(super) fn delegation_scope(
        &self,
        entry: &Entry<'_>,
        right: Right,
    ) -> Result<DelegationScope, ApiError> {
        let mut scope = self.scope_without_right(entry)?;
        if entry.caller.granted && !scope.rights.contains(&right) {
            scope.rights.push(right);
        }
        Ok(scope)
    }

    /// The same where policies that allow the request say nothing about teams.
    ///
    /// # Errors
    ///
    /// When access cannot answer.
    pub(super) fn scope_without_right(
        &self,
        entry: &Entry<'_>,
    ) -> Result<DelegationScope, ApiError> {
        let Entry { caller, position } = entry;
        let mut scope = position.delegation_scope();
        if scope.role.owns() || !caller.granted {
            return Ok(scope);
        }
        let by_policies = self.role_by_policies(caller, &position.organization.name)?;
        if by_policies == Some(OrganizationRole::Owner) {
            scope.role = OrganizationRole::Owner;
        }
        Ok(scope)
    }

    /// Says whether a caller who has been let in may read what stands `below` the organization as well, which takes `action`.
    ///
    /// # Errors
    ///
    /// When access or the store cannot answer.
    pub(super) fn may_also(
        &self,
        entry: &Entry<'_>,
        action: Action,
        below: &str,
    ) -> Result<bool, ApiError> {
        let Entry { caller, position } = entry;
        let name = &position.organization.name;
        let path = path_of(name).map(|path| format!("{path}/{below}"));
        let rights = self.rights_at(caller, vec![path.unwrap_or_default()])?;
        let position = self.organizations.decide_access(
            self.settings.edition,
            &caller.identity,
            rights.iter().any(|rights| rights.read),
            &named(name),
            action,
            Description::NOTHING,
        )?;
        Ok(position.is_some_and(|position| position.decision == Decision::Allowed))
    }

    /// The same for what every organization has one of, with an identifier that `own` finds in it.
    ///
    /// # Errors
    ///
    /// As [`Self::enter`]; what there is not is not found.
    pub(super) fn enter_by_its_own(
        &self,
        id: &str,
        action: Action,
        described: Description,
        own: fn(&Organization) -> &str,
    ) -> Result<Entry<'a>, ApiError> {
        let path = if self.comes_with_policies() {
            let owner = self.organizations.organization_of(id)?;
            owner.and_then(|owner| path_of(&owner.name))
        } else {
            None
        };
        let caller = self.authenticate(path.as_deref())?;
        self.check_media_type()?;
        let target = OrganizationTarget::OwnerOf(id.to_owned());
        self.admit(caller, &target, action, described, |found| own(found) == id)
    }

    /// Says whether the request presents something that can be a service token, and so have policies.
    pub(super) fn comes_with_policies(&self) -> bool {
        let token = self.request.bearer_token();
        token.is_some_and(|token| !token.contains(TOKEN_MARK))
    }

    /// Finds out who asks. What a service token's policies say about the request at `path` is found out as well; `None` is the path of
    /// all organizations.
    ///
    /// # Errors
    ///
    /// [`ApiError::RateLimited`] if it is one request too many, [`ApiError::Unauthorized`] without a valid token.
    pub(super) fn authenticate(&self, path: Option<&str>) -> Result<Caller<'a>, ApiError> {
        let Bearer { caller, api_rate } = match self.request.bearer_token() {
            None => Bearer::default(),
            Some(token) if token.contains(TOKEN_MARK) => self.api_caller(token)?,
            Some(token) => self.service_caller(token, path.unwrap_or(ORGANIZATIONS_PATH))?,
        };
        let counted = caller.as_ref();
        self.admit_rate(
            counted.map(|caller| (&caller.identity, caller.accessor.as_str())),
            api_rate,
        )?;
        if caller.is_none() {
            let token = self.request.bearer_token();
            self.trail.borrow_mut().refused(token, self.access);
        }
        caller.ok_or(ApiError::Unauthorized)
    }

    /// Finds out anew who asks, for a further part of an answer. That counts against no rate and takes no use of the token.
    ///
    /// # Errors
    ///
    /// [`ApiError::Unauthorized`] where the token is not valid any more, its last use being taken included.
    pub(super) fn authenticate_again(&self) -> Result<Caller<'a>, ApiError> {
        let bearer = match self.request.bearer_token() {
            None => Bearer::default(),
            Some(token) if token.contains(TOKEN_MARK) => self.api_caller(token)?,
            Some(token) => match self.looked_up(token)? {
                Some(view) if view.num_uses > 0 => {
                    let path = ORGANIZATIONS_PATH.to_owned();
                    // Looking a token up says nothing about its entity; asking for rights does.
                    match self.unconditional(token, &[path])? {
                        Some(_) => self.bearer(token, Some(view), false, None)?,
                        None => Bearer::default(),
                    }
                }
                _ => self.service_caller(token, ORGANIZATIONS_PATH)?,
            },
        };
        bearer.caller.ok_or(ApiError::Unauthorized)
    }

    /// Lets site administrators pass, and no other caller.
    ///
    /// # Errors
    ///
    /// As [`Self::enter`]: to all others there is nothing to administer.
    pub(super) fn administer(&self) -> Result<Caller<'a>, ApiError> {
        let caller = self.authenticate(None)?;
        self.check_media_type()?;
        let allowed = caller.is_site_administrator();
        self.decided(&caller, allowed)?;
        allowed.then_some(caller).ok_or(ApiError::NotFound)
    }

    /// Lets requests pass whose route exists in this edition alone.
    ///
    /// # Errors
    ///
    /// In the other edition [`ApiError::NotFound`], and before that [`ApiError::Unauthorized`] without a valid token.
    pub(super) fn exists_only_in(&self, edition: Edition) -> Result<(), ApiError> {
        if self.settings.edition == edition {
            return Ok(());
        }
        let caller = self.authenticate(None)?;
        self.decided(&caller, false)?;
        Err(ApiError::NotFound)
    }

    /// Records whether what is asked is going to be done.
    ///
    /// # Errors
    ///
    /// When that cannot be recorded; nothing may be done then.
    pub(super) fn decided(&self, caller: &Caller<'_>, allowed: bool) -> Result<(), ApiError> {
        let mut trail = self.trail.borrow_mut();
        let token = self.request.bearer_token();
        Ok(trail.decided(token, &caller.accessor, allowed)?)
    }

    /// The caller as the capability records them.
    pub(super) fn recorded_as(&self, caller: &Caller<'_>) -> orgs::Caller {
        orgs::Caller {
            identity: caller.identity.clone(),
            request_id: self.request_id.to_owned(),
            client_request_id: client_request_id(self.request).map(str::to_owned),
        }
    }

    fn api_caller(&self, token: &str) -> Result<Bearer<'a>, ApiError> {
        let credential = Credential::ApiToken(token.to_owned());
        let found = self
            .organizations
            .identify(&credential, self.limiter.lacks_rate())?;
        Ok(Bearer {
            caller: found.identity.map(|identity| Caller {
                accessor: identity.token_id.clone().unwrap_or_default(),
                identity,
                service_token: None,
                granted: false,
                rights_here: None,
            }),
            api_rate: found.api_rate,
        })
    }

    fn service_caller(&self, token: &'a str, path: &str) -> Result<Bearer<'a>, ApiError> {
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
                // A token whose last use this request took has no rights any more.
                if !admission.limited_uses {
                    rights_here = Some(RightsHere {
                        rights: Rights::granted_by(&admission.unconditional),
                        path: path.to_owned(),
                    });
                }
                (admission.caller, granted)
            }
            Err(
                Refusal::Denied
                | Refusal::ParametersNeeded
                | Refusal::NoMount
                | Refusal::MalformedPath,
            ) => (self.looked_up(token)?, false),
            Err(
                Refusal::NoToken
                | Refusal::InvalidToken
                | Refusal::AddressDenied
                | Refusal::EntityUnusable,
            ) => return Ok(Bearer::default()),
            Err(Refusal::Failure(failure)) => return Err(failure.into()),
        };
        self.bearer(token, view, granted, rights_here)
    }

    /// The bearer of a service token that is valid.
    fn bearer(
        &self,
        token: &'a str,
        view: Option<TokenView>,
        granted: bool,
        rights_here: Option<RightsHere>,
    ) -> Result<Bearer<'a>, ApiError> {
        self.trail.borrow_mut().comes_from(view.as_ref());
        let found = self
            .organizations
            .identify(&credential_of(view.as_ref()), self.limiter.lacks_rate())?;
        Ok(Bearer {
            caller: found.identity.map(|identity| Caller {
                identity,
                service_token: Some(token),
                accessor: view.map(|view| view.accessor).unwrap_or_default(),
                granted,
                rights_here,
            }),
            api_rate: found.api_rate,
        })
    }

    /// Looks up a token that policies did not let pass; `None` if the refused request took its last use.
    fn looked_up(&self, token: &str) -> Result<Option<TokenView>, ApiError> {
        match self.access.lookup_token(&TokenReference::Id(token.into())) {
            Ok(view) => Ok(Some(view)),
            Err(access::LookupError::UnknownToken) => Ok(None),
            Err(access::LookupError::Failure(failure)) => Err(failure.into()),
        }
    }
}

/// The organization of this name.
fn named(name: &str) -> OrganizationTarget {
    OrganizationTarget::Name(name.to_owned())
}

/// The text of a refusal for callers who may learn that they are refused.
const FORBIDDEN: &str = "Only owners of the organization may do this.";

/// The credential that a checked service token stands for.
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

/// The operation that policies have to allow.
const fn operation_of(method: Method) -> Operation {
    match method {
        Method::Post => Operation::CreateOrUpdate,
        Method::Patch | Method::Put => Operation::Update,
        Method::Delete => Operation::Delete,
        _ => Operation::Read,
    }
}
