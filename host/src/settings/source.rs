//! The sources of settings: the file, above it the environment, above that the flags.
//!
//! A key is known because it is asked for. So there is no second list of keys to keep, and whatever is left over in any
//! source after reading is a mistake of the operator.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use toml::{Table, Value};

use super::kind::SettingKind;
use super::lines::Lines;
use super::value::{ByteSize, Count, OrNone, SettingValue};

/// The prefix of every environment variable that holds a setting.
const ENVIRONMENT_PREFIX: &str = "GATEHOUSE_";

/// Variables of other programs that stand in for settings which are not set, or help to find their defaults.
const FOREIGN_VARIABLES: [&str; 3] = [
    "GCE_METADATA_HOST",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "HOME",
];

/// How alike two keys must be (Jaro-Winkler, 0 to 1) for one to be proposed instead of the other.
const SIMILAR_ENOUGH: f64 = 0.75;

/// The source that a setting in force was taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Neither the file nor the environment sets it.
    Default,
    /// The configuration file.
    File,
    /// An environment variable.
    Environment,
    /// The command line.
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Default => "default",
            Self::File => "file",
            Self::Environment => "environment",
            Self::Flag => "flag",
        })
    }
}

/// A setting as it is in force. Settings never hold secrets, only where to find them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectiveSetting {
    /// Section and key, such as `listener.address`.
    pub name: String,
    /// The value as it could stand in the configuration file; absent where there is none.
    pub value: Option<String>,
    /// Where it was taken from.
    pub origin: Origin,
    /// The line of the configuration file, counted from 1, where it was taken from there.
    pub line: Option<usize>,
    /// The form of its value.
    pub kind: SettingKind,
}

/// One thing that is wrong with the settings, with the cure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingError {
    /// The setting, environment variable or file concerned.
    pub subject: String,
    /// The flaw, and how to mend it.
    pub message: String,
    /// The line of the configuration file, counted from 1, where the flaw is in the file and at one place.
    pub line: Option<usize>,
}

impl SettingError {
    pub(super) fn new(subject: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            subject: subject.into(),
            message: message.into(),
            line: None,
        }
    }

    pub(super) fn at(self, line: Option<usize>) -> Self {
        Self { line, ..self }
    }
}

impl fmt::Display for SettingError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.subject, self.message)
    }
}

/// Everything that was read, once all settings have been asked for.
pub(super) struct Findings {
    pub(super) effective: Vec<EffectiveSetting>,
    pub(super) problems: Vec<SettingError>,
}

/// The three sources together.
pub(super) struct Sources {
    file: Table,
    lines: Lines,
    environment: BTreeMap<String, String>,
    foreign: BTreeMap<String, String>,
    flags: BTreeMap<String, String>,
    /// The keys of every section that was read.
    known: BTreeMap<String, BTreeSet<&'static str>>,
    /// The prefix of the names of sections that the operator names.
    groups: BTreeSet<&'static str>,
    findings: Findings,
}

impl Sources {
    /// `lines` are those of the file; `flags` are named by section and key, such as `listener.address`.
    pub(super) fn new(
        file: Table,
        lines: Lines,
        environment: impl IntoIterator<Item = (String, String)>,
        flags: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        let (environment, others): (BTreeMap<_, _>, BTreeMap<_, _>) = environment
            .into_iter()
            .partition(|(name, _)| name.starts_with(ENVIRONMENT_PREFIX));
        Self {
            file,
            lines,
            environment,
            foreign: others
                .into_iter()
                .filter(|(name, value)| {
                    FOREIGN_VARIABLES.contains(&name.as_str()) && !value.is_empty()
                })
                .collect(),
            flags: flags.into_iter().collect(),
            known: BTreeMap::new(),
            groups: BTreeSet::new(),
            findings: Findings {
                effective: Vec::new(),
                problems: Vec::new(),
            },
        }
    }

