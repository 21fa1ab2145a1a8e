//! The fields that only gce roles have: where instances are, their labels, and how old they are.

use super::bindings::deprecated;
use super::labels;
use super::lists::{bound, resource_names};
use super::{set, true_names};
use crate::{GceRules, RoleChanges, RoleError, RoleWarning, SentTwice};

pub(super) fn apply(
    rules: &mut GceRules,
    changes: &RoleChanges,
    warnings: &mut Vec<RoleWarning>,
) -> Result<(), RoleError> {
    let lists = [
        (
            &mut rules.bound_zones,
            ("bound_zones", &changes.bound_zones),
            ("bound_zone", &changes.bound_zone),
        ),
        (
            &mut rules.bound_regions,
            ("bound_regions", &changes.bound_regions),
            ("bound_region", &changes.bound_region),
        ),
        (
            &mut rules.bound_instance_groups,
            ("bound_instance_groups", &changes.bound_instance_groups),
            ("bound_instance_group", &changes.bound_instance_group),
        ),
    ];
    for (list, (new, all), (old, one)) in lists {
        match (all, one) {
            (Some(_), Some(_)) => {
                return Err(RoleError::SentTwice(SentTwice {
                    old: old.into(),
                    new: new.into(),
                }));
            }
            (Some(all), None) => *list = resource_names(all),
            (None, Some(one)) => {
                list.extend(resource_names(std::slice::from_ref(one)));
                *list = bound(list);
                warnings.push(deprecated(old, new));
            }
            (None, None) => {}
        }
    }
    if let Some(entries) = &changes.bound_labels {
        let labels = labels::parse(entries).map_err(RoleError::InvalidLabels)?;
        rules.bound_labels = labels.into_iter().collect();
    }
    set(&mut rules.maximum_instance_age, changes.max_instance_age);
    Ok(())
}

/// The fields among those sent that only gce roles have, sorted.
pub(super) fn sent(changes: &RoleChanges) -> Vec<String> {
    true_names([
        (
            "bound_instance_groups",
            changes.bound_instance_groups.is_some(),
        ),
        ("bound_labels", changes.bound_labels.is_some()),
        ("bound_regions", changes.bound_regions.is_some()),
        ("bound_zones", changes.bound_zones.is_some()),
        ("max_instance_age", changes.max_instance_age.is_some()),
    ])
}
