//! The rules of contract 5.6 once more, as a table of candidates and without regard to cost, to compare the evaluator with
//! (SEC-A1). It shares no code with the evaluator: not the matching, not the order, not the merging.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::{GroupField, GroupSelector, Identity, Placeholder};
use crate::api::{Capability, Operation, Parameter};

/// Parameters with their values.
type Listed = Vec<(&'static str, Vec<&'static str>)>;

/// One path of a policy as it is written.
#[derive(Debug, Clone)]
pub(super) struct Written {
    path: String,
    capabilities: Vec<&'static str>,
    allowed: Listed,
    denied: Listed,
    required: Vec<&'static str>,
    min: Option<u64>,
    max: Option<u64>,
}

impl Written {
    /// As an operator writes it.
    pub(super) fn text(&self) -> String {
        let lists = |parameters: &[(&str, Vec<&str>)]| -> String {
            parameters
                .iter()
                .map(|(name, values)| format!("{name:?} = {values:?}\n"))
                .collect()
        };
        let mut text = format!(
            "path {:?} {{ capabilities = {:?}",
            self.path, self.capabilities
        );
        text += &format!(" allowed_parameters = {{ {} }}", lists(&self.allowed));
        text += &format!(" denied_parameters {{ {} }}", lists(&self.denied));
        text += &format!(" required_parameters = {:?}", self.required);
        for (key, limit) in [
            ("min_wrapping_ttl", self.min),
            ("max_wrapping_ttl", self.max),
        ] {
            if let Some(limit) = limit {
                text += &format!(" {key} = {limit}");
            }
        }
        text + " }"
    }

    fn denies(&self) -> bool {
        self.capabilities.contains(&"deny")
    }
}

/// Values by the text of their template.
#[derive(Debug, Clone)]
pub(super) struct Values(BTreeMap<&'static str, String>);

const TEMPLATES: [&str; 4] = [
    "identity.entity.id",
    "identity.entity.name",
    "identity.entity.metadata.k",
    "identity.groups.names.g.id",
];

impl Identity for Values {
    fn value(&self, placeholder: Placeholder<'_>) -> Option<&str> {
        let name = match placeholder {
            Placeholder::EntityId => TEMPLATES[0],
            Placeholder::EntityName => TEMPLATES[1],
            Placeholder::EntityMetadata("k") => TEMPLATES[2],
            Placeholder::Group {
                group: GroupSelector::Name("g"),
                field: GroupField::Id,
            } => TEMPLATES[3],
            _ => return None,
        };
        self.0.get(name).map(String::as_str)
    }
}

/// A request and all that decides about it.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) policies: Vec<Written>,
    pub(super) identity: Option<Values>,
    pub(super) path: String,
    pub(super) operation: Operation,
    pub(super) parameters: Vec<Parameter>,
    pub(super) wrap_ttl: Option<u64>,
}

/// The verdict of the model.
#[derive(Debug)]
pub(super) struct Expected {
    /// Sorted.
    pub(super) capabilities: Vec<Capability>,
    pub(super) permitted: bool,
}

impl Case {
    /// The model itself.
    pub(super) fn decide(&self) -> Expected {
        let mut by_path: BTreeMap<String, Vec<&Written>> = BTreeMap::new();
        let mut shut = false;
        for written in &self.policies {
            match self.filled(&written.path, written.denies()) {
                Some(path) => by_path.entry(path).or_default().push(written),
                None => {
                    shut |= written.denies() && self.path.starts_with(&fixed(&written.path));
                }
            }
        }
        if shut {
            return Expected {
                capabilities: vec![Capability::Deny],
                permitted: true,
            };
        }
        let chosen = self.chosen(&by_path).and_then(|path| by_path.get(path));
        let none = Vec::new();
        let rules = chosen.unwrap_or(&none);
        if rules.is_empty() || rules.iter().any(|rule| rule.denies()) {
            return Expected {
                capabilities: vec![Capability::Deny],
                permitted: true,
            };
        }
        let names: BTreeSet<&str> = rules
            .iter()
            .flat_map(|it| it.capabilities.clone())
            .collect();
        let mut capabilities: Vec<Capability> = names
            .into_iter()
            .map(|name| match name {
                "read" => Capability::Read,
                "update" => Capability::Update,
                "list" => Capability::List,
                _ => panic!("{name}"),
            })
            .collect();
        capabilities.sort_unstable();
        if capabilities.is_empty() {
            capabilities.push(Capability::Deny);
        }
        Expected {
            capabilities,
            permitted: self.permitted(rules),
        }
    }

