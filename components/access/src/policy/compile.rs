//! From a policy's statements to its rules.

use super::document::{Statement, Value, read};
use super::rule::{CapabilitySet, ENTITY_ID, ENTITY_NAME, Rule};
use crate::api::{Capability, PolicyError};

/// Restrictions that exist and are not enforced yet. Accepting one silently would grant more than its author meant.
const UNSUPPORTED_KEYS: [&str; 7] = [
    "allowed_parameters",
    "denied_parameters",
    "required_parameters",
    "min_wrapping_ttl",
    "max_wrapping_ttl",
    "mfa_methods",
    "control_group",
];

/// The rules of a policy text, in the order in which they stand.
///
/// # Errors
///
/// When the text does not parse, or holds what is unknown or not enforced.
pub(crate) fn compile(text: &str) -> Result<Vec<Rule>, PolicyError> {
    let mut rules = Vec::new();
    for statement in read(text)? {
        match statement.key.as_str() {
            "path" => compile_paths(&statement.value, &mut rules)?,
            "name" => {}
            _ => return Err(invalid_key(statement)),
        }
    }
    Ok(rules)
}

fn invalid_key(statement: Statement) -> PolicyError {
    PolicyError::InvalidKey {
        key: statement.key,
        line: statement.line,
    }
}

fn wrong_type(key: &str) -> PolicyError {
    PolicyError::WrongType(key.to_owned())
}

/// The statements of a block, which JSON may also write as a list of objects.
fn blocks<'a>(key: &str, value: &'a Value) -> Result<Vec<&'a Statement>, PolicyError> {
    match value {
        Value::Statements(statements) => Ok(statements.iter().collect()),
        Value::List(values) => {
            let mut all = Vec::new();
            for value in values {
                let Value::Statements(statements) = value else {
                    return Err(wrong_type(key));
                };
                all.extend(statements);
            }
            Ok(all)
        }
        Value::Text(_) | Value::Other => Err(wrong_type(key)),
    }
}

fn compile_paths(value: &Value, rules: &mut Vec<Rule>) -> Result<(), PolicyError> {
    for path in blocks("path", value)? {
        rules.push(compile_rule(path)?);
    }
    Ok(())
}

fn compile_rule(path: &Statement) -> Result<Rule, PolicyError> {
    let mut granted = Vec::new();
    for statement in blocks(&path.key, &path.value)? {
        match statement.key.as_str() {
            "capabilities" => granted.extend(capabilities(&statement.value)?),
            "policy" => granted.extend(legacy(&statement.value)?),
            "comment" => match statement.value {
                Value::Text(_) => {}
                _ => return Err(wrong_type("comment")),
            },
            key if UNSUPPORTED_KEYS.contains(&key) => {
                return Err(PolicyError::UnsupportedKey(key.to_owned()));
            }
            _ => return Err(invalid_key(statement.clone())),
        }
    }
    let written = path.key.strip_prefix('/').unwrap_or(&path.key);
    if written.contains("+*") {
        return Err(PolicyError::InvalidWildcard(path.key.clone()));
    }
    let (pattern, prefix) = match written.strip_suffix('*') {
        Some(pattern) => (pattern, true),
        None => (written, false),
    };
    Ok(Rule {
        template: has_templates(pattern)
            .ok_or_else(|| PolicyError::InvalidTemplate(path.key.clone()))?,
        pattern: fold_names(pattern),
        prefix,
        capabilities: granted.into_iter().collect::<CapabilitySet>(),
    })
}

/// The pattern with names in lower case where requests arrive with them so: policies, roles, organizations (SEC-A2, G17). A rule
/// that denies `role/Prod` would otherwise never meet a request.
fn fold_names(pattern: &str) -> String {
    for family in ["sys/policies/acl/", "sys/policy/", "organizations/"] {
        if let Some(name) = pattern.strip_prefix(family) {
            return format!("{family}{}", name.to_lowercase());
        }
    }
    match pattern.rsplit_once('/') {
        Some((before, name)) if before.starts_with("auth/") && before.ends_with("/role") => {
            format!("{before}/{}", name.to_ascii_lowercase())
        }
        _ => pattern.to_owned(),
    }
}

/// Whether the pattern holds templates; `None` when one is malformed or not supported.
fn has_templates(pattern: &str) -> Option<bool> {
    let mut rest = pattern;
    let mut any = false;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}")?;
        let known = [ENTITY_ID, ENTITY_NAME].contains(&name.trim());
        if before.contains("}}") || !known {
            return None;
        }
        any = true;
        rest = after;
    }
    (!rest.contains("}}")).then_some(any)
}

fn capabilities(value: &Value) -> Result<Vec<Capability>, PolicyError> {
    let Value::List(names) = value else {
        return Err(wrong_type("capabilities"));
    };
    names
        .iter()
        .map(|name| {
            let Value::Text(name) = name else {
                return Err(wrong_type("capabilities"));
            };
            capability(name).ok_or_else(|| PolicyError::InvalidCapability(name.clone()))
        })
        .collect()
}

fn capability(name: &str) -> Option<Capability> {
    match name {
        "create" => Some(Capability::Create),
        "read" => Some(Capability::Read),
        "update" => Some(Capability::Update),
        "delete" => Some(Capability::Delete),
        "list" => Some(Capability::List),
        "patch" => Some(Capability::Patch),
        "sudo" => Some(Capability::Sudo),
        "deny" => Some(Capability::Deny),
        _ => None,
    }
}

