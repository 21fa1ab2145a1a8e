//! Invitations, and what becomes of them.

use super::*;
use gatehouse_orgs::MembershipStatus;

/// True if something waits there for an address.
fn is_of_invitation(key: &str) -> bool {
    key.starts_with("invitation/") || key.contains("/invited/")
}

#[test]
fn contract_4_11_only_a_site_administrator_makes_a_user_a_member_at_once() {
    let (people, _) = people();
    let ops = people.team("ops", &[]);
    let (user, credential) = people.user("ada");
    let (owner_of_acme, _) = people.user("olga");
    let at_once = Invitation {
        active: true,
        ..invitation("ADA@Example.com", &[&ops.id, &ops.id])
    };
    let invite = |by: &Caller| {
        let found = people
            .orgs
            .invite_alone(people.id(), &at_once, &owner(), by);
        found.unwrap()
    };
    let invited = invite(&by(&owner_of_acme));
    assert_eq!(invited.status, MembershipStatus::Invited);
    people.remove(&invited.id, &owner()).unwrap();
    let ada = invite(&installation());
    assert_eq!(ada.status, MembershipStatus::Active);
    assert_eq!((&ada.user, &ada.email), (&user.id, &user.email));
    assert_eq!(ada.teams, [ops.id]);
    assert_eq!(
        people.decision(&credential, Action::Show),
        Decision::Allowed
    );
    // No user has this address, so no user can be made a member.
    let nobody = Invitation {
        active: true,
        ..invitation("nobody@example.com", &[])
    };
    let found = people
        .orgs
        .invite_alone(people.id(), &nobody, &owner(), &installation());
    assert_eq!(found.unwrap().status, MembershipStatus::Invited);
}

#[test]
fn contract_4_11_an_invitation_is_the_same_with_and_without_an_account() {
    let (people, store) = people();
    let ops = people.team("ops", &[]);
    let (ada, _) = people.user("ada");
    let stored_by = |email: &str| {
        let before = kept_keys(&store);
        let made = people.invite(email, &[&ops.id]).unwrap();
        let mut stored = kept_keys(&store);
        stored.retain(|key| !before.contains(key));
        // The kinds and lengths of keys, which have nothing of the address but a hash.
        let shape = |key: &String| (key.split('/').next().unwrap().to_owned(), key.len());
        (made, stored.iter().map(shape).collect::<Vec<_>>())
    };
    let (known, stored_of_known) = stored_by("ada@example.com");
    let (unknown, stored_of_unknown) = stored_by("eva@example.com");
    assert_eq!(stored_of_known, stored_of_unknown);
    assert_eq!(known.status, MembershipStatus::Invited);
    assert_eq!(
        Membership {
            id: unknown.id.clone(),
            user: unknown.user.clone(),
            email: unknown.email.clone(),
            ..known.clone()
        },
        unknown
    );
    assert_eq!(known.user, ada.id);
    let (eva, _) = people.user("eva");
    assert_eq!(unknown.user, eva.id);
    // A search for a name does not find a user who is only invited.
    let by_name = gatehouse_orgs::MembershipFilter {
        text: Some("ada".to_owned()),
        emails: vec!["eva@example.com".to_owned()],
        ..gatehouse_orgs::MembershipFilter::default()
    };
    let page =
        people
            .orgs
            .list_memberships(people.id(), &by_name, Relations::default(), &owner(), 1, 20);
    assert_eq!(page.unwrap().total, 0);
}

#[test]
fn contract_4_11_a_membership_is_shown_as_it_was_made() {
    let (people, _) = people();
    let teams = ["a", "b", "c", "d"].map(|name| people.team(name, &[]).id);
    let teams: Vec<&str> = teams.iter().map(String::as_str).collect();
    let made = people.invite("ada@example.com", &teams).unwrap();
    let shown = people
        .orgs
        .membership_alone(people.id(), &made.id, &owner());
    assert_eq!(shown, Ok(Some(made)));
}

