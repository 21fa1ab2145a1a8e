//! Subscriptions: terms, what follows from them, and their end (contract 4.2).

use std::time::Duration;

use gatehouse_ports::{OsRandom, SystemClock};

use super::*;
use gatehouse_orgs::{
    AuditTrail, Authority, Caller, FeatureSet, Operation, Plan, Resource, SubscriptionError,
    SubscriptionTerms, Subscriptions,
};

const NOW_MILLISECONDS: u64 = NOW * 1000;
const HOUR: u64 = 3_600_000;

fn feature_set(orgs: &impl Subscriptions, name: &str) -> FeatureSet {
    orgs.feature_sets(name).remove(0)
}

fn terms(orgs: &impl Subscriptions, name: &str) -> SubscriptionTerms {
    SubscriptionTerms {
        feature_set: Attribute::Value(feature_set(orgs, name).id),
        ..SubscriptionTerms::default()
    }
}

fn number(value: u64) -> Attribute<i64> {
    Attribute::Value(i64::try_from(value).unwrap())
}

fn subscribe(
    orgs: &impl Subscriptions,
    external_id: &str,
    terms: &SubscriptionTerms,
) -> Result<Organization, Vec<(String, Fault)>> {
    issues_of(orgs.set_subscription_terms(external_id, terms, &installation()))
}

fn set_threshold(
    orgs: &impl Subscriptions,
    external_id: &str,
    threshold: &Attribute<i64>,
) -> Result<Organization, Vec<(String, Fault)>> {
    let by: &Caller = &installation();
    issues_of(orgs.set_rum_alert_threshold(external_id, threshold, by))
}

fn issues_of(
    outcome: Result<Organization, SubscriptionError>,
) -> Result<Organization, Vec<(String, Fault)>> {
    outcome.map_err(|error| match error {
        SubscriptionError::Invalid(issues) => issues
            .into_iter()
            .map(|issue| (issue.attribute, issue.fault))
            .collect(),
        other => panic!("{other:?}"),
    })
}

#[test]
fn contract_4_2_a_new_organization_has_a_free_subscription_of_its_own() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let subscription = &acme.subscription;
    assert!(subscription.id.starts_with("sub-"));
    assert_eq!(subscription.id.len(), 20);
    assert_eq!((acme.plan, subscription.plan), (Plan::Free, Plan::Free));
    assert!(subscription.active);
    assert_eq!(subscription.start_at, acme.created_at);
    assert_eq!(subscription.end_at, None);
    let other = create(&orgs, "globex").subscription;
    assert_ne!(other.id, subscription.id);
    orgs.update_named("acme", &rename("initech"), &installation())
        .unwrap();
    assert_eq!(read(&orgs, "initech").unwrap().subscription, *subscription);
    let owner = orgs.organization_of(&subscription.id).unwrap();
    let owner = owner.map(|owner| owner.name);
    assert_eq!(owner.as_deref(), Some("initech"));
    orgs.delete_named("initech", &installation()).unwrap();
    assert_eq!(orgs.organization_of(&subscription.id).unwrap(), None);
    assert!(!store.keys().contains(&format!("whose/{}", subscription.id)));
}

