//! The list of checks.

use serde::Serialize;
use serde_json::{Map, Value};

const OPERATIONS: &str = include_str!("operations.json");
const GROUPS: [(&str, &str); 6] = [
    ("configuration", include_str!("checks/configuration.json")),
    ("roles", include_str!("checks/roles.json")),
    ("logins", include_str!("checks/logins.json")),
    ("a Google that fails", include_str!("checks/google.json")),
    ("a new instance", include_str!("checks/instances.json")),
    ("organizations", include_str!("checks/organizations.json")),
];

/// Everything that is the same for every host; the format is in `README.md` beside this file.
#[derive(Debug, Clone, Serialize)]
pub struct Suite {
    /// The operations.
    pub operations: Value,
    /// Arguments that a step does not give.
    pub defaults: Value,
    /// The checks, group by group.
    pub checks: Vec<Check>,
}

/// Something that every host must do.
#[derive(Debug, Clone, Serialize)]
pub struct Check {
    /// Unique in the list.
    pub id: String,
    /// The subject of the check.
    pub group: &'static str,
    /// The rule, as a sentence.
    pub title: String,
    /// Where the rule is written.
    pub proves: Vec<String>,
    /// In their order.
    pub steps: Vec<Value>,
}

impl Suite {
    /// The list, in which steps with a name are written out.
    pub fn load() -> Self {
        let mut operations: Map<String, Value> = serde_json::from_str(OPERATIONS).unwrap();
        let named = operations.remove("steps").unwrap();
        let checks = GROUPS.iter().flat_map(|(group, text)| {
            let checks: Vec<Value> = serde_json::from_str(text).unwrap();
            checks
                .into_iter()
                .map(|check| Check::read(group, &check, &named))
        });
        Self {
            checks: checks.collect(),
            operations: operations.remove("operations").unwrap(),
            defaults: operations.remove("defaults").unwrap(),
        }
    }

    /// The groups in their order.
    pub fn groups() -> impl Iterator<Item = &'static str> {
        GROUPS.iter().map(|(group, _)| *group)
    }
}

impl Check {
    fn read(group: &'static str, check: &Value, named: &Value) -> Self {
        let written_out = |step: &Value| match step {
            Value::String(name) => named[name].clone(),
            step => step.clone(),
        };
        let proves = check["proves"].as_array().unwrap();
        let steps = check["steps"].as_array().unwrap();
        Self {
            id: text(&check["id"]),
            group,
            title: text(&check["title"]),
            proves: proves.iter().map(text).collect(),
            steps: steps.iter().map(written_out).collect(),
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

#[test]
fn the_list_names_only_what_there_is() {
    let suite = Suite::load();
    let mut ids: Vec<_> = suite.checks.iter().map(|check| &check.id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), suite.checks.len(), "an id stands twice");
    for check in &suite.checks {
        assert!(!check.proves.is_empty(), "{}", check.id);
        for step in &check.steps {
            let operation = step["do"].as_str().unwrap();
            if operation == "new-instance" {
                continue;
            }
            let parameters = suite.operations[operation]["parameters"].as_array();
            let parameters = parameters.unwrap_or_else(|| panic!("{}: {operation}", check.id));
            let expected = step.as_object().unwrap();
            assert!(
                expected.contains_key("ok") != expected.contains_key("err"),
                "{}: {step}",
                check.id
            );
            if let Some(given) = step["with"].as_object() {
                let known = |name: &String| parameters.iter().any(|parameter| parameter == name);
                assert!(given.keys().all(known), "{}: {step}", check.id);
            }
        }
    }
}
