//! Whose list has which organizations (contract 1.7, row 1).

use gatehouse_storage::Transaction;

use crate::directory::{self, Shape};
use crate::name::FoldedName;
use crate::record::organization_key;
use crate::search::{Barred, Matcher, Scope, Search};
use crate::world::*;
use crate::{Filter, Principal, Reach, User, UserDescription, Users, Viewer};

type TestOrgs<'w> = Orgs<&'w MemoryStore<&'w ManualClock>, &'w ManualClock, &'w SeededRandom>;

/// Splits leaves, and has something pending most of the time.
const SMALL: Shape = Shape {
    leaf: 2,
    pending: 3,
    writers_per_look: 1,
    step: 2,
    leaves_per_read: 3,
    leaves_per_batch: 2,
    parts: super::SMALL_PARTS,
};

fn person(orgs: &TestOrgs<'_>, name: &str) -> User {
    let description = UserDescription {
        username: name.to_owned(),
        email: format!("{name}@example.com"),
        site_administrator: false,
    };
    orgs.create_user(&description, &installation()).unwrap().0
}

fn create_as(orgs: &TestOrgs<'_>, user: &User, name: &str) -> Organization {
    let by = caller(Principal::User(user.clone()));
    orgs.create(&named(name), None, &by).unwrap().organization
}

/// The organizations that `viewer` sees, which are the same in pages and in batches.
fn seen(orgs: &TestOrgs<'_>, viewer: &Viewer, filter: &Filter) -> Vec<String> {
    let mut paged = Vec::new();
    for number in 1.. {
        let page = orgs.page_at(viewer, filter, number, 2);
        let page = page.unwrap();
        if page.organizations.is_empty() {
            assert_eq!(page.total, paged.len() as u64);
            break;
        }
        paged.extend(page.organizations.into_iter().map(|found| found.name));
    }
    let mut listed = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let batch = orgs.list(viewer, filter, after.as_deref(), 2);
        let batch = batch.unwrap();
        listed.extend(batch.organizations.into_iter().map(|found| found.name));
        after = batch.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(paged, listed);
    paged
}

fn all_of(orgs: &TestOrgs<'_>, viewer: &Viewer) -> Vec<String> {
    seen(orgs, viewer, &Filter::default())
}

fn reach(names: &[&str], prefixes: &[&str], user: Option<&User>) -> Viewer {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    Viewer::Workload(Reach {
        names: owned(names),
        prefixes: owned(prefixes),
        user: user.map(|user| user.id.clone()),
    })
}

fn disable(orgs: &TestOrgs<'_>, name: &str) {
    let name = FoldedName::fold(name).unwrap();
    let stored = orgs.load(&name).unwrap().unwrap();
    let mut record = stored.record.clone();
    record.disabled = true;
    let mut transaction = Transaction::new();
    transaction.put(organization_key(&name), &record).unwrap();
    let before = Some((&name, &stored.record));
    directory::note(&mut transaction, before, Some((&name, &record))).unwrap();
    orgs.records.commit(transaction).unwrap();
    orgs.directory().keep_up(&record.external_id);
}

#[test]
fn contract_1_7_a_user_sees_the_organizations_they_belong_to_in_order() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store).with_directory_shape(SMALL);
    let (ada, bob) = (person(&orgs, "ada"), person(&orgs, "bob"));
    for name in ["zeta", "Beta", "alpha", "gamma", "delta"] {
        create_as(&orgs, &ada, name);
    }
    create_as(&orgs, &bob, "bobs");
    let by_ada = Viewer::Member(ada.id.clone());
    let expected = ["alpha", "Beta", "delta", "gamma", "zeta"];
    assert_eq!(all_of(&orgs, &by_ada), expected);
    assert_eq!(all_of(&orgs, &Viewer::Member(bob.id)), ["bobs"]);
    for nobody in ["user-0000000000000000", "", "../x", "é"] {
        let nobody = Viewer::Member(nobody.to_owned());
        assert_eq!(all_of(&orgs, &nobody), [""; 0]);
    }
    let filter = Filter {
        name: Some("TA".to_owned()),
        ..Filter::default()
    };
    assert_eq!(seen(&orgs, &by_ada, &filter), ["Beta", "delta", "zeta"]);

    orgs.update_named("beta", &rename("omega"), &installation())
        .unwrap();
    assert_eq!(orgs.delete_named("delta", &installation()), Ok(true));
    assert_eq!(all_of(&orgs, &by_ada), ["alpha", "gamma", "omega", "zeta"]);
}

