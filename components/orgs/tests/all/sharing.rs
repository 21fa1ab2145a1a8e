//! Producers and consumers in the store (contract 4.4).

use std::sync::Barrier;
use std::thread;

use gatehouse_ports::{OsRandom, SystemClock};

use super::*;
use gatehouse_orgs::{
    AdministrationChanges, ConsumerChanges, Filter, MAXIMUM_CONSUMERS, OrganizationReference,
    ShareError, Shared, Sharing, Site,
};

fn by_name(names: &[&str]) -> Option<Vec<OrganizationReference>> {
    let names = names.iter().map(|name| (*name).to_owned());
    Some(names.map(OrganizationReference::Name).collect())
}

/// The consumers that are to have the modules.
fn modules(names: &[&str]) -> ConsumerChanges {
    ConsumerChanges {
        modules: by_name(names),
        providers: None,
    }
}

fn with_all() -> AdministrationChanges {
    AdministrationChanges {
        global_module_sharing: Attribute::Value(true),
        ..AdministrationChanges::default()
    }
}

fn made<const N: usize>(orgs: &impl Organizations, names: [&str; N]) -> [String; N] {
    names.map(|name| create(orgs, name).external_id)
}

fn share(orgs: &impl Sharing, producer: &str, changes: &ConsumerChanges) -> Result<(), ShareError> {
    orgs.replace_consumers(producer, changes, &installation())
}

fn consumers(orgs: &impl Sharing, producer: &str, shared: Shared) -> Vec<String> {
    let page = orgs.consumers(producer, shared, 1, 100).unwrap();
    assert_eq!(page.total, page.organizations.len() as u64);
    names(&page.organizations)
        .into_iter()
        .map(str::to_owned)
        .collect()
}

fn producers(orgs: &impl Sharing, consumer: &str, shared: Shared) -> Vec<String> {
    let page = orgs.producers(consumer, shared, 1, 100).unwrap();
    assert_eq!(page.total, page.organizations.len() as u64);
    names(&page.organizations)
        .into_iter()
        .map(str::to_owned)
        .collect()
}

/// How many consumers of its modules an organization shows, when it is shown alone and when it is listed.
fn count(orgs: &impl Organizations, name: &str) -> u32 {
    let alone = orgs.read(name).unwrap().unwrap();
    let filter = Filter::default();
    let page = orgs.page_at(&gatehouse_orgs::Viewer::Everything, &filter, 1, 100);
    let listed = page.unwrap().organizations;
    assert!(listed.contains(&alone));
    alone.module_consumers
}

/// The keys of what sharing has stored.
fn keys<C: gatehouse_ports::Clock>(store: &MemoryStore<C>) -> Vec<String> {
    let of_sharing = |key: &String| key.contains("/consumers/") || key.contains("producer/");
    store.keys().into_iter().filter(of_sharing).collect()
}

#[test]
fn contract_4_4_both_ends_know_of_an_edge_in_one_commit() {
    let world = World::new();
    let store = world.store();
    let orgs = world.self_hosted(&store);
    let [acme, beta, gamma] = made(&orgs, ["acme", "beta", "gamma"]);
    let before = store.commits();
    share(&orgs, &acme, &modules(&["gamma", "BETA"])).unwrap();
    assert_eq!(store.commits(), before + 1);
    let mut expected = [
        format!("of/{acme}/consumers/modules"),
        format!("of/{beta}/producer/modules/{acme}"),
        format!("of/{gamma}/producer/modules/{acme}"),
        format!("producer/modules/some/{acme}"),
    ];
    expected.sort();
    assert_eq!(keys(&store), expected);
    assert_eq!(consumers(&orgs, &acme, Shared::Modules), ["beta", "gamma"]);
    assert_eq!(consumers(&orgs, &acme, Shared::Providers), [""; 0]);
    assert_eq!(producers(&orgs, &beta, Shared::Modules), ["acme"]);
    assert_eq!(count(&orgs, "acme"), 2);
    share(&orgs, &acme, &modules(&[])).unwrap();
    assert_eq!(keys(&store), [""; 0]);
    assert_eq!(count(&orgs, "acme"), 0);
}