    /// Begins to read a section.
    pub(super) fn section(&mut self, name: impl Into<String>) -> Section<'_> {
        let name = name.into();
        self.known.entry(name.clone()).or_default();
        Section {
            sources: self,
            name,
        }
    }

    /// The names that the operator gave to the sections of a group, such as `main` for `[audit.main]`; sorted. They stand in the
    /// file alone, and are letters, digits, `-` and `_`.
    pub(super) fn names_in(&mut self, group: &'static str) -> Vec<String> {
        self.groups.insert(group);
        let Some(tables) = self.file.get(group).and_then(Value::as_table) else {
            return Vec::new();
        };
        let (names, odd): (Vec<&String>, Vec<&String>) = tables
            .iter()
            .filter_map(|(name, content)| content.is_table().then_some(name))
            .partition(|name| !name.is_empty() && name.bytes().all(is_plain));
        let problems = odd.into_iter().map(|name| {
            SettingError::new(
                format!("[{group}.{name:?}]"),
                "such a name is made of letters, digits, `-` and `_`",
            )
            .at(self.lines.find(&format!("{group}.{name}")))
        });
        let problems: Vec<SettingError> = problems.collect();
        self.findings.problems.extend(problems);
        let mut names: Vec<String> = names.into_iter().cloned().collect();
        names.sort();
        names
    }

    /// Ends the reading: a name that was not asked for becomes a problem.
    pub(super) fn finish(mut self) -> Findings {
        let mut problems = self.unknown_in_file();
        problems.extend(self.unknown_in_environment());
        problems.extend(self.unknown_in_flags());
        self.findings.problems.extend(problems);
        self.findings
    }

    fn unknown_in_file(&self) -> Vec<SettingError> {
        let mut problems = Vec::new();
        for (section, content) in &self.file {
            match content.as_table() {
                Some(table) if self.groups.contains(section.as_str()) => {
                    for (name, content) in table {
                        problems.extend(self.unknown_in_named(section, name, content));
                    }
                }
                _ => problems.extend(self.unknown_in_section(section, content)),
            }
        }
        problems
    }

    /// The line of a section or a setting of the file.
    fn line(&self, name: &str) -> Option<usize> {
        self.lines.find(name)
    }

    /// A section that the operator named.
    fn unknown_in_named(&self, group: &str, name: &str, content: &Value) -> Vec<SettingError> {
        let section = format!("{group}.{name}");
        if content.is_table() && !self.known.contains_key(&section) {
            // An odd name, which has been called a problem.
            return Vec::new();
        }
        if !content.is_table() {
            let cure =
                format!("settings of {group} stand in a section with a name, as [{group}.NAME]");
            let line = self.line(&section);
            return vec![SettingError::new(section, cure).at(line)];
        }
        self.unknown_in_section(&section, content)
    }

    fn unknown_in_section(&self, section: &str, content: &Value) -> Vec<SettingError> {
        let Some(keys) = self.known.get(section) else {
            if self.groups.contains(section) {
                let cure = format!("expected sections with names; write [{section}.NAME]");
                return vec![SettingError::new(section, cure).at(self.line(section))];
            }
            let groups = self.groups.iter().map(|group| format!("{group}.NAME"));
            let names: Vec<String> = self.known.keys().cloned().chain(groups).collect();
            let cure = suggestion(section, names.iter().map(String::as_str), |name| {
                format!("[{name}]")
            });
            let message = format!("there is no such section{cure}");
            let problem = SettingError::new(format!("[{section}]"), message);
            return vec![problem.at(self.line(section))];
        };
        let Some(table) = content.as_table() else {
            let message = format!("expected a section; write [{section}] on a line of its own");
            return vec![SettingError::new(section, message).at(self.line(section))];
        };
        let unknown = table.keys().filter(|key| !keys.contains(key.as_str()));
        unknown
            .map(|key| {
                let cure = self.suggest_setting(section, key);
                let name = format!("{section}.{key}");
                let line = self.line(&name);
                SettingError::new(name, format!("unknown setting{cure}")).at(line)
            })
            .collect()
    }

    /// The nearest key of the same section, or the same key in another one.
    fn suggest_setting(&self, section: &str, key: &str) -> String {
        let elsewhere = self
            .known
            .iter()
            .find(|(_, keys)| keys.contains(key))
            .map(|(other, _)| format!("; did you mean `{other}.{key}`?"));
        let here = self.known.get(section).into_iter().flatten().copied();
        elsewhere.unwrap_or_else(|| suggestion(key, here, |name| format!("`{section}.{name}`")))
    }

    /// The cure for a setting, named after `prefix`, of a section that the file would have to name; `None` where it is in no such group.
    fn name_it_in_file(&self, name: &str, prefix: impl Fn(&str) -> String) -> Option<String> {
        let group = self.groups.iter();
        let group = group
            .copied()
            .find(|group| name.starts_with(&prefix(group)))?;
        Some(format!(
            "; a section of {group} stands in the file, as [{group}.NAME], and only settings of a section that does can be set elsewhere"
        ))
    }

    /// Variables that name a section of ours but no setting in it. Others may belong to other programs.
    fn unknown_in_environment(&self) -> Vec<SettingError> {
        let variables: BTreeSet<String> = self
            .known
            .iter()
            .flat_map(|(section, keys)| keys.iter().map(|key| variable_name(section, key)))
            .collect();
        self.environment
            .keys()
            .filter(|name| !variables.contains(*name))
            .filter_map(|name| {
                let mut sections = self.known.keys();
                let cure = match sections.any(|it| name.starts_with(&variable_name(it, ""))) {
                    true => suggestion(name, variables.iter().map(String::as_str), |near| {
                        format!("`{near}`")
                    }),
                    false => self.name_it_in_file(name, |group| variable_name(group, ""))?,
                };
                let text = format!("this environment variable names no setting{cure}");
                Some(SettingError::new(name, text))
            })
            .collect()
    }

    fn unknown_in_flags(&self) -> Vec<SettingError> {
        let names: BTreeSet<String> = self
            .known
            .iter()
            .flat_map(|(section, keys)| keys.iter().map(move |key| format!("{section}.{key}")))
            .collect();
        self.flags
            .keys()
            .filter(|name| !names.contains(*name))
            .map(|name| {
                let mut sections = self.known.keys();
                let is_of_section = sections.any(|it| name.starts_with(&format!("{it}.")));
                let elsewhere = self.name_it_in_file(name, |group| format!("{group}."));
                let cure = elsewhere.filter(|_| !is_of_section).unwrap_or_else(|| {
                    suggestion(name, names.iter().map(String::as_str), |near| {
                        format!("`{near}`")
                    })
                });
                SettingError::new(name, format!("this flag names no setting{cure}"))
            })
            .collect()
    }
}

