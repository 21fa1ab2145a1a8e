//! The capability as a component: it only turns types into one another.

use gatehouse_ports::{OsRandom, SystemClock};
use gatehouse_storage::wasm::ImportedStore;

use crate::{
    AgentPools, AuditTrail, Authority, Memberships, Organizations, Orgs, Subscriptions, Teams,
    Tokens, Users,
};

#[allow(missing_docs, unsafe_code, clippy::all)]
mod bindings {
    wit_bindgen::generate!({
        path: ["../../wit/storage", "../../wit/orgs"],
        world: "gatehouse:orgs/orgs",
        with: {
            "gatehouse:storage/key-value@0.1.0": gatehouse_storage::wasm::bindings::gatehouse::storage::key_value,
        },
        generate_all,
    });

    use super::Component;
    export!(Component);
}

mod installation;

use bindings::exports::gatehouse::orgs as wit;
use wit::authority::Mandate;
use wit::memberships::MembershipError;
use wit::teams::TeamError;
use wit::types::{Caller, Edition, Failure};

crate::crossings!();

struct Component;

/// One for the life of the instance, so that the directory is not decoded for every request.
static ORGS: Orgs<ImportedStore, SystemClock, OsRandom> =
    Orgs::new(ImportedStore, SystemClock, OsRandom);

impl wit::organizations::Guest for Component {
    fn create(
        edition: Edition,
        changes: wit::organizations::OrganizationChanges,
        by: Caller,
    ) -> Result<wit::types::Organization, wit::organizations::CreateError> {
        ORGS.create(edition.cross(), &changes.cross(), &by.cross())
            .cross()
    }

    fn read(edition: Edition, name: String) -> Result<Option<wit::types::Organization>, Failure> {
        ORGS.read(edition.cross(), &name).cross()
    }

    fn find(
        edition: Edition,
        external_id: String,
    ) -> Result<Option<wit::types::Organization>, Failure> {
        ORGS.find(edition.cross(), &external_id).cross()
    }

    fn list(
        edition: Edition,
        viewer: wit::organizations::Viewer,
        filter: wit::organizations::Filter,
        after: Option<String>,
        limit: u32,
    ) -> Result<wit::organizations::Batch, Failure> {
        let (viewer, filter) = (viewer.cross(), filter.cross());
        ORGS.list(edition.cross(), &viewer, &filter, after.as_deref(), limit)
            .cross()
    }

    fn page_at(
        edition: Edition,
        viewer: wit::organizations::Viewer,
        filter: wit::organizations::Filter,
        number: u32,
        size: u32,
    ) -> Result<wit::organizations::Page, Failure> {
        let (viewer, filter) = (viewer.cross(), filter.cross());
        ORGS.page_at(edition.cross(), &viewer, &filter, number, size)
            .cross()
    }

    fn update(
        edition: Edition,
        external_id: String,
        changes: wit::organizations::OrganizationChanges,
        by: Caller,
    ) -> Result<wit::types::Organization, wit::organizations::UpdateError> {
        ORGS.update(edition.cross(), &external_id, &changes.cross(), &by.cross())
            .cross()
    }

    fn delete(external_id: String, by: Caller) -> Result<bool, Failure> {
        ORGS.delete(&external_id, &by.cross()).cross()
    }

    fn clear_removed_away() -> Result<(), Failure> {
        ORGS.clear_removed_away().cross()
    }

    fn clear_teams_away() -> Result<(), Failure> {
        ORGS.clear_teams_away().cross()
    }

    fn enter_names() -> Result<(), Failure> {
        ORGS.enter_names().cross()
    }
}

impl wit::entitlements::Guest for Component {
    fn entitlements(plan: wit::types::Plan) -> Vec<wit::entitlements::Entitlement> {
        ORGS.entitlements(plan.cross()).cross()
    }

    fn permissions(
        plan: wit::types::Plan,
        standing: wit::types::Standing,
        rights: Vec<wit::types::Right>,
    ) -> Vec<wit::entitlements::Permission> {
        ORGS.permissions(plan.cross(), standing.cross(), &rights.cross())
            .cross()
    }
}

impl wit::subscriptions::Guest for Component {
    fn feature_sets(text: String) -> Vec<wit::subscriptions::FeatureSet> {
        ORGS.feature_sets(&text).cross()
    }

