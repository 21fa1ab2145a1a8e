//! Invitations, and what becomes of them.

use super::*;
use crate::MembershipStatus;

/// Whether something waits there for an address.
fn is_of_invitation(key: &str) -> bool {
    key.starts_with("invitation/") || key.contains("/invited/")
}

#[test]
fn contract_4_11_whoever_has_the_address_already_belongs_at_once() {
    let (people, _) = people();
    let ops = people.team("ops", &[]);
    let (user, credential) = people.user("ada");
    let ada = people
        .invite("ADA@Example.com", &[&ops.id, &ops.id])
        .unwrap();
    assert_eq!(ada.status, MembershipStatus::Active);
    assert_eq!((&ada.user, &ada.email), (&user.id, &user.email));
    assert_eq!(ada.teams, [ops.id]);
    assert_eq!(
        people.decision(&credential, Action::Show),
        Decision::Allowed
    );
}

#[test]
fn contract_4_11_a_membership_is_shown_as_it_was_made() {
    let (people, _) = people();
    let teams = ["a", "b", "c", "d"].map(|name| people.team(name, &[]).id);
    let teams: Vec<&str> = teams.iter().map(String::as_str).collect();
    let made = people.invite("ada@example.com", &teams).unwrap();
    let shown = people.orgs.read_membership(people.id(), &made.id, &owner());
    assert_eq!(shown, Ok(Some(made)));
}

#[test]
fn contract_4_11_an_invitation_waits_for_its_address_and_is_accepted_with_the_user() {
    let (people, store) = people();
    let ops = people.team("ops", &[Right::ManageAgentPools]);
    let before = store.keys();
    let waiting = people.invite("Ada@example.com", &[&ops.id]).unwrap();
    assert_eq!(waiting.status, MembershipStatus::Invited);
    assert_eq!(
        (waiting.user.starts_with("user-"), waiting.email.as_str()),
        (true, "Ada@example.com")
    );
    let shown = people
        .orgs
        .read_membership(people.id(), &waiting.id, &owner());
    assert_eq!(shown, Ok(Some(waiting.clone())));
    let team = people.read_team(&ops.id);
    assert_eq!((team.users.len(), team.memberships.len()), (0, 1));
    let commits = store.commits();
    let (user, credential) = people.user("ada");
    assert_eq!(user.id, waiting.user);
    assert_eq!(store.commits(), commits + 1);
    let ada = people
        .orgs
        .read_membership(people.id(), &waiting.id, &owner());
    let expected = Membership {
        email: user.email.clone(),
        status: MembershipStatus::Active,
        ..waiting
    };
    assert_eq!(ada, Ok(Some(expected.clone())));
    let manage = people.decision(&credential, Action::ManageAgentPools);
    assert_eq!(manage, Decision::Allowed);
    assert_eq!(people.read_team(&ops.id).users, [user.id]);
    let left = store.keys();
    assert!(!left.iter().any(|key| is_of_invitation(key)), "{left:?}");
    assert_eq!(people.remove(&expected.id, &owner()), Ok(()));
    let of_people = |keys: Vec<String>| {
        let keys = keys.into_iter().filter(|key| key.starts_with("of/"));
        keys.collect::<Vec<_>>()
    };
    assert_eq!(of_people(store.keys()), of_people(before));
}

#[test]
fn contract_4_11_every_fault_is_told_at_once_and_nothing_is_stored() {
    let (people, store) = people();
    people.member("ada", &[]);
    people.invite("guest@example.com", &[]).unwrap();
    let before = store.values();
    let refused = |invitation: &Invitation, issues: &[crate::AttributeIssue]| {
        let by = installation();
        let found = people.orgs.invite(people.id(), invitation, &owner(), &by);
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
    let there = people.orgs.invite(
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
    assert_eq!(
        people.decision(&credential, Action::Show),
        Decision::Allowed
    );
}

/// So many organizations invite `ada@example.com`.
fn invited_by(people: &People<Stored>, organizations: usize) {
    for number in 0..organizations {
        let organization = create(&people.orgs, &format!("org-{number}"));
        let invited = invitation("ada@example.com", &[]);
        let id = &organization.external_id;
        let invited = people.orgs.invite(id, &invited, &owner(), &installation());
        invited.unwrap();
    }
}

fn of_acceptance(store: Stored) -> Vec<String> {
    let mut left = store.keys();
    left.retain(|key| is_of_invitation(key) || key.starts_with("accepting/"));
    left
}

#[test]
fn more_invitations_than_one_commit_takes_are_all_accepted() {
    let (people, store) = people();
    invited_by(&people, 120);
    let (_, credential) = people.user("ada");
    let identity = people.orgs.identify(&credential).unwrap().unwrap();
    let own = people.orgs.own_memberships(&identity).unwrap();
    assert_eq!(own.len(), 120);
    assert_eq!(of_acceptance(store), [""; 0]);
}

#[test]
fn more_invitations_than_one_request_accepts_are_left_to_upkeep() {
    let (people, store) = people();
    invited_by(&people, 1_060);
    people.user("ada");
    // Ten invitations, each in two places, and the mark that they are being accepted.
    assert_eq!(of_acceptance(store).len(), 21);
    people.orgs.maintain().unwrap();
    assert_eq!(of_acceptance(store), [""; 0]);
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
