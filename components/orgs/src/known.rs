//! A cache of the records that most requests about an organization read: users, memberships, teams and organizations.
//!
//! They are kept decoded, and asked after by their versions before every use. What a pointer led to when it was last read is asked for together
//! with the pointer, so that a chain of two takes one call as long as nothing changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Cacheable, ReadAhead};

use crate::owned_keys::PointerRecord;
use crate::{Orgs, ServiceError};

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    /// The records of these keys, in their order, which are not decoded again as long as they have not changed, nor read again if they were
    /// read ahead.
    pub(crate) fn known<T: Cacheable>(
        &self,
        ahead: &ReadAhead,
        keys: impl IntoIterator<Item = String>,
    ) -> Result<Vec<Option<Arc<T>>>, ServiceError> {
        let keys: Vec<String> = keys.into_iter().collect();
        let count = keys.len();
        let mut reads = self.late.read_after(ahead, self.records.store(), keys)?;
        let mut records = Vec::with_capacity(count);
        for _ in 0..count {
            records.push(reads.next_record()?.map(|loaded| loaded.record));
        }
        Ok(records)
    }

    /// The records that pointers lead to, in the order of the keys of the pointers; `target` makes the key of a record of the place of its
    /// pointer and of that. Where the pointers led when they were last read is asked for together with them, which is mostly right.
    pub(crate) fn pointed_to<T: Cacheable>(
        &self,
        ahead: &ReadAhead,
        pointers: Vec<String>,
        target: impl Fn(usize, &PointerRecord) -> String,
    ) -> Result<Vec<Option<Arc<T>>>, ServiceError> {
        let foreseen = pointers.iter().enumerate().filter_map(|(place, pointer)| {
            let pointer = self.late.last_read::<PointerRecord>(pointer)?;
            Some(target(place, &pointer))
        });
        let foreseen: Vec<String> = foreseen.collect();
        let count = pointers.len();
        let asked = pointers.into_iter().chain(foreseen.iter().cloned());
        let asked = asked.collect();
        let mut reads = self.late.read_after(ahead, self.records.store(), asked)?;
        let mut wanted = Vec::with_capacity(count);
        for place in 0..count {
            let pointer = reads.next_record::<PointerRecord>()?;
            wanted.push(pointer.map(|pointer| target(place, &pointer.record)));
        }
        let mut found = BTreeMap::new();
        for key in foreseen {
            let record = reads.next_record::<T>()?;
            found.insert(key, record.map(|loaded| loaded.record));
        }
        let is_missing = |key: &&String| !found.contains_key(*key);
        let missing: Vec<String> = wanted
            .iter()
            .flatten()
            .filter(is_missing)
            .cloned()
            .collect();
        if !missing.is_empty() {
            let read = self.known(ahead, missing.clone())?;
            found.extend(missing.into_iter().zip(read));
        }
        let record = |key: Option<String>| found.get(&key?)?.clone();
        Ok(wanted.into_iter().map(record).collect())
    }
}

#[cfg(test)]
mod tests {
    use gatehouse_ports::doubles::CountingStore;
    use gatehouse_storage::{Record, Transaction};
    use serde::{Deserialize, Serialize};

    use super::*;
    use crate::world::World;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Thing(String);

    impl Record for Thing {
        const SCHEMA: u16 = 1;
    }

    impl Cacheable for Thing {}

    fn put<S: Store, C: Clock, R: Random>(
        orgs: &Orgs<S, C, R>,
        stage: impl FnOnce(&mut Transaction),
    ) {
        let mut transaction = Transaction::new();
        stage(&mut transaction);
        orgs.records.commit(transaction).unwrap();
    }

    fn found<S: Store, C: Clock, R: Random>(orgs: &Orgs<S, C, R>) -> Vec<Option<Arc<Thing>>> {
        let pointers = vec!["to/a".to_owned(), "to/b".to_owned()];
        let things = orgs.pointed_to(&ReadAhead::default(), pointers, |_, pointer| {
            format!("thing/{}", pointer.id)
        });
        things.unwrap()
    }

    fn texts(things: &[Option<Arc<Thing>>]) -> Vec<Option<&str>> {
        things
            .iter()
            .map(|thing| Some(thing.as_deref()?.0.as_str()))
            .collect()
    }

    #[test]
    fn s7_what_pointers_lead_to_takes_one_call_and_every_change_counts_at_once() {
        let world = World::new();
        let counting = CountingStore::new(world.store());
        let (reader, writer) = (world.orgs(&counting), world.orgs(&counting));
        put(&writer, |it| {
            it.put("to/a", &PointerRecord::to("1")).unwrap();
            it.put("thing/1", &Thing("one".to_owned())).unwrap();
            it.put("thing/2", &Thing("two".to_owned())).unwrap();
        });
        assert_eq!(texts(&found(&reader)), [Some("one"), None]);
        counting.take_counts();
        let kept = found(&reader);
        assert_eq!(texts(&kept), [Some("one"), None]);
        let counts = counting.take_counts();
        assert_eq!((counts.gets, counts.value_bytes), (1, 0), "{counts:?}");
        let again = found(&reader)[0].clone();
        assert!(Arc::ptr_eq(kept[0].as_ref().unwrap(), &again.unwrap()));

        put(&writer, |it| {
            it.put("thing/1", &Thing("other".to_owned())).unwrap();
        });
        assert_eq!(texts(&found(&reader)), [Some("other"), None]);
        put(&writer, |it| {
            it.put("to/a", &PointerRecord::to("2")).unwrap();
            it.put("to/b", &PointerRecord::to("1")).unwrap();
        });
        assert_eq!(texts(&found(&reader)), [Some("two"), Some("other")]);
        put(&writer, |it| {
            it.delete("thing/2");
        });
        assert_eq!(texts(&found(&reader)), [None, Some("other")]);
        put(&writer, |it| {
            it.delete("to/b");
        });
        assert_eq!(texts(&found(&reader)), [None, None]);
    }
}