#[test]
fn contract_4_4_naming_the_same_again_writes_nothing() {
    let world = World::new();
    let store = world.store();
    let orgs = world.self_hosted(&store);
    let [acme, _] = made(&orgs, ["acme", "beta"]);
    share(&orgs, &acme, &modules(&["beta"])).unwrap();
    let partnership = orgs.module_partnerships(&acme).unwrap();
    let before = store.commits();
    share(&orgs, &acme, &modules(&["beta", "acme", "Beta"])).unwrap();
    assert_eq!(store.commits(), before);
    assert_eq!(orgs.module_partnerships(&acme).unwrap(), partnership);
}

#[test]
fn contract_4_4_unknown_and_too_many_consumers_change_nothing() {
    let world = World::new();
    let store = world.store();
    let orgs = world.self_hosted(&store);
    let [acme, _] = made(&orgs, ["acme", "beta"]);
    share(&orgs, &acme, &modules(&["beta"])).unwrap();
    let before = store.values();
    let unknown = ConsumerChanges {
        modules: by_name(&["beta", "none", "not a name"]),
        providers: Some(vec![OrganizationReference::ExternalId("org-x".to_owned())]),
    };
    let expected = ["none", "not a name", "org-x"].map(str::to_owned).to_vec();
    assert_eq!(
        share(&orgs, &acme, &unknown),
        Err(ShareError::UnknownOrganizations(expected))
    );
    let many = vec!["beta"; MAXIMUM_CONSUMERS as usize + 1];
    assert_eq!(
        share(&orgs, &acme, &modules(&many)),
        Err(ShareError::TooMany(MAXIMUM_CONSUMERS))
    );
    assert_eq!(
        share(&orgs, "org-AAAAAAAAAAAAAAAA", &modules(&["beta"])),
        Err(ShareError::NotFound)
    );
    assert_eq!(store.values(), before);
}

#[test]
fn contract_4_4_one_commit_replaces_the_most_consumers_of_both_by_as_many_others() {
    let world = World::new();
    let store = world.store();
    let orgs = world.self_hosted(&store);
    let acme = create(&orgs, "acme").external_id;
    let most = MAXIMUM_CONSUMERS as usize;
    let all: Vec<String> = (0..2 * most)
        .map(|number| format!("n{number:03}"))
        .collect();
    for name in &all {
        create(&orgs, name);
    }
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    for half in [&all[..most], &all[most..]] {
        let both = ConsumerChanges {
            modules: by_name(half),
            providers: by_name(half),
        };
        let before = store.commits();
        share(&orgs, &acme, &both).unwrap();
        assert_eq!(store.commits(), before + 1);
        let page = orgs.consumers(&acme, Shared::Providers, 3, 100).unwrap();
        assert_eq!(page.total, most as u64);
        assert_eq!(names(&page.organizations), half[200..]);
    }
    assert_eq!(orgs.delete_named("acme", &installation()), Ok(true));
    assert_eq!(keys(&store), [""; 0]);
}

#[test]
fn contract_4_4_edges_follow_renames_of_both_ends() {
    let world = World::new();
    let store = world.store();
    let orgs = world.self_hosted(&store);
    let [acme, beta, _] = made(&orgs, ["acme", "beta", "gamma"]);
    share(&orgs, &acme, &modules(&["beta", "gamma"])).unwrap();
    for (old, new) in [("acme", "zeta"), ("beta", "omega")] {
        orgs.update_named(old, &rename(new), &installation())
            .unwrap();
    }
    assert_eq!(consumers(&orgs, &acme, Shared::Modules), ["gamma", "omega"]);
    assert_eq!(producers(&orgs, &beta, Shared::Modules), ["zeta"]);
    assert_eq!(count(&orgs, "zeta"), 2);
}

#[test]
fn contract_4_4_a_consumer_that_is_gone_does_not_count_and_is_cleared_away() {
    let world = World::new();
    let store = world.store();
    let orgs = world.self_hosted(&store);
    let [acme, _, _] = made(&orgs, ["acme", "beta", "gamma"]);
    share(&orgs, &acme, &modules(&["beta", "gamma"])).unwrap();
    // The power fails right after the delete itself.
    let faulty = FaultyStore::stopping_after(&store, 1);
    let failing = world.self_hosted(&faulty);
    assert_eq!(failing.delete_named("beta", &installation()), Ok(true));
    for _ in 0..2 {
        assert_eq!(consumers(&orgs, &acme, Shared::Modules), ["gamma"]);
        assert_eq!(count(&orgs, "acme"), 1);
        assert_eq!(orgs.module_partnerships(&acme).unwrap().len(), 1);
        orgs.maintain().unwrap();
    }
    let edges = keys(&store);
    assert_eq!(
        edges
            .iter()
            .filter(|key| key.contains("/producer/"))
            .count(),
        1
    );
    let again = create(&orgs, "beta").external_id;
    assert_eq!(producers(&orgs, &again, Shared::Modules), [""; 0]);
    assert_eq!(count(&orgs, "acme"), 1);
}

