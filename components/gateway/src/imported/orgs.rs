//! The organizations capability over the component's imports.

mod installation;

use gatehouse_orgs::{
    Action, AgentPool, AgentPoolChanges, AgentPoolError, AgentPoolFilter, AgentPoolOrder,
    AgentPoolPage, AgentPools, ApiToken, Attribute, AuditTrail, Authority, Batch, Caller,
    CreateError, CreateUserError, Credential, Decision, Edition, Entitlement, Event, EventPage,
    Failure, FeatureSet, Filter, Identity, Invitation, IssueError, IssuedToken, LifetimeChange,
    LifetimeError, LifetimePolicy, Mandate, MemberNames, Membership, MembershipError,
    MembershipFilter, MembershipPage, Memberships, Organization, OrganizationChanges,
    Organizations, OwnMembership, OwningOrganization, Page, Permission, Plan, Position, Rights,
    Standing, SubscriptionError, SubscriptionTerms, Subscriptions, Team, TeamChanges, TeamError,
    TeamFilter, TeamPage, TeamReference, TeamToken, Teams, Tie, TokenOwner, TokenRequest, Tokens,
    UpdateError, User, UserDescription, Users, Viewer,
};

use super::bindings::gatehouse::orgs as wit;

gatehouse_orgs::crossings!();

/// The capability that the host has bound to this component.
#[derive(Debug, Clone, Copy)]
pub struct ImportedOrganizations;

impl Organizations for ImportedOrganizations {
    fn create(
        &self,
        edition: Edition,
        changes: &OrganizationChanges,
        by: &Caller,
    ) -> Result<Organization, CreateError> {
        let (changes, by) = (changes.clone().cross(), by.clone().cross());
        wit::organizations::create(edition.cross(), &changes, &by).cross()
    }

    fn read(&self, edition: Edition, name: &str) -> Result<Option<Organization>, Failure> {
        wit::organizations::read(edition.cross(), name).cross()
    }

    fn find(&self, edition: Edition, external_id: &str) -> Result<Option<Organization>, Failure> {
        wit::organizations::find(edition.cross(), external_id).cross()
    }

    fn list(
        &self,
        edition: Edition,
        viewer: &Viewer,
        filter: &Filter,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Batch, Failure> {
        let (viewer, filter) = (viewer.clone().cross(), filter.clone().cross());
        wit::organizations::list(edition.cross(), &viewer, &filter, after, limit).cross()
    }

    fn page_at(
        &self,
        edition: Edition,
        viewer: &Viewer,
        filter: &Filter,
        number: u32,
        size: u32,
    ) -> Result<Page, Failure> {
        let (viewer, filter) = (viewer.clone().cross(), filter.clone().cross());
        wit::organizations::page_at(edition.cross(), &viewer, &filter, number, size).cross()
    }

    fn update(
        &self,
        edition: Edition,
        external_id: &str,
        changes: &OrganizationChanges,
        by: &Caller,
    ) -> Result<Organization, UpdateError> {
        let (changes, by) = (changes.clone().cross(), by.clone().cross());
        wit::organizations::update(edition.cross(), external_id, &changes, &by).cross()
    }

    fn delete(&self, external_id: &str, by: &Caller) -> Result<bool, Failure> {
        wit::organizations::delete(external_id, &by.clone().cross()).cross()
    }

    fn clear_removed_away(&self) -> Result<(), Failure> {
        wit::organizations::clear_removed_away().cross()
    }

    fn clear_teams_away(&self) -> Result<(), Failure> {
        wit::organizations::clear_teams_away().cross()
    }

    fn enter_names(&self) -> Result<(), Failure> {
        wit::organizations::enter_names().cross()
    }

    fn entitlements(&self, plan: Plan) -> Vec<Entitlement> {
        wit::entitlements::entitlements(plan.cross()).cross()
    }

    fn permissions(&self, plan: Plan, standing: Standing, rights: &Rights) -> Vec<Permission> {
        let rights: Vec<_> = rights.clone().cross();
        wit::entitlements::permissions(plan.cross(), standing.cross(), &rights).cross()
    }
}

impl Subscriptions for ImportedOrganizations {
    fn feature_sets(&self, text: &str) -> Vec<FeatureSet> {
        wit::subscriptions::feature_sets(text).cross()
    }

