//! Ancestors of the project: bounds on folders and organizations, and group aliases (contract 7.3; SEC-G14).

use gatehouse_ports::{Clock, Http, Random};

use crate::google::{Ancestor, ApiError, Google};
use crate::trace::{Condition as _, Trace, input, list};
use crate::{AncestorNotBound, Check, LoginError, ProjectRefusal, Role};

const PROJECT: &str = "project";
const FOLDER: &str = "folder";
const ORGANIZATION: &str = "organization";

/// Checks the role's folders and organizations; gives the group aliases if the role asks for them.
pub(super) fn check<H: Http, C: Clock, R: Random>(
    role: &Role,
    project: &str,
    google: &Google<'_, H, C, R>,
    trace: &mut impl Trace,
) -> Result<Option<Vec<String>>, LoginError> {
    let (folders, organizations) = (
        &role.options.bound_folders,
        &role.options.bound_organizations,
    );
    if folders.is_empty() && organizations.is_empty() && !role.add_group_aliases {
        return Ok(None);
    }
    let ancestry = google.ancestry(project).map_err(|error| match error {
        ApiError::Refused(refusal) => LoginError::AncestryUnreadable(ProjectRefusal {
            project: project.to_owned(),
            refusal,
        }),
        other => other.into(),
    });
    let first = match (folders.is_empty(), organizations.is_empty()) {
        (false, _) => Check::Folder,
        (true, false) => Check::Organization,
        (true, true) => Check::GroupAliases,
    };
    let ancestry = match ancestry {
        Ok(ancestry) => ancestry,
        Err(error) => return trace.require(first, || vec![input("project", project)], Err(error)),
    };
    let bounds = [
        (Check::Folder, FOLDER, "bound_folders", folders),
        (
            Check::Organization,
            ORGANIZATION,
            "bound_organizations",
            organizations,
        ),
    ];
    for (check, kind, name, bound) in bounds {
        if bound.is_empty() {
            continue;
        }
        let above: Vec<String> = ids(&ancestry, kind).map(str::to_owned).collect();
        let within = above.iter().any(|id| bound.contains(id));
        trace.judge(
            check,
            || {
                vec![
                    input("project", project),
                    list("ancestors", &above),
                    list(name, bound),
                ]
            },
            within.otherwise_with(|| not_bound(check, project, bound)),
        )?;
    }
    if !role.add_group_aliases {
        return Ok(None);
    }
    let aliases = group_aliases(project, &ancestry);
    trace.judge(
        Check::GroupAliases,
        || vec![input("project", project), list("aliases", &aliases)],
        Ok(()),
    )?;
    Ok(Some(aliases))
}

fn not_bound(check: Check, project: &str, bound: &[String]) -> LoginError {
    let project = project.to_owned();
    let bound = bound.to_vec();
    let outside = AncestorNotBound { project, bound };
    match check {
        Check::Folder => LoginError::FolderNotBound(outside),
        _ => LoginError::OrganizationNotBound(outside),
    }
}

fn ids<'a>(ancestry: &'a [Ancestor], kind: &'a str) -> impl Iterator<Item = &'a str> {
    ancestry
        .iter()
        .filter(move |ancestor| ancestor.kind == kind)
        .map(|ancestor| ancestor.id.as_str())
}

/// `<type>-<id>` for each ancestor, in Google's order. A project below a folder also stands for `folder-<project id>`, a spelling that
/// operators know from the documentation of others.
fn group_aliases(project: &str, ancestry: &[Ancestor]) -> Vec<String> {
    let known = |kind: &str| [PROJECT, FOLDER, ORGANIZATION].contains(&kind);
    let mut aliases: Vec<String> = ancestry
        .iter()
        .filter(|ancestor| known(&ancestor.kind))
        .map(|ancestor| format!("{}-{}", ancestor.kind, ancestor.id))
        .collect();
    if ids(ancestry, FOLDER).next().is_some() {
        aliases.push(format!("{FOLDER}-{project}"));
    }
    aliases
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ancestry(rows: &[(&str, &str)]) -> Vec<Ancestor> {
        let ancestor = |(kind, id): &(&str, &str)| Ancestor {
            kind: (*kind).to_owned(),
            id: (*id).to_owned(),
        };
        rows.iter().map(ancestor).collect()
    }

    #[test]
    fn contract_7_3_one_alias_per_ancestor_and_both_spellings_of_folders() {
        let below_two = ancestry(&[
            ("project", "p1"),
            ("folder", "12"),
            ("folder", "34"),
            ("organization", "56"),
        ]);
        assert_eq!(
            group_aliases("p1", &below_two),
            [
                "project-p1",
                "folder-12",
                "folder-34",
                "organization-56",
                "folder-p1"
            ]
        );
        let below_none = ancestry(&[("project", "p1"), ("organization", "56")]);
        assert_eq!(
            group_aliases("p1", &below_none),
            ["project-p1", "organization-56"]
        );
        assert!(group_aliases("p1", &ancestry(&[("planet", "1")])).is_empty());
    }
}
