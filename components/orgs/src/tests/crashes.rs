//! A stop after every single write leaves the old state or the new one, never half of it.

use std::cell::Cell;
use std::rc::Rc;

use gatehouse_ports::{
    Change, Check, CommitError, Difference, Entry, HeldKey, Page as StorePage, StoreError,
};

use super::*;
use crate::{Plan, SubscriptionTerms, Subscriptions};

/// A store whose power fails after a number of commits: nothing that comes later is stored, or answered.
pub(super) struct FailingStore<'s, S> {
    pub(super) store: &'s S,
    pub(super) commits_left: Rc<Cell<u32>>,
}

impl<S: Store> Store for FailingStore<'_, S> {
    fn get(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        self.store.get(keys)
    }

    fn get_changed(&self, keys: &[HeldKey<'_>]) -> Result<Vec<Difference>, StoreError> {
        self.store.get_changed(keys)
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<StorePage, StoreError> {
        self.store.scan(prefix, after, limit)
    }

    fn commit(&self, checks: Vec<Check>, changes: Vec<Change>) -> Result<(), CommitError> {
        let left = self.commits_left.get();
        if left == 0 {
            let gone = StoreError::Unavailable("power failed".to_owned());
            return Err(CommitError::Failed(gone));
        }
        self.commits_left.set(left - 1);
        self.store.commit(checks, changes)
    }
}

/// What anybody can see: every organization that is there, and whether everything of it hangs together.
fn seen<S: Store>(orgs: &Orgs<S, &ManualClock, &SeededRandom>) -> Vec<Organization> {
    let filter = crate::Filter::default();
    let page = orgs
        .page_at(Edition::Hosted, &crate::Viewer::Everything, &filter, 1, 100)
        .unwrap();
    assert_eq!(page.total, page.organizations.len() as u64);
    for organization in &page.organizations {
        let id = &organization.external_id;
        let by_id = orgs.find(Edition::Hosted, id).unwrap();
        assert_eq!(by_id.as_ref(), Some(organization));
    }
    page.organizations
}

/// Runs `change` on the state that `prepare` makes, stopped after 0, 1, 2, ... writes until it comes through.
fn at_every_stop(
    prepare: impl Fn(&Orgs<&MemoryStore<&ManualClock>, &ManualClock, &SeededRandom>),
    change: impl Fn(&Orgs<FailingStore<'_, MemoryStore<&ManualClock>>, &ManualClock, &SeededRandom>),
    check: impl Fn(&[Organization]),
) {
    for stop in 0..20 {
        let world = World::new();
        let store = world.store();
        let orgs = world.orgs(&store);
        prepare(&orgs);
        let commits_left = Rc::new(Cell::new(stop));
        change(&world.orgs(FailingStore {
            store: &store,
            commits_left: Rc::clone(&commits_left),
        }));
        check(&seen(&orgs));
        // What a stop left lying about is cleared away later, and nothing of it counts meanwhile.
        orgs.maintain().unwrap();
        check(&seen(&orgs));
        let removed = |key: &String| key.starts_with("removed/");
        assert!(!store.keys().iter().any(removed), "stop {stop}");
        if commits_left.get() > 0 {
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
            let _ = orgs.create(Edition::Hosted, &named("acme"), None, &installation());
        },
        |found| assert!(found.len() <= 1),
    );
}

#[test]
fn a_rename_that_is_cut_off_leaves_one_name() {
    at_every_stop(
        |orgs| drop(create(orgs, "acme")),
        |orgs| {
            let _ = orgs.update_named(Edition::Hosted, "acme", &rename("globex"), &installation());
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
            let _ = orgs.set_subscription_terms(Edition::Hosted, id, &terms, &installation());
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
