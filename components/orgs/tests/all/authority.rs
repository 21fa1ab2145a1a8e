//! Identification of callers, and their rights (contract 1.6, 1.7, 2.10).

use super::*;
use gatehouse_orgs::{
    AgentPoolChanges, AgentPools, CreateUserError, Decision, ListedOrganization,
    MembershipSummaries, OrganizationPermission, OrganizationRole, Permission, Plan, Principal,
    RelatedAction, Subject, TokenOwner, TokenRequest, Tokens, User, UserDescription, Users,
};
use serde_json::json;

type TestOrgs<'w> = Orgs<&'w MemoryStore<&'w ManualClock>, &'w ManualClock, &'w SeededRandom>;

fn person(username: &str) -> UserDescription {
    UserDescription {
        username: username.to_owned(),
        email: format!("{username}@example.com"),
        site_administrator: false,
    }
}

fn make(orgs: &TestOrgs<'_>, description: &UserDescription) -> (User, Credential) {
    let (user, issued) = orgs.create_user(description, &installation()).unwrap();
    (user, Credential::ApiToken(issued.secret))
}

fn identify(orgs: &TestOrgs<'_>, credential: &Credential) -> Option<Identity> {
    orgs.identify(credential, false).unwrap().identity
}

fn access(
    orgs: &TestOrgs<'_>,
    credential: &Credential,
    granted: bool,
    action: Action,
) -> Option<AccessDecision> {
    let question = AccessQuestion {
        granted,
        ..asking("ACME", action)
    };
    answer(orgs, credential, &question)
}

fn decision(orgs: &TestOrgs<'_>, credential: &Credential, action: Action) -> Decision {
    access(orgs, credential, false, action).unwrap().decision
}

#[test]
fn contract_2_10_whoever_makes_an_organization_owns_it() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let (ada, ada_token) = make(&orgs, &person("ada"));
    let (_, bob_token) = make(&orgs, &person("bob"));
    let by = caller(Principal::User(ada));
    let made = orgs.create(&named("acme"), None, &by);
    let made = made.unwrap();
    assert_eq!(made.role, Some(OrganizationRole::Owner));
    assert!(granted(&made.permissions, Permission::CanDestroy));
    let found = access(&orgs, &ada_token, false, Action::Delete).unwrap();
    assert_eq!(found.role, Some(OrganizationRole::Owner));
    assert_eq!(found.decision, Decision::Allowed);
    assert_eq!(found.teams.len(), 1);
    assert_eq!(found.rights.len(), 16);
    let outsider = access(&orgs, &bob_token, false, Action::Show).unwrap();
    assert_eq!(outsider.role, None);
    assert_eq!(outsider.decision, Decision::Hidden);
    let by_policy = access(&orgs, &bob_token, true, Action::Show).unwrap();
    assert_eq!(by_policy.decision, Decision::Allowed);
    assert_eq!(by_policy.role, None);
}

#[test]
fn a_workload_that_makes_an_organization_becomes_a_user_by_its_entity_and_owns_it() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let entity = Credential::Entity("9f1c".to_owned());
    let before = identify(&orgs, &entity).unwrap();
    assert_eq!(
        before.principal,
        Principal::Workload(Some("9f1c".to_owned()))
    );
    for name in ["acme", "globex"] {
        let by = caller(before.principal.clone());
        orgs.create(&named(name), None, &by).unwrap();
    }
    let after = identify(&orgs, &entity).unwrap();
    let Principal::User(user) = &after.principal else {
        panic!("{after:?}");
    };
    assert_eq!(user.subject, Some(Subject::Entity("9f1c".to_owned())));
    assert_eq!(decision(&orgs, &entity, Action::Delete), Decision::Allowed);
    let other = Credential::Entity("9f1d".to_owned());
    assert_eq!(decision(&orgs, &other, Action::Show), Decision::Hidden);
    assert_eq!(
        store
            .keys()
            .iter()
            .filter(|key| key.starts_with("user/"))
            .count(),
        1
    );
}

