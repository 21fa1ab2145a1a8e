//! The caller's way to an organization: what they ask, and the answer.
//!
//! What is not allowed does not exist, as far as the caller can tell.

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

/// A caller who may do what they ask, and the organization they may do it with.
pub(super) struct Entry<'a> {
    pub(super) caller: Caller<'a>,
    pub(super) position: AccessDecision,
}

/// A caller with a valid token, and the answer to what they ask. It has not been recorded whether they may.
pub(super) struct Arrival<'a> {
    pub(super) caller: Caller<'a>,
    /// The answer; `None` where there is no such organization.
    pub(super) position: Option<AccessDecision>,
}

/// What a request asks for, as far as it is known before its caller is.
pub(super) struct Question {
    target: OrganizationTarget,
    action: Action,
    /// The path of the organization for policies, `organizations/<name>`, if they can name it.
    organization: Option<String>,
    /// What it concerns for policies, below the organization.
    below: Option<String>,
    described: Description,
    /// True if the role that policies give the caller counts.
    with_role_by_policies: bool,
    /// A second action, and what it concerns below the organization.
    also: Option<(Action, &'static str)>,
}

impl Question {
    /// The question of an action at a target in the organization of this name, if that is known.
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

    /// The question of an action with the organization of this name.
    pub(super) fn named(name: &str, action: Action) -> Self {
        let target = OrganizationTarget::Name(name.to_owned());
        Self::new(target, action, Some(name))
    }

    /// The same about what stands below the organization for policies, such as `agent-pools`.
    pub(super) fn below(mut self, below: &str) -> Self {
        self.below = Some(below.to_owned());
        self
    }

    /// The same, with these parts of the organization's description.
    pub(super) const fn describing(mut self, described: Description) -> Self {
        self.described = described;
        self
    }

    /// The same, where the role that policies give the caller counts.
    pub(super) const fn with_role_by_policies(mut self) -> Self {
        self.with_role_by_policies = true;
        self
    }

    /// The same, with the question whether the caller may read the `collection` of the organization as well, which takes `action`, if that
    /// is to be included in the answer: a token that may read the one need not be one that may read the other.
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

    /// The path of the request for policies, if they can name it.
    fn path(&self) -> Option<String> {
        let organization = self.organization.as_ref()?;
        Some(match &self.below {
            Some(below) => format!("{organization}/{below}"),
            None => organization.clone(),
        })
    }
}

impl<'a, C: Access, O: Capability> Api<'a, C, O> {
    /// Lets the caller do something with the organization of this name. For policies it stands at `organizations/<name>`, and below
    /// that where `below` says what it concerns, such as `agent-pools`.
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
        let target = OrganizationTarget::OwnerOf(id.to_owned());
        let question = self.question_about(id, target, action)?;
        self.enter(question.below(&format!("{collection}/{id}")))
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
        let target = OrganizationTarget::OwnerOf(id.to_owned());
        let question = self.question_about(id, target, action)?;
        let mut arrival = self.arrive(question.describing(described))?;
        let is_meant = |found: &AccessDecision| own(&found.organization) == id;
        arrival.position = arrival.position.filter(is_meant);
        self.enter_arrived(arrival)
    }

    /// Lets the caller do what they ask.
    ///
    /// # Errors
    ///
    /// In the order of contract 1.5: [`ApiError::Unauthorized`] without a valid token, the error of the media type, and
    /// [`ApiError::NotFound`], [`ApiError::Forbidden`] or [`ApiError::Unauthorized`] where it is not allowed.
    pub(super) fn enter(&self, question: Question) -> Result<Entry<'a>, ApiError> {
        self.enter_arrived(self.arrive(question)?)
    }

    /// Lets a caller do what they have asked.
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

    /// Lets site administrators, and no other caller, do something with the organization of this name.
    ///
    /// # Errors
    ///
    /// As [`Self::administer`], and [`ApiError::NotFound`] where there is no such organization.
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

    /// The question of an action with the organization to which the thing with this id belongs.
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
        // Only policies need to know the organization before it is known who asks.
        let owner = if self.comes_with_policies() {
            self.organizations.organization_of(id)?
        } else {
            None
        };
        let name = owner.as_ref().map(|owner| owner.name.as_str());
        Ok(Question::new(target, action, name))
    }

    /// Finds out who asks, and the answer to what they ask.
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

    /// The question with what policies say to it.
    fn asked(
        &self,
        presented: &Presented<'_>,
        question: Question,
    ) -> Result<AccessQuestion, ApiError> {
        let token = presented.service_token.as_ref();
        let organization = question.organization.unwrap_or_default();
        // A caller who may do everything gains nothing by it, and one whom policies do not let in is asked for it only to describe them.
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

    /// With which teams and members of the organization the caller may deal. Policies that allow this very request are as the `right` to
    /// it, where there is one, unless they make an owner of the caller.
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
