//! Groups that logins and renewals fill, and what follows for tokens (contract 7.3).

use crate::server::{Server, policies};
use gatehouse_access::{
    AccessService, AdmissionError, AliasRequest, Capability, Entities as _, EntityAliases as _,
    EntityChanges, GroupAliases as _, GroupChanges, GroupType, Groups as _, IdentityReference,
    IdentityTarget, Issued, LoginError, Logins as _, Operation, Policies as _, RenewError,
    Renewal as _, Requests as _, Revalidated, TokenLookup as _, TokenParameters,
};
use gatehouse_ports::doubles::CountingStore;

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// An external group with policies, and an alias of its own name at a mount.
fn external(server: &Server, name: &str, mount: &str, its_policies: &[&str]) -> String {
    let changes = GroupChanges {
        group_type: Some(GroupType::External),
        policies: Some(names(its_policies)),
        ..GroupChanges::default()
    };
    let unique = format!("{name}-at-{}", mount.replace('/', ""));
    let group = server
        .access
        .write_group(&IdentityTarget::Name(unique.clone()), &changes)
        .unwrap();
    let request = AliasRequest {
        name: Some(name.to_owned()),
        mount_accessor: Some(server.mount(mount).accessor),
        canonical_id: Some(group.id.clone()),
        ..AliasRequest::default()
    };
    server.access.write_group_alias(&request).unwrap();
    group.id
}

fn internal(server: &Server, name: &str, its_policies: &[&str], changes: GroupChanges) -> String {
    let changes = GroupChanges {
        policies: Some(names(its_policies)),
        ..changes
    };
    let target = &IdentityTarget::Name(name.into());
    server.access.write_group(target, &changes).unwrap().id
}

fn log_in(server: &Server, groups: Option<&[&str]>) -> Issued {
    let mut grant = server.grant("1234", TokenParameters::default());
    grant.group_aliases = groups.map(names);
    server.access.issue_login(&grant).ok().unwrap()
}

fn direct_groups(server: &Server, issued: &Issued) -> Vec<String> {
    let id = issued.grant.entity_id.as_deref().unwrap();
    let entity = server.access.read_entity(&IdentityReference::Id(id.into()));
    entity.unwrap().unwrap().direct_group_ids
}

fn members(server: &Server, group: &str) -> Vec<String> {
    let group = server
        .access
        .read_group(&IdentityReference::Id(group.into()));
    group.unwrap().unwrap().member_entity_ids
}

fn sorted(mut ids: Vec<String>) -> Vec<String> {
    ids.sort_unstable();
    ids
}

#[test]
fn contract_7_3_a_login_joins_the_groups_it_names_and_leaves_the_others_of_its_mount() {
    let server = Server::ready();
    server.enable("other");
    let folder = external(&server, "folder-1", "gcp/", &["in-folder"]);
    let project = external(&server, "project-p", "gcp/", &["in-project"]);
    let elsewhere = external(&server, "folder-1", "other/", &["elsewhere"]);

    let first = log_in(&server, Some(&["folder-1", "project-p", "organization-9"]));
    assert_eq!(first.grant.identity_policies, ["in-folder", "in-project"]);
    assert_eq!(
        first.grant.policies,
        ["default", "in-folder", "in-project"],
        "token and identity policies"
    );
    let entity = first.grant.entity_id.clone().unwrap();
    let own = internal(
        &server,
        "own",
        &["own"],
        GroupChanges {
            member_entity_ids: Some(vec![entity.clone()]),
            ..GroupChanges::default()
        },
    );
    assert_eq!(
        direct_groups(&server, &first),
        sorted(vec![folder.clone(), project.clone(), own.clone()])
    );
    assert_eq!(members(&server, &folder), [entity.as_str()]);

    let second = log_in(&server, Some(&["project-p"]));
    assert_eq!(second.grant.identity_policies, ["in-project", "own"]);
    assert_eq!(
        direct_groups(&server, &second),
        sorted(vec![project.clone(), own.clone()])
    );
    assert!(members(&server, &folder).is_empty());
    assert!(members(&server, &elsewhere).is_empty());
    // Membership belongs to the entity, so the first token has lost the policy as well.
    let view = server.access.lookup_token(&first.reference()).unwrap();
    assert_eq!(view.identity_policies, ["in-project", "own"]);

    let none = log_in(&server, Some(&[]));
    assert_eq!(none.grant.identity_policies, ["own"]);
    assert!(members(&server, &project).is_empty());
    let keys = server.store.keys();
    let index: Vec<_> = keys
        .iter()
        .filter(|it| it.starts_with("group-member/"))
        .collect();
    assert_eq!(index, [&format!("group-member/{own}/{entity}")]);
}

