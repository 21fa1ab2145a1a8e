//! Tokens: issuing, replacing, revoking, and what they are worth (contract 1.6, 4.6 to 4.8, 4.10).

mod interruptions;
mod lifetimes;
mod limits;

use std::time::Duration;

use super::*;
use gatehouse_orgs::{
    ApiToken, AttributeIssue, Decision, DelegationScope, IssueError, IssuedToken,
    MAXIMUM_DESCRIPTION, OWNERS, OrganizationRole, TeamFilter, TeamReference, Teams, TokenCreator,
    TokenOwner, TokenRequest, Tokens, User, UserDescription, Users,
};

const DAY: u64 = 24 * 60 * 60 * 1000;

fn described(description: &str) -> TokenRequest {
    TokenRequest {
        description: Some(description.to_owned()),
        expires_at: None,
    }
}

fn until(expires_at: u64) -> TokenRequest {
    TokenRequest {
        description: None,
        expires_at: Some(expires_at),
    }
}

fn issue(orgs: &impl Tokens, owner: &TokenOwner, request: &TokenRequest) -> IssuedToken {
    orgs.issue_token(owner, request, &installation()).unwrap()
}

fn faults(orgs: &impl Tokens, owner: &TokenOwner, request: &TokenRequest) -> Vec<AttributeIssue> {
    match orgs.issue_token(owner, request, &installation()) {
        Err(IssueError::Invalid(issues)) => issues,
        other => panic!("{other:?}"),
    }
}

/// The principal that the token stands for, if it is worth anything.
fn presented(orgs: &impl Authority, token: &IssuedToken) -> Option<Principal> {
    let credential = Credential::ApiToken(token.secret.clone());
    let identity = orgs.identify(&credential, false).unwrap().identity;
    identity.map(|identity| identity.principal)
}

fn of_organization(organization: &Organization) -> TokenOwner {
    TokenOwner::Organization(organization.external_id.clone())
}

fn of_audit_trail(organization: &Organization) -> TokenOwner {
    TokenOwner::AuditTrail(organization.external_id.clone())
}

/// The team of the owners.
fn owners(orgs: &impl Teams, organization: &Organization) -> TeamReference {
    let owner = scope(OrganizationRole::Owner);
    let filter = TeamFilter {
        names: vec![OWNERS.to_owned()],
        text: None,
    };
    let id = organization.external_id.as_str();
    let found = orgs
        .list_teams(id, &filter, Relations::default(), &owner, 1, 1)
        .unwrap();
    TeamReference {
        id: found.teams[0].id.clone(),
        organization: id.to_owned(),
    }
}

fn person(orgs: &impl Users, username: &str) -> (User, IssuedToken) {
    let description = UserDescription {
        username: username.to_owned(),
        email: format!("{username}@example.com"),
        site_administrator: false,
    };
    orgs.create_user(&description, &installation()).unwrap()
}

/// Keys that tell of tokens. How long they may live, and what was done, is told elsewhere.
fn token_keys(store: &MemoryStore<&ManualClock>) -> Vec<String> {
    let of_tokens = |key: &String| {
        ["token/", "token-", "slot/", "tokens-of/"]
            .iter()
            .any(|prefix| key.starts_with(prefix))
            || key.contains("/token/")
            || key.starts_with("whose/at-")
    };
    store.keys().into_iter().filter(of_tokens).collect()
}

