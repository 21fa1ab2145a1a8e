//! The capability as a component: it hands each call to the rules.

mod installation;

use std::sync::LazyLock;

use gatehouse_orgs_api::bindings::exports::gatehouse::orgs as wit;
use gatehouse_ports::{OsRandom, SystemClock};
use gatehouse_storage::wasm::ImportedStore;

use crate::{
    AccessDecision, AccessQuestion, Account, AgentPool, AgentPoolChanges, AgentPoolError,
    AgentPoolFilter, AgentPoolOrder, AgentPoolPage, AgentPools, ApiToken, AuditTrail, Authority,
    Authorization, Batch, Caller, CreateError, CreateUserError, Credential, Decision,
    DelegationScope, Edition, Event, EventPage, FeatureSet, Filter, Identification, Identity,
    Invitation, IssueError, IssuedToken, LifetimeChange, LifetimeError, LifetimePolicy,
    ListedOrganization, MemberNames, MemberPage, MembershipError, MembershipFilter, MembershipPage,
    MembershipSummaries, Memberships, NumberChange, Organization, OrganizationChanges,
    OrganizationRole, Organizations, Orgs, OwnMembership, OwnedToken, OwningOrganization, Page,
    RelatedMembership, RelatedTeam, Relations, ServiceError, SubscriptionError, SubscriptionTerms,
    Subscriptions, Team, TeamChanges, TeamError, TeamFilter, TeamPage, TeamToken, Teams,
    TokenOwner, TokenRequest, Tokens, UpdateError, User, UserDescription, Users, Viewer,
};

struct Component;

gatehouse_orgs_api::bindings::export_orgs!(Component);

/// One for the life of the instance, so that the directory is not decoded for every request.
static ORGS: LazyLock<Orgs<ImportedStore, SystemClock, OsRandom>> = LazyLock::new(|| {
    Orgs::new(ImportedStore, SystemClock, OsRandom)
        .with_edition(Edition::from_variables(|name| std::env::var(name).ok()))
});

impl wit::organizations::Guest for Component {
    fn create(
        changes: OrganizationChanges,
        role_by_policies: Option<OrganizationRole>,
        by: Caller,
    ) -> Result<AccessDecision, CreateError> {
        ORGS.create(&changes, role_by_policies, &by)
    }

    fn read(name: String) -> Result<Option<Organization>, ServiceError> {
        ORGS.read(&name)
    }

    fn find(external_id: String) -> Result<Option<Organization>, ServiceError> {
        ORGS.find(&external_id)
    }

    fn list(
        viewer: Viewer,
        filter: Filter,
        after: Option<String>,
        limit: u32,
    ) -> Result<Batch, ServiceError> {
        ORGS.list(&viewer, &filter, after.as_deref(), limit)
    }

    fn page_at(
        viewer: Viewer,
        filter: Filter,
        number: u32,
        size: u32,
    ) -> Result<Page, ServiceError> {
        ORGS.page_at(&viewer, &filter, number, size)
    }

    fn update(
        external_id: String,
        changes: OrganizationChanges,
        by: Caller,
    ) -> Result<Organization, UpdateError> {
        ORGS.update(&external_id, &changes, &by)
    }

    fn delete(external_id: String, by: Caller) -> Result<bool, ServiceError> {
        ORGS.delete(&external_id, &by)
    }

    fn clear_removed_away() -> Result<(), ServiceError> {
        ORGS.clear_removed_away()
    }

    fn clear_teams_away() -> Result<(), ServiceError> {
        ORGS.clear_teams_away()
    }

    fn enter_names() -> Result<(), ServiceError> {
        ORGS.enter_names()
    }
}

impl wit::subscriptions::Guest for Component {
    fn feature_sets(text: String) -> Vec<FeatureSet> {
        ORGS.feature_sets(&text)
    }

    fn set_subscription_terms(
        external_id: String,
        terms: SubscriptionTerms,
        by: Caller,
    ) -> Result<Organization, SubscriptionError> {
        ORGS.set_subscription_terms(&external_id, &terms, &by)
    }

    fn next_plan_end() -> Result<Option<u64>, ServiceError> {
        ORGS.next_plan_end()
    }

    fn set_rum_alert_threshold(
        external_id: String,
        threshold: NumberChange,
        by: Caller,
    ) -> Result<Organization, SubscriptionError> {
        ORGS.set_rum_alert_threshold(&external_id, &threshold, &by)
    }
}

