//! The organizations capability over the component's imports.

mod installation;

use std::sync::OnceLock;

use gatehouse_orgs_api::{
    AccessDecision, AccessQuestion, Account, AgentPool, AgentPoolChanges, AgentPoolError,
    AgentPoolFilter, AgentPoolOrder, AgentPoolPage, AgentPools, ApiToken, Attribute, AuditTrail,
    Authority, Authorization, Batch, Caller, CreateError, CreateUserError, Credential, Decision,
    DelegationScope, Event, EventPage, FeatureSet, Filter, Identification, Identity, Invitation,
    IssueError, IssuedToken, LifetimeChange, LifetimeError, LifetimePolicy, ListedOrganization,
    MemberNames, MemberPage, MembershipError, MembershipFilter, MembershipPage,
    MembershipSummaries, Memberships, Organization, OrganizationChanges, OrganizationRole,
    Organizations, OwnMembership, OwnedToken, OwningOrganization, Page, RelatedMembership,
    RelatedTeam, Relations, ServiceError, SubscriptionError, SubscriptionTerms, Subscriptions,
    Team, TeamChanges, TeamError, TeamFilter, TeamPage, TeamToken, Teams, TokenOwner, TokenRequest,
    Tokens, UpdateError, User, UserDescription, Users, Viewer,
};

use gatehouse_orgs_api::bindings::gatehouse::orgs::{
    agent_pools as agent_pools_wit, audit_trail as audit_trail_wit, authority as authority_wit,
    memberships as memberships_wit, organizations as organizations_wit,
    subscriptions as subscriptions_wit, teams as teams_wit, tokens as tokens_wit,
    users as users_wit,
};

/// The capability that the host has bound to this component.
#[derive(Debug, Clone, Copy)]
pub struct ImportedOrganizations;

impl Organizations for ImportedOrganizations {
    fn create(
        &self,
        changes: &OrganizationChanges,
        role_by_policies: Option<OrganizationRole>,
        by: &Caller,
    ) -> Result<AccessDecision, CreateError> {
        organizations_wit::create(changes, role_by_policies, by)
    }

    fn read(&self, name: &str) -> Result<Option<Organization>, ServiceError> {
        organizations_wit::read(name)
    }

    fn find(&self, external_id: &str) -> Result<Option<Organization>, ServiceError> {
        organizations_wit::find(external_id)
    }

    fn list(
        &self,
        viewer: &Viewer,
        filter: &Filter,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Batch, ServiceError> {
        organizations_wit::list(viewer, filter, after, limit)
    }

    fn page_at(
        &self,
        viewer: &Viewer,
        filter: &Filter,
        number: u32,
        size: u32,
    ) -> Result<Page, ServiceError> {
        organizations_wit::page_at(viewer, filter, number, size)
    }

    fn update(
        &self,
        external_id: &str,
        changes: &OrganizationChanges,
        by: &Caller,
    ) -> Result<Organization, UpdateError> {
        organizations_wit::update(external_id, changes, by)
    }

    fn delete(&self, external_id: &str, by: &Caller) -> Result<bool, ServiceError> {
        organizations_wit::delete(external_id, by)
    }

    fn clear_removed_away(&self) -> Result<(), ServiceError> {
        organizations_wit::clear_removed_away()
    }

    fn clear_teams_away(&self) -> Result<(), ServiceError> {
        organizations_wit::clear_teams_away()
    }

    fn enter_names(&self) -> Result<(), ServiceError> {
        organizations_wit::enter_names()
    }
}

impl Subscriptions for ImportedOrganizations {
    fn feature_sets(&self, text: &str) -> Vec<FeatureSet> {
        // Many answers show all feature sets, which stay the same as long as the component runs.
        static ALL: OnceLock<Vec<FeatureSet>> = OnceLock::new();
        if text.is_empty() {
            ALL.get_or_init(|| subscriptions_wit::feature_sets(text))
                .clone()
        } else {
            subscriptions_wit::feature_sets(text)
        }
    }

    fn set_subscription_terms(
        &self,
        external_id: &str,
        terms: &SubscriptionTerms,
        by: &Caller,
    ) -> Result<Organization, SubscriptionError> {
        subscriptions_wit::set_subscription_terms(external_id, terms, by)
    }

    fn next_plan_end(&self) -> Result<Option<u64>, ServiceError> {
        subscriptions_wit::next_plan_end()
    }

    fn set_rum_alert_threshold(
        &self,
        external_id: &str,
        threshold: &Attribute<i64>,
        by: &Caller,
    ) -> Result<Organization, SubscriptionError> {
        subscriptions_wit::set_rum_alert_threshold(external_id, *threshold, by)
    }
}

impl Authority for ImportedOrganizations {
    fn identify(
        &self,
        credential: &Credential,
        with_api_rate: bool,
    ) -> Result<Identification, ServiceError> {
        authority_wit::identify(credential, with_api_rate)
    }

