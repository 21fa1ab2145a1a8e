//! The life of teams.

use super::*;
use gatehouse_orgs::{RightChange, TeamFilter, TeamPermissions, Visibility};

const EVERY_PERMISSION: TeamPermissions = TeamPermissions {
    can_update_membership: true,
    can_destroy: true,
    can_update_organization_access: true,
    can_update_api_token: true,
    can_update_visibility: true,
    can_update_name: true,
    can_update_sso_team_id: true,
    can_update_member_token_management: true,
    can_view_api_token: true,
};

#[test]
fn contract_4_10_a_new_organization_has_the_team_of_its_owners() {
    let (people, _) = people();
    let teams = people.teams(&owner());
    let [owners] = teams.as_slice() else {
        panic!("{teams:?}");
    };
    assert_eq!(owners.name, "owners");
    assert_eq!(owners.visibility, Visibility::Organization);
    assert_eq!(owners.rights, Right::ALL);
    assert_eq!((owners.users.len(), owners.memberships.len()), (1, 1));
    let expected = TeamPermissions {
        can_destroy: false,
        can_update_name: false,
        can_update_visibility: false,
        can_update_organization_access: false,
        ..EVERY_PERMISSION
    };
    assert_eq!(owners.permissions, expected);
}

#[test]
fn contract_4_10_a_team_has_its_defaults_and_reads_back_the_same() {
    let (people, _) = people();
    let changes = TeamChanges {
        name: text("Ops"),
        ..TeamChanges::default()
    };
    let ops = people.create_team(&changes, &owner()).unwrap();
    assert!(ops.id.starts_with("team-"));
    assert_eq!(
        (ops.name.as_str(), ops.visibility),
        ("Ops", Visibility::Secret)
    );
    assert_eq!((ops.rights.len(), ops.sso_team_id.clone()), (0, None));
    assert!(ops.allow_member_token_management);
    assert!(ops.users.is_empty() && ops.memberships.is_empty());
    assert_eq!(ops.permissions, EVERY_PERMISSION);
    assert_eq!(people.read_team(&ops.id), ops);
    let whose = people.orgs.organization_of(&ops.id).unwrap().unwrap();
    assert_eq!(
        (whose.name.as_str(), whose.external_id.as_str()),
        ("acme", people.id())
    );
}

#[test]
fn contract_4_10_a_name_with_blanks_is_taken_and_is_free_again() {
    let (people, store) = people();
    let id = people.team("Foo Bar", &[]).id;
    let key = format!("of/{}/team-name/foo%20bar", people.id());
    assert!(store.keys().contains(&key));
    let again = TeamChanges {
        name: text("foo bar"),
        ..TeamChanges::default()
    };
    let refused = people.create_team(&again, &owner());
    let taken = vec![issue("name", Fault::Taken)];
    assert_eq!(refused, Err(TeamError::Invalid(taken)));
    let by = installation();
    people
        .orgs
        .delete_team(people.id(), &id, &owner(), &by)
        .unwrap();
    assert!(!store.keys().contains(&key));
    people.create_team(&again, &owner()).unwrap();
}

#[test]
fn contract_4_10_names_follow_the_rules_of_names_and_every_fault_is_told() {
    let (people, store) = people();
    people.team("ops", &[]);
    let before = store.values();
    let name = |name: Attribute<String>| TeamChanges {
        name,
        ..TeamChanges::default()
    };
    for (wanted, fault) in [
        (Attribute::Absent, Fault::Blank),
        (Attribute::Null, Fault::Blank),
        (text(""), Fault::Blank),
        (Attribute::WrongType, Fault::NotText),
        (text("a b "), Fault::ForbiddenCharacter),
        (text(&"n".repeat(91)), Fault::TooLong(90)),
        (text("OPS"), Fault::Taken),
        (text("Owners"), Fault::Taken),
    ] {
        let refused = people.create_team(&name(wanted), &owner());
        assert_eq!(refused, Err(TeamError::Invalid(vec![issue("name", fault)])));
    }
    let all_wrong = TeamChanges {
        name: text("ops"),
        visibility: text("public"),
        organization_access: Attribute::Value(vec![RightChange {
            right: Right::ManageTeams,
            granted: Attribute::WrongType,
        }]),
        sso_team_id: text(&"s".repeat(256)),
        allow_member_token_management: Attribute::WrongType,
    };
    let issues = vec![
        issue("name", Fault::Taken),
        issue("visibility", Fault::NotIncluded),
        issue("organization-access/manage-teams", Fault::NotBoolean),
        issue("sso-team-id", Fault::TooLong(255)),
        issue("allow-member-token-management", Fault::NotBoolean),
    ];
    let refused = people.create_team(&all_wrong, &owner());
    assert_eq!(refused, Err(TeamError::Invalid(issues)));
    let no_object = TeamChanges {
        organization_access: Attribute::WrongType,
        ..name(text("dev"))
    };
    let issues = vec![issue("organization-access", Fault::NotObject)];
    let refused = people.create_team(&no_object, &owner());
    assert_eq!(refused, Err(TeamError::Invalid(issues)));
    assert_eq!(store.values(), before);
}

