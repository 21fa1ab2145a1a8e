//! Which organizations the policies of a service token open, as far as lists can go by it.
//!
//! A policy says what may be done at paths; a list needs the organizations. Rules for one path and rules for the beginning of paths
//! name them, and so bound what has to be looked through. Where rules shut again what others open, or have a wildcard in place of the
//! name, every organization within the bound is asked after.

use gatehouse_access::{Capability, PathRights, ResultantAcl};

/// Before the name in the path of an organization.
const ORGANIZATIONS: &str = "organizations/";

/// What policies open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Opened {
    /// Organizations of these names.
    pub(super) names: Vec<String>,
    /// Organizations whose names begin with one of these.
    pub(super) prefixes: Vec<String>,
    /// Whether they open all of these, and so nobody has to ask after each.
    pub(super) is_exact: bool,
}

impl Opened {
    /// What these rules let the token read. `any_name` tells whether it may read an organization of a name that none of the rules
    /// names: then a wildcard stands in place of names.
    pub(super) fn of(acl: &ResultantAcl, any_name: bool) -> Self {
        let (exact, prefixes) = match acl {
            ResultantAcl::Root => return Self::everything(true),
            ResultantAcl::Rules { exact, prefixes } => (exact, prefixes),
        };
        let read_of = |rules: &[PathRights], name_of: fn(&str) -> Option<&str>, wanted: bool| {
            let concerned = rules.iter().filter(|rule| may_read(rule) == wanted);
            let names = concerned.filter_map(|rule| name_of(&rule.path).map(str::to_owned));
            names.collect::<Vec<String>>()
        };
        let opened_prefixes = read_of(prefixes, prefix_of, true);
        if any_name && !opened_prefixes.iter().any(String::is_empty) {
            return Self::everything(false);
        }
        let shut_names = read_of(exact, name_of, false);
        let shut_prefixes = read_of(prefixes, prefix_of, false);
        let within_an_opened = |shut: &String| {
            opened_prefixes
                .iter()
                .any(|opened| shut.starts_with(opened.as_str()))
        };
        Self {
            names: read_of(exact, name_of, true),
            is_exact: !shut_names
                .iter()
                .chain(&shut_prefixes)
                .any(within_an_opened),
            prefixes: opened_prefixes,
        }
    }

    fn everything(is_exact: bool) -> Self {
        Self {
            names: Vec::new(),
            prefixes: vec![String::new()],
            is_exact,
        }
    }
}

fn may_read(rule: &PathRights) -> bool {
    let reads = |capability: &Capability| matches!(capability, Capability::Read | Capability::Root);
    rule.capabilities.iter().any(reads)
}

/// The organization whose path this is.
fn name_of(path: &str) -> Option<&str> {
    let name = path.strip_prefix(ORGANIZATIONS)?;
    (!name.is_empty() && !name.contains('/')).then_some(name)
}

/// What the names of organizations begin with whose paths begin with this.
fn prefix_of(path: &str) -> Option<&str> {
    if ORGANIZATIONS.starts_with(path) {
        return Some("");
    }
    let prefix = path.strip_prefix(ORGANIZATIONS)?;
    (!prefix.contains('/')).then_some(prefix)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(rules: &[(&str, Capability)]) -> Vec<PathRights> {
        let rule = |(path, capability): &(&str, Capability)| PathRights {
            path: (*path).to_owned(),
            capabilities: vec![*capability],
        };
        rules.iter().map(rule).collect()
    }

    fn opened(exact: &[(&str, Capability)], prefixes: &[(&str, Capability)]) -> Opened {
        let acl = ResultantAcl::Rules {
            exact: rules(exact),
            prefixes: rules(prefixes),
        };
        Opened::of(&acl, false)
    }

    fn names(opened: &Opened) -> (Vec<&str>, Vec<&str>, bool) {
        (
            opened.names.iter().map(String::as_str).collect(),
            opened.prefixes.iter().map(String::as_str).collect(),
            opened.is_exact,
        )
    }

    #[test]
    fn rules_that_let_read_name_the_organizations() {
        use Capability::{Read, Update};
        let found = opened(
            &[
                ("organizations/acme", Read),
                ("organizations/globex", Update),
                ("organizations/acme/teams", Read),
                ("sys/mounts", Read),
            ],
            &[("organizations/team-", Read), ("auth/", Read)],
        );
        assert_eq!(names(&found), (vec!["acme"], vec!["team-"], true));
    }

    #[test]
    fn a_rule_for_shorter_beginnings_opens_all() {
        for path in ["", "org", "organizations", "organizations/"] {
            let found = opened(&[], &[(path, Capability::Read)]);
            assert_eq!(names(&found), (vec![], vec![""], true), "{path}");
        }
    }

    #[test]
    fn what_another_rule_shuts_is_asked_after() {
        use Capability::{Deny, Read};
        let by_name = opened(
            &[("organizations/team-x", Deny)],
            &[("organizations/team-", Read)],
        );
        assert!(!by_name.is_exact);
        let by_prefix = opened(
            &[],
            &[("organizations/", Read), ("organizations/secret-", Deny)],
        );
        assert!(!by_prefix.is_exact);
        let elsewhere = opened(
            &[("organizations/x", Deny)],
            &[("organizations/team-", Read)],
        );
        assert!(elsewhere.is_exact);
    }

    #[test]
    fn a_wildcard_in_place_of_the_name_has_all_asked_after() {
        let acl = ResultantAcl::Rules {
            exact: Vec::new(),
            prefixes: Vec::new(),
        };
        assert_eq!(names(&Opened::of(&acl, true)), (vec![], vec![""], false));
        assert_eq!(
            names(&Opened::of(&ResultantAcl::Root, true)),
            (vec![], vec![""], true)
        );
    }
}
