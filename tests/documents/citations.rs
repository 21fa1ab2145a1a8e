//! Each `contract 4.10`, `SEC-J1` and `G4` in the sources names a rule that a reader finds in `docs/contract`, and each rule there is
//! named by a test or stands in the list of those that are not.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::sync::LazyLock;

use regex::Regex;

use crate::contracts::{Contract, Contracts, pattern};
use crate::sources::{Source, root, sources};

const EXTENSIONS: [&str; 9] = ["rs", "wit", "py", "js", "mjs", "go", "toml", "txt", "md"];
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
static COMMENT: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?:^|\s)//[/!]? (.*)$"));
/// The ids that lead the name of a test, as in `g4_g5_instance_hidden` or `contract_2_4_order`.
static TEST_NAME: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?:\bfn |^\s+)((?:[a-z]\d{1,2}_)+|contract_(?:\d+_)+)"));

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

/// What in a file names something that no contract has.
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

/// Sections and rules that the tests cite, of the contract at which `select` looks.
fn cited_by_tests(contract: &Contract, contracts: &Contracts) -> BTreeSet<String> {
    let mut cited = BTreeSet::new();
    for source in citing() {
        // Tests beside the code they test come after it in the same file.
        let text = match source.text.split_once("#[cfg(test)]") {
            _ if source.is_test() => source.text.as_str(),
            Some((_, tests)) => tests,
            None => continue,
        };
        let text = joined(text);
        let is_meant = contracts.meant(&source.path).name == contract.name;
        if is_meant {
            cited.extend(cited_sections(&text, false));
        }
        if contract.name == contracts.organizations.name {
            cited.extend(cited_sections(&text, true));
        }
        if !is_meant {
            continue;
        }
        cited.extend(ID.find_iter(&text).map(|id| id.as_str().to_owned()));
        for name in TEST_NAME.captures_iter(&source.text) {
            if let Some(numbers) = name[1].strip_prefix("contract_") {
                cited.insert(numbers.trim_end_matches('_').replace('_', "."));
            } else {
                let ids = name[1].split('_').filter(|id| !id.is_empty());
                cited.extend(ids.map(str::to_uppercase));
            }
        }
    }
    cited
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
    let path = root().join(UNTESTED);
    if std::env::var_os("GATEHOUSE_WRITE").is_some() {
        fs::write(&path, &page).expect("the page can be written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "{UNTESTED} is out of date: run {COMMAND}");
}
