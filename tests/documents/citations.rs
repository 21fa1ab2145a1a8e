//! Each `contract 4.10`, `SEC-J1` and `G4` in the sources names a rule that a reader finds in `docs/contract`, and each rule there is
//! named by a test or stands in the list of those that are not.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::sync::LazyLock;

use gatehouse_tests::workspace;
use regex::Regex;

use crate::contracts::{Contract, Contracts, pattern};
use crate::sources::{Source, sources};

const EXTENSIONS: [&str; 9] = ["rs", "wit", "py", "js", "mjs", "go", "toml", "txt", "md"];
/// Rows that name what they are about in texts.
const REASONS: &str = "tests/comparison/differences/";
const UNTESTED: &str = "docs/contract/untested.md";
const COMMAND: &str = "GATEHOUSE_WRITE=1 cargo test -p gatehouse-tests --test documents";

/// Sections after the word, as `contract 4.6/G11, 8.3 and 9`.
static SECTIONS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(organizations )?contract (?:section )?(\d+(?:\.\d+)*(?:/[A-Z]\d+)?(?:(?:, | and | or | to |; )\d+(?:\.\d+)*(?:/[A-Z]\d+)?)*)",
    )
});
static SECTION: LazyLock<Regex> = LazyLock::new(|| pattern(r"\d+(?:\.\d+)+|\b\d+\b"));
/// Rules of `security.md`, as `SEC-G6, N1 and N3`.
static SECURITY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\bSEC-([A-Z]\d{1,2}(?:(?:, | and | or | to |/)(?:SEC-)?[A-Z]\d{1,2}\b)*)")
});
static ID: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b[A-Z]\d{1,2}\b"));
/// The beginning of a line that continues a comment.
static LEADER: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s*(?://[/!]?|#|\*)?\s*"));
/// Where the tests beside the code they test begin, which come after it in the same file.
static TESTS: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)^\s*mod tests \{"));
static COMMENT: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?:^|\s)//[/!]? (.*)$"));
/// The ids that lead the name of a test, as in `g4_g5_instance_hidden` or `contract_2_4_order`.
static TEST_NAME: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)(?:\bfn |^\s+)((?:[a-z]\d{1,2}_)+|contract_(?:\d+_)+)"));

/// The text in one line, without what begins each line of a comment, for citations run over the ends of lines.
fn joined(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(|line| LEADER.replace(line, "")).collect();
    lines.join(" ")
}

/// The sections of `contract` that a text cites.
fn cited_sections<'a>(text: &'a str, is_explicit: bool) -> impl Iterator<Item = String> + 'a {
    SECTIONS
        .captures_iter(text)
        .filter(move |found| found.get(1).is_some() == is_explicit)
        .flat_map(|found| {
            let list = ID.replace_all(&found[2], "").into_owned();
            SECTION
                .find_iter(&list)
                .map(|number| number.as_str().to_owned())
                .collect::<Vec<_>>()
        })
}

fn cited_security_rules(text: &str) -> impl Iterator<Item = &str> {
    SECURITY
        .captures_iter(text)
        .filter_map(|found| found.get(1))
        .flat_map(|list| ID.find_iter(list.as_str()))
        .map(|id| id.as_str())
}

/// The citations of a file that no contract has.
fn unresolved(source: &Source, contracts: &Contracts) -> Vec<String> {
    let text = joined(&source.text);
    let meant = contracts.meant(&source.path);
    let absent = |contract: &Contract, sections: &mut dyn Iterator<Item = String>| {
        sections
            .filter(|number| !contract.has_section(number))
            .map(|number| format!("{}: {} has no section {number}", source.path, contract.name))
            .collect::<Vec<_>>()
    };
    let mut unresolved = absent(meant, &mut cited_sections(&text, false));
    unresolved.extend(absent(
        &contracts.organizations,
        &mut cited_sections(&text, true),
    ));
    for id in cited_security_rules(&text) {
        if !contracts.security.rules.contains(id) {
            unresolved.push(format!("{}: security has no rule {id}", source.path));
        }
    }
    if source.path.ends_with(".rs") {
        let comments = source
            .text
            .lines()
            .filter_map(|line| COMMENT.captures(line));
        for comment in comments {
            for id in ID.find_iter(comment.get(1).map_or("", |text| text.as_str())) {
                if !contracts.has_rule(id.as_str()) {
                    unresolved.push(format!("{}: no rule {}", source.path, id.as_str()));
                }
            }
        }
    }
    unresolved
}

/// The files that cite: not the contracts themselves, nor this file with its examples.
fn citing() -> Vec<Source> {
    let mut sources = sources(&EXTENSIONS);
    sources.retain(|source| {
        !(source.path.starts_with("docs/contract/") || source.path.starts_with("tests/documents/"))
    });
    sources
}

#[test]
fn every_citation_names_a_rule_of_a_contract() {
    let contracts = Contracts::read();
    let unresolved: Vec<String> = citing()
        .iter()
        .flat_map(|source| unresolved(source, &contracts))
        .collect();
    assert!(unresolved.is_empty(), "{}", unresolved.join("\n"));
}

