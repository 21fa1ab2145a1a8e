//! The settings of site administrators (contract 4.14), and how long data is kept (contract 4.5).

use std::sync::Barrier;
use std::thread;

use gatehouse_ports::{OsRandom, SystemClock};

use super::*;
use gatehouse_orgs::{
    AdministrationChanges, ApiRate, AuditTrail, Authority, Census, ChangeError, Credential,
    GeneralSettingsChanges, Resource, Retention, RetentionDetailChange, RetentionKind,
    RetentionRequest, RetentionRule, Site,
};

fn disabled(disabled: bool) -> AdministrationChanges {
    AdministrationChanges {
        disabled: Attribute::Value(disabled),
        ..AdministrationChanges::default()
    }
}

pub fn delete_older(days: i64) -> RetentionRequest {
    RetentionRequest {
        kind: RetentionKind::DeleteOlder,
        days: Attribute::Value(days),
        state_versions: RetentionDetailChange::default(),
        configuration_versions: RetentionDetailChange::default(),
        run_data_and_logs: RetentionDetailChange::default(),
    }
}

#[test]
fn contract_2_2_clients_can_read_every_number_that_is_set_for_the_site() {
    const HIGHEST: u32 = 2_147_483_647;
    let world = World::new();
    let store = world.store();
    let orgs = world.self_hosted(&store);
    let acme = create(&orgs, "acme").external_id;
    let before = store.values();
    let limit = || Attribute::Value(i64::from(HIGHEST) + 1);
    let too_large = |names: &[&str]| {
        let issue = |name: &&str| gatehouse_orgs::AttributeIssue {
            attribute: (*name).to_owned(),
            fault: Fault::TooLarge(HIGHEST),
        };
        Some(ChangeError::Invalid(names.iter().map(issue).collect()))
    };
    let settings = GeneralSettingsChanges {
        api_rate_limit: limit(),
        default_organizations_per_user_ceiling: limit(),
        default_workspaces_per_organization_ceiling: limit(),
        ..GeneralSettingsChanges::default()
    };
    let names = [
        "api-rate-limit",
        "default-organizations-per-user-ceiling",
        "default-workspaces-per-organization-ceiling",
    ];
    let changed = orgs.change_general_settings(&settings, &installation());
    assert_eq!(changed.err(), too_large(&names));
    let retention = RetentionRequest {
        state_versions: RetentionDetailChange {
            keep_latest: limit(),
            ..RetentionDetailChange::default()
        },
        ..delete_older(i64::from(HIGHEST) + 1)
    };
    let names = [
        "delete-older-than-n-days",
        "state-versions-keep-latest-count",
    ];
    let set = orgs.set_retention(&acme, &retention, &installation());
    assert_eq!(set.err(), too_large(&names));
    assert_eq!(store.values(), before);
    let set = orgs.set_retention(&acme, &delete_older(HIGHEST.into()), &installation());
    assert!(set.is_ok());
}

#[test]
fn contract_2_2_a_number_of_before_the_bound_is_shown_as_clients_can_read_it() {
    let world = World::new();
    let store = world.store();
    let orgs = world.self_hosted(&store);
    create(&orgs, "acme");
    let mut record = stored_record(&store, "organization/acme");
    record["settings"]["session_timeout"] = (1_u64 << 32).into();
    record["settings"]["session_remember"] = 60.into();
    store_record(&store, "organization/acme", record);
    let shown = orgs.read("acme").unwrap().unwrap().settings;
    assert_eq!(shown.session_timeout, Some(2_147_483_647));
    assert_eq!(shown.session_remember, Some(60));
}

#[test]
fn contract_4_14_disabled_organizations_are_counted_without_looking_at_all() {
    let world = World::new();
    let store = world.store();
    let orgs = world.self_hosted(&store);
    let ids: Vec<String> = ["a", "b", "c"]
        .iter()
        .map(|name| create(&orgs, name).external_id)
        .collect();
    let counted = || orgs.oversee(&[]).unwrap().census;
    let is = |total, disabled| Census { total, disabled };
    assert_eq!(counted(), is(3, 0));
    for id in &ids[..2] {
        for _ in 0..2 {
            orgs.administer(id, &disabled(true), &installation())
                .unwrap();
        }
    }
    assert_eq!(counted(), is(3, 2));
    orgs.administer(&ids[0], &disabled(false), &installation())
        .unwrap();
    assert_eq!(counted(), is(3, 1));
    orgs.delete_named("b", &installation()).unwrap();
    orgs.delete_named("c", &installation()).unwrap();
    assert_eq!(counted(), is(1, 0));
}

#[test]
fn simultaneous_switches_of_one_organization_are_counted_once() {
    let store = MemoryStore::new(SystemClock);
    let orgs = Orgs::new(&store, SystemClock, OsRandom);
    let id = create(&orgs, "acme").external_id;
    let start = Barrier::new(8);
    thread::scope(|scope| {
        for number in 0..8 {
            let (orgs, id, start) = (&orgs, &id, &start);
            scope.spawn(move || {
                start.wait();
                orgs.administer(id, &disabled(number % 2 == 0), &installation())
                    .unwrap();
            });
        }
    });
    let is_disabled = orgs.read("acme").unwrap().unwrap().disabled;
    let counted = orgs.oversee(&[]).unwrap().census;
    assert_eq!(counted.disabled, u64::from(is_disabled));
}