    fn set_subscription_terms(
        &self,
        edition: Edition,
        external_id: &str,
        terms: &SubscriptionTerms,
        by: &Caller,
    ) -> Result<Organization, SubscriptionError> {
        let (terms, by) = (terms.clone().cross(), by.clone().cross());
        wit::subscriptions::set_subscription_terms(edition.cross(), external_id, &terms, &by)
            .cross()
    }

    fn set_rum_alert_threshold(
        &self,
        edition: Edition,
        external_id: &str,
        threshold: &Attribute<i64>,
        by: &Caller,
    ) -> Result<Organization, SubscriptionError> {
        let (threshold, by) = (threshold.clone().cross(), by.clone().cross());
        wit::subscriptions::set_rum_alert_threshold(edition.cross(), external_id, threshold, &by)
            .cross()
    }
}

impl Authority for ImportedOrganizations {
    fn identify(&self, credential: &Credential) -> Result<Option<Identity>, Failure> {
        wit::authority::identify(&credential.clone().cross()).cross()
    }

    fn position_in(
        &self,
        edition: Edition,
        identity: &Identity,
        granted: bool,
        name: &str,
        action: Action,
    ) -> Result<Option<Position>, Failure> {
        let identity = identity.clone().cross();
        wit::authority::position_in(edition.cross(), &identity, granted, name, action.cross())
            .cross()
    }

    fn ties(&self, identity: &Identity, external_ids: &[String]) -> Result<Vec<Tie>, Failure> {
        wit::authority::ties(&identity.clone().cross(), external_ids).cross()
    }

    fn creation(
        &self,
        edition: Edition,
        identity: &Identity,
        granted: bool,
    ) -> Result<Decision, Failure> {
        let identity = identity.clone().cross();
        wit::authority::creation(edition.cross(), &identity, granted).cross()
    }

    fn organization_of(&self, id: &str) -> Result<Option<OwningOrganization>, Failure> {
        wit::authority::organization_of(id).cross()
    }
}

impl Users for ImportedOrganizations {
    fn create_user(
        &self,
        description: &UserDescription,
        by: &Caller,
    ) -> Result<(User, IssuedToken), CreateUserError> {
        let (description, by) = (description.clone().cross(), by.clone().cross());
        wit::users::create_user(&description, &by).cross()
    }

    fn users(&self, ids: &[String]) -> Result<Vec<Option<User>>, Failure> {
        wit::users::users(ids).cross()
    }

    fn account_of(&self, identity: &Identity) -> Result<User, Failure> {
        wit::users::account_of(&identity.clone().cross()).cross()
    }

    fn shares_organization(&self, identity: &Identity, user: &str) -> Result<bool, Failure> {
        wit::users::shares_organization(&identity.clone().cross(), user).cross()
    }
}

impl Tokens for ImportedOrganizations {
    fn issue_token(
        &self,
        owner: &TokenOwner,
        request: &TokenRequest,
        by: &Caller,
    ) -> Result<IssuedToken, IssueError> {
        let (owner, request) = (owner.clone().cross(), request.clone().cross());
        wit::tokens::issue_token(&owner, &request, &by.clone().cross()).cross()
    }

    fn token_of(&self, owner: &TokenOwner, by: &Caller) -> Result<Option<ApiToken>, Failure> {
        wit::tokens::token_of(&owner.clone().cross(), &by.clone().cross()).cross()
    }

    fn tokens_of(&self, owner: &TokenOwner) -> Result<Vec<ApiToken>, Failure> {
        wit::tokens::tokens_of(&owner.clone().cross()).cross()
    }

    fn tokens_of_teams(
        &self,
        organization: &str,
        mandate: &Mandate,
    ) -> Result<Vec<TeamToken>, Failure> {
        wit::tokens::tokens_of_teams(organization, &mandate.clone().cross()).cross()
    }

    fn speaks_for(&self, mandate: &Mandate, team: &TeamReference) -> Result<bool, Failure> {
        let (mandate, team) = (mandate.clone().cross(), team.clone().cross());
        wit::tokens::speaks_for(&mandate, &team).cross()
    }

    fn owner_of_token(&self, id: &str) -> Result<Option<TokenOwner>, Failure> {
        wit::tokens::owner_of_token(id).cross()
    }

    fn token(&self, id: &str, by: &Caller) -> Result<Option<ApiToken>, Failure> {
        wit::tokens::token(id, &by.clone().cross()).cross()
    }