#[test]
fn contract_4_6_of_those_who_have_one_token_at_a_time_a_new_one_replaces_the_old() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let team = owners(&orgs, &acme);
    for (owner, principal) in [
        (
            of_organization(&acme),
            Principal::Organization(acme.external_id.clone()),
        ),
        (
            of_audit_trail(&acme),
            Principal::AuditReader(acme.external_id.clone()),
        ),
        (TokenOwner::Team(team.clone()), Principal::Team(team)),
    ] {
        let before = token_keys(&store);
        assert_eq!(orgs.token_of(&owner, &installation()), Ok(None));
        let first = issue(&orgs, &owner, &described("first"));
        assert_eq!(presented(&orgs, &first), Some(principal.clone()));
        let commits = store.commits();
        let second = issue(&orgs, &owner, &described("second"));
        assert_eq!(store.commits(), commits + 1);
        assert_eq!(presented(&orgs, &first), None);
        assert_eq!(presented(&orgs, &second), Some(principal));
        let found = orgs.token_of(&owner, &installation()).unwrap().unwrap();
        let expected = ApiToken {
            last_used_at: Some(NOW * 1000),
            ..second.token.clone()
        };
        assert_eq!(found, expected);
        assert_eq!(orgs.tokens_of(&owner), Ok(vec![expected.clone()]));
        assert_eq!(orgs.token(&first.token.id, &installation()), Ok(None));
        assert_eq!(
            orgs.token(&second.token.id, &installation()),
            Ok(Some(expected))
        );
        assert_eq!(orgs.revoke_token_of(&owner, &installation()), Ok(true));
        assert_eq!(orgs.revoke_token_of(&owner, &installation()), Ok(false));
        assert_eq!(presented(&orgs, &second), None);
        assert_eq!(token_keys(&store), before);
    }
}

#[test]
fn contract_4_7_the_two_tokens_of_an_organization_do_not_meet() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let own = issue(&orgs, &of_organization(&acme), &TokenRequest::default());
    let audit = issue(&orgs, &of_audit_trail(&acme), &TokenRequest::default());
    assert_ne!(own.token.id, audit.token.id);
    assert!(presented(&orgs, &own).is_some());
    let by = installation();
    assert_eq!(orgs.revoke_token_of(&of_organization(&acme), &by), Ok(true));
    assert!(presented(&orgs, &audit).is_some());
    assert_eq!(orgs.tokens_of(&of_organization(&acme)), Ok(Vec::new()));
}

#[test]
fn contract_4_10_a_team_has_one_token_without_and_many_with_descriptions() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let team = owners(&orgs, &create(&orgs, "acme"));
    let (one, many) = (TokenOwner::Team(team.clone()), TokenOwner::TeamNamed(team));
    let nameless = issue(&orgs, &one, &described("ci"));
    let first = issue(&orgs, &many, &described("ci"));
    world.clock.advance(Duration::from_secs(1));
    let second = issue(&orgs, &many, &described("cd"));
    for token in [&nameless, &first, &second] {
        assert!(presented(&orgs, token).is_some());
    }
    let named: Vec<_> = orgs.tokens_of(&many).unwrap();
    let ids: Vec<_> = named.iter().map(|token| &token.id).collect();
    assert_eq!(ids, [&first.token.id, &second.token.id]);
    assert_eq!(orgs.tokens_of(&one).unwrap().len(), 1);
    assert_eq!(orgs.token_of(&many, &installation()), Ok(None));

    let issue_of = |fault| vec![AttributeIssue::new("description", fault)];
    let long = "é".repeat(MAXIMUM_DESCRIPTION as usize);
    assert_eq!(
        faults(&orgs, &many, &described("ci")),
        issue_of(Fault::Taken)
    );
    let nameless = issue(&orgs, &many, &described(""));
    assert_eq!(nameless.token.description.as_deref(), Some(""));
    assert_eq!(faults(&orgs, &many, &described("")), issue_of(Fault::Taken));
    assert_eq!(
        faults(&orgs, &many, &TokenRequest::default()),
        issue_of(Fault::Blank)
    );
    assert_eq!(
        faults(&orgs, &many, &described(&format!("{long}x"))),
        issue_of(Fault::TooLong(MAXIMUM_DESCRIPTION))
    );
    issue(&orgs, &many, &described(&long));
    assert_eq!(
        orgs.revoke_token(&first.token.id, &installation()),
        Ok(true)
    );
    assert_eq!(
        orgs.revoke_token(&first.token.id, &installation()),
        Ok(false)
    );
    assert_eq!(presented(&orgs, &first), None);
    issue(&orgs, &many, &described("ci"));
    assert!(presented(&orgs, &nameless).is_some());
}

