//! Tokens by their owners, and by their ids.

use gatehouse_access_api::Access;
use gatehouse_orgs_api::{
    self as orgs, AccessDecision, Action, AgentPoolReference, Capability, Description, Entitlement,
    EntitlementValue, Feature, OrganizationTarget, TeamReference, TokenOwner,
};
use zeroize::Zeroizing;

use super::owner::{Collection, SingleTokenOwner};
use super::{TokenResource, token_request};
use crate::Edition;
use crate::http::Response;
use crate::organizations::api::Api;
use crate::organizations::api_error::ApiError;
use crate::organizations::caller::Caller;
use crate::organizations::document::Document;
use crate::organizations::entry::{Entry, Question};
use crate::organizations::pagination::{PageRequest, paged};
use crate::organizations::parameter::Parameter;
use crate::organizations::transport::{json_api, no_content};

/// The parameter that selects a token of an organization: `audit-trails`, or without the parameter the ordinary one (contract 4.7).
pub(super) const TOKEN: Parameter = Parameter::choice(
    "token",
    &[AUDIT_TRAILS],
    "audit-trails for the token of the audit trail, in place of the organization's own, in the hosted edition.",
);
const AUDIT_TRAILS: &str = "audit-trails";

/// A caller who may manage the tokens of an owner.
pub(super) struct Admitted {
    by: orgs::Caller,
    owner: TokenOwner,
    /// The name of the organization to which the owner belongs; `None` for users.
    organization: Option<String>,
}

