//! Which pool an organization has for its default, row by row of contract 2.8, and that it is never one that is gone.

use std::cell::RefCell;
use std::sync::Barrier;
use std::thread;

use gatehouse_ports::{Change, Check, CommitError, Entry, Page, StoreError};
use gatehouse_ports::{OsRandom, SystemClock};

use super::{add_pool, keys_with, pool_named};
use crate::world::*;
use crate::{AgentPoolError, AgentPools, CreateError, ExecutionMode, Settings, UpdateError};

fn mode(mode: &str) -> OrganizationChanges {
    OrganizationChanges {
        default_execution_mode: text(mode),
        ..OrganizationChanges::default()
    }
}

fn by_attribute(mode_name: &str, pool: Attribute<String>) -> OrganizationChanges {
    OrganizationChanges {
        default_agent_pool_id: pool,
        ..mode(mode_name)
    }
}

fn by_relationship(mode_name: &str, pool: Attribute<String>) -> OrganizationChanges {
    OrganizationChanges {
        default_agent_pool: pool,
        ..mode(mode_name)
    }
}

fn for_stacks(pool: Attribute<String>) -> OrganizationChanges {
    OrganizationChanges {
        stacks_default_execution_mode: text("agent"),
        stacks_default_agent_pool: pool,
        ..OrganizationChanges::default()
    }
}

/// Changes `acme`, and holds the outcome against what is stored then.
fn update(
    orgs: &impl Organizations,
    changes: &OrganizationChanges,
) -> Result<Settings, Vec<(Field, Fault)>> {
    let before = read(orgs, "acme").unwrap();
    let updated = orgs.update_named("acme", changes, &installation());
    let stored = read(orgs, "acme").unwrap();
    match updated {
        Ok(updated) => {
            assert_eq!(updated, stored);
            Ok(stored.settings)
        }
        Err(UpdateError::Invalid(faults)) => {
            assert_eq!(before, stored);
            Err(faults
                .into_iter()
                .map(|found| (found.field, found.fault))
                .collect())
        }
        Err(error) => panic!("{error}"),
    }
}

fn default_of(settings: &Settings) -> (ExecutionMode, Option<&str>) {
    let pool = settings.default_agent_pool_id.as_deref();
    (settings.default_execution_mode, pool)
}

fn stacks_default_of(settings: &Settings) -> (ExecutionMode, Option<&str>) {
    let pool = settings.stacks_default_agent_pool_id.as_deref();
    (settings.stacks_default_execution_mode, pool)
}

#[test]
fn contract_2_8_mode_agent_with_a_pool_of_this_organization_is_stored() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    for (number, way) in [by_attribute, by_relationship].into_iter().enumerate() {
        let pool = add_pool(&orgs, &acme, &format!("pool-{number}"));
        let settings = update(&orgs, &way("agent", text(&pool.id))).unwrap();
        let expected = (ExecutionMode::Agent, Some(pool.id.as_str()));
        assert_eq!(default_of(&settings), expected);
    }
    let pool = add_pool(&orgs, &acme, "both");
    let both = OrganizationChanges {
        default_agent_pool: text(&pool.id),
        ..by_attribute("agent", text(&pool.id))
    };
    let settings = update(&orgs, &both).unwrap();
    assert_eq!(settings.default_agent_pool_id, Some(pool.id));
}

#[test]
fn contract_2_8_a_pool_that_is_unknown_or_of_another_organization_is_invalid() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    create(&orgs, "acme");
    let globex = create(&orgs, "globex");
    let others = add_pool(&orgs, &globex, "pool");
    for id in [&others.id, "apool-0123456789abcdef", "", "apool-1", "../x"] {
        for (changes, field) in [
            (by_attribute("agent", text(id)), Field::DefaultAgentPoolId),
            (by_relationship("agent", text(id)), Field::DefaultAgentPool),
            (for_stacks(text(id)), Field::StacksDefaultAgentPool),
        ] {
            let refused = update(&orgs, &changes);
            assert_eq!(refused, Err(vec![(field, Fault::UnknownPool)]), "{id}");
        }
    }
}

