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
fn contract_5_6_a_list_is_decided_with_its_slash_first() {
    let rules = [rule("+/b*", &[List]), rule("a/b/+", &[Read])];
    assert_eq!(ask(&rules, "a/b/", true).capabilities(), [Read]);
    let rules = [rule("a/b", &[List]), rule("a/b/", &[Deny])];
    assert_eq!(ask(&rules, "a/b/", true).capabilities(), [Deny]);
    let rules = [rule("a/b", &[List]), rule("a/b/*", &[Deny])];
    assert_eq!(ask(&rules, "a/b/", true).capabilities(), [List]);
    let rules = [rule("a/+", &[List]), rule("a/+/+", &[Deny])];
    assert_eq!(ask(&rules, "a/b/", true).capabilities(), [Deny]);
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
    // The parameters of a deletion are not looked at, and its answer can be wrapped like any other.
    assert!(verdict.permits(Operation::Delete, &[], Some(5)));
    assert!(!verdict.permits(Operation::Delete, &[], None));
}

/// An identity of this name; it has an id and nothing else.
struct Named(&'static str);

impl Identity for Named {
    fn value(&self, placeholder: Placeholder<'_>) -> Option<&str> {
        match placeholder {
            Placeholder::EntityId => Some("1"),
            Placeholder::EntityName => Some(self.0),
            _ => None,
        }
    }
}

fn ask_as<'r>(rules: &'r [Rule], path: &str, identity: Option<&dyn Identity>) -> Verdict<'r> {
    let question = Question {
        path,
        list: false,
        identity,
    };
    question.decide(rules)
}

#[test]
fn a5_a_grant_whose_template_has_no_value_is_no_rule() {
    let text = r#"path "a/{{identity.entity.name}}" { capabilities = ["read"] }"#;
    let rules = compile(text).unwrap();
    for name in ["", "b/c", "+", "*", "b*"] {
        for path in ["a/b", "a/b/c", "a/+", "a/*", "a/"] {
            assert!(!ask_as(&rules, path, Some(&Named(name))).allows(Read));
        }
    }
    assert!(ask_as(&rules, "a/b", Some(&Named("b"))).allows(Read));
    assert!(!ask_as(&rules, "a/b", None).allows(Read));
}

#[test]
fn a5_a_denial_whose_template_has_no_value_denies_all_below_its_fixed_beginning() {
    let text = r#"path "*" { capabilities = ["read"] }
        path "a/b/c" { capabilities = ["read"] }
        path "a/b/{{identity.entity.metadata.k}}/d" { capabilities = ["deny"] }"#;
    let rules = compile(text).unwrap();
    for identity in [None, Some(&Named("x") as &dyn Identity)] {
        for (path, allowed) in [
            ("a/b/c", false),
            ("a/b/x/y/z", false),
            ("a/b", true),
            ("b", true),
        ] {
            assert_eq!(
                ask_as(&rules, path, identity).allows(Read),
                allowed,
                "{path}"
            );
        }
    }
    let text = r#"path "*" { capabilities = ["read"] }
        path "a/+/{{identity.entity.name}}" { capabilities = ["deny"] }"#;
    let rules = compile(text).unwrap();
    assert!(!ask_as(&rules, "a/b/c", Some(&Named(""))).allows(Read));
    assert!(ask_as(&rules, "b/c", Some(&Named(""))).allows(Read));
}

#[test]
fn a5_odd_values_in_a_denial_are_compared_literally() {
    let text = r#"path "*" { capabilities = ["read"] }
        path "a/{{identity.entity.name}}" { capabilities = ["deny"] }
        path "b/{{identity.entity.name}}*" { capabilities = ["deny"] }"#;
    let rules = compile(text).unwrap();
    for (name, denied, open) in [
        ("+", "a/+", "a/x"),
        ("+", "b/+x/y", "b/x"),
        ("*", "a/*", "a/x"),
        ("x*", "b/x*y", "b/xy"),
        ("x/y", "a/x/y", "a/x"),
        ("x/+", "a/x/+", "a/x/y"),
    ] {
        let named = Named(name);
        assert!(!ask_as(&rules, denied, Some(&named)).allows(Read), "{name}");
        assert!(ask_as(&rules, open, Some(&named)).allows(Read), "{name}");
    }
}