    fn filled(&self, path: &str, denies: bool) -> Option<String> {
        let mut path = path.to_owned();
        for template in TEMPLATES {
            let braces = format!("{{{{{template}}}}}");
            if path.contains(&braces) {
                let value = self.identity.as_ref()?.0.get(template)?;
                if value.is_empty() || !denies && value.chars().any(|it| "/*+".contains(it)) {
                    return None;
                }
                // Paths of cases have neither character, so that anything else stands for one that means nothing.
                let value = value.replace('+', "\u{1}").replace('*', "\u{2}");
                path = path.replace(&braces, &value);
            }
        }
        Some(path)
    }

    fn chosen<'t>(&self, table: &'t BTreeMap<String, Vec<&Written>>) -> Option<&'t String> {
        let bare = self.path.trim_end_matches('/');
        let mut spellings = vec![self.path.as_str()];
        if self.operation == Operation::List && bare != self.path {
            spellings.push(bare);
        }
        for spelling in &spellings {
            let exact = table
                .keys()
                .find(|it| !it.ends_with('*') && !wild(it) && it == spelling);
            if exact.is_some() {
                return exact;
            }
        }
        let best = |path: &str| {
            table
                .keys()
                .filter(|text| (text.ends_with('*') || wild(text)) && fits(text, path))
                .max_by_key(|text| order(text))
        };
        spellings.into_iter().find_map(best)
    }

    fn permitted(&self, rules: &[&Written]) -> bool {
        let max = rules.iter().filter_map(|rule| rule.max).min();
        let min = rules.iter().filter_map(|rule| rule.min).min();
        if max.is_some() || min.is_some() {
            let Some(ttl) = self.wrap_ttl else {
                return false;
            };
            if max.is_some_and(|max| ttl > max) || min.is_some_and(|min| ttl < min) {
                return false;
            }
        }
        if matches!(
            self.operation,
            Operation::List | Operation::Delete | Operation::Help
        ) {
            return true;
        }
        let given: Vec<(String, &str)> = self
            .parameters
            .iter()
            .map(|it| (it.name.to_lowercase(), it.value.trim_matches('"')))
            .collect();
        let has = |name: &str| given.iter().any(|(given, _)| given == name);
        let all_there = rules
            .iter()
            .flat_map(|rule| &rule.required)
            .all(|name| has(name));
        let lists = |pick: fn(&Written) -> &Listed| {
            let entries: Vec<(&str, &Vec<&str>)> = rules
                .iter()
                .flat_map(|rule| pick(rule))
                .map(|(name, values)| (*name, values))
                .collect();
            entries
        };
        let (allowed, denied) = (lists(|it| &it.allowed), lists(|it| &it.denied));
        // `None` where the parameter is in no list; an empty list contains everything.
        let found = |entries: &[(&str, &Vec<&str>)], name: &str, value: &str| {
            let of_name: Vec<_> = entries
                .iter()
                .filter(|(listed, _)| *listed == name)
                .collect();
            (!of_name.is_empty()).then(|| {
                of_name.iter().any(|(_, values)| {
                    values.is_empty() || values.iter().any(|listed| fits_value(listed, value))
                })
            })
        };
        let star = |entries: &[(&str, &Vec<&str>)]| entries.iter().any(|(name, _)| *name == "*");
        all_there
            && given.iter().all(|(name, value)| {
                let not_denied = !star(&denied) && found(&denied, name, value) != Some(true);
                let is_allowed = match found(&allowed, name, value) {
                    Some(is_in) => is_in,
                    None => allowed.is_empty() || star(&allowed),
                };
                not_denied && is_allowed
            })
    }
}

/// The text before the first template and the first wildcard.
fn fixed(path: &str) -> String {
    let (plain, _) = path.split_once("{{").unwrap();
    let mut fixed = String::new();
    for segment in plain.split_inclusive('/') {
        if segment.trim_end_matches('/') == "+" {
            break;
        }
        fixed += segment;
    }
    fixed
}

fn fits_value(listed: &str, value: &str) -> bool {
    match listed.split('*').collect::<Vec<_>>().as_slice() {
        [text] => *text == value,
        ["", end] => value.ends_with(end),
        [start, ""] => value.starts_with(start),
        ["", middle, ""] => value.contains(middle),
        _ => panic!("{listed}"),
    }
}

fn wild(text: &str) -> bool {
    text.split('/').any(|segment| segment == "+")
}

/// Greater wins.
fn order(text: &str) -> (usize, u8, usize, usize, String) {
    let bare = text.trim_end_matches('*').to_owned();
    let segments: Vec<&str> = bare.split('/').collect();
    let before = segments.iter().take_while(|it| **it != "+");
    let first = if wild(&bare) {
        before.map(|it| it.len() + 1).sum()
    } else {
        bare.len()
    };
    let wildcards = segments.iter().filter(|it| **it == "+").count();
    let plain_end = u8::from(!text.ends_with('*'));
    (first, plain_end, usize::MAX - wildcards, bare.len(), bare)
}