impl<C: Access, O: Capability> Api<'_, C, O> {
    pub(super) fn show_one_token(&self, place: SingleTokenOwner<'_>) -> Result<Response, ApiError> {
        let admitted = self.enter_single_owner(place)?;
        let token = self.organizations.token_of(&admitted.owner, &admitted.by)?;
        token_response(token.as_ref(), &admitted)
    }

    pub(super) fn revoke_one_token(
        &self,
        place: SingleTokenOwner<'_>,
    ) -> Result<Response, ApiError> {
        let Admitted { by, owner, .. } = self.enter_single_owner(place)?;
        revocation_response(self.organizations.revoke_token_of(&owner, &by)?)
    }

    pub(super) fn show_token(&self, id: &str) -> Result<Response, ApiError> {
        let admitted = self.enter_token(id)?;
        let token = self.organizations.token(id, &admitted.by)?;
        token_response(token.as_ref(), &admitted)
    }

    pub(super) fn revoke_token(&self, id: &str) -> Result<Response, ApiError> {
        let Admitted { by, .. } = self.enter_token(id)?;
        revocation_response(self.organizations.revoke_token(id, &by)?)
    }

    pub(super) fn issue_token(&self, admitted: Admitted) -> Result<Response, ApiError> {
        let request = token_request(&self.request.body)?;
        let Admitted {
            by,
            owner,
            organization,
        } = admitted;
        let issued = Zeroizing::new(self.organizations.issue_token(&owner, &request, &by)?);
        self.hands_out(&issued, &by);
        let resource = TokenResource::with_text(&issued, organization.as_deref());
        Ok(json_api(201, &Document::new(resource)))
    }

    pub(super) fn list_tokens(&self, collection: Collection<'_>) -> Result<Response, ApiError> {
        let Admitted {
            owner,
            organization,
            ..
        } = self.enter_collection(collection)?;
        let page = PageRequest::always(&self.request.query);
        let (tokens, total) = page.of_all(self.organizations.tokens_of(&owner)?);
        let resources = tokens
            .iter()
            .map(|token| TokenResource::without_text(token, organization.as_deref()))
            .collect();
        let document = paged(resources, total, page, self.request);
        Ok(json_api(200, &document))
    }

    /// Authorizes the caller for the single token of an owner.
    pub(super) fn enter_single_owner(
        &self,
        place: SingleTokenOwner<'_>,
    ) -> Result<Admitted, ApiError> {
        match place {
            SingleTokenOwner::Organization(name) => {
                let question = Question::named(name, Action::ManageTokens)
                    .below("authentication-token")
                    .describing(Description::ENTITLEMENTS);
                let entry = self.enter(question)?;
                let owner = self.owner_meant(&entry.position)?;
                Ok(self.admitted(&entry, owner))
            }
            SingleTokenOwner::Team(id) => {
                self.enter_team(id, "authentication-token", TokenOwner::Team)
            }
        }
    }

    /// Authorizes the caller for the several tokens of an owner.
    pub(super) fn enter_collection(&self, place: Collection<'_>) -> Result<Admitted, ApiError> {
        match place {
            Collection::Team(id) => {
                self.enter_team(id, "authentication-tokens", TokenOwner::TeamNamed)
            }
            Collection::User(id) => self.enter_user(id, self.authenticate(None)?),
            Collection::AgentPool(id) => self.enter_agent_pool(id),
        }
    }

    /// Authorizes the caller for the token with this id. The right depends on the token's owner.
    fn enter_token(&self, id: &str) -> Result<Admitted, ApiError> {
        let found = self.organizations.owner_of_token(id)?;
        let owner = found.as_ref().map(|found| &found.owner);
        let (target, action) = match owner {
            Some(TokenOwner::User(user)) => {
                return self.enter_user(user, self.authenticate(None)?);
            }
            Some(TokenOwner::Team(team) | TokenOwner::TeamNamed(team)) => (
                OrganizationTarget::Team(team.id.clone()),
                Action::ManageTeams,
            ),
            Some(TokenOwner::AgentPool(pool)) => (
                OrganizationTarget::AgentPool(pool.id.clone()),
                Action::ManageAgentPools,
            ),
            Some(TokenOwner::Organization(_) | TokenOwner::AuditTrail(_)) | None => (
                OrganizationTarget::OwnerOf(id.to_owned()),
                Action::ManageTokens,
            ),
        };
        let organization = found
            .as_ref()
            .and_then(|found| found.organization.as_deref());
        let question = Question::new(target, action, organization)
            .below(&format!("authentication-tokens/{id}"))
            .with_role_by_policies();
        let entry = self.enter(question)?;
        let found = found.ok_or(ApiError::NotFound)?;
        Ok(self.admitted(&entry, found.owner))
    }

    /// Authorizes the caller for tokens of the team with this id.
    fn enter_team(
        &self,
        id: &str,
        below: &str,
        owner: impl FnOnce(TeamReference) -> TokenOwner,
    ) -> Result<Admitted, ApiError> {
        let target = OrganizationTarget::Team(id.to_owned());
        let question = self.question_about(id, target, Action::ManageTeams)?;
        let question = question.below(&format!("teams/{id}/{below}"));
        let entry = self.enter(question.with_role_by_policies())?;
        let team = TeamReference {
            id: id.to_owned(),
            organization: entry.position.organization.external_id.clone(),
        };
        Ok(self.admitted(&entry, owner(team)))
    }

    /// Authorizes the caller for tokens of the agent pool with this id.
    fn enter_agent_pool(&self, id: &str) -> Result<Admitted, ApiError> {
        let target = OrganizationTarget::AgentPool(id.to_owned());
        let question = self.question_about(id, target, Action::ManageAgentPools)?;
        let below = format!("agent-pools/{id}/authentication-tokens");
        let entry = self.enter(question.below(&below))?;
        let owner = TokenOwner::AgentPool(AgentPoolReference {
            id: id.to_owned(),
            organization: entry.position.organization.external_id.clone(),
        });
        Ok(self.admitted(&entry, owner))
    }

    /// Authorizes the caller for the tokens of the user with this id. Only that user and site administrators are admitted.
    fn enter_user(&self, id: &str, caller: Caller<'_>) -> Result<Admitted, ApiError> {
        self.check_media_type()?;
        let allowed = caller.identity.manages_tokens_of(id);
        self.decided(&caller, allowed)?;
        if !allowed {
            return Err(ApiError::NotFound);
        }
        Ok(Admitted {
            by: self.recorded_as(&caller),
            owner: TokenOwner::User(id.to_owned()),
            organization: None,
        })
    }

    /// The owner of the requested token: the organization, or its audit trail.
    fn owner_meant(&self, found: &AccessDecision) -> Result<TokenOwner, ApiError> {
        let external_id = found.organization.external_id.clone();
        let named = TOKEN.first(&self.request.query);
        match (named.as_deref(), self.settings.edition) {
            (None, _) => Ok(TokenOwner::Organization(external_id)),
            // An organization without this entitlement has no audit trail to read.
            (Some(AUDIT_TRAILS), Edition::Hosted) if includes_audit_logging(found) => {
                Ok(TokenOwner::AuditTrail(external_id))
            }
            // A request for a token that does not exist must not get the ordinary one, which the caller would replace or delete.
            (Some(_), _) => Err(ApiError::NotFound),
        }
    }

    fn admitted(&self, entry: &Entry<'_>, owner: TokenOwner) -> Admitted {
        Admitted {
            by: self.recorded_as(&entry.caller),
            owner,
            organization: Some(entry.position.organization.name.clone()),
        }
    }
}

/// True if the plan of an organization includes a readable audit trail.
pub(in crate::organizations) fn includes_audit_logging(found: &AccessDecision) -> bool {
    let is_it = |entitlement: &Entitlement| {
        entitlement.feature == Feature::AuditLogging
            && entitlement.value == EntitlementValue::Included(true)
    };
    found.entitlements.iter().any(is_it)
}

fn token_response(
    token: Option<&orgs::ApiToken>,
    admitted: &Admitted,
) -> Result<Response, ApiError> {
    let token = token.ok_or(ApiError::NotFound)?;
    let resource = TokenResource::without_text(token, admitted.organization.as_deref());
    Ok(json_api(200, &Document::new(resource)))
}

fn revocation_response(found: bool) -> Result<Response, ApiError> {
    if found {
        Ok(no_content())
    } else {
        Err(ApiError::NotFound)
    }
}
