//! Lifetimes of tokens: the longest (contract 4.8), and the one where the request does not say (contract 4.6).

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Attempt, Loaded, Record, Transaction};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use serde::{Deserialize, Serialize};

use crate::audit_trail::AuditedOperations as _;
use crate::identifier::random_identifier;
use crate::owned_keys::{self, kind};
use crate::record::OrganizationRecord;
use crate::{Attribute, AttributeIssue, Caller, Fault, Orgs, Resource, ServiceError, TokenOwner};
use crate::{LifetimeChange, LifetimeError, LifetimePolicy, TokenKind};

/// Two mean years of the calendar, 365.2425 days each, in milliseconds (contract 4.8).
const TWO_YEARS: u64 = 63_113_904_000;

const LIFETIME_PREFIX: &str = "ttl-";

/// The kinds that every organization has a policy for, in the order in which they are shown.
const KINDS_FROM_CREATION: [TokenKind; 4] = [
    TokenKind::Organization,
    TokenKind::Team,
    TokenKind::User,
    TokenKind::AuditTrail,
];

/// The kind of an owner's tokens, if their lives are limited at all.
const fn kind_of(owner: &TokenOwner) -> Option<TokenKind> {
    match owner {
        TokenOwner::Organization(_) => Some(TokenKind::Organization),
        TokenOwner::Team(_) | TokenOwner::TeamNamed(_) => Some(TokenKind::Team),
        TokenOwner::AuditTrail(_) => Some(TokenKind::AuditTrail),
        TokenOwner::User(_) | TokenOwner::AgentPool(_) => None,
    }
}

/// The policies of an organization as they are stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LifetimesRecord {
    pub policies: Vec<LifetimePolicy>,
}

impl Record for LifetimesRecord {
    const SCHEMA: u16 = 1;
}

impl LifetimesRecord {
    /// The lifetimes of a new organization.
    pub fn new(random: &impl Random, now: u64) -> Result<Self, ServiceError> {
        let policies: Result<Vec<_>, ServiceError> = KINDS_FROM_CREATION
            .into_iter()
            .map(|kind| new_policy(kind, random, now))
            .collect();
        Ok(Self {
            policies: policies?,
        })
    }

    fn maximum(&self, kind: TokenKind) -> Option<u64> {
        let policy = self.policies.iter().find(|policy| policy.kind == kind);
        policy.map(|policy| policy.maximum)
    }

    fn set(
        &mut self,
        kind: TokenKind,
        maximum: u64,
        random: &impl Random,
        now: u64,
    ) -> Result<(), ServiceError> {
        let known = self.policies.iter_mut().find(|policy| policy.kind == kind);
        if let Some(policy) = known {
            policy.maximum = maximum;
            policy.updated_at = now;
        } else {
            self.policies.push(LifetimePolicy {
                maximum,
                ..new_policy(kind, random, now)?
            });
        }
        Ok(())
    }
}

fn new_policy(
    kind: TokenKind,
    random: &impl Random,
    now: u64,
) -> Result<LifetimePolicy, ServiceError> {
    Ok(LifetimePolicy {
        id: random_identifier(LIFETIME_PREFIX, random)?,
        kind,
        maximum: TWO_YEARS,
        created_at: now,
        updated_at: now,
    })
}

/// The key of an organization's policies.
pub(crate) fn lifetimes_key(external_id: &str) -> String {
    owned_keys::key(external_id, kind::TOKEN_LIFETIMES, "all")
}

/// When a token that is made now ends if the request does not say: two calendar years later. Only workers of agent pools keep theirs.
pub(super) fn usual_end(owner: &TokenOwner, now: u64) -> Option<u64> {
    match owner {
        TokenOwner::AgentPool(_) => None,
        TokenOwner::User(_)
        | TokenOwner::Organization(_)
        | TokenOwner::AuditTrail(_)
        | TokenOwner::Team(_)
        | TokenOwner::TeamNamed(_) => Some(two_years_after(now)),
    }
}

