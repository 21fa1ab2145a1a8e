//! Memberships of teams and of the organization.

use super::*;
use gatehouse_orgs::{MembershipFilter, MembershipStatus, OwnMembership, Principal, Subject};

#[test]
fn contract_4_11_the_creators_membership_is_active_and_on_owners() {
    let (people, _) = people();
    let memberships = people.memberships();
    let [founder] = memberships.as_slice() else {
        panic!("{memberships:?}");
    };
    assert!(founder.id.starts_with("ou-"));
    assert_eq!(founder.status, MembershipStatus::Active);
    assert_eq!(founder.teams, [people.owners().id]);
    assert_eq!(founder.created_at, NOW * 1000);
    let found = people
        .orgs
        .membership_alone(people.id(), &founder.id, &owner());
    assert_eq!(found, Ok(Some(founder.clone())));
    let whose = people.orgs.organization_of(&founder.id).unwrap().unwrap();
    assert_eq!(
        (whose.name.as_str(), whose.external_id.as_str()),
        ("acme", people.id())
    );
}

#[test]
fn members_join_and_leave_teams_by_either_name_and_twice_is_as_once() {
    let (people, store) = people();
    let ops = people.team("ops", &[Right::ManageAgentPools]);
    let (ada, credential) = people.member("ada", &[]);
    let (bob, _) = people.member("bob", &[]);
    let manage = Action::ManageAgentPools;
    assert_eq!(people.decision(&credential, manage), Decision::Hidden);
    let both = usernames(&["Ada", "bob", "ada"]);
    assert_eq!(people.join(&ops.id, &both, &owner()), Ok(()));
    assert_eq!(people.decision(&credential, manage), Decision::Allowed);
    let team = people.read_team(&ops.id);
    assert_eq!(team.memberships, [ada.id.clone(), bob.id.clone()]);
    let users = [ada.user.clone(), bob.user.clone()];
    assert_eq!(team.users, users);
    let before = store.values();
    let named = membership_ids(&[&ada, &bob]);
    assert_eq!(people.join(&ops.id, &named, &owner()), Ok(()));
    let none = usernames(&[]);
    assert_eq!(people.join(&ops.id, &none, &owner()), Ok(()));
    assert_eq!(store.values(), before);
    let named = membership_ids(&[&ada]);
    assert_eq!(people.leave(&ops.id, &named, &owner()), Ok(()));
    assert_eq!(people.decision(&credential, manage), Decision::Hidden);
    let before = store.values();
    assert_eq!(people.leave(&ops.id, &named, &owner()), Ok(()));
    assert_eq!(store.values(), before);
    assert_eq!(people.read_team(&ops.id).memberships, [bob.id]);
}

#[test]
fn one_unknown_name_keeps_all_of_them_from_joining() {
    let (people, store) = people();
    let ops = people.team("ops", &[]);
    let (ada, _) = people.member("ada", &[]);
    people.user("stranger");
    let globex = create(&people.orgs, "globex");
    let invited = invitation("guest@example.com", &[]);
    let guest = people
        .orgs
        .invite_alone(&globex.external_id, &invited, &owner(), &installation())
        .unwrap();
    let before = store.values();
    let named = usernames(&["nobody", "ada", "stranger", "a/b", ""]);
    for refused in [
        people.join(&ops.id, &named, &owner()),
        people.leave(&ops.id, &named, &owner()),
    ] {
        assert_eq!(refused, Err(TeamError::UnknownMembers(vec![0, 2, 3, 4])));
    }
    let named = membership_ids(&[&ada, &guest]);
    let refused = people.join(&ops.id, &named, &owner());
    assert_eq!(refused, Err(TeamError::UnknownMembers(vec![1])));
    assert_eq!(store.values(), before);
}

#[test]
fn contract_4_11_the_last_active_owner_cannot_leave() {
    let (people, store) = people();
    let owners = people.owners();
    let founder = people.memberships().remove(0);
    // A user who is only invited owns nothing yet.
    people.invite("later@example.com", &[&owners.id]).unwrap();
    let before = store.values();
    let named = membership_ids(&[&founder]);
    let refused = people.leave(&owners.id, &named, &owner());
    assert_eq!(refused, Err(TeamError::LastOwner));
    let refused = people.remove(&founder.id, &owner());
    assert_eq!(refused, Err(MembershipError::LastOwner));
    assert_eq!(store.values(), before);
    let (ada, _) = people.member("ada", &[&owners.id]);
    let both = membership_ids(&[&founder, &ada]);
    let refused = people.leave(&owners.id, &both, &owner());
    assert_eq!(refused, Err(TeamError::LastOwner));
    assert_eq!(people.remove(&founder.id, &owner()), Ok(()));
    let refused = people.remove(&ada.id, &owner());
    assert_eq!(refused, Err(MembershipError::LastOwner));
}

