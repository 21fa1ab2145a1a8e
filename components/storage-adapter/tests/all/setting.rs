//! One bucket, and instances of the adapter that use it.

use std::collections::BTreeMap;
use std::sync::Arc;

use gatehouse_ports::doubles::{ManualClock, SharedTime};
use gatehouse_ports::{
    Change, Check, CommitError, OsRandom, Put, Requirement, Store, StoreError, Version,
};
use gatehouse_storage_adapter::Adapter;
use gatehouse_wasi_key_value::{AdapterHost, KeyValue};

pub const LABEL: &str = "access";
pub const SEAL_KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
pub const HEAD: &str = "gatehouse.access.records.head";

pub type Instance = Adapter<AdapterHost, SharedTime, OsRandom>;

/// A bucket and a clock.
pub struct Setting {
    pub stores: KeyValue,
    pub time: SharedTime,
}

impl Setting {
    pub fn new() -> Self {
        Self {
            stores: KeyValue::new(&[LABEL, "orgs"]),
            time: SharedTime(Arc::new(ManualClock::at_seconds(1000))),
        }
    }

    /// A fresh instance, for which nothing goes wrong.
    pub fn instance(&self) -> Instance {
        self.instance_of(self.stores.another_client())
    }

    /// A fresh instance that is this client.
    pub fn instance_of(&self, client: KeyValue) -> Instance {
        self.instance_at(AdapterHost::new(client, SEAL_KEY))
    }

    /// A fresh instance on this host.
    pub fn instance_at(&self, host: AdapterHost) -> Instance {
        Adapter::new(host, LABEL, self.time.clone(), OsRandom)
    }

    /// The names of all records but the notes, of which there are as many as happens.
    pub fn records(&self) -> Vec<String> {
        let mut names = self.stores.stored_keys(LABEL);
        names.retain(|name| !name.contains(".attempt."));
        names
    }

    /// The entries that a fresh instance reads, by key.
    pub fn contents(&self) -> BTreeMap<String, String> {
        contents(&self.instance())
    }
}

/// Everything in the store, by key, read in small pages.
pub fn contents(store: &impl Store) -> BTreeMap<String, String> {
    let mut contents = BTreeMap::new();
    let mut after: Option<String> = None;
    loop {
        let page = store.scan("", after.as_deref(), 7).unwrap();
        for item in page.items {
            let text = String::from_utf8(item.entry.value).unwrap();
            after = Some(item.key.clone());
            contents.insert(item.key, text);
        }
        if !page.more {
            return contents;
        }
    }
}

pub fn put(key: &str, value: &str) -> Change {
    Change::Put(Put {
        key: key.to_owned(),
        value: value.as_bytes().to_vec(),
        expires_at: None,
    })
}

pub fn put_until(key: &str, value: &str, expires_at: u64) -> Change {
    Change::Put(Put {
        key: key.to_owned(),
        value: value.as_bytes().to_vec(),
        expires_at: Some(expires_at),
    })
}

pub fn delete(key: &str) -> Change {
    let key = key.to_owned();
    Change::Delete(key)
}

pub fn absent(key: &str) -> Check {
    Check {
        key: key.to_owned(),
        requirement: Requirement::Absent,
    }
}

pub fn at_version(key: &str, version: Version) -> Check {
    Check {
        key: key.to_owned(),
        requirement: Requirement::AtVersion(version),
    }
}

pub fn value(store: &impl Store, key: &str) -> Option<String> {
    let entry = store.get(&[key]).unwrap().remove(0)?;
    Some(String::from_utf8(entry.value).unwrap())
}

/// A value that has pages of its own.
pub fn large(seed: usize) -> String {
    format!("{seed:08}").repeat(50_000)
}

/// The smallest kind of value that has pages of its own.
pub fn apart(seed: usize) -> String {
    format!("{seed:08}").repeat(250)
}

/// A store with so many entries that its tree has two levels below the root.
pub fn fill(store: &impl Store) -> BTreeMap<String, String> {
    let entry = |number: usize| {
        let key = format!("{}/{number:04}", "entry".repeat(10));
        (key, format!("{number} ").repeat(40))
    };
    let entries: BTreeMap<String, String> = (0..900).map(entry).collect();
    let changes = entries.iter().map(|(key, value)| put(key, value)).collect();
    store.commit(vec![], changes).unwrap();
    entries
}

/// The reason that an instance gives for which nothing can be read or written.
pub fn told(instance: &impl Store) -> String {
    let read = instance.get(&["a"]).unwrap_err();
    let written = instance.commit(vec![], vec![put("a", "2")]).unwrap_err();
    assert_eq!(written, CommitError::Failed(read.clone()));
    match read {
        StoreError::Unavailable(why) => why,
        other => panic!("{other:?}"),
    }
}
