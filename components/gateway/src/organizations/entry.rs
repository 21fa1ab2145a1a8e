//! The authorization of a request about an organization: the question that the request asks, and the decision.
//!
//! For a caller, a forbidden resource does not exist.

use gatehouse_access_api::Access;
use gatehouse_orgs_api::{
    AccessDecision, AccessQuestion, Action, Authorization, Capability, Credential, DelegationScope,
    Description, Organization, OrganizationTarget, RelatedAction, Right,
};

use super::api::Api;
use super::api_error::ApiError;
use super::caller::{Caller, Presented};
use super::include::is_named;
use super::policy_paths::{Rights, path_of};

/// A caller whose request is allowed, and the organization that it is about.
pub(super) struct Entry<'a> {
    pub(super) caller: Caller<'a>,
    pub(super) position: AccessDecision,
}

/// A caller with a valid token, and the decision about the request. The decision has not been recorded yet.
pub(super) struct Arrival<'a> {
    pub(super) caller: Caller<'a>,
    /// The decision; `None` where the organization does not exist.
    pub(super) position: Option<AccessDecision>,
}

/// The question that a request asks, as far as it is known before the caller is identified.
pub(super) struct Question {
    target: OrganizationTarget,
    action: Action,
    /// The path of the organization for policies, `organizations/<name>`, if the name is valid.
    organization: Option<String>,
    /// The path below the organization that the request is about, for policies.
    below: Option<String>,
    described: Description,
    /// True if the role that policies give the caller counts.
    with_role_by_policies: bool,
    /// A second action, and the path below the organization that it is about.
    also: Option<(Action, &'static str)>,
}

impl Question {
    /// The question about an action on a target in the organization of this name, if the name is known.
    pub(super) fn new(target: OrganizationTarget, action: Action, name: Option<&str>) -> Self {
        Self {
            target,
            action,
            organization: name.and_then(path_of),
            below: None,
            described: Description::NOTHING,
            with_role_by_policies: false,
            also: None,
        }
    }

    /// The question about an action on the organization of this name.
    pub(super) fn named(name: &str, action: Action) -> Self {
        let target = OrganizationTarget::Name(name.to_owned());
        Self::new(target, action, Some(name))
    }

    /// The same about a resource that is below the organization for policies, such as `agent-pools`.
    pub(super) fn below(mut self, below: &str) -> Self {
        self.below = Some(below.to_owned());
        self
    }

    /// The same, with these parts of the organization's description in the decision.
    pub(super) const fn describing(mut self, described: Description) -> Self {
        self.described = described;
        self
    }

    /// The same, where the role that policies give the caller counts.
    pub(super) const fn with_role_by_policies(mut self) -> Self {
        self.with_role_by_policies = true;
        self
    }

    /// The same, with a second question if the answer is to include the `collection` of the organization: whether the caller may read it too, which
    /// takes `action`. A token that may read one resource need not be allowed to read the other.
    pub(super) fn also(
        mut self,
        action: Action,
        collection: &'static str,
        includes: &Result<Option<Vec<String>>, ApiError>,
    ) -> Self {
        let names = includes.as_ref().ok().and_then(Option::as_deref);
        self.also = is_named(names, collection).then_some((action, collection));
        self
    }

    /// The path of the request for policies, if the name of the organization is valid.
    fn path(&self) -> Option<String> {
        let organization = self.organization.as_ref()?;
        Some(match &self.below {
            Some(below) => format!("{organization}/{below}"),
            None => organization.clone(),
        })
    }
}

impl<'a, C: Access, O: Capability> Api<'a, C, O> {
    /// Authorizes an action on the organization of this name. For policies its path is `organizations/<name>`, followed by `below`, such as
    /// `agent-pools`, where the request is about a part of the organization.
    ///
    /// # Errors
    ///
    /// As [`Self::enter`].
    pub(super) fn enter_named(
        &self,
        name: &str,
        action: Action,
        below: Option<&str>,
    ) -> Result<Entry<'a>, ApiError> {
        let question = Question::named(name, action);
        self.enter(match below {
            Some(below) => question.below(below),
            None => question,
        })
    }

