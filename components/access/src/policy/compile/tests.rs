use std::collections::{BTreeMap, BTreeSet};

use super::super::DEFAULT_TEXT;
use super::*;
use Capability::{Create, Delete, Deny, List, Read, Sudo, Update};
use proptest::prelude::*;

fn rule(pattern: &str, prefix: bool, capabilities: &[Capability]) -> Rule {
    Rule {
        pattern: pattern.to_owned(),
        prefix,
        template: false,
        capabilities: capabilities.iter().copied().collect(),
        constraints: None,
    }
}

/// The rule of path `a` with `text` in its block.
fn compiled(text: &str) -> Rule {
    let text = format!("path \"a\" {{ {text} }}");
    compile(&text).unwrap().remove(0)
}

/// The conditions of path `a` with `text` in its block.
fn constraints(text: &str) -> Constraints {
    let rule = compiled(&format!("capabilities = [\"read\"] {text}"));
    *rule.constraints.unwrap_or_default()
}

fn refusal(text: &str) -> String {
    compile(text).unwrap_err().to_string()
}

#[test]
fn hcl_and_json_give_the_same_rules() {
    let expected = [
        rule("auth/gcp/role/", true, &[Read, List]),
        rule("sys/auth", false, &[Read]),
    ];
    let hcl = r#"
        # comment
        // comment
        /* comment
           over lines */
        name = "dev"
        path "auth/gcp/role/*" { capabilities = ["read", "list"] }
        path "/sys/auth" {
          comment = <<EOT
why
EOT
          capabilities = [
            "read",
          ]
        }
    "#;
    assert_eq!(compile(hcl), Ok(expected.to_vec()));
    assert_eq!(compile(&hcl.replace('\n', "\r\n")), Ok(expected.to_vec()));
    let json = r#"{"name":"dev","path":{"auth/gcp/role/*":{"capabilities":["read","list"]},"sys\u002fauth":{"capabilities":["read"]}}}"#;
    assert_eq!(compile(json), Ok(expected.to_vec()));
}