    fn set_subscription_terms(
        edition: Edition,
        external_id: String,
        terms: wit::subscriptions::SubscriptionTerms,
        by: Caller,
    ) -> Result<wit::types::Organization, wit::subscriptions::SubscriptionError> {
        ORGS.set_subscription_terms(edition.cross(), &external_id, &terms.cross(), &by.cross())
            .cross()
    }

    fn set_rum_alert_threshold(
        edition: Edition,
        external_id: String,
        threshold: wit::types::NumberChange,
        by: Caller,
    ) -> Result<wit::types::Organization, wit::subscriptions::SubscriptionError> {
        ORGS.set_rum_alert_threshold(
            edition.cross(),
            &external_id,
            &threshold.cross(),
            &by.cross(),
        )
        .cross()
    }
}

impl wit::authority::Guest for Component {
    fn identify(
        credential: wit::authority::Credential,
    ) -> Result<Option<wit::types::Identity>, Failure> {
        ORGS.identify(&credential.cross()).cross()
    }

    fn position_in(
        edition: Edition,
        identity: wit::types::Identity,
        granted: bool,
        name: String,
        action: wit::authority::Action,
    ) -> Result<Option<wit::authority::Position>, Failure> {
        ORGS.position_in(
            edition.cross(),
            &identity.cross(),
            granted,
            &name,
            action.cross(),
        )
        .cross()
    }

    fn ties(
        identity: wit::types::Identity,
        external_ids: Vec<String>,
    ) -> Result<Vec<wit::authority::Tie>, Failure> {
        ORGS.ties(&identity.cross(), &external_ids).cross()
    }

    fn creation(
        edition: Edition,
        identity: wit::types::Identity,
        granted: bool,
    ) -> Result<wit::authority::Decision, Failure> {
        ORGS.creation(edition.cross(), &identity.cross(), granted)
            .cross()
    }

    fn organization_of(id: String) -> Result<Option<wit::authority::OwningOrganization>, Failure> {
        ORGS.organization_of(&id).cross()
    }
}

impl wit::users::Guest for Component {
    fn create_user(
        description: wit::users::UserDescription,
        by: Caller,
    ) -> Result<(wit::types::User, wit::tokens::IssuedToken), wit::users::CreateUserError> {
        ORGS.create_user(&description.cross(), &by.cross()).cross()
    }

    fn users(ids: Vec<String>) -> Result<Vec<Option<wit::types::User>>, Failure> {
        ORGS.users(&ids).cross()
    }

    fn account_of(identity: wit::types::Identity) -> Result<wit::types::User, Failure> {
        ORGS.account_of(&identity.cross()).cross()
    }

    fn shares_organization(identity: wit::types::Identity, user: String) -> Result<bool, Failure> {
        ORGS.shares_organization(&identity.cross(), &user).cross()
    }
}

impl wit::tokens::Guest for Component {
    fn issue_token(
        owner: wit::tokens::TokenOwner,
        request: wit::tokens::TokenRequest,
        by: Caller,
    ) -> Result<wit::tokens::IssuedToken, wit::tokens::IssueError> {
        ORGS.issue_token(&owner.cross(), &request.cross(), &by.cross())
            .cross()
    }

    fn token_of(
        owner: wit::tokens::TokenOwner,
        by: Caller,
    ) -> Result<Option<wit::tokens::ApiToken>, Failure> {
        ORGS.token_of(&owner.cross(), &by.cross()).cross()
    }

    fn tokens_of(owner: wit::tokens::TokenOwner) -> Result<Vec<wit::tokens::ApiToken>, Failure> {
        ORGS.tokens_of(&owner.cross()).cross()
    }

    fn tokens_of_teams(
        organization: String,
        mandate: Mandate,
    ) -> Result<Vec<wit::tokens::TeamToken>, Failure> {
        ORGS.tokens_of_teams(&organization, &mandate.cross())
            .cross()
    }

    fn speaks_for(mandate: Mandate, team: wit::types::TeamReference) -> Result<bool, Failure> {
        ORGS.speaks_for(&mandate.cross(), &team.cross()).cross()
    }

    fn owner_of_token(id: String) -> Result<Option<wit::tokens::TokenOwner>, Failure> {
        ORGS.owner_of_token(&id).cross()
    }