    fn authorize(
        &self,
        credential: &Credential,
        question: &AccessQuestion,
        with_api_rate: bool,
    ) -> Result<Authorization, ServiceError> {
        authority_wit::authorize(credential, question, with_api_rate)
    }

    fn summarize_memberships(
        &self,
        identity: &Identity,
        organizations: &[ListedOrganization],
    ) -> Result<MembershipSummaries, ServiceError> {
        authority_wit::summarize_memberships(identity, organizations)
    }

    fn creation(&self, identity: &Identity, granted: bool) -> Result<Decision, ServiceError> {
        authority_wit::creation(identity, granted)
    }

    fn organization_of(&self, id: &str) -> Result<Option<OwningOrganization>, ServiceError> {
        authority_wit::organization_of(id)
    }
}

impl Users for ImportedOrganizations {
    fn create_user(
        &self,
        description: &UserDescription,
        by: &Caller,
    ) -> Result<(User, IssuedToken), CreateUserError> {
        users_wit::create_user(description, by)
    }

    fn account_of(&self, identity: &Identity) -> Result<Account, ServiceError> {
        users_wit::account_of(identity)
    }

    fn find_user(&self, identity: &Identity, id: &str) -> Result<Option<User>, ServiceError> {
        users_wit::find_user(identity, id)
    }
}

impl Tokens for ImportedOrganizations {
    fn issue_token(
        &self,
        owner: &TokenOwner,
        request: &TokenRequest,
        by: &Caller,
    ) -> Result<IssuedToken, IssueError> {
        tokens_wit::issue_token(owner, request, by)
    }

    fn token_of(&self, owner: &TokenOwner, by: &Caller) -> Result<Option<ApiToken>, ServiceError> {
        tokens_wit::token_of(owner, by)
    }

    fn tokens_of(&self, owner: &TokenOwner) -> Result<Vec<ApiToken>, ServiceError> {
        tokens_wit::tokens_of(owner)
    }

    fn tokens_of_teams(
        &self,
        organization: &str,
        scope: &DelegationScope,
    ) -> Result<Vec<TeamToken>, ServiceError> {
        tokens_wit::tokens_of_teams(organization, scope)
    }

    fn owner_of_token(&self, id: &str) -> Result<Option<OwnedToken>, ServiceError> {
        tokens_wit::owner_of_token(id)
    }

    fn token(&self, id: &str, by: &Caller) -> Result<Option<ApiToken>, ServiceError> {
        tokens_wit::token(id, by)
    }

    fn revoke_token(&self, id: &str, by: &Caller) -> Result<bool, ServiceError> {
        tokens_wit::revoke_token(id, by)
    }

    fn revoke_token_of(&self, owner: &TokenOwner, by: &Caller) -> Result<bool, ServiceError> {
        tokens_wit::revoke_token_of(owner, by)
    }

    fn token_lifetimes(&self, organization: &str) -> Result<Vec<LifetimePolicy>, ServiceError> {
        tokens_wit::token_lifetimes(organization)
    }

    fn set_token_lifetimes(
        &self,
        organization: &str,
        changes: &[LifetimeChange],
        by: &Caller,
    ) -> Result<Vec<LifetimePolicy>, LifetimeError> {
        tokens_wit::set_token_lifetimes(organization, changes, by)
    }
}

impl AuditTrail for ImportedOrganizations {
    fn events(
        &self,
        organization: &str,
        since: u64,
        number: u32,
        size: u32,
    ) -> Result<EventPage, ServiceError> {
        audit_trail_wit::events(organization, since, number, size)
    }

    fn waiting_events(&self) -> Result<Vec<Event>, ServiceError> {
        audit_trail_wit::waiting_events()
    }

    fn forget_events(&self, events: &[Event]) -> Result<(), ServiceError> {
        audit_trail_wit::forget_events(events)
    }
}

impl AgentPools for ImportedOrganizations {
    fn create_agent_pool(
        &self,
        organization: &str,
        changes: &AgentPoolChanges,
        by: &Caller,
    ) -> Result<AgentPool, AgentPoolError> {
        agent_pools_wit::create_agent_pool(organization, changes, by)
    }

    fn find_agent_pool(
        &self,
        organization: &str,
        id: &str,
    ) -> Result<Option<AgentPool>, ServiceError> {
        agent_pools_wit::find_agent_pool(organization, id)
    }

    fn list_agent_pools(
        &self,
        organization: &str,
        filter: &AgentPoolFilter,
        order: AgentPoolOrder,
        number: u32,
        size: u32,
    ) -> Result<AgentPoolPage, ServiceError> {
        agent_pools_wit::list_agent_pools(organization, filter, order, number, size)
    }