#[test]
fn repeated_paths_and_lists_all_count() {
    let hcl = r#"
        path "a" { capabilities = ["read"] }
        path "a" { capabilities = ["deny"] }
    "#;
    let expected = [rule("a", false, &[Read]), rule("a", false, &[Deny])];
    assert_eq!(compile(hcl), Ok(expected.to_vec()));
    let json = r#"{"path":{"a":{"capabilities":["deny"]},"a":{"capabilities":["read"]}}}"#;
    assert_eq!(compile(json).unwrap().len(), 2);
    let json = r#"{"path":{"a":{"capabilities":["deny"],"capabilities":["read"]}}}"#;
    assert_eq!(compile(json), Ok(vec![rule("a", false, &[Deny])]));
    let both = compiled(r#"capabilities = ["read"] capabilities = ["list"]"#);
    assert_eq!(both, rule("a", false, &[Read, List]));
}

#[test]
fn the_old_key_stands_for_several_capabilities() {
    let rows: [(&str, &[Capability]); 5] = [
        ("", &[]),
        ("deny", &[Deny]),
        ("read", &[Read, List]),
        ("write", &[Create, Read, Update, Delete, List]),
        ("sudo", &[Create, Read, Update, Delete, List, Sudo]),
    ];
    for (word, expected) in rows {
        let text = format!("policy = \"{word}\"");
        assert_eq!(compiled(&text), rule("a", false, expected));
    }
    let last = compiled(r#"policy = "write" policy = "read" capabilities = ["update"]"#);
    assert_eq!(last, rule("a", false, &[Read, List, Update]));
}

/// Texts that the reference accepts.
const ACCEPTED: &[&str] = &[
    "",
    " ",
    "# only a comment",
    "path \"a\"\n{\n capabilities = [\"read\"]\n}",
    r#"path "a" { capabilities = ["read"] comment = "x" }"#,
    r#"path "a" { capabilities = ["read"], comment = "x", }"#,
    r#""path" "a" { "capabilities" = ["read"] }"#,
    r#"path a { capabilities = ["read"] }"#,
    r#"path "a" {} path "b" { }"#,
    "path {}",
    "path = {}",
    r#"path "a" { capabilities = [] }"#,
    r#"path "a" { capabilities = ["read",] }"#,
    r#"path "a" { capabilities = [,"read"] }"#,
    r#"path "a" { capabilities = ["read",,"list"] }"#,
    "name = 5",
    r#"path "a${x}" { capabilities = ["read"] }"#,
    r#"path "a${"x"}b" { capabilities = ["read"] }"#,
    "path \"a${\n}b\" { capabilities = [\"read\"] }",
    r#"path "a%{x}" { capabilities = ["read"] }"#,
    r#"path "a$${x}" { capabilities = ["read"] }"#,
    r#"path "a\"\u0041\U00000041\x41\101\a\b\f\n\r\t\v\\" {}"#,
    "# c\n// c\n/* c\n*/ path \"a\" { # d\n capabilities /* e */ = // f\n [\"read\", # g\n \"list\" /* h */ ] }",
    "path \"a\" { comment = <<EOT\nx\nEOT\n capabilities = [\"read\"] }",
    "path \"a\" { comment = <<-EOT\n   x\n   EOT\n capabilities = [\"read\"] }",
    r#"path "a" { comment = 5 }"#,
    r#"path "a" { comment = 5.5 }"#,
    r#"path "a" { comment = true }"#,
    r#"path "a" { comment = ["x"] }"#,
    r#"path "a" { comment = {} }"#,
    r#"path "a" { comment = 0x1F }"#,
    r#"path "a" { comment = 08 }"#,
    r#"path "a" { comment = 1e5 }"#,
    r#"path "a" { comment = -1 }"#,
    r#"path "a" { min_wrapping_ttl = 90capabilities = ["read"] comment = 0x1Fpolicy = "read" }"#,
    r#"path "a" { comment = .5 }"#,
    r#"path "a" { comment = 1. }"#,
    r#"path "a" { policy = "deny" capabilities = ["read"] }"#,
    r#"path "a" { allowed_parameters = { "x" = ["a"] "*" = [] } }"#,
    r#"path "a" { allowed_parameters { x = ["a", 1, 1.5, true, ["l"], {o=1}] } }"#,
    r#"path "a" { allowed_parameters = {} }"#,
    r#"path "a" { allowed_parameters = { x = {} } }"#,
    r#"path "a" { denied_parameters { x = ["a"] } denied_parameters { y = ["b"] } }"#,
    r#"path "a" { required_parameters = ["x", 1] }"#,
    r#"path "a" { min_wrapping_ttl = "1m" max_wrapping_ttl = 90 }"#,
    r#"path "a" { min_wrapping_ttl = "" max_wrapping_ttl = 1.5 }"#,
    r#"path "a*b" {} path "a**" {} path "" {} path "//a" {} path "*" {}"#,
    r#"path "{{identity.entity.id}}" {} path "{{ identity.entity.metadata.a b }}" {}"#,
    r#"path "{{identity.entity.aliases.acc.name}}/{{identity.entity.aliases.acc.metadata.x}}" {}"#,
    r#"path "{{identity.entity.aliases.acc.custom_metadata.x}}" {}"#,
    r#"path "{{identity.groups.ids.x.name}}/{{identity.groups.names.x.id}}" {}"#,
    r#"path "{{identity.groups.names.x.metadata.k}}" {}"#,
    "{}",
    r#"{"path":{"a":{"capabilities":["read"],}}}"#,
    r#"{"path":{"a":{"capabilities":["read",]}}}"#,
    r#"{"path":{"a":{"comment":null}}}"#,
    r#"{"path":{"capabilities":["read"]}}"#,
    r#"{"path":{"a":{"capabilities":["read"],"allowed_parameters":{"x":{}}}}}"#,
    r#"{"path":{"a":{"capabilities":["read"],"max_wrapping_ttl":null}}}"#,
    r#"{"path":{"a":{"capabilities":["read"],"min_wrapping_ttl":"1m"}},}"#,
    "path \"a\u{1}\" {}",
    "path \"\u{e9}\" {} # \u{e9}",
];

/// Texts that the reference refuses.
const REFUSED: &[&str] = &[
    r#"path "a" { capabilities = ["read"],, comment = "x" }"#,
    r#"path = { "a" = { capabilities = ["read"] } }"#,
    r#"path { "a" { capabilities = ["read"] } }"#,
    r#"path "a" = { capabilities = ["read"] }"#,
    "path = []",
    r#"path = [{ "a" = {} }]"#,
    r#"path = "x""#,
    r#"path "a" { capabilities = "read" }"#,
    r#"path "a" { capabilities = ["read" "list"] }"#,
    r#"path "a" { capabilities = [read] }"#,
    r#"path "a" { capabilities = [1] }"#,
    r#"path "a" { capabilities = [true] }"#,
    r#"path "a" { capabilities = [["read"]] }"#,
    r#"path "a" { capabilities = ["READ"] }"#,
    "path \"a\" { capabilities = [<<E\nread\nE\n] }",
    "name = true",
    r#"name "x" {}"#,
    r#"path "a\q" {}"#,
    r#"path "a\/b" {}"#,
    "path \"a\nb\" {}",
    "/ path \"a\" {}",
    "/* open",
    r#"path "a" { capabilities = ["read"]"#,
    r#"path "a" { capabilities = ["read" }"#,
    r#"path "a" { capabilities = ["read"] }}"#,
    r#"path "a" capabilities = ["read"]"#,
    r#"path "a" { capabilities ["read"] }"#,
    r#"path "a" { capabilities = }"#,
    "path \"a\" { comment = <<EOT\nx\nEOT }",
    "path \"a\" { comment = << EOT\nx\nEOT\n}",
    "path \"a\" { comment = <<EOT\nx\nEOT",
    r#"path "a" { policy = ["read"] }"#,
    "path \"a\" { allowed_parameters = { <<E\nx\nE\n = [] } }",
    r#"path "a" { allowed_parameters = { x = "a" } }"#,
    r#"path "a" { allowed_parameters = ["x"] }"#,
    r#"path "a" { required_parameters = "x" }"#,
    r#"path "a" { min_wrapping_ttl = true }"#,
    r#"path "a" { min_wrapping_ttl = ["1m"] }"#,
    r#"path "+*" {}"#,
    r#"path "{{x" {}"#,
    r#"path "x}}" {}"#,
    r#"path "{{identity.entity.id}}{{" {}"#,
    r#"{"path":[{"a":[{"capabilities":["read"]}]}]}"#,
    r#"{"path":{"a":[{"capabilities":["read"]}]}}"#,
    r#"{"path":{"a":null}}"#,
    r#"{"path":null}"#,
    r#"{"path" {"a":{}}}"#,
    r#"{path:{"a":{}}}"#,
    r#"{ /* c */ "path":{}}"#,
    r#"{"foo":{}}"#,
    "[]",
    "// c\n{\"path\":{}}",
    r#"path "a" {} x"#,
    "x",
    "path 'a' {}",
    r#"path "a" { capabilities = ["read"]; }"#,
    r#"path "a" : {}"#,
    r#"path "a" { a-b.c = 1 }"#,
    r#"path "a" { comment = - }"#,
    r#"path "a" { comment = null }"#,
    "\u{feff}path \"a\" {}",
    "path \"a\" {}\0",
    "path\u{a0}\"a\" {}",
];

/// Texts that the reference accepts, and this server does not: what they say is not what they do.
const REFUSED_HERE: &[(&str, &str)] = &[
    (
        r#"path "a" "b" {}"#,
        "line 1: a block has one path: write a block for each",
    ),
    (
        r#"path "a" { capabilities = ["deny", "reed"] }"#,
        "invalid capability \"reed\"",
    ),
    (
        r#"path "a" { min_wrapping_ttl = "x" capabilities = ["deny"] }"#,
        "error parsing min_wrapping_ttl: time: invalid duration \"x\"",
    ),
    (
        r#"path "a" { max_wrapping_ttl = -5 }"#,
        "error parsing max_wrapping_ttl: the limit is negative",
    ),
    (
        r#"path "{{identity.entity.idx}}" {}"#,
        "path \"{{identity.entity.idx}}\": the template is malformed or not supported",
    ),
    (
        r#"path "{{}}" {}"#,
        "path \"{{}}\": the template is malformed or not supported",
    ),
    (
        r#"path "a" { mfa_methods = ["x"] }"#,
        "key \"mfa_methods\" is not supported: leave it out, or grant less",
    ),
    (
        r#"path "a" { control_group = {} }"#,
        "key \"control_group\" is not supported: leave it out, or grant less",
    ),
    (
        r#"{"path":{}} x"#,
        "At 1:13: JSON has no words but true, false and null",
    ),
    (
        r#"{"path":{}}}"#,
        "At 1:12: the text ends after its value, got }",
    ),
    (
        r#"{"path":{"a":{} "b":{}}}"#,
        "At 1:17: members are separated by commas, got a string",
    ),
];

#[test]
fn contract_5_6_what_the_reference_reads_is_read_and_what_it_refuses_is_refused() {
    for text in ACCEPTED {
        assert!(compile(text).is_ok(), "{text}: {:?}", compile(text));
    }
    for text in REFUSED {
        assert!(compile(text).is_err(), "{text}");
    }
    for (text, reason) in REFUSED_HERE {
        assert_eq!(refusal(text), *reason, "{text}");
    }
}

#[test]
fn refusals_name_what_is_wrong() {
    for (text, reason) in [
        (
            "path \"a\" { capabilities = [\"reed\"] }",
            "invalid capability \"reed\"",
        ),
        (
            "path \"a\" {\n\n  capability = []\n}",
            "invalid key \"capability\" on line 3",
        ),
        (
            "{\n\"path\": {},\n\"paths\": {}}",
            "invalid key \"paths\" on line 3",
        ),
        ("path = {\n a = {} }", "invalid key \"a\" on line 2"),
        (
            "path \"a/+*\" { capabilities = [] }",
            "path \"a/+*\": invalid use of wildcards ('+*' is forbidden)",
        ),
        ("path \"a\" { policy = \"all\" }", "invalid policy \"all\""),
        (
            "path \"a\" { capabilities = \"read\" }",
            "the value of \"capabilities\" has the wrong type",
        ),
        ("path = \"a\"", "the value of \"path\" has the wrong type"),
        (
            "path \"a\" {",
            "At 1:11: expected a key, got the end of the text",
        ),
        ("path \"a\" {\n ; }", "At 2:2: illegal character"),
        ("path \"a\\q\" {}", "At 1:8: illegal escape"),
        (
            "{\"path\":",
            "At 1:9: expected a value, got the end of the text",
        ),
        (
            "path \"a\" { min_wrapping_ttl = \"2m\" max_wrapping_ttl = 90 }",
            "max_wrapping_ttl cannot be less than min_wrapping_ttl",
        ),
        (
            "path \"a\" { max_wrapping_ttl = {} }",
            "error parsing max_wrapping_ttl: could not parse duration from input",
        ),
    ] {
        assert_eq!(refusal(text), reason, "{text}");
    }
}

#[test]
fn limits_end_what_would_cost_too_much() {
    let deep = format!(
        "path \"a\" {{ comment = {}{} }}",
        "[".repeat(40),
        "]".repeat(40)
    );
    assert!(refusal(&deep).ends_with("more than 32 levels of nesting"));
    let blocks = "a {".repeat(100_000);
    assert!(refusal(&blocks).ends_with("more than 32 levels of nesting"));
    let many = "path a {} ".repeat(17_000);
    assert!(refusal(&many).ends_with("more than 16384 statements"));
}

#[test]
fn names_of_parameters_are_lowered_and_their_values_add_up() {
    let text = |text: &str| ParameterValue::Text(text.to_owned());
    let read = constraints(
        r#"allowed_parameters { X = ["a", 5, true] y = [] } allowed_parameters = { x = ["b"] y = ["c"] }
           required_parameters = ["Z"] denied_parameters = { q = [["l"]] }"#,
    );
    let allowed = BTreeMap::from([
        (
            "x".to_owned(),
            vec![text("a"), text("5"), text("true"), text("b")],
        ),
        ("y".to_owned(), vec![]),
    ]);
    let denied = BTreeMap::from([("q".to_owned(), vec![ParameterValue::List(vec![text("l")])])]);
    assert_eq!(read.allowed, allowed);
    assert_eq!(read.denied, denied);
    assert_eq!(read.required, BTreeSet::from(["z".to_owned()]));
}

#[test]
fn contract_1_8_wrapping_limits_are_whole_seconds_that_never_say_more() {
    for (written, min, max) in [
        ("60", Some(60), Some(60)),
        ("\"60\"", Some(60), Some(60)),
        ("\"1m30s\"", Some(90), Some(90)),
        ("\"1d\"", Some(86_400), Some(86_400)),
        ("1.5", Some(2), Some(1)),
        ("\"500ms\"", Some(1), Some(0)),
        ("0", None, None),
        ("\"\"", None, None),
    ] {
        let read = constraints(&format!("min_wrapping_ttl = {written}"));
        assert_eq!(read.min_wrapping_ttl, min, "{written}");
        let read = constraints(&format!("max_wrapping_ttl = {written}"));
        assert_eq!(read.max_wrapping_ttl, max, "{written}");
    }
}

#[test]
fn a_denial_has_no_conditions() {
    let denial = compiled(r#"capabilities = ["deny"] required_parameters = ["x"]"#);
    assert_eq!(denial, rule("a", false, &[Deny]));
}

#[test]
fn conditions_survive_the_store() {
    let text = r#"capabilities = ["read"] allowed_parameters { x = ["a", 5, ["l"], {o = true}] y = [] }
        denied_parameters { z = [] } required_parameters = ["q"] min_wrapping_ttl = 5 max_wrapping_ttl = 6"#;
    let rule = compiled(text);
    let stored = serde_json::to_string(&rule).unwrap();
    assert_eq!(serde_json::from_str::<Rule>(&stored).unwrap(), rule);
}

#[test]
fn the_default_policy_compiles_to_its_grants() {
    let rules = compile(DEFAULT_TEXT).unwrap();
    assert_eq!(rules.len(), 16);
    let own = rules
        .iter()
        .find(|it| it.pattern == "auth/token/lookup-self");
    assert_eq!(own, Some(&rule("auth/token/lookup-self", false, &[Read])));
}

proptest! {
    #[test]
    fn any_text_is_answered_without_a_panic(text in ".{0,200}") {
        let _ = compile(&text);
    }

    #[test]
    fn any_bytes_are_answered_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = compile(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn anything_near_a_policy_is_answered(
        parts in prop::collection::vec(prop::sample::select(vec![
            "path", " ", "\"a\"", "{", "}", "=", "[", "]", ",", "capabilities", "\"read\"", "\n", "#", "//", "/*", "*/", "<<E\n",
            "E\n", "<<-", "\\", "\"", "${", "$", "-", "5", ".", "0x", "e", ":", "null", "\r", "\u{0}", "\u{e9}", "allowed_parameters",
        ]), 0..40),
    ) {
        let _ = compile(&parts.concat());
    }

    #[test]
    fn any_shape_of_json_is_answered(text in r#"\{"path":[\[{]?[\[{]?"a":[\[{]"capabilities":[\["]read[\]"}]{1,4}"#) {
        let _ = compile(&text);
    }
}

#[test]
fn contract_5_6_a_list_of_objects_is_as_many_paths() {
    let listed = r#"{"path":[{"a":{"capabilities":["read"]}},{"b":{"capabilities":["list"]},"c/*":{"policy":"deny"}}]}"#;
    let plain = r#"path "a" { capabilities = ["read"] } path "b" { capabilities = ["list"] } path "c/*" { policy = "deny" }"#;
    assert_eq!(compile(listed).unwrap(), compile(plain).unwrap());
    for refused in [
        r#"{"path":["a"]}"#,
        r#"{"path":[[{"a":{}}]]}"#,
        r#"{"path":[{"a":1}]}"#,
    ] {
        assert!(compile(refused).is_err(), "{refused}");
    }
}