#[test]
fn contract_4_4_who_has_only_consumers_that_are_gone_is_no_producer() {
    let world = World::new();
    let store = world.store();
    let orgs = world.self_hosted(&store);
    let [acme, _, zeta] = made(&orgs, ["acme", "beta", "zeta"]);
    let both = ConsumerChanges {
        modules: by_name(&["beta"]),
        providers: by_name(&["beta", "acme"]),
    };
    share(&orgs, &acme, &both).unwrap();
    share(&orgs, &zeta, &both).unwrap();
    assert_eq!(orgs.delete_named("beta", &installation()), Ok(true));
    let mut expected = [
        format!("of/{acme}/producer/providers/{zeta}"),
        format!("of/{zeta}/consumers/providers"),
        format!("producer/providers/some/{zeta}"),
    ];
    expected.sort();
    assert_eq!(keys(&store), expected);
    let stored = |name: &str| {
        let record = stored_record(&store, &format!("organization/{name}"));
        let count = |field| record.get(field).map_or(0, |count| count.as_u64().unwrap());
        (count("module_consumers"), count("provider_consumers"))
    };
    assert_eq!((stored("acme"), stored("zeta")), ((0, 0), (0, 1)));
    let all = orgs.all_producers(&[Shared::Providers], &Filter::default(), 1, 20);
    assert_eq!(names(&all.unwrap().organizations), ["zeta"]);
}

#[test]
fn contract_4_4_a_producer_that_is_gone_does_not_count_and_is_cleared_away() {
    let world = World::new();
    let store = world.store();
    let orgs = world.self_hosted(&store);
    let [acme, beta, gamma] = made(&orgs, ["acme", "beta", "gamma"]);
    share(&orgs, &acme, &modules(&["beta"])).unwrap();
    orgs.administer(&gamma, &with_all(), &installation())
        .unwrap();
    assert_eq!(producers(&orgs, &beta, Shared::Modules), ["acme", "gamma"]);
    for name in ["acme", "gamma"] {
        let faulty = FaultyStore::stopping_after(&store, 1);
        let failing = world.self_hosted(&faulty);
        assert_eq!(failing.delete_named(name, &installation()), Ok(true));
    }
    assert_eq!(producers(&orgs, &beta, Shared::Modules), [""; 0]);
    let all = orgs.all_producers(&[Shared::Modules], &Filter::default(), 1, 20);
    assert_eq!(all.unwrap().total, 0);
    orgs.maintain().unwrap();
    assert_eq!(keys(&store), [""; 0]);
}

#[test]
fn contract_4_4_disabled_producers_are_neither_shown_nor_counted_to_consumers() {
    let world = World::new();
    let store = world.store();
    let orgs = world.self_hosted(&store);
    let [acme, beta, gamma] = made(&orgs, ["acme", "beta", "gamma"]);
    share(&orgs, &acme, &modules(&["beta"])).unwrap();
    orgs.administer(&gamma, &with_all(), &installation())
        .unwrap();
    for (disabled, expected) in [(true, &["acme"][..]), (false, &["acme", "gamma"])] {
        let changes = AdministrationChanges {
            disabled: Attribute::Value(disabled),
            ..AdministrationChanges::default()
        };
        orgs.administer(&gamma, &changes, &installation()).unwrap();
        assert_eq!(producers(&orgs, &beta, Shared::Modules), expected);
        // Site administrators see all producers.
        let all = orgs.all_producers(&[Shared::Modules], &Filter::default(), 1, 20);
        assert_eq!(names(&all.unwrap().organizations), ["acme", "gamma"]);
    }
}

