//! The table of the rules of the security contract and their tests, `docs/security-rules.md`.
//!
//! The sentences and notes are in `rules.txt`; the tests are found in the sources, by the ids that lead their names. The table is
//! written by `GATEHOUSE_WRITE=1 cargo test -p gatehouse-tests --test security`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

const RULES: &str = include_str!("rules.txt");
const TABLE: &str = "docs/security-rules.md";
const COMMAND: &str = "GATEHOUSE_WRITE=1 cargo test -p gatehouse-tests --test security";

/// The letters of the chapters, each with the number of its rules.
const CHAPTERS: [(char, u32); 14] = [
    ('J', 21),
    ('G', 18),
    ('T', 12),
    ('A', 8),
    ('K', 9),
    ('L', 6),
    ('H', 14),
    ('N', 10),
    ('R', 4),
    ('W', 10),
    ('S', 14),
    ('O', 5),
    ('C', 5),
    ('V', 7),
];

struct Rule<'a> {
    id: &'a str,
    sentence: &'a str,
    note: &'a str,
}

/// Files by their path from the root, each with the names of its tests.
type Tests = BTreeMap<String, BTreeSet<String>>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the tests are in a folder of the repository")
        .to_owned()
}

fn rules() -> Vec<Rule<'static>> {
    RULES
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            let mut fields = line.splitn(3, '|').map(str::trim);
            let mut field = || {
                fields
                    .next()
                    .unwrap_or_else(|| panic!("a field is missing: {line}"))
            };
            Rule {
                id: field(),
                sentence: field(),
                note: field(),
            }
        })
        .collect()
}

/// The ids that lead the name of a test, in upper case. A name without any has none.
fn ids(name: &str) -> Vec<String> {
    name.split('_')
        .take_while(|part| is_id(part))
        .map(str::to_uppercase)
        .collect()
}

fn is_id(part: &str) -> bool {
    let mut letters = part.chars();
    let chapter = letters.next().map(|letter| letter.to_ascii_uppercase());
    let digits = letters.as_str();
    CHAPTERS.iter().any(|(letter, _)| Some(*letter) == chapter)
        && (1..=2).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The names of functions in Rust that are tests, and of those in Python and JavaScript that bear an id.
fn names_in(text: &str, is_rust: bool) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim_start) {
        if line.starts_with("#[") {
            is_test |= line.contains("test]") || line.contains("test(");
            continue;
        }
        let declared = [
            "pub fn ",
            "pub async fn ",
            "async fn ",
            "fn ",
            "async def ",
            "def ",
            "async function ",
            "function ",
        ]
        .iter()
        .find_map(|keyword| line.strip_prefix(keyword));
        if let Some(declared) = declared {
            let name: String = declared
                .chars()
                .take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_')
                .collect();
            if (is_test || !is_rust) && !ids(&name).is_empty() {
                names.insert(name);
            }
            is_test = false;
        }
    }
    names
}

fn collect(folder: &Path, root: &Path, tests: &mut Tests) {
    for entry in fs::read_dir(folder).expect("a folder of sources can be read") {
        let path = entry.expect("an entry can be read").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            if !path.is_symlink()
                && !name.starts_with('.')
                && !["target", "node_modules"].contains(&name.as_ref())
            {
                collect(&path, root, tests);
            }
            continue;
        }
        let kind = path.extension().unwrap_or_default().to_string_lossy();
        if !["rs", "py", "js", "mjs", "ts"].contains(&kind.as_ref()) {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a source is text");
        let names = names_in(&text, kind == "rs");
        if !names.is_empty() {
            let path = path.strip_prefix(root).expect("sources are below the root");
            tests.insert(path.to_string_lossy().into_owned(), names);
        }
    }
}

fn tests() -> Tests {
    let root = root();
    let mut tests = Tests::new();
    for folder in ["components", "host", "tests"] {
        collect(&root.join(folder), &root, &mut tests);
    }
    tests
}

fn tests_of<'a>(id: &str, tests: &'a Tests) -> Vec<(&'a str, Vec<&'a str>)> {
    tests
        .iter()
        .filter_map(|(file, names)| {
            let names: Vec<&str> = names
                .iter()
                .filter(|name| ids(name).iter().any(|named| named == id))
                .map(String::as_str)
                .collect();
            (!names.is_empty()).then_some((file.as_str(), names))
        })
        .collect()
}

fn table(rules: &[Rule<'_>], tests: &Tests) -> String {
    let mut table = format!(
        "# Security rules and their tests\n\n\
         Generated from `tests/security/rules.txt` and the names of the tests by `{COMMAND}`. Do not edit.\n\n\
         | rule | in a sentence | tests | note |\n|---|---|---|---|\n"
    );
    for rule in rules {
        let cell = tests_of(rule.id, tests)
            .iter()
            .map(|(file, names)| format!("`{file}`: {}", names.join(", ")))
            .collect::<Vec<_>>()
            .join("<br>");
        writeln!(
            table,
            "| {} | {} | {cell} | {} |",
            rule.id, rule.sentence, rule.note
        )
        .expect("text can be written");
    }
    table
}

#[test]
fn every_rule_of_the_contract_is_listed_once_and_in_order() {
    let expected: Vec<String> = CHAPTERS
        .iter()
        .flat_map(|(letter, count)| (1..=*count).map(move |number| format!("{letter}{number}")))
        .collect();
    let listed: Vec<&str> = rules().iter().map(|rule| rule.id).collect();
    assert_eq!(listed, expected);
}

#[test]
fn every_rule_has_a_test_or_a_reason() {
    let tests = tests();
    let bare: Vec<&str> = rules()
        .iter()
        .filter(|rule| rule.note.is_empty() && tests_of(rule.id, &tests).is_empty())
        .map(|rule| rule.id)
        .collect();
    assert!(
        bare.is_empty(),
        "neither a test nor a note in tests/security/rules.txt: {bare:?}"
    );
}

#[test]
fn every_id_that_a_test_names_is_a_rule() {
    let rules = rules();
    let mut unknown = Vec::new();
    for (file, names) in tests() {
        for name in names {
            if ids(&name)
                .iter()
                .any(|id| rules.iter().all(|rule| rule.id != id))
            {
                unknown.push(format!("{file}: {name}"));
            }
        }
    }
    assert!(unknown.is_empty(), "no such rule: {unknown:#?}");
}

#[test]
fn the_table_is_that_of_the_present_tests() {
    let table = table(&rules(), &tests());
    let path = root().join(TABLE);
    if std::env::var_os("GATEHOUSE_WRITE").is_some() {
        fs::write(&path, &table).expect("the table can be written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == table,
        "{TABLE} is stale; write it anew with: {COMMAND}"
    );
}

#[test]
fn ids_lead_the_names_of_tests_only() {
    let text = "#[test]\nfn t4_g1_a_test() {}\nfn t5_a_helper() {}\n#[tokio::test(start_paused = true)]\nasync fn h5_another() {}\n";
    let names = names_in(text, true);
    assert_eq!(
        names.iter().map(String::as_str).collect::<Vec<_>>(),
        ["h5_another", "t4_g1_a_test"]
    );
    assert_eq!(ids("t4_g1_a_test"), ["T4", "G1"]);
    assert!(ids("p2_is_no_chapter").is_empty());
    assert!(ids("sha1_is_no_rule").is_empty());
}
