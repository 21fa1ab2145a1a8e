//! Policies in the store: the operator's text, and the rules compiled from it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gatehouse_ports::{Clock, Item, Random, Store};
use gatehouse_storage::{Index, Records, Transaction, TransactionError};

use crate::api::{Policies, Policy, PolicyError, ServiceError};
use crate::path_name::is_path_name;
use crate::policy::{
    DEFAULT, RESPONSE_WRAPPING, RESPONSE_WRAPPING_TEXT, ROOT, compile, is_immutable, normalize_name,
};
use crate::records::{
    POLICY_NAME_PREFIX, POLICY_PREFIX, PolicyNameRecord, PolicyRecord, RulesRecord, policy_key,
    policy_name_key, rules_key,
};
use crate::service::AccessService;
use crate::token_store::MAXIMUM_POLICY_NAME_BYTES;

/// Longest policy text, in bytes, after base64 is decoded.
const MAXIMUM_TEXT_BYTES: usize = 256 * 1024;

/// The names of all policies, apart from their texts, which are too long to be read for a list.
pub(crate) const POLICY_NAMES: Index<'static> = Index {
    key: "index/policy-names",
    prefix: POLICY_PREFIX,
    at_once: 16,
    part: 16,
};

/// Names read at a time.
const ROUND: u32 = 500;

/// Adds the name of a policy to [`POLICY_NAMES`].
fn stage_name_of<S: Store>(transaction: &mut Transaction, item: &Item) -> Result<(), ServiceError> {
    let policy = Records::<S>::load::<PolicyNameRecord>(Some(item.entry.clone()))?;
    if let Some(policy) = policy {
        transaction
            .require(item.key.as_str(), policy.version)
            .put(policy_name_key(&policy.record.name), &policy.record)?;
    }
    Ok(())
}

fn checked_name(name: &str) -> Result<String, PolicyError> {
    let name = normalize_name(name);
    let usable = is_path_name(&name, MAXIMUM_POLICY_NAME_BYTES);
    usable.then_some(name).ok_or(PolicyError::InvalidName)
}

/// The policy in `given`, which may be base64 of it. No text of a policy is base64 by chance: it has spaces, braces or quotes.
fn decoded(given: &str) -> String {
    STANDARD
        .decode(given.trim())
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .unwrap_or_else(|| given.to_owned())
}

/// Reads a policy text, in HCL or JSON, and forgets what it says: the way that every text takes before it is stored.
///
/// # Errors
///
/// When the text does not parse, or holds what is unknown or not enforced.
pub fn check_policy(text: &str) -> Result<(), PolicyError> {
    compile(text).map(drop)
}

impl<S: Store, C: Clock, R: Random> Policies for AccessService<S, C, R> {
    fn list_policies(&self) -> Result<Vec<String>, ServiceError> {
        self.require_index(POLICY_NAMES, stage_name_of::<S>)?;
        let mut names = Vec::new();
        let mut position = None;
        loop {
            let store = self.records.store();
            let page = store.scan(POLICY_NAME_PREFIX, position.as_deref(), ROUND)?;
            position = page.items.last().map(|item| item.key.clone());
            for item in page.items {
                let policy = Records::<S>::load::<PolicyNameRecord>(Some(item.entry))?;
                names.extend(policy.map(|policy| policy.record.name));
            }
            if !page.more {
                names.sort_unstable();
                names.push(ROOT.to_owned());
                return Ok(names);
            }
        }
    }

    fn read_policy(&self, name: &str) -> Result<Option<Policy>, ServiceError> {
        let Ok(name) = checked_name(name) else {
            return Ok(None);
        };
        let built_in = match name.as_str() {
            ROOT => Some(""),
            RESPONSE_WRAPPING => Some(RESPONSE_WRAPPING_TEXT),
            _ => None,
        };
        if let Some(text) = built_in.map(str::to_owned) {
            return Ok(Some(Policy { name, text }));
        }
        let policy = self.records.get::<PolicyRecord>(&policy_key(&name))?;
        Ok(policy.map(|policy| Policy {
            name: policy.record.name,
            text: policy.record.text,
        }))
    }

    fn write_policy(&self, name: &str, text: &str) -> Result<(), PolicyError> {
        let name = checked_name(name)?;
        if is_immutable(&name) {
            return Err(PolicyError::CannotUpdate(name));
        }
        let text = decoded(text);
        if text.trim().is_empty() {
            return Err(PolicyError::Empty);
        }
        if text.len() > MAXIMUM_TEXT_BYTES {
            return Err(PolicyError::TooLong);
        }
        self.hasher()?;
        let mut transaction = Transaction::new();
        self.stage_policy(&mut transaction, &name, &text)?;
        self.commit_policy(transaction)
    }

    fn delete_policy(&self, name: &str) -> Result<(), PolicyError> {
        let name = checked_name(name)?;
        if name == DEFAULT {
            return Err(PolicyError::CannotDeleteDefault);
        }
        if is_immutable(&name) {
            return Err(PolicyError::CannotDelete(name));
        }
        let mut transaction = Transaction::new();
        transaction
            .delete(policy_key(&name))
            .delete(policy_name_key(&name))
            .delete(rules_key(&name));
        self.commit_policy(transaction)
    }
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// Does a bounded part of the work on the index of names, where an earlier version left none.
    pub(crate) fn advance_policy_names(&self) -> Result<bool, ServiceError> {
        self.advance_index(POLICY_NAMES, stage_name_of::<S>)
    }

    /// Adds a policy's text and its rules to a commit.
    pub(crate) fn stage_policy(
        &self,
        transaction: &mut Transaction,
        name: &str,
        text: &str,
    ) -> Result<(), PolicyError> {
        let rules = compile(text)?;
        let policy = PolicyRecord {
            name: name.to_owned(),
            text: text.to_owned(),
        };
        let named = PolicyNameRecord {
            name: name.to_owned(),
        };
        transaction
            .put(policy_key(name), &policy)?
            .put(policy_name_key(name), &named)?
            .put(rules_key(name), &RulesRecord { rules })?;
        Ok(())
    }

    /// Commits a policy whole; it depends on nothing that was read, so the last writer wins.
    fn commit_policy(&self, transaction: Transaction) -> Result<(), PolicyError> {
        self.records
            .commit(transaction)
            .map_err(|error| match error {
                TransactionError::Storage(error) => error.into(),
                TransactionError::Conflict(_) => ServiceError::Contended.into(),
            })
    }
}