#[test]
fn contract_4_10_all_tokens_of_all_teams_and_no_others() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let globex = create(&orgs, "globex");
    let team = owners(&orgs, &acme);
    issue(&orgs, &of_organization(&acme), &TokenRequest::default());
    issue(
        &orgs,
        &TokenOwner::Team(owners(&orgs, &globex)),
        &TokenRequest::default(),
    );
    let one = issue(
        &orgs,
        &TokenOwner::Team(team.clone()),
        &TokenRequest::default(),
    );
    world.clock.advance(Duration::from_secs(1));
    let named = issue(&orgs, &TokenOwner::TeamNamed(team), &described("ci"));
    let owner = scope(OrganizationRole::Owner);
    let found = orgs.tokens_of_teams(&acme.external_id, &owner).unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|found| (&found.token.id, found.team_name.as_str()))
        .collect();
    assert_eq!(
        found,
        [(&one.token.id, "owners"), (&named.token.id, "owners")]
    );
}

#[test]
fn contract_4_10_the_list_of_team_tokens_tells_those_alone_that_could_be_shown() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let changes = gatehouse_orgs::TeamChanges {
        name: text("ops"),
        ..gatehouse_orgs::TeamChanges::default()
    };
    let owner = scope(OrganizationRole::Owner);
    let by = installation();
    let ops = gatehouse_orgs::Teams::create_team(&orgs, &acme.external_id, &changes, &owner, &by)
        .unwrap();
    let of_ops = TeamReference {
        id: ops.id,
        organization: acme.external_id.clone(),
    };
    for team in [owners(&orgs, &acme), of_ops] {
        issue(&orgs, &TokenOwner::Team(team), &TokenRequest::default());
    }
    let manager = DelegationScope {
        rights: vec![gatehouse_orgs::Right::ManageTeams],
        ..scope(OrganizationRole::Member)
    };
    for (scope, shown) in [
        (owner, vec!["ops", "owners"]),
        (manager, vec!["ops"]),
        (scope(OrganizationRole::OrganizationToken), vec!["ops"]),
    ] {
        let told = orgs.tokens_of_teams(&acme.external_id, &scope).unwrap();
        let mut told: Vec<&str> = told.iter().map(|token| token.team_name.as_str()).collect();
        // Made at once, they come in the order of their ids.
        told.sort_unstable();
        assert_eq!(told, shown);
    }
}

fn scope(role: OrganizationRole) -> DelegationScope {
    DelegationScope {
        role,
        rights: Vec::new(),
        teams: Vec::new(),
    }
}

