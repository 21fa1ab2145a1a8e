//! The part about who there is, and who belongs to what.

/// Defines `Cross` for the types of `users`, `teams` and `memberships`.
#[doc(hidden)]
#[macro_export]
macro_rules! crossings_of_people {
    () => {
        $crate::crossing_record!(users::UserDescription {
            username,
            email,
            site_administrator,
        });
        $crate::crossing_cases!(users::CreateUserError { Invalid(issues), Failed(failure) });

        $crate::crossing_cases!(teams::Visibility { Secret, Organization });
        $crate::crossing_record!(teams::Team {
            id,
            name,
            visibility,
            rights,
            sso_team_id,
            allow_member_token_management,
            memberships,
            users,
            users_count,
            members_told,
            permissions,
        });
        $crate::crossing_record!(teams::RightChange { right, granted });
        $crate::crossing_change!(teams::RightsChange { Rights(Vec<$crate::RightChange>) });
        $crate::crossing_record!(teams::TeamChanges {
            name,
            visibility,
            organization_access,
            sso_team_id,
            allow_member_token_management,
        });
        $crate::crossing_record!(teams::TeamFilter { names, text });
        $crate::crossing_record!(teams::TeamPage { teams, total });
        $crate::crossing_cases!(teams::MemberNames { Usernames(names), Memberships(ids) });
        $crate::crossing_cases!(teams::TeamError {
            NotFound,
            NotAllowed,
            Invalid(issues),
            Protected,
            LastOwner,
            UnknownMembers(places),
            TooManyTeams(most),
            TooManyTeamsOfMember(most),
            TooManyMembers,
            Failed(failure),
        });

        $crate::crossing_cases!(memberships::MembershipStatus { Active, Invited });
        $crate::crossing_record!(memberships::Membership {
            id,
            user,
            email,
            status,
            teams,
            teams_told,
            created_at,
        });
        $crate::crossing_record!(memberships::OwnMembership { membership, organization });
        $crate::crossing_change!(memberships::TextsChange { Texts(Vec<String>) });
        $crate::crossing_record!(memberships::Invitation { email, entity_id, teams, active });
        $crate::crossing_record!(memberships::MembershipFilter { text, emails, statuses });
        $crate::crossing_record!(memberships::MembershipPage {
            memberships,
            total,
            active,
            invited,
        });
        $crate::crossing_cases!(memberships::MembershipError {
            NotFound,
            NotAllowed,
            Invalid(issues),
            LastOwner,
            TooMany(most),
            TooManyTeams(most),
            Failed(failure),
        });
    };
}
