//! Several requests that change the same people at once.

use std::sync::{Barrier, Mutex};
use std::thread;

use gatehouse_ports::{OsRandom, SystemClock};

use super::*;
use gatehouse_orgs::MembershipStatus;

const ROUNDS: usize = 20;

type Racing<'s> = Orgs<&'s MemoryStore<SystemClock>, SystemClock, OsRandom>;

fn user(orgs: &Racing<'_>, username: &str) -> User {
    let description = UserDescription {
        username: username.to_owned(),
        email: format!("{username}@example.com"),
        site_administrator: false,
    };
    orgs.create_user(&description, &installation()).unwrap().0
}

fn all(orgs: &Racing<'_>, id: &str) -> Vec<Membership> {
    let filter = gatehouse_orgs::MembershipFilter::default();
    let page = orgs.list_memberships(id, &filter, Relations::default(), &owner(), 1, 100);
    page.unwrap().memberships
}

fn at_once<T: Send>(actions: Vec<Box<dyn FnOnce() -> T + Send + '_>>) -> Vec<T> {
    let start = Barrier::new(actions.len());
    thread::scope(|scope| {
        let start = &start;
        let workers = actions.into_iter().map(|action| {
            scope.spawn(move || {
                start.wait();
                action()
            })
        });
        let workers: Vec<_> = workers.collect();
        let results = workers.into_iter().map(|worker| worker.join().unwrap());
        results.collect()
    })
}

#[test]
fn of_two_owners_who_leave_at_once_one_stays() {
    for round in 0..ROUNDS {
        let store = MemoryStore::new(SystemClock);
        let orgs: Racing<'_> =
            Orgs::new(&store, SystemClock, OsRandom).with_edition(Edition::Hosted);
        let acme = create(&orgs, "acme").external_id;
        let owners = orgs
            .list_teams(
                &acme,
                &gatehouse_orgs::TeamFilter::default(),
                Relations::default(),
                &owner(),
                1,
                1,
            )
            .unwrap()
            .teams
            .remove(0)
            .id;
        user(&orgs, "ada");
        let invited = Invitation {
            active: true,
            ..invitation("ada@example.com", &[&owners])
        };
        orgs.invite_alone(&acme, &invited, &owner(), &installation())
            .unwrap();
        let members = all(&orgs, &acme);
        let leave = |member: &Membership, removed: bool| {
            let by = installation();
            if removed {
                orgs.remove_membership(&acme, &member.id, &owner(), &by)
                    .is_ok()
            } else {
                let named = membership_ids(&[member]);
                orgs.remove_from_team(&acme, &owners, &named, &owner(), &by)
                    .is_ok()
            }
        };
        let left = at_once(vec![
            Box::new(|| leave(&members[0], round % 2 == 0)),
            Box::new(|| leave(&members[1], round % 3 == 0)),
        ]);
        assert_eq!(left.iter().filter(|left| **left).count(), 1);
        let own = |member: &Membership| member.teams == [owners.clone()];
        let still = all(&orgs, &acme);
        assert_eq!(still.iter().filter(|member| own(member)).count(), 1);
    }
}

#[test]
fn an_invitation_and_a_user_who_come_at_once_find_each_other() {
    for _ in 0..ROUNDS {
        let store = MemoryStore::new(SystemClock);
        let orgs: Racing<'_> =
            Orgs::new(&store, SystemClock, OsRandom).with_edition(Edition::Hosted);
        let acme = create(&orgs, "acme").external_id;
        let invited = invitation("ada@example.com", &[]);
        let ada = Mutex::new(None);
        at_once(vec![
            Box::new(|| *ada.lock().unwrap() = Some(user(&orgs, "ada"))),
            Box::new(|| {
                orgs.invite_alone(&acme, &invited, &owner(), &installation())
                    .unwrap();
            }),
        ]);
        let members = all(&orgs, &acme);
        assert_eq!(members.len(), 2);
        let ada = ada.into_inner().unwrap().unwrap();
        let own = orgs.own_memberships(&by(&ada).identity).unwrap();
        assert_eq!(own.len(), 1);
        assert_eq!(own[0].membership.status, MembershipStatus::Invited);
    }
}

#[test]
fn of_many_who_invite_one_address_at_once_one_does() {
    let store = MemoryStore::new(SystemClock);
    let orgs: Racing<'_> = Orgs::new(&store, SystemClock, OsRandom).with_edition(Edition::Hosted);
    let acme = create(&orgs, "acme").external_id;
    for is_user in [false, true] {
        let name = format!("user-{is_user}");
        if is_user {
            user(&orgs, &name);
        }
        let invited = invitation(&format!("{name}@example.com"), &[]);
        let invite = || {
            orgs.invite_alone(&acme, &invited, &owner(), &installation())
                .is_ok()
        };
        let done = at_once((0..8).map(|_| Box::new(invite) as Box<_>).collect());
        assert_eq!(done.iter().filter(|done| **done).count(), 1);
    }
    assert_eq!(all(&orgs, &acme).len(), 3);
}

#[test]
fn nobody_joins_a_team_that_goes_at_the_same_moment() {
    for _ in 0..ROUNDS {
        let store = MemoryStore::new(SystemClock);
        let orgs: Racing<'_> =
            Orgs::new(&store, SystemClock, OsRandom).with_edition(Edition::Hosted);
        let acme = create(&orgs, "acme").external_id;
        let by = installation();
        let ops = orgs
            .create_team(&acme, &team_changes("ops", &[]), &owner(), &by)
            .unwrap();
        let members = all(&orgs, &acme);
        let named = membership_ids(&[&members[0]]);
        at_once(vec![
            Box::new(|| drop(orgs.add_to_team(&acme, &ops.id, &named, &owner(), &by))),
            Box::new(|| {
                orgs.delete_team(&acme, &ops.id, &owner(), &by).unwrap();
            }),
        ]);
        assert!(!is_named(&&store, &ops.id));
    }
}