    fn token(id: String, by: Caller) -> Result<Option<wit::tokens::ApiToken>, Failure> {
        ORGS.token(&id, &by.cross()).cross()
    }

    fn revoke_token(id: String, by: Caller) -> Result<bool, Failure> {
        ORGS.revoke_token(&id, &by.cross()).cross()
    }

    fn revoke_token_of(owner: wit::tokens::TokenOwner, by: Caller) -> Result<bool, Failure> {
        ORGS.revoke_token_of(&owner.cross(), &by.cross()).cross()
    }

    fn token_lifetimes(organization: String) -> Result<Vec<wit::tokens::LifetimePolicy>, Failure> {
        ORGS.token_lifetimes(&organization).cross()
    }

    fn set_token_lifetimes(
        organization: String,
        changes: Vec<wit::tokens::LifetimeChange>,
        by: Caller,
    ) -> Result<Vec<wit::tokens::LifetimePolicy>, wit::tokens::LifetimeError> {
        let changes: Vec<_> = changes.cross();
        ORGS.set_token_lifetimes(&organization, &changes, &by.cross())
            .cross()
    }
}

impl wit::audit_trail::Guest for Component {
    fn events(
        organization: String,
        since: u64,
        number: u32,
        size: u32,
    ) -> Result<wit::audit_trail::EventPage, Failure> {
        ORGS.events(&organization, since, number, size).cross()
    }

    fn waiting_events(edition: Edition) -> Result<Vec<wit::audit_trail::Event>, Failure> {
        ORGS.waiting_events(edition.cross()).cross()
    }

    fn forget_events(events: Vec<wit::audit_trail::Event>) -> Result<(), Failure> {
        let events: Vec<_> = events.cross();
        ORGS.forget_events(&events).cross()
    }
}

impl wit::agent_pools::Guest for Component {
    fn create_agent_pool(
        organization: String,
        changes: wit::agent_pools::AgentPoolChanges,
        by: Caller,
    ) -> Result<wit::agent_pools::AgentPool, wit::agent_pools::AgentPoolError> {
        ORGS.create_agent_pool(&organization, &changes.cross(), &by.cross())
            .cross()
    }

    fn find_agent_pool(
        organization: String,
        id: String,
    ) -> Result<Option<wit::agent_pools::AgentPool>, Failure> {
        ORGS.find_agent_pool(&organization, &id).cross()
    }

    fn list_agent_pools(
        organization: String,
        filter: wit::agent_pools::AgentPoolFilter,
        order: wit::agent_pools::AgentPoolOrder,
        number: u32,
        size: u32,
    ) -> Result<wit::agent_pools::AgentPoolPage, Failure> {
        ORGS.list_agent_pools(&organization, &filter.cross(), order.cross(), number, size)
            .cross()
    }

    fn update_agent_pool(
        organization: String,
        id: String,
        changes: wit::agent_pools::AgentPoolChanges,
        by: Caller,
    ) -> Result<wit::agent_pools::AgentPool, wit::agent_pools::AgentPoolError> {
        ORGS.update_agent_pool(&organization, &id, &changes.cross(), &by.cross())
            .cross()
    }

    fn delete_agent_pool(organization: String, id: String, by: Caller) -> Result<bool, Failure> {
        ORGS.delete_agent_pool(&organization, &id, &by.cross())
            .cross()
    }
}
impl wit::teams::Guest for Component {
    fn create_team(
        organization: String,
        changes: wit::teams::TeamChanges,
        mandate: Mandate,
        by: Caller,
    ) -> Result<wit::teams::Team, TeamError> {
        ORGS.create_team(
            &organization,
            &changes.cross(),
            &mandate.cross(),
            &by.cross(),
        )
        .cross()
    }

    fn read_team(
        organization: String,
        id: String,
        mandate: Mandate,
    ) -> Result<Option<wit::teams::Team>, Failure> {
        ORGS.read_team(&organization, &id, &mandate.cross()).cross()
    }

    fn teams_with_ids(
        organization: String,
        ids: Vec<String>,
        mandate: Mandate,
    ) -> Result<Vec<wit::teams::Team>, Failure> {
        ORGS.teams_with_ids(&organization, &ids, &mandate.cross())
            .cross()
    }