    fn update_agent_pool(
        &self,
        organization: &str,
        id: &str,
        changes: &AgentPoolChanges,
        by: &Caller,
    ) -> Result<AgentPool, AgentPoolError> {
        agent_pools_wit::update_agent_pool(organization, id, changes, by)
    }

    fn delete_agent_pool(
        &self,
        organization: &str,
        id: &str,
        by: &Caller,
    ) -> Result<bool, ServiceError> {
        agent_pools_wit::delete_agent_pool(organization, id, by)
    }
}

impl Teams for ImportedOrganizations {
    fn create_team(
        &self,
        organization: &str,
        changes: &TeamChanges,
        scope: &DelegationScope,
        by: &Caller,
    ) -> Result<Team, TeamError> {
        teams_wit::create_team(organization, changes, scope, by)
    }

    fn read_team(
        &self,
        organization: &str,
        id: &str,
        wanted: Relations,
        scope: &DelegationScope,
    ) -> Result<Option<RelatedTeam>, ServiceError> {
        teams_wit::read_team(organization, id, wanted, scope)
    }

    fn list_team_members(
        &self,
        organization: &str,
        id: &str,
        wanted: Relations,
        scope: &DelegationScope,
        number: u32,
        size: u32,
    ) -> Result<Option<MemberPage>, ServiceError> {
        teams_wit::list_team_members(organization, id, wanted, scope, number, size)
    }

    fn list_teams(
        &self,
        organization: &str,
        filter: &TeamFilter,
        wanted: Relations,
        scope: &DelegationScope,
        number: u32,
        size: u32,
    ) -> Result<TeamPage, ServiceError> {
        teams_wit::list_teams(organization, filter, wanted, scope, number, size)
    }

    fn update_team(
        &self,
        organization: &str,
        id: &str,
        changes: &TeamChanges,
        scope: &DelegationScope,
        by: &Caller,
    ) -> Result<Team, TeamError> {
        teams_wit::update_team(organization, id, changes, scope, by)
    }

    fn delete_team(
        &self,
        organization: &str,
        id: &str,
        scope: &DelegationScope,
        by: &Caller,
    ) -> Result<(), TeamError> {
        teams_wit::delete_team(organization, id, scope, by)
    }

    fn add_to_team(
        &self,
        organization: &str,
        id: &str,
        members: &MemberNames,
        scope: &DelegationScope,
        by: &Caller,
    ) -> Result<(), TeamError> {
        teams_wit::add_to_team(organization, id, members, scope, by)
    }

    fn remove_from_team(
        &self,
        organization: &str,
        id: &str,
        members: &MemberNames,
        scope: &DelegationScope,
        by: &Caller,
    ) -> Result<(), TeamError> {
        teams_wit::remove_from_team(organization, id, members, scope, by)
    }
}

impl Memberships for ImportedOrganizations {
    fn invite(
        &self,
        organization: &str,
        invitation: &Invitation,
        wanted: Relations,
        scope: &DelegationScope,
        by: &Caller,
    ) -> Result<RelatedMembership, MembershipError> {
        memberships_wit::invite(organization, invitation, wanted, scope, by)
    }

    fn read_membership(
        &self,
        organization: &str,
        id: &str,
        wanted: Relations,
        scope: &DelegationScope,
    ) -> Result<Option<RelatedMembership>, ServiceError> {
        memberships_wit::read_membership(organization, id, wanted, scope)
    }

    fn list_memberships(
        &self,
        organization: &str,
        filter: &MembershipFilter,
        wanted: Relations,
        scope: &DelegationScope,
        number: u32,
        size: u32,
    ) -> Result<MembershipPage, ServiceError> {
        memberships_wit::list_memberships(organization, filter, wanted, scope, number, size)
    }

    fn own_memberships(&self, identity: &Identity) -> Result<Vec<OwnMembership>, ServiceError> {
        memberships_wit::own_memberships(identity)
    }

    fn accept_invitation(&self, id: &str, by: &Caller) -> Result<OwnMembership, MembershipError> {
        memberships_wit::accept_invitation(id, by)
    }

    fn decline_invitation(&self, id: &str, by: &Caller) -> Result<(), MembershipError> {
        memberships_wit::decline_invitation(id, by)
    }

    fn leave(&self, id: &str, by: &Caller) -> Result<(), MembershipError> {
        memberships_wit::leave(id, by)
    }

    fn remove_membership(
        &self,
        organization: &str,
        id: &str,
        scope: &DelegationScope,
        by: &Caller,
    ) -> Result<(), MembershipError> {
        memberships_wit::remove_membership(organization, id, scope, by)
    }
}
