//! Teams and memberships (contract 4.10, 4.11): who can do what to whom, and what is stored.

mod boundaries;
mod bounds;
mod fellows;
mod invitations;
mod memberships;
mod races;
mod relations;
mod stops;
mod teams;

use super::*;
use gatehouse_orgs::{
    Decision, DelegationScope, Invitation, Membership, MembershipError, MembershipStatus,
    Memberships, OrganizationRole, OwnMembership, Related, Right, Site, Team, TeamChanges,
    TeamError, Teams, User, UserDescription, Users,
};

/// An organization `acme` of the installation's, and people.
struct People<S> {
    orgs: Orgs<S, &'static ManualClock, &'static SeededRandom>,
    acme: Organization,
}

/// A world that outlives its test, so that its store can be handed about.
fn lasting() -> (&'static World, &'static MemoryStore<&'static ManualClock>) {
    let world: &World = Box::leak(Box::new(World::new()));
    (world, Box::leak(Box::new(world.store())))
}

type Stored = &'static MemoryStore<&'static ManualClock>;

fn people() -> (People<Stored>, Stored) {
    let (world, store) = lasting();
    let orgs = world.orgs(store);
    let acme = create(&orgs, "acme");
    (People { orgs, acme }, store)
}

fn owner() -> DelegationScope {
    scope(OrganizationRole::Owner, &[])
}

fn scope(role: OrganizationRole, rights: &[Right]) -> DelegationScope {
    DelegationScope {
        role,
        rights: rights.to_vec(),
        teams: Vec::new(),
    }
}

fn member_with(rights: &[Right]) -> DelegationScope {
    scope(OrganizationRole::Member, rights)
}

/// A team of this name with these rights, visible to the whole organization.
fn team_changes(name: &str, rights: &[Right]) -> TeamChanges {
    let granted = |right: &Right| gatehouse_orgs::RightChange {
        right: *right,
        granted: Attribute::Value(true),
    };
    TeamChanges {
        name: text(name),
        visibility: text("organization"),
        organization_access: Attribute::Value(rights.iter().map(granted).collect()),
        ..TeamChanges::default()
    }
}

fn invitation(email: &str, teams: &[&str]) -> Invitation {
    Invitation {
        email: text(email),
        entity_id: Attribute::Absent,
        teams: Attribute::Value(teams.iter().map(|id| (*id).to_owned()).collect()),
        active: false,
    }
}

/// A user as a caller.
fn by(user: &User) -> Caller {
    caller(Principal::User(user.clone()))
}

fn usernames(names: &[&str]) -> gatehouse_orgs::MemberNames {
    gatehouse_orgs::MemberNames::Usernames(names.iter().map(|name| (*name).to_owned()).collect())
}

fn membership_ids(memberships: &[&Membership]) -> gatehouse_orgs::MemberNames {
    gatehouse_orgs::MemberNames::Memberships(
        memberships.iter().map(|found| found.id.clone()).collect(),
    )
}

impl<S: Store> People<S> {
    fn id(&self) -> &str {
        &self.acme.external_id
    }

    fn user(&self, username: &str) -> (User, Credential) {
        let description = UserDescription {
            username: username.to_owned(),
            email: format!("{username}@example.com"),
            site_administrator: false,
        };
        let (user, issued) = self
            .orgs
            .create_user(&description, &installation())
            .unwrap();
        (user, Credential::ApiToken(issued.secret))
    }

    /// A user who belongs to the organization and these teams.
    fn member(&self, username: &str, teams: &[&str]) -> (Membership, Credential) {
        let (user, credential) = self.user(username);
        (self.belong(&user, teams), credential)
    }

    /// Invites a user to the organization and these teams, and accepts for them.
    fn belong(&self, user: &User, teams: &[&str]) -> Membership {
        let invited = self.invite(&user.email, teams).unwrap();
        self.accept(&invited.id, user).unwrap().membership
    }

    fn accept(&self, id: &str, user: &User) -> Result<OwnMembership, MembershipError> {
        self.orgs.accept_invitation(id, &by(user))
    }

    fn invite(&self, email: &str, teams: &[&str]) -> Result<Membership, MembershipError> {
        let invitation = invitation(email, teams);
        self.orgs
            .invite_alone(self.id(), &invitation, &owner(), &installation())
    }