#[test]
fn contract_1_7_where_user_tokens_are_off_users_do_not_see_it_and_others_do() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store).with_directory_shape(SMALL);
    let ada = person(&orgs, "ada");
    let closed = create_as(&orgs, &ada, "closed");
    create_as(&orgs, &ada, "open");
    let changes = OrganizationChanges {
        user_tokens_enabled: Attribute::Value(false),
        ..OrganizationChanges::default()
    };
    orgs.update_named("closed", &changes, &installation())
        .unwrap();
    assert_eq!(all_of(&orgs, &Viewer::Member(ada.id.clone())), ["open"]);
    let both = ["closed", "open"];
    assert_eq!(all_of(&orgs, &Viewer::Everything), both);
    assert_eq!(all_of(&orgs, &reach(&[], &[], Some(&ada))), both);
    assert_eq!(all_of(&orgs, &reach(&["OPEN"], &[], Some(&ada))), both);
    assert_eq!(all_of(&orgs, &reach(&["OPEN"], &["cl"], None)), both);
    assert_eq!(all_of(&orgs, &Viewer::Only(closed.external_id)), ["closed"]);
}

#[test]
fn contract_1_7_a_disabled_organization_is_in_the_list_of_site_administrators_alone() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store).with_directory_shape(SMALL);
    let ada = person(&orgs, "ada");
    let mut made = Vec::new();
    for name in ["a", "b", "c", "d", "e"] {
        made.push(create_as(&orgs, &ada, name));
    }
    disable(&orgs, "b");
    disable(&orgs, "E");
    let all = ["a", "b", "c", "d", "e"];
    let enabled = ["a", "c", "d"];
    // Still pending; in a leaf; in a leaf that was built anew; under another name.
    for round in 0..4 {
        match round {
            1 => orgs.maintain().unwrap(),
            2 => {
                let root = gatehouse_ports::Change::Delete("directory/root".to_owned());
                store.commit(Vec::new(), vec![root]).unwrap();
            }
            3 => {
                let changes = rename("B");
                orgs.update_named("b", &changes, &installation()).unwrap();
            }
            _ => {}
        }
        let everything = all_of(&orgs, &Viewer::Everything);
        let everything: Vec<_> = everything.iter().map(|name| name.to_lowercase()).collect();
        assert_eq!(everything, all);
        assert_eq!(all_of(&orgs, &Viewer::Member(ada.id.clone())), enabled);
        assert_eq!(all_of(&orgs, &reach(&["b"], &[""], None)), enabled);
        assert_eq!(all_of(&orgs, &reach(&["b"], &["a"], Some(&ada))), enabled);
        assert_eq!(all_of(&orgs, &reach(&["b", "d"], &["e"], None)), ["d"]);
        for organization in &made {
            let seen = all_of(&orgs, &Viewer::Only(organization.external_id.clone()));
            let expected = enabled.contains(&organization.name.as_str());
            assert_eq!(seen.len(), usize::from(expected), "{organization:?}");
        }
    }
}

#[test]
fn contract_1_7_an_organization_s_own_token_sees_it_and_an_auditor_nothing() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store).with_directory_shape(SMALL);
    let acme = create(&orgs, "acme");
    create(&orgs, "globex");
    let own = Viewer::Only(acme.external_id.clone());
    assert_eq!(all_of(&orgs, &own), ["acme"]);
    let wanted = |text: &str| Filter {
        name_or_email: Some(text.to_owned()),
        ..Filter::default()
    };
    assert_eq!(seen(&orgs, &own, &wanted("OPS@")), ["acme"]);
    assert_eq!(seen(&orgs, &own, &wanted("globex")), [""; 0]);
    assert_eq!(all_of(&orgs, &Viewer::Nothing), [""; 0]);
    for none in ["", "org-", "org-0000000000000000", "org-/../globex", "é"] {
        assert_eq!(all_of(&orgs, &Viewer::Only(none.to_owned())), [""; 0]);
    }
    assert_eq!(orgs.delete_named("acme", &installation()), Ok(true));
    create(&orgs, "acme");
    assert_eq!(all_of(&orgs, &own), [""; 0]);
}

