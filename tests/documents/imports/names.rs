//! The files of a crate, and the file among them that defines the name of a path, found through the imports that pass the name on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::contracts::pattern;

/// An item that only tests have.
static OF_TESTS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)^#\[cfg\(test\)\]\n(?:#\[.*\n)*(?:.*;$|(?s:.*?)^\})"));
/// Comments and texts, and characters that could be taken for the beginning of a text.
static PROSE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r##"//.*|'(?:\\.|[^'\\])'|r#"(?s:.*?)"#|\br"[^"]*"|"(?:\\(?s:.)|[^"\\])*""##)
});
static INLINE_MODULE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)^(?:pub(?:\([^)]*\))? )?mod \w+ \{(?s:.*?)^\}"));
static USE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)^ *(pub(?:\([^)]*\))? )?use ([^;]+);"));
/// Declarations of modules in other files, and invocations of a generator: the code that it makes and the types that are written by hand
/// for it are one interface, and each names the other.
static ELSEWHERE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?m)^ *(?:pub(?:\([^)]*\))? )?mod \w+;|^ *wit_bindgen::generate!\(\{(?s:.*?)\n *\}\);",
    )
});
static DEFINITION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?m)^(?:pub(?:\([^)]*\))? )?(?:(?:const |async |unsafe )*fn|struct|enum|trait|type|const|static|mod|macro_rules!) (\w+)",
    )
});
static PATH: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*"));

/// The number of times that a name is passed on at most. A name that is passed on more often leads back to itself, and is of another crate.
const MOST_HOPS: usize = 16;

/// A path by its segments; that of a module from the crate's root, which has none.
pub(super) type Path = Vec<String>;

fn segments(path: &str) -> Path {
    path.split("::")
        .map(str::trim)
        .filter(|segment| !segment.is_empty())
        .map(str::to_owned)
        .collect()
}

/// A name that a file brings in, and where from.
struct Import {
    name: String,
    path: Path,
    /// Others may read the name here.
    is_passed_on: bool,
}

/// The imports of a tree such as `crate::a::{b, c::d as e}`.
fn imports(head: &[String], tree: &str, is_passed_on: bool) -> Vec<Import> {
    let Some(opening) = tree.find('{') else {
        let (path, alias) = match tree.split_once(" as ") {
            Some((path, alias)) => (path, Some(alias.trim().to_owned())),
            None => (tree, None),
        };
        let mut path = [head, &segments(path)].concat();
        // `a::{self}` is `a`.
        path.pop_if(|last| last == "self" && !head.is_empty());
        return vec![Import {
            name: alias.or_else(|| path.last().cloned()).unwrap_or_default(),
            path,
            is_passed_on,
        }];
    };
    let closing = tree.rfind('}').unwrap_or(tree.len());
    let head = [head, &segments(&tree[..opening])].concat();
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
        .flat_map(|branch| imports(&head, branch, is_passed_on))
        .collect()
}

struct File {
    imports: Vec<Import>,
    /// The names of its own items.
    defined: BTreeSet<String>,
    /// The paths in its code, imports aside; a path may be a single name.
    paths: BTreeSet<Path>,
}

impl File {
    fn read(text: &str) -> Self {
        let text = PROSE.replace_all(text, "");
        let text = OF_TESTS.replace_all(&text, "");
        let text = ELSEWHERE.replace_all(&text, "");
        // The parent of an inline module is the module of its file.
        let text = INLINE_MODULE.replace_all(&text, |found: &Captures<'_>| {
            let inside = found[0].replace("super::", "self::");
            inside.replace("self::self::", "super::")
        });
        let imports = USE.captures_iter(&text).flat_map(|found| {
            let is_passed_on = found.get(1).is_some();
            imports(&[], &found[2], is_passed_on)
        });
        let defined = DEFINITION.captures_iter(&text);
        let code = USE.replace_all(&text, "");
        Self {
            imports: imports.collect(),
            defined: defined.map(|found| found[1].to_owned()).collect(),
            paths: PATH
                .find_iter(&code)
                .map(|path| segments(path.as_str()))
                .collect(),
        }
    }

    fn import(&self, name: &str) -> Option<&Import> {
        self.imports.iter().find(|import| import.name == name)
    }

    /// The paths by which it depends on others. A name that it only passes on is for its importers, and is no dependency.
    fn dependencies(&self) -> impl Iterator<Item = &Path> {
        let names: BTreeSet<&str> = self.paths.iter().map(|path| path[0].as_str()).collect();
        let imports = self.imports.iter();
        imports
            .filter(move |it| !it.is_passed_on || names.contains(it.name.as_str()))
            .map(|import| &import.path)
            .chain(&self.paths)
    }
}

