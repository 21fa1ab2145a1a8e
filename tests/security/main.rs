//! The table of the rules of the security contract and their tests, `docs/security-rules.md`.
//!
//! The sentences and notes are those of the contract; the tests are found in the sources, by the ids that lead their names. The table is
//! written by `GATEHOUSE_WRITE=1 cargo test -p gatehouse-tests --test security`.

mod documents;
mod sbom;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use gatehouse_tests::workspace;

const CONTRACT: &str = include_str!("../../docs/contract/security.md");
const TABLE: &str = "docs/security-rules.md";
/// The number of tests of a rule that the table names.
const SHOWN: usize = 5;
/// Begins the note of a rule that could have a test and has none.
const OPEN: &str = "Open:";
const COMMAND: &str = "GATEHOUSE_WRITE=1 cargo test -p gatehouse-tests --test security";

/// As the contract has it: `**J1. Sentence.** Details`, and `*Note:* text` in the paragraph after it.
struct Rule {
    id: &'static str,
    sentence: String,
    note: String,
}

/// Where tests are, each file by its path from the root with what it holds.
type Tests = BTreeMap<String, BTreeSet<Test>>;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Test {
    name: String,
    /// The rules that it holds, in upper case.
    ids: Vec<String>,
}

fn rules() -> Vec<Rule> {
    let mut rules: Vec<Rule> = Vec::new();
    for paragraph in CONTRACT.split("\n\n") {
        let on_one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some(note) = paragraph.strip_prefix("*Note:* ") {
            let rule = rules.last_mut().expect("a note belongs to a rule");
            rule.note = on_one_line(note);
        } else if let Some((id, rest)) = paragraph
            .strip_prefix("**")
            .and_then(|bold| bold.split_once(". "))
            .filter(|(id, _)| has_form_of_id(id))
        {
            let (sentence, _) = rest.split_once("**").expect("the sentence is bold");
            rules.push(Rule {
                id,
                sentence: on_one_line(sentence),
                note: String::new(),
            });
        }
    }
    rules
}

fn has_form_of_id(text: &str) -> bool {
    let (letter, digits) = text.split_at_checked(1).unwrap_or_default();
    letter.bytes().all(|byte| byte.is_ascii_uppercase())
        && (1..=2).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The ids that lead the name of a test, in upper case. A name without any has none.
fn ids(name: &str) -> Vec<String> {
    name.split('_')
        .take_while(|part| is_id(part))
        .map(str::to_uppercase)
        .collect()
}

/// True if it has the form of an id, with the letter of a chapter.
fn is_id(part: &str) -> bool {
    static LETTERS: LazyLock<BTreeSet<u8>> =
        LazyLock::new(|| rules().iter().map(|rule| rule.id.as_bytes()[0]).collect());
    let id = part.to_ascii_uppercase();
    has_form_of_id(&id) && LETTERS.contains(&id.as_bytes()[0])
}

/// The functions in Rust that are tests, and those in Python and JavaScript, as far as they bear an id.
fn tests_in(text: &str, is_rust: bool) -> BTreeSet<Test> {
    let mut tests = BTreeSet::new();
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
            let ids = ids(&name);
            if (is_test || !is_rust) && !ids.is_empty() {
                tests.insert(Test { name, ids });
            }
            is_test = false;
        }
    }
    tests
}

/// A fuzz target as a test: it names its rules where it says what it is, as in `(SEC-A2, H11)`.
fn fuzz_target_in(text: &str) -> Option<Test> {
    let says: Vec<&str> = text
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .collect();
    let says = says.join("");
    let (_, listed) = says.split_once("(SEC-")?;
    let (listed, _) = listed.split_once(')')?;
    let ids = listed.split(',').map(|id| id.trim().to_owned()).collect();
    let name = "fuzz target".to_owned();
    Some(Test { name, ids })
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
        let found = if text.contains("\nfuzz_target!(") {
            fuzz_target_in(&text).into_iter().collect()
        } else {
            tests_in(&text, kind == "rs")
        };
        if !found.is_empty() {
            let path = path.strip_prefix(root).expect("sources are below the root");
            tests.insert(path.to_string_lossy().into_owned(), found);
        }
    }
}

fn tests() -> Tests {
    let root = workspace();
    let mut tests = Tests::new();
    for folder in ["components", "host", "tests"] {
        collect(&root.join(folder), &root, &mut tests);
    }
    tests
}

