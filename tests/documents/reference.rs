//! The pages of `docs/reference` that list the settings and the metrics are made from the sources that define them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::sync::LazyLock;

use gatehouse_tests::workspace;
use regex::Regex;

use crate::contracts::pattern;

const SETTINGS: &str = "docs/reference/settings.md";
const METRICS: &str = "docs/reference/metrics.md";
const COMMAND: &str = "GATEHOUSE_WRITE=1 cargo test -p gatehouse-tests --test documents";

/// Sources of the sections, in the order of the page.
const SECTIONS: [&str; 3] = ["sections.rs", "google.rs", "audit.rs"];

/// A section: the comment that names it in brackets, and the fields of its struct.
static SECTION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?m)^((?:/// .*\n)+)(?:#\[.*\]\n)*pub struct \w+Settings \{\n((?:.*\n)*?)\}\n\nimpl \w+ \{\n((?:.*\n)*?)\}\n",
    )
});
static TITLE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^`\[([a-zA-Z.]+)\]`: (.*)$"));
static FIELD: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)^((?:    /// .*\n)+)    pub (\w+): (\w+)"));
/// A key that is not called like its field.
static KEY: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"(?m)^ +(\w+): section\s*\.\w+(?:::<[^>]*>)?\(\s*"(\w+)""#));
/// A type with few values: its name, and the values in words.
static CHOICES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?:named_choices!\(\s*|impl SettingValue for )(\w+)(?:,| \{\s*const EXPECTED: &'static str =)\s*"((?:[^"\\]|\\.)*)"(?:,|;\s*const KIND: &'static SettingKind =\s*&SettingKind::Choice)"#,
    )
});
static SWITCH: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"key: "(\w+)",\s*gives_up: "([^"]*)""#));
static METRIC: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r#"(counters?|histogram|gauge)\(\s*to,\s*"(\w+)",\s*"([^"]*)",?(?:\s*\[([^\]]*)\])?"#)
});
/// A label of a metric, with the name of the constant that has its values.
static LABEL: LazyLock<Regex> = LazyLock::new(|| pattern(r#"\("(\w+)", (\w+)\)"#));
static WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r#""([^"]+)""#));

fn source(path: &str) -> String {
    fs::read_to_string(workspace().join(path)).expect("a source can be read")
}

/// The text of the comment lines in `block`.
fn comment(block: &str) -> String {
    let lines = block.lines().map(|line| {
        line.trim_start()
            .strip_prefix("///")
            .unwrap_or_default()
            .trim()
    });
    lines.collect::<Vec<_>>().join(" ")
}

/// A text as it stands in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace("`None`", "`\"none\"`")
}

fn settings_page() -> String {
    let mut page = format!(
        "# Settings\n\n\
         Generated from the sources in `host/src/settings` by `{COMMAND}`. Do not edit.\n\n\
         A setting is read from the file that `--config` names, above it from the environment (`GATEHOUSE_LISTENER_ADDRESS`), and above that \
         from the command line (`--set listener.address=...`). A time is a text such as `\"90s\"` or a number of seconds; a size is a number of \
         bytes or a text such as `\"1 MiB\"`. `gatehouse config check` names each mistake in a file, and an unknown key with the nearest one \
         that exists.\n"
    );
    for name in SECTIONS {
        let text = source(&format!("host/src/settings/{name}"));
        let choices: BTreeMap<&str, String> = CHOICES
            .captures_iter(&text)
            .map(|found| found.extract())
            .map(|(_, [name, values])| (name, values.replace("\\\"", "\"")))
            .collect();
        for section in SECTION.captures_iter(&text) {
            let about = comment(&section[1]);
            let title = TITLE.captures(&about);
            let title = title.unwrap_or_else(|| panic!("{name}: {about:?} names no section"));
            let keys: BTreeMap<&str, &str> = KEY
                .captures_iter(&section[3])
                .map(|key| key.extract())
                .map(|(_, [field, key])| (field, key))
                .collect();
            let about = format!("{}{}", title[2][..1].to_uppercase(), &title[2][1..]);
            write!(
                page,
                "\n## `[{}]`\n\n{about}\n\n| key | meaning |\n|---|---|\n",
                &title[1]
            )
            .expect("text can be written");
            for field in FIELD.captures_iter(&section[2]) {
                let key = keys.get(&field[2]).copied().unwrap_or(&field[2]);
                // The name of a sink is a part of its section's name.
                if !section[3].contains(&format!("\"{key}\"")) {
                    assert_eq!((name, key), ("audit.rs", "name"), "no key of a setting");
                    continue;
                }
                let values = choices.get(&field[3]);
                let values = values.map_or(String::new(), |values| format!(" One of: {values}."));
                writeln!(page, "| `{key}` | {}{values} |", cell(&comment(&field[1])))
                    .expect("text can be written");
            }
        }
    }
    page.push_str(
        "\n## `[compatibility]`\n\nDifferences from the reference that an existing deployment may need to take back. Each is `false` by \
         default; with `true`:\n\n| key | consequence |\n|---|---|\n",
    );
    for switch in SWITCH.captures_iter(&source("host/src/settings/compatibility.rs")) {
        writeln!(page, "| `{}` | {} |", &switch[1], cell(&switch[2])).expect("text can be written");
    }
    page
}

/// The texts between quotes, each once, in the order of their first place.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for word in WORD.captures_iter(text).map(|found| found.extract()) {
        let (_, [word]) = word;
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

/// The part of `text` behind `begin`, up to `end`.
fn between<'a>(text: &'a str, begin: &str, end: &str) -> &'a str {
    let part = text
        .split_once(begin)
        .and_then(|(_, rest)| rest.split_once(end));
    part.unwrap_or_else(|| panic!("there is no {begin}")).0
}