/// The same day two calendar years later; of a day that does not exist then, the one before.
fn two_years_after(milliseconds: u64) -> u64 {
    let later = i64::try_from(milliseconds)
        .ok()
        .and_then(|milliseconds| Timestamp::from_millisecond(milliseconds).ok())
        .and_then(|now| now.to_zoned(TimeZone::UTC).checked_add(2.years()).ok())
        .and_then(|later| u64::try_from(later.timestamp().as_millisecond()).ok());
    // Only beyond the calendar.
    later.unwrap_or_else(|| milliseconds.saturating_add(TWO_YEARS))
}

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    pub(super) fn load_lifetimes(
        &self,
        external_id: &str,
    ) -> Result<Option<Loaded<LifetimesRecord>>, ServiceError> {
        Ok(self.records.get(&lifetimes_key(external_id))?)
    }

    /// For how many milliseconds a token may live that is made now; `None` for no limit. Adds to `transaction` that it
    /// stays so.
    pub(super) fn longest_life(
        &self,
        transaction: &mut Transaction,
        organization: &OrganizationRecord,
        owner: &TokenOwner,
    ) -> Result<Option<u64>, ServiceError> {
        let Some(kind) = kind_of(owner).filter(|_| organization.settings.max_ttl_enabled) else {
            return Ok(None);
        };
        let external_id = &organization.external_id;
        let Some(lifetimes) = self.load_lifetimes(external_id)? else {
            return Ok(None);
        };
        transaction.require(lifetimes_key(external_id), lifetimes.version);
        Ok(lifetimes.record.maximum(kind))
    }

    pub(super) fn try_set_lifetimes(
        &self,
        external_id: &str,
        changes: &[LifetimeChange],
        by: &Caller,
    ) -> Result<Attempt<Vec<LifetimePolicy>>, LifetimeError> {
        let changes = judged(changes).map_err(LifetimeError::Invalid)?;
        let Some(lifetimes) = self.load_lifetimes(external_id)? else {
            return Err(LifetimeError::NotFound);
        };
        let now = self.clock.now_milliseconds();
        let mut record = lifetimes.record;
        for (kind, maximum) in changes {
            record.set(kind, maximum, &self.random, now)?;
        }
        let key = lifetimes_key(external_id);
        let mut transaction = Transaction::new();
        transaction
            .require(&key, lifetimes.version)
            .put(key, &record)?;
        let audited = Resource::TokenLifetimes.updated(external_id);
        self.note(&mut transaction, external_id, by, audited)?;
        let outcome = self.records.commit(transaction);
        Ok(Attempt::from_commit(outcome, record.policies)?)
    }
}

/// The changes, or everything that is wrong with them.
fn judged(changes: &[LifetimeChange]) -> Result<Vec<(TokenKind, u64)>, Vec<AttributeIssue>> {
    let mut issues = Vec::new();
    if changes.is_empty() {
        issues.push(AttributeIssue::new("token-ttl-policies", Fault::Blank));
    }
    let mut judged = Vec::with_capacity(changes.len());
    for change in changes {
        let kind = match &change.token_type {
            Attribute::Value(name) => TokenKind::parse(name).ok_or(Fault::NotIncluded),
            Attribute::WrongType => Err(Fault::NotText),
            Attribute::Absent | Attribute::Null => Err(Fault::Blank),
        };
        let maximum = match change.maximum {
            Attribute::Value(maximum) => u64::try_from(maximum)
                .ok()
                .filter(|maximum| *maximum > 0)
                .ok_or(Fault::NotPositive),
            Attribute::WrongType => Err(Fault::NotInteger),
            Attribute::Absent | Attribute::Null => Err(Fault::Blank),
        };
        match (kind, maximum) {
            (Ok(kind), Ok(maximum)) => judged.push((kind, maximum)),
            (kind, maximum) => {
                let issue = AttributeIssue::new;
                issues.extend(kind.err().map(|fault| issue("token-type", fault)));
                issues.extend(maximum.err().map(|fault| issue("max-ttl-ms", fault)));
            }
        }
    }
    if issues.is_empty() {
        Ok(judged)
    } else {
        Err(issues)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn later(text: &str) -> String {
        let now: Timestamp = text.parse().unwrap();
        let later = two_years_after(u64::try_from(now.as_millisecond()).unwrap());
        let later = i64::try_from(later).unwrap();
        Timestamp::from_millisecond(later).unwrap().to_string()
    }

    #[test]
    fn contract_4_6_two_years_are_those_of_the_calendar() {
        assert_eq!(later("2026-01-31T12:34:56Z"), "2028-01-31T12:34:56Z");
        assert_eq!(later("2027-03-01T00:00:00Z"), "2029-03-01T00:00:00Z");
        assert_eq!(later("2028-02-29T10:00:00Z"), "2030-02-28T10:00:00Z");
    }

    #[test]
    fn beyond_the_calendar_two_years_are_still_later() {
        assert_eq!(two_years_after(u64::MAX - TWO_YEARS), u64::MAX);
    }

    #[test]
    fn contract_4_8_two_years_of_a_policy() {
        assert_eq!(TWO_YEARS, 63_113_904_000);
    }
}