#[test]
fn contract_4_14_nothing_is_written_where_nothing_changes() {
    let world = World::new();
    let store = world.store();
    let orgs = world.self_hosted(&store);
    let id = create(&orgs, "acme").external_id;
    let before = store.commits();
    let nothing = AdministrationChanges::default();
    for changes in [nothing, disabled(false)] {
        orgs.administer(&id, &changes, &installation()).unwrap();
    }
    orgs.unset_retention(&id, &installation()).unwrap();
    orgs.unset_default_retention(&installation()).unwrap();
    assert_eq!(store.commits(), before);
    let unknown = "org-AAAAAAAAAAAAAAAA";
    let refused = orgs.administer(unknown, &disabled(true), &installation());
    assert_eq!(refused, Err(ChangeError::NotFound));
    let refused = orgs.set_retention(unknown, &delete_older(1), &installation());
    assert_eq!(refused, Err(ChangeError::NotFound));
}

#[test]
fn contract_4_14_changes_of_different_settings_all_last() {
    let store = MemoryStore::new(SystemClock);
    let orgs = Orgs::new(&store, SystemClock, OsRandom);
    let one = GeneralSettingsChanges {
        api_rate_limit: Attribute::Value(7),
        ..GeneralSettingsChanges::default()
    };
    let other = GeneralSettingsChanges {
        api_rate_limiting_enabled: Attribute::Value(false),
        ..GeneralSettingsChanges::default()
    };
    let start = Barrier::new(2);
    thread::scope(|scope| {
        for changes in [&one, &other] {
            let (orgs, start) = (&orgs, &start);
            scope.spawn(move || {
                start.wait();
                orgs.change_general_settings(changes, &installation())
                    .unwrap();
            });
        }
    });
    let expected = ApiRate {
        enabled: false,
        per_second: 7,
    };
    assert_eq!(orgs.read_api_rate(), Ok(expected));
    let told = |asked| orgs.identify(&Credential::Root, asked).unwrap().api_rate;
    assert_eq!(told(true).map(|rate| rate.per_second), Some(7));
    assert_eq!(told(false), None);
    let reset = GeneralSettingsChanges {
        api_rate_limit: Attribute::Null,
        ..GeneralSettingsChanges::default()
    };
    orgs.change_general_settings(&reset, &installation())
        .unwrap();
    assert_eq!(orgs.read_api_rate().unwrap().per_second, 30);
}

#[test]
fn contract_4_5_a_policy_is_a_part_of_its_organization() {
    let world = World::new();
    let store = world.store();
    let orgs = world.self_hosted(&store);
    let id = create(&orgs, "acme").external_id;
    let keys = store.keys();
    let policy = orgs
        .set_retention(&id, &delete_older(9), &installation())
        .unwrap();
    assert_eq!(policy.rule, RetentionRule::DeleteOlder(9));
    let new: Vec<_> = store
        .keys()
        .into_iter()
        .filter(|key| !keys.contains(key) && !key.starts_with("event/"))
        .collect();
    assert_eq!(new, [""; 0]);
    let shown = orgs.read("acme").unwrap().unwrap();
    assert_eq!(shown.retention, Some(policy));
    assert_eq!(shown.default_retention, RetentionRule::DontDelete);
    orgs.set_default_retention(&delete_older(3), &installation())
        .unwrap();
    let shown = orgs.read("acme").unwrap().unwrap();
    assert_eq!(shown.default_retention, RetentionRule::DeleteOlder(3));
}

#[test]
fn contract_4_15_a_policy_of_another_kind_is_told_as_another_policy() {
    let world = World::new();
    let store = world.store();
    let orgs = world.self_hosted(&store);
    let id = create(&orgs, "acme").external_id;
    let by = installation();
    let dont_delete = RetentionRequest {
        kind: RetentionKind::DontDelete,
        ..delete_older(0)
    };
    let requests = [delete_older(9), delete_older(8), dont_delete];
    let own = requests
        .each_ref()
        .map(|request| orgs.set_retention(&id, request, &by).unwrap().id);
    orgs.unset_retention(&id, &by).unwrap();
    orgs.unset_retention(&id, &by).unwrap();
    let default = requests
        .each_ref()
        .map(|request| orgs.set_default_retention(request, &by).unwrap().id);
    orgs.unset_default_retention(&by).unwrap();
    let events = orgs.waiting_events().unwrap();
    for (organization, [first, same, other]) in [(Some(id), own), (None, default)] {
        assert_eq!(first, same);
        assert_ne!(first, other);
        let of_policies = events.iter().filter(|event| {
            event.organization == organization && event.resource == Resource::DataRetentionPolicy
        });
        let mut told: Vec<_> = of_policies
            .map(|event| (event.resource_id.as_str(), event.operation.as_str()))
            .collect();
        told.sort_unstable();
        let mut expected = [
            (first.as_str(), "create"),
            (first.as_str(), "update"),
            (first.as_str(), "destroy"),
            (other.as_str(), "create"),
            (other.as_str(), "destroy"),
        ];
        expected.sort_unstable();
        assert_eq!(told, expected);
    }
}

#[test]
fn a6_what_is_hidden_costs_as_many_reads_as_what_is_not_there() {
    let world = World::new();
    let store = world.store();
    create(&world.self_hosted(&store), "acme");
    let reads = |name: &str| {
        let counting = CountingStore::new(&store);
        let question = AccessQuestion {
            ..asking(name, Action::Show)
        };
        answer(
            &world.self_hosted(&counting),
            &Credential::WithoutEntity,
            &question,
        );
        counting.take_counts().reads()
    };
    assert_eq!(reads("acme"), reads("none"));
}
