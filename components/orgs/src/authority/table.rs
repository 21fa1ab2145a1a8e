//! The decisions on which caller may do what: the table of contract 1.7.

use crate::team::Rights;
use crate::{Action, Decision, Right};

/// A caller as the table sees them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    SiteAdministrator,
    Owner,
    Member,
    OrganizationToken,
    AuditReader,
    Outsider,
}

/// The cell of the table.
pub(super) fn decide(column: Column, rights: &Rights, action: Action) -> Decision {
    use Column::{AuditReader, Member, OrganizationToken, Outsider, Owner, SiteAdministrator};

    let has = |right| column == Member && rights.contains(&right);
    let belongs = !matches!(column, Outsider | AuditReader);
    let manages = matches!(column, SiteAdministrator | Owner);
    let allowed = match action {
        Action::Show
        | Action::ReadProducers
        | Action::ReadRetention
        | Action::ReadAgentPools
        | Action::ReadTeams
        | Action::ReadMemberships => belongs,
        Action::Update | Action::Delete | Action::WriteRetention => manages,
        Action::ManageTokens => manages || column == OrganizationToken,
        Action::ManageAgentPools => {
            manages || column == OrganizationToken || has(Right::ManageAgentPools)
        }
        Action::ManageTeams => manages || column == OrganizationToken || has(Right::ManageTeams),
        Action::ManageTeamMembers => {
            manages
                || column == OrganizationToken
                || has(Right::ManageTeams)
                || has(Right::ManageMembership)
        }
        Action::ManageMemberships => {
            manages || column == OrganizationToken || has(Right::ManageMembership)
        }
        Action::ManageTokenLifetimes if belongs && !manages => return Decision::Forbidden,
        Action::ManageTokenLifetimes => manages,
        Action::ReadAuditTrail => matches!(column, OrganizationToken | AuditReader),
    };
    if allowed {
        Decision::Allowed
    } else {
        Decision::Hidden
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 6] = [
        Column::SiteAdministrator,
        Column::Owner,
        Column::Member,
        Column::OrganizationToken,
        Column::AuditReader,
        Column::Outsider,
    ];

    /// A row of the table: `Y` allowed, `-` hidden, `F` forbidden, in the order of [`COLUMNS`].
    fn row(action: Action, rights: &Rights) -> String {
        COLUMNS
            .iter()
            .map(|column| match decide(*column, rights, action) {
                Decision::Allowed => 'Y',
                Decision::Forbidden => 'F',
                _ => '-',
            })
            .collect()
    }

    #[test]
    fn contract_1_7_every_row() {
        let none = Rights::new();
        for (action, expected) in [
            (Action::Show, "YYYY--"),
            (Action::Update, "YY----"),
            (Action::Delete, "YY----"),
            (Action::ReadProducers, "YYYY--"),
            (Action::ReadRetention, "YYYY--"),
            (Action::WriteRetention, "YY----"),
            (Action::ManageTokens, "YY-Y--"),
            (Action::ReadAgentPools, "YYYY--"),
            (Action::ManageAgentPools, "YY-Y--"),
            (Action::ReadTeams, "YYYY--"),
            (Action::ManageTeams, "YY-Y--"),
            (Action::ManageTeamMembers, "YY-Y--"),
            (Action::ReadMemberships, "YYYY--"),
            (Action::ManageMemberships, "YY-Y--"),
            (Action::ManageTokenLifetimes, "YYFF--"),
            (Action::ReadAuditTrail, "---YY-"),
        ] {
            assert_eq!(row(action, &none), expected, "{action:?}");
        }
    }

    #[test]
    fn contract_1_7_rights_of_teams_open_what_they_name_and_nothing_else() {
        for (right, action) in [
            (Right::ManageAgentPools, Action::ManageAgentPools),
            (Right::ManageTeams, Action::ManageTeams),
            (Right::ManageTeams, Action::ManageTeamMembers),
            (Right::ManageMembership, Action::ManageTeamMembers),
            (Right::ManageMembership, Action::ManageMemberships),
        ] {
            let rights = Rights::from([right]);
            assert_eq!(row(action, &rights), "YYYY--", "{action:?}");
            assert_eq!(row(Action::Update, &rights), "YY----");
        }
    }
}