impl wit::authority::Guest for Component {
    fn identify(
        credential: Credential,
        with_api_rate: bool,
    ) -> Result<Identification, ServiceError> {
        ORGS.identify(&credential, with_api_rate)
    }

    fn authorize(
        credential: Credential,
        question: AccessQuestion,
        with_api_rate: bool,
    ) -> Result<Authorization, ServiceError> {
        ORGS.authorize(&credential, &question, with_api_rate)
    }

    fn summarize_memberships(
        identity: Identity,
        organizations: Vec<ListedOrganization>,
    ) -> Result<MembershipSummaries, ServiceError> {
        ORGS.summarize_memberships(&identity, &organizations)
    }

    fn creation(identity: Identity, granted: bool) -> Result<Decision, ServiceError> {
        ORGS.creation(&identity, granted)
    }

    fn organization_of(id: String) -> Result<Option<OwningOrganization>, ServiceError> {
        ORGS.organization_of(&id)
    }
}

impl wit::users::Guest for Component {
    fn create_user(
        description: UserDescription,
        by: Caller,
    ) -> Result<(User, IssuedToken), CreateUserError> {
        ORGS.create_user(&description, &by)
    }

    fn account_of(identity: Identity) -> Result<Account, ServiceError> {
        ORGS.account_of(&identity)
    }

    fn find_user(identity: Identity, id: String) -> Result<Option<User>, ServiceError> {
        ORGS.find_user(&identity, &id)
    }
}

impl wit::tokens::Guest for Component {
    fn issue_token(
        owner: TokenOwner,
        request: TokenRequest,
        by: Caller,
    ) -> Result<IssuedToken, IssueError> {
        ORGS.issue_token(&owner, &request, &by)
    }

    fn token_of(owner: TokenOwner, by: Caller) -> Result<Option<ApiToken>, ServiceError> {
        ORGS.token_of(&owner, &by)
    }

    fn tokens_of(owner: TokenOwner) -> Result<Vec<ApiToken>, ServiceError> {
        ORGS.tokens_of(&owner)
    }

    fn tokens_of_teams(
        organization: String,
        scope: DelegationScope,
    ) -> Result<Vec<TeamToken>, ServiceError> {
        ORGS.tokens_of_teams(&organization, &scope)
    }

    fn owner_of_token(id: String) -> Result<Option<OwnedToken>, ServiceError> {
        ORGS.owner_of_token(&id)
    }

    fn token(id: String, by: Caller) -> Result<Option<ApiToken>, ServiceError> {
        ORGS.token(&id, &by)
    }

    fn revoke_token(id: String, by: Caller) -> Result<bool, ServiceError> {
        ORGS.revoke_token(&id, &by)
    }

    fn revoke_token_of(owner: TokenOwner, by: Caller) -> Result<bool, ServiceError> {
        ORGS.revoke_token_of(&owner, &by)
    }

    fn token_lifetimes(organization: String) -> Result<Vec<LifetimePolicy>, ServiceError> {
        ORGS.token_lifetimes(&organization)
    }

    fn set_token_lifetimes(
        organization: String,
        changes: Vec<LifetimeChange>,
        by: Caller,
    ) -> Result<Vec<LifetimePolicy>, LifetimeError> {
        ORGS.set_token_lifetimes(&organization, &changes, &by)
    }
}

impl wit::audit_trail::Guest for Component {
    fn events(
        organization: String,
        since: u64,
        number: u32,
        size: u32,
    ) -> Result<EventPage, ServiceError> {
        ORGS.events(&organization, since, number, size)
    }

    fn waiting_events() -> Result<Vec<Event>, ServiceError> {
        ORGS.waiting_events()
    }

    fn forget_events(events: Vec<Event>) -> Result<(), ServiceError> {
        ORGS.forget_events(&events)
    }
}

impl wit::agent_pools::Guest for Component {
    fn create_agent_pool(
        organization: String,
        changes: AgentPoolChanges,
        by: Caller,
    ) -> Result<AgentPool, AgentPoolError> {
        ORGS.create_agent_pool(&organization, &changes, &by)
    }

    fn find_agent_pool(
        organization: String,
        id: String,
    ) -> Result<Option<AgentPool>, ServiceError> {
        ORGS.find_agent_pool(&organization, &id)
    }

    fn list_agent_pools(
        organization: String,
        filter: AgentPoolFilter,
        order: AgentPoolOrder,
        number: u32,
        size: u32,
    ) -> Result<AgentPoolPage, ServiceError> {
        ORGS.list_agent_pools(&organization, &filter, order, number, size)
    }