#[test]
fn a_service_token_sees_what_its_policies_name_and_where_its_user_belongs() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store).with_directory_shape(SMALL);
    let robot = person(&orgs, "robot");
    for name in ["mine", "team-a"] {
        create_as(&orgs, &robot, name);
    }
    for name in ["team-b", "Team-c", "tea", "other"] {
        create(&orgs, name);
    }
    let teams = ["team-a", "team-b", "Team-c"];
    assert_eq!(all_of(&orgs, &reach(&[], &["TEAM-"], None)), teams);
    assert_eq!(
        all_of(
            &orgs,
            &reach(&["Other", "gone", "team-b"], &["team-"], Some(&robot))
        ),
        ["mine", "other", "team-a", "team-b", "Team-c"]
    );
    assert_eq!(
        all_of(&orgs, &reach(&[], &[], Some(&robot))),
        ["mine", "team-a"]
    );
    assert_eq!(all_of(&orgs, &reach(&[], &["é", "%", "*"], None)), [""; 0]);
    let long = "n".repeat(1000);
    assert_eq!(
        all_of(&orgs, &reach(&["", "a/b", &long], &[], None)),
        [""; 0]
    );
    assert_eq!(all_of(&orgs, &reach(&[], &[], None)), [""; 0]);
}

#[test]
fn a_user_of_very_many_organizations_sees_them_by_the_directory_and_no_others() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let (ada, bob) = (person(&orgs, "ada"), person(&orgs, "bob"));
    for number in 0..130 {
        create_as(&orgs, &ada, &format!("ada-{number:03}"));
        create_as(&orgs, &bob, &format!("bob-{number:03}"));
    }
    let closing = OrganizationChanges {
        user_tokens_enabled: Attribute::Value(false),
        ..OrganizationChanges::default()
    };
    orgs.update_named("ada-001", &closing, &installation())
        .unwrap();
    disable(&orgs, "ada-002");
    // Ada's go, and of their names others have some now.
    for name in ["ada-003", "ada-004"] {
        assert_eq!(orgs.delete_named(name, &installation()), Ok(true));
    }
    create_as(&orgs, &bob, "ada-003");
    let mut expected: Vec<String> = (0..130).map(|number| format!("ada-{number:03}")).collect();
    expected.drain(1..5);
    let by_ada = Viewer::Member(ada.id.clone());
    assert_eq!(all_of(&orgs, &by_ada), expected);
    orgs.maintain().unwrap();
    assert_eq!(all_of(&orgs, &by_ada), expected);
    let filter = Filter {
        name: Some("A-12".to_owned()),
        ..Filter::default()
    };
    assert_eq!(seen(&orgs, &by_ada, &filter), expected[116..]);
    expected.insert(1, "ada-001".to_owned());
    expected.push("bob-007".to_owned());
    assert_eq!(
        all_of(&orgs, &reach(&["BOB-007"], &[], Some(&ada))),
        expected
    );
}

#[test]
fn a_name_that_has_gone_to_another_organization_meanwhile_opens_nothing() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let other = create(&orgs, "other");
    let known = [("acme".to_owned(), other.external_id)];
    let stale = Scope::reached_by(&Reach::default(), known);
    let record = orgs
        .load(&FoldedName::fold("acme").unwrap())
        .unwrap()
        .unwrap()
        .record;
    let search = |scope| Search {
        scope,
        matcher: Matcher::new(&Filter::default()),
        despite: Barred::default(),
    };
    assert!(!search(stale).accepts("acme", &record));
    let known = [("acme".to_owned(), acme.external_id)];
    assert!(search(Scope::reached_by(&Reach::default(), known)).accepts("acme", &record));
}
