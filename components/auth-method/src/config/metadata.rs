//! The facts about a caller that go along with their token (contract 2.4).

use serde::{Deserialize, Serialize};

use crate::excerpt::value_excerpt;
use crate::{MetadataError, Unavailable};

/// Fields of iam roles, in the order of the default set.
pub(super) const IAM_FIELDS: &[&str] = &[
    "project_id",
    "role",
    "service_account_id",
    "service_account_email",
];

/// Fields of gce roles, in the order of the default set.
pub(super) const GCE_FIELDS: &[&str] = &[
    "instance_creation_timestamp",
    "instance_id",
    "instance_name",
    "project_id",
    "project_number",
    "role",
    "service_account_id",
    "service_account_email",
    "zone",
];

const DEFAULT: &str = "default";

/// The choice of an operator.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MetadataSelection {
    /// The default set, also after it has changed.
    #[default]
    Default,
    /// These, sorted.
    Fields(Vec<String>),
}

impl MetadataSelection {
    /// The choice that `names` expresses, among `available` fields.
    pub(super) fn from_names(
        names: &[String],
        available: &[&'static str],
    ) -> Result<Self, MetadataError> {
        let mut names: Vec<String> = names
            .iter()
            .map(|name| name.trim().to_lowercase())
            .filter(|name| !name.is_empty())
            .collect();
        names.sort_unstable();
        names.dedup();
        if names.iter().any(|name| name == DEFAULT) {
            return if names.len() == 1 {
                Ok(Self::Default)
            } else {
                let names = names.iter().map(|name| value_excerpt(name)).collect();
                Err(MetadataError::DefaultWithOthers(names))
            };
        }
        match names
            .iter()
            .find(|name| !available.contains(&name.as_str()))
        {
            Some(unknown) => Err(MetadataError::Unavailable(Unavailable {
                name: value_excerpt(unknown),
                available: available.iter().map(|name| (*name).to_owned()).collect(),
            })),
            None => Ok(Self::Fields(names)),
        }
    }

    /// The names in reading order.
    pub(super) fn names(&self, default: &[&str]) -> Vec<String> {
        match self {
            Self::Default => default.iter().map(|name| (*name).to_owned()).collect(),
            Self::Fields(names) => names.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn select(names: &[&str]) -> Result<MetadataSelection, MetadataError> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        MetadataSelection::from_names(&names, IAM_FIELDS)
    }

    #[test]
    fn contract_2_4_every_row_of_the_table() {
        assert_eq!(select(&["default"]), Ok(MetadataSelection::Default));
        assert_eq!(select(&["Default"]), Ok(MetadataSelection::Default));
        assert_eq!(select(&[]), Ok(MetadataSelection::Fields(vec![])));
        assert_eq!(select(&[""]), Ok(MetadataSelection::Fields(vec![])));
        let chosen = vec!["project_id".to_owned(), "role".to_owned()];
        assert_eq!(
            select(&["Role", "project_id", "role"]),
            Ok(MetadataSelection::Fields(chosen))
        );
        let names = vec!["a".to_owned(), "default".to_owned()];
        assert_eq!(
            select(&["default", "a"]),
            Err(MetadataError::DefaultWithOthers(names))
        );
        assert!(matches!(
            select(&["role", "zone"]),
            Err(MetadataError::Unavailable(Unavailable { name, .. })) if name == "zone"
        ));
    }
}