#[test]
fn contract_4_11_an_invitation_gives_nothing_until_it_is_accepted() {
    let (people, store) = people();
    let ops = people.team("ops", &[Right::ManageAgentPools]);
    let owners = people.owners();
    let before = kept_keys(&store);
    let teams = [ops.id.as_str(), owners.id.as_str()];
    let waiting = people.invite("Ada@example.com", &teams).unwrap();
    assert_eq!(waiting.status, MembershipStatus::Invited);
    assert_eq!(waiting.email, "Ada@example.com");
    let shown = people
        .orgs
        .membership_alone(people.id(), &waiting.id, &owner());
    assert_eq!(shown, Ok(Some(waiting.clone())));
    let (user, credential) = people.user("ada");
    assert_eq!(user.id, waiting.user);
    for action in [Action::Show, Action::ManageAgentPools] {
        assert_eq!(people.decision(&credential, action), Decision::Hidden);
    }
    let team = people.read_team(&ops.id);
    assert_eq!((team.users.len(), team.memberships.len()), (0, 1));
    assert_eq!(team.users_count, 0);
    let owned_by = |count: usize| {
        let owners = people
            .orgs
            .oversee(&[people.id().to_owned()])
            .unwrap()
            .owners;
        assert_eq!(owners[0].len(), count);
    };
    owned_by(1);
    let commits = store.commits();
    let accepted = people.accept(&waiting.id, &user).unwrap();
    assert_eq!(store.commits(), commits + 1);
    let expected = Membership {
        email: user.email.clone(),
        status: MembershipStatus::Active,
        ..waiting
    };
    assert_eq!(accepted.membership, expected);
    assert_eq!(accepted.organization, "acme");
    let ada = people
        .orgs
        .membership_alone(people.id(), &expected.id, &owner());
    assert_eq!(ada, Ok(Some(expected.clone())));
    let manage = people.decision(&credential, Action::Delete);
    assert_eq!(manage, Decision::Allowed);
    assert_eq!(
        people.read_team(&ops.id).users,
        std::slice::from_ref(&user.id)
    );
    owned_by(2);
    let left = store.keys();
    assert!(!left.iter().any(|key| is_of_invitation(key)), "{left:?}");
    let again = people.accept(&expected.id, &user);
    assert_eq!(again, Err(MembershipError::NotFound));
    assert_eq!(people.remove(&expected.id, &owner()), Ok(()));
    let of_people = |keys: Vec<String>| {
        let keys = keys.into_iter().filter(|key| key.starts_with("of/"));
        keys.collect::<Vec<_>>()
    };
    assert_eq!(of_people(kept_keys(&store)), of_people(before));
    owned_by(1);
}

#[test]
fn contract_4_11_only_the_account_with_the_address_accepts_or_declines() {
    let (people, store) = people();
    let invited = people.invite("ada@example.com", &[]).unwrap();
    let (ada, _) = people.user("ada");
    let (eve, of_eve) = people.user("eve");
    for stranger in [of_eve, Credential::Root, Credential::WithoutEntity] {
        assert_eq!(people.own_status(&stranger, &invited.id), None);
    }
    let before = store.values();
    for stranger in [by(&eve), installation(), caller(Principal::Workload(None))] {
        let orgs = &people.orgs;
        let refused = Err(MembershipError::NotFound);
        assert_eq!(
            orgs.accept_invitation(&invited.id, &stranger).map(drop),
            refused
        );
        assert_eq!(orgs.decline_invitation(&invited.id, &stranger), refused);
        assert_eq!(orgs.leave(&invited.id, &stranger), refused);
    }
    for id in ["ou-0000000000000000", "x", ""] {
        let refused = people.accept(id, &ada).map(drop);
        assert_eq!(refused, Err(MembershipError::NotFound));
    }
    assert_eq!(store.values(), before);
    let own = people.orgs.own_memberships(&by(&ada).identity).unwrap();
    assert_eq!(own.len(), 1);
    assert_eq!(own[0].membership, invited);
    assert_eq!(
        people.orgs.decline_invitation(&invited.id, &by(&ada)),
        Ok(())
    );
    assert!(!store.keys().iter().any(|key| is_of_invitation(key)));
    let refused = people.accept(&invited.id, &ada).map(drop);
    assert_eq!(refused, Err(MembershipError::NotFound));
    let own = people.orgs.own_memberships(&by(&ada).identity);
    assert_eq!(own, Ok(Vec::new()));
    people.invite("ada@example.com", &[]).unwrap();
}

