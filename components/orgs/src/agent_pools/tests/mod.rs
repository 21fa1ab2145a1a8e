//! Agent pools: names, lists, changes, and that nothing of them stays behind (contract 4.9).

mod default_pools;

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use gatehouse_ports::{OsRandom, SystemClock};
use gatehouse_storage::Transaction;

use crate::owned_keys::WhoseRecord;
use crate::world::*;
use crate::{
    AgentPool, AgentPoolChanges, AgentPoolError, AgentPoolFilter, AgentPoolOrder, AgentPoolPage,
    AgentPoolReference, AgentPools, AttributeIssue, AuditTrail, Authority, Credential, IssuedToken,
    TokenOwner, TokenRequest,
};
use gatehouse_ports::{Clock, Random};

pub(super) fn pool_named(name: &str) -> AgentPoolChanges {
    AgentPoolChanges {
        name: text(name),
        ..AgentPoolChanges::default()
    }
}

/// A new pool of an organization.
pub(super) fn add_pool(orgs: &impl AgentPools, owner: &Organization, name: &str) -> AgentPool {
    orgs.create_agent_pool(&owner.external_id, &pool_named(name), &installation())
        .unwrap()
}

fn all(orgs: &impl AgentPools, owner: &Organization) -> AgentPoolPage {
    list(
        orgs,
        owner,
        &AgentPoolFilter::default(),
        AgentPoolOrder::Name,
    )
}

fn list(
    orgs: &impl AgentPools,
    owner: &Organization,
    filter: &AgentPoolFilter,
    order: AgentPoolOrder,
) -> AgentPoolPage {
    orgs.list_agent_pools(&owner.external_id, filter, order, 1, 100)
        .unwrap()
}

fn pool_names(page: &AgentPoolPage) -> Vec<&str> {
    let pools = page.agent_pools.iter();
    pools.map(|pool| pool.name.as_str()).collect()
}

fn invalid(attribute: &'static str, fault: Fault) -> AgentPoolError {
    AgentPoolError::Invalid(vec![AttributeIssue::new(attribute, fault)])
}

fn issue_token<S: Store, C: Clock, R: Random>(
    orgs: &Orgs<S, C, R>,
    owner: &Organization,
    pool: &AgentPool,
) -> IssuedToken {
    let owner = TokenOwner::AgentPool(AgentPoolReference {
        id: pool.id.clone(),
        organization: owner.external_id.clone(),
    });
    let mut transaction = Transaction::new();
    let issued = orgs
        .add_token(
            &mut transaction,
            owner,
            &TokenRequest::default(),
            &installation(),
        )
        .unwrap();
    orgs.records.commit(transaction).unwrap();
    issued
}

/// The keys that hold one of the texts, but for those of the audit trail, which stays.
pub(super) fn keys_with(store: &MemoryStore<&ManualClock>, wanted: &[&str]) -> Vec<String> {
    let keys = store.keys().into_iter();
    keys.filter(|key| !key.starts_with("event/"))
        .filter(|key| wanted.iter().any(|wanted| key.contains(wanted)))
        .collect()
}

#[test]
fn contract_4_9_a_new_pool_has_its_identity_and_defaults_and_reads_back_the_same() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let pool = add_pool(&orgs, &acme, "Cool-pool_1");
    assert_eq!(pool.name, "Cool-pool_1");
    assert_eq!(pool.created_at, NOW * 1000);
    assert!(pool.organization_scoped);
    assert!(pool.id.starts_with("apool-") && pool.id.len() == 22);
    let id = &acme.external_id;
    assert_eq!(orgs.find_agent_pool(id, &pool.id), Ok(Some(pool.clone())));
    assert_eq!(all(&orgs, &acme).agent_pools, std::slice::from_ref(&pool));
    let owner = orgs.organization_of(&pool.id).unwrap();
    assert_eq!(owner.map(|owner| owner.name).as_deref(), Some("acme"));
}

