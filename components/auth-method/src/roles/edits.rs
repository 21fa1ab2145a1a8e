//! Changes of one list of a role (contract 3.6).

use std::collections::BTreeMap;

use super::bindings::check_wildcard;
use super::lists::bound;
use super::{bounds, labels, requirements};
use crate::{EditError, ListEdit, Role, RoleRules};

/// One of the lists that can be changed by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EditedList {
    /// Of iam roles.
    ServiceAccounts,
    /// Of gce roles. Labels to remove are named by their keys.
    Labels,
}

/// True if `edit` says nothing.
pub(super) fn is_empty(edit: &ListEdit) -> bool {
    let blank = |entry: &String| entry.trim().is_empty();
    edit.add.iter().all(blank) && edit.remove.iter().all(blank)
}

/// Adds, then removes, then checks the whole role.
pub(super) fn apply(role: &mut Role, list: EditedList, edit: &ListEdit) -> Result<(), EditError> {
    let before = role.clone();
    let removed = bound(&edit.remove);
    let is_removed = |entry: &str| {
        removed
            .binary_search_by(|name| name.as_str().cmp(entry))
            .is_ok()
    };
    match (list, &mut role.rules) {
        (EditedList::ServiceAccounts, RoleRules::Iam(_)) => {
            let accounts = &mut role.bound_service_accounts;
            accounts.extend_from_slice(&edit.add);
            *accounts = bound(accounts);
            accounts.retain(|account| !is_removed(account));
            check_wildcard(role)?;
        }
        (EditedList::Labels, RoleRules::Gce(rules)) => {
            let added = labels::parse(&edit.add).map_err(EditError::InvalidLabels)?;
            // As a map, in which a label that is added takes the place of one with its key.
            let mut labels: BTreeMap<_, _> = std::mem::take(&mut rules.bound_labels)
                .into_iter()
                .collect();
            labels.extend(added);
            labels.retain(|key, _| !is_removed(key));
            rules.bound_labels = labels.into_iter().collect();
        }
        (_, rules) => return Err(EditError::WrongType(rules.role_type())),
    }
    requirements::check(role)?;
    Ok(bounds::check(role, Some(&before))?)
}
