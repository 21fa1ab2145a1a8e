//! How much an organization may have, and what becomes of those that have more.

use super::*;
use gatehouse_orgs::{
    AgentPoolChanges, AgentPoolError, AgentPools, Bounds, GeneralSettingsChanges, Site,
};
use gatehouse_storage::{Records, Transaction};
use serde_json::json;

/// Sets the bounds of teams and memberships of an organization, teams of a membership, and agent pools.
fn bound<S: Store>(people: &People<S>, bounds: [i64; 4]) {
    let [teams, memberships, of_membership, pools] = bounds.map(Attribute::Value);
    let changes = GeneralSettingsChanges {
        teams_per_organization: teams,
        memberships_per_organization: memberships,
        teams_per_membership: of_membership,
        agent_pools_per_organization: pools,
        ..GeneralSettingsChanges::default()
    };
    let changed = people
        .orgs
        .change_general_settings(&changes, &installation());
    changed.unwrap();
}

#[test]
fn an_organization_has_no_more_teams_than_its_bound() {
    let (people, store) = people();
    bound(&people, [3, 100, 100, 100]);
    let ops = people.team("ops", &[]);
    people.team("dev", &[]);
    let before = store.values();
    let refused = people.create_team(&team_changes("qa", &[]), &owner());
    assert_eq!(refused, Err(TeamError::TooManyTeams(3)));
    assert_eq!(store.values(), before);
    people.delete_team(&ops.id, &owner()).unwrap();
    people.team("qa", &[]);
    let refused = people.create_team(&team_changes("ops", &[]), &owner());
    assert_eq!(refused, Err(TeamError::TooManyTeams(3)));
}

#[test]
fn an_organization_has_no_more_memberships_than_its_bound_invitations_among_them() {
    let (people, store) = people();
    bound(&people, [100, 3, 100, 100]);
    let (ada, _) = people.member("ada", &[]);
    let guest = people.invite("guest@example.com", &[]).unwrap();
    let before = store.values();
    let refused = people.invite("eve@example.com", &[]);
    assert_eq!(refused, Err(MembershipError::TooMany(3)));
    assert_eq!(store.values(), before);
    // Each way in which one of them ends makes room for another.
    people.remove(&ada.id, &owner()).unwrap();
    people.invite("eve@example.com", &[]).unwrap();
    let (user, _) = people.user("guest");
    people.orgs.leave(&guest.id, &by(&user)).unwrap();
    people.invite("zoe@example.com", &[]).unwrap();
    let refused = people.invite("bob@example.com", &[]);
    assert_eq!(refused, Err(MembershipError::TooMany(3)));
}

#[test]
fn a_membership_has_no_more_teams_than_its_bound() {
    let (people, store) = people();
    bound(&people, [100, 100, 2, 100]);
    let teams = ["a", "b", "c"].map(|name| people.team(name, &[]).id);
    let [a, b, c] = teams.each_ref().map(String::as_str);
    let before = store.values();
    let refused = people.invite("ada@example.com", &[a, b, c]);
    assert_eq!(refused, Err(MembershipError::TooManyTeams(2)));
    assert_eq!(store.values(), before);
    let (ada, _) = people.member("ada", &[a]);
    let (bob, _) = people.member("bob", &[a, b]);
    let both = membership_ids(&[&ada, &bob]);
    let before = store.values();
    let refused = people.join(c, &both, &owner());
    assert_eq!(refused, Err(TeamError::TooManyTeamsOfMember(2)));
    assert_eq!(store.values(), before);
    assert_eq!(people.join(c, &membership_ids(&[&ada]), &owner()), Ok(()));
    people.delete_team(a, &owner()).unwrap();
    assert_eq!(people.join(c, &both, &owner()), Ok(()));
}

#[test]
fn an_organization_has_no_more_agent_pools_than_its_bound() {
    let (people, _) = people();
    bound(&people, [100, 100, 100, 1]);
    let create = |name: &str| {
        let changes = AgentPoolChanges {
            name: text(name),
            ..AgentPoolChanges::default()
        };
        people
            .orgs
            .create_agent_pool(people.id(), &changes, &installation())
    };
    let pool = create("one").unwrap();
    assert_eq!(create("two"), Err(AgentPoolError::TooMany(1)));
    let deleted = people
        .orgs
        .delete_agent_pool(people.id(), &pool.id, &installation());
    assert_eq!(deleted, Ok(true));
    create("two").unwrap();
}