/// A module, or an item that it defines.
#[derive(Debug, PartialEq)]
enum Named {
    Module(Path),
    ItemOf(Path),
}

/// The files of a crate by their modules.
pub(super) struct Files(BTreeMap<Path, File>);

impl Files {
    /// By their paths below a folder `src`.
    pub(super) fn read<'a>(files: impl DoubleEndedIterator<Item = (&'a str, &'a str)>) -> Self {
        // `lib.rs` sorts before `main.rs`: in reverse order the library comes last, and is the root that the other files name.
        let files = files.rev();
        Self(
            files
                .map(|(path, text)| (module(path), File::read(text)))
                .collect(),
        )
    }

    /// The files that each file depends on, without itself.
    pub(super) fn dependencies(&self) -> BTreeMap<&Path, BTreeSet<&Path>> {
        let files = self.0.iter();
        files
            .map(|(module, file)| {
                let named = file
                    .dependencies()
                    .filter_map(|path| self.named(module, path));
                // An import of a module leads to what is named through it.
                let others = named.filter_map(|named| match named {
                    Named::ItemOf(other) => self.0.get_key_value(&other),
                    Named::Module(_) => None,
                });
                let others = others.map(|(other, _)| other);
                (module, others.filter(|other| *other != module).collect())
            })
            .collect()
    }

    /// The thing that a path names in a module; `None` for what the crate does not define.
    fn named(&self, module: &[String], path: &[String]) -> Option<Named> {
        self.named_within(MOST_HOPS, module, path)
    }

    fn named_within(&self, hops: usize, module: &[String], path: &[String]) -> Option<Named> {
        let ups = path.iter().take_while(|it| *it == "super").count();
        let (mut module, mut path, mut is_ours) = match path.first()?.as_str() {
            "crate" => (Vec::new(), &path[1..], true),
            "self" => (module.to_vec(), &path[1..], true),
            "super" => {
                let above = module.len().checked_sub(ups)?;
                (module[..above].to_vec(), &path[ups..], true)
            }
            _ => (module.to_vec(), path, false),
        };
        while let Some((name, deeper)) = path.split_first() {
            let file = self.0.get(&module)?;
            let import = file.import(name);
            let is_item = import.is_some() || file.defined.contains(name);
            let below = [module.as_slice(), std::slice::from_ref(name)].concat();
            if self.0.contains_key(&below) && !(is_item && deeper.is_empty()) {
                (module, path, is_ours) = (below, deeper, true);
            } else if let Some(import) = import {
                let path = [import.path.as_slice(), deeper].concat();
                return self.named_within(hops.checked_sub(1)?, &module, &path);
            } else {
                // A glob import may pass on any name of another crate.
                let is_known = file.defined.contains(name) || is_ours && file.import("*").is_none();
                return is_known.then_some(Named::ItemOf(module));
            }
        }
        Some(Named::Module(module))
    }
}

