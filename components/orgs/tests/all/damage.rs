//! Records that cannot be read keep upkeep from nothing but themselves.

use gatehouse_storage::{Record, Records, Transaction};

use super::*;
use gatehouse_orgs::{AuditTrail, ServiceError};

/// A form that no record is stored in.
#[derive(serde::Serialize, serde::Deserialize)]
struct Garbage {}

impl Record for Garbage {
    const SCHEMA: u16 = u16::MAX;
}

fn damage(store: &MemoryStore<&ManualClock>, key: &str) {
    let mut transaction = Transaction::new();
    transaction.put(key, &Garbage {}).unwrap();
    Records::new(store).commit(transaction).unwrap();
}

#[test]
fn what_is_damaged_of_one_organization_keeps_no_other_from_being_cleared_away() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let names = ["acme", "globex", "initech"];
    let mut ids: Vec<String> = names
        .iter()
        .map(|name| create(&orgs, name).external_id)
        .collect();
    for name in names {
        let faulty = FaultyStore::stopping_after(&store, 1);
        let before_sweep = world.orgs(&faulty);
        assert_eq!(before_sweep.delete_named(name, &installation()), Ok(true));
    }
    ids.sort_unstable();
    damage(&store, &format!("of/{}/invited/x", ids[0]));
    damage(&store, "removed-team/team-0123456789abcdef");
    assert!(matches!(orgs.maintain(), Err(ServiceError::Damaged(_))));
    let left = store.keys().into_iter();
    let left: Vec<String> = left.filter(|key| key.starts_with("removed")).collect();
    assert_eq!(
        left,
        [
            "removed-team/team-0123456789abcdef".to_owned(),
            format!("removed/{}", ids[0]),
        ]
    );
    for id in &ids[1..] {
        let prefix = format!("of/{id}/");
        assert!(!store.keys().iter().any(|key| key.starts_with(&prefix)));
    }
    let pending = |key: &String| key.starts_with("directory/pending/");
    assert!(!store.keys().iter().any(pending));
}

#[test]
fn what_is_damaged_holds_no_other_record_of_what_was_done_back() {
    let world = World::new();
    let store = world.store();
    let orgs = world.self_hosted(&store);
    let acme = create(&orgs, "acme").external_id;
    damage(&store, &format!("event/{acme}/0"));
    let waiting = orgs.waiting_events().unwrap();
    let organizations: Vec<_> = waiting
        .iter()
        .map(|event| event.organization.as_deref())
        .collect();
    assert_eq!(organizations, [Some(acme.as_str())]);
    orgs.forget_events(&waiting).unwrap();
    assert!(matches!(
        orgs.waiting_events(),
        Err(ServiceError::Damaged(_))
    ));
}
