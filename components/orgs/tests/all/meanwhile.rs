//! An organization gets another name between the two reads that find it by its external id: it is there all the while.

use std::cell::Cell;

use gatehouse_ports::{Change, Check, CommitError, Difference, Entry, HeldKey, Page, StoreError};

use super::site::delete_older;
use super::*;
use gatehouse_orgs::{
    AdministrationChanges, ConsumerChanges, Retention, Sharing, Site, Subscriptions,
};

/// A store in which something happens right after the first time that it tells this key.
struct Meanwhile<'s, S, F> {
    store: &'s S,
    key: String,
    happens: Cell<Option<F>>,
}

impl<S: Store, F: FnOnce()> Meanwhile<'_, S, F> {
    fn told(&self, is_key: impl Fn(&str) -> bool) {
        if is_key(&self.key)
            && let Some(happens) = self.happens.take()
        {
            happens();
        }
    }
}

impl<S: Store, F: FnOnce()> Store for &Meanwhile<'_, S, F> {
    fn get(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        let found = self.store.get(keys);
        self.told(|key| keys.contains(&key));
        found
    }

    fn get_changed(&self, keys: &[HeldKey]) -> Result<Vec<Difference>, StoreError> {
        self.store.get_changed(keys)
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError> {
        self.store.scan(prefix, after, limit)
    }

    fn commit(&self, checks: Vec<Check>, changes: Vec<Change>) -> Result<(), CommitError> {
        self.store.commit(checks, changes)
    }
}

/// Acts on `acme` by its external id, which becomes `zeta` meanwhile, after which there is another `acme`.
fn through_a_rename(act: impl Fn(&dyn EveryRoom, &Organization)) {
    let world = World::new();
    let store = world.store();
    let orgs = world.self_hosted(&store);
    let acme = create(&orgs, "acme");
    let renaming = Meanwhile {
        store: &store,
        key: format!("external/{}", acme.external_id),
        happens: Cell::new(Some(|| {
            orgs.update(&acme.external_id, &rename("zeta"), &installation())
                .unwrap();
            create(&orgs, "acme");
        })),
    };
    act(&world.self_hosted(&renaming), &acme);
    assert!(renaming.happens.take().is_none());
    assert_eq!(read(&orgs, "zeta").unwrap().external_id, acme.external_id);
    assert_ne!(read(&orgs, "acme").unwrap().external_id, acme.external_id);
}

trait EveryRoom: Organizations + Retention + Sharing + Site + Subscriptions {}

impl<T: Organizations + Retention + Sharing + Site + Subscriptions> EveryRoom for T {}

#[test]
fn an_organization_that_is_renamed_meanwhile_is_found() {
    through_a_rename(|orgs, acme| {
        let found = orgs.find(&acme.external_id).unwrap();
        assert_eq!(found.unwrap().name, "zeta");
    });
}

#[test]
fn an_organization_that_is_renamed_meanwhile_gets_its_retention() {
    through_a_rename(|orgs, acme| {
        let request = delete_older(7);
        let set = orgs.set_retention(&acme.external_id, &request, &installation());
        let shown = orgs.find(&acme.external_id).unwrap().unwrap();
        assert_eq!(shown.retention, Some(set.unwrap()));
    });
}

#[test]
fn an_organization_that_is_renamed_meanwhile_shares() {
    through_a_rename(|orgs, acme| {
        let nobody = ConsumerChanges {
            modules: Some(Vec::new()),
            providers: None,
        };
        let shared = orgs.replace_consumers(&acme.external_id, &nobody, &installation());
        assert_eq!(shared, Ok(()));
    });
}

#[test]
fn an_organization_that_is_renamed_meanwhile_is_administered() {
    through_a_rename(|orgs, acme| {
        let changes = AdministrationChanges {
            disabled: Attribute::Value(true),
            ..AdministrationChanges::default()
        };
        let shown = orgs.administer(&acme.external_id, &changes, &installation());
        let shown = shown.unwrap();
        assert_eq!((shown.name.as_str(), shown.disabled), ("zeta", true));
    });
}

#[test]
fn an_organization_that_is_renamed_meanwhile_gets_its_threshold() {
    through_a_rename(|orgs, acme| {
        let threshold = Attribute::Value(7);
        let by = installation();
        let shown = orgs.set_rum_alert_threshold(&acme.external_id, &threshold, &by);
        let shown = shown.unwrap();
        assert_eq!(shown.name, "zeta");
        assert_eq!(shown.subscription.rum_alert_threshold, Some(7));
    });
}

#[test]
fn an_organization_that_is_renamed_meanwhile_is_changed() {
    through_a_rename(|orgs, acme| {
        let changes = OrganizationChanges {
            email: text("new@example.com"),
            ..OrganizationChanges::default()
        };
        let shown = orgs.update(&acme.external_id, &changes, &installation());
        let shown = shown.unwrap();
        assert_eq!(shown.name, "zeta");
        assert_eq!(shown.settings.email, "new@example.com");
    });
}
