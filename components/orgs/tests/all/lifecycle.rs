//! Create, show, update, delete.

use gatehouse_ports::doubles::NoRandom;
use gatehouse_ports::{CommitError, StoreError};

use super::*;
use gatehouse_orgs::{CreateError, Filter, Plan, ServiceError, UpdateError, Viewer};

#[test]
fn a_new_organization_has_its_identity_and_defaults_and_reads_back_the_same() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "Acme");
    assert_eq!(acme.name, "Acme");
    assert_eq!(acme.created_at, NOW * 1000);
    assert_eq!(acme.plan, Plan::Free);
    assert!(acme.external_id.starts_with("org-"));
    assert!(acme.default_project_id.starts_with("prj-"));
    assert_eq!(acme.settings.email, "ops@example.com");
    for name in ["Acme", "acme", "ACME"] {
        assert_eq!(read(&orgs, name), Some(acme.clone()));
    }
    assert_eq!(orgs.find(&acme.external_id), Ok(Some(acme.clone())));
    let listed = orgs
        .list(&Viewer::Everything, &Filter::default(), None, 10)
        .unwrap();
    assert_eq!(listed.organizations, [acme]);
}

#[test]
fn the_self_hosted_edition_has_one_plan() {
    let world = World::new();
    let store = world.store();
    let acme = world
        .self_hosted(&store)
        .create(&named("acme"), None, &installation())
        .unwrap();
    assert_eq!(acme.organization.plan, Plan::Enterprise);
}

#[test]
fn contract_2_7_every_fault_is_told_at_once_and_nothing_is_stored() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let changes = OrganizationChanges {
        name: text("no good"),
        email: Attribute::Absent,
        session_timeout: Attribute::Value(0),
        collaborator_auth_policy: text("none"),
        stacks_enabled: Attribute::WrongType,
        ..OrganizationChanges::default()
    };
    let expected = [
        (Field::Name, Fault::ForbiddenCharacter),
        (Field::Email, Fault::Blank),
        (Field::SessionTimeout, Fault::NotPositive),
        (Field::CollaboratorAuthPolicy, Fault::NotIncluded),
        (Field::StacksEnabled, Fault::NotBoolean),
    ];
    let expected = expected.map(|(field, fault)| FieldFault { field, fault });
    assert_eq!(
        orgs.create(&changes, None, &installation()),
        Err(CreateError::Invalid(expected.to_vec()))
    );
    assert_eq!(store.keys(), [""; 0]);
}

#[test]
fn contract_2_7_a_name_is_required() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    for (name, fault) in [
        (Attribute::Absent, Fault::Blank),
        (Attribute::Null, Fault::Blank),
        (text(""), Fault::Blank),
        (Attribute::WrongType, Fault::NotText),
    ] {
        let changes = OrganizationChanges {
            name,
            ..named("acme")
        };
        let field = Field::Name;
        let expected = CreateError::Invalid(vec![FieldFault { field, fault }]);
        assert_eq!(orgs.create(&changes, None, &installation()), Err(expected));
    }
    assert_eq!(store.commits(), 0);
}

#[test]
fn contract_2_7_a_taken_name_is_told_together_with_other_faults() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    create(&orgs, "acme");
    let before = store.values();
    let changes = OrganizationChanges {
        email: text("nowhere"),
        ..named("ACME")
    };
    let not_an_address = FieldFault {
        field: Field::Email,
        fault: Fault::NotAnAddress,
    };
    let expected = CreateError::Invalid(vec![TAKEN, not_an_address]);
    assert_eq!(orgs.create(&changes, None, &installation()), Err(expected));
    assert_eq!(store.values(), before);
}

#[test]
fn contract_2_12_an_update_that_mentions_nothing_answers_and_writes_nothing() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let commits = store.commits();
    let nothing = OrganizationChanges::default();
    assert_eq!(
        orgs.update_named("Acme", &nothing, &installation()),
        Ok(acme)
    );
    assert_eq!(store.commits(), commits);
}

#[test]
fn contract_2_12_a_rename_keeps_identity_and_frees_the_old_name() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let renamed = orgs
        .update_named("acme", &rename("Globex"), &installation())
        .unwrap();
    let expected = Organization {
        name: "Globex".to_owned(),
        ..acme.clone()
    };
    assert_eq!(renamed, expected);
    assert_eq!(read(&orgs, "acme"), None);
    assert_eq!(orgs.find(&acme.external_id), Ok(Some(renamed)));
    let second = create(&orgs, "ACME");
    assert_ne!(second.external_id, acme.external_id);
    let page = orgs
        .page_at(&Viewer::Everything, &Filter::default(), 1, 20)
        .unwrap();
    assert_eq!(names(&page.organizations), ["ACME", "Globex"]);
    assert_eq!(page.total, 2);
}

#[test]
fn contract_2_12_a_rename_to_a_taken_name_changes_nothing_at_all() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    create(&orgs, "globex");
    let changes = OrganizationChanges {
        email: text("new@example.com"),
        ..rename("GLOBEX")
    };
    let refused = orgs.update_named("acme", &changes, &installation());
    assert_eq!(refused, Err(UpdateError::Invalid(vec![TAKEN])));
    assert_eq!(read(&orgs, "acme"), Some(acme));
}