#[test]
fn an_invited_owner_can_be_taken_back_while_another_owns() {
    let (people, _) = people();
    let owners = people.owners();
    let later = people.invite("later@example.com", &[&owners.id]).unwrap();
    assert_eq!(people.remove(&later.id, &owner()), Ok(()));
    assert_eq!(people.owners(), owners);
}

#[test]
fn contract_4_11_a_membership_that_ends_takes_every_way_to_it_along() {
    let (people, store) = people();
    let ops = people.team("ops", &[Right::ManageAgentPools]);
    let (user, credential) = people.user("ada");
    assert_eq!(people.decision(&credential, Action::Show), Decision::Hidden);
    let before = kept_keys(&store);
    let ada = people.belong(&user, &[&ops.id]);
    assert_eq!(
        people.decision(&credential, Action::Show),
        Decision::Allowed
    );
    let way = format!("membership-of/{}/{}", user.id, people.id());
    assert!(store.keys().contains(&way));
    assert_eq!(people.remove(&ada.id, &owner()), Ok(()));
    assert_eq!(people.decision(&credential, Action::Show), Decision::Hidden);
    assert_eq!(kept_keys(&store), before);
    assert_eq!(people.read_team(&ops.id).memberships, [""; 0]);
    let gone = people.remove(&ada.id, &owner());
    assert_eq!(gone, Err(MembershipError::NotFound));
    for id in ["ou-0000000000000000", "x", "", "team-name"] {
        let refused = people.remove(id, &owner());
        assert_eq!(refused, Err(MembershipError::NotFound), "{id}");
    }
    people.belong(&user, &[]);
    assert_eq!(
        people.decision(&credential, Action::Show),
        Decision::Allowed
    );
}

#[test]
fn contract_4_11_filters_pages_and_counts() {
    let (people, _) = people();
    people.member("ada", &[]);
    let (user, _) = people.user("bob");
    people.belong(&user, &[]);
    people.invite("Zoe@Example.com", &[]).unwrap();
    let list = |filter: &MembershipFilter, number, size| {
        let page = people
            .orgs
            .list_memberships(
                people.id(),
                filter,
                Relations::default(),
                &owner(),
                number,
                size,
            )
            .unwrap();
        assert_eq!((page.active, page.invited), (3, 1));
        let emails = page.memberships.into_iter().map(|found| found.email);
        let local = emails.map(|email| email.split('@').next().unwrap().to_owned());
        (local.collect::<Vec<_>>().join(" "), page.total)
    };
    let all = MembershipFilter::default();
    let everybody = "ada bob installation Zoe".to_owned();
    assert_eq!(list(&all, 1, 20), (everybody, 4));
    assert_eq!(list(&all, 2, 3), ("Zoe".to_owned(), 4));
    let text = |text: &str| MembershipFilter {
        text: Some(text.to_owned()),
        ..MembershipFilter::default()
    };
    assert_eq!(list(&text("BOB"), 1, 20), ("bob".to_owned(), 1));
    assert_eq!(list(&text("zoe@example"), 1, 20), ("Zoe".to_owned(), 1));
    assert_eq!(list(&text("nobody"), 1, 20), (String::new(), 0));
    let emails = MembershipFilter {
        emails: vec!["zoe@EXAMPLE.com".to_owned(), "ada@example.com".to_owned()],
        ..MembershipFilter::default()
    };
    assert_eq!(list(&emails, 1, 20), ("ada Zoe".to_owned(), 2));
    let status = |statuses: &[MembershipStatus]| MembershipFilter {
        statuses: Some(statuses.to_vec()),
        ..MembershipFilter::default()
    };
    let invited = status(&[MembershipStatus::Invited]);
    assert_eq!(list(&invited, 1, 20), ("Zoe".to_owned(), 1));
    assert_eq!(list(&status(&[]), 1, 20), (String::new(), 0));
}

