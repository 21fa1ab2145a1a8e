//! Partial answers: the `fields` parameter of Google's APIs.
//!
//! A mask is a list of paths, `items/*/instanceGroups(name,zone),nextPageToken`; arrays are looked through, `*` stands for
//! every member of an object. What no path names is left out, above all a page token that was forgotten.

use std::iter::Peekable;
use std::str::Chars;

use http::StatusCode;
use serde_json::Value;

use crate::answer::{self, Answer};

/// Deepest nesting of a mask.
const DEEPEST: usize = 16;

/// The parts kept below one member; an empty one keeps all.
#[derive(Clone, Debug, Default)]
struct Selection(Vec<(String, Selection)>);

/// Leaves out of `body` what the mask does not name.
pub(super) fn apply(mask: &str, body: &mut Value) -> Result<(), Box<Answer>> {
    let mut rest = mask.chars().peekable();
    match selection(&mut rest, DEEPEST) {
        Some(selection) if rest.next().is_none() => {
            selection.retain(body);
            Ok(())
        }
        _ => Err(answer::refusal(
            StatusCode::BAD_REQUEST,
            &format!("Invalid field selection {mask}"),
        )),
    }
}

impl Selection {
    fn retain(&self, value: &mut Value) {
        if self.0.is_empty() {
            return;
        }
        match value {
            Value::Array(elements) => elements.iter_mut().for_each(|element| self.retain(element)),
            Value::Object(members) => {
                members.retain(|name, _| self.below(name).next().is_some());
                for (name, member) in members.iter_mut() {
                    // Two paths through one member keep what either names.
                    let below: Vec<&Self> = self.below(name).collect();
                    if below.iter().all(|selection| !selection.0.is_empty()) {
                        let merged = below.iter().flat_map(|selection| selection.0.clone());
                        Self(merged.collect()).retain(member);
                    }
                }
            }
            _ => {}
        }
    }

    fn below<'a>(&'a self, member: &'a str) -> impl Iterator<Item = &'a Self> {
        self.0
            .iter()
            .filter(move |(name, _)| name == "*" || name == member)
            .map(|(_, below)| below)
    }
}

/// Reads `path,path,...` up to a closing parenthesis or the end; none when it is malformed.
fn selection(rest: &mut Peekable<Chars<'_>>, depth: usize) -> Option<Selection> {
    let depth = depth.checked_sub(1)?;
    let mut paths = vec![path(rest, depth)?];
    while rest.next_if_eq(&',').is_some() {
        paths.push(path(rest, depth)?);
    }
    Some(Selection(paths))
}

/// Reads `name`, `name/path` or `name(path,...)`.
fn path(rest: &mut Peekable<Chars<'_>>, depth: usize) -> Option<(String, Selection)> {
    let mut name = String::new();
    while let Some(letter) =
        rest.next_if(|letter| letter.is_ascii_alphanumeric() || "*_-".contains(*letter))
    {
        name.push(letter);
    }
    if name.is_empty() {
        return None;
    }
    let below = if rest.next_if_eq(&'/').is_some() {
        Selection(vec![path(rest, depth.checked_sub(1)?)?])
    } else if rest.next_if_eq(&'(').is_some() {
        let inner = selection(rest, depth)?;
        rest.next_if_eq(&')')?;
        inner
    } else {
        Selection::default()
    };
    Some((name, below))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn masked(mask: &str) -> Value {
        let mut body = json!({
            "items": {
                "zones/a": { "instanceGroups": [{ "name": "g", "zone": "a" }, { "name": "h" }], "kind": "x" },
                "global": { "warning": { "code": "NO_RESULTS_ON_PAGE" } },
            },
            "nextPageToken": "t",
            "kind": "list",
        });
        apply(mask, &mut body).expect("a well-formed mask");
        body
    }

    #[test]
    fn only_named_paths_stay() {
        assert_eq!(masked("kind"), json!({ "kind": "list" }));
        let names = json!({ "items": { "zones/a": { "instanceGroups": [{ "name": "g" }, { "name": "h" }] }, "global": {} } });
        assert_eq!(masked("items/*/instanceGroups/name"), names);
        assert_eq!(masked("items(*(instanceGroups(name)))"), names);
        let two = masked("items/*/instanceGroups/name,items/*/kind,nextPageToken");
        assert_eq!(two["items"]["zones/a"]["kind"], "x");
        assert_eq!(
            two["items"]["zones/a"]["instanceGroups"],
            json!([{ "name": "g" }, { "name": "h" }])
        );
        assert_eq!(two["nextPageToken"], "t");
        assert_eq!(
            masked("items,items/*/kind")["items"],
            masked("items")["items"]
        );
        assert_eq!(masked("*"), masked("items,nextPageToken,kind"));
    }

    #[test]
    fn malformed_masks_are_refused() {
        let deep = "a/".repeat(40) + "a";
        for mask in [
            "",
            ",",
            "items(",
            "items(name",
            "items)",
            "items//name",
            "a b",
            &deep,
        ] {
            assert!(apply(mask, &mut json!({})).is_err(), "{mask}");
        }
    }
}