#[test]
fn contract_2_8_a_stored_pool_is_kept_where_none_is_named() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let pool = add_pool(&orgs, &acme, "pool");
    update(&orgs, &by_attribute("agent", text(&pool.id))).unwrap();
    let expected = (ExecutionMode::Agent, Some(pool.id.as_str()));
    for changes in [mode("agent"), rename("ACME")] {
        let settings = update(&orgs, &changes).unwrap();
        assert_eq!(default_of(&settings), expected);
    }
}

#[test]
fn contract_2_8_mode_agent_without_any_pool_or_with_null_needs_one() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let required = |field| Err(vec![(field, Fault::PoolRequired)]);
    assert_eq!(
        update(&orgs, &mode("agent")),
        required(Field::DefaultAgentPoolId)
    );
    let pool = add_pool(&orgs, &acme, "pool");
    update(&orgs, &by_attribute("agent", text(&pool.id))).unwrap();
    let null = || Attribute::Null;
    assert_eq!(
        update(&orgs, &by_attribute("agent", null())),
        required(Field::DefaultAgentPoolId)
    );
    assert_eq!(
        update(&orgs, &by_relationship("agent", null())),
        required(Field::DefaultAgentPool)
    );
}

#[test]
fn contract_2_8_another_mode_takes_no_pool_not_even_one_of_this_organization() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let pool = add_pool(&orgs, &acme, "pool");
    let excluded = |field| Err(vec![(field, Fault::PoolWithoutAgentMode)]);
    for mode in ["remote", "local"] {
        assert_eq!(
            update(&orgs, &by_attribute(mode, text(&pool.id))),
            excluded(Field::DefaultAgentPoolId)
        );
        assert_eq!(
            update(&orgs, &by_relationship(mode, text(&pool.id))),
            excluded(Field::DefaultAgentPool)
        );
        for way in [by_attribute, by_relationship] {
            let settings = update(&orgs, &way(mode, Attribute::Null)).unwrap();
            assert_eq!(settings.default_agent_pool_id, None);
        }
    }
}

#[test]
fn contract_2_8_leaving_mode_agent_clears_the_pool() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let pool = add_pool(&orgs, &acme, "pool");
    for (name, left) in [
        ("remote", ExecutionMode::Remote),
        ("local", ExecutionMode::Local),
    ] {
        update(&orgs, &by_attribute("agent", text(&pool.id))).unwrap();
        let settings = update(&orgs, &mode(name)).unwrap();
        assert_eq!(default_of(&settings), (left, None));
        // Coming back does not bring it back.
        let back = update(&orgs, &mode("agent"));
        assert_eq!(
            back,
            Err(vec![(Field::DefaultAgentPoolId, Fault::PoolRequired)])
        );
    }
}

#[test]
fn contract_2_8_attribute_and_relationship_that_differ_are_refused() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let (one, other) = (
        add_pool(&orgs, &acme, "one"),
        add_pool(&orgs, &acme, "other"),
    );
    for relationship in [text(&other.id), Attribute::Null] {
        let both = OrganizationChanges {
            default_agent_pool: relationship,
            ..by_attribute("agent", text(&one.id))
        };
        let differ = Err(vec![(Field::DefaultAgentPoolId, Fault::PoolsDiffer)]);
        assert_eq!(update(&orgs, &both), differ);
    }
}

#[test]
fn contract_2_8_a_new_organization_cannot_have_mode_agent() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let pool = add_pool(&orgs, &acme, "pool");
    let before = store.values();
    for (pool, fault) in [
        (Attribute::Absent, Fault::PoolRequired),
        (Attribute::Null, Fault::PoolRequired),
        (text(&pool.id), Fault::UnknownPool),
    ] {
        let changes = OrganizationChanges {
            default_execution_mode: text("agent"),
            default_agent_pool_id: pool,
            ..named("globex")
        };
        let refused = orgs.create(&changes, None, &installation());
        let field = Field::DefaultAgentPoolId;
        let faults = vec![FieldFault { field, fault }];
        assert_eq!(refused, Err(CreateError::Invalid(faults)));
    }
    assert_eq!(store.values(), before);
}

