//! No files of a crate import each other in a circle, so that each can be read after those that it stands on. The small Google is left out:
//! it is a double, whose parts share one state.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

use crate::contracts::pattern;
use crate::sources::sources;

static USE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)^ *(?:pub(?:\([^)]*\))? )?use ([^;]+);"));
static COMMENT: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)//.*$"));
static INLINE_TESTS: LazyLock<Regex> = LazyLock::new(|| pattern(r"#\[cfg\(test\)\]\s*mod \w+ \{"));

/// A module by the segments of its path; the crate's root has none.
type Module = Vec<String>;

/// The paths that a tree of imports, such as `crate::a::{b, c::d}`, names.
fn leaves(tree: &str) -> Vec<Module> {
    let Some(opening) = tree.find('{') else {
        let path = tree.split(" as ").next().unwrap_or_default();
        return vec![segments(path)];
    };
    let closing = tree.rfind('}').unwrap_or(tree.len());
    let head = segments(&tree[..opening]);
    let mut depth = 0;
    let branches = tree[opening + 1..closing].split(|character| {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        character == ',' && depth == 0
    });
    branches
        .filter(|branch| !branch.trim().is_empty())
        .flat_map(leaves)
        .map(|leaf| [head.clone(), leaf].concat())
        .collect()
}

fn segments(path: &str) -> Module {
    path.split("::")
        .map(str::trim)
        .filter(|segment| !segment.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The module whose source is at `path` below a folder `src`.
fn module(path: &str) -> Module {
    let mut module: Module = path
        .trim_end_matches(".rs")
        .split('/')
        .map(str::to_owned)
        .collect();
    if matches!(
        module.last().map(String::as_str),
        Some("mod" | "lib" | "main")
    ) {
        module.pop();
    }
    module
}

/// An import of `importer`, from the crate's root; `None` for another crate, and for what lies below the importer itself.
fn absolute(importer: &[String], leaf: &[String]) -> Option<Module> {
    let ups = leaf.iter().take_while(|it| *it == "super").count();
    match leaf.first()?.as_str() {
        "crate" => Some(leaf[1..].to_vec()),
        "super" => Some([&importer[..importer.len().checked_sub(ups)?], &leaf[ups..]].concat()),
        _ => None,
    }
}

/// The imports of each module of a crate among the others, by the sources below its folder `src`.
fn imports<'a>(
    files: impl Iterator<Item = (&'a str, &'a str)>,
) -> BTreeMap<Module, BTreeSet<Module>> {
    let texts: BTreeMap<Module, &str> = files.map(|(path, text)| (module(path), text)).collect();
    let mut imports = BTreeMap::new();
    for (importer, text) in &texts {
        let text = INLINE_TESTS.splitn(text, 2).next().unwrap_or_default();
        let text = COMMENT.replace_all(text, "");
        let imported = USE
            .captures_iter(&text)
            .flat_map(|found| leaves(&found[1]))
            .filter_map(|leaf| absolute(importer, &leaf))
            .filter_map(|path| {
                // The rest of the path names an item of the module.
                (0..=path.len())
                    .rev()
                    .map(|length| path[..length].to_vec())
                    .find(|module| texts.contains_key(module))
            })
            // The root only passes on what its modules export.
            .filter(|module| module != importer && !module.is_empty());
        imports.insert(importer.clone(), imported.collect::<BTreeSet<_>>());
    }
    imports
}

/// The modules that import each other, directly or by way of others.
fn circles(imports: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<BTreeSet<&Module>> {
    let reached = |from: &Module| {
        let mut reached = BTreeSet::new();
        let mut open: Vec<_> = imports[from].iter().collect();
        while let Some(module) = open.pop() {
            if reached.insert(module) {
                open.extend(&imports[module]);
            }
        }
        reached
    };
    let reached: BTreeMap<_, _> = imports
        .keys()
        .map(|module| (module, reached(module)))
        .collect();
    let mut circles: Vec<BTreeSet<&Module>> = Vec::new();
    for (&module, ahead) in reached
        .iter()
        .filter(|(module, ahead)| ahead.contains(**module))
    {
        if circles.iter().all(|circle| !circle.contains(module)) {
            let back = ahead
                .iter()
                .filter(|other| reached[**other].contains(module));
            circles.push(back.copied().collect());
        }
    }
    circles
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
        for circle in circles(&imports(files.into_iter())) {
            let names: Vec<String> = circle.iter().map(|module| module.join("::")).collect();
            found.push(format!("{folder}: {}", names.join(", ")));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_circle_is_found_by_way_of_other_files_too() {
    let found = |files: [(&'static str, &'static str); 3]| {
        let imports = imports(files.into_iter());
        let circles = circles(&imports).into_iter();
        circles
            .map(|circle| circle.iter().map(|it| it.join("::")).collect::<Vec<_>>())
            .collect::<Vec<_>>()
    };
    let circle = [
        ("a.rs", "use crate::b::{\n    self, c::{Item, d},\n};"),
        ("b/mod.rs", "use std::fmt;"),
        ("b/c.rs", "use super::super::a::Thing as Other;"),
    ];
    assert_eq!(found(circle), [["a", "b::c"]]);
    let tree = [
        ("a.rs", "use crate::b::c;"),
        ("b/mod.rs", "// use crate::a;\npub use c::Item;"),
        (
            "b/c.rs",
            "use super::d;\n#[cfg(test)]\nmod tests {\n    use crate::a::Thing;\n}",
        ),
    ];
    assert!(found(tree).is_empty());
}