#[test]
fn contract_4_10_an_update_changes_what_it_mentions_and_frees_the_old_name() {
    let (people, store) = people();
    let ops = people.team("ops", &[Right::ManageTeams, Right::ReadProjects]);
    let commits = store.commits();
    let nothing = TeamChanges::default();
    let same = people.update_team(&ops.id, &nothing, &owner());
    assert_eq!(same.as_ref(), Ok(&ops));
    assert_eq!(store.commits(), commits);
    let changes = TeamChanges {
        name: text("Platform"),
        visibility: text("secret"),
        organization_access: Attribute::Value(vec![RightChange {
            right: Right::ManageTeams,
            granted: Attribute::Value(false),
        }]),
        sso_team_id: text("sso-1"),
        ..TeamChanges::default()
    };
    let expected = Team {
        name: "Platform".to_owned(),
        visibility: Visibility::Secret,
        rights: vec![Right::ReadProjects],
        sso_team_id: Some("sso-1".to_owned()),
        ..ops.clone()
    };
    let changed = people.update_team(&ops.id, &changes, &owner());
    assert_eq!(changed, Ok(expected.clone()));
    assert_eq!(people.read_team(&ops.id), expected);
    people.team("ops", &[]);
    let taken = people.update_team(&ops.id, &team_changes("OPS", &[]), &owner());
    let issues = vec![issue("name", Fault::Taken)];
    assert_eq!(taken, Err(TeamError::Invalid(issues)));
    let recased = TeamChanges {
        name: text("PLATFORM"),
        ..TeamChanges::default()
    };
    let recased = people.update_team(&ops.id, &recased, &owner()).unwrap();
    assert_eq!(recased.name, "PLATFORM");
    let reset = TeamChanges {
        organization_access: Attribute::Null,
        sso_team_id: Attribute::Null,
        ..TeamChanges::default()
    };
    let reset = people.update_team(&ops.id, &reset, &owner()).unwrap();
    assert_eq!((reset.rights.len(), reset.sso_team_id), (0, None));
}

#[test]
fn contract_4_10_the_owners_keep_their_name_their_rights_and_themselves() {
    let (people, store) = people();
    let owners = people.owners();
    let before = store.values();
    let refused = |changes: TeamChanges, attribute| {
        let found = people.update_team(&owners.id, &changes, &owner());
        let issues = vec![issue(attribute, Fault::Protected)];
        assert_eq!(found, Err(TeamError::Invalid(issues)));
    };
    for name in ["Owners", "ops"] {
        let name = text(name);
        refused(
            TeamChanges {
                name,
                ..TeamChanges::default()
            },
            "name",
        );
    }
    let visibility = text("secret");
    refused(
        TeamChanges {
            visibility,
            ..TeamChanges::default()
        },
        "visibility",
    );
    let organization_access = Attribute::Value(vec![RightChange {
        right: Right::ManageTeams,
        granted: Attribute::Value(false),
    }]);
    let fewer = TeamChanges {
        organization_access,
        ..TeamChanges::default()
    };
    refused(fewer, "organization-access");
    let deleted = people.delete_team(&owners.id, &owner());
    assert_eq!(deleted, Err(TeamError::Protected));
    let same = team_changes("owners", &Right::ALL);
    assert_eq!(people.update_team(&owners.id, &same, &owner()), Ok(owners));
    assert_eq!(store.values(), before);
}

#[test]
fn contract_4_10_filters_and_pages() {
    let (people, _) = people();
    for name in ["beta", "Alpha", "gamma"] {
        people.team(name, &[]);
    }
    let list = |names: &[&str], text: Option<&str>, number, size| {
        let filter = TeamFilter {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            text: text.map(str::to_owned),
        };
        let page = people
            .orgs
            .list_teams(
                people.id(),
                &filter,
                Relations::default(),
                &owner(),
                number,
                size,
            )
            .unwrap();
        let names = page.teams.into_iter().map(|team| team.name);
        (names.collect::<Vec<_>>().join(" "), page.total)
    };
    let all = ("Alpha beta gamma owners".to_owned(), 4);
    assert_eq!(list(&[], None, 1, 20), all);
    assert_eq!(list(&["owners"], None, 1, 20), ("owners".to_owned(), 1));
    let two = ("Alpha beta".to_owned(), 2);
    assert_eq!(list(&["ALPHA", "beta", "none"], None, 1, 20), two);
    assert_eq!(list(&[], Some("MA"), 1, 20), ("gamma".to_owned(), 1));
    assert_eq!(list(&[], None, 2, 3), ("owners".to_owned(), 4));
    assert_eq!(list(&[], None, 9, 3), (String::new(), 4));
    assert_eq!(list(&[], None, 0, 0), ("Alpha".to_owned(), 4));
}

