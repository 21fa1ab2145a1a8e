//! The organizations that the policies of a service token open, as far as lists can use that.
//!
//! A policy says what may be done at which paths, but a list needs the organizations. Rules for single paths and for prefixes of paths name
//! organizations, and so limit the search. Where some rules deny what others allow, or a rule with a wildcard denies a possible path of an
//! organization, each organization within that limit is checked individually.

use gatehouse_access_api::{Capability, PathRights, ResultantAcl, RuleSet};

/// The prefix of the name in the path of an organization.
const ORGANIZATIONS: &str = "organizations/";

/// The segment of a rule that matches any segment of a path.
const WILDCARD: &str = "+";

/// The organizations that policies open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Opened {
    /// Organizations of these names.
    pub(super) names: Vec<String>,
    /// Organizations whose names begin with one of these.
    pub(super) prefixes: Vec<String>,
    /// True where the policies open all of these, so that none needs an individual check.
    pub(super) is_exact: bool,
}

impl Opened {
    /// The organizations that these rules let the token read.
    pub(super) fn from_acl(acl: &ResultantAcl) -> Self {
        let RuleSet {
            exact,
            prefixes,
            wildcards,
        } = match acl {
            ResultantAcl::Root => return Self::everything(),
            ResultantAcl::Rules(rules) => rules,
        };
        let read_of = |rules: &[PathRights], name_of: fn(&str) -> Option<&str>, wanted: bool| {
            let concerned = rules.iter().filter(|rule| may_read(rule) == wanted);
            let names = concerned.filter_map(|rule| name_of(&rule.path).map(str::to_owned));
            names.collect::<Vec<String>>()
        };
        let mut opened_names = read_of(exact, name_of, true);
        let mut opened_prefixes = read_of(prefixes, prefix_of, true);
        let shut_names = read_of(exact, name_of, false);
        let shut_prefixes = read_of(prefixes, prefix_of, false);
        let mut is_exact = true;
        let mut met_names: Vec<String> = Vec::new();
        for rule in wildcards {
            match Met::by(&rule.path) {
                None => {}
                Some(_) if !may_read(rule) => is_exact = false,
                Some(Met::Name(name)) => met_names.push(name.to_owned()),
                Some(Met::Prefix(prefix)) => opened_prefixes.push(prefix.to_owned()),
            }
        }
        // Which rule applies to a path depends on more than this. It does not matter where all rules that can match allow the read.
        for shut in shut_names.iter().chain(&shut_prefixes) {
            let opens = |opened: &String| shut.starts_with(opened.as_str());
            let shuts = |name: &String| name.starts_with(shut.as_str());
            is_exact &= !opened_prefixes.iter().any(opens) && !met_names.iter().any(shuts);
        }
        opened_names.extend(met_names);
        Self {
            names: opened_names,
            prefixes: opened_prefixes,
            is_exact,
        }
    }

    fn everything() -> Self {
        Self {
            names: Vec::new(),
            prefixes: vec![String::new()],
            is_exact: true,
        }
    }
}

fn may_read(rule: &PathRights) -> bool {
    let reads = |capability: &Capability| matches!(capability, Capability::Read | Capability::Root);
    rule.capabilities.iter().any(reads)
}

/// The name of the organization with this path.
fn name_of(path: &str) -> Option<&str> {
    let name = path.strip_prefix(ORGANIZATIONS)?;
    (!name.is_empty() && !name.contains('/')).then_some(name)
}

/// The prefix of the names of the organizations whose paths have this prefix.
fn prefix_of(path: &str) -> Option<&str> {
    if ORGANIZATIONS.starts_with(path) {
        return Some("");
    }
    let prefix = path.strip_prefix(ORGANIZATIONS)?;
    (!prefix.contains('/')).then_some(prefix)
}

/// The organizations whose paths a pattern with a wildcard can match.
enum Met<'r> {
    /// The organization of this name.
    Name(&'r str),
    /// The organizations whose names have this prefix.
    Prefix(&'r str),
}

impl<'r> Met<'r> {
    fn by(pattern: &'r str) -> Option<Self> {
        let (pattern, is_beginning) = match pattern.strip_suffix('*') {
            Some(beginning) => (beginning, true),
            None => (pattern, false),
        };
        let (collection, name) = match pattern.split_once('/') {
            Some((collection, name)) => (collection, name),
            None if is_beginning => return (pattern == WILDCARD).then_some(Self::Prefix("")),
            None => return None,
        };
        let concerns = [WILDCARD, ORGANIZATIONS.trim_end_matches('/')].contains(&collection);
        match name {
            _ if !concerns || name.contains('/') => None,
            WILDCARD => Some(Self::Prefix("")),
            name if is_beginning => Some(Self::Prefix(name)),
            name => Some(Self::Name(name)),
        }
    }
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
        let acl = ResultantAcl::Rules(RuleSet {
            exact: rules(exact),
            prefixes: rules(prefixes),
            wildcards: Vec::new(),
        });
        Opened::from_acl(&acl)
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
    fn a_wildcard_has_organizations_asked_after_only_where_some_rule_shuts_them() {
        use Capability::{Create, Deny, Read};
        let opened_beside = |shut: &[(&str, Capability)], wildcards: &[(&str, Capability)]| {
            Opened::from_acl(&ResultantAcl::Rules(RuleSet {
                exact: rules(shut),
                prefixes: rules(&[("organizations/team-", Read)]),
                wildcards: rules(wildcards),
            }))
        };
        let opened = |wildcards: &[(&str, Capability)]| opened_beside(&[], wildcards);
        for (rule, capability, found) in [
            ("organizations/+", Read, (vec![], vec!["team-", ""])),
            ("organizations/+*", Read, (vec![], vec!["team-", ""])),
            ("+/+", Read, (vec![], vec!["team-", ""])),
            ("+*", Read, (vec![], vec!["team-", ""])),
            ("+/acme", Read, (vec!["acme"], vec!["team-"])),
            ("+/ac*", Read, (vec![], vec!["team-", "ac"])),
            ("organizations/+", Deny, (vec![], vec!["team-"])),
            ("+/team-x", Deny, (vec![], vec!["team-"])),
            ("+/+*", Create, (vec![], vec!["team-"])),
        ] {
            let expected = (found.0, found.1, capability == Read);
            assert_eq!(names(&opened(&[(rule, capability)])), expected, "{rule}");
        }
        for (shut, wildcard) in [
            ("organizations/secret", "organizations/+"),
            ("organizations/acme", "+/acme"),
            ("organizations/acme", "+/a*"),
        ] {
            let found = opened_beside(&[(shut, Deny)], &[(wildcard, Read)]);
            assert!(!found.is_exact, "{wildcard}");
        }
        assert!(opened_beside(&[("organizations/x", Deny)], &[("+/acme", Read)]).is_exact);
        for elsewhere in [
            "+",
            "sys/+",
            "organizations/+/teams",
            "organizations/acme/+*",
            "+/+/+",
        ] {
            let expected = (vec![], vec!["team-"], true);
            assert_eq!(
                names(&opened(&[(elsewhere, Deny)])),
                expected,
                "{elsewhere}"
            );
        }
    }

    #[test]
    fn root_opens_all() {
        assert_eq!(
            names(&Opened::from_acl(&ResultantAcl::Root)),
            (vec![], vec![""], true)
        );
    }
}