    /// The same for a resource with an identifier, such as an agent pool. The organization is the one to which the resource belongs.
    ///
    /// # Errors
    ///
    /// As [`Self::enter`]. A resource that does not exist is not found.
    pub(super) fn enter_by_id(
        &self,
        id: &str,
        action: Action,
        collection: &str,
    ) -> Result<Entry<'a>, ApiError> {
        let target = OrganizationTarget::OwnerOf(id.to_owned());
        let question = self.question_about(id, target, action)?;
        self.enter(question.below(&format!("{collection}/{id}")))
    }

    /// The same for a resource of which every organization has exactly one, with an identifier that `own` reads from the organization.
    ///
    /// # Errors
    ///
    /// As [`Self::enter`]. A resource that does not exist is not found.
    pub(super) fn enter_by_its_own(
        &self,
        id: &str,
        action: Action,
        described: Description,
        own: fn(&Organization) -> &str,
    ) -> Result<Entry<'a>, ApiError> {
        let target = OrganizationTarget::OwnerOf(id.to_owned());
        let question = self.question_about(id, target, action)?;
        let mut arrival = self.arrive(question.describing(described))?;
        let is_meant = |found: &AccessDecision| own(&found.organization) == id;
        arrival.position = arrival.position.filter(is_meant);
        self.enter_arrived(arrival)
    }

    /// Identifies the caller and authorizes the request.
    ///
    /// # Errors
    ///
    /// In the order of contract 1.5: [`ApiError::Unauthorized`] without a valid token, the error of the media type, and
    /// [`ApiError::NotFound`], [`ApiError::Forbidden`] or [`ApiError::Unauthorized`] where the request is not allowed.
    pub(super) fn enter(&self, question: Question) -> Result<Entry<'a>, ApiError> {
        self.enter_arrived(self.arrive(question)?)
    }

    /// Authorizes the request of an identified caller.
    ///
    /// # Errors
    ///
    /// As [`Self::enter`].
    pub(super) fn enter_arrived(&self, arrival: Arrival<'a>) -> Result<Entry<'a>, ApiError> {
        let Arrival { caller, position } = arrival;
        let position = position.ok_or(ApiError::NotFound);
        let decided = position.and_then(|position| match ApiError::refusing(position.decision) {
            None => Ok(position),
            Some(refusal) => Err(refusal),
        });
        self.decided(&caller, decided.is_ok())?;
        Ok(Entry {
            caller,
            position: decided?,
        })
    }

    /// Admits only site administrators to the organization of this name.
    ///
    /// # Errors
    ///
    /// As [`Self::administer`], and [`ApiError::NotFound`] where the organization does not exist.
    pub(super) fn administer_named(
        &self,
        name: &str,
    ) -> Result<(Caller<'a>, Organization), ApiError> {
        let target = OrganizationTarget::Name(name.to_owned());
        let arrival = self.arrive(Question::new(target, Action::Update, None))?;
        let caller = self.administering(arrival.caller)?;
        let position = arrival.position.ok_or(ApiError::NotFound)?;
        Ok((caller, position.organization))
    }

    /// The question about an action on the organization that owns the resource with this id.
    ///
    /// # Errors
    ///
    /// When the capability does not answer.
    pub(super) fn question_about(
        &self,
        id: &str,
        target: OrganizationTarget,
        action: Action,
    ) -> Result<Question, ApiError> {
        // Only policies need the organization before the caller is identified.
        let owner = if self.comes_with_policies() {
            self.organizations.organization_of(id)?
        } else {
            None
        };
        let name = owner.as_ref().map(|owner| owner.name.as_str());
        Ok(Question::new(target, action, name))
    }

    /// Identifies the caller, and decides about the request.
    ///
    /// # Errors
    ///
    /// [`ApiError::Unauthorized`] without a valid token, and the error of the media type.
    pub(super) fn arrive(&self, question: Question) -> Result<Arrival<'a>, ApiError> {
        let presented = self.presented(question.path().as_deref())?;
        let found = match &presented {
            Some(presented) => {
                let asked = self.asked(presented, question)?;
                let with_api_rate = self.limiter.lacks_rate();
                self.organizations
                    .authorize(&presented.credential, &asked, with_api_rate)?
            }
            None => Authorization::default(),
        };
        let caller = self.identified(presented, found.identification)?;
        self.check_media_type()?;
        Ok(Arrival {
            caller,
            position: found.access,
        })
    }

    /// The question, completed with the rights that policies grant.
    fn asked(
        &self,
        presented: &Presented<'_>,
        question: Question,
    ) -> Result<AccessQuestion, ApiError> {
        let token = presented.service_token.as_ref();
        let organization = question.organization.unwrap_or_default();
        // The role is looked up only where it can matter: a root token already has every right, and the role of a caller whom policies do not admit
        // only describes permissions.
        let counts = question.with_role_by_policies
            && (presented.granted || question.described.permissions)
            && !matches!(presented.credential, Credential::Root);
        let role_by_policies = if counts {
            let rights = self.rights_of_token(token, vec![organization.clone()])?;
            rights.into_iter().find_map(Rights::role)
        } else {
            None
        };
        let also = match question.also {
            Some((action, below)) => {
                let path = format!("{organization}/{below}");
                let rights = self.rights_of_token(token, vec![path])?;
                Some(RelatedAction {
                    action,
                    granted: rights.iter().any(|rights| rights.read),
                })
            }
            None => None,
        };
        Ok(AccessQuestion {
            target: question.target,
            action: question.action,
            granted: presented.granted,
            role_by_policies,
            described: question.described,
            also,
        })
    }

    /// The teams and members of the organization that the caller may manage. Policies that allow exactly this request count as the `right` to it,
    /// where there is one, unless they make the caller an owner.
    ///
    /// # Errors
    ///
    /// When access cannot answer.
    pub(super) fn delegation_scope(
        &self,
        entry: &Entry<'_>,
        right: Option<Right>,
    ) -> Result<DelegationScope, ApiError> {
        let Entry { caller, position } = entry;
        let scope = position.delegation_scope();
        if !caller.granted {
            return Ok(scope);
        }
        let role = if scope.role.owns() {
            None
        } else {
            self.role_by_policies(caller, &position.organization.name)?
        };
        Ok(scope.with_policies(right, role))
    }
}
