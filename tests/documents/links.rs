//! Links of the documents that stay within the repository lead to a file that is there, and to a place in it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use gatehouse_tests::workspace;
use regex::Regex;

use crate::contracts::pattern;
use crate::sources::{Source, sources};

/// More than this and the README is a manual, which belongs in `docs`.
const README_LINES: usize = 160;

static LINK: LazyLock<Regex> = LazyLock::new(|| pattern(r"\]\(([^()\s]+)\)"));
static HEADING: LazyLock<Regex> = LazyLock::new(|| pattern(r"^#{1,6} (.+)$"));
/// A path of the repository that a document names.
static NAMED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"`((?:components|tests|host|docs|wit|deploy|\.ci)/[\w./-]*)`"));
static ANCHOR: LazyLock<Regex> = LazyLock::new(|| pattern(r#"<a (?:id|name)="([^"]+)">"#));

/// The lines of a document outside of its blocks of code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// The anchor that renderers of Markdown give a heading.
fn slug(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    kept.chars()
        .filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'))
        .map(|letter| if letter == ' ' { '-' } else { letter })
        .collect()
}

/// The places of a document that a link can name.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for line in prose(text) {
        anchors.extend(ANCHOR.captures_iter(line).map(|found| found[1].to_owned()));
        if let Some(heading) = HEADING.captures(line) {
            anchors.insert(slug(&heading[1]));
        }
    }
    anchors
}

/// `path` without `.` and `..`.
fn normalized(path: &Path) -> PathBuf {
    let mut normalized = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                normalized.pop();
            }
            Component::CurDir => {}
            part => normalized.push(part),
        }
    }
    normalized
}

/// The links of a document that lead nowhere.
fn dead_links(source: &Source) -> Vec<String> {
    let mut dead = Vec::new();
    for link in prose(&source.text).flat_map(|line| LINK.captures_iter(line)) {
        let link = &link[1];
        if link.contains("://") || link.starts_with("mailto:") {
            continue;
        }
        let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
        let path = if file.is_empty() {
            PathBuf::from(&source.path)
        } else {
            normalized(&Path::new(source.folder()).join(file))
        };
        let path = workspace().join(path);
        let is_found = if anchor.is_empty() {
            path.exists()
        } else {
            fs::read_to_string(&path).is_ok_and(|text| anchors(&text).contains(anchor))
        };
        if !is_found {
            dead.push(format!("{}: {link}", source.path));
        }
    }
    dead
}

/// The paths of the repository that a document names and that are not there.
fn absent_paths(source: &Source) -> Vec<String> {
    prose(&source.text)
        .flat_map(|line| NAMED.captures_iter(line))
        .filter(|named| !workspace().join(&named[1]).exists())
        .map(|named| format!("{}: {}", source.path, &named[1]))
        .collect()
}

#[test]
fn paths_of_the_repository_that_documents_name_are_there() {
    let absent: Vec<String> = sources(&["md"]).iter().flat_map(absent_paths).collect();
    assert!(absent.is_empty(), "{}", absent.join("\n"));
}

#[test]
fn a_path_that_is_not_there_is_found() {
    let source = Source {
        path: "docs/README.md".to_owned(),
        text: "`tests/clients` and `tests/nothing.rs`, `docs/*` and `cargo test docs/none`"
            .to_owned(),
    };
    assert_eq!(absent_paths(&source), ["docs/README.md: tests/nothing.rs"]);
}

#[test]
fn links_within_the_repository_lead_somewhere() {
    let dead: Vec<String> = sources(&["md"]).iter().flat_map(dead_links).collect();
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}

#[test]
fn the_readme_is_short() {
    let readme = fs::read_to_string(workspace().join("README.md")).expect("there is a README");
    let lines = readme.lines().count();
    assert!(lines <= README_LINES, "{lines} lines");
}

#[test]
fn headings_become_anchors_as_renderers_make_them() {
    assert_eq!(slug("Under Spin"), "under-spin");
    assert_eq!(slug("`sys/init`, by https: how?"), "sysinit-by-https-how");
    let text = "# One two\n```console\n# no heading\n```\n<a id=\"5.6\"></a>\n";
    let anchors: Vec<String> = anchors(text).into_iter().collect();
    assert_eq!(anchors, ["5.6", "one-two"]);
}