    fn list_teams(
        organization: String,
        filter: wit::teams::TeamFilter,
        mandate: Mandate,
        number: u32,
        size: u32,
    ) -> Result<wit::teams::TeamPage, Failure> {
        ORGS.list_teams(
            &organization,
            &filter.cross(),
            &mandate.cross(),
            number,
            size,
        )
        .cross()
    }

    fn update_team(
        organization: String,
        id: String,
        changes: wit::teams::TeamChanges,
        mandate: Mandate,
        by: Caller,
    ) -> Result<wit::teams::Team, TeamError> {
        let (changes, mandate) = (changes.cross(), mandate.cross());
        ORGS.update_team(&organization, &id, &changes, &mandate, &by.cross())
            .cross()
    }

    fn delete_team(
        organization: String,
        id: String,
        mandate: Mandate,
        by: Caller,
    ) -> Result<(), TeamError> {
        ORGS.delete_team(&organization, &id, &mandate.cross(), &by.cross())
            .cross()
    }

    fn add_to_team(
        organization: String,
        id: String,
        members: wit::teams::MemberNames,
        mandate: Mandate,
        by: Caller,
    ) -> Result<(), TeamError> {
        let (members, mandate) = (members.cross(), mandate.cross());
        ORGS.add_to_team(&organization, &id, &members, &mandate, &by.cross())
            .cross()
    }

    fn remove_from_team(
        organization: String,
        id: String,
        members: wit::teams::MemberNames,
        mandate: Mandate,
        by: Caller,
    ) -> Result<(), TeamError> {
        let (members, mandate) = (members.cross(), mandate.cross());
        ORGS.remove_from_team(&organization, &id, &members, &mandate, &by.cross())
            .cross()
    }
}

impl wit::memberships::Guest for Component {
    fn invite(
        organization: String,
        invitation: wit::memberships::Invitation,
        mandate: Mandate,
        by: Caller,
    ) -> Result<wit::memberships::Membership, MembershipError> {
        let (invitation, mandate) = (invitation.cross(), mandate.cross());
        ORGS.invite(&organization, &invitation, &mandate, &by.cross())
            .cross()
    }

    fn read_membership(
        organization: String,
        id: String,
        mandate: Mandate,
    ) -> Result<Option<wit::memberships::Membership>, Failure> {
        ORGS.read_membership(&organization, &id, &mandate.cross())
            .cross()
    }

    fn memberships_with_ids(
        organization: String,
        ids: Vec<String>,
        mandate: Mandate,
    ) -> Result<Vec<wit::memberships::Membership>, Failure> {
        ORGS.memberships_with_ids(&organization, &ids, &mandate.cross())
            .cross()
    }

    fn list_memberships(
        organization: String,
        filter: wit::memberships::MembershipFilter,
        mandate: Mandate,
        number: u32,
        size: u32,
    ) -> Result<wit::memberships::MembershipPage, Failure> {
        let (filter, mandate) = (filter.cross(), mandate.cross());
        ORGS.list_memberships(&organization, &filter, &mandate, number, size)
            .cross()
    }

    fn own_memberships(
        identity: wit::types::Identity,
    ) -> Result<Vec<wit::memberships::OwnMembership>, Failure> {
        ORGS.own_memberships(&identity.cross()).cross()
    }

    fn find_own_membership(
        identity: wit::types::Identity,
        id: String,
    ) -> Result<Option<wit::memberships::OwnMembership>, Failure> {
        ORGS.own_membership(&identity.cross(), &id).cross()
    }

    fn accept_invitation(
        id: String,
        by: Caller,
    ) -> Result<wit::memberships::OwnMembership, MembershipError> {
        ORGS.accept_invitation(&id, &by.cross()).cross()
    }

    fn leave(id: String, by: Caller) -> Result<(), MembershipError> {
        ORGS.leave(&id, &by.cross()).cross()
    }

    fn remove_membership(
        organization: String,
        id: String,
        mandate: Mandate,
        by: Caller,
    ) -> Result<(), MembershipError> {
        ORGS.remove_membership(&organization, &id, &mandate.cross(), &by.cross())
            .cross()
    }

    fn owners_of(organizations: Vec<String>) -> Result<Vec<Vec<wit::types::User>>, Failure> {
        ORGS.owners_of(&organizations).cross()
    }
}
