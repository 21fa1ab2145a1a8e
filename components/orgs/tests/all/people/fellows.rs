//! Users of the same organization may know of each other.

use super::*;
use gatehouse_orgs::{Identity, OrganizationChanges, TeamReference};

/// The user whom a credential proves.
fn identity<S: Store>(people: &People<S>, credential: &Credential) -> Identity {
    people
        .orgs
        .identify(credential, false)
        .unwrap()
        .identity
        .unwrap()
}

fn user_of(identity: &Identity) -> &str {
    match &identity.principal {
        Principal::User(user) => &user.id,
        other => panic!("{other:?}"),
    }
}

#[test]
fn contract_1_11_only_an_organization_that_both_belong_to_makes_users_known_to_each_other() {
    let (people, store) = people();
    let [ada, bob, eve, guest] = ["ada", "bob", "eve", "guest"].map(|name| {
        let (user, credential) = people.user(name);
        (user, identity(&people, &credential))
    });
    people.belong(&ada.0, &[]);
    people.belong(&bob.0, &[]);
    people.invite(&guest.0.email, &[]).unwrap();
    let before = store.values();
    let know = |one: &Identity, other: &str| people.orgs.find_user(one, other).unwrap().is_some();
    assert!(know(&ada.1, &bob.0.id) && know(&bob.1, &ada.0.id));
    for stranger in [&eve, &guest] {
        assert!(!know(&stranger.1, &ada.0.id), "{}", stranger.0.username);
        assert!(!know(&ada.1, &stranger.0.id), "{}", stranger.0.username);
    }
    for none in ["", "user-", "user-0000000000000000", "user-../x", "ada"] {
        assert!(!know(&ada.1, none), "{none}");
    }
    let acting = |principal| Identity {
        principal,
        ..ada.1.clone()
    };
    let team = |organization: &str| {
        acting(Principal::Team(TeamReference {
            id: "team-1111111111111111".to_owned(),
            organization: organization.to_owned(),
        }))
    };
    assert!(know(&team(people.id()), user_of(&bob.1)));
    assert!(!know(&team("org-1111111111111111"), &bob.0.id));
    let id = people.id().to_owned();
    assert!(know(
        &acting(Principal::Organization(id.clone())),
        &bob.0.id
    ));
    assert!(!know(&acting(Principal::AuditReader(id)), &bob.0.id));
    assert!(!know(&acting(Principal::Workload(None)), &bob.0.id));
    assert_eq!(store.values(), before);

    // An organization that shuts user tokens out is closed to callers that present one.
    let closed = OrganizationChanges {
        user_tokens_enabled: Attribute::Value(false),
        ..OrganizationChanges::default()
    };
    let updated = people.orgs.update(people.id(), &closed, &installation());
    updated.unwrap();
    assert!(!know(&ada.1, &bob.0.id));
}

#[test]
fn contract_1_11_an_organization_beyond_the_first_page_of_them_is_found() {
    let (mut people, _) = people();
    let (ada, bob) = (people.user("ada").0, people.user("bob"));
    let bob_by = identity(&people, &bob.1);
    let mut last: Option<Organization> = None;
    for number in 0..70 {
        people.acme = create(&people.orgs, &format!("org{number}"));
        people.belong(&ada, &[]);
        // Pages follow the keys, so the highest id is on the last one.
        if last
            .as_ref()
            .is_none_or(|last| last.external_id < people.acme.external_id)
        {
            last = Some(people.acme.clone());
        }
    }
    assert_eq!(people.orgs.find_user(&bob_by, &ada.id), Ok(None));
    people.acme = last.unwrap();
    people.belong(&bob.0, &[]);
    assert!(people.orgs.find_user(&bob_by, &ada.id).unwrap().is_some());
}