/// The module whose source is at `path` below a folder `src`.
fn module(path: &str) -> Path {
    let mut module: Path = path
        .trim_end_matches(".rs")
        .split('/')
        .map(str::to_owned)
        .collect();
    module.pop_if(|last| matches!(last.as_str(), "mod" | "lib" | "main"));
    module
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The dependencies of each file, from the texts of the files.
    fn dependencies<const N: usize>(files: [(&str, &str); N]) -> BTreeMap<String, Vec<String>> {
        let files = Files::read(files.into_iter());
        let told = |(file, others): (&Path, BTreeSet<&Path>)| {
            let others = others.iter().map(|it| it.join("::")).collect();
            (file.join("::"), others)
        };
        files.dependencies().into_iter().map(told).collect()
    }

    /// The dependencies of `user.rs`, which stands beside these files.
    fn of_user<const N: usize>(user: &str, files: [(&str, &str); N]) -> Vec<String> {
        let files = files.into_iter().chain([("user.rs", user)]);
        let files = Files::read(files.collect::<Vec<_>>().into_iter());
        let found = &files.dependencies()[&vec!["user".to_owned()]];
        found.iter().map(|it| it.join("::")).collect()
    }

    #[test]
    fn a_name_leads_to_the_file_that_defines_it_through_all_that_pass_it_on() {
        let files = [
            (
                "lib.rs",
                "pub use a::{Made, b::Deep as Renamed};\npub struct OfRoot;\npub use other::*;",
            ),
            (
                "a/mod.rs",
                "pub(crate) use self::b::Made;\npub(crate) fn near() {}",
            ),
            ("a/b.rs", "pub struct Made;\npub struct Deep;"),
        ];
        for (user, expected) in [
            ("use crate::Made;", &["a::b"][..]),
            ("use crate::{Renamed as R, a::near};", &["a", "a::b"]),
            ("use super::OfRoot;", &[""]),
            ("use crate::a::{self};", &[]),
            ("use crate::a;\nfn f() { a::near() }", &["a"]),
            ("use crate::a;\nfn f() { a::Made::of() }", &["a::b"]),
            ("use std::fmt;\nuse crate::FromAnother;", &[]),
            (
                "use uuid;\nuse http::http;\nfn f() { uuid::new(http::x()) }",
                &[],
            ),
        ] {
            assert_eq!(of_user(user, files), expected, "{user}");
        }
    }

    #[test]
    fn a_path_without_an_import_counts_and_words_that_look_like_one_do_not() {
        let files = [("lib.rs", "mod a;"), ("a.rs", "pub fn f() {}")];
        for (user, expected) in [
            ("fn g() { crate::a::f() }", &["a"][..]),
            ("fn g() { super::a::f() }", &["a"]),
            ("macro_rules! m { () => { $crate::a::f() } }", &["a"]),
            (
                "fn g<'a>(q: char) { if q == '\"' { crate::a::f() } }",
                &["a"],
            ),
            ("mod x {\n    use super::super::a::f;\n}", &["a"]),
            ("mod x {\n    use super::own;\n}\nfn own() {}", &[]),
            ("// crate::a::f()\nconst T: &str = \"crate::a::f\";", &[]),
            ("const T: &str = r#\"\n\"crate::a::f\n\"#;", &[]),
            ("#[cfg(test)]\nuse crate::a::f;", &[]),
            ("#[cfg(test)]\nfn g() {\n    crate::a::f();\n}", &[]),
            ("#[cfg(test)]\nmod tests {\n    use crate::a::f;\n}", &[]),
            (
                "wit_bindgen::generate!({\n    with: { x: crate::a::f },\n});",
                &[],
            ),
        ] {
            assert_eq!(of_user(user, files), expected, "{user}");
        }
    }

    #[test]
    fn a_root_depends_on_what_its_own_code_needs_and_not_on_what_it_passes_on() {
        let root = |text| dependencies([("lib.rs", text), ("a.rs", "pub struct A;")]).remove("");
        let nothing = Some(Vec::new());
        assert_eq!(root("mod a;\npub use a::A;"), nothing);
        assert_eq!(root("pub(crate) use self::a::A;"), nothing);
        let on_a = Some(vec!["a".to_owned()]);
        assert_eq!(root("pub use a::A;\nfn f() -> A { A }"), on_a);
        assert_eq!(root("use self::a::A;"), on_a);
        assert_eq!(root("mod a;\nfn f() -> a::A { a::A }"), on_a);
    }
}