/// Character by character: `+` as a whole segment eats up to the next slash, a final `*` eats the rest.
fn fits(text: &str, path: &str) -> bool {
    fn step(text: &[u8], path: &[u8], at_segment_start: bool) -> bool {
        match text {
            [] => path.is_empty(),
            [b'*'] => true,
            [b'+', rest @ ..] if at_segment_start && matches!(rest.first(), None | Some(b'/')) => {
                let eaten = path.iter().take_while(|byte| **byte != b'/').count();
                step(rest, &path[eaten..], false)
            }
            [first, rest @ ..] => {
                path.first() == Some(first) && step(rest, &path[1..], *first == b'/')
            }
        }
    }
    step(text.as_bytes(), path.as_bytes(), true)
}

fn listed() -> impl Strategy<Value = Listed> {
    let name = prop::sample::select(vec!["x", "y", "z", "*"]);
    let value = prop::sample::select(vec!["a", "b", "a*", "*b", "*c*", "5", "true", "**"]);
    let entry = (name, prop::collection::vec(value, 0..3));
    prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(entry, 0..3)]
        .prop_map(without_repetitions)
}

/// Within one block a repeated name is a matter of the reader.
fn without_repetitions(mut entries: Listed) -> Listed {
    let mut seen = BTreeSet::new();
    entries.retain(|(name, _)| seen.insert(*name));
    entries
}

fn limit() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![6 => Just(None), 1 => (1..5_u64).prop_map(Some)]
}

fn written() -> impl Strategy<Value = Written> {
    let segment = prop_oneof![
        8 => "[abc+]{1,2}",
        1 => prop::sample::select(&TEMPLATES[..]).prop_map(|it| format!("{{{{{it}}}}}")),
        1 => prop::sample::select(&TEMPLATES[..]).prop_map(|it| format!("a{{{{{it}}}}}")),
    ];
    let path = (prop::collection::vec(segment, 1..4), "(/?)(\\*?)")
        .prop_map(|(segments, end)| segments.join("/") + &end)
        .prop_filter("the reference's one forbidden pattern", |path| {
            !path.contains("+*")
        });
    let capabilities = prop_oneof![
        4 => Just(vec!["read"]),
        4 => Just(vec!["update", "list"]),
        1 => Just(vec![]),
        1 => Just(vec!["deny"]),
    ];
    let required = prop_oneof![6 => Just(vec![]), 1 => Just(vec!["x"]), 1 => Just(vec!["y", "x"])];
    (
        path,
        capabilities,
        listed(),
        listed(),
        required,
        limit(),
        limit(),
    )
        .prop_map(
            |(path, capabilities, allowed, denied, required, min, max)| Written {
                path,
                capabilities,
                allowed,
                denied,
                required,
                min,
                // Within one rule the limits must leave something between them.
                max: max.filter(|max| min.is_none_or(|min| min <= *max)),
            },
        )
}

/// Cases in which something happens: short paths of few letters.
pub(super) fn case() -> impl Strategy<Value = Case> {
    let value = prop_oneof![6 => "[abc]{1,2}", 1 => "[+*/]", 1 => Just(String::new())];
    let values = prop::collection::btree_map(prop::sample::select(&TEMPLATES[..]), value, 0..5);
    let identity = prop::option::weighted(0.8, values.prop_map(Values));
    let operation = prop::sample::select(vec![
        Operation::Read,
        Operation::List,
        Operation::Update,
        Operation::CreateOrUpdate,
        Operation::Patch,
        Operation::Delete,
        Operation::Help,
    ]);
    let name = prop::sample::select(vec!["x", "X", "y", "z", "q"]);
    let value = prop::sample::select(vec![
        "\"a\"", "\"ab\"", "\"b\"", "\"xcx\"", "5", "\"5\"", "true",
    ]);
    let parameters = prop::collection::vec((name, value), 0..3).prop_map(|parameters| {
        let parameters = parameters.into_iter();
        let parameters = parameters.map(|(name, value)| Parameter {
            name: name.to_owned(),
            value: value.to_owned(),
        });
        parameters.collect()
    });
    (
        prop::collection::vec(written(), 0..8),
        identity,
        "([abc]{1,2}/){0,3}[abc]{1,2}/?",
        operation,
        parameters,
        prop::option::of(1..5_u64),
    )
        .prop_map(
            |(policies, identity, path, operation, parameters, wrap_ttl)| Case {
                policies,
                identity,
                path,
                operation,
                parameters,
                wrap_ttl,
            },
        )
}