#[test]
fn a2_a_denial_in_upper_case_is_met() {
    for (written, asked) in [
        ("auth/gcp/role/Prod", "auth/gcp/role/prod"),
        ("auth/gcp/role/Prod/labels", "auth/gcp/role/prod/labels"),
        ("auth/gcp/role/Prod/*", "auth/gcp/role/prod/labels"),
        ("auth/gcp/role/Pr*", "auth/gcp/role/prod"),
        ("+/gcp/role/Prod", "auth/gcp/role/prod"),
        ("auth/+/+/Prod", "auth/gcp/role/prod"),
        ("sys/policies/acl/PROD", "sys/policies/acl/prod"),
        ("sys/+/acl/Prod", "sys/policies/acl/prod"),
        ("organizations/Acme", "organizations/acme"),
        ("organizations/Acme/+", "organizations/acme/teams"),
        (
            "organizations/Acme/{{identity.entity.name}}",
            "organizations/acme/bob",
        ),
        ("identity/entity/name/Bob", "identity/entity/name/bob"),
        ("identity/entity/name/bob", "identity/entity/name/BOB"),
    ] {
        let text = format!(
            "path \"*\" {{ capabilities = [\"read\"] }} path \"{written}\" {{ capabilities = [\"deny\"] }}"
        );
        let rules = compile(&text).unwrap();
        let verdict = ask_as(&rules, asked, Some(&Named("Bob")));
        assert_eq!(verdict.capabilities(), [Deny], "{written}");
    }
}

#[test]
fn a1_two_spellings_of_one_path_are_one_rule() {
    let text = r#"path "auth/gcp/role/Prod*" { capabilities = ["read"] }
        path "auth/gcp/role/prod*" { capabilities = ["deny"] }"#;
    let rules = compile(text).unwrap();
    assert_eq!(
        ask(&rules, "auth/gcp/role/prod", false).capabilities(),
        [Deny]
    );
}

#[test]
fn contract_5_6_what_is_granted_on_conditions_is_not_owned() {
    let text = r#"path "a" { capabilities = ["update"] allowed_parameters = { "email" = [] } }
        path "b" { capabilities = ["update"] min_wrapping_ttl = 5 }
        path "c" { capabilities = ["update"] }
        path "d" { capabilities = ["update"] required_parameters = ["x"] }
        path "e" { capabilities = ["update"] denied_parameters = { "x" = [] } }"#;
    let rules = compile(text).unwrap();
    for path in ["a", "b", "d", "e", "none"] {
        assert_eq!(
            ask(&rules, path, false).unconditional_capabilities(),
            [Deny]
        );
    }
    assert_eq!(
        ask(&rules, "c", false).unconditional_capabilities(),
        [Update]
    );
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

    /// The same in lower case throughout means the same: rules, path and names of the caller.
    #[test]
    fn a2_the_decision_does_not_change_with_the_case_of_names(
        rules in prop::collection::vec((pattern(), any::<bool>()), 1..6),
        (family, name) in (prop::sample::select(&FAMILIES[..]), "[xyXY]{1,2}"),
        end in prop::sample::select(vec!["", "/labels", "/"]),
        list: bool,
    ) {
        let asked = format!("{family}{name}{end}");
        let decide = |is_lower: bool| {
            let spelled = |text: &str| if is_lower { text.to_lowercase() } else { text.to_owned() };
            let rule = |(pattern, denies): &(String, bool)| {
                let granted = if *denies { "deny" } else { "read" };
                format!("path {:?} {{ capabilities = [{granted:?}] }}\n", spelled(pattern))
            };
            let rules = compile(&rules.iter().map(rule).collect::<String>()).unwrap();
            let question = Question {
                path: &spelled(&asked),
                list,
                identity: Some(&Named(if is_lower { "xy" } else { "xY" })),
            };
            question.decide(&rules).capabilities()
        };
        prop_assert_eq!(decide(false), decide(true));
    }
}

/// Before names that are found in any case.
const FAMILIES: [&str; 5] = [
    "auth/gcp/role/",
    "sys/policies/acl/",
    "sys/policy/",
    "organizations/",
    "identity/group/name/",
];

/// Rules about such names, with wildcards, globs and templates anywhere.
fn pattern() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        3 => "[xyXY]{1,2}",
        1 => Just("{{identity.entity.name}}".to_owned()),
        1 => Just("+".to_owned()),
    ];
    let end = prop::sample::select(vec!["", "", "*", "/labels", "/*", "/", "/+"]);
    (
        prop::sample::select(&FAMILIES[..]),
        name,
        end,
        prop::option::of(0..4_usize),
    )
        .prop_map(|(family, name, end, wild)| {
            let mut segments: Vec<&str> = family.split('/').collect();
            if let Some(segment) = wild
                .and_then(|wild| segments.get_mut(wild))
                .filter(|it| !it.is_empty())
            {
                *segment = "+";
            }
            segments.join("/") + &name + end
        })
        .prop_filter("refused", |pattern| !pattern.contains("+*"))
}