#[test]
fn contract_4_11_a_users_own_memberships_are_those_that_are_open_to_them() {
    let (people, _) = people();
    let (ada, credential) = people.member("ada", &[]);
    let beta = create(&people.orgs, "Beta");
    let invited = invitation("ada@example.com", &[]);
    let at_once = Invitation {
        active: true,
        ..invited
    };
    people
        .orgs
        .invite_alone(&beta.external_id, &at_once, &owner(), &installation())
        .unwrap();
    let identity = people
        .orgs
        .identify(&credential, false)
        .unwrap()
        .identity
        .unwrap();
    let own = |identity: &Identity| {
        let own = people.orgs.own_memberships(identity).unwrap();
        let names = own.into_iter().map(|own| own.organization);
        names.collect::<Vec<_>>()
    };
    assert_eq!(own(&identity), ["acme", "Beta"]);
    let all = people.orgs.own_memberships(&identity).unwrap();
    let expected = OwnMembership {
        membership: ada.clone(),
        organization: "acme".to_owned(),
    };
    assert_eq!(all[0], expected);
    let closed = OrganizationChanges {
        user_tokens_enabled: Attribute::Value(false),
        ..OrganizationChanges::default()
    };
    people
        .orgs
        .update_named("beta", &closed, &installation())
        .unwrap();
    assert_eq!(own(&identity), ["acme"]);
    let by_service_token = Identity {
        token_id: None,
        ..identity.clone()
    };
    assert_eq!(own(&by_service_token), ["acme", "Beta"]);
    people.orgs.delete_named("beta", &installation()).unwrap();
    assert_eq!(own(&by_service_token), ["acme"]);
    people.remove(&ada.id, &owner()).unwrap();
    assert_eq!(own(&identity), [""; 0]);
    assert_eq!(own(&installation().identity), [""; 0]);
    let workload = caller(Principal::Workload(None));
    assert_eq!(own(&workload.identity), [""; 0]);
}

#[test]
fn contract_4_14_owners_of_several_organizations_come_at_once() {
    let (people, _) = people();
    let owners = people.owners();
    people.member("zoe", &[&owners.id]);
    people.member("ada", &[]);
    people.invite("later@example.com", &[&owners.id]).unwrap();
    let beta = create(&people.orgs, "beta");
    let gone = create(&people.orgs, "gone");
    people.orgs.delete_named("gone", &installation()).unwrap();
    let ids = [
        beta.external_id,
        gone.external_id,
        people.acme.external_id.clone(),
    ];
    let found = people.orgs.oversee(&ids).unwrap().owners;
    let names = |users: &Vec<User>| {
        let names = users.iter().map(|user| user.username.clone());
        names.collect::<Vec<_>>().join(" ")
    };
    let found: Vec<String> = found.iter().map(names).collect();
    assert_eq!(found, ["installation", "", "installation zoe"]);
}

#[test]
fn an_organization_that_goes_takes_teams_members_and_invitations_along() {
    let (people, store) = people();
    let (_, credential) = people.user("ada");
    let before = kept_keys(&store);
    let beta = create(&people.orgs, "beta");
    let id = beta.external_id;
    let by = installation();
    let ops = people
        .orgs
        .create_team(&id, &team_changes("ops", &[]), &owner(), &by)
        .unwrap();
    for email in ["ada@example.com", "later@example.com"] {
        let invited = invitation(email, &[&ops.id]);
        people
            .orgs
            .invite_alone(&id, &invited, &owner(), &by)
            .unwrap();
    }
    people.orgs.delete_named("beta", &by).unwrap();
    people.orgs.maintain().unwrap();
    let left = kept_keys(&store);
    let left: Vec<&String> = left
        .iter()
        .filter(|key| !before.contains(key) && !key.starts_with("count/"))
        .filter(|key| !key.starts_with("directory") && !key.starts_with("event/"))
        .collect();
    assert_eq!(left, [""; 0]);
    let identity = people
        .orgs
        .identify(&credential, false)
        .unwrap()
        .identity
        .unwrap();
    assert_eq!(people.orgs.own_memberships(&identity), Ok(Vec::new()));
    // A person who was invited there becomes a user as every other person does.
    let (later, _) = people.user("later");
    assert!(
        !kept_keys(&store)
            .iter()
            .any(|key| key.contains(&later.id) && key.contains(&id))
    );
    for refused in [
        people
            .orgs
            .create_team(&id, &team_changes("dev", &[]), &owner(), &by)
            .map(drop),
        people.orgs.delete_team(&id, &ops.id, &owner(), &by),
    ] {
        assert_eq!(refused, Err(TeamError::NotFound));
    }
    let invited = invitation("eve@example.com", &[]);
    let refused = people.orgs.invite_alone(&id, &invited, &owner(), &by);
    assert_eq!(refused, Err(MembershipError::NotFound));
}

