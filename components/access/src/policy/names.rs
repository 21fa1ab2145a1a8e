//! Names within paths that differ from no other name by their case alone (SEC-A2, G17): of policies, roles, entities, groups and
//! organizations. A request arrives with such a name in any case or already in lower case; a rule may be written in any.
//!
//! The gateway has a list of its own of what it brings to lower case before it routes. This one does not rest on it: a rule that denies
//! meets a request however either is spelled.

use std::borrow::Cow;

/// What the name follows, to the end of the path.
const FAMILIES: [&str; 5] = [
    "sys/policies/acl/",
    "sys/policy/",
    "identity/entity/name/",
    "identity/group/name/",
    "organizations/",
];

/// What can follow the name of a role.
const ROLE_LISTS: [&str; 2] = ["/service-accounts", "/labels"];

/// A path that is asked about, with the place of the name in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AskedPath<'a> {
    text: &'a str,
    /// Where the first name without regard to case begins.
    name: Option<usize>,
}

impl<'a> AskedPath<'a> {
    /// The canonical path `text`. A final `/` changes nothing about its names.
    pub(crate) fn new(text: &'a str) -> Self {
        let bare = text.strip_suffix('/').unwrap_or(text);
        Self {
            text,
            name: name_start(bare).or_else(|| name_start(text)),
        }
    }

    /// The path with its names in lower case.
    pub(super) fn folded(&self) -> Cow<'a, str> {
        match self
            .name
            .and_then(|start| self.text.split_at_checked(start))
        {
            Some((before, name)) => joined(self.text, before, name),
            None => Cow::Borrowed(self.text),
        }
    }

    /// `pattern` with in lower case what stands where this path has its names. Segments are counted, since a segment of the pattern may
    /// be a wildcard.
    pub(super) fn folds<'p>(&self, pattern: &'p str) -> Cow<'p, str> {
        let Some(before) = self.name.and_then(|start| self.text.get(..start)) else {
            return Cow::Borrowed(pattern);
        };
        let segments = before.matches('/').count();
        let start = segments
            .checked_sub(1)
            .and_then(|last| pattern.match_indices('/').nth(last));
        match start.and_then(|(slash, _)| pattern.split_at_checked(slash + 1)) {
            Some((before, name)) => joined(pattern, before, name),
            None => Cow::Borrowed(pattern),
        }
    }

    /// Whether the path begins with `fixed`, names compared without their case.
    pub(super) fn begins_with(&self, fixed: &str) -> bool {
        if self.text.starts_with(fixed) {
            return true;
        }
        // The name decides later; up to it every byte counts.
        let before = self.name.and_then(|start| self.text.get(..start));
        before.is_some_and(|before| fixed.len() > before.len() && fixed.starts_with(before))
    }
}

/// `text`, which is `before` and `name`, with `name` in lower case.
fn joined<'t>(text: &'t str, before: &str, name: &str) -> Cow<'t, str> {
    if name
        .bytes()
        .all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase())
    {
        return Cow::Borrowed(text);
    }
    Cow::Owned(before.to_owned() + &name.to_lowercase())
}

fn name_start(path: &str) -> Option<usize> {
    let family = FAMILIES.iter().find(|family| path.starts_with(**family));
    if let Some(family) = family {
        return Some(family.len());
    }
    if !path.starts_with("auth/") {
        return None;
    }
    // The name before one of the lists of a role comes first: a role may itself be called `role`.
    let of_list = |list: &&str| path.strip_suffix(*list).and_then(role_start);
    ROLE_LISTS
        .iter()
        .find_map(of_list)
        .or_else(|| role_start(path))
}

fn role_start(path: &str) -> Option<usize> {
    let start = path.rfind('/')? + 1;
    path.get(..start)?.ends_with("/role/").then_some(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a2_the_names_of_a_path_are_folded_and_nothing_else_is() {
        for (asked, folded) in [
            ("auth/gcp/role/Prod", "auth/gcp/role/prod"),
            ("auth/gcp/role/Prod/labels", "auth/gcp/role/prod/labels"),
            ("auth/gcp/role/ROLE/labels", "auth/gcp/role/role/labels"),
            ("auth/Team/A/role/Prod", "auth/Team/A/role/prod"),
            ("auth/gcp/role/", "auth/gcp/role/"),
            ("sys/policies/acl/PROD/A", "sys/policies/acl/prod/a"),
            ("sys/policy/É", "sys/policy/é"),
            ("sys/policy/ΑΣ", "sys/policy/ασ"),
            ("sys/policy/ας", "sys/policy/ασ"),
            ("identity/entity/name/Bob", "identity/entity/name/bob"),
            ("identity/group/name/Ops/", "identity/group/name/ops/"),
            ("organizations/Acme", "organizations/acme"),
            ("auth/Gcp/login", "auth/Gcp/login"),
            ("auth/token/roles/Ci", "auth/token/roles/Ci"),
            ("identity/entity/id/A", "identity/entity/id/A"),
        ] {
            assert_eq!(AskedPath::new(asked).folded(), folded);
        }
    }

    #[test]
    fn a2_a_pattern_is_folded_where_the_path_has_its_names() {
        let asked = AskedPath::new("auth/gcp/role/prod/labels");
        for (written, met) in [
            ("auth/gcp/role/Prod/labels", "auth/gcp/role/prod/labels"),
            ("+/gcp/role/Prod/", "+/gcp/role/prod/"),
            ("auth/+/+/PR", "auth/+/+/pr"),
            ("Auth/Gcp/Role/Prod", "Auth/Gcp/Role/prod"),
            ("auth/Gcp", "auth/Gcp"),
            ("+", "+"),
        ] {
            assert_eq!(asked.folds(written), met);
        }
        assert_eq!(AskedPath::new("a/B").folds("a/B"), "a/B");
    }
}