#[test]
fn contract_2_7_a_new_spelling_of_the_own_name_is_stored() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    create(&orgs, "acme");
    let keys = || {
        let keys = store.keys().into_iter();
        let keys = keys.filter(|key| !key.starts_with("event/"));
        keys.collect::<Vec<_>>()
    };
    let before = keys();
    let respelled = orgs
        .update_named("acme", &rename("AcMe"), &installation())
        .unwrap();
    assert_eq!(respelled.name, "AcMe");
    assert_eq!(read(&orgs, "acme"), Some(respelled));
    assert_eq!(keys(), before);
}

#[test]
fn an_update_or_delete_of_what_is_not_there_says_so_and_stores_nothing() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    for name in ["acme", "", "no name", "a/b", &"n".repeat(600)] {
        let refused = orgs.update_named(name, &named("new"), &installation());
        assert_eq!(refused, Err(UpdateError::NotFound));
        assert_eq!(orgs.delete_named(name, &installation()), Ok(false));
        assert_eq!(read(&orgs, name), None);
    }
    for external_id in [
        "",
        "org-",
        "acme",
        "org-Zk3nQ8vT1pYw6RbC",
        "org-/../organizations",
    ] {
        assert_eq!(orgs.find(external_id), Ok(None));
    }
    assert_eq!(store.commits(), 0);
}

#[test]
fn an_update_or_delete_of_what_is_gone_leaves_alone_what_has_its_name_now() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let gone = create(&orgs, "acme");
    assert_eq!(orgs.delete(&gone.external_id, &installation()), Ok(true));
    let now = create(&orgs, "acme");
    let commits = store.commits();
    let changes = rename("globex");
    for external_id in [gone.external_id.as_str(), "acme", "", "org-"] {
        let refused = orgs.update(external_id, &changes, &installation());
        assert_eq!(refused, Err(UpdateError::NotFound));
        assert_eq!(orgs.delete(external_id, &installation()), Ok(false));
    }
    assert_eq!(store.commits(), commits);
    assert_eq!(read(&orgs, "acme"), Some(now));
}

#[test]
fn contract_2_13_delete_removes_everything_in_one_commit_and_frees_the_name() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    let acme = create(&orgs, "acme");
    let commits = store.commits();
    assert_eq!(orgs.delete_named("ACME", &installation()), Ok(true));
    // One that ends it, one that clears away what lies about.
    assert_eq!(store.commits(), commits + 2);
    let of_the_installation = |key: &String| {
        [
            "count/",
            "event/",
            "hash-key",
            "subject/",
            "user-email/",
            "user/",
            "username/",
        ]
        .iter()
        .any(|prefix| key.starts_with(prefix))
    };
    let left: Vec<_> = store.keys();
    // That the name is free, and no more, is still to be entered into the directory.
    let expected = |key: &String| of_the_installation(key) || key == "directory/pending/acme";
    assert!(left.iter().all(expected), "{left:?}");
    assert_eq!(orgs.find(&acme.external_id), Ok(None));
    assert_eq!(orgs.delete_named("acme", &installation()), Ok(false));
    assert_ne!(create(&orgs, "acme").external_id, acme.external_id);
}

#[test]
fn a_delete_leaves_the_directory_to_the_next_round_of_upkeep() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    create(&orgs, "acme");
    create(&orgs, "globex");
    let list = || {
        let filter = gatehouse_orgs::Filter::default();
        let viewer = gatehouse_orgs::Viewer::Everything;
        let page = orgs.page_at(&viewer, &filter, 1, 10);
        page.unwrap().organizations
    };
    assert_eq!(names(&list()), ["acme", "globex"]);
    orgs.maintain().unwrap();
    let in_leaves = || {
        let values = store.values().concat();
        String::from_utf8_lossy(&values).contains("ops@example.com")
    };
    for name in ["acme", "globex"] {
        let commits = store.commits();
        assert_eq!(orgs.delete_named(name, &installation()), Ok(true));
        assert_eq!(store.commits(), commits + 2);
    }
    assert_eq!(names(&list()), [""; 0]);
    assert!(in_leaves());
    orgs.maintain().unwrap();
    assert!(!in_leaves());
}

#[test]
fn a_store_that_fails_is_reported_as_what_it_is() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    create(&orgs, "globex");
    let before = store.keys();
    for (error, failure) in [
        (StoreError::Sealed, ServiceError::Sealed),
        (
            StoreError::Unavailable("gone".to_owned()),
            ServiceError::Unavailable("gone".to_owned()),
        ),
    ] {
        store.fail_next_commit(CommitError::Failed(error));
        let refused = orgs.create(&named("acme"), None, &installation());
        assert_eq!(refused, Err(CreateError::Failed(failure)));
    }
    for _ in 0..16 {
        store.fail_next_commit(CommitError::Conflict("count/00".to_owned()));
    }
    let refused = orgs.create(&named("acme"), None, &installation());
    assert_eq!(refused, Err(CreateError::Failed(ServiceError::Contended)));
    assert_eq!(store.keys(), before);
}

#[test]
fn without_randomness_nothing_is_made() {
    let world = World::new();
    let store = world.store();
    let orgs = Orgs::new(&store, &world.clock, NoRandom).with_edition(Edition::Hosted);
    let refused = orgs.create(&named("acme"), None, &installation());
    assert!(matches!(
        refused,
        Err(CreateError::Failed(ServiceError::NoRandomness))
    ));
    assert_eq!(store.keys(), [""; 0]);
}