#[test]
fn contract_2_8_a_default_pool_that_is_deleted_leaves_mode_remote_in_the_same_commit() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let (first, second) = (
        add_pool(&orgs, &acme, "first"),
        add_pool(&orgs, &acme, "second"),
    );
    update(&orgs, &by_attribute("agent", text(&first.id))).unwrap();
    update(&orgs, &for_stacks(text(&second.id))).unwrap();
    let delete = |id: &str| orgs.delete_agent_pool(&acme.external_id, id, &installation());
    assert_eq!(delete(&first.id), Ok(true));
    let settings = read(&orgs, "acme").unwrap().settings;
    assert_eq!(default_of(&settings), (ExecutionMode::Remote, None));
    let stacks = (ExecutionMode::Agent, Some(second.id.as_str()));
    assert_eq!(stacks_default_of(&settings), stacks);
    assert_eq!(delete(&second.id), Ok(true));
    let settings = read(&orgs, "acme").unwrap().settings;
    assert_eq!(stacks_default_of(&settings), (ExecutionMode::Remote, None));
}

#[test]
fn a_pool_that_is_no_default_goes_without_changing_the_organization() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let (kept, gone) = (
        add_pool(&orgs, &acme, "kept"),
        add_pool(&orgs, &acme, "gone"),
    );
    update(&orgs, &by_attribute("agent", text(&kept.id))).unwrap();
    let before = read(&orgs, "acme");
    let deleted = orgs.delete_agent_pool(&acme.external_id, &gone.id, &installation());
    assert_eq!((deleted, read(&orgs, "acme")), (Ok(true), before));
}

#[test]
fn contract_2_12_pools_and_the_default_stay_through_a_rename() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let pool = add_pool(&orgs, &acme, "pool");
    update(&orgs, &by_attribute("agent", text(&pool.id))).unwrap();
    let renamed = orgs
        .update_named("acme", &rename("globex"), &installation())
        .unwrap();
    assert_eq!(
        renamed.settings.default_agent_pool_id,
        Some(pool.id.clone())
    );
    let deleted = orgs.delete_agent_pool(&acme.external_id, &pool.id, &installation());
    assert_eq!(deleted, Ok(true));
    let settings = read(&orgs, "globex").unwrap().settings;
    assert_eq!(default_of(&settings), (ExecutionMode::Remote, None));
}

#[test]
fn contract_2_8_a_delete_of_the_default_that_is_cut_off_never_leaves_it_dangling() {
    for stop in 0..20 {
        let world = World::new();
        let store = world.store();
        let orgs = world.orgs(&store);
        let acme = create(&orgs, "acme");
        let pool = add_pool(&orgs, &acme, "pool");
        update(&orgs, &by_attribute("agent", text(&pool.id))).unwrap();
        update(&orgs, &for_stacks(text(&pool.id))).unwrap();
        let faulty = FaultyStore::stopping_after(&store, stop);
        let failing = world.orgs(&faulty);
        let _ = failing.delete_agent_pool(&acme.external_id, &pool.id, &installation());
        let found = orgs.find_agent_pool(&acme.external_id, &pool.id).unwrap();
        let settings = read(&orgs, "acme").unwrap().settings;
        let id = found.as_ref().map(|found| found.id.as_str());
        let mode = id.map_or(ExecutionMode::Remote, |_| ExecutionMode::Agent);
        assert_eq!(default_of(&settings), (mode, id), "stop {stop}");
        assert_eq!(stacks_default_of(&settings), (mode, id), "stop {stop}");
        assert_eq!(id.is_some(), stop == 0);
        if faulty.commits_left() > 0 {
            return;
        }
    }
    panic!("never came through");
}

