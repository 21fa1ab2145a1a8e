//! Reading the files of `deploy` and what they speak of: settings, routes, limits.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;
use serde_json::Value;

/// The root of the repository.
pub fn workspace() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).unwrap_or(manifest).to_owned()
}

/// A file of the repository as text.
///
/// # Panics
///
/// When it is not there.
pub fn read(path: &str) -> String {
    let text = fs::read_to_string(workspace().join(path));
    text.unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A pattern that is known to be right.
///
/// # Panics
///
/// When it is not.
pub fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern")
}

/// The first groups of all places where `text` fits.
pub fn found<'a>(text: &'a str, expression: &str) -> Vec<&'a str> {
    let expression = pattern(expression);
    let places = expression.captures_iter(text);
    places
        .filter_map(|place| Some(place.get(1)?.as_str()))
        .collect()
}

/// The documents of a YAML text, in which a number that begins with a zero is octal, as for Kubernetes.
///
/// # Panics
///
/// When it is none.
pub fn documents(text: &str) -> Vec<Value> {
    let options = serde_saphyr::options! { legacy_octal_numbers: true };
    let documents = serde_saphyr::from_multiple_with_options(text, options);
    documents.unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Every setting as `section.key`, from the reference, whose agreement with the sources is tested elsewhere. Sinks are below `audit.NAME`.
pub fn settings() -> &'static BTreeSet<String> {
    static SETTINGS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
        let page = read("docs/reference/settings.md");
        let mut section = "";
        let mut settings = BTreeSet::new();
        for line in page.lines() {
            if let Some(name) = line.strip_prefix("## `[") {
                section = name.trim_end_matches("]`");
            } else if let Some(row) = line.strip_prefix("| `") {
                let key = row.split('`').next().unwrap_or_default();
                settings.insert(format!("{section}.{key}"));
            }
        }
        settings
    });
    &SETTINGS
}

/// The settings of a configuration file, with texts and numbers as JSON.
///
/// # Panics
///
/// When it is no TOML, or sets something that does not exist.
pub fn configuration(path: &str) -> Value {
    let configuration: Value = toml::from_str(&read(path)).expect(path);
    let known = settings();
    let check = |section: &str, keys: &Value| {
        for key in keys.as_object().expect("a section").keys() {
            let name = format!("{section}.{key}");
            assert!(known.contains(&name), "{path}: there is no setting {name}");
        }
    };
    for (section, keys) in configuration.as_object().expect("a table") {
        if section == "audit" {
            for sink in keys.as_object().expect("sinks").values() {
                check("audit.NAME", sink);
            }
        } else {
            check(section, keys);
        }
    }
    configuration
}

/// The default of a setting below `limits` as the reference words it.
///
/// # Panics
///
/// When there is none.
pub fn default_limit(key: &str) -> String {
    let page = read("docs/reference/settings.md");
    let (_, page) = page
        .split_once("## `[limits]`")
        .expect("the section is there");
    let row = format!(r"(?m)^\| `{key}` \| .*Default ([\d,]+(?: \w+)?)");
    let found = found(page, &row);
    found.first().expect(key).replace(',', "")
}

/// A default below `limits` that is a time in seconds.
///
/// # Panics
///
/// When it is none.
pub fn default_seconds(key: &str) -> Duration {
    let text = default_limit(key);
    let seconds = text.strip_suffix(" s").expect(key);
    Duration::from_secs(seconds.parse().expect(key))
}

/// True if anyone may ask for `path` without a token, by the tables of routes.
pub fn is_open_route(path: &str) -> bool {
    let (page, route, open) = match (path.strip_prefix("/v1/"), path.strip_prefix("/api/v2/")) {
        (Some(route), _) => ("docs/reference/routes.md", route, "no token"),
        (_, Some(route)) => ("docs/reference/organizations-routes.md", route, "anyone"),
        _ => return false,
    };
    let row = format!("| GET | `{route}` | {open} |");
    read(page).lines().any(|line| line.starts_with(&row))
}
