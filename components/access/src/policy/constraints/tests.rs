use super::*;

fn values(texts: &[&str]) -> Vec<ParameterValue> {
    texts
        .iter()
        .map(|text| ParameterValue::Text((*text).to_owned()))
        .collect()
}

fn listed(parameters: &[(&str, &[&str])]) -> Listed {
    parameters
        .iter()
        .map(|(name, texts)| ((*name).to_owned(), values(texts)))
        .collect()
}

fn allowed(parameters: &[(&str, &[&str])]) -> Constraints {
    Constraints {
        allowed: listed(parameters),
        ..Constraints::default()
    }
}

fn denied(parameters: &[(&str, &[&str])]) -> Constraints {
    Constraints {
        denied: listed(parameters),
        ..Constraints::default()
    }
}

fn required(names: &[&str]) -> Constraints {
    Constraints {
        required: names.iter().map(|name| (*name).to_owned()).collect(),
        ..Constraints::default()
    }
}

fn wrapped(min: Option<u64>, max: Option<u64>) -> Constraints {
    Constraints {
        min_wrapping_ttl: min,
        max_wrapping_ttl: max,
        ..Constraints::default()
    }
}

fn both(mut left: Constraints, right: &Constraints) -> Constraints {
    left.merge(right);
    left
}

fn permits(constraints: &Constraints, parameters: &[(&str, &str)]) -> bool {
    let parameters: Vec<Parameter> = parameters
        .iter()
        .map(|(name, value)| Parameter {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
        })
        .collect();
    constraints.permit_parameters(&parameters)
}

#[test]
fn contract_5_6_only_listed_parameters_are_allowed_where_any_are() {
    let some = allowed(&[("x", &["a", "b*"]), ("y", &[])]);
    assert!(permits(&some, &[]));
    assert!(permits(&some, &[("x", "\"a\"")]));
    assert!(permits(&some, &[("X", "\"bz\""), ("Y", "{\"any\":[1]}")]));
    assert!(!permits(&some, &[("x", "\"c\"")]));
    assert!(!permits(&some, &[("x", "\"a\""), ("z", "1")]));
    assert!(!permits(&some, &[("x", "\"a\""), ("X", "\"c\"")]));
    assert!(!permits(&some, &[("x", "no json")]));
    assert!(permits(&some, &[("y", "no json")]));
}

#[test]
fn contract_5_6_the_star_allows_what_is_not_listed_and_nothing_more() {
    let any = allowed(&[("*", &["a"]), ("y", &["z"])]);
    assert!(permits(&any, &[("x", "\"b\"")]));
    assert!(permits(&any, &[("y", "\"z\"")]));
    assert!(!permits(&any, &[("y", "\"q\"")]));
}

#[test]
fn contract_5_6_denied_parameters_come_first() {
    let mut some = denied(&[("x", &["a", "5"]), ("y", &[])]);
    assert!(permits(&some, &[]));
    assert!(permits(&some, &[("x", "\"b\""), ("z", "1")]));
    assert!(!permits(&some, &[("X", "\"a\"")]));
    assert!(!permits(&some, &[("x", "5")]));
    assert!(!permits(&some, &[("x", "\"\\ud800\"")]));
    assert!(!permits(&some, &[("y", "null")]));
    some.allowed = listed(&[("x", &[])]);
    assert!(!permits(&some, &[("x", "\"a\"")]));
    assert!(permits(&some, &[("x", "\"b\"")]));
    let all = denied(&[("*", &["anything"])]);
    assert!(permits(&all, &[]));
    assert!(!permits(&all, &[("x", "1")]));
}

#[test]
fn contract_5_6_required_parameters_must_be_there() {
    let some = required(&["x", "y"]);
    assert!(permits(&some, &[("X", "null"), ("y", "1"), ("z", "1")]));
    assert!(!permits(&some, &[("x", "1")]));
    assert!(!permits(&some, &[]));
}

#[test]
fn contract_1_8_limits_rule_out_plain_answers() {
    for (min, max, passing, refused) in [
        (None, None, &[None, Some(1)][..], &[][..]),
        (Some(60), None, &[Some(60), Some(61)], &[None, Some(59)]),
        (None, Some(60), &[Some(1), Some(60)], &[None, Some(61)]),
        (
            Some(60),
            Some(30),
            &[],
            &[None, Some(10), Some(30), Some(60)],
        ),
        (None, Some(0), &[], &[None, Some(1)]),
    ] {
        let limits = wrapped(min, max);
        for ttl in passing {
            assert!(limits.permit_wrapping(*ttl), "{min:?} {max:?} {ttl:?}");
        }
        for ttl in refused {
            assert!(!limits.permit_wrapping(*ttl), "{min:?} {max:?} {ttl:?}");
        }
    }
}

#[test]
fn contract_5_6_conditions_of_several_policies_add_up() {
    let united = both(
        allowed(&[("x", &["a"])]),
        &allowed(&[("x", &["b"]), ("y", &[])]),
    );
    assert_eq!(united, allowed(&[("x", &["a", "b"]), ("y", &[])]));
    for (left, right) in [(&[][..], &["b"][..]), (&["b"], &[])] {
        let united = both(allowed(&[("x", left)]), &allowed(&[("x", right)]));
        assert_eq!(united, allowed(&[("x", &[])]));
        let united = both(denied(&[("x", left)]), &denied(&[("x", right)]));
        assert_eq!(united, denied(&[("x", &[])]));
    }
    let constrained = allowed(&[("x", &["a"])]);
    assert_eq!(both(Constraints::default(), &constrained), constrained);
    assert_eq!(
        both(required(&["x"]), &required(&["y"])),
        required(&["x", "y"])
    );
}

#[test]
fn contract_5_6_the_shorter_of_two_limits_counts() {
    let limits = both(wrapped(Some(60), Some(90)), &wrapped(Some(30), Some(80)));
    assert_eq!(limits, wrapped(Some(30), Some(80)));
    let limits = both(wrapped(Some(60), None), &wrapped(None, Some(80)));
    assert_eq!(limits, wrapped(Some(60), Some(80)));
}

#[test]
fn contract_5_6_parameters_matter_to_reads_and_writes_only() {
    let some = required(&["x"]);
    for (operation, expected) in [
        (Operation::Read, true),
        (Operation::Update, true),
        (Operation::CreateOrUpdate, true),
        (Operation::Patch, true),
        (Operation::List, false),
        (Operation::Delete, false),
        (Operation::Help, false),
    ] {
        assert_eq!(some.concern_parameters(operation), expected);
        assert!(!wrapped(Some(1), None).concern_parameters(operation));
    }
}