#[test]
fn a_citation_of_what_no_contract_has_is_found() {
    let contracts = Contracts::read();
    let of = |path: &str, text: &str| {
        let source = Source {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        unresolved(&source, &contracts).len()
    };
    let room = "components/access/src/lib.rs";
    assert_eq!(
        of(room, "//! Tokens (contract 5.6,\n//! 1.8; SEC-A5, G6)."),
        0
    );
    assert_eq!(of(room, "//! Tokens (contract 5.6, 5.99)."), 1);
    assert_eq!(of(room, "//! Tokens (contract\n//! 99)."), 1);
    assert_eq!(of(room, "//! Tokens (SEC-A5 and A99)."), 2);
    // Section 2.11 is of the organizations alone.
    assert_eq!(of(room, "//! contract 2.11"), 1);
    assert_eq!(of(room, "//! organizations contract 2.11"), 0);
    assert_eq!(of("components/orgs/src/lib.rs", "//! contract 2.11"), 0);
}

/// The part of a file that holds tests, if one does.
fn tests_of(source: &Source) -> Option<&str> {
    if source.is_test() {
        return Some(&source.text);
    }
    let beginning = TESTS.find(&source.text)?;
    source.text.get(beginning.start()..)
}

/// Where rules are cited: in comments, and in the reasons of the differences from the references.
fn citing_text(source: &Source, tests: &str) -> String {
    if !source.path.ends_with(".rs") || source.path.starts_with(REASONS) {
        return joined(tests);
    }
    let comments = tests.lines().filter_map(|line| COMMENT.captures(line));
    let comments: Vec<_> = comments
        .filter_map(|found| Some(found.get(1)?.as_str()))
        .collect();
    comments.join(" ")
}

/// The rules that the tests in a file cite by their ids alone; those of `security.md` are named otherwise.
fn cited_rules(source: &Source, tests: &str, contracts: &Contracts) -> BTreeSet<String> {
    let text = citing_text(source, tests);
    let text = SECURITY.replace_all(&text, "");
    let mut cited: BTreeSet<String> = ID
        .find_iter(&text)
        .map(|id| id.as_str().to_owned())
        .collect();
    // The name of a test begins with rules of `security.md`, where the letter is one of its chapters.
    let is_of_security = |id: &str| {
        let mut rules = contracts.security.rules.iter();
        rules.any(|rule| rule.get(..1) == id.get(..1))
    };
    for name in TEST_NAME.captures_iter(tests) {
        if let Some(numbers) = name[1].strip_prefix("contract_") {
            cited.insert(numbers.trim_end_matches('_').replace('_', "."));
        } else {
            let ids = name[1].split('_').filter(|id| !id.is_empty());
            let ids = ids.map(str::to_uppercase);
            cited.extend(ids.filter(|id| !is_of_security(id)));
        }
    }
    cited
}

/// Sections and rules that the tests cite, of one contract.
fn cited_by_tests(contract: &Contract, contracts: &Contracts) -> BTreeSet<String> {
    let mut cited = BTreeSet::new();
    for source in citing() {
        let Some(tests) = tests_of(&source) else {
            continue;
        };
        let text = joined(tests);
        if contract.name == contracts.organizations.name {
            cited.extend(cited_sections(&text, true));
        }
        if contracts.meant(&source.path).name == contract.name {
            cited.extend(cited_sections(&text, false));
            cited.extend(cited_rules(&source, tests, contracts));
        }
    }
    cited
}

#[test]
fn rules_of_security_are_not_taken_for_others_with_their_numbers() {
    let contracts = Contracts::read();
    let of = |path: &str, text: &str| {
        let source = Source {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        let tests = tests_of(&source).unwrap_or_default();
        let cited = cited_rules(&source, tests, &contracts);
        cited.into_iter().collect::<Vec<_>>().join(" ")
    };
    let room = "components/auth-method/tests/all/some.rs";
    assert_eq!(of(room, "//! SEC-G1, G2 and G3; contract 4.6/G4"), "G4");
    assert_eq!(of(room, "fn g1_g2_name() {}\n    contract_4_6_a,"), "4.6");
    assert_eq!(of(room, "fn d8_name() { let x = \"G5\"; } // G6"), "D8 G6");
    let code = "components/auth-method/src/some.rs";
    let beside = "#[cfg(test)]\nmod keys;\n// G1\n#[cfg(test)]\nmod tests {\n    // G2\n}";
    assert_eq!(of(code, beside), "G2");
    assert_eq!(of(REASONS, "\"contract 1.6 and D36: order\""), "D36");
}

/// The page that lists what no test names.
fn untested_page(contracts: &Contracts) -> String {
    let mut page = format!(
        "# Rules that no test names\n\n\
         Generated by `{COMMAND}`. Do not edit.\n\n\
         A test names a section in a comment and a rule in a comment or at the beginning of its own name. What stands here may be tested all \
         the same, under the section above it. The rules of [security.md](security.md) have [a table of their own](../security-rules.md).\n"
    );
    for contract in [&contracts.auth_method, &contracts.organizations] {
        let cited = cited_by_tests(contract, contracts);
        // A section whose parts have numbers is a heading; a part may be cited as a whole.
        let is_cited = |number: &String| {
            cited
                .iter()
                .any(|cited| cited == number || cited.starts_with(&format!("{number}.")))
        };
        let sections: Vec<&str> = contract
            .sections
            .iter()
            .filter(|number| !is_cited(number))
            .map(String::as_str)
            .collect();
        let rules: Vec<&str> = contract
            .rules
            .difference(&cited)
            .map(String::as_str)
            .collect();
        let list = |names: &[&str]| {
            if names.is_empty() {
                "none".to_owned()
            } else {
                names.join(", ")
            }
        };
        writeln!(
            page,
            "\n## [{name}.md]({name}.md)\n\n- Sections: {}\n- Rules: {}",
            list(&sections),
            list(&rules),
            name = contract.name,
        )
        .expect("text can be written");
    }
    page
}

#[test]
fn rules_that_no_test_names_are_listed() {
    let page = untested_page(&Contracts::read());
    let path = workspace().join(UNTESTED);
    if std::env::var_os("GATEHOUSE_WRITE").is_some() {
        fs::write(&path, &page).expect("the page can be written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "{UNTESTED} is out of date: run {COMMAND}");
}