#[test]
fn contract_4_11_an_invitation_to_what_is_switched_off_is_only_declined() {
    let (people, _) = people();
    let (ada, _) = people.user("ada");
    let invited = people.invite("ada@example.com", &[]).unwrap();
    let off = gatehouse_orgs::AdministrationChanges {
        disabled: Attribute::Value(true),
        ..gatehouse_orgs::AdministrationChanges::default()
    };
    let administered =
        gatehouse_orgs::Site::administer(&people.orgs, people.id(), &off, &installation());
    administered.unwrap();
    let own = people.orgs.own_memberships(&by(&ada).identity);
    assert_eq!(own, Ok(Vec::new()));
    let refused = people.accept(&invited.id, &ada).map(drop);
    assert_eq!(refused, Err(MembershipError::NotFound));
    assert_eq!(
        people.orgs.decline_invitation(&invited.id, &by(&ada)),
        Ok(())
    );
}

#[test]
fn contract_4_11_an_invitation_that_was_accepted_is_declined_no_more_and_its_member_stays() {
    let (people, store) = people();
    let (ada, _) = people.user("ada");
    let invited = people.invite("ada@example.com", &[]).unwrap();
    people.accept(&invited.id, &ada).unwrap();
    let before = store.values();
    assert_eq!(
        people.orgs.decline_invitation(&invited.id, &by(&ada)),
        Err(MembershipError::NotFound)
    );
    assert_eq!(store.values(), before);
    assert_eq!(people.orgs.leave(&invited.id, &by(&ada)), Ok(()));
}

#[test]
fn contract_4_11_everybody_leaves_but_the_last_owner() {
    let (people, _) = people();
    let owners = people.owners();
    let founder = people.memberships().remove(0);
    let (ada, credential) = people.user("ada");
    let (bob, _) = people.user("bob");
    let of_ada = people.belong(&ada, &[&owners.id]);
    let of_bob = people.belong(&bob, &[]);
    let stranger = people.orgs.leave(&of_ada.id, &by(&bob));
    assert_eq!(stranger, Err(MembershipError::NotFound));
    assert_eq!(people.orgs.leave(&of_bob.id, &by(&bob)), Ok(()));
    people.remove(&founder.id, &owner()).unwrap();
    let refused = people.orgs.leave(&of_ada.id, &by(&ada));
    assert_eq!(refused, Err(MembershipError::LastOwner));
    people.belong(&bob, &[&owners.id]);
    assert_eq!(people.orgs.leave(&of_ada.id, &by(&ada)), Ok(()));
    assert_eq!(people.decision(&credential, Action::Show), Decision::Hidden);
}