/// The values that a label of a metric can have: those of the constant of this name in `host/src/metrics/mod.rs`, or what the gateway says.
fn values_of_label(metric: &str, label: &str, constant: &str) -> String {
    let text = match (metric, label) {
        ("logins", "outcome") => {
            source("components/gateway/src/vault/auth_method/login/outcome.rs")
        }
        ("background_duties", "duty") => {
            let duties = source("components/gateway/src/background.rs");
            between(&duties, "DUTIES: [Duty<Self>;", "];").to_owned()
        }
        _ => {
            let metrics = source("host/src/metrics/mod.rs");
            between(&metrics, &format!("const {constant}: &[&str] = &["), "];").to_owned()
        }
    };
    let values = words(&text);
    assert!(values.len() > 1, "{metric}: {label}");
    format!("`{}`", values.join("`, `"))
}

/// The labels of a metric, each with its values, as the sources of `metric` list them.
fn labels(metric: &str, listed: &str) -> String {
    let labels = LABEL.captures_iter(listed).map(|found| found.extract());
    let labels = labels.map(|(_, [label, constant])| {
        format!("`{label}`: {}", values_of_label(metric, label, constant))
    });
    labels.collect::<Vec<_>>().join("; ")
}

fn metrics_page() -> String {
    let mut page = format!(
        "# Metrics\n\n\
         Generated from `host/src/metrics/mod.rs` by `{COMMAND}`. Do not edit.\n\n\
         [Watching](../operate/watching.md) says how they are read and who may read them.\n\n\
         | name | kind | labels, with their values | meaning |\n|---|---|---|---|\n"
    );
    for metric in METRIC.captures_iter(&source("host/src/metrics/mod.rs")) {
        let (kind, suffix) = match &metric[1] {
            "counters" | "counter" => ("counter", "_total"),
            kind => (kind, ""),
        };
        let labels = metric
            .get(4)
            .map_or(String::new(), |listed| labels(&metric[2], listed.as_str()));
        writeln!(
            page,
            "| `gatehouse_{}{suffix}` | {kind} | {labels} | {}. |",
            &metric[2],
            cell(&metric[3])
        )
        .expect("text can be written");
    }
    page
}

/// Holds the file at `path` against `page`, and writes it where that is asked for.
fn check(path: &str, page: &str) {
    let file = workspace().join(path);
    if std::env::var_os("GATEHOUSE_WRITE").is_some() {
        fs::write(&file, page).expect("the page can be written");
    }
    let written = fs::read_to_string(&file).unwrap_or_default();
    assert!(written == page, "{path} is out of date: run {COMMAND}");
}

#[test]
fn every_setting_stands_in_the_reference() {
    let page = settings_page();
    for text in [
        "| `type` | The kind of store.",
        "## `[audit.NAME]`",
        "| `accept_missing_audience` |",
        "| `application_credentials` |",
    ] {
        assert!(page.contains(text), "{text}");
    }
    check(SETTINGS, &page);
}

#[test]
fn every_metric_stands_in_the_reference() {
    let page = metrics_page();
    let source = source("host/src/metrics/mod.rs");
    let registering = pattern(r"\b(?:counters?|gauge|histogram)\(\s*to\b");
    let registered = registering.find_iter(&source).count();
    assert_eq!(page.matches("| `gatehouse_").count(), registered);
    check(METRICS, &page);
}
