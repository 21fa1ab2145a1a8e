//! The reference of all settings: for people to read, and for editors to check with.
//!
//! The settings, their forms and defaults are those that reading asks for; their meaning is that of `docs/reference/settings.md`, which is
//! made of the comments on the sections.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use toml::Table;

use super::source::{EffectiveSetting, Sources, variable_name};
use super::{AuditSinkSettings, Settings};

/// The page with the meaning of every setting.
const PAGE: &str = include_str!("../../../docs/reference/settings.md");

/// The name that stands for the one an operator chooses for an audit sink.
const NAMED: &str = "NAME";

/// Everything that can be set.
#[derive(Debug)]
pub struct SettingsReference {
    /// In the order in which they are read.
    sections: Vec<Section>,
}

#[derive(Debug)]
struct Section {
    /// As between brackets, such as `listener` or `audit.NAME`.
    name: String,
    about: String,
    settings: Vec<Described>,
}

#[derive(Debug)]
struct Described {
    key: String,
    meaning: String,
    setting: EffectiveSetting,
}

impl SettingsReference {
    /// The settings that this program knows.
    #[must_use]
    pub fn new() -> Self {
        let audit = Table::from_iter([(NAMED.to_owned(), Table::new().into())]);
        let file = Table::from_iter([(AuditSinkSettings::GROUP.to_owned(), audit.into())]);
        let mut sources = Sources::new(file, super::Lines::default(), [], []);
        // The values are all defaults.
        drop(Settings::read(&mut sources));
        let mut meanings = Meanings::read(PAGE);
        let mut sections: Vec<Section> = Vec::new();
        for setting in sources.finish().effective {
            let Some((section, key)) = setting.name.rsplit_once('.') else {
                continue;
            };
            let (section, key) = (section.to_owned(), key.to_owned());
            if sections.last().is_none_or(|last| last.name != section) {
                sections.push(Section {
                    about: meanings.take(&section),
                    name: section,
                    settings: Vec::new(),
                });
            }
            if let Some(last) = sections.last_mut() {
                last.settings.push(Described {
                    meaning: meanings.take(&setting.name),
                    key,
                    setting,
                });
            }
        }
        Self { sections }
    }

    /// A page for people: of each setting the meaning, the form with its unit, the default, and the variable that sets it.
    #[must_use]
    pub fn page(&self) -> String {
        let mut page = String::new();
        for section in &self.sections {
            // Writing to a string never fails.
            let _ = writeln!(page, "[{}]  {}\n", section.name, section.about);
            for Described {
                key,
                meaning,
                setting,
            } in &section.settings
            {
                let default = setting.value.as_deref().unwrap_or("none");
                let variable = variable_name(&section.name, key);
                let _ = write!(
                    page,
                    "  {key}\n    {meaning}\n    Form: {}\n    Default: {default}\n    Environment: {variable}\n\n",
                    setting.kind
                );
            }
        }
        page
    }

    /// The JSON Schema (draft 7) of a configuration file.
    #[must_use]
    pub fn schema(&self) -> Value {
        let mut sections = Map::new();
        for section in &self.sections {
            let settings = section.settings.iter().map(Described::schema);
            let content = json!({
                "type": "object",
                "description": section.about,
                "additionalProperties": false,
                "properties": settings.collect::<Map<String, Value>>(),
            });
            let (name, content) = match section.name.split_once('.') {
                Some((group, _)) => (
                    group,
                    json!({"type": "object", "additionalProperties": content}),
                ),
                None => (section.name.as_str(), content),
            };
            sections.insert(name.to_owned(), content);
        }
        json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "title": "Settings of Gatehouse",
            "type": "object",
            "additionalProperties": false,
            "properties": sections,
        })
    }
}

impl Default for SettingsReference {
    fn default() -> Self {
        Self::new()
    }
}

impl Described {
    fn schema(&self) -> (String, Value) {
        let mut schema = self.setting.kind.schema();
        if let Some(members) = schema.as_object_mut() {
            members.insert("description".to_owned(), self.meaning.clone().into());
            let default = self.setting.value.as_deref().and_then(in_json);
            members.extend(default.map(|default| ("default".to_owned(), default)));
        }
        (self.key.clone(), schema)
    }
}

/// A value of a configuration file as JSON has it.
fn in_json(value: &str) -> Option<Value> {
    let table: Table = format!("value = {value}").parse().ok()?;
    serde_json::to_value(table.get("value")?).ok()
}