/// One section while it is read.
pub(super) struct Section<'a> {
    sources: &'a mut Sources,
    name: String,
}

impl Section<'_> {
    /// The setting `key`, or `default` where no source has it.
    pub(super) fn value<T: SettingValue>(&mut self, key: &'static str, default: T) -> T {
        let (value, origin) = self.find(key).unwrap_or((default, Origin::Default));
        self.record(key, Some(value.to_text()), origin, *T::KIND);
        value
    }

    /// The setting `key`, which may be left out.
    pub(super) fn optional<T: SettingValue>(&mut self, key: &'static str) -> Option<T> {
        let (value, origin) = self.find(key).unzip();
        self.record(
            key,
            value.as_ref().map(T::to_text),
            origin.unwrap_or(Origin::Default),
            *T::KIND,
        );
        value
    }

    /// The setting `key`, else what the variable of another program says, else `default`, which may be nothing. The word `none`
    /// for the value means nothing too, whatever the default is.
    pub(super) fn value_or_foreign<T: SettingValue>(
        &mut self,
        key: &'static str,
        variable: &str,
        default: Option<T>,
    ) -> Option<T> {
        let set = self.find::<OrNone<T>>(key).or_else(|| {
            let value = OrNone::from_text(self.foreign(variable)?)?;
            Some((value, Origin::Environment))
        });
        let (value, origin) = match set {
            Some((value, origin)) => (Some(value), origin),
            None => (default.map(|value| OrNone(Some(value))), Origin::Default),
        };
        let kind = *OrNone::<T>::KIND;
        self.record(key, value.as_ref().map(OrNone::to_text), origin, kind);
        value?.0
    }

    /// A variable of another program, unless it is empty.
    pub(super) fn foreign(&self, name: &str) -> Option<&str> {
        self.sources.foreign.get(name).map(String::as_str)
    }

    /// A number of things, at least one.
    pub(super) fn count(&mut self, key: &'static str, default: usize) -> usize {
        self.value(key, Count(default)).0
    }

    /// A number of things, at least one; `None` for the word `none`.
    pub(super) fn count_or_none(&mut self, key: &'static str, default: usize) -> Option<usize> {
        let OrNone(count) = self.value(key, OrNone(Some(Count(default))));
        count.map(|count| count.0)
    }

    /// A number of bytes, at least one.
    pub(super) fn size(&mut self, key: &'static str, default: usize) -> usize {
        self.value(key, ByteSize(default)).0
    }

    /// The value in the strongest source that has one. A value that cannot be read is a problem, and none.
    fn find<T: SettingValue>(&mut self, key: &'static str) -> Option<(T, Origin)> {
        let known = self.sources.known.entry(self.name.clone());
        known.or_default().insert(key);
        let name = format!("{}.{key}", self.name);
        let variable = variable_name(&self.name, key);

        let (subject, written, value, origin) = if let Some(text) = self.sources.flags.get(&name) {
            (name, text.clone(), T::from_text(text), Origin::Flag)
        } else if let Some(text) = self.sources.environment.get(&variable) {
            (
                variable,
                text.clone(),
                T::from_text(text),
                Origin::Environment,
            )
        } else {
            let mut parts = self.name.split('.');
            let section = parts.try_fold(&self.sources.file, |table, part| {
                table.get(part).and_then(Value::as_table)
            });
            let value = section?.get(key)?;
            (name, value.to_string(), T::from_toml(value), Origin::File)
        };
        if value.is_none() {
            let mut message = format!("expected {}", T::EXPECTED);
            if T::SHOWS_MISTAKES {
                message.push_str(&format!(", found {}", shorten(&written)));
            }
            let line = (origin == Origin::File).then(|| self.sources.line(&subject));
            let problem = SettingError::new(subject, message).at(line.flatten());
            self.sources.findings.problems.push(problem);
        }
        value.map(|value| (value, origin))
    }

    fn record(&mut self, key: &str, value: Option<String>, origin: Origin, kind: SettingKind) {
        let name = format!("{}.{key}", self.name);
        let line = (origin == Origin::File).then(|| self.sources.line(&name));
        self.sources.findings.effective.push(EffectiveSetting {
            name,
            value,
            origin,
            line: line.flatten(),
            kind,
        });
    }
}