#[test]
fn contract_1_7_people_may_make_organizations_and_workloads_by_policy_only() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let (_, ada) = make(&orgs, &person("ada"));
    let entity = Credential::Entity("9f1c".to_owned());
    let creation = |credential: &Credential, granted| {
        let identity = identify(&orgs, credential).unwrap();
        orgs.creation(&identity, granted).unwrap()
    };
    assert_eq!(creation(&ada, false), Decision::Allowed);
    assert_eq!(creation(&Credential::Root, false), Decision::Allowed);
    for credential in [&entity, &Credential::WithoutEntity] {
        assert_eq!(creation(credential, false), Decision::Hidden);
        assert_eq!(creation(credential, true), Decision::Allowed);
    }
    let by = caller(identify(&orgs, &entity).unwrap().principal);
    orgs.create(&named("acme"), None, &by).unwrap();
    assert_eq!(creation(&entity, false), Decision::Hidden);
}

#[test]
fn contract_1_7_user_tokens_off_shuts_out_tokens_of_people_and_nobody_else() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let (ada, ada_token) = make(&orgs, &person("ada"));
    let by = caller(Principal::User(ada));
    orgs.create(&named("acme"), None, &by).unwrap();
    let off = OrganizationChanges {
        user_tokens_enabled: Attribute::Value(false),
        ..OrganizationChanges::default()
    };
    orgs.update_named("acme", &off, &by).unwrap();
    assert_eq!(
        decision(&orgs, &ada_token, Action::Show),
        Decision::UserTokensOff
    );
    let (_, outsider) = make(&orgs, &person("bob"));
    assert_eq!(
        decision(&orgs, &outsider, Action::Show),
        Decision::Hidden,
        "a6"
    );
    let root = decision(&orgs, &Credential::Root, Action::Update);
    assert_eq!(root, Decision::Allowed);
}

#[test]
fn contract_1_6_what_is_no_token_identifies_nobody() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let (_, token) = make(&orgs, &person("ada"));
    let Credential::ApiToken(secret) = &token else {
        panic!("no token");
    };
    assert!(identify(&orgs, &token).is_some());
    let other = if secret.starts_with('a') { "b" } else { "a" };
    let forged = format!("{other}{}", &secret[1..]);
    for text in ["", ".atlasv1.", forged.as_str(), &secret[..89]] {
        let credential = Credential::ApiToken(text.to_owned());
        assert_eq!(identify(&orgs, &credential), None, "{text}");
    }
    let stored = store.values().concat();
    let stored = String::from_utf8_lossy(&stored);
    assert!(!stored.contains(secret.as_str()));
}

#[test]
fn contract_1_6_the_last_use_is_noted_once_a_minute() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let (_, token) = make(&orgs, &person("ada"));
    identify(&orgs, &token);
    let commits = store.commits();
    identify(&orgs, &token);
    assert_eq!(store.commits(), commits);
    world.clock.advance(std::time::Duration::from_secs(60));
    identify(&orgs, &token);
    assert_eq!(store.commits(), commits + 1);
}

#[test]
fn names_and_addresses_of_users_are_unique_and_every_fault_is_told_at_once() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    make(&orgs, &person("ada"));
    let before = store.keys();
    let refused = |username: &str, email: &str| {
        let description = UserDescription {
            username: username.to_owned(),
            email: email.to_owned(),
            ..person("x")
        };
        match orgs.create_user(&description, &installation()) {
            Err(CreateUserError::Invalid(issues)) => issues
                .into_iter()
                .map(|issue| (issue.attribute, issue.fault))
                .collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        }
    };
    let named = |attribute: &str, fault| (attribute.to_owned(), fault);
    assert_eq!(
        refused("ADA", "Ada@Example.com"),
        [
            named("username", Fault::Taken),
            named("email", Fault::Taken)
        ]
    );
    assert_eq!(
        refused("", "nobody"),
        [
            named("username", Fault::Blank),
            named("email", Fault::NotAnAddress)
        ]
    );
    for reserved in ["installation", "Workload", "Entity-9f1c", "api-org-acme"] {
        assert_eq!(
            refused(reserved, "b@example.com"),
            [named("username", Fault::Taken)]
        );
    }
    // Otherwise its entity could never become a user.
    assert_eq!(
        refused("bob", "entity-9f1c@Gatehouse.invalid"),
        [named("email", Fault::Taken)]
    );
    assert_eq!(store.keys(), before);
}