#[test]
fn contract_4_9_every_fault_of_a_pool_is_told_at_once_and_nothing_is_stored() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    add_pool(&orgs, &acme, "Taken");
    let before = store.values();
    let refused = |name, organization_scoped| {
        let changes = AgentPoolChanges {
            name,
            organization_scoped,
        };
        orgs.create_agent_pool(&acme.external_id, &changes, &installation())
            .unwrap_err()
    };
    for (name, fault) in [
        (Attribute::Absent, Fault::Blank),
        (Attribute::Null, Fault::Blank),
        (text(""), Fault::Blank),
        (text("no good"), Fault::ForbiddenCharacter),
        (text(&"n".repeat(91)), Fault::TooLong(90)),
        (text("tAKEN"), Fault::Taken),
        (Attribute::WrongType, Fault::NotText),
    ] {
        assert_eq!(refused(name, Attribute::Absent), invalid("name", fault));
    }
    let both = [
        AttributeIssue::new("name", Fault::Taken),
        AttributeIssue::new("organization-scoped", Fault::NotBoolean),
    ];
    assert_eq!(
        refused(text("taken"), Attribute::WrongType),
        AgentPoolError::Invalid(both.to_vec())
    );
    assert_eq!(store.values(), before);
}

#[test]
fn contract_4_9_names_are_unique_within_an_organization_and_free_again_after_it() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let (acme, globex) = (create(&orgs, "acme"), create(&orgs, "globex"));
    let first = add_pool(&orgs, &acme, "pool");
    let second = add_pool(&orgs, &acme, "spare");
    add_pool(&orgs, &globex, "pool");
    let rename = |pool: &AgentPool, name: &str| {
        orgs.update_agent_pool(
            &acme.external_id,
            &pool.id,
            &pool_named(name),
            &installation(),
        )
    };
    assert_eq!(rename(&second, "POOL"), Err(invalid("name", Fault::Taken)));
    assert_eq!(rename(&first, "POOL").unwrap().name, "POOL");
    assert_eq!(rename(&first, "other").unwrap().name, "other");
    assert_eq!(rename(&second, "Pool").unwrap().id, second.id);
    let deleted = orgs.delete_agent_pool(&acme.external_id, &second.id, &installation());
    assert_eq!(deleted, Ok(true));
    assert_ne!(add_pool(&orgs, &acme, "pool").id, second.id);
}

#[test]
fn contract_4_9_an_update_changes_what_it_mentions() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let pool = add_pool(&orgs, &acme, "pool");
    let update = |changes: &AgentPoolChanges| {
        orgs.update_agent_pool(&acme.external_id, &pool.id, changes, &installation())
    };
    let scoped = |organization_scoped| AgentPoolChanges {
        organization_scoped,
        ..AgentPoolChanges::default()
    };
    let narrowed = update(&scoped(Attribute::Value(false))).unwrap();
    let expected = AgentPool {
        organization_scoped: false,
        ..pool.clone()
    };
    assert_eq!(narrowed, expected);
    assert_eq!(update(&pool_named("lake")).unwrap().name, "lake");
    let commits = store.commits();
    let unchanged = update(&AgentPoolChanges::default()).unwrap();
    assert!(!unchanged.organization_scoped && unchanged.name == "lake");
    assert_eq!(store.commits(), commits);
    assert!(
        update(&scoped(Attribute::Null))
            .unwrap()
            .organization_scoped
    );
    let blank = AgentPoolChanges {
        name: Attribute::Null,
        ..AgentPoolChanges::default()
    };
    assert_eq!(update(&blank), Err(invalid("name", Fault::Blank)));
}

