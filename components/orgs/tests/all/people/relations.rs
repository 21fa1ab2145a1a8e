//! The resources that answers about teams and memberships tell with them (contract 4.10, 4.11).

use super::*;
use gatehouse_orgs::TeamFilter;

const ALL: Relations = Relations {
    users: true,
    teams: true,
    memberships: true,
};

fn usernames_of(users: &[User]) -> Vec<&str> {
    users.iter().map(|user| user.username.as_str()).collect()
}

#[test]
fn contract_4_10_a_team_comes_with_its_users_and_its_memberships() {
    let (people, _) = people();
    let ops = people.team("ops", &[]);
    let (active, _) = people.member("ada", &[&ops.id]);
    let invited = people.invite("bob@example.com", &[&ops.id]).unwrap();

    let found = people.orgs.read_team(people.id(), &ops.id, ALL, &owner());
    let found = found.unwrap().unwrap();
    assert_eq!(found.team.id, ops.id);
    assert_eq!(usernames_of(&found.related.users), ["ada"]);
    assert_eq!(found.related.memberships, [active.clone(), invited.clone()]);
    assert_eq!(found.related.teams, []);

    let filter = TeamFilter {
        names: vec!["ops".to_owned()],
        text: None,
    };
    let page = people
        .orgs
        .list_teams(people.id(), &filter, ALL, &owner(), 1, 20)
        .unwrap();
    assert_eq!(page.related, found.related);
    let alone = people
        .orgs
        .list_teams(people.id(), &filter, Relations::default(), &owner(), 1, 20);
    assert_eq!(alone.unwrap().related, Related::default());
}

#[test]
fn contract_4_10_members_of_a_team_come_in_pages_of_users_or_of_memberships() {
    let (people, _) = people();
    let ops = people.team("ops", &[]);
    let mut memberships = Vec::new();
    for name in ["ada", "bob", "cyd"] {
        memberships.push(people.member(name, &[&ops.id]).0);
    }
    people.invite("dan@example.com", &[&ops.id]).unwrap();
    let page = |wanted, number, size| {
        let id = people.id();
        let found = people
            .orgs
            .list_team_members(id, &ops.id, wanted, &owner(), number, size);
        found.unwrap().unwrap()
    };
    let users = Relations {
        users: true,
        ..Relations::default()
    };
    let found = page(users, 2, 2);
    assert_eq!(usernames_of(&found.members.users), ["cyd"]);
    assert_eq!((found.members.memberships.len(), found.total), (0, 3));
    let of_memberships = Relations {
        memberships: true,
        ..Relations::default()
    };
    let found = page(of_memberships, 1, 3);
    assert_eq!(found.members.memberships, memberships);
    assert_eq!((found.members.users.len(), found.total), (0, 4));
    assert_eq!(page(users, 9, 2).members, Related::default());

    let none = people
        .orgs
        .list_team_members(people.id(), "team-0", users, &owner(), 1, 20);
    assert_eq!(none, Ok(None));
}

#[test]
fn contract_4_11_a_membership_comes_with_its_user_and_the_teams_that_the_caller_sees() {
    let (people, _) = people();
    let team = |name: &str, visibility: &str| {
        let changes = TeamChanges {
            visibility: text(visibility),
            ..team_changes(name, &[])
        };
        people.create_team(&changes, &owner()).unwrap()
    };
    let (open, secret) = (team("open", "organization"), team("secret", "secret"));
    let (membership, _) = people.member("ada", &[&open.id, &secret.id]);
    let related = |scope: &DelegationScope| {
        let id = people.id();
        let found = people.orgs.read_membership(id, &membership.id, ALL, scope);
        found.unwrap().unwrap().related
    };
    let names =
        |teams: &[Team]| -> Vec<String> { teams.iter().map(|team| team.name.clone()).collect() };
    let found = related(&owner());
    assert_eq!(usernames_of(&found.users), ["ada"]);
    assert_eq!(names(&found.teams), ["open", "secret"]);
    assert_eq!(found.memberships, []);
    assert_eq!(names(&related(&member_with(&[])).teams), ["open"]);

    let invited = invitation("bob@example.com", &[]);
    let made = people
        .orgs
        .invite(people.id(), &invited, ALL, &owner(), &installation());
    // An invited user has no name yet, and may have no account.
    assert_eq!(made.unwrap().related.users, []);
}
