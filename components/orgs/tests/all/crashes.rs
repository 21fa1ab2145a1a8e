//! A stop after every single write leaves the old state or the new one, never half of it.

use super::*;
use gatehouse_orgs::{Plan, SubscriptionTerms, Subscriptions};

/// The whole that a caller can see: every organization that is there, and whether everything of it hangs together.
fn seen<S: Store>(orgs: &Orgs<S, &ManualClock, &SeededRandom>) -> Vec<Organization> {
    let filter = gatehouse_orgs::Filter::default();
    let page = orgs
        .page_at(&gatehouse_orgs::Viewer::Everything, &filter, 1, 100)
        .unwrap();
    assert_eq!(page.total, page.organizations.len() as u64);
    for organization in &page.organizations {
        let id = &organization.external_id;
        let by_id = orgs.find(id).unwrap();
        assert_eq!(by_id.as_ref(), Some(organization));
    }
    page.organizations
}

/// Runs `change` on the state that `prepare` makes, stopped after 0, 1, 2, ... writes until it comes through.
fn at_every_stop(
    prepare: impl Fn(&Orgs<&MemoryStore<&ManualClock>, &ManualClock, &SeededRandom>),
    change: impl Fn(&Orgs<&FaultyStore<&MemoryStore<&ManualClock>>, &ManualClock, &SeededRandom>),
    check: impl Fn(&[Organization]),
) {
    for stop in 0..20 {
        let world = World::new();
        let store = world.store();
        let orgs = world.orgs(&store);
        prepare(&orgs);
        let faulty = FaultyStore::stopping_after(&store, stop);
        change(&world.orgs(&faulty));
        check(&seen(&orgs));
        // The remains of a stop are cleared away later, and nothing of it counts meanwhile.
        orgs.maintain().unwrap();
        check(&seen(&orgs));
        let removed = |key: &String| key.starts_with("removed/");
        assert!(!store.keys().iter().any(removed), "stop {stop}");
        if faulty.commits_left() > 0 {
            return;
        }
    }
    panic!("never came through");
}

#[test]
fn a_create_that_is_cut_off_makes_everything_or_nothing() {
    at_every_stop(
        |_| {},
        |orgs| {
            let _ = orgs.create(&named("acme"), None, &installation());
        },
        |found| assert!(found.len() <= 1),
    );
}

#[test]
fn a_rename_that_is_cut_off_leaves_one_name() {
    at_every_stop(
        |orgs| drop(create(orgs, "acme")),
        |orgs| {
            let _ = orgs.update_named("acme", &rename("globex"), &installation());
        },
        |found| assert!(matches!(names(found)[..], ["acme"] | ["globex"])),
    );
}

#[test]
fn a_delete_that_is_cut_off_leaves_all_or_nothing_that_counts() {
    at_every_stop(
        |orgs| drop(create(orgs, "acme")),
        |orgs| {
            let _ = orgs.delete_named("acme", &installation());
        },
        |found| assert!(matches!(names(found)[..], ["acme"] | [])),
    );
}

#[test]
fn terms_of_a_subscription_that_are_cut_off_are_set_or_not() {
    at_every_stop(
        |orgs| drop(create(orgs, "acme")),
        |orgs| {
            let acme = read(orgs, "acme").unwrap();
            let business = orgs.feature_sets("Business").remove(0);
            let terms = SubscriptionTerms {
                feature_set: Attribute::Value(business.id),
                runs_ceiling: Attribute::Value(10),
                ..SubscriptionTerms::default()
            };
            let id = &acme.external_id;
            let _ = orgs.set_subscription_terms(id, &terms, &installation());
        },
        |found| {
            let ceiling = found[0].subscription.runs_ceiling;
            assert!(matches!(
                (found[0].plan, ceiling),
                (Plan::Free, None) | (Plan::Business, Some(10))
            ));
        },
    );
}
