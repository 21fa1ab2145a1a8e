//! Many callers at once.

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::thread;

use gatehouse_ports::{OsRandom, SystemClock};

use super::*;
use gatehouse_orgs::{CreateError, Filter, Viewer};

#[test]
fn contract_2_7_of_fifty_simultaneous_creates_of_one_name_exactly_one_succeeds() {
    let store = MemoryStore::new(SystemClock);
    let orgs = Orgs::new(&store, SystemClock, OsRandom).with_edition(Edition::Hosted);
    // The key of hashes is there from then on.
    create(&orgs, "globex");
    orgs.delete_named("globex", &installation()).unwrap();
    let commits = store.commits();
    let start = Barrier::new(50);
    let outcomes: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = (0..50)
            .map(|number| {
                let (orgs, start) = (&orgs, &start);
                scope.spawn(move || {
                    let name = if number % 2 == 0 { "acme" } else { "ACME" };
                    start.wait();
                    orgs.create(&named(name), None, &installation())
                })
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .collect()
    });
    let (made, refused): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    assert_eq!(made.len(), 1);
    for refusal in refused {
        assert_eq!(refusal, Err(CreateError::Invalid(vec![TAKEN])));
    }
    assert_eq!(store.commits(), commits + 1);
    let page = orgs
        .page_at(&Viewer::Everything, &Filter::default(), 1, 20)
        .unwrap();
    assert_eq!((page.organizations.len(), page.total), (1, 1));
}

#[test]
fn simultaneous_creates_of_different_names_all_succeed_and_are_counted() {
    let store = MemoryStore::new(SystemClock);
    let orgs = Orgs::new(&store, SystemClock, OsRandom).with_edition(Edition::Hosted);
    let start = Barrier::new(32);
    thread::scope(|scope| {
        for number in 0..32 {
            let (orgs, start) = (&orgs, &start);
            scope.spawn(move || {
                start.wait();
                let kept = create(orgs, &format!("kept-{number}"));
                let gone = create(orgs, &format!("gone-{number}"));
                assert_ne!(kept.external_id, gone.external_id);
                assert_eq!(orgs.delete_named(&gone.name, &installation()), Ok(true));
            });
        }
    });
    let page = orgs
        .page_at(&Viewer::Everything, &Filter::default(), 1, 100)
        .unwrap();
    assert_eq!((page.organizations.len(), page.total), (32, 32));
}

#[test]
fn contract_2_12_simultaneous_updates_of_different_fields_all_last() {
    let store = MemoryStore::new(SystemClock);
    let orgs = Orgs::new(&store, SystemClock, OsRandom).with_edition(Edition::Hosted);
    create(&orgs, "acme");
    let updates = [
        OrganizationChanges {
            email: text("new@example.com"),
            ..OrganizationChanges::default()
        },
        OrganizationChanges {
            session_timeout: Attribute::Value(60),
            ..OrganizationChanges::default()
        },
        OrganizationChanges {
            stacks_enabled: Attribute::Value(true),
            ..OrganizationChanges::default()
        },
        rename("ACME"),
    ];
    let start = Barrier::new(updates.len());
    thread::scope(|scope| {
        for changes in &updates {
            let (orgs, start) = (&orgs, &start);
            scope.spawn(move || {
                start.wait();
                orgs.update_named("acme", changes, &installation()).unwrap();
            });
        }
    });
    let acme = read(&orgs, "acme").unwrap();
    assert_eq!(acme.name, "ACME");
    assert_eq!(acme.settings.email, "new@example.com");
    assert_eq!(acme.settings.session_timeout, Some(60));
    assert!(acme.settings.stacks_enabled);
}

#[test]
fn of_many_simultaneous_renames_to_one_name_exactly_one_succeeds() {
    let store = MemoryStore::new(SystemClock);
    let orgs = Orgs::new(&store, SystemClock, OsRandom).with_edition(Edition::Hosted);
    for number in 0..16 {
        create(&orgs, &format!("org-{number}"));
    }
    let start = Barrier::new(16);
    let wins: usize = thread::scope(|scope| {
        let workers: Vec<_> = (0..16)
            .map(|number| {
                let (orgs, start) = (&orgs, &start);
                scope.spawn(move || {
                    start.wait();
                    let changes = rename("target");
                    orgs.update_named(&format!("org-{number}"), &changes, &installation())
                        .is_ok()
                })
            })
            .collect();
        let won = workers.into_iter().map(|worker| worker.join().unwrap());
        won.filter(|won| *won).count()
    });
    assert_eq!(wins, 1);
    let listed = orgs
        .list(&Viewer::Everything, &Filter::default(), None, 100)
        .unwrap();
    let distinct: BTreeSet<_> = listed
        .organizations
        .iter()
        .map(|found| &found.external_id)
        .collect();
    assert_eq!((listed.organizations.len(), distinct.len()), (16, 16));
}
