//! Several entities become one (contract 7.2).

use crate::server::Server;
use gatehouse_access::{
    AdmissionError, AliasRequest, Entities as _, EntityAliases as _, EntityChanges, EntityView,
    GroupAliases as _, GroupChanges, GroupType, Groups as _, IdentityError, IdentityReference,
    IdentityTarget, Issued, Logins as _, MergeRequest, Operation, Policies as _, TokenParameters,
};

const READ_A: &str = "path \"a\" { capabilities = [\"read\"] }";

fn log_in_at(server: &Server, mount: &str, alias: &str, groups: &[&str]) -> Issued {
    let mut grant = server.grant_at(mount, alias, TokenParameters::default());
    grant.group_aliases = Some(groups.iter().map(|&it| it.to_owned()).collect());
    server.access.issue_login(&grant).ok().unwrap()
}

fn entity_of(issued: &Issued) -> String {
    issued.grant.entity_id.clone().unwrap()
}

fn read(server: &Server, id: &str) -> Option<EntityView> {
    let entity = server.access.read_entity(&IdentityReference::Id(id.into()));
    entity.unwrap()
}

fn request(from: &[&str], to: &str, keep: &[&str]) -> MergeRequest {
    let owned = |ids: &[&str]| ids.iter().map(|&id| id.to_owned()).collect();
    MergeRequest {
        from_entity_ids: owned(from),
        to_entity_id: to.to_owned(),
        alias_ids_to_keep: owned(keep),
    }
}

fn internal(server: &Server, name: &str, members: &[&str], policies: &[&str]) -> String {
    let owned = |names: &[&str]| Some(names.iter().map(|&it| it.to_owned()).collect());
    let changes = GroupChanges {
        policies: owned(policies),
        member_entity_ids: owned(members),
        ..GroupChanges::default()
    };
    let target = &IdentityTarget::Name(name.into());
    server.access.write_group(target, &changes).unwrap().id
}

fn external(server: &Server, name: &str, mount: &str) -> String {
    let changes = GroupChanges {
        group_type: Some(GroupType::External),
        ..GroupChanges::default()
    };
    let unique = format!("{name}-at-{}", mount.replace('/', ""));
    let target = &IdentityTarget::Name(unique.clone());
    let group = server.access.write_group(target, &changes).unwrap().id;
    let alias = AliasRequest {
        name: Some(name.to_owned()),
        mount_accessor: Some(server.mount(mount).accessor),
        canonical_id: Some(group.clone()),
        ..AliasRequest::default()
    };
    server.access.write_group_alias(&alias).unwrap();
    group
}

fn members(server: &Server, group: &str) -> Vec<String> {
    let group = server
        .access
        .read_group(&IdentityReference::Id(group.into()));
    group.unwrap().unwrap().member_entity_ids
}

fn make(server: &Server) -> String {
    let changes = EntityChanges::default();
    let made = server.access.write_entity(&IdentityTarget::New, &changes);
    made.unwrap().id
}

fn keys(server: &Server, prefix: &str) -> usize {
    let keys = server.store.keys();
    keys.iter().filter(|it| it.starts_with(prefix)).count()
}

#[test]
fn aliases_and_memberships_go_over_and_tokens_follow_in_one_commit() {
    let server = Server::ready();
    server.enable("other");
    let theirs = external(&server, "folder-1", "other/");
    let stays = log_in_at(&server, "gcp/", "1", &[]);
    let goes = log_in_at(&server, "other/", "1", &["folder-1"]);
    let (to, from) = (entity_of(&stays), entity_of(&goes));
    server.access.write_policy("p", READ_A).unwrap();
    let changes = EntityChanges {
        policies: Some(vec!["p".to_owned()]),
        metadata: Some([("k".to_owned(), "v".to_owned())].into()),
        ..EntityChanges::default()
    };
    server
        .access
        .write_entity(&IdentityTarget::Id(to.clone()), &changes)
        .unwrap();
    let ours = internal(&server, "ours", &[&from], &[]);
    let token = goes.client_token.as_str();
    assert_eq!(
        server.admit(token, Operation::Read, "a"),
        Err(AdmissionError::Denied)
    );

    let commits = server.store.commits();
    server
        .access
        .merge_entities(&request(&[&from, &from], &to, &["ignored"]))
        .unwrap();
    assert_eq!(server.store.commits() - commits, 1);

    let merged = read(&server, &to).unwrap();
    assert_eq!(merged.merged_entity_ids, vec![from.clone()]);
    assert_eq!(merged.policies, ["p"]);
    assert_eq!(merged.metadata, [("k".to_owned(), "v".to_owned())]);
    let origins: Vec<_> = merged
        .aliases
        .iter()
        .map(|alias| {
            (
                alias.canonical_id == to,
                alias.merged_from_canonical_ids.len(),
            )
        })
        .collect();
    assert_eq!(origins, [(true, 0), (true, 1)]);
    let mut groups = vec![theirs.clone(), ours.clone()];
    groups.sort_unstable();
    assert_eq!(merged.direct_group_ids, groups);
    for group in [&theirs, &ours] {
        assert_eq!(members(&server, group), vec![to.clone()]);
    }
    assert_eq!(keys(&server, "group-member/"), 2);
    assert_eq!(read(&server, &from), None);

    assert!(server.admit(token, Operation::Read, "a").is_ok());
    let again = log_in_at(&server, "other/", "1", &[]);
    assert_eq!(entity_of(&again), to);
    assert_eq!(members(&server, &theirs), Vec::<String>::new());
    // The name of the entity that is gone is free, and its identifier leads nowhere.
    assert_eq!(keys(&server, "entity-name/"), 1);
}