#[test]
fn contract_4_9_a_pool_of_another_organization_is_none() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let (acme, globex) = (create(&orgs, "acme"), create(&orgs, "globex"));
    let pool = add_pool(&orgs, &acme, "pool");
    let before = store.values();
    let other = &globex.external_id;
    for id in [
        pool.id.as_str(),
        "apool-0123456789abcdef",
        "x",
        "",
        "../pool",
    ] {
        assert_eq!(orgs.find_agent_pool(other, id), Ok(None), "{id}");
        let changes = pool_named("mine");
        assert_eq!(
            orgs.update_agent_pool(other, id, &changes, &installation()),
            Err(AgentPoolError::NotFound)
        );
        let deleted = orgs.delete_agent_pool(other, id, &installation());
        assert_eq!(deleted, Ok(false));
    }
    assert_eq!(store.values(), before);
    assert_eq!(all(&orgs, &globex).total, 0);
}

#[test]
fn contract_4_9_lists_are_filtered_sorted_counted_and_paged() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    for name in ["beta", "Alpha", "gamma", "ALPHABET"] {
        add_pool(&orgs, &acme, name);
        world.clock.advance(Duration::from_secs(1));
    }
    let narrow = AgentPoolChanges {
        name: text("narrow"),
        organization_scoped: Attribute::Value(false),
    };
    orgs.create_agent_pool(&acme.external_id, &narrow, &installation())
        .unwrap();
    let everything = AgentPoolFilter::default();
    for (order, expected) in [
        (
            AgentPoolOrder::Name,
            ["Alpha", "ALPHABET", "beta", "gamma", "narrow"],
        ),
        (
            AgentPoolOrder::NameDescending,
            ["narrow", "gamma", "beta", "ALPHABET", "Alpha"],
        ),
        (
            AgentPoolOrder::CreatedAt,
            ["beta", "Alpha", "gamma", "ALPHABET", "narrow"],
        ),
        (
            AgentPoolOrder::CreatedAtDescending,
            ["narrow", "ALPHABET", "gamma", "Alpha", "beta"],
        ),
    ] {
        let found = list(&orgs, &acme, &everything, order);
        assert_eq!(pool_names(&found), expected, "{order:?}");
        assert_eq!((found.matching, found.total), (5, 5));
    }
    let named = AgentPoolFilter {
        name: Some("LPHA".to_owned()),
        ..AgentPoolFilter::default()
    };
    let found = list(&orgs, &acme, &named, AgentPoolOrder::Name);
    assert_eq!(pool_names(&found), ["Alpha", "ALPHABET"]);
    assert_eq!((found.matching, found.total), (2, 5));
    let literal = AgentPoolFilter {
        name: Some("%".to_owned()),
        ..AgentPoolFilter::default()
    };
    assert_eq!(
        list(&orgs, &acme, &literal, AgentPoolOrder::Name).matching,
        0
    );
    for open_to in [
        AgentPoolFilter {
            allowed_workspace: Some("w".to_owned()),
            ..AgentPoolFilter::default()
        },
        AgentPoolFilter {
            allowed_project: Some("p".to_owned()),
            ..AgentPoolFilter::default()
        },
    ] {
        let found = list(&orgs, &acme, &open_to, AgentPoolOrder::Name);
        assert_eq!(pool_names(&found), ["Alpha", "ALPHABET", "beta", "gamma"]);
    }
    let empty = AgentPoolFilter {
        name: Some(String::new()),
        allowed_workspace: Some(String::new()),
        allowed_project: Some(String::new()),
    };
    assert_eq!(list(&orgs, &acme, &empty, AgentPoolOrder::Name).matching, 5);
    let page = |number, size| {
        let order = AgentPoolOrder::Name;
        let id = &acme.external_id;
        orgs.list_agent_pools(id, &everything, order, number, size)
            .unwrap()
    };
    assert_eq!(pool_names(&page(2, 2)), ["beta", "gamma"]);
    assert_eq!(pool_names(&page(0, 0)), ["Alpha"]);
    let beyond = page(u32::MAX, 100);
    assert_eq!((beyond.agent_pools.len(), beyond.matching), (0, 5));
}

