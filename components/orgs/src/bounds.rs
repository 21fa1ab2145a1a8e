//! Bounds of the resources that callers can make in an organization.
//!
//! Lists of teams and members look at all of them, in an instance whose memory and time are limited: so their numbers are bounded.
//! Stores that are older hold more here and there. That stays, can be read and removed; only nothing is added.
//!
//! - `of/<external id>/count/<kind>`: how many there are of a kind. Where it is absent they are counted.

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Record, Transaction};
use serde::{Deserialize, Serialize};

use crate::owned_keys::{self, kind};
use crate::{Bounds, GeneralSettings, Orgs, ServiceError, Site};

/// How many there are of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct NumberRecord {
    number: u64,
}

impl Record for NumberRecord {
    const SCHEMA: u16 = 1;
}

fn count_key(organization: &str, kind_of_thing: &str) -> String {
    owned_keys::key(organization, kind::COUNT, kind_of_thing)
}

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    /// The bounds that hold now.
    pub(crate) fn bounds(&self) -> Result<Bounds, ServiceError> {
        let GeneralSettings { bounds, .. } = self.read_general_settings()?;
        Ok(bounds)
    }

    /// Adds to `transaction` that the organization has one more of a kind, of which it may have `most`; false where it has them.
    pub(crate) fn count_one_more(
        &self,
        transaction: &mut Transaction,
        organization: &str,
        kind: &str,
        most: u32,
    ) -> Result<bool, ServiceError> {
        let mut has_room = true;
        self.count_kind(transaction, organization, kind, |number| {
            has_room = number < u64::from(most);
            number.saturating_add(1)
        })?;
        Ok(has_room)
    }

    /// Adds to `transaction` that the organization has one less of a kind.
    pub(crate) fn count_one_less(
        &self,
        transaction: &mut Transaction,
        organization: &str,
        kind: &str,
    ) -> Result<(), ServiceError> {
        self.count_kind(transaction, organization, kind, |number| {
            number.saturating_sub(1)
        })
    }

    fn count_kind(
        &self,
        transaction: &mut Transaction,
        organization: &str,
        kind: &str,
        change: impl FnOnce(u64) -> u64,
    ) -> Result<(), ServiceError> {
        let key = count_key(organization, kind);
        let stored = self.records.get::<NumberRecord>(&key)?;
        let version = stored.as_ref().map(|stored| stored.version);
        let number = match stored {
            Some(stored) => stored.record.number,
            // A transaction that changes the number meanwhile writes it, and this transaction fails.
            None => self.number_of(organization, kind)?,
        };
        let number = change(number);
        transaction
            .require_unchanged(&key, version)
            .put(key, &NumberRecord { number })?;
        Ok(())
    }

    /// How many there are of a kind, counted.
    pub(crate) fn number_of(&self, organization: &str, kind: &str) -> Result<u64, ServiceError> {
        let mut number = 0;
        self.for_each_item(&owned_keys::prefix(organization, kind), |_| {
            number += 1;
            Ok(())
        })?;
        Ok(number)
    }
}