#[test]
fn contract_1_6_what_is_over_or_whose_owner_is_gone_is_worth_nothing() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let now = NOW * 1000;
    let owner = of_organization(&acme);
    assert_eq!(presented(&orgs, &issue(&orgs, &owner, &until(now))), None);
    assert_eq!(presented(&orgs, &issue(&orgs, &owner, &until(0))), None);
    let short = issue(&orgs, &owner, &until(now + 1000));
    assert!(presented(&orgs, &short).is_some());
    world.clock.advance(Duration::from_millis(999));
    assert!(presented(&orgs, &short).is_some());
    world.clock.advance(Duration::from_millis(1));
    assert_eq!(presented(&orgs, &short), None);
    // A token that is over is still shown, until it is replaced or revoked.
    let shown = orgs.token_of(&owner, &installation()).unwrap().unwrap();
    assert_eq!(shown.expires_at, Some(now + 1000));

    let (ada, of_ada) = person(&orgs, "ada");
    assert_eq!(
        presented(&orgs, &of_ada),
        Some(Principal::User(ada.clone()))
    );
    let key = format!("user/{}", ada.id);
    let mut suspended = stored_record(&store, &key);
    suspended["suspended"] = true.into();
    store_record(&store, &key, suspended);
    assert_eq!(presented(&orgs, &of_ada), None);
    let (bob, of_bob) = person(&orgs, "bob");
    remove_record(&store, &format!("user/{}", bob.id));
    assert_eq!(presented(&orgs, &of_bob), None);

    let team = owners(&orgs, &acme);
    let of_team = issue(
        &orgs,
        &TokenOwner::Team(team.clone()),
        &TokenRequest::default(),
    );
    let of_named = issue(&orgs, &TokenOwner::TeamNamed(team), &described("ci"));
    let own = issue(&orgs, &owner, &TokenRequest::default());
    let audit = issue(&orgs, &of_audit_trail(&acme), &TokenRequest::default());
    let globex = create(&orgs, "globex");
    let gone = owners(&orgs, &globex);
    let of_gone = issue(
        &orgs,
        &TokenOwner::Team(gone.clone()),
        &TokenRequest::default(),
    );
    remove_record(
        &store,
        &format!("of/{}/team/{}", gone.organization, gone.id),
    );
    assert_eq!(presented(&orgs, &of_gone), None);
    assert_eq!(orgs.delete_named("globex", &installation()), Ok(true));

    assert_eq!(orgs.delete_named("acme", &installation()), Ok(true));
    for token in [of_team, of_named, own, audit] {
        assert_eq!(presented(&orgs, &token), None);
        assert_eq!(orgs.owner_of_token(&token.token.id), Ok(None));
    }
    let left: Vec<_> = token_keys(&store);
    let of_people = |key: &String| {
        [&ada.id, &bob.id, &of_ada.token.id, &of_bob.token.id]
            .iter()
            .any(|id| key.contains(id.as_str()))
    };
    assert!(
        left.iter()
            .all(|key| of_people(key) || key.starts_with("token/")),
        "{left:?}"
    );
    assert_eq!(
        left.iter().filter(|key| key.starts_with("token/")).count(),
        2
    );
}

#[test]
fn who_is_not_there_gets_no_token() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let globex = create(&orgs, "globex");
    let team = owners(&orgs, &acme);
    let pool = issue(&orgs, &of_organization(&acme), &TokenRequest::default());
    let team_of = |id: &str, organization: &str| TeamReference {
        id: id.to_owned(),
        organization: organization.to_owned(),
    };
    let before = store.keys();
    for owner in [
        TokenOwner::Organization("org-0123456789abcdef".to_owned()),
        TokenOwner::Organization("acme".to_owned()),
        TokenOwner::AuditTrail(String::new()),
        TokenOwner::User("user-0123456789abcdef".to_owned()),
        TokenOwner::User("../user".to_owned()),
        TokenOwner::Team(team_of("team-0123456789abcdef", &acme.external_id)),
        TokenOwner::Team(team_of(&team.id, &globex.external_id)),
        TokenOwner::TeamNamed(team_of(&pool.token.id, &acme.external_id)),
        TokenOwner::AgentPool(gatehouse_orgs::AgentPoolReference {
            id: team.id.clone(),
            organization: acme.external_id.clone(),
        }),
    ] {
        let refused = orgs.issue_token(&owner, &described("x"), &installation());
        assert_eq!(refused, Err(IssueError::NoOwner), "{owner:?}");
        assert_eq!(orgs.revoke_token_of(&owner, &installation()), Ok(false));
        assert_eq!(orgs.tokens_of(&owner), Ok(Vec::new()));
    }
    for id in ["", "x", "at-", "at-0123456789abcdef", "../at"] {
        assert_eq!(orgs.owner_of_token(id), Ok(None));
        assert_eq!(orgs.token(id, &installation()), Ok(None));
        assert_eq!(orgs.revoke_token(id, &installation()), Ok(false));
    }
    assert_eq!(store.keys(), before);
}

