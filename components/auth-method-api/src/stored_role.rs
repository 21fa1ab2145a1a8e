//! The form of a role in the store: the members of the role as the WIT has them, except those that have their default.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::Role;

impl gatehouse_storage::Record for Role {
    const SCHEMA: u16 = 1;
}

/// Writes the members of `record` that differ from the default, in their order. Its type is read with `#[serde(default)]`, so that roles of
/// releases that did not know a member can be read, and roles that do not use it are stored as those releases stored them.
pub(crate) fn only_what_is_set<R: Serialize + Default, S: Serializer>(
    record: &R,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let unset = serde_json::to_value(R::default()).map_err(S::Error::custom)?;
    let json = serde_json::to_string(record).map_err(S::Error::custom)?;
    let Members(members) = serde_json::from_str(&json).map_err(S::Error::custom)?;
    let is_set = |(name, value): &&(String, Value)| unset.get(name) != Some(value);
    let set = members.iter().filter(is_set);
    serializer.collect_map(set.map(|(name, value)| (name, value)))
}

/// The members of a JSON object, in their order, which a map of `serde_json` does not keep.
struct Members(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Members;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Reader)
    }
}

/// Labels in the store: a JSON object, sorted by key. The WIT has no maps, so the type holds a list.
pub(crate) mod labels {
    use std::collections::BTreeMap;

    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    pub(crate) fn serialize<S: Serializer>(
        labels: &[(String, String)],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let labels = labels.iter().map(|(key, value)| (key, value));
        labels.collect::<BTreeMap<_, _>>().serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<(String, String)>, D::Error> {
        let labels = BTreeMap::deserialize(deserializer)?;
        Ok(labels.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use crate::{IamRules, Role, RoleOptions, RoleRules};

    const IAM: &str = r#"{"iam":{"maximum_jwt_lifetime":900,"allow_gce_inference":true}}"#;

    /// A role as a release stored it that knew no options.
    fn without_options(rules: &str) -> String {
        let token = r#"{"ttl":0,"maximum_ttl":0,"explicit_maximum_ttl":0,"period":0,"policies":[],"bound_cidrs":[],"no_default_policy":false,"number_of_uses":0,"token_type":"default"}"#;
        format!(
            r#"{{"role_id":"ID","rules":{rules},"bound_service_accounts":["*"],"bound_projects":[],"add_group_aliases":false,"token":{token},"legacy":{{}}}}"#
        )
    }

    #[test]
    fn a_role_of_a_release_that_knew_no_options_is_read_and_stored_as_it_was() {
        for rules in [IAM, r#"{"gce":{}}"#, r#"{"gce":{"bound_zones":["z"]}}"#] {
            let stored = without_options(rules);
            let role: Role = serde_json::from_str(&stored).unwrap();
            assert_eq!(role.options, RoleOptions::default());
            assert_eq!(serde_json::to_string(&role).unwrap(), stored);
        }
    }

    #[test]
    fn what_an_iam_role_lacks_is_as_strict_as_it_can_be() {
        let role: Role = serde_json::from_str(&without_options(r#"{"iam":{}}"#)).unwrap();
        let strictest = IamRules {
            maximum_jwt_lifetime: 0,
            allow_gce_inference: false,
        };
        assert_eq!(role.rules, RoleRules::Iam(strictest));
    }

    #[test]
    fn a_role_without_its_bounds_or_with_an_option_of_another_type_is_damaged() {
        let stored = without_options(IAM);
        for (member, other) in [
            (r#""bound_projects":[],"#, ""),
            (r#""bound_service_accounts":["*"],"#, ""),
            (r#""legacy":{}"#, r#""legacy":{},"refuse_replay":1"#),
            (r#""legacy":{}"#, r#""legacy":{},"bound_folders":"7""#),
            (
                r#""legacy":{}"#,
                r#""legacy":{},"trust_claims":false,"trust_claims":true"#,
            ),
        ] {
            let damaged = stored.replace(member, other);
            assert_ne!(damaged, stored);
            assert!(serde_json::from_str::<Role>(&damaged).is_err(), "{damaged}");
        }
    }
}
