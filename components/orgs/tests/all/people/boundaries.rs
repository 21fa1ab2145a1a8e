//! No caller gives rights by teams, or manages teams and members, beyond the caller's own rights.

use super::*;

/// Everything that a member could try with a team that is beyond them.
fn everything<S: Store>(
    people: &People<S>,
    team: &Team,
    member: &Membership,
    by: &DelegationScope,
) -> Vec<Result<(), TeamError>> {
    let rename = TeamChanges {
        name: text("other"),
        ..TeamChanges::default()
    };
    vec![
        people.join(&team.id, &membership_ids(&[member]), by),
        people.leave(&team.id, &membership_ids(&[member]), by),
        people.update_team(&team.id, &rename, by).map(drop),
        people.delete_team(&team.id, by),
    ]
}

#[test]
fn who_manages_teams_touches_neither_owners_nor_teams_that_can_do_more() {
    let (people, store) = people();
    let rights = [
        Right::ManageTeams,
        Right::ManageMembership,
        Right::ManageOrganizationAccess,
        Right::AccessSecretTeams,
    ];
    let leads = people.team("leads", &rights);
    let strong = people.team("strong", &[Right::ManageWorkspaces]);
    let (ada, credential) = people.member("ada", &[&leads.id]);
    let (bob, _) = people.member("bob", &[&strong.id]);
    let by = people.mandate_of(&credential);
    assert_eq!(by.role, OrganizationRole::Member);
    let owners = people.owners();
    let before = store.values();
    for (team, member) in [(&owners, &ada), (&strong, &ada), (&strong, &bob)] {
        for refused in everything(&people, team, member, &by) {
            assert_eq!(refused, Err(TeamError::NotAllowed), "{}", team.name);
        }
    }
    for team in [&owners.id, &strong.id] {
        let invited = invitation("eve@example.com", &[team]);
        let refused = people
            .orgs
            .invite_alone(people.id(), &invited, &by, &installation());
        assert_eq!(refused, Err(MembershipError::NotAllowed));
    }
    let first_owner = &people.owners().memberships[0];
    for membership in [first_owner, &bob.id] {
        let refused = people.remove(membership, &by);
        assert_eq!(refused, Err(MembershipError::NotAllowed));
    }
    assert_eq!(store.values(), before);
}

#[test]
fn nobody_gives_a_team_rights_beyond_their_own() {
    let (people, store) = people();
    let own = people.team("own", &[Right::ManageTeams]);
    let by = member_with(&[Right::ManageTeams, Right::ManageOrganizationAccess]);
    let before = store.values();
    let more = team_changes("own", &[Right::ManageWorkspaces]);
    assert_eq!(
        people.update_team(&own.id, &more, &by),
        Err(TeamError::NotAllowed)
    );
    let new = team_changes("new", &[Right::ManageTeams, Right::ReadProjects]);
    assert_eq!(people.create_team(&new, &by), Err(TeamError::NotAllowed));
    // A caller without `manage-organization-access` gives no rights at all.
    let by_manager = member_with(&[Right::ManageTeams]);
    let new = team_changes("new", &[Right::ManageTeams]);
    let refused = people.create_team(&new, &by_manager);
    assert_eq!(refused, Err(TeamError::NotAllowed));
    assert_eq!(store.values(), before);
    assert!(people.create_team(&new, &by).is_ok());
    let plain = people.create_team(&team_changes("plain", &[]), &by_manager);
    let plain = plain.unwrap();
    assert_eq!(people.delete_team(&plain.id, &by_manager), Ok(()));
}

#[test]
fn within_their_reach_members_with_the_right_manage_teams_and_people() {
    let (people, _) = people();
    let rights = [Right::ManageTeams, Right::ReadProjects];
    let readers = people.team("readers", &[Right::ReadProjects]);
    let by = member_with(&rights);
    let (ada, _) = people.member("ada", &[]);
    let named = membership_ids(&[&ada]);
    assert_eq!(people.join(&readers.id, &named, &by), Ok(()));
    assert_eq!(people.read_team(&readers.id).memberships, [ada.id.as_str()]);
    assert_eq!(people.leave(&readers.id, &named, &by), Ok(()));
    assert_eq!(people.remove(&ada.id, &by), Ok(()));
    let permissions = people.teams(&by)[1].permissions;
    assert!(permissions.can_update_membership && permissions.can_destroy);
    assert!(!permissions.can_update_organization_access);
}

#[test]
fn the_token_of_the_organization_gives_every_right_but_makes_no_owners() {
    let (people, _) = people();
    let by = scope(OrganizationRole::OrganizationToken, &[]);
    let (ada, _) = people.member("ada", &[]);
    let strong = people
        .create_team(&team_changes("strong", &Right::ALL), &by)
        .unwrap();
    let named = membership_ids(&[&ada]);
    assert_eq!(people.join(&strong.id, &named, &by), Ok(()));
    let owners = people.owners();
    for refused in everything(&people, &owners, &ada, &by) {
        assert_eq!(refused, Err(TeamError::NotAllowed));
    }
    let first_owner = &owners.memberships[0];
    let refused = people.remove(first_owner, &by);
    assert_eq!(refused, Err(MembershipError::NotAllowed));
    let refused = people.orgs.invite_alone(
        people.id(),
        &invitation("eve@example.com", &[&owners.id]),
        &by,
        &installation(),
    );
    assert_eq!(refused, Err(MembershipError::NotAllowed));
    assert_eq!(people.owners(), owners);
}

#[test]
fn site_administrators_and_owners_make_owners() {
    for role in [OrganizationRole::SiteAdministrator, OrganizationRole::Owner] {
        let (people, _) = people();
        let (ada, credential) = people.member("ada", &[]);
        let owners = people.owners();
        let by = scope(role, &[]);
        let deletes = |people: &People<_>| people.decision(&credential, Action::Delete);
        assert_eq!(deletes(&people), Decision::Hidden);
        assert_eq!(people.join(&owners.id, &usernames(&["ADA"]), &by), Ok(()));
        assert_eq!(deletes(&people), Decision::Allowed);
        let named = membership_ids(&[&ada]);
        assert_eq!(people.leave(&owners.id, &named, &by), Ok(()));
        assert_eq!(deletes(&people), Decision::Hidden);
    }
}