#[test]
fn a6_what_is_hidden_and_what_is_not_there_are_looked_up_alike() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let (_, token) = make(&orgs, &person("ada"));
    let acme = create(&orgs, "acme");
    let counted = CountingStore::new(&store);
    let counting = world.orgs(&counted);
    let reads = |target: &OrganizationTarget| {
        counted.take_counts();
        let question = AccessQuestion {
            target: target.clone(),
            ..asking("", Action::Show)
        };
        answer(&counting, &token, &question);
        counted.take_counts().reads()
    };
    let named = |name: &str| OrganizationTarget::Name(name.to_owned());
    for _ in 0..2 {
        assert_eq!(reads(&named("acme")), reads(&named("absent")));
    }
    let owner_of = |id: &str| OrganizationTarget::OwnerOf(id.to_owned());
    for id in [&acme.external_id, &acme.default_project_id] {
        let (kind, rest) = id.split_once('-').unwrap();
        let absent = format!("{kind}-{}", rest.chars().rev().collect::<String>());
        assert_ne!(&absent, id);
        assert_eq!(reads(&owner_of(id)), reads(&owner_of(&absent)), "{id}");
    }
}

#[test]
fn a_caller_who_asks_again_about_an_organization_takes_one_read() {
    let world = World::new();
    let store = world.store();
    let counted = CountingStore::new(&store);
    let orgs = world.orgs(&counted);
    let owner = Credential::Entity("9f1c".to_owned());
    let by = caller(Principal::Workload(Some("9f1c".to_owned())));
    orgs.create(&named("acme"), None, &by).unwrap();
    let stranger = Credential::Entity("9f1d".to_owned());
    for credential in [&owner, &stranger, &Credential::Root] {
        let question = AccessQuestion {
            granted: true,
            ..asking("acme", Action::Show)
        };
        let first = answer(&orgs, credential, &question);
        counted.take_counts();
        assert_eq!(answer(&orgs, credential, &question), first);
        assert_eq!(counted.take_counts().gets, 1);
    }

    // Records that were read before say what to read, and not what is answered.
    orgs.delete_named("acme", &installation()).unwrap();
    assert_eq!(answer(&orgs, &owner, &asking("acme", Action::Show)), None);
}

#[test]
fn contract_1_7_what_ties_somebody_to_many_organizations_is_what_ties_them_to_each() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let (ada, ada_token) = make(&orgs, &person("ada"));
    let (_, bob_token) = make(&orgs, &person("bob"));
    let by = caller(Principal::User(ada.clone()));
    let make = |name: &str, by: &Caller| {
        let made = orgs.create(&named(name), None, by).unwrap();
        made.organization.external_id
    };
    let owned = make("acme", &by);
    let member_of = make("globex", &by);
    let foreign = make("initech", &installation());
    make_member(&store, &member_of, &ada, "manage-workspaces");
    let gone = make("umbrella", &by);
    orgs.delete_named("umbrella", &by).unwrap();

    let listed = |id: &String| ListedOrganization {
        external_id: id.clone(),
        plan: Plan::Free,
        role_by_policies: None,
    };
    // The role, and whether it is one that destroys, and that makes workspaces.
    let told = |found: MembershipSummaries| {
        let memberships = found.memberships.into_iter();
        let all = memberships.map(|membership| {
            let permissions = &found.permissions[membership.permissions as usize];
            let has = |permission| granted(permissions, permission);
            (
                membership.role,
                has(Permission::CanDestroy),
                has(Permission::CanCreateWorkspace),
            )
        });
        all.collect::<Vec<_>>()
    };
    let ties = |credential: &Credential, ids: &[&String]| {
        let all: Vec<_> = ids.iter().map(|id| listed(id)).collect();
        let identity = identify(&orgs, credential).unwrap();
        told(orgs.summarize_memberships(&identity, &all).unwrap())
    };
    let owner = (Some(OrganizationRole::Owner), true, true);
    let member = (Some(OrganizationRole::Member), false, true);
    let outsider = (None, false, false);
    assert_eq!(
        ties(&ada_token, &[&foreign, &member_of, &gone, &owned]),
        [outsider, member, outsider, owner]
    );
    assert_eq!(ties(&ada_token, &[]), []);
    assert_eq!(ties(&bob_token, &[&owned, &foreign]), [outsider; 2]);
    let administrator = (Some(OrganizationRole::SiteAdministrator), true, true);
    assert_eq!(ties(&Credential::Root, &[&owned]), [administrator]);
    let organization = Identity {
        principal: Principal::Organization(owned.clone()),
        token_id: None,
    };
    let all = [
        listed(&owned),
        ListedOrganization {
            role_by_policies: Some(OrganizationRole::Owner),
            ..listed(&foreign)
        },
    ];
    let found = told(orgs.summarize_memberships(&organization, &all).unwrap());
    let token = (Some(OrganizationRole::OrganizationToken), false, true);
    assert_eq!(found, [token, (None, true, true)]);
}