#[test]
fn contract_4_2_terms_take_effect_at_once_and_replace_the_ones_before() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let other = create(&orgs, "globex");
    world.clock.advance(Duration::from_secs(60));
    let wanted = SubscriptionTerms {
        runs_ceiling: number(10),
        agents_ceiling: number(0),
        contract_start_at: number(NOW_MILLISECONDS),
        contract_user_limit: number(1000),
        contract_apply_limit: number(5000),
        contract_managed_resources_limit: number(2_147_483_647),
        end_at: Attribute::Null,
        ..terms(&orgs, "Business")
    };
    let found = subscribe(&orgs, &acme.external_id, &wanted).unwrap();
    assert_eq!(read(&orgs, "ACME"), Some(found.clone()));
    assert_eq!(found.plan, Plan::Business);
    let subscription = &found.subscription;
    assert_eq!(subscription.id, acme.subscription.id);
    assert_eq!(subscription.start_at, NOW_MILLISECONDS + 60_000);
    assert_eq!(subscription.contract_start_at, Some(NOW_MILLISECONDS));
    assert_eq!(
        [
            subscription.runs_ceiling,
            subscription.agents_ceiling,
            subscription.contract_user_limit,
            subscription.contract_apply_limit,
            subscription.contract_managed_resources_limit,
            subscription.rum_alert_threshold,
        ],
        [
            Some(10),
            Some(0),
            Some(1000),
            Some(5000),
            Some(2_147_483_647),
            None
        ]
    );
    let later = subscribe(&orgs, &acme.external_id, &terms(&orgs, "Free")).unwrap();
    assert_eq!(later.plan, Plan::Free);
    assert_eq!(later.subscription.runs_ceiling, None);
    assert_eq!(later.subscription.contract_start_at, None);
    assert_eq!(read(&orgs, "globex"), Some(other));
}

#[test]
fn contract_2_3_terms_end_by_the_clock_and_leave_the_free_plan() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let wanted = SubscriptionTerms {
        end_at: number(NOW_MILLISECONDS + HOUR),
        ..terms(&orgs, "Premium")
    };
    subscribe(&orgs, &acme.external_id, &wanted).unwrap();
    let first_page = || {
        let filter = gatehouse_orgs::Filter::default();
        let everything = &gatehouse_orgs::Viewer::Everything;
        orgs.page_at(everything, &filter, 1, 20).unwrap()
    };
    // The first page makes the directory.
    assert_eq!(first_page().total, 1);
    let commits = store.commits();
    world.clock.advance(Duration::from_millis(HOUR - 1));
    let before = read(&orgs, "acme").unwrap();
    assert_eq!(
        (before.plan, before.subscription.active),
        (Plan::Premium, true)
    );
    world.clock.advance(Duration::from_millis(1));
    let after = read(&orgs, "acme").unwrap();
    assert_eq!((after.plan, after.subscription.active), (Plan::Free, false));
    assert_eq!(after.subscription.plan, Plan::Premium);
    assert_eq!(after.subscription.end_at, Some(NOW_MILLISECONDS + HOUR));
    assert_eq!(first_page().organizations, [after]);
    assert_eq!(store.commits(), commits);
}

#[test]
fn contract_4_2_in_the_self_hosted_edition_the_plan_stays_whatever_the_terms() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let wanted = terms(&orgs, "Standard (entitlement)");
    let found = world
        .self_hosted(&store)
        .set_subscription_terms(&acme.external_id, &wanted, &installation())
        .unwrap();
    assert_eq!(found.plan, Plan::Enterprise);
    assert_eq!(found.subscription.plan, Plan::Standard);
    assert_eq!(read(&orgs, "acme").unwrap().plan, Plan::Standard);
}

#[test]
fn contract_4_2_every_fault_of_the_terms_is_told_at_once_and_nothing_is_stored() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let before = store.values();
    let wrong = SubscriptionTerms {
        feature_set: text("fs-0000000000000000"),
        contract_start_at: Attribute::WrongType,
        end_at: Attribute::Value(-1),
        runs_ceiling: Attribute::Value(-1),
        agents_ceiling: Attribute::WrongType,
        contract_user_limit: number(1),
        contract_apply_limit: Attribute::Null,
        contract_managed_resources_limit: Attribute::Absent,
    };
    let named = |attribute: &str, fault| (attribute.to_owned(), fault);
    assert_eq!(
        subscribe(&orgs, &acme.external_id, &wrong),
        Err(vec![
            named("runs-ceiling", Fault::Negative),
            named("agents-ceiling", Fault::NotInteger),
            named("contract-start-at", Fault::NotTimestamp),
            named("end-at", Fault::Negative),
            named("feature-set", Fault::NotIncluded),
        ])
    );
    for (wanted, fault) in [
        (Attribute::Absent, Fault::Blank),
        (Attribute::Null, Fault::Blank),
        (Attribute::WrongType, Fault::NotText),
        (text("fs-../acme"), Fault::NotIncluded),
    ] {
        let wanted = SubscriptionTerms {
            feature_set: wanted,
            ..SubscriptionTerms::default()
        };
        assert_eq!(
            subscribe(&orgs, &acme.external_id, &wanted),
            Err(vec![named("feature-set", fault)])
        );
    }
    assert_eq!(store.values(), before);
}