/// The page's words about sections and settings, by their names.
struct Meanings(BTreeMap<String, String>);

impl Meanings {
    fn read(page: &str) -> Self {
        let mut meanings = BTreeMap::new();
        let mut section = String::new();
        for line in page.lines() {
            if let Some(name) = line
                .strip_prefix("## `[")
                .and_then(|rest| rest.strip_suffix("]`"))
            {
                name.clone_into(&mut section);
            } else if let Some(row) = line.strip_prefix("| `") {
                let cells = row.split_once("` | ");
                if let Some((key, meaning)) = cells {
                    let meaning = meaning.trim_end_matches(" |").replace("\\|", "|");
                    meanings.insert(format!("{section}.{key}"), meaning);
                }
            } else if !section.is_empty() && !line.is_empty() && !line.starts_with('|') {
                meanings
                    .entry(section.clone())
                    .or_insert_with(|| line.to_owned());
            }
        }
        Self(meanings)
    }

    fn take(&mut self, name: &str) -> String {
        self.0.remove(name).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SettingKind;

    #[test]
    fn every_setting_has_a_meaning_and_nothing_else_has_one() {
        let mut meanings = Meanings::read(PAGE).0;
        for section in SettingsReference::new().sections {
            assert!(!section.about.is_empty(), "{}", section.name);
            meanings.remove(&section.name);
            for described in section.settings {
                let name = described.setting.name;
                assert!(!described.meaning.is_empty(), "{name}");
                meanings.remove(&name);
            }
        }
        assert_eq!(meanings, BTreeMap::new());
    }

    #[test]
    fn the_page_tells_form_unit_default_and_variable() {
        let page = SettingsReference::new().page();
        for text in [
            "[listener]  Where clients are served.\n",
            "  body_limit\n    Largest request body in bytes.",
            "Form: size (\"1 MiB\", \"16 KiB\", or bytes)\n    Default: \"1 MiB\"\n    Environment: GATEHOUSE_LISTENER_BODY_LIMIT\n",
            "Form: one of \"memory\", \"redb\", \"postgresql\"\n    Default: \"redb\"\n",
            "Environment: GATEHOUSE_AUDIT_NAME_PATH\n",
            "    Form: true or false\n    Default: false\n    Environment: GATEHOUSE_COMPATIBILITY_ACCEPT_MISSING_AUDIENCE\n",
        ] {
            assert!(page.contains(text), "{text}\n{page}");
        }
    }

    #[test]
    fn the_schema_knows_what_reading_knows() {
        let schema = SettingsReference::new().schema();
        let sections = &schema["properties"];
        let body_limit = &sections["listener"]["properties"]["body_limit"];
        assert_eq!(body_limit["type"], json!(["string", "integer"]));
        assert_eq!(body_limit["default"], "1 MiB");
        let sink = &sections["audit"]["additionalProperties"];
        assert_eq!(sink["properties"]["sync"]["default"], true);
        assert_eq!(sink["additionalProperties"], false);
        let rate = &sections["limits"]["properties"]["login_rate_per_source"];
        assert_eq!(rate["anyOf"][0]["const"], "none");
        let limits = sections["limits"]["properties"].as_object().unwrap();
        assert!(limits.values().all(|limit| limit["default"] != Value::Null));
        let edition = &sections["organizations"]["properties"]["edition"];
        assert_eq!(edition["enum"], json!(["hosted", "self-hosted"]));
        assert_eq!(schema["additionalProperties"], false);
    }

    #[test]
    fn every_default_has_its_own_form() {
        for section in SettingsReference::new().sections {
            for Described { setting, .. } in section.settings {
                let Some(default) = setting.value.as_deref().and_then(in_json) else {
                    continue;
                };
                let fits = match setting.kind {
                    SettingKind::Boolean => default.is_boolean(),
                    SettingKind::Count => default.is_u64(),
                    SettingKind::List(_) => default.is_array(),
                    SettingKind::Choice(words) => words.iter().any(|word| default == *word),
                    SettingKind::Time | SettingKind::Size | SettingKind::Interval => {
                        default.is_string() || default.is_u64()
                    }
                    SettingKind::OrNone(_) => default.is_string() || default.is_u64(),
                    _ => default.is_string(),
                };
                assert!(fits, "{}: {default}", setting.name);
            }
        }
    }
}
