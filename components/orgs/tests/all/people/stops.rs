//! A stop after every single write leaves the people as they were or as they were to be.

use super::*;

type Failing<'a> = People<&'a FaultyStore<Stored>>;

/// Runs `change` on what `prepare` makes, stopped after 0, 1, 2, ... writes until it comes through, and checks each time what is there:
/// at the stop, and once everything has been cleared away.
fn at_every_stop<T>(
    prepare: impl Fn(&People<Stored>) -> T,
    change: impl Fn(&Failing<'_>, &T),
    check: impl Fn(&People<Stored>, &T),
) {
    for stop in 0..20 {
        let (world, store) = lasting();
        let orgs = world.orgs(store);
        let acme = create(&orgs, "acme");
        let people = People { orgs, acme };
        let prepared = prepare(&people);
        let faulty = FaultyStore::stopping_after(store, stop);
        let failing = world.orgs(&faulty);
        let acme = people.acme.clone();
        change(
            &People {
                orgs: failing,
                acme,
            },
            &prepared,
        );
        check(&people, &prepared);
        people.orgs.maintain().unwrap();
        check(&people, &prepared);
        let left = store.keys();
        let unfinished =
            |key: &&String| key.starts_with("removed-team/") || key.starts_with("accepting/");
        assert_eq!(left.iter().filter(unfinished).count(), 0, "stop {stop}");
        if faulty.commits_left() > 0 {
            return;
        }
    }
    panic!("never came through");
}

#[test]
fn a_team_comes_and_changes_in_one_step() {
    at_every_stop(
        |people| people.team("ops", &[]),
        |people, ops| {
            let by = installation();
            let _ = people
                .orgs
                .create_team(people.id(), &team_changes("dev", &[]), &owner(), &by);
            let changes = team_changes("platform", &[Right::ManageTeams]);
            let _ = people
                .orgs
                .update_team(people.id(), &ops.id, &changes, &owner(), &by);
        },
        |people, ops| {
            let changed = people.read_team(&ops.id);
            assert_eq!(changed.name == "platform", changed.rights.len() == 1);
            let teams = people.teams(&owner()).len();
            assert!(teams == 2 || teams == 3);
        },
    );
}

#[test]
fn a_team_that_goes_lets_everybody_go() {
    at_every_stop(
        |people| {
            let ops = people.team("ops", &[Right::ManageAgentPools]);
            let (_, credential) = people.member("ada", &[&ops.id]);
            (ops, credential)
        },
        |people, (ops, _)| {
            let by = installation();
            let _ = people.orgs.delete_team(people.id(), &ops.id, &owner(), &by);
        },
        |people, (ops, credential)| {
            let team = people.orgs.team_alone(people.id(), &ops.id, &owner());
            let there = team.unwrap().is_some();
            let manages = people.decision(credential, Action::ManageAgentPools);
            assert_eq!(manages == Decision::Allowed, there);
            let member = &people.memberships()[0];
            assert_eq!(!member.teams.is_empty(), there);
            assert_eq!(people.teams(&owner()).len() == 2, there);
        },
    );
}

#[test]
fn members_come_and_go_in_one_step() {
    at_every_stop(
        |people| {
            let ops = people.team("ops", &[]);
            let (ada, _) = people.member("ada", &[]);
            let (bob, _) = people.member("bob", &[]);
            (ops, ada, bob)
        },
        |people, (ops, ada, bob)| {
            let by = installation();
            let both = membership_ids(&[ada, bob]);
            let id = people.id();
            let _ = people.orgs.add_to_team(id, &ops.id, &both, &owner(), &by);
            let _ = people.orgs.remove_membership(id, &ada.id, &owner(), &by);
        },
        |people, (ops, ada, _)| {
            let members = people.read_team(&ops.id).memberships.len();
            let there = people.memberships().iter().any(|found| found.id == ada.id);
            let expected = if there { [0, 2] } else { [1, 1] };
            assert!(expected.contains(&members));
        },
    );
}

#[test]
fn an_invitation_is_accepted_in_one_step() {
    at_every_stop(
        |people| {
            let invited = people.invite("ada@example.com", &[&people.owners().id]);
            let (ada, credential) = people.user("ada");
            (invited.unwrap(), ada, credential)
        },
        |people, (invited, ada, _)| {
            let _ = people.orgs.accept_invitation(&invited.id, &by(ada));
        },
        |people, (invited, _, credential)| {
            let own = people.own_status(credential, &invited.id);
            let is_active = own.unwrap() == MembershipStatus::Active;
            let manages = people.decision(credential, Action::Delete);
            assert_eq!(manages == Decision::Allowed, is_active);
            let owners = people
                .orgs
                .oversee(&[people.id().to_owned()])
                .unwrap()
                .owners;
            assert_eq!(owners[0].len() == 2, is_active);
        },
    );
}