#[test]
fn contract_2_2_clients_can_read_every_number_of_the_terms() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let before = store.values();
    let all = |value: u64| SubscriptionTerms {
        runs_ceiling: number(value),
        agents_ceiling: number(value),
        contract_user_limit: number(value),
        contract_apply_limit: number(value),
        contract_managed_resources_limit: number(value),
        ..terms(&orgs, "Plus")
    };
    let refused = subscribe(&orgs, &acme.external_id, &all(2_147_483_648)).unwrap_err();
    assert_eq!(refused.len(), 5);
    for (_, fault) in refused {
        assert_eq!(fault, Fault::TooLarge(2_147_483_647));
    }
    assert_eq!(store.values(), before);
    let set = subscribe(&orgs, &acme.external_id, &all(2_147_483_647)).unwrap();
    assert_eq!(set.subscription.runs_ceiling, Some(2_147_483_647));
}

#[test]
fn contract_4_2_the_threshold_of_the_owners_stays_whatever_the_terms() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let id = &acme.external_id;
    let threshold = |found: Organization| found.subscription.rum_alert_threshold;
    assert_eq!(
        threshold(set_threshold(&orgs, id, &number(80)).unwrap()),
        Some(80)
    );
    let subscribed = subscribe(&orgs, id, &terms(&orgs, "Plus")).unwrap();
    assert_eq!(subscribed.plan, Plan::Plus);
    assert_eq!(threshold(subscribed), Some(80));
    let kept = set_threshold(&orgs, id, &Attribute::Absent).unwrap();
    assert_eq!(kept.subscription.rum_alert_threshold, Some(80));
    let before = store.values();
    for (wrong, fault) in [
        (Attribute::WrongType, Fault::NotInteger),
        (Attribute::Value(-1), Fault::Negative),
        (number(2_147_483_648), Fault::TooLarge(2_147_483_647)),
    ] {
        let named = ("rum-alert-threshold".to_owned(), fault);
        assert_eq!(set_threshold(&orgs, id, &wrong), Err(vec![named]));
    }
    assert_eq!(store.values(), before);
    assert_eq!(
        threshold(set_threshold(&orgs, id, &Attribute::Null).unwrap()),
        None
    );
}

#[test]
fn every_change_of_a_subscription_is_in_the_audit_trail_and_nothing_else() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let id = &acme.external_id;
    world.clock.advance(Duration::from_secs(1));
    subscribe(&orgs, id, &terms(&orgs, "Plus")).unwrap();
    set_threshold(&orgs, id, &number(80)).unwrap();
    set_threshold(&orgs, id, &number(80)).unwrap();
    set_threshold(&orgs, id, &Attribute::Absent).unwrap();
    set_threshold(&orgs, id, &Attribute::WrongType).unwrap_err();
    let events = orgs.events(id, NOW_MILLISECONDS + 1000, 1, 100).unwrap();
    assert_eq!(events.total, 2);
    for event in events.events {
        assert_eq!(event.resource, Resource::Subscription);
        assert_eq!(event.resource_id, acme.subscription.id);
        assert_eq!(event.operation, Operation::Update);
    }
}

