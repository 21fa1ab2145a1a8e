//! Bounds of the lists of a role, and that a list that was given holds something (contract 3.2; SEC-S14).

use crate::{GceRules, Role, RoleBound, RoleChanges, RoleError, RoleRules};

/// Service accounts and projects: as many as a large organization has.
const MAXIMUM_CALLERS: usize = 10_000;
/// Entries of any other list.
const MAXIMUM_ENTRIES: usize = 1_000;
/// Longest entry, in bytes; of a label, key and value together.
const MAXIMUM_ENTRY_BYTES: usize = 512;

/// A list of a role: the name of its field, the most entries that it may have, and where it is.
type List = (&'static str, usize, fn(&Role) -> &[String]);

const LISTS: [List; 10] = [
    ("bound_service_accounts", MAXIMUM_CALLERS, |role| {
        &role.bound_service_accounts
    }),
    ("bound_projects", MAXIMUM_CALLERS, |role| {
        &role.bound_projects
    }),
    ("bound_folders", MAXIMUM_ENTRIES, |role| {
        &role.options.bound_folders
    }),
    ("bound_organizations", MAXIMUM_ENTRIES, |role| {
        &role.options.bound_organizations
    }),
    ("bound_audiences", MAXIMUM_ENTRIES, |role| {
        &role.options.bound_audiences
    }),
    ("bound_zones", MAXIMUM_ENTRIES, |role| {
        gce_list(role, |rules| &rules.bound_zones)
    }),
    ("bound_regions", MAXIMUM_ENTRIES, |role| {
        gce_list(role, |rules| &rules.bound_regions)
    }),
    ("bound_instance_groups", MAXIMUM_ENTRIES, |role| {
        gce_list(role, |rules| &rules.bound_instance_groups)
    }),
    ("token_policies", MAXIMUM_ENTRIES, |role| {
        &role.token.policies
    }),
    ("token_bound_cidrs", MAXIMUM_ENTRIES, |role| {
        &role.token.bound_cidrs
    }),
];

fn gce_list(role: &Role, list: fn(&GceRules) -> &Vec<String>) -> &[String] {
    match &role.rules {
        RoleRules::Gce(rules) => list(rules),
        RoleRules::Iam(_) => &[],
    }
}

/// Checks `role`, which is to replace `stored`. A list that an older release let exceed a bound may stay and shrink; it cannot grow.
pub(super) fn check(role: &Role, stored: Option<&Role>) -> Result<(), RoleError> {
    for (field, maximum, list) in LISTS {
        let (entries, before) = (list(role), stored.map_or(&[][..], list));
        if entries.len() > maximum && entries.len() > before.len() {
            return Err(too_many(field, maximum));
        }
        let is_new = |entry: &&String| entry.len() > MAXIMUM_ENTRY_BYTES && !before.contains(entry);
        if entries.iter().any(|entry| is_new(&entry)) {
            return Err(too_long(field));
        }
    }
    let RoleRules::Gce(rules) = &role.rules else {
        return Ok(());
    };
    let before = match stored.map(|stored| &stored.rules) {
        Some(RoleRules::Gce(rules)) => Some(&rules.bound_labels),
        _ => None,
    };
    let (count, count_before) = (rules.bound_labels.len(), before.map_or(0, |it| it.len()));
    if count > MAXIMUM_ENTRIES && count > count_before {
        return Err(too_many("bound_labels", MAXIMUM_ENTRIES));
    }
    let is_new = |label: &(String, String)| {
        label.0.len() + label.1.len() > MAXIMUM_ENTRY_BYTES
            && before.is_none_or(|before| !before.contains(label))
    };
    if rules.bound_labels.iter().any(is_new) {
        return Err(too_long("bound_labels"));
    }
    Ok(())
}

/// Refuses lists of nothing but blanks where an empty list lets every caller in: an unset variable leaves such a list behind, and an operator
/// who means to empty a list does not send one.
pub(super) fn refuse_blank_lists(changes: &RoleChanges) -> Result<(), RoleError> {
    let lists = [
        ("bound_service_accounts", &changes.bound_service_accounts),
        ("service_accounts", &changes.service_accounts),
        ("bound_projects", &changes.bound_projects),
        ("bound_folders", &changes.bound_folders),
        ("bound_organizations", &changes.bound_organizations),
        ("bound_zones", &changes.bound_zones),
        ("bound_regions", &changes.bound_regions),
        ("bound_instance_groups", &changes.bound_instance_groups),
        ("token_bound_cidrs", &changes.token_bound_cidrs),
    ];
    let is_blank =
        |list: &&Vec<String>| !list.is_empty() && list.iter().all(|entry| entry.trim().is_empty());
    match lists
        .into_iter()
        .find(|(_, list)| list.as_ref().is_some_and(|list| is_blank(&list)))
    {
        Some((field, _)) => Err(RoleError::BlankList(field.into())),
        None => Ok(()),
    }
}

fn too_many(field: &'static str, maximum: usize) -> RoleError {
    RoleError::TooMany(RoleBound {
        field: field.into(),
        maximum: maximum as u64,
    })
}

fn too_long(field: &'static str) -> RoleError {
    RoleError::TooLong(RoleBound {
        field: field.into(),
        maximum: MAXIMUM_ENTRY_BYTES as u64,
    })
}