#[test]
fn contract_4_9_of_many_simultaneous_creates_of_one_name_exactly_one_succeeds() {
    let store = MemoryStore::new(SystemClock);
    let orgs = Orgs::new(&store, SystemClock, OsRandom).with_edition(Edition::Hosted);
    let acme = create(&orgs, "acme");
    let start = Barrier::new(16);
    let made: usize = thread::scope(|scope| {
        let workers: Vec<_> = (0..16)
            .map(|number| {
                let (orgs, acme, start) = (&orgs, &acme, &start);
                scope.spawn(move || {
                    let name = if number % 2 == 0 { "pool" } else { "POOL" };
                    start.wait();
                    orgs.create_agent_pool(&acme.external_id, &pool_named(name), &installation())
                })
            })
            .collect();
        let outcomes = workers.into_iter().map(|worker| worker.join().unwrap());
        outcomes.filter(Result::is_ok).count()
    });
    assert_eq!((made, all(&orgs, &acme).total), (1, 1));
}

#[test]
fn contract_1_6_a_token_of_a_pool_identifies_nobody_here() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let pool = add_pool(&orgs, &acme, "pool");
    let issued = issue_token(&orgs, &acme, &pool);
    let credential = Credential::ApiToken(issued.secret);
    assert_eq!(orgs.identify(&credential, false).unwrap().identity, None);
}

#[test]
fn contract_4_9_a_pool_takes_its_tokens_with_it_however_many() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let (gone, kept) = (
        add_pool(&orgs, &acme, "gone"),
        add_pool(&orgs, &acme, "kept"),
    );
    let kept_token = issue_token(&orgs, &acme, &kept).token;
    let before = keys_with(&store, &[""]).len();
    add_tokens(&orgs, &acme, &gone, 250);
    let deleted = orgs.delete_agent_pool(&acme.external_id, &gone.id, &installation());
    assert_eq!(deleted, Ok(true));
    // Less the pool, its name and whose it is.
    assert_eq!(keys_with(&store, &[""]).len(), before - 3);
    assert_eq!(keys_with(&store, &[&gone.id, "/gone", "removed/"]), [""; 0]);
    assert_ne!(keys_with(&store, &[&kept_token.id]), [""; 0]);
    let again = orgs.delete_agent_pool(&acme.external_id, &gone.id, &installation());
    assert_eq!(again, Ok(false));
}

fn add_tokens<S: Store, C: Clock, R: Random>(
    orgs: &Orgs<S, C, R>,
    owner: &Organization,
    pool: &AgentPool,
    count: usize,
) {
    for _ in 0..count {
        issue_token(orgs, owner, pool);
    }
}

#[test]
fn a_delete_that_is_cut_off_leaves_the_pool_or_nothing_that_counts() {
    for stop in 0..20 {
        let world = World::new();
        let store = world.store();
        let orgs = world.orgs(&store);
        let acme = create(&orgs, "acme");
        let pool = add_pool(&orgs, &acme, "pool");
        add_tokens(&orgs, &acme, &pool, 120);
        let faulty = FaultyStore::stopping_after(&store, stop);
        let failing = world.orgs(&faulty);
        let deleted = failing.delete_agent_pool(&acme.external_id, &pool.id, &installation());
        let found = orgs.find_agent_pool(&acme.external_id, &pool.id).unwrap();
        assert_eq!(found.is_some(), stop == 0);
        assert_eq!(deleted.is_ok(), stop > 0);
        assert_eq!(all(&orgs, &acme).total, u64::from(stop == 0));
        orgs.maintain().unwrap();
        if stop > 0 {
            let left = keys_with(
                &store,
                &["apool-", "pool-name/", "token/", "tokens-of/", "removed/"],
            );
            assert_eq!(left, [""; 0], "stop {stop}");
        }
        if faulty.commits_left() > 0 {
            return;
        }
    }
    panic!("never came through");
}