#[test]
fn contract_7_3_memberships_of_other_mounts_stay() {
    let server = Server::ready();
    server.enable("other");
    external(&server, "g", "gcp/", &["here"]);
    external(&server, "g", "other/", &["there"]);
    let issued = log_in(&server, Some(&["g"]));
    let request = AliasRequest {
        name: Some("5678".to_owned()),
        mount_accessor: Some(server.mount("other/").accessor),
        canonical_id: issued.grant.entity_id.clone(),
        ..AliasRequest::default()
    };
    server.access.write_entity_alias(&request).unwrap();
    let mount = server.mount("other/");
    let mut grant = server.grant("5678", TokenParameters::default());
    (grant.mount_id, grant.mount_path) = (mount.id, mount.path);
    grant.group_aliases = Some(names(&["g"]));
    let there = server.access.issue_login(&grant).ok().unwrap();
    assert_eq!(there.grant.entity_id, issued.grant.entity_id);
    assert_eq!(there.grant.identity_policies, ["here", "there"]);
    let here = log_in(&server, Some(&[]));
    assert_eq!(here.grant.identity_policies, ["there"]);
}

#[test]
fn contract_7_3_a_login_that_says_nothing_about_groups_keeps_them_and_writes_nothing() {
    let server = Server::ready();
    external(&server, "g", "gcp/", &["p"]);
    log_in(&server, Some(&["g"]));
    let versions = |server: &Server| {
        let keys = server.store.keys();
        let of_token = ["token/", "accessor/", "quota/"];
        let identity = |key: &&String| !of_token.iter().any(|it| key.starts_with(it));
        keys.iter().filter(identity).count()
    };
    let before = (versions(&server), server.store.commits());
    let silent = log_in(&server, None);
    assert_eq!(silent.grant.identity_policies, ["p"]);
    let same = log_in(&server, Some(&["g", "g", "unknown"]));
    assert_eq!(same.grant.identity_policies, ["p"]);
    assert_eq!(
        (versions(&server), server.store.commits()),
        (before.0, before.1 + 2)
    );
}

#[test]
fn groups_cost_a_login_one_read_and_only_those_who_are_in_some() {
    let server = Server::ready();
    let group = external(&server, "g", "gcp/", &["p"]);
    for number in 0..50 {
        external(&server, &format!("other{number}"), "gcp/", &["p"]);
    }
    let store = CountingStore::new(server.store);
    let access = AccessService::new(&store, server.clock, server.random);
    let reads = |groups: Option<&[&str]>| {
        let mut grant = server.grant("1234", TokenParameters::default());
        grant.group_aliases = groups.map(names);
        store.take_counts();
        access.issue_login(&grant).ok().unwrap();
        store.take_counts().calls().0
    };
    // The first read ever is that of the server's secret.
    assert_eq!(reads(None), 2, "a new identity: mount and alias");
    assert_eq!(reads(None), 2, "a known one: its entity as well");
    let again = "one that the instance knows: its entity at the same time";
    assert_eq!(reads(Some(&["none", "of", "them"])), 1, "{again}");
    assert_eq!(reads(Some(&["g"])), 2);
    assert_eq!(reads(None), 2);
    let changes = GroupChanges {
        member_group_ids: Some(vec![group]),
        ..GroupChanges::default()
    };
    internal(&server, "above", &[], changes);
    assert_eq!(reads(None), 3, "one more for each level above");
}