#[test]
fn bounds_can_be_set_as_far_as_an_instance_has_room() {
    let (people, _) = people();
    let set = |teams: Attribute<i64>| {
        let changes = GeneralSettingsChanges {
            teams_per_organization: teams,
            ..GeneralSettingsChanges::default()
        };
        let changed = people
            .orgs
            .change_general_settings(&changes, &installation());
        changed.map(|settings| settings.bounds.teams_per_organization)
    };
    let highest = Bounds::HIGHEST.teams_per_organization;
    let refused = |fault| {
        let issues = vec![issue("teams-per-organization", fault)];
        Err(gatehouse_orgs::ChangeError::Invalid(issues))
    };
    assert_eq!(set(Attribute::Value(i64::from(highest))), Ok(highest));
    let above = Attribute::Value(i64::from(highest) + 1);
    assert_eq!(set(above), refused(Fault::TooLarge(highest)));
    assert_eq!(set(Attribute::Value(0)), refused(Fault::NotPositive));
    assert_eq!(set(Attribute::WrongType), refused(Fault::NotInteger));
    let usual = Bounds::default().teams_per_organization;
    assert_eq!(set(Attribute::Null), Ok(usual));
}

/// So many teams and memberships that name all of them, written as a release before the bounds could.
fn overfull(people: &People<Stored>, store: Stored, teams: usize, members: usize) -> Vec<String> {
    let id = people.id();
    let whose = |owned: &str| (format!("whose/{owned}"), json!({"organization": id}));
    let teams: Vec<String> = (0..teams)
        .map(|number| format!("team-{number:016}"))
        .collect();
    for team in &teams {
        let record = json!({
            "id": team,
            "name": team,
            "created_at": 0,
            "visibility": "organization",
            "rights": [],
            "sso_team_id": null,
            "allow_member_token_management": true,
        });
        store_records(
            store,
            [whose(team), (format!("of/{id}/team/{team}"), record)],
        );
    }
    for number in 0..members {
        let membership = format!("ou-{number:016}");
        let user = format!("user-{number:016}");
        let record = json!({
            "id": membership,
            "user": user,
            "email": format!("{number}@example.com"),
            "status": "active",
            "teams": teams,
            "created_at": 0,
        });
        let all = [
            whose(&membership),
            (format!("of/{id}/membership/{membership}"), record),
            (format!("of/{id}/member/{user}"), json!({"id": membership})),
        ];
        store_records(store, all);
    }
    teams
}

#[test]
fn an_organization_beyond_its_bounds_is_read_and_gets_rid_of_a_team_part_by_part() {
    let (people, store) = people();
    // Before the records that tell numbers and owners.
    let teams = overfull(&people, store, 120, 1_700);
    bound(&people, [100, 1_000, 50, 100]);
    let gone = &teams[7];
    people.delete_team(gone, &owner()).unwrap();
    let mark = format!("removed-team/{gone}");
    assert!(store.keys().contains(&mark));
    // It is gone at once, also where memberships still name it.
    let page = people
        .orgs
        .list_memberships(
            people.id(),
            &gatehouse_orgs::MembershipFilter::default(),
            Relations::default(),
            &owner(),
            17,
            100,
        )
        .unwrap();
    assert_eq!((page.total, page.memberships.len()), (1_701, 100));
    for membership in &page.memberships {
        assert_eq!((membership.teams_told, membership.teams.len()), (true, 119));
    }
    let owners = people
        .orgs
        .oversee(&[people.id().to_owned()])
        .unwrap()
        .owners;
    assert_eq!(owners[0].len(), 1);
    let mut rounds = 0;
    while store.keys().contains(&mark) {
        let commits = store.commits();
        people.orgs.clear_teams_away().unwrap();
        assert!(store.commits() - commits < 10);
        rounds += 1;
        assert!(rounds < 20);
    }
    assert!(!is_named(&store, gone));
    // Nothing is added, and everything can be removed.
    let refused = people.create_team(&team_changes("qa", &[]), &owner());
    assert_eq!(refused, Err(TeamError::TooManyTeams(100)));
    let refused = people.invite("eve@example.com", &[]);
    assert_eq!(refused, Err(MembershipError::TooMany(1_000)));
    people.remove("ou-0000000000000000", &owner()).unwrap();
    people.orgs.delete_named("acme", &installation()).unwrap();
    for _ in 0..20 {
        people.orgs.clear_removed_away().unwrap();
    }
    assert!(!store.keys().iter().any(|key| key.starts_with("of/")));
}

