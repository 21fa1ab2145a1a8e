use super::super::model::{self, Case};
use super::*;
use crate::policy::{Placeholder, compile};
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

/// A caller of whom little is known.
struct Known(&'static str);

impl Identity for Known {
    fn value(&self, placeholder: Placeholder<'_>) -> Option<&str> {
        match placeholder {
            Placeholder::EntityId => Some("1"),
            Placeholder::EntityMetadata("team") => Some(self.0).filter(|it| !it.is_empty()),
            _ => None,
        }
    }
}

fn ask_as<'r>(rules: &'r [Rule], identity: Option<&dyn Identity>, path: &str) -> Verdict<'r> {
    let question = Question {
        path,
        list: false,
        identity,
    };
    question.decide(rules)
}

#[test]
fn a5_a_rule_that_grants_and_has_no_value_is_no_rule() {
    let text = r#"path "a/{{identity.entity.metadata.team}}*" { capabilities = ["read"] }"#;
    let rules = compile(text).unwrap();
    assert!(ask_as(&rules, Some(&Known("x")), "a/x").allows(Read));
    for odd in ["", "+", "*", "x/y"] {
        assert!(!ask_as(&rules, Some(&Known(odd)), "a/x").allows(Read));
    }
    assert!(!ask_as(&rules, None, "a/x").allows(Read));
}

#[test]
fn a5_a_denial_without_a_value_denies_all_below_its_fixed_beginning() {
    let rules = compile(
        r#"path "secret/*" { capabilities = ["read"] }
           path "secret/ab*" { capabilities = ["read"] }
           path "secret/{{identity.entity.metadata.team}}/x" { capabilities = ["deny"] }"#,
    )
    .unwrap();
    let known = Known("ab");
    assert!(!ask_as(&rules, Some(&known), "secret/ab/x").allows(Read));
    assert!(ask_as(&rules, Some(&known), "secret/ab/y").allows(Read));
    for nobody in [Some(&Known("") as &dyn Identity), None] {
        assert!(!ask_as(&rules, nobody, "secret/ab/x").allows(Read));
        assert!(!ask_as(&rules, nobody, "secret/c").allows(Read));
    }
    let other = compile(r#"path "other" { capabilities = ["read"] }"#).unwrap();
    assert!(ask_as(&[rules, other].concat(), None, "other").allows(Read));
}

#[test]
fn a5_odd_values_stand_for_themselves_in_a_denial() {
    let rules = compile(
        r#"path "a/*" { capabilities = ["read"] }
           path "a/{{identity.entity.metadata.team}}/b" { capabilities = ["deny"] }"#,
    )
    .unwrap();
    for (team, denied, allowed) in [
        ("+", "a/+/b", "a/x/b"),
        ("*", "a/*/b", "a/x/b"),
        ("x/y", "a/x/y/b", "a/x/b"),
    ] {
        let caller = Known(team);
        assert!(
            !ask_as(&rules, Some(&caller), denied).allows(Read),
            "{team}"
        );
        assert!(
            ask_as(&rules, Some(&caller), allowed).allows(Read),
            "{team}"
        );
    }
}

#[test]
fn a2_a_denial_in_upper_case_meets_the_request_at_every_depth() {
    for (written, asked) in [
        ("auth/gcp/role/Prod", "auth/gcp/role/prod"),
        ("auth/gcp/role/Prod/labels", "auth/gcp/role/prod/labels"),
        ("auth/gcp/role/Prod/*", "auth/gcp/role/prod/labels"),
        ("auth/gcp/role/Pr*", "auth/gcp/role/prod"),
        ("+/gcp/role/Prod", "auth/gcp/role/prod"),
        ("auth/+/role/PROD", "auth/gcp/role/prod"),
        ("sys/+/acl/Prod", "sys/policies/acl/prod"),
        ("sys/policies/acl/Team/A", "sys/policies/acl/team/a"),
        ("identity/entity/name/Bob", "identity/entity/name/bOB"),
        ("identity/group/name/OPS", "identity/group/name/ops"),
        ("organizations/Acme", "organizations/acme"),
        ("organizations/A{{identity.entity.id}}", "organizations/a1"),
    ] {
        let text = format!(
            r#"path "*" {{ capabilities = ["read"] }} path "{written}" {{ capabilities = ["deny"] }}"#
        );
        let rules = compile(&text).unwrap();
        let caller = Known("");
        assert!(
            !ask_as(&rules, Some(&caller), asked).allows(Read),
            "{written}"
        );
    }
}

#[test]
fn a2_rules_that_differ_by_the_case_of_a_name_are_one() {
    let rules = compile(
        r#"path "auth/gcp/role/prod*" { capabilities = ["read"] }
           path "auth/gcp/role/PROD*" { capabilities = ["deny"] }"#,
    )
    .unwrap();
    assert!(!ask(&rules, "auth/gcp/role/prod1", false).allows(Read));
}

#[test]
fn contract_5_6_a_list_prefers_the_rule_for_the_path_with_its_slash() {
    let rules = [rule("a/+", &[Update]), rule("a/b/*", &[List])];
    assert!(ask(&rules, "a/b/", true).allows(List));
    assert!(!ask(&rules, "a/b/", true).allows(Update));
    // Only where nothing meets the path with its slash does the path without it count.
    let rules = [rule("a/b", &[List])];
    assert!(ask(&rules, "a/b/", true).allows(List));
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

    /// The decision does not change with the case of what is folded (SEC-A2).
    #[test]
    fn a2_the_case_of_a_name_decides_nothing(
        family in prop::sample::select(vec![
            "auth/gcp/role/", "auth/a/b/role/", "sys/policies/acl/", "sys/policy/",
            "identity/entity/name/", "identity/group/name/", "organizations/",
        ]),
        name in "[ab]{1,3}",
        end in prop::sample::select(vec!["", "/labels", "/service-accounts", "/"]),
        patterns in prop::collection::vec(
            (0_usize..8, "[abAB]{1,3}", prop::sample::select(vec!["", "*", "/*", "/labels", "/"]), any::<bool>()),
            1..5,
        ),
        list in any::<bool>(),
        upper in any::<u8>(),
    ) {
        let recased = |text: &str, seed: u8| -> String {
            let flip = |(index, letter): (usize, char)| match (seed >> (index % 8)) & 1 {
                1 => letter.to_ascii_uppercase(),
                _ => letter.to_ascii_lowercase(),
            };
            text.chars().enumerate().map(flip).collect()
        };
        let rules = |seed: u8| -> Vec<Rule> {
            let one = |(wild, name, end, denies): &(usize, String, &str, bool)| {
                let before: Vec<String> = family
                    .trim_end_matches('/')
                    .split('/')
                    .enumerate()
                    .map(|(at, segment)| if at == *wild { "+".to_owned() } else { segment.to_owned() })
                    .collect();
                let text = format!("{}/{}{end}", before.join("/"), recased(name, seed));
                rule(&text, if *denies { &[Deny] } else { &[Read, List] })
            };
            patterns.iter().map(one).collect()
        };
        // Lists of a role follow names of roles alone.
        let end = if family.starts_with("auth/") || end == "/" { end } else { "" };
        let path = format!("{family}{name}{end}");
        let lower = rules(0);
        let expected = ask(&lower, &path, list).capabilities();
        prop_assert_eq!(ask(&rules(upper), &path, list).capabilities(), expected.clone());
        let recased_path = format!("{family}{}{end}", recased(&name, upper));
        prop_assert_eq!(ask(&lower, &recased_path, list).capabilities(), expected);
    }
}
