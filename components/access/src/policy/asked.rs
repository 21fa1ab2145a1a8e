//! A path as policies are asked about it: some of its names are found in any case of letters, and are compared so (SEC-A2, G17).

use std::borrow::Cow;
use std::ops::Range;

/// Before names of policies, organizations, entities and groups.
const FAMILIES: [&str; 5] = [
    "sys/policies/acl/",
    "sys/policy/",
    "organizations/",
    "identity/entity/name/",
    "identity/group/name/",
];

/// Before the name of a role of an auth mount.
const ROLE: &str = "role";

/// A path and which of its segments are compared without their case. The path decides that and not the rule: a rule with a
/// wildcard before a name cannot tell what it will meet.
#[derive(Debug, Clone)]
pub(crate) struct AskedPath<'a> {
    /// With those segments folded.
    text: Cow<'a, str>,
    folded: Range<usize>,
    /// Bytes before the first of those segments.
    plain: usize,
}

impl<'a> AskedPath<'a> {
    /// The path that a request names, or a pattern that is to be shown.
    pub(crate) fn new(path: &'a str) -> Self {
        let folded = folded_segments(path);
        let before = path.split('/').take(folded.start);
        let plain = match folded.is_empty() {
            true => usize::MAX,
            false => before.map(|segment| segment.len() + 1).sum(),
        };
        Self {
            text: fold(Cow::Borrowed(path), &folded),
            folded,
            plain,
        }
    }

    /// The path, its names folded.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// `pattern` with the segments folded that stand where this path has a name.
    pub(super) fn folded<'p>(&self, pattern: Cow<'p, str>) -> Cow<'p, str> {
        fold(pattern, &self.folded)
    }

    /// True if the path can begin with `fixed` once that is folded. Cheap.
    pub(super) fn may_begin_with(&self, fixed: &str) -> bool {
        let fixed = fixed.as_bytes();
        let compared = fixed.get(..self.plain).unwrap_or(fixed);
        self.text.as_bytes().starts_with(compared)
    }
}

fn folded_segments(path: &str) -> Range<usize> {
    let path = path.strip_suffix('/').unwrap_or(path);
    if let Some(family) = FAMILIES.iter().find(|family| path.starts_with(**family)) {
        return family.matches('/').count()..usize::MAX;
    }
    if !path.starts_with("auth/") {
        return 0..0;
    }
    // A role is named by the last segment, or by the one before it where the path is of a part of the role. Which segments are
    // the mount's is not known here.
    let last = path.matches('/').count();
    let mut previous = "";
    let mut folded = 0..0;
    for (index, segment) in path.split('/').enumerate() {
        if previous == ROLE && index + 1 >= last {
            folded = match folded.is_empty() {
                true => index..index + 1,
                false => folded.start..index + 1,
            };
        }
        previous = segment;
    }
    folded
}

fn fold<'t>(text: Cow<'t, str>, segments: &Range<usize>) -> Cow<'t, str> {
    let is_folded = |byte: u8| byte.is_ascii() && !byte.is_ascii_uppercase();
    if segments.is_empty() || text.bytes().all(is_folded) {
        return text;
    }
    let mut folded = String::with_capacity(text.len());
    for (index, segment) in text.split('/').enumerate() {
        if index > 0 {
            folded.push('/');
        }
        if segments.contains(&index) {
            folded.extend(segment.chars().flat_map(lower));
        } else {
            folded.push_str(segment);
        }
    }
    Cow::Owned(folded)
}

/// Letter by letter, so that the beginning of a name folds to the beginning of the folded name: of the Greek sigma, whose lower
/// case depends on what follows, one form stands for both.
fn lower(letter: char) -> impl Iterator<Item = char> {
    let letter = if letter == 'ς' { 'σ' } else { letter };
    letter.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a2_names_are_folded_at_every_depth_and_nothing_else_is() {
        for (path, folded) in [
            ("auth/Gcp/role/Prod", "auth/Gcp/role/prod"),
            ("auth/Gcp/role/Prod/labels", "auth/Gcp/role/prod/labels"),
            ("auth/Gcp/role/Prod/", "auth/Gcp/role/prod/"),
            ("auth/A/B/role/Prod/labels/", "auth/A/B/role/prod/labels/"),
            ("auth/Gcp/login", "auth/Gcp/login"),
            ("auth/token/roles/Prod", "auth/token/roles/Prod"),
            ("auth/x/role/Gcp/role/Prod", "auth/x/role/Gcp/role/prod"),
            ("sys/policies/acl/Team/App", "sys/policies/acl/team/app"),
            ("sys/policy/ΠΡΟΣ", "sys/policy/προσ"),
            ("sys/Policy/A", "sys/Policy/A"),
            ("organizations/Acme/Teams", "organizations/acme/teams"),
            ("identity/entity/name/Bob", "identity/entity/name/bob"),
            ("identity/entity/id/Bob", "identity/entity/id/Bob"),
        ] {
            assert_eq!(AskedPath::new(path).as_str(), folded);
        }
    }
}