#[test]
fn contract_4_11_every_fault_is_told_at_once_and_nothing_is_stored() {
    let (people, store) = people();
    people.member("ada", &[]);
    people.invite("guest@example.com", &[]).unwrap();
    let before = store.values();
    let refused = |invitation: &Invitation, issues: &[gatehouse_orgs::AttributeIssue]| {
        let by = installation();
        let found = people
            .orgs
            .invite_alone(people.id(), invitation, &owner(), &by);
        assert_eq!(found, Err(MembershipError::Invalid(issues.to_vec())));
    };
    for (email, fault) in [
        (Attribute::Absent, Fault::Blank),
        (Attribute::Null, Fault::Blank),
        (text(""), Fault::Blank),
        (Attribute::WrongType, Fault::NotText),
        (text("nowhere"), Fault::NotAnAddress),
        (text("ADA@example.com"), Fault::Taken),
        (text("Guest@Example.com"), Fault::Taken),
    ] {
        let invitation = Invitation {
            email,
            ..Invitation::default()
        };
        refused(&invitation, &[issue("email", fault)]);
    }
    for (entity_id, fault) in [
        (Attribute::WrongType, Fault::NotText),
        (text(""), Fault::UnknownEntity),
        (text("../x"), Fault::UnknownEntity),
    ] {
        let invitation = Invitation {
            entity_id,
            ..invitation("eve@example.com", &[])
        };
        refused(&invitation, &[issue("entity-id", fault)]);
    }
    let unknown = issue("teams", Fault::UnknownTeam);
    for team in ["team-0000000000000000", "owners", "", "team-name/owners"] {
        let invitation = invitation("nowhere", &[&people.owners().id, team]);
        let faults = [issue("email", Fault::NotAnAddress), unknown.clone()];
        refused(&invitation, &faults);
    }
    let wrong = Invitation {
        teams: Attribute::WrongType,
        ..invitation("eve@example.com", &[])
    };
    refused(&wrong, &[unknown]);
    assert_eq!(store.values(), before);
}

#[test]
fn contract_4_11_an_invitation_that_is_taken_back_leaves_nothing() {
    let (people, store) = people();
    let globex = create(&people.orgs, "globex");
    // The key of hashes is made once.
    people.user("ada");
    let before = kept_keys(&store);
    let here = people.invite("guest@example.com", &[]).unwrap();
    let there = people.orgs.invite_alone(
        &globex.external_id,
        &invitation("guest@example.com", &[]),
        &owner(),
        &installation(),
    );
    let there = there.unwrap();
    people.remove(&here.id, &owner()).unwrap();
    let by = installation();
    people
        .orgs
        .remove_membership(&globex.external_id, &there.id, &owner(), &by)
        .unwrap();
    assert_eq!(kept_keys(&store), before);
    let (_, credential) = people.user("guest");
    assert_eq!(people.decision(&credential, Action::Show), Decision::Hidden);
    people.invite("guest@example.com", &[]).unwrap();
    assert_eq!(people.decision(&credential, Action::Show), Decision::Hidden);
}

/// So many organizations invite `ada@example.com`.
fn invited_by(people: &People<Stored>, organizations: usize) {
    for number in 0..organizations {
        let organization = create(&people.orgs, &format!("org-{number}"));
        let invited = invitation("ada@example.com", &[]);
        let id = &organization.external_id;
        let invited = people
            .orgs
            .invite_alone(id, &invited, &owner(), &installation());
        invited.unwrap();
    }
}

#[test]
fn a_user_sees_so_many_invitations_and_others_once_those_are_declined() {
    let (people, _) = people();
    let most = gatehouse_orgs::MAXIMUM_INVITATIONS as usize;
    invited_by(&people, most + 1);
    let (ada, _) = people.user("ada");
    let identity = by(&ada).identity;
    let own = people.orgs.own_memberships(&identity).unwrap();
    assert_eq!(own.len(), most);
    for own in &own {
        people.orgs.leave(&own.membership.id, &by(&ada)).unwrap();
    }
    let own = people.orgs.own_memberships(&identity).unwrap();
    assert_eq!(own.len(), 1);
}

#[test]
fn k8_an_invitation_shows_its_address_in_no_key() {
    let (people, store) = people();
    people.invite("guest@example.com", &[]).unwrap();
    assert!(!store.keys().iter().any(|key| key.contains("guest")));
}

#[test]
fn an_address_of_those_who_are_no_people_waits_for_nobody() {
    let (people, store) = people();
    let address = "entity-0f6b2c1e-9a41-4c52-8d0e-5f3a7b9c1d2e@gatehouse.invalid";
    let before = kept(store);
    let refused = people.invite(address, &[]);
    let issues = vec![issue("email", Fault::Taken)];
    assert_eq!(refused, Err(MembershipError::Invalid(issues)));
    assert_eq!(kept(store), before);
}