#[test]
fn an_organization_that_is_gone_has_no_subscription() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    orgs.delete_named("acme", &installation()).unwrap();
    let before = store.values();
    for id in [acme.external_id.as_str(), "org-0000000000000000", "", "x/y"] {
        let outcome = orgs.set_subscription_terms(id, &terms(&orgs, "Plus"), &installation());
        assert_eq!(outcome, Err(SubscriptionError::NotFound), "{id:?}");
    }
    assert_eq!(store.values(), before);
}

#[test]
fn terms_and_settings_that_change_at_once_both_last() {
    let store = MemoryStore::new(SystemClock);
    let orgs = Orgs::new(&store, SystemClock, OsRandom).with_edition(Edition::Hosted);
    let acme = create(&orgs, "acme");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..50 {
                let threshold = number(round);
                set_threshold(&orgs, &acme.external_id, &threshold).unwrap();
            }
        });
        for round in 0..50 {
            let changes = OrganizationChanges {
                name: text(if round % 2 == 0 { "globex" } else { "acme" }),
                ..OrganizationChanges::default()
            };
            let name = if round % 2 == 0 { "acme" } else { "globex" };
            orgs.update_named(name, &changes, &installation()).unwrap();
        }
    });
    let found = orgs.find(&acme.external_id).unwrap();
    let found = found.unwrap();
    assert_eq!(found.name, "acme");
    assert_eq!(found.subscription.rum_alert_threshold, Some(49));
}

#[test]
fn l6_the_end_of_a_plan_that_comes_next_is_found_among_all_organizations() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    assert_eq!(orgs.next_plan_end().unwrap(), None);
    let ending = |name: &str, hours: u64| {
        let wanted = SubscriptionTerms {
            end_at: number(NOW_MILLISECONDS + hours * HOUR),
            ..terms(&orgs, "Premium")
        };
        let made = create(&orgs, name);
        subscribe(&orgs, &made.external_id, &wanted).unwrap();
        made
    };
    create(&orgs, "free");
    let acme = ending("acme", 2);
    ending("globex", 9);
    let end = |hours| Some(NOW_MILLISECONDS + hours * HOUR);
    assert_eq!(orgs.next_plan_end().unwrap(), end(2));
    let commits = store.commits();
    assert_eq!(orgs.next_plan_end().unwrap(), end(2));
    assert_eq!(store.commits(), commits, "nothing new is not written");
    world.clock.advance(Duration::from_millis(2 * HOUR));
    assert_eq!(orgs.next_plan_end().unwrap(), end(9), "it has ended");
    ending("initech", 5);
    assert_eq!(orgs.next_plan_end().unwrap(), end(5));
    assert!(orgs.delete(&acme.external_id, &installation()).unwrap());
    assert_eq!(orgs.next_plan_end().unwrap(), end(5));
}

#[test]
fn l6_plans_are_looked_through_in_bounded_parts_and_the_last_result_stands_meanwhile() {
    const ORGANIZATIONS: usize = 5_200;
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let wanted = SubscriptionTerms {
        end_at: number(NOW_MILLISECONDS + HOUR),
        ..terms(&orgs, "Premium")
    };
    for number in 0..ORGANIZATIONS {
        create(&orgs, &format!("o{number:05}"));
    }
    assert_eq!(orgs.next_plan_end().unwrap(), None);
    let last = read(&orgs, &format!("o{:05}", ORGANIZATIONS - 1)).unwrap();
    subscribe(&orgs, &last.external_id, &wanted).unwrap();
    let failed = gatehouse_ports::StoreError::Unavailable("disk full".to_owned());
    store.fail_next_commit(failed.into());
    assert!(orgs.next_plan_end().is_err());
    let end = Some(NOW_MILLISECONDS + HOUR);
    assert_eq!(orgs.next_plan_end().unwrap(), end);
    assert_eq!(orgs.next_plan_end().unwrap(), end, "a new walk has begun");
}
