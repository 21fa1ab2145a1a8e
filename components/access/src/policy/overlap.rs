//! Rules that say something about the paths below a path.

use super::asked::AskedPath;
use super::rule::{Filled, Rule};
use super::template::Identity;
use crate::api::Capability;

/// True if `rule` grants this caller something at `path` or below it, leaving aside what other rules deny.
pub(crate) fn grants_below(rule: &Rule, identity: Option<&dyn Identity>, path: &str) -> bool {
    let mut granted = rule.capabilities.iter();
    granted
        .next()
        .is_some_and(|first| first != Capability::Deny)
        && match rule.filled_for(identity) {
            Filled::Pattern(pattern) => {
                let path = AskedPath::new(path);
                overlaps(&path.folded(pattern), rule.prefix, path.as_str())
            }
            Filled::DenialBelow(_) | Filled::NoRule => false,
        }
}

/// True if some path at or below `path` fits the pattern.
fn overlaps(pattern: &str, prefix: bool, path: &str) -> bool {
    let mut segments = pattern.split('/').peekable();
    for asked in path.split('/') {
        let Some(segment) = segments.next() else {
            return false;
        };
        let is_last = segments.peek().is_none();
        if prefix && is_last {
            return asked.starts_with(segment) || segment == "+";
        }
        if segment != "+" && segment != asked {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contract_6_4_a_rule_is_about_a_mount_when_it_can_fit_a_path_of_it() {
        for (pattern, fits) in [
            ("auth/gcp/login", true),
            ("auth/gcp/role/*", true),
            ("auth/gcp/*", true),
            ("auth/gcp*", true),
            ("auth/g*", true),
            ("auth/*", true),
            ("*", true),
            ("auth/+/login", true),
            ("+/gcp/config", true),
            ("auth/+/*", true),
            ("auth/+", true),
            ("auth/gcp", true),
            ("auth/gcp2/login", false),
            ("auth/gcp2*", false),
            ("auth/h*", false),
            ("auth", false),
            ("auth/", false),
            ("sys/*", false),
            ("+", false),
        ] {
            let bare = pattern.strip_suffix('*');
            let (text, prefix) = bare.map_or((pattern, false), |bare| (bare, true));
            assert_eq!(overlaps(text, prefix, "auth/gcp"), fits, "{pattern}");
        }
    }

    #[test]
    fn a_rule_that_denies_or_grants_nothing_is_about_nothing() {
        for (capabilities, grants) in [
            (vec![Capability::Read], true),
            (vec![Capability::Deny], false),
            (vec![], false),
        ] {
            let rule = Rule {
                pattern: "auth/gcp/".to_owned(),
                prefix: true,
                template: false,
                capabilities: capabilities.into_iter().collect(),
                constraints: None,
            };
            assert_eq!(grants_below(&rule, None, "auth/gcp"), grants);
        }
    }
}