    fn revoke_token(&self, id: &str, by: &Caller) -> Result<bool, Failure> {
        wit::tokens::revoke_token(id, &by.clone().cross()).cross()
    }

    fn revoke_token_of(&self, owner: &TokenOwner, by: &Caller) -> Result<bool, Failure> {
        wit::tokens::revoke_token_of(&owner.clone().cross(), &by.clone().cross()).cross()
    }

    fn token_lifetimes(&self, organization: &str) -> Result<Vec<LifetimePolicy>, Failure> {
        wit::tokens::token_lifetimes(organization).cross()
    }

    fn set_token_lifetimes(
        &self,
        organization: &str,
        changes: &[LifetimeChange],
        by: &Caller,
    ) -> Result<Vec<LifetimePolicy>, LifetimeError> {
        let changes: Vec<_> = changes.to_vec().cross();
        wit::tokens::set_token_lifetimes(organization, &changes, &by.clone().cross()).cross()
    }
}

impl AuditTrail for ImportedOrganizations {
    fn events(
        &self,
        organization: &str,
        since: u64,
        number: u32,
        size: u32,
    ) -> Result<EventPage, Failure> {
        wit::audit_trail::events(organization, since, number, size).cross()
    }

    fn waiting_events(&self, edition: Edition) -> Result<Vec<Event>, Failure> {
        wit::audit_trail::waiting_events(edition.cross()).cross()
    }

    fn forget_events(&self, events: &[Event]) -> Result<(), Failure> {
        let events: Vec<_> = events.to_vec().cross();
        wit::audit_trail::forget_events(&events).cross()
    }
}

impl AgentPools for ImportedOrganizations {
    fn create_agent_pool(
        &self,
        organization: &str,
        changes: &AgentPoolChanges,
        by: &Caller,
    ) -> Result<AgentPool, AgentPoolError> {
        let (changes, by) = (changes.clone().cross(), by.clone().cross());
        wit::agent_pools::create_agent_pool(organization, &changes, &by).cross()
    }

    fn find_agent_pool(&self, organization: &str, id: &str) -> Result<Option<AgentPool>, Failure> {
        wit::agent_pools::find_agent_pool(organization, id).cross()
    }

    fn list_agent_pools(
        &self,
        organization: &str,
        filter: &AgentPoolFilter,
        order: AgentPoolOrder,
        number: u32,
        size: u32,
    ) -> Result<AgentPoolPage, Failure> {
        let filter = filter.clone().cross();
        wit::agent_pools::list_agent_pools(organization, &filter, order.cross(), number, size)
            .cross()
    }

    fn update_agent_pool(
        &self,
        organization: &str,
        id: &str,
        changes: &AgentPoolChanges,
        by: &Caller,
    ) -> Result<AgentPool, AgentPoolError> {
        let (changes, by) = (changes.clone().cross(), by.clone().cross());
        wit::agent_pools::update_agent_pool(organization, id, &changes, &by).cross()
    }

    fn delete_agent_pool(
        &self,
        organization: &str,
        id: &str,
        by: &Caller,
    ) -> Result<bool, Failure> {
        wit::agent_pools::delete_agent_pool(organization, id, &by.clone().cross()).cross()
    }
}

impl Teams for ImportedOrganizations {
    fn create_team(
        &self,
        organization: &str,
        changes: &TeamChanges,
        mandate: &Mandate,
        by: &Caller,
    ) -> Result<Team, TeamError> {
        let (changes, mandate) = (changes.clone().cross(), mandate.clone().cross());
        wit::teams::create_team(organization, &changes, &mandate, &by.clone().cross()).cross()
    }

    fn read_team(
        &self,
        organization: &str,
        id: &str,
        mandate: &Mandate,
    ) -> Result<Option<Team>, Failure> {
        wit::teams::read_team(organization, id, &mandate.clone().cross()).cross()
    }

    fn teams_with_ids(
        &self,
        organization: &str,
        ids: &[String],
        mandate: &Mandate,
    ) -> Result<Vec<Team>, Failure> {
        wit::teams::teams_with_ids(organization, ids, &mandate.clone().cross()).cross()
    }

