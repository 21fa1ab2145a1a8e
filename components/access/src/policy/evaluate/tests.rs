use super::super::model::{self, Case};
use super::*;
use crate::policy::compile;
use proptest::prelude::*;

use Capability::{Deny, List, Read, Update};

fn rule(text: &str, capabilities: &[Capability]) -> Rule {
    let (pattern, prefix) = match text.strip_suffix('*') {
        Some(pattern) => (pattern, true),
        None => (text, false),
    };
    Rule {
        pattern: pattern.to_owned(),
        prefix,
        template: false,
        capabilities: capabilities.iter().copied().collect(),
        constraints: None,
    }
}

fn ask<'r>(rules: &'r [Rule], path: &str, list: bool) -> Verdict<'r> {
    let question = Question {
        path,
        list,
        identity: None,
    };
    question.decide(rules)
}

#[test]
fn a1_nothing_is_granted_without_a_rule() {
    assert_eq!(ask(&[], "a", false).capabilities(), [Deny]);
    let rules = [rule("a/b", &[Read])];
    assert!(!ask(&rules, "a", false).allows(Read));
    assert!(!ask(&rules, "a/b/", false).allows(Read));
}

#[test]
fn a1_an_exact_rule_decides_before_patterns() {
    let rules = [
        rule("a/*", &[Deny]),
        rule("a/b", &[Read]),
        rule("a/+", &[Deny]),
    ];
    assert!(ask(&rules, "a/b", false).allows(Read));
}

#[test]
fn a1_deny_wins_within_one_rule_text() {
    let rules = [
        rule("a/*", &[Read]),
        rule("a/*", &[Deny]),
        rule("a/*", &[Update]),
    ];
    assert_eq!(ask(&rules, "a/b", false).capabilities(), [Deny]);
}

#[test]
fn a1_the_more_specific_pattern_decides() {
    for (winner, loser) in [
        ("a/b/*", "a/*"),
        ("a/b/+", "a/+/c"),
        ("a/b/c*", "a/b/+"),
        ("a/+", "a/*"),
        ("a/+/c", "a/+/*"),
        ("a/+/c/+", "a/+/+/+"),
        ("a/+/c*", "a/+/*"),
    ] {
        let rules = [rule(loser, &[Deny]), rule(winner, &[Read])];
        let path = if winner.matches('/').count() == 3 {
            "a/b/c/d"
        } else if winner == "a/+" {
            "a/b"
        } else {
            "a/b/c"
        };
        assert!(
            ask(&rules, path, false).allows(Read),
            "{winner} over {loser}"
        );
    }
}

#[test]
fn lists_find_the_rule_without_the_slash() {
    let rules = [rule("auth/gcp/role", &[List])];
    assert!(ask(&rules, "auth/gcp/role/", true).allows(List));
    assert!(!ask(&rules, "auth/gcp/role/", false).allows(List));
    let rules = [rule("auth/+/role", &[List])];
    assert!(ask(&rules, "auth/gcp/role/", true).allows(List));
}

#[test]
fn a3_a_list_does_not_escape_a_denial_of_what_lies_below() {
    let rules = [
        rule("auth/gcp/*", &[List]),
        rule("auth/gcp/role/*", &[Deny]),
    ];
    assert!(!ask(&rules, "auth/gcp/role/", true).allows(List));
}

#[test]
fn contract_5_6_the_conditions_of_one_policy_hold_for_what_another_grants() {
    let rules = compile(
        r#"path "a" { capabilities = ["read"] required_parameters = ["x"] }
           path "a" { capabilities = ["update"] min_wrapping_ttl = 5 }"#,
    )
    .unwrap();
    let verdict = ask(&rules, "a", false);
    let x = [Parameter {
        name: "x".to_owned(),
        value: "1".to_owned(),
    }];
    assert!(verdict.allows(Read) && verdict.allows(Update));
    assert!(verdict.concerns_parameters(Operation::Update));
    assert!(verdict.permits(Operation::Update, &x, Some(5)));
    assert!(!verdict.permits(Operation::Update, &[], Some(5)));
    assert!(!verdict.permits(Operation::Update, &x, None));
    // Nobody looks at the parameters of a deletion, and its answer can be wrapped like any other.
    assert!(verdict.permits(Operation::Delete, &[], Some(5)));
    assert!(!verdict.permits(Operation::Delete, &[], None));
}

#[test]
fn a5_a_rule_whose_template_has_no_value_is_no_rule() {
    struct Nobody;
    impl Identity for Nobody {
        fn value(&self, placeholder: super::super::Placeholder<'_>) -> Option<&str> {
            (placeholder == super::super::Placeholder::EntityId).then_some("1")
        }
    }
    let rules = compile(
        r#"path "a/{{identity.entity.id}}" { capabilities = ["read"] }
           path "a/{{identity.entity.name}}*" { capabilities = ["deny"] }"#,
    )
    .unwrap();
    let decide = |identity: Option<&dyn Identity>| {
        let question = Question {
            path: "a/1",
            list: false,
            identity,
        };
        question.decide(&rules).allows(Read)
    };
    assert!(decide(Some(&Nobody)));
    assert!(!decide(None));
}

/// How many cases a property is tried with; more by `PROPTEST_CASES`.
fn cases() -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok();
    ProptestConfig::with_cases(asked.and_then(|it| it.parse().ok()).unwrap_or(4096))
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn a1_agrees_with_an_independent_evaluator(case in model::case()) {
        let Case { policies, identity, path, operation, parameters, wrap_ttl } = &case;
        let rules: Vec<Rule> = policies.iter().flat_map(|it| compile(&it.text()).unwrap()).collect();
        let question = Question {
            path,
            list: *operation == Operation::List,
            identity: identity.as_ref().map(|it| it as &dyn Identity),
        };
        let verdict = question.decide(&rules);
        let expected = case.decide();
        let mut capabilities = verdict.capabilities();
        capabilities.sort_unstable();
        prop_assert_eq!(&capabilities, &expected.capabilities);
        prop_assert_eq!(verdict.permits(*operation, parameters, *wrap_ttl), expected.permitted);

        let mut backwards: Vec<Rule> = rules.clone();
        backwards.reverse();
        let verdict = question.decide(&backwards);
        let mut reversed = verdict.capabilities();
        reversed.sort_unstable();
        prop_assert_eq!(reversed, capabilities);
        prop_assert_eq!(verdict.permits(*operation, parameters, *wrap_ttl), expected.permitted);
    }
}