#[test]
fn a_workload_belongs_to_a_team_by_its_entity() {
    const ENTITY: &str = "0f6b2c1e-9a41-4c52-8d0e-5f3a7b9c1d2e";
    let (people, store) = people();
    let owners = people.owners();
    let credential = Credential::Entity(ENTITY.to_owned());
    assert_eq!(people.decision(&credential, Action::Show), Decision::Hidden);
    let invited = Invitation {
        email: Attribute::Absent,
        entity_id: text(ENTITY),
        teams: Attribute::Value(vec![owners.id.clone()]),
        active: false,
    };
    let invite = || {
        people
            .orgs
            .invite_alone(people.id(), &invited, &owner(), &installation())
    };
    let commits = store.commits();
    let membership = invite().unwrap();
    assert_eq!(store.commits(), commits + 1);
    assert_eq!(membership.status, MembershipStatus::Active);
    let root = installation().identity;
    let user = people.orgs.find_user(&root, &membership.user);
    let user = user.unwrap().unwrap();
    assert_eq!(user.subject, Some(Subject::Entity(ENTITY.to_owned())));
    assert_eq!(membership.email, user.email);
    assert_eq!(
        people.decision(&credential, Action::Delete),
        Decision::Allowed
    );
    let issues = vec![issue("entity-id", Fault::Taken)];
    assert_eq!(invite(), Err(MembershipError::Invalid(issues)));
    // Elsewhere it is the same user.
    let globex = create(&people.orgs, "globex");
    let elsewhere = Invitation {
        teams: Attribute::Null,
        ..invited.clone()
    };
    let there =
        people
            .orgs
            .invite_alone(&globex.external_id, &elsewhere, &owner(), &installation());
    assert_eq!(there.unwrap().user, membership.user);
    people.remove(&membership.id, &owner()).unwrap();
    assert_eq!(people.decision(&credential, Action::Show), Decision::Hidden);
    invite().unwrap();
    assert_eq!(
        people.decision(&credential, Action::Delete),
        Decision::Allowed
    );
}

#[test]
fn a_request_names_as_many_members_as_one_commit_takes() {
    let (people, store) = people();
    let ops = people.team("ops", &[]);
    let (ada, _) = people.member("ada", &[&ops.id]);
    let before = kept(store);
    let ids = |count| gatehouse_orgs::MemberNames::Memberships(vec![ada.id.clone(); count]);
    let too_many = ids(gatehouse_orgs::MAXIMUM_MEMBERS_AT_ONCE + 1);
    for refused in [
        people.join(&ops.id, &too_many, &owner()),
        people.leave(&ops.id, &too_many, &owner()),
    ] {
        assert_eq!(refused, Err(TeamError::TooManyMembers));
    }
    assert_eq!(kept(store), before);
    let most = ids(gatehouse_orgs::MAXIMUM_MEMBERS_AT_ONCE);
    assert_eq!(people.leave(&ops.id, &most, &owner()), Ok(()));
}

#[test]
fn a_malformed_name_is_nobodys() {
    let (people, _) = people();
    let (dash, _) = people.user("-");
    let by = installation();
    assert_eq!(people.belong(&dash, &[]).user, dash.id);
    let ops = people.team("ops", &[]);
    for (name, expected) in [
        ("a b", Err(TeamError::UnknownMembers(vec![0]))),
        ("-", Ok(())),
    ] {
        let names = gatehouse_orgs::MemberNames::Usernames(vec![name.to_owned()]);
        let joined = people
            .orgs
            .add_to_team(people.id(), &ops.id, &names, &owner(), &by);
        assert_eq!(joined, expected, "{name}");
    }
}