#[test]
fn a_list_of_teams_with_many_members_leaves_out_who_they_are() {
    let (people, store) = people();
    let members = gatehouse_orgs::MAXIMUM_MEMBERS_TOLD / 20 + 1;
    let teams = overfull(&people, store, 20, members);
    let filter = gatehouse_orgs::TeamFilter::default();
    let list = |size| {
        let page = people.orgs.list_teams(
            people.id(),
            &filter,
            Relations::default(),
            &owner(),
            2,
            size,
        );
        page.unwrap().teams
    };
    for team in list(20).iter().chain(&list(10)) {
        let is_told = team.memberships.len() == members;
        assert_eq!(team.members_told, is_told);
        assert_eq!(team.users.len(), team.memberships.len());
        assert_eq!(team.users_count as usize, members);
    }
    let everybody = |page, size| {
        let page = people.orgs.list_teams(
            people.id(),
            &filter,
            Relations::default(),
            &owner(),
            page,
            size,
        );
        page.unwrap().teams
    };
    assert!(everybody(1, 100).iter().all(|team| !team.members_told));
    assert!(everybody(1, 5).iter().all(|team| team.members_told));
    let alone = people.read_team(&teams[0]);
    assert_eq!((alone.members_told, alone.users.len()), (true, members));
}

#[test]
fn upkeep_goes_on_behind_what_it_cannot_finish() {
    let (people, store) = people();
    let teams: Vec<String> = (0..3)
        .map(|n| people.team(&format!("t{n}"), &[]).id)
        .collect();
    let (ada, _) = people.member("ada", &[&teams[0], &teams[1], &teams[2]]);
    // Marks as a cut-off deletion leaves them, the first of which leads to what is damaged.
    let poisoned = create(&people.orgs, "poisoned").external_id;
    let records = Records::new(store);
    let damaged = format!("of/{poisoned}/membership/ou-0000000000000000");
    store_record(store, &damaged, json!({"id": "x"}));
    #[derive(serde::Serialize, serde::Deserialize)]
    struct Mark {
        organization: String,
    }
    impl gatehouse_storage::Record for Mark {
        const SCHEMA: u16 = 1;
    }
    let mark = |id: &str, organization: &str| {
        let organization = organization.to_owned();
        let mut transaction = Transaction::new();
        let key = format!("removed-team/{id}");
        transaction.put(key, &Mark { organization }).unwrap();
        records.commit(transaction).unwrap();
    };
    mark("team-0000000000000000", &poisoned);
    mark(&teams[1], people.id());
    let told = people.orgs.clear_teams_away();
    assert!(matches!(told, Err(ServiceError::Damaged(_))));
    let teams_of = |membership: &Membership| {
        let key = format!("of/{}/membership/{}", people.id(), membership.id);
        stored_record(store, &key)["teams"].take()
    };
    assert_eq!(teams_of(&ada).as_array().map(Vec::len), Some(2));
    // Where a round was cut off in the middle of the one that is damaged, the next one begins behind it.
    mark(&teams[2], people.id());
    let mut transaction = Transaction::new();
    #[derive(serde::Serialize, serde::Deserialize)]
    struct Turn {
        name: String,
    }
    impl gatehouse_storage::Record for Turn {
        const SCHEMA: u16 = 1;
    }
    let name = "team-0000000000000000".to_owned();
    transaction
        .put("upkeep/removed-team/", &Turn { name })
        .unwrap();
    records.commit(transaction).unwrap();
    assert!(people.orgs.clear_teams_away().is_err());
    assert_eq!(teams_of(&ada), json!([teams[0]]));
}