#[test]
fn group_policies_decide_requests_and_capabilities_at_once() {
    let server = Server::ready();
    let policy = |name: &str, text: &str| server.access.write_policy(name, text).unwrap();
    policy("of-group", "path \"a\" { capabilities = [\"read\"] }");
    policy("of-parent", "path \"b\" { capabilities = [\"read\"] }");
    let group = external(&server, "g", "gcp/", &["of-group"]);
    let issued = log_in(&server, Some(&["g"]));
    let token = issued.client_token.as_str();
    assert!(server.admit(token, Operation::Read, "a").is_ok());
    assert_eq!(
        server.admit(token, Operation::Read, "b"),
        Err(AdmissionError::Denied)
    );
    let parent = internal(
        &server,
        "parent",
        &["of-parent"],
        GroupChanges {
            member_group_ids: Some(vec![group.clone()]),
            ..GroupChanges::default()
        },
    );
    assert!(server.admit(token, Operation::Read, "b").is_ok());
    let capabilities = server
        .access
        .capabilities(&issued.reference(), &names(&["a", "b", "c"]));
    let read = vec![Capability::Read];
    assert_eq!(
        capabilities.unwrap(),
        [read.clone(), read, vec![Capability::Deny]]
    );
    let id = issued.grant.entity_id.as_deref().unwrap();
    let entity = server.access.read_entity(&IdentityReference::Id(id.into()));
    assert_eq!(entity.unwrap().unwrap().inherited_group_ids, [parent]);

    // A group that is gone gives nothing, from the next request on.
    assert!(
        server
            .access
            .delete_group(&IdentityReference::Id(group.clone()))
            .unwrap()
    );
    for path in ["a", "b"] {
        assert_eq!(
            server.admit(token, Operation::Read, path),
            Err(AdmissionError::Denied)
        );
    }
    let keys = server.store.keys();
    assert!(!keys.iter().any(|key| key.contains(&group)));
    assert!(!keys.iter().any(|key| key.starts_with("group-alias")));
    let again = log_in(&server, Some(&["g"]));
    assert!(again.grant.identity_policies.is_empty());
}

#[test]
fn a_changed_or_removed_alias_ends_the_memberships_it_brought() {
    let server = Server::ready();
    let group = external(&server, "g", "gcp/", &["p"]);
    let issued = log_in(&server, Some(&["g"]));
    let view = server
        .access
        .read_group(&IdentityReference::Id(group.clone()));
    let alias = view.unwrap().unwrap().alias.unwrap();
    let renamed = AliasRequest {
        id: Some(alias.id.clone()),
        name: Some("h".to_owned()),
        ..AliasRequest::default()
    };
    server.access.write_group_alias(&renamed).unwrap();
    assert!(direct_groups(&server, &issued).is_empty());
    assert!(members(&server, &group).is_empty());
    assert!(log_in(&server, None).grant.identity_policies.is_empty());
    assert_eq!(log_in(&server, Some(&["h"])).grant.identity_policies, ["p"]);
    assert!(server.access.delete_group_alias(&alias.id).unwrap());
    assert!(log_in(&server, None).grant.identity_policies.is_empty());
}

#[test]
fn an_entity_that_a_mount_no_longer_knows_leaves_the_groups_of_that_mount() {
    let server = Server::ready();
    let group = external(&server, "g", "gcp/", &["p"]);
    for rename in [true, false] {
        let issued = log_in(&server, Some(&["g"]));
        let id = issued.grant.entity_id.as_deref().unwrap();
        let entity = server.access.read_entity(&IdentityReference::Id(id.into()));
        let alias = entity.unwrap().unwrap().aliases[0].id.clone();
        if rename {
            let request = AliasRequest {
                id: Some(alias),
                name: Some("another".to_owned()),
                ..AliasRequest::default()
            };
            server.access.write_entity_alias(&request).unwrap();
        } else {
            assert!(server.access.delete_entity_alias(&alias).unwrap());
        }
        assert!(direct_groups(&server, &issued).is_empty());
        assert!(members(&server, &group).is_empty());
        let keys = server.store.keys();
        assert!(!keys.iter().any(|key| key.starts_with("group-member/")));
    }
}

#[test]
fn contract_4_10_a_renewal_recomputes_the_groups() {
    let server = Server::ready();
    external(&server, "a", "gcp/", &["pa"]);
    external(&server, "b", "gcp/", &["pb"]);
    let issued = log_in(&server, Some(&["a"]));
    let renew = |groups: Option<Vec<String>>| {
        let fresh = Revalidated {
            group_aliases: groups,
            ..Revalidated::default()
        };
        let reference = issued.reference();
        server.access.renew_token(&reference, 0, Some(&fresh))
    };
    assert_eq!(renew(None).unwrap().identity_policies, ["pa"]);
    assert_eq!(
        renew(Some(names(&["b"]))).unwrap().identity_policies,
        ["pb"]
    );
    let view = server.access.lookup_token(&issued.reference());
    assert_eq!(view.unwrap().identity_policies, ["pb"]);
    assert_eq!(
        renew(Some(vec![String::new(); 129])),
        Err(RenewError::TooManyGroupAliases(128))
    );
}