#[test]
fn contract_2_4_many_organizations_share_the_sets_of_permissions_that_they_have_in_common() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let all: Vec<_> = [Plan::Free, Plan::Business, Plan::Free, Plan::Free]
        .into_iter()
        .map(|plan| ListedOrganization {
            external_id: "org-0123456789abcdef".to_owned(),
            plan,
            role_by_policies: None,
        })
        .collect();
    let identity = identify(&orgs, &Credential::Root).unwrap();
    let found = orgs.summarize_memberships(&identity, &all).unwrap();
    let places = found.memberships.iter().map(|found| found.permissions);
    assert_eq!(places.collect::<Vec<_>>(), [0, 1, 0, 0]);
    assert_eq!(found.permissions.len(), 2);
}

#[test]
fn contract_2_4_whoever_may_see_an_organization_is_told_what_it_includes_and_what_they_may_do() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let (_, bob_token) = make(&orgs, &person("bob"));
    create(&orgs, "acme");
    for (is_granted, by_policies, is_told, destroys) in [
        (false, None, false, false),
        (true, None, true, false),
        (true, Some(OrganizationRole::Member), true, false),
        (true, Some(OrganizationRole::Owner), true, true),
        // It decides nothing.
        (false, Some(OrganizationRole::Owner), false, false),
    ] {
        let question = AccessQuestion {
            granted: is_granted,
            role_by_policies: by_policies,
            described: Description {
                entitlements: true,
                permissions: true,
            },
            ..asking("acme", Action::Show)
        };
        let found = answer(&orgs, &bob_token, &question).unwrap();
        assert_eq!(found.permissions.is_empty(), !is_told);
        assert_eq!(found.entitlements.is_empty(), !is_told);
        assert_eq!(
            granted(&found.permissions, Permission::CanDestroy),
            destroys
        );
    }
}

#[test]
fn contract_2_4_a_decision_carries_the_parts_of_the_description_that_are_asked_for() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    create(&orgs, "acme");
    for (entitlements, permissions) in [(false, false), (true, false), (false, true), (true, true)]
    {
        let question = AccessQuestion {
            described: Description {
                entitlements,
                permissions,
            },
            ..asking("acme", Action::Show)
        };
        let found = answer(&orgs, &Credential::Root, &question).unwrap();
        assert_eq!(found.decision, Decision::Allowed);
        assert_eq!(!found.entitlements.is_empty(), entitlements);
        assert_eq!(!found.permissions.is_empty(), permissions);
    }
}

#[test]
fn contract_1_7_a_second_action_is_decided_with_the_first_and_by_its_own_policies() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    create(&orgs, "acme");
    let also_allowed = |credential: &Credential, also: Option<RelatedAction>| {
        let question = AccessQuestion {
            granted: true,
            also,
            ..asking("acme", Action::ReadTeams)
        };
        let found = answer(&orgs, credential, &question).unwrap();
        assert_eq!(found.decision, Decision::Allowed);
        found.also_allowed
    };
    let reading = |granted| {
        Some(RelatedAction {
            action: Action::ReadMemberships,
            granted,
        })
    };
    let workload = Credential::WithoutEntity;
    assert!(!also_allowed(&workload, None));
    assert!(!also_allowed(&workload, reading(false)));
    assert!(also_allowed(&workload, reading(true)));
    assert!(also_allowed(&Credential::Root, reading(false)));
}

