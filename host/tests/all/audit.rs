//! Documents for the audit (SEC-L2): a line is one line, JSON, and without a text that no caller named.

use std::fmt::Write as _;

use gatehouse::audit::encoded;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;

const KEY: &str = "a key of the audit";

/// In the place of a secret while a document is made up.
const PLACE: &str = "\"PLACE\"";

/// The text of a value as a stranger may write it, with white space between its parts, and with [`PLACE`] in some places.
fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        3 => Just(PLACE.to_owned()),
        1 => prop::sample::select(vec![
            "null", "true", "-1.50e+3", "112233445566778899001", "\"\"", r#""\ud800""#, r#""\n\r\u2028\u202e""#, "\"\u{2028}\u{85}\"",
        ]).prop_map(str::to_owned),
        1 => any::<String>().prop_map(|text| Value::from(text).to_string()),
    ];
    leaf.prop_recursive(5, 24, 4, |inner| {
        let list = (vec(inner.clone(), 0..4), blank())
            .prop_map(|(values, blank)| format!("[{blank}{}{blank}]", values.join(",")));
        prop_oneof![list, object(inner)]
    })
}

fn object(value: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    (vec((name(), value), 0..4), blank()).prop_map(|(members, blank)| {
        let members: Vec<String> = members
            .iter()
            .map(|(name, value)| format!("{name}{blank}:{blank}{value}"))
            .collect();
        format!("{{{blank}{}{blank}}}", members.join(","))
    })
}

fn blank() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["", " ", "\r\n\t"])
}

/// The names that mean something, among others, as they are written.
fn name() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        r#""a""#,
        r#""b""#,
        r#""jwt""#,
        r#""JWT""#,
        r#""\u006awt""#,
        r#""token""#,
        r#""time""#,
        r#""\ud800""#,
        r#""a/b~c""#,
        "\"\"",
    ]);
    prop_oneof![
        4 => known.prop_map(str::to_owned),
        1 => any::<String>().prop_map(|text| Value::from(text).to_string()),
    ]
}

/// Pointers to members that stay readable; each may lead to something.
fn pointers() -> impl Strategy<Value = Vec<String>> {
    let step = prop::sample::select(vec![
        "/a", "/b", "/jwt", "/token", "/0", "/1", "/a~1b~0c", "/",
    ]);
    vec(vec(step, 0..4).prop_map(|steps| steps.concat()), 0..4)
}

/// Every character of `text` as an escape.
fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut escaped, character| {
        let _ = write!(escaped, "\\u{:04x}", u32::from(character));
        escaped
    })
}

/// Asserts the form of a line, whatever it shows.
fn assert_one_line(members: &str) -> Result<(), TestCaseError> {
    let separates =
        |character: char| character.is_control() || "\u{2028}\u{2029}".contains(character);
    prop_assert!(!members.contains(separates), "{members:?}");
    let line = format!("{{{members}}}");
    prop_assert!(
        serde_json::from_str::<serde::de::IgnoredAny>(&line).is_ok(),
        "{line:?}"
    );
    Ok(())
}

/// All texts that stand under a member whose text is never shown, and those of any member.
fn shown<'v>(value: &'v Value, is_secret: bool, found: &mut Vec<(bool, &'v str)>) {
    match value {
        Value::String(text) => found.push((is_secret, text)),
        Value::Array(values) => values
            .iter()
            .for_each(|value| shown(value, is_secret, found)),
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            let is_named = ["jwt", "credentials", "token", "client_token"]
                .iter()
                .any(|secret| name.eq_ignore_ascii_case(secret));
            shown(value, is_secret || is_named, found);
        }),
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn v1_l2_a_record_is_one_line_without_a_secret(
        template in object(value()),
        secret in "[A-Za-z0-9._-]{24,60}",
        is_escaped in any::<bool>(),
    ) {
        let written = if is_escaped { escaped(&secret) } else { secret.clone() };
        let document = template.replace(PLACE, &format!("\"{written}\""));
        if let Some(members) = encoded(&document, &[], KEY) {
            assert_one_line(&members)?;
            prop_assert!(!members.contains(&secret), "{members}");
            prop_assert!(!members.contains(&written), "{members}");
            prop_assert!(!members.contains(KEY));
        }
    }

    #[test]
    fn v1_l2_what_is_always_hashed_is_so_whoever_names_it(
        template in object(value()),
        secret in "[A-Za-z0-9._-]{24,60}",
        clear in pointers(),
    ) {
        let document = template.replace(PLACE, &format!("\"{secret}\""));
        if let Some(members) = encoded(&document, &clear, KEY) {
            assert_one_line(&members)?;
            let line: Value = serde_json::from_str(&format!("{{{members}}}")).unwrap();
            let mut found = Vec::new();
            shown(&line, false, &mut found);
            for (is_secret, text) in found {
                prop_assert!(!is_secret || text.starts_with("hmac-sha256:"), "{line}");
            }
        }
    }

    #[test]
    fn v1_l2_anything_is_one_line_or_nothing(
        document in prop_oneof![any::<String>(), "[{}\\[\\]\",:a\\\\ 1\n]{0,60}"],
        clear in vec(any::<String>(), 0..3),
        key in any::<String>(),
    ) {
        if let Some(members) = encoded(&document, &clear, &key) {
            assert_one_line(&members)?;
        }
    }
}