/// Runs `change` on an organization that shares with one other, stopped after 0, 1, 2, ... writes until it comes through, and
/// tells what `acme` shares then.
fn at_every_stop(
    change: impl Fn(&Orgs<&FaultyStore<&MemoryStore<&ManualClock>>, &ManualClock, &SeededRandom>, &str),
    check: impl Fn(&Organization, &[String]),
) {
    for stop in 0..20 {
        let world = World::new();
        let store = world.store();
        let orgs = world.self_hosted(&store);
        let [acme, beta, gamma, delta] = made(&orgs, ["acme", "beta", "gamma", "delta"]);
        share(&orgs, &acme, &modules(&["beta", "delta"])).unwrap();
        let faulty = FaultyStore::stopping_after(&store, stop);
        let failing = world.self_hosted(&faulty);
        change(&failing, &acme);
        let shown = orgs.read("acme").unwrap().unwrap();
        let named = consumers(&orgs, &acme, Shared::Modules);
        assert_eq!(shown.module_consumers as usize, named.len());
        for (id, name) in [(beta, "beta"), (gamma, "gamma"), (delta, "delta")] {
            let wanted = shown.global_module_sharing || named.contains(&name.to_owned());
            let found = producers(&orgs, &id, Shared::Modules);
            assert_eq!(found.contains(&"acme".to_owned()), wanted, "{name}");
        }
        check(&shown, &named);
        if faulty.commits_left() > 0 {
            return;
        }
    }
    panic!("never came through");
}

#[test]
fn a_replacement_of_consumers_that_is_cut_off_leaves_the_old_set_or_the_new_one() {
    at_every_stop(
        |orgs, acme| drop(share(orgs, acme, &modules(&["gamma", "delta"]))),
        |shown, named| {
            assert!(!shown.global_module_sharing);
            assert!(named == ["beta", "delta"] || named == ["delta", "gamma"]);
        },
    );
}

#[test]
fn a_switch_to_sharing_with_all_that_is_cut_off_leaves_either() {
    at_every_stop(
        |orgs, acme| drop(orgs.administer(acme, &with_all(), &installation())),
        |shown, named| assert_eq!(named.is_empty(), shown.global_module_sharing),
    );
}

#[test]
fn simultaneous_replacements_leave_one_of_the_sets_and_nothing_of_the_others() {
    let store = MemoryStore::new(SystemClock);
    let orgs = Orgs::new(&store, SystemClock, OsRandom);
    let acme = create(&orgs, "acme").external_id;
    let all: Vec<String> = (0..8).map(|number| format!("n{number}")).collect();
    for name in &all {
        create(&orgs, name);
    }
    let start = Barrier::new(8);
    thread::scope(|scope| {
        for name in &all {
            let (orgs, acme, start) = (&orgs, &acme, &start);
            scope.spawn(move || {
                start.wait();
                share(orgs, acme, &modules(&[name])).unwrap();
            });
        }
    });
    let last = consumers(&orgs, &acme, Shared::Modules);
    assert_eq!(last.len(), 1);
    assert_eq!(keys(&store).len(), 3);
}

#[test]
fn consumers_that_vanish_while_they_are_named_leave_nothing_lying_about() {
    let store = MemoryStore::new(SystemClock);
    let orgs = Orgs::new(&store, SystemClock, OsRandom);
    let acme = create(&orgs, "acme").external_id;
    for round in 0..20 {
        let name = format!("n{round}");
        create(&orgs, &name);
        let start = Barrier::new(2);
        thread::scope(|scope| {
            scope.spawn(|| {
                start.wait();
                let _ = share(&orgs, &acme, &modules(&[&name]));
            });
            scope.spawn(|| {
                start.wait();
                orgs.delete_named(&name, &installation()).unwrap();
            });
        });
        orgs.maintain().unwrap();
        let edges = keys(&store);
        assert!(
            !edges.iter().any(|key| key.contains("/producer/")),
            "{edges:?}"
        );
        assert_eq!(count(&orgs, "acme"), 0);
    }
}

#[test]
fn counting_costs_nothing_where_nobody_is_named() {
    let world = World::new();
    let store = world.store();
    let orgs = world.self_hosted(&store);
    let [acme, _] = made(&orgs, ["acme", "beta"]);
    let reads = || {
        let counting = CountingStore::new(&store);
        world.self_hosted(&counting).read("acme").unwrap();
        counting.take_counts().reads()
    };
    // The organization, and the installation's retention.
    assert_eq!(reads(), 2);
    share(&orgs, &acme, &modules(&["beta"])).unwrap();
    assert_eq!(reads(), 4);
    share(&orgs, &acme, &modules(&[])).unwrap();
    assert_eq!(reads(), 2);
}