/// A store in which something happens just before the first commit.
struct Interrupted<'s, S, F> {
    store: &'s S,
    interruption: RefCell<Option<F>>,
}

impl<S: Store, F: FnOnce()> Store for Interrupted<'_, S, F> {
    fn get(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        self.store.get(keys)
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError> {
        self.store.scan(prefix, after, limit)
    }

    fn commit(&self, checks: Vec<Check>, changes: Vec<Change>) -> Result<(), CommitError> {
        if let Some(interruption) = self.interruption.take() {
            interruption();
        }
        self.store.commit(checks, changes)
    }
}

#[test]
fn contract_2_8_a_pool_that_goes_while_it_becomes_the_default_does_not() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    for changes in [
        |pool: &str| by_attribute("agent", text(pool)),
        |pool: &str| for_stacks(text(pool)),
    ] {
        let pool = add_pool(&orgs, &acme, "pool");
        let interrupted = world.orgs(Interrupted {
            store: &store,
            interruption: RefCell::new(Some(|| {
                let deleted = orgs.delete_agent_pool(&acme.external_id, &pool.id, &installation());
                assert_eq!(deleted, Ok(true));
            })),
        });
        let refused = update(&interrupted, &changes(&pool.id)).unwrap_err();
        assert_eq!(refused.len(), 1);
        assert_eq!(refused[0].1, Fault::UnknownPool);
    }
}

#[test]
fn contract_2_8_a_pool_that_becomes_the_default_while_it_goes_is_none_afterwards() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let pool = add_pool(&orgs, &acme, "pool");
    let interrupted = world.orgs(Interrupted {
        store: &store,
        interruption: RefCell::new(Some(|| {
            update(&orgs, &by_attribute("agent", text(&pool.id))).unwrap();
        })),
    });
    let deleted = interrupted.delete_agent_pool(&acme.external_id, &pool.id, &installation());
    assert_eq!(deleted, Ok(true));
    let settings = read(&orgs, "acme").unwrap().settings;
    assert_eq!(default_of(&settings), (ExecutionMode::Remote, None));
}

#[test]
fn a_pool_that_is_made_or_renamed_while_its_organization_goes_leaves_nothing_behind() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    for is_new in [true, false] {
        let acme = create(&orgs, "acme");
        let pool = add_pool(&orgs, &acme, "pool");
        let interrupted = world.orgs(Interrupted {
            store: &store,
            interruption: RefCell::new(Some(|| {
                assert_eq!(orgs.delete_named("acme", &installation()), Ok(true));
            })),
        });
        let (id, changes) = (&acme.external_id, pool_named("late"));
        let outcome = if is_new {
            interrupted.create_agent_pool(id, &changes, &installation())
        } else {
            interrupted.update_agent_pool(id, &pool.id, &changes, &installation())
        };
        assert_eq!(outcome, Err(AgentPoolError::NotFound));
        assert_eq!(keys_with(&store, &[id]), [""; 0]);
    }
}

#[test]
fn contract_2_8_whoever_wins_a_race_of_delete_and_default_nothing_dangles() {
    let store = MemoryStore::new(SystemClock);
    let orgs = Orgs::new(&store, SystemClock, OsRandom).with_edition(Edition::Hosted);
    let acme = create(&orgs, "acme");
    for round in 0..50 {
        let pool = add_pool(&orgs, &acme, &format!("pool-{round}"));
        let start = Barrier::new(2);
        thread::scope(|scope| {
            scope.spawn(|| {
                start.wait();
                let deleted = orgs.delete_agent_pool(&acme.external_id, &pool.id, &installation());
                assert_eq!(deleted, Ok(true));
            });
            scope.spawn(|| {
                start.wait();
                let changes = by_attribute("agent", text(&pool.id));
                let _ = orgs.update_named("acme", &changes, &installation());
            });
        });
        let settings = read(&orgs, "acme").unwrap().settings;
        assert_eq!(
            default_of(&settings),
            (ExecutionMode::Remote, None),
            "{round}"
        );
    }
}
