//! The `filter` parameter of a group's members, as far as clients use it: one instance, by its link.

use crate::answer::Answer;
use crate::compute::invalid_field;

/// The members that a filter lists.
#[derive(Debug)]
pub(super) enum MemberFilter {
    /// All are.
    All,
    /// Only the instance with this path is.
    Instance { path: String },
}

impl MemberFilter {
    /// Reads `instance eq <link>`, `instance = "<link>"` or `instance:<link>`; the link's host and version do not matter.
    pub(super) fn parse(text: &str) -> Result<Self, Box<Answer>> {
        let text = text.trim().trim_start_matches('(').trim_end_matches(')');
        if text.is_empty() {
            return Ok(Self::All);
        }
        text.strip_prefix("instance")
            .map(str::trim_start)
            .and_then(|rest| {
                let eq = rest
                    .strip_prefix("eq")
                    .filter(|value| value.starts_with(' '));
                eq.or_else(|| rest.strip_prefix('='))
                    .or_else(|| rest.strip_prefix(':'))
            })
            .map(|value| value.trim().trim_matches(['"', '\'']))
            .and_then(path_of)
            .map(|path| Self::Instance {
                path: path.to_owned(),
            })
            .ok_or_else(|| invalid_field("filter", text))
    }

    /// True if the instance with this path is listed.
    pub(super) fn admits(&self, candidate: &str) -> bool {
        match self {
            Self::All => true,
            Self::Instance { path } => path == candidate,
        }
    }
}

/// The path of a link: what follows scheme, host, `compute` and version.
fn path_of(link: &str) -> Option<&str> {
    link.find("projects/").and_then(|start| link.get(start..))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_names_the_same_instance() {
        let path = "projects/p/zones/z/instances/n";
        let link = format!("https://www.googleapis.com/compute/v1/{path}");
        for text in [
            format!("instance eq {link}"),
            format!("(instance eq \"{link}\")"),
            format!("instance = '{link}'"),
            format!("instance:{path}"),
        ] {
            let filter = MemberFilter::parse(&text).unwrap();
            assert!(filter.admits(path), "{text}");
            assert!(!filter.admits("projects/p/zones/z/instances/nn"), "{text}");
        }
        assert!(MemberFilter::parse(" ").unwrap().admits(path));
        for text in [
            "status eq RUNNING",
            "instance",
            "instance eq n",
            "instances eq projects/p",
        ] {
            assert!(MemberFilter::parse(text).is_err(), "{text}");
        }
    }
}
