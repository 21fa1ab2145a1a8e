//! The JSON Schema of configuration files is one, and every configuration that the documents and `deploy` show has its form.

use boon::{Compiler, SchemaIndex, Schemas};
use gatehouse::settings::SettingsReference;
use serde_json::{Map, Value, json};

use crate::sources::{Source, sources};

/// Blocks of TOML in documents that are no configuration of the server, by their page and their first line.
const OTHERS: [(&str, &str); 3] = [
    ("docs/hosts/rust.md", "[dependencies]"),
    ("docs/hosts/spin.md", "[sqlite_database.access]"),
    ("docs/operate/apply.md", "[policies]"),
];

/// The schema that `gatehouse config schema` prints, ready to check with.
struct Schema {
    schemas: Schemas,
    settings: SchemaIndex,
}

impl Schema {
    /// Compiling checks a schema against that of its draft first.
    fn compile(schema: Value) -> Result<Self, String> {
        const NAME: &str = "http://gatehouse.invalid/settings.json";
        let mut schemas = Schemas::new();
        let mut compiler = Compiler::new();
        compiler.enable_format_assertions();
        let refused = |error: boon::CompileError| format!("{error:#}");
        compiler.add_resource(NAME, schema).map_err(refused)?;
        let settings = compiler.compile(NAME, &mut schemas).map_err(refused)?;
        Ok(Self { schemas, settings })
    }

    fn of_program() -> Self {
        Self::compile(SettingsReference::new().schema()).unwrap()
    }

    fn check(&self, configuration: &Value) -> Result<(), String> {
        let checked = self.schemas.validate(configuration, self.settings);
        checked.map_err(|error| format!("{error:#}"))
    }
}

/// The blocks of TOML in a document.
fn blocks(page: &Source) -> Vec<&str> {
    let blocks = page.text.split("```toml\n").skip(1);
    blocks
        .map(|block| block.split_once("```").expect("a block ends").0)
        .collect()
}

/// True of the configurations of servers among the files of `deploy`.
fn is_configuration(path: &str) -> bool {
    path.starts_with("deploy/") && path.ends_with("/gatehouse.toml")
}

#[test]
fn the_schema_of_settings_is_one_of_draft_7() {
    let schema = SettingsReference::new().schema();
    assert_eq!(schema["$schema"], "http://json-schema.org/draft-07/schema#");
    Schema::compile(schema.clone()).unwrap();
    // The check refuses a schema that is invalid.
    let mut wrong = schema;
    wrong["properties"]["listener"]["properties"]["body_limit"]["type"] = json!("bytes");
    Schema::compile(wrong).map(|_| ()).unwrap_err();
}

#[test]
fn every_configuration_that_is_shown_has_the_form_of_the_schema() {
    let schema = Schema::of_program();
    let mut shown: Vec<(String, String)> = Vec::new();
    let mut others = Vec::new();
    for page in sources(&["md"]) {
        for block in blocks(&page) {
            let other = OTHERS
                .iter()
                .find(|(path, first)| *path == page.path && block.starts_with(first));
            match other {
                Some(other) => others.push(*other),
                None => shown.push((page.path.clone(), block.to_owned())),
            }
        }
    }
    others.sort_unstable();
    assert_eq!(others, OTHERS);
    let files = sources(&["toml"]).into_iter();
    let files = files.filter(|file| is_configuration(&file.path));
    let files: Vec<_> = files.map(|file| (file.path, file.text)).collect();
    assert!(files.len() > 2 && shown.len() > 8);
    shown.extend(files);
    for (path, text) in shown {
        let configuration = toml::from_str(&text);
        let configuration: Value =
            configuration.unwrap_or_else(|error| panic!("{path}: {error}\n{text}"));
        let checked = schema.check(&configuration);
        checked.unwrap_or_else(|error| panic!("{path}: {error}\n{text}"));
    }
}

#[test]
fn a_configuration_of_all_defaults_has_the_form_of_the_schema() {
    let defaults = |section: &Value| {
        let settings = section["properties"].as_object().unwrap().iter();
        let set = settings.filter_map(|(key, setting)| {
            let default = setting.get("default")?;
            Some((key.clone(), default.clone()))
        });
        Value::Object(set.collect::<Map<_, _>>())
    };
    let printed = SettingsReference::new().schema();
    let sections = printed["properties"].as_object().unwrap().iter();
    let configuration = sections.map(|(name, section)| match section.get("properties") {
        Some(_) => (name.clone(), defaults(section)),
        None => {
            let named = defaults(&section["additionalProperties"]);
            (name.clone(), json!({"main": named}))
        }
    });
    let configuration = Value::Object(configuration.collect::<Map<_, _>>());
    assert_eq!(configuration["limits"]["queue"], 1024);
    assert_eq!(configuration["audit"]["main"]["sync"], true);
    Schema::of_program().check(&configuration).unwrap();
}

#[test]
fn the_schema_refuses_what_reading_refuses() {
    let schema = Schema::of_program();
    for right in [
        json!({}),
        json!({"limits": {"queue": 7, "login_rate_per_source": "none"}}),
        json!({"listener": {"body_limit": "2 MiB"}, "audit": {"a": {"type": "stdout"}}}),
    ] {
        schema.check(&right).unwrap();
    }
    for wrong in [
        json!({"listner": {}}),
        json!({"listener": {"adress": "0.0.0.0:8200"}}),
        json!({"listener": {"address": 8200}}),
        json!({"listener": {"body_limit": 0}}),
        json!({"storage": {"type": "sqlite"}}),
        json!({"limits": {"queue": "many"}}),
        json!({"audit": {"path": "/var/log/gatehouse/audit.log"}}),
        json!({"audit": {"a": {"kind": "stdout"}}}),
        json!({"telemetry": {"traces_url": "no url"}}),
    ] {
        assert!(schema.check(&wrong).is_err(), "{wrong}");
    }
}