#[test]
fn a_create_and_a_rename_that_are_cut_off_leave_one_pool_under_one_name() {
    for stop in 0..2 {
        let world = World::new();
        let store = world.store();
        let orgs = world.orgs(&store);
        let acme = create(&orgs, "acme");
        let pool = add_pool(&orgs, &acme, "pool");
        let faulty = [(); 2].map(|()| FaultyStore::stopping_after(&store, stop));
        let [renaming, making] = faulty.each_ref().map(|store| world.orgs(store));
        let (id, by) = (&acme.external_id, installation());
        let renamed = renaming.update_agent_pool(id, &pool.id, &pool_named("lake"), &by);
        let name = if renamed.is_ok() { "lake" } else { "pool" };
        assert_eq!(pool_names(&all(&orgs, &acme)), [name]);
        let index = keys_with(&store, &["/agent-pool-name/"]);
        assert_eq!(index, [format!("of/{id}/agent-pool-name/{name}")]);
        let made = making.create_agent_pool(id, &pool_named("new"), &by);
        assert_eq!(made.is_ok(), stop > 0);
        assert_eq!(all(&orgs, &acme).total, 1 + u64::from(stop));
    }
}

#[test]
fn contract_2_13_pools_their_names_and_tokens_go_with_the_organization() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let pool = add_pool(&orgs, &acme, "pool");
    let token = issue_token(&orgs, &acme, &pool).token;
    assert_eq!(orgs.delete_named("acme", &installation()), Ok(true));
    let left = keys_with(
        &store,
        &[&acme.external_id, &pool.id, &token.id, "token/", "removed/"],
    );
    assert_eq!(left, [""; 0]);
    let id = &acme.external_id;
    assert_eq!(
        orgs.create_agent_pool(id, &pool_named("late"), &installation()),
        Err(AgentPoolError::NotFound)
    );
    assert_eq!(keys_with(&store, &[id]), [""; 0]);
}

#[test]
fn a_name_that_looks_like_an_identifier_of_somebody_else_takes_nothing_of_theirs_along() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let globex = create(&orgs, "globex");
    let identifier = "apool-0123456789abcdef";
    let whose = WhoseRecord {
        organization: globex.external_id,
    };
    let mut transaction = Transaction::new();
    transaction
        .put(format!("whose/{identifier}"), &whose)
        .unwrap();
    orgs.records.commit(transaction).unwrap();
    add_pool(&orgs, &acme, identifier);
    assert_eq!(orgs.delete_named("acme", &installation()), Ok(true));
    let owner = orgs.organization_of(identifier).unwrap().unwrap();
    assert_eq!(owner.name, "globex");
}

#[test]
fn contract_4_15_what_is_done_with_a_pool_is_told_by_the_audit_trail() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let id = &acme.external_id;
    world.clock.advance(Duration::from_secs(1));
    let pool = add_pool(&orgs, &acme, "pool");
    world.clock.advance(Duration::from_secs(1));
    orgs.update_agent_pool(id, &pool.id, &pool_named("lake"), &installation())
        .unwrap();
    let default = OrganizationChanges {
        default_execution_mode: text("agent"),
        default_agent_pool_id: text(&pool.id),
        ..OrganizationChanges::default()
    };
    orgs.update_named("acme", &default, &installation())
        .unwrap();
    world.clock.advance(Duration::from_secs(1));
    let since = world.clock.now_milliseconds();
    orgs.delete_agent_pool(id, &pool.id, &installation())
        .unwrap();
    let told = |since| {
        let events = orgs.events(id, since, 1, 100).unwrap().events;
        let told = events
            .into_iter()
            .map(|event| (event.resource, event.operation, event.resource_id));
        let mut told: Vec<_> = told
            .map(|(resource, operation, id)| (resource.as_str(), operation.as_str(), id))
            .collect();
        told.sort();
        told
    };
    let of_pool = |operation| ("agent_pool", operation, pool.id.clone());
    let reset = ("organization", "update", id.clone());
    assert_eq!(told(since), [of_pool("destroy"), reset]);
    let all = told(0);
    for operation in ["create", "update", "destroy"] {
        assert!(all.contains(&of_pool(operation)), "{operation}");
    }
}