/// The old key `policy`, one word for several capabilities.
fn legacy(value: &Value) -> Result<Vec<Capability>, PolicyError> {
    use Capability::{Create, Delete, Deny, List, Read, Sudo, Update};

    let Value::Text(word) = value else {
        return Err(wrong_type("policy"));
    };
    match word.as_str() {
        "deny" => Ok(vec![Deny]),
        "read" => Ok(vec![Read, List]),
        "write" => Ok(vec![Create, Read, Update, Delete, List]),
        "sudo" => Ok(vec![Create, Read, Update, Delete, List, Sudo]),
        _ => Err(PolicyError::InvalidLegacyPolicy(word.clone())),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a2_a_rule_for_a_name_in_upper_case_meets_the_folded_request() {
        for (written, met) in [
            ("auth/gcp/role/Prod", "auth/gcp/role/prod"),
            ("sys/policies/acl/PROD", "sys/policies/acl/prod"),
            ("organizations/Acme", "organizations/acme"),
            ("auth/Gcp/login", "auth/Gcp/login"),
        ] {
            assert_eq!(super::fold_names(written), met);
        }
    }

    use super::super::DEFAULT_TEXT;
    use super::*;
    use proptest::prelude::*;

    fn rule(pattern: &str, prefix: bool, capabilities: &[Capability]) -> Rule {
        Rule {
            pattern: pattern.to_owned(),
            prefix,
            template: false,
            capabilities: capabilities.iter().copied().collect(),
        }
    }

    use Capability::{Create, Delete, Deny, List, Read, Sudo, Update};

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
        let json = r#"{"name":"dev","path":{"auth/gcp/role/*":{"capabilities":["read","list"]},"sys\/auth":{"capabilities":["read"]}}}"#;
        assert_eq!(compile(json), Ok(expected.to_vec()));
        let lists = r#"{"path":[{"auth/gcp/role/*":[{"capabilities":["read","list"]}]},{"/sys/auth":{"capabilities":["read"]}}]}"#;
        assert_eq!(compile(lists), Ok(expected.to_vec()));
    }

    #[test]
    fn repeated_paths_and_keys_all_count() {
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
    }

    #[test]
    fn the_old_key_stands_for_several_capabilities() {
        let rows: [(&str, &[Capability]); 4] = [
            ("deny", &[Deny]),
            ("read", &[Read, List]),
            ("write", &[Create, Read, Update, Delete, List]),
            ("sudo", &[Create, Read, Update, Delete, List, Sudo]),
        ];
        for (word, expected) in rows {
            let text = format!("path \"a\" {{ policy = \"{word}\" }}");
            assert_eq!(compile(&text), Ok(vec![rule("a", false, expected)]));
        }
    }

    fn refusal(text: &str) -> PolicyError {
        compile(text).unwrap_err()
    }

    #[test]
    fn refusals_name_what_is_wrong() {
        assert_eq!(
            refusal("path \"a\" { capabilities = [\"reed\"] }").to_string(),
            "invalid capability \"reed\""
        );
        assert_eq!(
            refusal("path \"a\" {\n\n  capability = []\n}").to_string(),
            "invalid key \"capability\" on line 3"
        );
        assert_eq!(
            refusal("{\n\"path\": {},\n\"paths\": {}}").to_string(),
            "invalid key \"paths\" on line 3"
        );
        assert_eq!(
            refusal("path \"a/+*\" { capabilities = [] }").to_string(),
            "path \"a/+*\": invalid use of wildcards ('+*' is forbidden)"
        );
        let wrong = |key: &str| PolicyError::WrongType(key.to_owned());
        assert_eq!(
            refusal("path \"a\" { capabilities = \"read\" }"),
            wrong("capabilities")
        );
        assert_eq!(
            refusal("path \"a\" { capabilities = [1] }"),
            wrong("capabilities")
        );
        assert_eq!(refusal("path = \"a\""), wrong("path"));
        assert_eq!(
            refusal("path \"a\" { policy = \"all\" }"),
            PolicyError::InvalidLegacyPolicy("all".to_owned())
        );
        assert!(matches!(refusal("path \"a\" {"), PolicyError::Syntax(_)));
        assert!(matches!(refusal("{\"path\":"), PolicyError::Syntax(_)));
    }

    #[test]
    fn restrictions_that_are_not_enforced_are_refused_not_ignored() {
        for key in UNSUPPORTED_KEYS {
            let text = format!("path \"a\" {{\n capabilities = [\"read\"]\n {key} = {{}}\n}}");
            assert_eq!(refusal(&text), PolicyError::UnsupportedKey(key.to_owned()));
        }
    }

    #[test]
    fn templates_of_the_entity_are_known_and_others_are_refused() {
        let text = "path \"x/{{identity.entity.id}}/*\" { capabilities = [\"read\"] }";
        assert!(compile(text).unwrap()[0].template);
        for path in [
            "{{identity.groups.ids.1.name}}",
            "{{",
            "x}}",
            "{{identity.entity.id}",
        ] {
            let text = format!("path \"{path}\" {{ capabilities = [\"deny\"] }}");
            assert_eq!(
                refusal(&text),
                PolicyError::InvalidTemplate(path.to_owned())
            );
        }
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
        fn any_shape_of_json_is_answered(text in r#"\{"path":[\[{]?[\[{]?"a":[\[{]"capabilities":[\["]read[\]"}]{1,4}"#) {
            let _ = compile(&text);
        }
    }
}