#[test]
fn contract_1_6_the_last_use_is_noted_at_most_once_a_minute() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let owner = of_organization(&create(&orgs, "acme"));
    let token = issue(&orgs, &owner, &TokenRequest::default());
    let last_use = || orgs.tokens_of(&owner).unwrap()[0].last_used_at;
    assert_eq!(last_use(), None);
    let commits = store.commits();
    presented(&orgs, &token);
    world.clock.advance(Duration::from_secs(59));
    presented(&orgs, &token);
    assert_eq!(last_use(), Some(NOW * 1000));
    assert_eq!(store.commits(), commits + 1);
    world.clock.advance(Duration::from_secs(1));
    presented(&orgs, &token);
    assert_eq!(last_use(), Some((NOW + 60) * 1000));
    assert_eq!(store.commits(), commits + 2);
}

#[test]
fn a_token_tells_who_made_it() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let team = owners(&orgs, &acme);
    let (ada, _) = person(&orgs, "ada");
    let external_id = acme.external_id.clone();
    for (principal, creator) in [
        (Principal::User(ada.clone()), TokenCreator::User(ada.id)),
        (Principal::Team(team.clone()), TokenCreator::Team(team.id)),
        (
            Principal::Organization(external_id.clone()),
            TokenCreator::Organization(external_id),
        ),
        (Principal::Installation, TokenCreator::Workload),
        (Principal::Workload(None), TokenCreator::Workload),
    ] {
        let owner = of_organization(&acme);
        let issued = orgs.issue_token(&owner, &TokenRequest::default(), &caller(principal));
        assert_eq!(issued.unwrap().token.created_by, creator);
    }
}

#[test]
fn no_store_and_no_debug_output_holds_the_text_of_a_token() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let issued = issue(
        &orgs,
        &of_organization(&create(&orgs, "acme")),
        &TokenRequest::default(),
    );
    presented(&orgs, &issued);
    let secret = issued.secret.as_str();
    let held = store.values();
    assert!(!held.iter().any(|value| {
        let text = String::from_utf8_lossy(value);
        text.contains(secret) || text.contains(&secret[23..])
    }));
    assert!(!format!("{issued:?}").contains(&secret[..14]));
    assert!(!store.keys().iter().any(|key| key.contains(&secret[..14])));
}

#[test]
fn contract_1_7_no_caller_gets_by_a_token_what_they_could_not_do_themselves() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let team = owners(&orgs, &acme);
    let of_team = issue(
        &orgs,
        &TokenOwner::Team(team.clone()),
        &TokenRequest::default(),
    );
    let of_organization = issue(&orgs, &of_organization(&acme), &TokenRequest::default());
    let decision = |credential: &Credential, team: &str, granted, role_by_policies| {
        let question = AccessQuestion {
            target: OrganizationTarget::Team(team.to_owned()),
            granted,
            role_by_policies,
            ..asking("", Action::ManageTeams)
        };
        answer(&orgs, credential, &question).map(|found| found.decision)
    };
    let allowed = Some(Decision::Allowed);
    let hidden = Some(Decision::Hidden);
    for (credential, expected) in [
        (Credential::Root, allowed),
        (Credential::ApiToken(of_team.secret), allowed),
        (Credential::ApiToken(of_organization.secret), hidden),
        (Credential::WithoutEntity, hidden),
    ] {
        assert_eq!(decision(&credential, &team.id, false, None), expected);
    }
    let by_policies = |role| decision(&Credential::WithoutEntity, &team.id, true, role);
    assert_eq!(by_policies(None), hidden);
    assert_eq!(by_policies(Some(OrganizationRole::Member)), hidden);
    assert_eq!(by_policies(Some(OrganizationRole::Owner)), allowed);
    let absent = "team-0123456789abcdef";
    assert_eq!(decision(&Credential::Root, absent, false, None), None);
}

#[test]
fn contract_2_13_tokens_with_descriptions_of_their_own_go_with_the_organization() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let owner = TokenOwner::TeamNamed(owners(&orgs, &acme));
    issue(&orgs, &owner, &described("build"));
    assert_eq!(orgs.delete_named("acme", &installation()), Ok(true));
    let left = store.keys().into_iter();
    let left: Vec<_> = left
        .filter(|key| key.starts_with("of/") || key.starts_with("removed/"))
        .collect();
    assert_eq!(left, [""; 0]);
}