    fn remove(&self, membership: &str, scope: &DelegationScope) -> Result<(), MembershipError> {
        self.orgs
            .remove_membership(self.id(), membership, scope, &installation())
    }

    fn team(&self, name: &str, rights: &[Right]) -> Team {
        self.create_team(&team_changes(name, rights), &owner())
            .unwrap()
    }

    fn create_team(
        &self,
        changes: &TeamChanges,
        scope: &DelegationScope,
    ) -> Result<Team, TeamError> {
        self.orgs
            .create_team(self.id(), changes, scope, &installation())
    }

    fn update_team(
        &self,
        id: &str,
        changes: &TeamChanges,
        scope: &DelegationScope,
    ) -> Result<Team, TeamError> {
        self.orgs
            .update_team(self.id(), id, changes, scope, &installation())
    }

    fn delete_team(&self, id: &str, scope: &DelegationScope) -> Result<(), TeamError> {
        self.orgs.delete_team(self.id(), id, scope, &installation())
    }

    fn join(
        &self,
        team: &str,
        members: &gatehouse_orgs::MemberNames,
        scope: &DelegationScope,
    ) -> Result<(), TeamError> {
        self.orgs
            .add_to_team(self.id(), team, members, scope, &installation())
    }

    fn leave(
        &self,
        team: &str,
        members: &gatehouse_orgs::MemberNames,
        scope: &DelegationScope,
    ) -> Result<(), TeamError> {
        self.orgs
            .remove_from_team(self.id(), team, members, scope, &installation())
    }

    fn owners(&self) -> Team {
        self.teams(&owner())
            .into_iter()
            .find(|team| team.name == "owners")
            .unwrap()
    }

    fn teams(&self, scope: &DelegationScope) -> Vec<Team> {
        let filter = gatehouse_orgs::TeamFilter::default();
        let page = self
            .orgs
            .list_teams(self.id(), &filter, Relations::default(), scope, 1, 100);
        page.unwrap().teams
    }

    fn read_team(&self, id: &str) -> Team {
        let found = self.orgs.team_alone(self.id(), id, &owner()).unwrap();
        found.unwrap()
    }

    fn memberships(&self) -> Vec<Membership> {
        let filter = gatehouse_orgs::MembershipFilter::default();
        let page =
            self.orgs
                .list_memberships(self.id(), &filter, Relations::default(), &owner(), 1, 100);
        page.unwrap().memberships
    }

    fn decision(&self, credential: &Credential, action: Action) -> Decision {
        let found = answer(&self.orgs, credential, &asking("acme", action));
        found.unwrap().decision
    }

    /// The caller's scope as the table and their teams make it.
    fn mandate_of(&self, credential: &Credential) -> DelegationScope {
        let found = answer(&self.orgs, credential, &asking("acme", Action::Show));
        found.unwrap().delegation_scope()
    }

    /// The status of the membership with this id, if it is the caller's own.
    fn own_status(&self, credential: &Credential, id: &str) -> Option<MembershipStatus> {
        let question = AccessQuestion {
            target: OrganizationTarget::Membership(id.to_owned()),
            ..asking("", Action::ManageMemberships)
        };
        answer(&self.orgs, credential, &question)?.own_membership
    }
}

fn issue(attribute: &'static str, fault: Fault) -> gatehouse_orgs::AttributeIssue {
    gatehouse_orgs::AttributeIssue::new(attribute, fault)
}

/// The entries that are stored for good: neither records of what was done, nor what is only reckoned from the rest.
fn kept(store: &impl Store) -> Vec<(String, Vec<u8>)> {
    let items = store.scan("", None, 1000).unwrap().items;
    let items = items.into_iter().map(|item| (item.key, item.entry.value));
    items
        .filter(|(key, _)| !key.starts_with("event/") && !is_reckoned(key))
        .collect()
}

/// True if a key is of what could be found out without it.
fn is_reckoned(key: &str) -> bool {
    key.starts_with("of/") && (key.contains("/count/") || key.ends_with("/owners/active"))
}

fn kept_keys(store: &impl Store) -> Vec<String> {
    kept(store).into_iter().map(|(key, _)| key).collect()
}

/// True if anything that is stored for good names this.
fn is_named(store: &impl Store, id: &str) -> bool {
    let names = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(id);
    let mut kept = kept(store).into_iter();
    kept.any(|(key, value)| key.contains(id) || names(&value))
}
