//! Events of the audit trail, written in the same commit as the change that they tell (contract 4.15).

use std::time::Duration;

use super::AuditedOperations as _;
use crate::world::*;
use crate::{
    AuditTrail, Event, MAXIMUM_EVENTS, MAXIMUM_EVENTS_COUNTED, Resource, TokenOwner, TokenRequest,
    Tokens, UserDescription, Users,
};

fn all(orgs: &impl AuditTrail, organization: &str) -> Vec<Event> {
    orgs.events(organization, 0, 1, MAXIMUM_EVENTS)
        .unwrap()
        .events
}

fn told(events: &[Event]) -> Vec<(&str, &str)> {
    events
        .iter()
        .map(|event| (event.resource.as_str(), event.operation.as_str()))
        .collect()
}

#[test]
fn contract_4_15_what_is_done_with_an_organization_is_told_in_order() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let id = acme.external_id.as_str();
    let owner = TokenOwner::Organization(id.to_owned());
    let by = installation();
    let next = || world.clock.advance(Duration::from_millis(1));
    next();
    orgs.update_named("acme", &rename("globex"), &by).unwrap();
    next();
    // A change that changes nothing is no event.
    orgs.update_named("globex", &rename("globex"), &by).unwrap();
    let token = orgs
        .issue_token(&owner, &TokenRequest::default(), &by)
        .unwrap();
    next();
    orgs.token_of(&owner, &by).unwrap();
    next();
    orgs.revoke_token_of(&owner, &by).unwrap();
    next();
    orgs.delete_named("globex", &by).unwrap();
    let events = all(&orgs, id);
    assert_eq!(
        told(&events),
        [
            ("organization", "create"),
            ("organization", "update"),
            ("authentication_token", "create"),
            ("authentication_token", "show"),
            ("authentication_token", "destroy"),
            ("organization", "destroy"),
        ]
    );
    for event in &events {
        assert_eq!(event.organization.as_deref(), Some(id));
        assert_eq!(event.actor_id, "installation");
        assert_eq!(event.request_id, "request");
        assert_eq!(event.id.len(), 36);
        assert_eq!(event.id.as_bytes()[14], b'4');
    }
    assert_eq!(events[0].resource_id, id);
    assert_eq!(events[0].occurred_at, NOW * 1000);
    assert_eq!(events[2].resource_id, token.token.id);
    let secret = &token.secret[..14];
    assert!(!format!("{events:?}").contains(secret));
}

#[test]
fn a_replaced_token_is_told_of_as_removed() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let owner = TokenOwner::Organization(acme.external_id.clone());
    for _ in 0..2 {
        orgs.issue_token(&owner, &TokenRequest::default(), &installation())
            .unwrap();
    }
    let events = all(&orgs, &acme.external_id);
    let mut told = told(&events);
    told.sort_unstable();
    assert_eq!(
        told,
        [
            ("authentication_token", "create"),
            ("authentication_token", "create"),
            ("authentication_token", "destroy"),
            ("organization", "create"),
        ]
    );
}

#[test]
fn contract_4_15_records_are_read_from_a_moment_on_and_in_pages() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme").external_id;
    create(&orgs, "acme-2");
    let owner = TokenOwner::Organization(acme.clone());
    orgs.issue_token(&owner, &TokenRequest::default(), &installation())
        .unwrap();
    for _ in 0..10 {
        world.clock.advance(Duration::from_secs(1));
        orgs.token_of(&owner, &installation()).unwrap();
    }
    let page = |since, number, size| orgs.events(&acme, since, number, size).unwrap();
    assert_eq!(page(0, 1, 1000).total, 12);
    let last = (NOW + 10) * 1000;
    assert_eq!(page(last, 1, 1000).total, 1);
    assert_eq!(page(last + 1, 1, 1000).total, 0);
    let second = page(0, 2, 5);
    assert_eq!((second.events.len(), second.total), (5, 12));
    assert_eq!(second.events, all(&orgs, &acme)[5..10]);
    assert_eq!(page(0, 4, 5).events, []);
    assert_eq!(page(0, 0, 0).events.len(), 1);
    assert_eq!(page(0, u32::MAX, u32::MAX).events, []);
}

#[test]
fn contract_4_15_records_stay_for_fourteen_days() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme").external_id;
    let days = |days: u64| Duration::from_secs(days * 24 * 60 * 60);
    world.clock.advance(days(14) - Duration::from_millis(1));
    assert_eq!(all(&orgs, &acme).len(), 1);
    world.clock.advance(Duration::from_millis(1));
    assert_eq!(all(&orgs, &acme).len(), 0);
}

#[test]
fn section_7_who_takes_records_over_is_told_each_until_they_say_so() {
    let world = World::new();
    let store = world.store();
    let orgs = world.self_hosted(&store);
    let acme = create(&orgs, "acme").external_id;
    let ada = UserDescription {
        username: "ada".to_owned(),
        email: "ada@example.com".to_owned(),
        site_administrator: false,
    };
    orgs.create_user(&ada, &installation()).unwrap();
    let waiting = orgs.waiting_events().unwrap();
    assert_eq!(orgs.waiting_events(), Ok(waiting.clone()));
    let mut told = told(&waiting);
    told.sort_unstable();
    assert_eq!(
        told,
        [
            ("authentication_token", "create"),
            ("organization", "create"),
            ("user", "create"),
        ]
    );
    let organizations: Vec<_> = waiting
        .iter()
        .filter_map(|event| event.organization.clone())
        .collect();
    assert_eq!(organizations, [acme]);
    // In the hosted edition organizations read their own.
    let of_installation = world.orgs(&store).waiting_events().unwrap();
    assert_eq!(of_installation.len(), 2);
    let is_here = |event: &Event| event.organization.is_none() && waiting.contains(event);
    assert!(of_installation.iter().all(is_here));
    orgs.forget_events(&waiting).unwrap();
    assert_eq!(orgs.waiting_events(), Ok(Vec::new()));
    assert!(!store.keys().iter().any(|key| key.starts_with("event/")));
    orgs.forget_events(&waiting).unwrap();
    orgs.forget_events(&[]).unwrap();
}

#[test]
fn of_very_many_records_pages_reach_the_first_and_a_later_moment_the_others() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme").external_id;
    world.clock.advance(Duration::from_secs(1));
    for _ in 0..MAXIMUM_EVENTS_COUNTED / u64::from(MAXIMUM_EVENTS) {
        let mut transaction = gatehouse_storage::Transaction::new();
        for _ in 0..MAXIMUM_EVENTS {
            let audited = Resource::Organization.updated(&acme);
            orgs.note(&mut transaction, &acme, &installation(), audited)
                .unwrap();
        }
        orgs.commit_unconditionally(transaction).unwrap();
    }
    world.clock.advance(Duration::from_secs(1));
    orgs.delete_named("acme", &installation()).unwrap();
    let counted = CountingStore::new(&store);
    let counting = world.orgs(&counted);
    let page = counting.events(&acme, 0, 1, 1).unwrap();
    assert_eq!(page.total, MAXIMUM_EVENTS_COUNTED);
    let scans = MAXIMUM_EVENTS_COUNTED / u64::from(MAXIMUM_EVENTS);
    assert_eq!(counted.take_counts().reads() as u64, scans);
    let last = orgs.events(&acme, (NOW + 2) * 1000, 1, 1).unwrap();
    assert_eq!(told(&last.events), [("organization", "destroy")]);
}