/// The tests that hold a rule, as files with names.
fn tests_of<'a>(id: &str, tests: &'a Tests) -> Vec<(&'a str, &'a str)> {
    let all = tests
        .iter()
        .flat_map(|(file, tests)| tests.iter().map(move |test| (file, test)));
    all.filter(|(_, test)| test.ids.iter().any(|named| named == id))
        .map(|(file, test)| (file.as_str(), test.name.as_str()))
        .collect()
}

/// The first tests of a rule under their files, and that there are others. Their number would change the page with each new test.
fn cell(tests: &[(&str, &str)]) -> String {
    let mut files: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (file, name) in tests.iter().take(SHOWN) {
        files.entry(file).or_default().push(name);
    }
    let mut lines: Vec<String> = files
        .iter()
        .map(|(file, names)| format!("`{file}`: {}", names.join(", ")))
        .collect();
    if tests.len() > SHOWN {
        lines.push("and others".to_owned());
    }
    lines.join("<br>")
}

fn table(rules: &[Rule], tests: &Tests) -> String {
    let mut table = format!(
        "# Security rules and their tests\n\n\
         Generated from `docs/contract/security.md` and the names of the tests by `{COMMAND}`. Do not edit.\n\n\
         Of a rule with many tests the first {SHOWN} are named. A note that begins with `{OPEN}` says what is missing.\n\n\
         | rule | in a sentence | tests | note |\n|---|---|---|---|\n"
    );
    for Rule { id, sentence, note } in rules {
        let cell = cell(&tests_of(id, tests));
        writeln!(table, "| {id} | {sentence} | {cell} | {note} |").expect("text can be written");
    }
    table
}

#[test]
fn the_rules_of_each_chapter_are_numbered_in_order() {
    let rules = rules();
    assert!(rules.len() > 100, "{}", rules.len());
    for (before, rule) in rules.iter().zip(rules.iter().skip(1)) {
        let number = |rule: &Rule| rule.id[1..].parse::<u32>().expect("digits");
        let is_next = number(rule) == number(before) + 1;
        let begins_chapter = number(rule) == 1 && rule.id[..1] != before.id[..1];
        assert!(is_next || begins_chapter, "{} after {}", rule.id, before.id);
    }
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
        "neither a test nor a note in docs/contract/security.md: {bare:?}"
    );
}

#[test]
fn no_rule_is_called_open_that_has_a_test() {
    let tests = tests();
    let stale: Vec<&str> = rules()
        .iter()
        .filter(|rule| rule.note.starts_with(OPEN) && !tests_of(rule.id, &tests).is_empty())
        .map(|rule| rule.id)
        .collect();
    assert!(
        stale.is_empty(),
        "these have tests now; mend their notes in docs/contract/security.md: {stale:?}"
    );
}

#[test]
fn every_id_that_a_test_names_is_a_rule() {
    let rules = rules();
    let mut unknown = Vec::new();
    for (file, found) in tests() {
        for test in found {
            if test
                .ids
                .iter()
                .any(|id| rules.iter().all(|rule| rule.id != id))
            {
                unknown.push(format!("{file}: {}", test.name));
            }
        }
    }
    assert!(unknown.is_empty(), "no such rule: {unknown:#?}");
}

#[test]
fn the_table_is_that_of_the_present_tests() {
    let table = table(&rules(), &tests());
    let path = workspace().join(TABLE);
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
    let tests = tests_in(text, true);
    let names: Vec<&str> = tests.iter().map(|test| test.name.as_str()).collect();
    assert_eq!(names, ["h5_another", "t4_g1_a_test"]);
    assert_eq!(ids("t4_g1_a_test"), ["T4", "G1"]);
    assert!(ids("p2_is_no_chapter").is_empty());
    assert!(ids("sha1_is_no_rule").is_empty());
}

#[test]
fn a_fuzz_target_names_its_rules_in_what_it_says() {
    let target =
        fuzz_target_in("//! Reads.\n//! What must hold (SEC-A2,\n//! H11): all.\n").unwrap();
    assert_eq!(target.ids, ["A2", "H11"]);
    assert_eq!(fuzz_target_in("//! Reads.\n"), None);
}

#[test]
fn a_cell_names_the_first_tests_and_says_that_there_are_others() {
    assert_eq!(cell(&[]), "");
    let tests = [("a", "1"), ("a", "2"), ("b", "3"), ("b", "4"), ("b", "5")];
    let shown = "`a`: 1, 2<br>`b`: 3, 4, 5";
    assert_eq!(cell(&tests), shown);
    let more = [&tests[..], &[("c", "6"), ("d", "7")]].concat();
    assert_eq!(cell(&more), format!("{shown}<br>and others"));
}