    fn list_teams(
        &self,
        organization: &str,
        filter: &TeamFilter,
        mandate: &Mandate,
        number: u32,
        size: u32,
    ) -> Result<TeamPage, Failure> {
        let (filter, mandate) = (filter.clone().cross(), mandate.clone().cross());
        wit::teams::list_teams(organization, &filter, &mandate, number, size).cross()
    }

    fn update_team(
        &self,
        organization: &str,
        id: &str,
        changes: &TeamChanges,
        mandate: &Mandate,
        by: &Caller,
    ) -> Result<Team, TeamError> {
        let (changes, mandate) = (changes.clone().cross(), mandate.clone().cross());
        wit::teams::update_team(organization, id, &changes, &mandate, &by.clone().cross()).cross()
    }

    fn delete_team(
        &self,
        organization: &str,
        id: &str,
        mandate: &Mandate,
        by: &Caller,
    ) -> Result<(), TeamError> {
        let (mandate, by) = (mandate.clone().cross(), by.clone().cross());
        wit::teams::delete_team(organization, id, &mandate, &by).cross()
    }

    fn add_to_team(
        &self,
        organization: &str,
        id: &str,
        members: &MemberNames,
        mandate: &Mandate,
        by: &Caller,
    ) -> Result<(), TeamError> {
        let (members, mandate) = (members.clone().cross(), mandate.clone().cross());
        wit::teams::add_to_team(organization, id, &members, &mandate, &by.clone().cross()).cross()
    }

    fn remove_from_team(
        &self,
        organization: &str,
        id: &str,
        members: &MemberNames,
        mandate: &Mandate,
        by: &Caller,
    ) -> Result<(), TeamError> {
        let (members, mandate) = (members.clone().cross(), mandate.clone().cross());
        let by = by.clone().cross();
        wit::teams::remove_from_team(organization, id, &members, &mandate, &by).cross()
    }
}

impl Memberships for ImportedOrganizations {
    fn invite(
        &self,
        organization: &str,
        invitation: &Invitation,
        mandate: &Mandate,
        by: &Caller,
    ) -> Result<Membership, MembershipError> {
        let (invitation, mandate) = (invitation.clone().cross(), mandate.clone().cross());
        wit::memberships::invite(organization, &invitation, &mandate, &by.clone().cross()).cross()
    }

    fn read_membership(
        &self,
        organization: &str,
        id: &str,
        mandate: &Mandate,
    ) -> Result<Option<Membership>, Failure> {
        wit::memberships::read_membership(organization, id, &mandate.clone().cross()).cross()
    }

    fn memberships_with_ids(
        &self,
        organization: &str,
        ids: &[String],
        mandate: &Mandate,
    ) -> Result<Vec<Membership>, Failure> {
        wit::memberships::memberships_with_ids(organization, ids, &mandate.clone().cross()).cross()
    }

    fn list_memberships(
        &self,
        organization: &str,
        filter: &MembershipFilter,
        mandate: &Mandate,
        number: u32,
        size: u32,
    ) -> Result<MembershipPage, Failure> {
        let (filter, mandate) = (filter.clone().cross(), mandate.clone().cross());
        wit::memberships::list_memberships(organization, &filter, &mandate, number, size).cross()
    }

    fn own_memberships(&self, identity: &Identity) -> Result<Vec<OwnMembership>, Failure> {
        wit::memberships::own_memberships(&identity.clone().cross()).cross()
    }

    fn own_membership(
        &self,
        identity: &Identity,
        id: &str,
    ) -> Result<Option<OwnMembership>, Failure> {
        wit::memberships::find_own_membership(&identity.clone().cross(), id).cross()
    }

    fn accept_invitation(&self, id: &str, by: &Caller) -> Result<OwnMembership, MembershipError> {
        wit::memberships::accept_invitation(id, &by.clone().cross()).cross()
    }

    fn leave(&self, id: &str, by: &Caller) -> Result<(), MembershipError> {
        wit::memberships::leave(id, &by.clone().cross()).cross()
    }

    fn remove_membership(
        &self,
        organization: &str,
        id: &str,
        mandate: &Mandate,
        by: &Caller,
    ) -> Result<(), MembershipError> {
        let (mandate, by) = (mandate.clone().cross(), by.clone().cross());
        wit::memberships::remove_membership(organization, id, &mandate, &by).cross()
    }

    fn owners_of(&self, organizations: &[String]) -> Result<Vec<Vec<User>>, Failure> {
        wit::memberships::owners_of(organizations).cross()
    }
}