#[test]
fn contract_4_10_a_secret_team_is_seen_by_its_members_and_who_may_see_secrets() {
    let (people, _) = people();
    let changes = TeamChanges {
        visibility: text("secret"),
        ..team_changes("hidden", &[])
    };
    let hidden = people.create_team(&changes, &owner()).unwrap();
    let in_it = DelegationScope {
        teams: vec![hidden.id.clone()],
        ..member_with(&[])
    };
    let sees = |scope: &DelegationScope| {
        let teams = people.teams(scope);
        let listed = teams.iter().find(|team| team.id == hidden.id);
        // The permissions are those of the caller; all else is the same for everyone who sees the team.
        let listed = listed.is_some_and(|team| {
            let permissions = hidden.permissions;
            Team {
                permissions,
                ..team.clone()
            } == hidden
        });
        let read = people.orgs.team_alone(people.id(), &hidden.id, scope);
        assert_eq!(read.unwrap().is_some(), listed);
        listed
    };
    assert!(sees(&owner()));
    assert!(sees(&scope(OrganizationRole::SiteAdministrator, &[])));
    assert!(sees(&scope(OrganizationRole::OrganizationToken, &[])));
    assert!(sees(&in_it));
    assert!(sees(&member_with(&[Right::AccessSecretTeams])));
    assert!(sees(&member_with(&[Right::ManageTeams])));
    assert!(!sees(&member_with(&[Right::ManageMembership])));
    let none = member_with(&[]);
    assert!(!sees(&none));
    for refused in [
        people.delete_team(&hidden.id, &none),
        people.join(&hidden.id, &usernames(&[]), &none),
        people.update_team(&hidden.id, &changes, &none).map(drop),
    ] {
        assert_eq!(refused, Err(TeamError::NotFound));
    }
    // Nor does a membership tell of it.
    let (ada, _) = people.member("ada", &[&hidden.id]);
    let seen = people.orgs.membership_alone(people.id(), &ada.id, &none);
    assert_eq!(seen.unwrap().unwrap().teams, [""; 0]);
    let invited = invitation("bob@example.com", &[&hidden.id]);
    let by_stranger = member_with(&[Right::ManageMembership]);
    let refused = people
        .orgs
        .invite_alone(people.id(), &invited, &by_stranger, &installation());
    let issues = vec![issue("teams", Fault::UnknownTeam)];
    assert_eq!(refused, Err(MembershipError::Invalid(issues)));
}

#[test]
fn contract_4_10_a_team_that_is_deleted_is_gone_with_its_name_its_members_and_its_rights() {
    let (people, store) = people();
    let ops = people.team("ops", &[Right::ManageAgentPools]);
    let (ada, credential) = people.member("ada", &[&ops.id]);
    let manage = Action::ManageAgentPools;
    assert_eq!(people.decision(&credential, manage), Decision::Allowed);
    assert_eq!(people.delete_team(&ops.id, &owner()), Ok(()));
    assert_eq!(people.decision(&credential, manage), Decision::Hidden);
    let shown = people.decision(&credential, Action::Show);
    assert_eq!(shown, Decision::Allowed);
    let gone = people.delete_team(&ops.id, &owner());
    assert_eq!(gone, Err(TeamError::NotFound));
    assert_eq!(people.orgs.organization_of(&ops.id), Ok(None));
    let ada = people.orgs.membership_alone(people.id(), &ada.id, &owner());
    assert_eq!(ada.unwrap().unwrap().teams, [""; 0]);
    assert!(!is_named(&store, &ops.id));
    assert!(!kept_keys(&store).iter().any(|key| key.ends_with("/ops")));
    people.team("ops", &[]);
}

#[test]
fn contract_4_10_nothing_of_another_organization_is_a_team_here() {
    let (people, store) = people();
    let globex = create(&people.orgs, "globex");
    let ops = people.team("ops", &[]);
    let before = store.values();
    let found = people
        .orgs
        .team_alone(&globex.external_id, &ops.id, &owner());
    assert_eq!(found, Ok(None));
    for id in [ops.id.as_str(), "team-0000000000000000", "owners", "-", ""] {
        let deleted = people
            .orgs
            .delete_team(&globex.external_id, id, &owner(), &installation());
        assert_eq!(deleted, Err(TeamError::NotFound), "{id}");
    }
    assert_eq!(store.values(), before);
}

#[test]
fn a_team_of_an_organization_that_is_just_going_is_not_changed() {
    use gatehouse_ports::{Change, Store as _};

    let (people, store) = people();
    let ops = people.team("ops", &[]);
    let key = format!("external/{}", people.id());
    store.commit(Vec::new(), vec![Change::Delete(key)]).unwrap();
    let before = store.values();
    let changes = TeamChanges {
        visibility: text("secret"),
        ..TeamChanges::default()
    };
    let by = installation();
    let refused = people
        .orgs
        .update_team(people.id(), &ops.id, &changes, &owner(), &by);
    assert_eq!(refused, Err(TeamError::NotFound));
    assert_eq!(store.values(), before);
}
