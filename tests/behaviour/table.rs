//! Which host has passed what, as a table.

use std::fmt::Write as _;
use std::path::PathBuf;

use gatehouse_tests::target_folder;

use crate::suite::Suite;
use crate::{Host, Report};

const BEGIN: &str =
    "<!-- what passed where: made by `cargo test -p gatehouse-tests --test behaviour` -->\n";
const END: &str = "<!-- end of what passed where -->\n";
/// Set to have the document changed.
const WRITE: &str = "GATEHOUSE_WRITE_TABLE";

/// Groups of checks by hosts: how many of each have passed.
pub fn of_groups(suite: &Suite, hosts: &[(&Host, &Report)]) -> String {
    let mut table = head("Checks", hosts);
    for group in Suite::groups() {
        let ids: Vec<_> = suite
            .checks
            .iter()
            .filter(|check| check.group == group)
            .map(|check| &check.id)
            .collect();
        let count = ids.len();
        let passed = |report: &Report| ids.iter().filter(|id| report[**id].is_ok()).count();
        row(&mut table, &format!("{group} ({count})"), hosts, |report| {
            passed(report).to_string()
        });
    }
    table
}

/// Every check by hosts.
pub fn of_checks(suite: &Suite, hosts: &[(&Host, &Report)]) -> String {
    let mut table = head("Check", hosts);
    for check in &suite.checks {
        let name = format!(
            "`{}`: {} ({})",
            check.id,
            check.title,
            check.proves.join(", ")
        );
        row(&mut table, &name, hosts, |report| {
            let verdict = if report[&check.id].is_ok() {
                "passed"
            } else {
                "failed"
            };
            verdict.to_owned()
        });
    }
    table
}

fn head(what: &str, hosts: &[(&Host, &Report)]) -> String {
    let names: Vec<_> = hosts.iter().map(|(host, _)| host.name).collect();
    format!(
        "| {what} | {} |\n|{}\n",
        names.join(" | "),
        "---|".repeat(names.len() + 1)
    )
}

fn row(
    table: &mut String,
    name: &str,
    hosts: &[(&Host, &Report)],
    cell: impl Fn(&Report) -> String,
) {
    let cells: Vec<_> = hosts.iter().map(|(_, report)| cell(report)).collect();
    writeln!(table, "| {name} | {} |", cells.join(" | ")).unwrap();
}

/// Writes both tables below the target folder, and holds `docs/hosts/README.md` against the one of groups.
pub fn assert_shown(suite: &Suite, hosts: &[(&Host, &Report)]) {
    let folder = target_folder().join("behaviour");
    std::fs::create_dir_all(&folder).unwrap();
    let table = of_groups(suite, hosts);
    std::fs::write(folder.join("table.md"), &table).unwrap();
    std::fs::write(folder.join("checks.md"), of_checks(suite, hosts)).unwrap();

    let document = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/hosts/README.md");
    let text = std::fs::read_to_string(&document).unwrap();
    let (before, rest) = text
        .split_once(BEGIN)
        .expect("the document has a place for the table");
    let (shown, after) = rest.split_once(END).expect("the table has an end");
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(document, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
        return;
    }
    assert_eq!(
        shown, table,
        "the document shows another table than this run gave; \
         {WRITE}=1 cargo test -p gatehouse-tests --test behaviour puts this one in its place"
    );
}
