//! A directory that is missing, or not whole.

use std::sync::Mutex;

use gatehouse_ports::{Change, Check, CommitError, Entry, Page, Put, StoreError};

use super::*;

/// A store in which an entry is damaged until it is written again.
struct Damaged<'a, C> {
    store: &'a MemoryStore<C>,
    key: Mutex<Option<String>>,
}

impl<C: Clock> Damaged<'_, C> {
    fn check<'k>(&self, mut keys: impl Iterator<Item = &'k str>) -> Result<(), StoreError> {
        let damaged = self.key.lock().unwrap().clone();
        match damaged {
            Some(damaged) if keys.any(|key| key == damaged) => Err(StoreError::Corrupt(damaged)),
            _ => Ok(()),
        }
    }
}

impl<C: Clock> Store for Damaged<'_, C> {
    fn get(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        self.check(keys.iter().copied())?;
        self.store.get(keys)
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError> {
        let page = self.store.scan(prefix, after, limit)?;
        self.check(page.items.iter().map(|item| item.key.as_str()))?;
        Ok(page)
    }

    fn commit(&self, checks: Vec<Check>, changes: Vec<Change>) -> Result<(), CommitError> {
        self.check(checks.iter().map(|check| check.key.as_str()))?;
        let mut damaged = self.key.lock().unwrap();
        if changes
            .iter()
            .any(|change| Some(change.key()) == damaged.as_deref())
        {
            *damaged = None;
        }
        drop(damaged);
        self.store.commit(checks, changes)
    }
}

/// A store with organizations and a directory of many leaves, with some pending changes.
fn filled(world: &World) -> (MemoryStore<&ManualClock>, Model) {
    let store = world.store();
    let orgs = world.orgs(&store).with_directory_shape(SMALL);
    for step in busy_steps() {
        assert_eq!(apply(&orgs, &step), Ok(true));
    }
    orgs.maintain().unwrap();
    for name in ["a", "b-a", "c-c-"] {
        create(&orgs, name);
    }
    let model = truth(&orgs);
    assert_lists(&orgs, &model);
    drop(orgs);
    (store, model)
}

#[test]
fn a_directory_that_was_damaged_is_built_again() {
    let number_of_keys = in_directory(&filled(&World::new()).0).len();
    assert!(number_of_keys > 6);
    for number in 0..number_of_keys {
        let world = World::new();
        let (store, model) = filled(&world);
        let key = in_directory(&store)[number].clone();
        let is_pending = key.starts_with("directory/pending/");
        let orgs = world.orgs(&store).with_directory_shape(SMALL);
        let put = |value: &[u8]| {
            Change::Put(Put {
                key: key.clone(),
                value: value.to_vec(),
                expires_at: None,
            })
        };
        let another_leaf = br#"..{"names":"a ","emails":"x@y "}"#;
        let mut harm = vec![put(b""), put(b"\0\x01{"), put(b"\0\x01[1]")];
        if key.starts_with("directory/leaf/") {
            let mut another_leaf = another_leaf.to_vec();
            another_leaf[..2].copy_from_slice(&[0, 1]);
            harm.push(put(&another_leaf));
        }
        if !is_pending {
            harm.push(Change::Delete(key.clone()));
        }
        for change in harm {
            store.commit(Vec::new(), vec![change.clone()]).unwrap();
            assert_lists(&orgs, &model);
            let fresh = world.orgs(&store).with_directory_shape(SMALL);
            assert_lists(&fresh, &model);
        }
        let damaged = Damaged {
            store: &store,
            key: Mutex::new(Some(key.clone())),
        };
        let fresh = world.orgs(&damaged).with_directory_shape(SMALL);
        assert_lists(&fresh, &model);
    }
}

#[test]
fn a_store_that_is_older_than_the_directory_gets_one() {
    let world = World::new();
    let (store, model) = filled(&world);
    let all = in_directory(&store).into_iter();
    let delete_all = all.map(Change::Delete).collect();
    store.commit(Vec::new(), delete_all).unwrap();

    let orgs = world.orgs(&store).with_directory_shape(SMALL);
    create(&orgs, "b-b");
    assert_eq!(in_directory(&store), ["directory/pending/b-b"]);
    let mut model = model;
    model.insert("b-b".to_owned(), "ops@example.com".to_owned());
    assert_lists(&orgs, &model);
    let commits = store.commits();
    assert_lists(&orgs, &model);
    assert_eq!(store.commits(), commits);
}

#[test]
fn a_directory_that_takes_too_many_steps_is_gone_on_with_by_the_next_request() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    for number in 0..40 {
        create(&orgs, &format!("org-{number:02}"));
    }
    let slow = Shape { step: 1, ..SMALL };
    let orgs = world.orgs(&store).with_directory_shape(slow);
    let filter = Filter {
        name: Some("9".to_owned()),
        ..Filter::default()
    };
    let search = || orgs.page_at(&Viewer::Everything, &filter, 1, 20);
    let refused = search().unwrap_err();
    assert!(matches!(&refused, ServiceError::Unavailable(why) if why.contains("being built")));
    // Changes in the meantime count.
    assert_eq!(orgs.delete_named("org-09", &installation()), Ok(true));
    assert_eq!(orgs.delete_named("org-39", &installation()), Ok(true));
    create(&orgs, "a-9");
    let page = search().unwrap();
    assert_eq!(names(&page.organizations), ["a-9", "org-19", "org-29"]);
}