    fn update_agent_pool(
        organization: String,
        id: String,
        changes: AgentPoolChanges,
        by: Caller,
    ) -> Result<AgentPool, AgentPoolError> {
        ORGS.update_agent_pool(&organization, &id, &changes, &by)
    }

    fn delete_agent_pool(
        organization: String,
        id: String,
        by: Caller,
    ) -> Result<bool, ServiceError> {
        ORGS.delete_agent_pool(&organization, &id, &by)
    }
}

impl wit::teams::Guest for Component {
    fn create_team(
        organization: String,
        changes: TeamChanges,
        scope: DelegationScope,
        by: Caller,
    ) -> Result<Team, TeamError> {
        ORGS.create_team(&organization, &changes, &scope, &by)
    }

    fn read_team(
        organization: String,
        id: String,
        wanted: Relations,
        scope: DelegationScope,
    ) -> Result<Option<RelatedTeam>, ServiceError> {
        ORGS.read_team(&organization, &id, wanted, &scope)
    }

    fn list_team_members(
        organization: String,
        id: String,
        wanted: Relations,
        scope: DelegationScope,
        number: u32,
        size: u32,
    ) -> Result<Option<MemberPage>, ServiceError> {
        ORGS.list_team_members(&organization, &id, wanted, &scope, number, size)
    }

    fn list_teams(
        organization: String,
        filter: TeamFilter,
        wanted: Relations,
        scope: DelegationScope,
        number: u32,
        size: u32,
    ) -> Result<TeamPage, ServiceError> {
        ORGS.list_teams(&organization, &filter, wanted, &scope, number, size)
    }

    fn update_team(
        organization: String,
        id: String,
        changes: TeamChanges,
        scope: DelegationScope,
        by: Caller,
    ) -> Result<Team, TeamError> {
        ORGS.update_team(&organization, &id, &changes, &scope, &by)
    }

    fn delete_team(
        organization: String,
        id: String,
        scope: DelegationScope,
        by: Caller,
    ) -> Result<(), TeamError> {
        ORGS.delete_team(&organization, &id, &scope, &by)
    }

    fn add_to_team(
        organization: String,
        id: String,
        members: MemberNames,
        scope: DelegationScope,
        by: Caller,
    ) -> Result<(), TeamError> {
        ORGS.add_to_team(&organization, &id, &members, &scope, &by)
    }

    fn remove_from_team(
        organization: String,
        id: String,
        members: MemberNames,
        scope: DelegationScope,
        by: Caller,
    ) -> Result<(), TeamError> {
        ORGS.remove_from_team(&organization, &id, &members, &scope, &by)
    }
}

impl wit::memberships::Guest for Component {
    fn invite(
        organization: String,
        invitation: Invitation,
        wanted: Relations,
        scope: DelegationScope,
        by: Caller,
    ) -> Result<RelatedMembership, MembershipError> {
        ORGS.invite(&organization, &invitation, wanted, &scope, &by)
    }

    fn read_membership(
        organization: String,
        id: String,
        wanted: Relations,
        scope: DelegationScope,
    ) -> Result<Option<RelatedMembership>, ServiceError> {
        ORGS.read_membership(&organization, &id, wanted, &scope)
    }

    fn list_memberships(
        organization: String,
        filter: MembershipFilter,
        wanted: Relations,
        scope: DelegationScope,
        number: u32,
        size: u32,
    ) -> Result<MembershipPage, ServiceError> {
        ORGS.list_memberships(&organization, &filter, wanted, &scope, number, size)
    }

    fn own_memberships(identity: Identity) -> Result<Vec<OwnMembership>, ServiceError> {
        ORGS.own_memberships(&identity)
    }

    fn accept_invitation(id: String, by: Caller) -> Result<OwnMembership, MembershipError> {
        ORGS.accept_invitation(&id, &by)
    }

    fn decline_invitation(id: String, by: Caller) -> Result<(), MembershipError> {
        ORGS.decline_invitation(&id, &by)
    }

    fn leave(id: String, by: Caller) -> Result<(), MembershipError> {
        ORGS.leave(&id, &by)
    }

    fn remove_membership(
        organization: String,
        id: String,
        scope: DelegationScope,
        by: Caller,
    ) -> Result<(), MembershipError> {
        ORGS.remove_membership(&organization, &id, &scope, &by)
    }
}
