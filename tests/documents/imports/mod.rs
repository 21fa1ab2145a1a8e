//! No files of a crate import each other in a circle, so that each can be read after those that it stands on. The small Google is left out:
//! it is a double, whose parts share one state.

mod names;

use std::collections::{BTreeMap, BTreeSet};

use crate::sources::sources;

use self::names::{Files, Path};

/// The files that depend on each other, directly or by way of others, each with those of them that it depends on.
fn circles<'a>(
    dependencies: &BTreeMap<&'a Path, BTreeSet<&'a Path>>,
) -> Vec<BTreeMap<&'a Path, BTreeSet<&'a Path>>> {
    let reached = |from: &'a Path| {
        let mut reached = BTreeSet::new();
        let mut open = vec![from];
        while let Some(file) = open.pop() {
            open.extend(dependencies[file].iter().filter(|it| reached.insert(**it)));
        }
        reached
    };
    let reached: BTreeMap<&Path, BTreeSet<&Path>> = dependencies
        .keys()
        .map(|file| (*file, reached(file)))
        .collect();
    let circle = |file: &'a Path| -> BTreeSet<&'a Path> {
        let ahead = reached[file].iter().copied();
        ahead.filter(|it| reached[*it].contains(file)).collect()
    };
    let circles: BTreeSet<_> = dependencies.keys().map(|file| circle(file)).collect();
    circles
        .iter()
        .filter(|circle| !circle.is_empty())
        .map(|circle| {
            let inside = |file: &&'a Path| (*file, &dependencies[*file] & circle);
            circle.iter().map(inside).collect()
        })
        .collect()
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let sources = sources(&["rs"]);
    let mut crates: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for source in sources.iter().filter(|source| !source.is_test()) {
        if let Some((folder, path)) = source.path.split_once("/src/")
            && folder != "host/fake-google"
        {
            crates.entry(folder).or_default().push((path, &source.text));
        }
    }
    assert!(crates.len() > 10, "{:?}", crates.keys());
    let mut found = Vec::new();
    for (folder, files) in crates {
        for circle in circles(&Files::read(files.into_iter()).dependencies()) {
            found.push(format!("{folder}:"));
            for (file, others) in circle {
                let others: Vec<String> = others.iter().map(|it| it.join("::")).collect();
                found.push(format!("  {} -> {}", file.join("::"), others.join(", ")));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_circle_is_found_by_way_of_other_files_too() {
    let found = |files: [(&'static str, &'static str); 4]| -> Vec<Vec<String>> {
        let files = Files::read(files.into_iter());
        let circles = circles(&files.dependencies()).into_iter();
        circles
            .map(|circle| circle.keys().map(|it| it.join("::")).collect())
            .collect()
    };
    let circle = [
        ("a.rs", "use crate::b::{\n    self, c::{Item, d},\n};"),
        ("b/c.rs", "use super::super::a::Thing as Other;"),
        ("b/mod.rs", "use std::fmt;"),
        ("lib.rs", "pub use a::Thing;"),
    ];
    assert_eq!(found(circle), [["a", "b::c"]]);
    let by_the_root = [
        ("a.rs", "use crate::State;"),
        ("b/c.rs", "use crate::a::Thing;"),
        ("b/mod.rs", "pub(crate) use c::Item;"),
        ("lib.rs", "mod a;\npub struct State(b::Item);"),
    ];
    assert_eq!(found(by_the_root), [["", "a", "b::c"]]);
    let tree = [
        ("a.rs", "use crate::b::Item;"),
        ("b/c.rs", "use super::d;\nuse crate::State;"),
        ("b/mod.rs", "// use crate::a;\npub use c::Item;"),
        ("lib.rs", "mod a;\npub use a::Thing;\npub struct State;"),
    ];
    assert!(found(tree).is_empty());
}
