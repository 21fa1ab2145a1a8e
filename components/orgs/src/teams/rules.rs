//! The rules about the fields of a team, and about who may change them.

use crate::authority::TeamsInScope as _;
use crate::name::{self, FoldedTeamName};
use crate::team::{Rights, TeamRecord};
use crate::{
    Attribute, AttributeIssue, DelegationScope, Fault, Right, RightChange, TeamChanges, TeamError,
    Visibility,
};

const MAXIMUM_SSO_TEAM_ID_CHARACTERS: u32 = 255;

/// Applies to `team` what a request says, except the name, and tells every fault.
///
/// # Errors
///
/// [`TeamError::NotAllowed`] where rights change that the caller cannot pass on.
pub(super) fn apply(
    changes: &TeamChanges,
    team: &mut TeamRecord,
    scope: &DelegationScope,
) -> Result<Vec<AttributeIssue>, TeamError> {
    let mut issues = Vec::new();
    apply_visibility(&changes.visibility, team, &mut issues);
    apply_rights(&changes.organization_access, team, scope, &mut issues)?;
    match &changes.sso_team_id {
        Attribute::Absent => {}
        Attribute::WrongType => issues.push(AttributeIssue::new("sso-team-id", Fault::NotText)),
        Attribute::Value(id) if is_too_long(id) => {
            let fault = Fault::TooLong(MAXIMUM_SSO_TEAM_ID_CHARACTERS);
            issues.push(AttributeIssue::new("sso-team-id", fault));
        }
        Attribute::Value(id) if !id.is_empty() => team.sso_team_id = Some(id.clone()),
        Attribute::Null | Attribute::Value(_) => team.sso_team_id = None,
    }
    match changes.allow_member_token_management {
        Attribute::Absent => {}
        Attribute::Null => team.allow_member_token_management = true,
        Attribute::WrongType => issues.push(AttributeIssue::new(
            "allow-member-token-management",
            Fault::NotBoolean,
        )),
        Attribute::Value(allowed) => team.allow_member_token_management = allowed,
    }
    Ok(issues)
}

/// The name that a request wants for a team; `None` if it mentions none or a bad one, of which the faults tell.
pub(super) fn judge_name<'c>(
    change: &'c Attribute<String>,
    current: Option<&TeamRecord>,
) -> (Option<(&'c str, FoldedTeamName)>, Vec<AttributeIssue>) {
    let issue = |fault| AttributeIssue::new("name", fault);
    let text = match change {
        Attribute::Absent if current.is_some() => return (None, Vec::new()),
        Attribute::Absent | Attribute::Null => "",
        Attribute::WrongType => return (None, vec![issue(Fault::NotText)]),
        Attribute::Value(text) => text.as_str(),
    };
    if current.is_some_and(|team| team.is_owners() && team.name != text) {
        return (None, vec![issue(Fault::Protected)]);
    }
    match FoldedTeamName::fold(text) {
        Some(folded) => (Some((text, folded)), Vec::new()),
        None => (None, name::team_faults(text).map(issue).collect()),
    }
}

fn apply_visibility(
    change: &Attribute<String>,
    team: &mut TeamRecord,
    issues: &mut Vec<AttributeIssue>,
) {
    let mut issue = |fault| issues.push(AttributeIssue::new("visibility", fault));
    let wanted = match change {
        Attribute::Absent => return,
        Attribute::WrongType => return issue(Fault::NotText),
        Attribute::Null => Visibility::Secret,
        Attribute::Value(text) => match text.as_str() {
            "secret" => Visibility::Secret,
            "organization" => Visibility::Organization,
            _ => return issue(Fault::NotIncluded),
        },
    };
    if team.is_owners() && wanted != team.visibility {
        return issue(Fault::Protected);
    }
    team.visibility = wanted;
}

fn apply_rights(
    change: &Attribute<Vec<RightChange>>,
    team: &mut TeamRecord,
    scope: &DelegationScope,
    issues: &mut Vec<AttributeIssue>,
) -> Result<(), TeamError> {
    let current = team.rights_in_force();
    let mut wanted = current.clone();
    match change {
        Attribute::Absent => {}
        Attribute::Null => wanted.clear(),
        Attribute::WrongType => {
            issues.push(AttributeIssue::new("organization-access", Fault::NotObject));
        }
        Attribute::Value(changes) => {
            for change in changes {
                apply_right(change, &mut wanted, issues);
            }
        }
    }
    if wanted == current {
        return Ok(());
    }
    if team.is_owners() {
        issues.push(AttributeIssue::new("organization-access", Fault::Protected));
        return Ok(());
    }
    if !scope.has(Right::ManageOrganizationAccess) || !scope.has_all(&wanted) {
        return Err(TeamError::NotAllowed);
    }
    team.rights = wanted;
    Ok(())
}

fn apply_right(change: &RightChange, wanted: &mut Rights, issues: &mut Vec<AttributeIssue>) {
    match change.granted {
        Attribute::Absent => {}
        Attribute::Value(true) => {
            wanted.insert(change.right);
        }
        Attribute::Value(false) | Attribute::Null => {
            wanted.remove(&change.right);
        }
        Attribute::WrongType => issues.push(AttributeIssue {
            attribute: format!("organization-access/{}", change.right.as_str()),
            fault: Fault::NotBoolean,
        }),
    }
}

fn is_too_long(text: &str) -> bool {
    let maximum = MAXIMUM_SSO_TEAM_ID_CHARACTERS as usize;
    text.chars().nth(maximum).is_some()
}