#[test]
fn s7_a_login_follows_its_alias_to_another_entity_whatever_the_instance_has_read() {
    let server = Server::ready();
    let other = server.another_instance();
    let first = log_in_at(&server, "gcp/", "1", &[]);
    // The instance expects the entity of the alias where it was.
    log_in_at(&server, "gcp/", "1", &[]);
    let to = make(&server);
    other
        .merge_entities(&request(&[&entity_of(&first)], &to, &[]))
        .unwrap();
    assert_eq!(entity_of(&log_in_at(&server, "gcp/", "1", &[])), to);
    assert_eq!(entity_of(&log_in_at(&server, "gcp/", "1", &[])), to);
}

#[test]
fn tokens_of_merged_entities_follow_further_merges_and_end_with_the_last_entity() {
    let server = Server::ready();
    server.enable("other");
    let first = log_in_at(&server, "other/", "1", &[]);
    let token = first.client_token.as_str();
    let (second, third) = (make(&server), make(&server));
    let access = &server.access;
    access.write_policy("p", READ_A).unwrap();
    let set = |id: &str, disabled| {
        let changes = EntityChanges {
            policies: Some(vec!["p".to_owned()]),
            disabled: Some(disabled),
            ..EntityChanges::default()
        };
        access
            .write_entity(&IdentityTarget::Id(id.into()), &changes)
            .unwrap();
    };
    set(&third, false);
    access
        .merge_entities(&request(&[&entity_of(&first)], &second, &[]))
        .unwrap();
    assert_eq!(
        server.admit(token, Operation::Read, "a"),
        Err(AdmissionError::Denied)
    );
    access
        .merge_entities(&request(&[&second], &third, &[]))
        .unwrap();
    assert!(server.admit(token, Operation::Read, "a").is_ok());
    let view = read(&server, &third).unwrap();
    assert_eq!(view.merged_entity_ids, [entity_of(&first), second.clone()]);
    set(&third, true);
    assert_eq!(
        server.admit(token, Operation::Read, "a"),
        Err(AdmissionError::EntityUnusable)
    );
    set(&third, false);
    access
        .delete_entity(&IdentityReference::Id(third.clone()))
        .unwrap();
    assert_eq!(
        server.admit(token, Operation::Read, "a"),
        Err(AdmissionError::EntityUnusable)
    );
    assert_eq!(keys(&server, "entity"), 0);
}

#[test]
fn of_clashing_aliases_the_one_that_is_named_stays() {
    let server = Server::ready();
    let group = external(&server, "g", "gcp/");
    let stays = log_in_at(&server, "gcp/", "1", &["g"]);
    let goes = log_in_at(&server, "gcp/", "2", &[]);
    let (to, from) = (entity_of(&stays), entity_of(&goes));
    let alias = |id: &str| read(&server, id).unwrap().aliases.remove(0).id;
    let (old, new) = (alias(&to), alias(&from));
    let before = server.store.keys();
    let accessor = server.mount("gcp/").accessor;
    for keep in [&[][..], &["nobody"], &[&old, &new]] {
        assert_eq!(
            server.access.merge_entities(&request(&[&from], &to, keep)),
            Err(IdentityError::ClashingAliases(accessor.clone()))
        );
    }
    assert_eq!(server.store.keys(), before);
    assert!(read(&server, &from).is_some());

    server
        .access
        .merge_entities(&request(&[&from], &to, &[&new]))
        .unwrap();
    let view = read(&server, &to).unwrap();
    assert_eq!(view.aliases.len(), 1);
    assert_eq!(view.aliases[0].id, new);
    assert_eq!(server.access.read_entity_alias(&old), Ok(None));
    for prefix in ["alias/", "alias-metadata/", "alias-id/"] {
        assert_eq!(keys(&server, prefix), 1, "{prefix}");
    }
    // It was the old alias that brought the entity there.
    assert_eq!(members(&server, &group), Vec::<String>::new());
    assert_eq!(keys(&server, "group-member/"), 0);
    assert_eq!(entity_of(&log_in_at(&server, "gcp/", "2", &[])), to);
}

