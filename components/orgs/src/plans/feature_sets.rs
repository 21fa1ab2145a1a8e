//! The feature sets that there are (contract 4.2).

use super::entitlements::entitlements;
use crate::{FeatureSet, Plan};

/// A feature set as it is written down here.
struct Offer {
    id: &'static str,
    plan: Plan,
    name: &'static str,
    description: &'static str,
    comparison_description: &'static str,
}

impl Offer {
    fn feature_set(&self) -> FeatureSet {
        FeatureSet {
            id: self.id.to_owned(),
            plan: self.plan,
            name: self.name.to_owned(),
            description: self.description.to_owned(),
            comparison_description: self.comparison_description.to_owned(),
            entitlements: entitlements(self.plan),
        }
    }
}

/// From the free one up. The ids are written down because they are the same on every host and after every start.
const FEATURE_SETS: [Offer; 5] = [
    Offer {
        id: "fs-8HkrwYMfvea9jkxw",
        plan: Plan::Free,
        name: "Free",
        description: "Remote state, runs and a private registry",
        comparison_description: "For individuals and small teams",
    },
    Offer {
        id: "fs-kkMxzwwM5hpA6eEf",
        plan: Plan::Standard,
        name: "Standard (entitlement)",
        description: "Teams, policies, agents and single sign-on",
        comparison_description: "For teams that share their infrastructure",
    },
    Offer {
        id: "fs-ujfoRnxa6wHW35PB",
        plan: Plan::Plus,
        name: "Plus",
        description: "Teams, policies, agents, single sign-on and an audit trail",
        comparison_description: "For several teams under common rules",
    },
    Offer {
        id: "fs-bnm3NkiqNT1Nx4xy",
        plan: Plan::Business,
        name: "Business",
        description: "Teams, policies, agents, single sign-on and an audit trail",
        comparison_description: "For organizations with many teams",
    },
    Offer {
        id: "fs-B7LQ4DBqHboMSp4D",
        plan: Plan::Premium,
        name: "Premium",
        description: "Everything that there is",
        comparison_description: "For organizations that want it all",
    },
];

/// The ids that two of them had before, whose characters clients do not take for those of an id.
const FORMER_IDS: [(&str, Plan); 2] = [
    ("fs-8HlrwYMfvea9lkxw", Plan::Free),
    ("fs-bnm3NliqNT1Nx4xy", Plan::Business),
];

/// See [`super::Subscriptions::feature_sets`].
pub fn containing(text: &str) -> Vec<FeatureSet> {
    let text = text.to_lowercase();
    let mut found: Vec<_> = FEATURE_SETS
        .iter()
        .filter_map(|set| match_of(set.name, &text).map(|how| (how, set)))
        .collect();
    found.sort_by_key(|(how, _)| *how);
    found
        .into_iter()
        .map(|(_, set)| set.feature_set())
        .collect()
}

/// The plan that is offered under this id, or was.
pub fn plan_of(id: &str) -> Option<Plan> {
    let offered = FEATURE_SETS.iter().map(|set| (set.id, set.plan));
    offered
        .chain(FORMER_IDS)
        .find(|(known, _)| *known == id)
        .map(|(_, plan)| plan)
}

/// How well a name matches, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Match {
    Whole,
    Beginning,
    Part,
}

fn match_of(name: &str, text: &str) -> Option<Match> {
    let name = name.to_lowercase();
    if name == text {
        Some(Match::Whole)
    } else if name.starts_with(text) {
        Some(Match::Beginning)
    } else {
        name.contains(text).then_some(Match::Part)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::identifier::is_identifier;

    fn names(text: &str) -> Vec<String> {
        let found = containing(text).into_iter();
        found.map(|set| set.name).collect()
    }

    #[test]
    fn contract_4_2_every_plan_of_the_hosted_edition_is_offered_once() {
        let plans: BTreeSet<_> = FEATURE_SETS.iter().map(|set| set.plan.as_str()).collect();
        let expected = BTreeSet::from(["free", "standard", "plus", "business", "premium"]);
        assert_eq!(plans, expected);
        let ids: BTreeSet<_> = FEATURE_SETS.iter().map(|set| set.id).collect();
        assert_eq!(ids.len(), FEATURE_SETS.len());
        for set in &FEATURE_SETS {
            assert!(is_identifier("fs-", set.id), "{}", set.id);
            assert!(!set.id.contains(['0', 'O', 'I', 'l']), "{}", set.id);
            assert_eq!(plan_of(set.id), Some(set.plan));
        }
        assert_eq!(plan_of("fs-8HlrwYMfvea9lkxw"), Some(Plan::Free));
        assert_eq!(plan_of("fs-bnm3NliqNT1Nx4xy"), Some(Plan::Business));
        assert_eq!(plan_of("fs-0000000000000000"), None);
    }

    #[test]
    fn contract_4_2_the_best_match_comes_first() {
        for name in [
            "Free",
            "Standard (entitlement)",
            "Plus",
            "Business",
            "Premium",
        ] {
            assert_eq!(names(name), [name]);
            assert_eq!(names(&name.to_uppercase()), [name]);
        }
        assert_eq!(names("p"), ["Plus", "Premium"]);
        assert_eq!(names("s"), ["Standard (entitlement)", "Plus", "Business"]);
        assert_eq!(names("us"), ["Plus", "Business"]);
        assert_eq!(names("(ent"), ["Standard (entitlement)"]);
        assert_eq!(names("").len(), 5);
        assert_eq!(names("")[0], "Free");
        for wildcard in ["%", "*", "."] {
            assert!(names(wildcard).is_empty(), "{wildcard}");
        }
    }

    #[test]
    fn contract_4_2_a_whole_name_comes_before_one_that_only_contains_it() {
        let mut matches = [
            match_of("a plus", "plus"),
            match_of("plus or more", "plus"),
            match_of("Plus", "plus"),
        ];
        matches.sort();
        assert_eq!(
            matches,
            [
                Some(Match::Whole),
                Some(Match::Beginning),
                Some(Match::Part)
            ]
        );
    }
}