#[test]
fn more_group_aliases_than_an_ancestry_has_are_refused() {
    let server = Server::ready();
    let mut grant = server.grant("1234", policies(&[]));
    grant.group_aliases = Some(vec![String::new(); 129]);
    let before = server.store.keys();
    assert_eq!(
        server.access.issue_login(&grant).err(),
        Some(LoginError::TooManyGroupAliases(128))
    );
    assert_eq!(server.store.keys(), before);
}

#[test]
fn contract_7_1_a_disabled_entity_is_refused_at_once_and_a_deleted_one_as_well() {
    let server = Server::ready();
    let issued = server.log_in_with_policy("path \"a\" { capabilities = [\"read\"] }");
    let token = issued.client_token.as_str();
    let id = issued.grant.entity_id.as_deref().unwrap();
    let set = |disabled| {
        let changes = EntityChanges {
            disabled: Some(disabled),
            ..EntityChanges::default()
        };
        server
            .access
            .write_entity(&IdentityTarget::Id(id.into()), &changes)
            .unwrap();
    };
    assert!(server.admit(token, Operation::Read, "a").is_ok());
    set(true);
    assert_eq!(
        server.admit(token, Operation::Read, "a"),
        Err(AdmissionError::EntityUnusable)
    );
    let grant = server.grant("1234", TokenParameters::default());
    assert_eq!(
        server.access.issue_login(&grant).err(),
        Some(LoginError::EntityUnusable)
    );
    set(false);
    assert!(server.admit(token, Operation::Read, "a").is_ok());
    assert!(
        server
            .access
            .delete_entity(&IdentityReference::Id(id.into()))
            .unwrap()
    );
    assert_eq!(
        server.admit(token, Operation::Read, "a"),
        Err(AdmissionError::EntityUnusable)
    );
    let fresh = log_in(&server, None);
    assert_ne!(fresh.grant.entity_id.as_deref(), Some(id));
}

#[test]
fn concurrent_logins_end_in_the_membership_that_one_of_them_brought() {
    for _ in 0..20 {
        let server = Server::ready();
        let groups: Vec<String> = (0..16)
            .map(|number| external(&server, &format!("g{number}"), "gcp/", &["p"]))
            .collect();
        let entity = log_in(&server, None).grant.entity_id.unwrap();
        std::thread::scope(|scope| {
            for number in 0..16 {
                let mut grant = server.grant("1234", TokenParameters::default());
                let next = (number + 1) % 16;
                grant.group_aliases = Some(vec![format!("g{number}"), format!("g{next}")]);
                let access = server.another_instance();
                scope.spawn(move || access.issue_login(&grant).ok().unwrap());
            }
        });
        let view = server
            .access
            .read_entity(&IdentityReference::Id(entity.clone()));
        let direct = view.unwrap().unwrap().direct_group_ids;
        let brought = |number: usize| {
            let pair = vec![groups[number].clone(), groups[(number + 1) % 16].clone()];
            sorted(pair) == direct
        };
        assert!((0..16).any(brought), "{direct:?}");
        // The index says the same as the entity.
        for group in &groups {
            assert_eq!(!members(&server, group).is_empty(), direct.contains(group));
        }
        let keys = server.store.keys();
        let index = keys.iter().filter(|it| it.starts_with("group-member/"));
        assert_eq!(index.count(), 2);
    }
}

#[test]
fn nobody_joins_a_group_while_it_is_deleted() {
    for _ in 0..20 {
        let server = Server::ready();
        let group = external(&server, "g", "gcp/", &["p"]);
        log_in(&server, None);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let mut grant = server.grant("1234", TokenParameters::default());
                grant.group_aliases = Some(names(&["g"]));
                let access = server.another_instance();
                scope.spawn(move || access.issue_login(&grant).ok().unwrap());
            }
            let access = server.another_instance();
            let group = group.clone();
            scope.spawn(move || {
                access
                    .delete_group(&IdentityReference::Id(group.clone()))
                    .unwrap()
            });
        });
        let after = log_in(&server, None);
        assert!(after.grant.identity_policies.is_empty());
        assert!(direct_groups(&server, &after).is_empty());
    }
}