#[test]
fn merges_that_cannot_be_store_nothing() {
    let server = Server::ready();
    let (to, from) = (make(&server), make(&server));
    let missing = "00000000-0000-0000-0000-000000000000";
    let before = server.store.keys();
    let refused = |from: &[&str], to: &str| {
        let merged = server.access.merge_entities(&request(from, to, &[]));
        assert_eq!(server.store.keys(), before);
        merged.unwrap_err()
    };
    use IdentityError::{MergeTooLarge, MergedIntoItself, UnknownEntity, UnknownMergedEntity};
    assert_eq!(refused(&[&from, &to], &to), MergedIntoItself);
    for missing in [missing, "", "../x"] {
        assert_eq!(refused(&[&from], missing), UnknownEntity);
        assert_eq!(refused(&[&from, missing], &to), UnknownMergedEntity);
    }
    let many: Vec<String> = (0..341).map(|at| format!("{at:036x}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(refused(&many, &to), MergeTooLarge(340));
}

#[test]
fn an_entity_consists_of_a_bounded_number_of_entities() {
    let server = Server::ready();
    let to = make(&server);
    let ids: Vec<String> = (0..341).map(|_| make(&server)).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let merge = |from| server.access.merge_entities(&request(from, &to, &[]));
    merge(&ids[..340]).unwrap();
    assert_eq!(merge(&ids[340..]), Err(IdentityError::MergeTooLarge(340)));
    assert_eq!(keys(&server, "entity-merged/"), 340);
    server
        .access
        .delete_entity(&IdentityReference::Id(to.clone()))
        .unwrap();
    assert_eq!(keys(&server, "entity-merged/"), 0);
}

#[test]
fn concurrent_merges_of_one_entity_into_two_end_in_one_of_them() {
    for _ in 0..20 {
        let server = Server::ready();
        let from = entity_of(&log_in_at(&server, "gcp/", "1", &[]));
        let targets = [make(&server), make(&server)];
        let merged: Vec<bool> = std::thread::scope(|scope| {
            let merges = targets.each_ref().map(|to| {
                let access = server.another_instance();
                let from = &from;
                scope.spawn(move || access.merge_entities(&request(&[from], to, &[])).is_ok())
            });
            merges.into_iter().map(|it| it.join().unwrap()).collect()
        });
        for (to, merged) in targets.iter().zip(&merged) {
            let aliases = read(&server, to).unwrap().aliases.len();
            assert_eq!(aliases, usize::from(*merged));
        }
        assert_eq!(merged.iter().filter(|it| **it).count(), 1);
        assert_eq!(keys(&server, "entity-merged/"), 1);
    }
}

#[test]
fn tokens_of_a_disabled_entity_do_not_come_to_life_by_a_merge() {
    let server = Server::ready();
    server.enable("other");
    let (oldest, source) = (
        log_in_at(&server, "other/", "1", &[]),
        log_in_at(&server, "gcp/", "2", &[]),
    );
    let access = &server.access;
    access.write_policy("p", READ_A).unwrap();
    let target = make(&server);
    let set = |id: &str, disabled| {
        let changes = EntityChanges {
            policies: Some(vec!["p".to_owned()]),
            disabled: Some(disabled),
            ..EntityChanges::default()
        };
        let entity = &IdentityTarget::Id(id.into());
        access.write_entity(entity, &changes).unwrap();
    };
    set(&target, false);
    let (oldest_id, source_id) = (entity_of(&oldest), entity_of(&source));
    let merge = |from: &str, to: &str| access.merge_entities(&request(&[from], to, &[]));
    merge(&oldest_id, &source_id).unwrap();
    set(&source_id, true);
    merge(&source_id, &target).unwrap();
    for token in [&oldest, &source] {
        let token = token.client_token.as_str();
        assert_eq!(
            server.admit(token, Operation::Read, "a"),
            Err(AdmissionError::EntityUnusable)
        );
    }
    let view = read(&server, &target).unwrap();
    assert_eq!(view.merged_entity_ids, [oldest_id, source_id]);
    assert_eq!(view.aliases.len(), 2);
    // A new login by one of its aliases is the entity that stays.
    let again = log_in_at(&server, "gcp/", "2", &[]);
    assert_eq!(entity_of(&again), target);
}