#[test]
fn contract_1_7_an_agent_pool_is_a_target_and_nothing_else_is_one_in_its_place() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let changes = AgentPoolChanges {
        name: Attribute::Value("builders".to_owned()),
        ..AgentPoolChanges::default()
    };
    let pool = orgs.create_agent_pool(&acme.external_id, &changes, &installation());
    let decision = |id: &str| {
        let question = AccessQuestion {
            target: OrganizationTarget::AgentPool(id.to_owned()),
            ..asking("", Action::ManageAgentPools)
        };
        answer(&orgs, &Credential::Root, &question).map(|found| found.decision)
    };
    assert_eq!(decision(&pool.unwrap().id), Some(Decision::Allowed));
    assert_eq!(decision(&acme.default_project_id), Some(Decision::Hidden));
    assert_eq!(decision("apool-0123456789abcdef"), None);
}

#[test]
fn contract_1_7_a_token_of_an_organization_is_about_its_own() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    create(&orgs, "globex");
    let owner = TokenOwner::Organization(acme.external_id.clone());
    let issued = orgs.issue_token(&owner, &TokenRequest::default(), &installation());
    let question = AccessQuestion {
        target: OrganizationTarget::OfToken,
        ..asking("", Action::ReadAuditTrail)
    };
    let own = |credential: &Credential| answer(&orgs, credential, &question);
    let found = own(&Credential::ApiToken(issued.unwrap().secret)).unwrap();
    assert_eq!(found.organization.external_id, acme.external_id);
    assert_eq!(found.decision, Decision::Allowed);
    assert_eq!(own(&Credential::Root), None);
    let (_, ada) = make(&orgs, &person("ada"));
    assert_eq!(own(&ada), None);
}

#[test]
fn contract_1_6_a_credential_that_is_not_valid_is_answered_nothing() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    create(&orgs, "acme");
    let forged = Credential::ApiToken("x.atlasv1.y".to_owned());
    let question = AccessQuestion {
        granted: true,
        ..asking("acme", Action::Show)
    };
    let found = orgs.authorize(&forged, &question, true).unwrap();
    assert_eq!(found.identification.identity, None);
    assert!(found.identification.api_rate.is_some());
    assert_eq!(found.access, None);
}

#[test]
fn contract_1_7_whoever_asks_for_a_part_asks_for_the_organization_that_has_it() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let globex = create(&orgs, "globex");
    let found = |id: &str| {
        let question = AccessQuestion {
            target: OrganizationTarget::OwnerOf(id.to_owned()),
            ..asking("", Action::Show)
        };
        let found = answer(&orgs, &Credential::Root, &question);
        found.map(|found| found.organization)
    };
    assert_eq!(found(&acme.default_project_id), Some(acme.clone()));
    assert_eq!(found(&globex.external_id), Some(globex.clone()));
    assert_eq!(found("acme"), None);
    orgs.delete_named("acme", &installation()).unwrap();
    orgs.update_named("globex", &rename("acme"), &installation())
        .unwrap();
    assert_eq!(found(&acme.external_id), None);
    assert_eq!(found(&acme.default_project_id), None);
}

fn granted(permissions: &[OrganizationPermission], permission: Permission) -> bool {
    permissions.contains(&OrganizationPermission {
        permission,
        granted: true,
    })
}

/// Moves a user from the owners of an organization to a team with this right, as it is called in records.
fn make_member(store: &MemoryStore<&ManualClock>, external_id: &str, user: &User, right: &str) {
    let member = stored_record(store, &format!("of/{external_id}/member/{}", user.id));
    let id = member["id"].as_str().unwrap();
    let key = format!("of/{external_id}/membership/{id}");
    let team = "team-0123456789abcdef";
    let mut membership = stored_record(store, &key);
    membership["teams"] = json!([team, "team-gone0000000000000"]);
    let record = json!({
        "id": team,
        "name": "developers",
        "created_at": 0,
        "visibility": "organization",
        "rights": [right],
        "sso_team_id": null,
        "allow_member_token_management": true,
    });
    let place = format!("of/{external_id}/team/{team}");
    store_records(store, [(key, membership), (place, record)]);
}