/// True if a name may hold this byte without confusing a reader.
const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// The environment variable of a setting.
pub(super) fn variable_name(section: &str, key: &str) -> String {
    format!("{ENVIRONMENT_PREFIX}{section}_{key}")
        .replace('.', "_")
        .to_ascii_uppercase()
}

fn suggestion<'a>(
    written: &str,
    candidates: impl Iterator<Item = &'a str>,
    show: impl Fn(&str) -> String,
) -> String {
    let candidates: Vec<&str> = candidates.collect();
    let nearest = candidates
        .iter()
        .map(|candidate| (strsim::jaro_winkler(written, candidate), candidate))
        .filter(|(likeness, _)| *likeness >= SIMILAR_ENOUGH)
        .max_by(|(left, _), (right, _)| left.total_cmp(right));
    match nearest {
        Some((_, candidate)) => format!("; did you mean {}?", show(candidate)),
        None => {
            let all: Vec<String> = candidates.iter().map(|candidate| show(candidate)).collect();
            format!("; there are {}", all.join(", "))
        }
    }
}

fn shorten(written: &str) -> String {
    const LONGEST: usize = 60;
    if written.chars().count() <= LONGEST {
        return format!("`{written}`");
    }
    let start: String = written.chars().take(LONGEST).collect();
    format!("`{start}...`")
}
