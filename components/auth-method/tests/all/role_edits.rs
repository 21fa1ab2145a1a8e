//! Changes of one list of a role: contract 3.6; SEC-G17, G18; D16, D17.

use gatehouse_auth_method::{
    EditError, ListEdit, Role, RoleChanges, RoleError, RoleRules, RoleType, RoleWarning, Roles,
    StorageError,
};
use gatehouse_ports::CommitError;
use gatehouse_storage::MAXIMUM_ATTEMPTS;

use crate::google::EMAIL;
use crate::instances::gce;
use crate::roles::{list, read};
use crate::stage::Stage;

fn edit(add: &[&str], remove: &[&str]) -> ListEdit {
    let owned = |names: &[&str]| list(names).unwrap();
    ListEdit {
        add: owned(add),
        remove: owned(remove),
    }
}

impl Stage {
    fn edit_accounts(&self, add: &[&str], remove: &[&str]) -> Result<Vec<RoleWarning>, EditError> {
        self.service
            .edit_service_accounts(&self.mount, "dev", &edit(add, remove))
    }

    fn edit_labels(&self, add: &[&str], remove: &[&str]) -> Result<Vec<RoleWarning>, EditError> {
        self.service
            .edit_labels(&self.mount, "dev", &edit(add, remove))
    }
}

/// A gce role with the labels `env:prod` and `team:a`.
fn labelled() -> Stage {
    let stage = Stage::bare();
    stage.role(RoleChanges {
        bound_projects: list(&["p1"]),
        bound_labels: list(&["env:prod", "team:a"]),
        ..gce()
    });
    stage
}

fn labels(stage: &Stage) -> Vec<String> {
    let RoleRules::Gce(rules) = read(stage).rules else {
        panic!("the role is of type gce");
    };
    let pairs = rules.bound_labels.into_iter();
    pairs.map(|(key, value)| format!("{key}:{value}")).collect()
}

#[test]
fn contract_3_6_accounts_are_added_and_then_removed() {
    let stage = Stage::ready();
    let before = read(&stage);
    let commits = stage.store.commits();
    let edited = stage.edit_accounts(
        &[" z@x", "a@x", "", "both@x", "a@x"],
        &["both@x ", "absent@x"],
    );
    assert_eq!(edited, Ok(Vec::new()));
    assert_eq!(stage.store.commits(), commits + 1);
    let expected = Role {
        bound_service_accounts: list(&["a@x", EMAIL, "z@x"]).unwrap(),
        ..before
    };
    assert_eq!(read(&stage), expected, "nothing else changes");
    stage.edit_accounts(&[], &[EMAIL, "z@x"]).unwrap();
    assert_eq!(read(&stage).bound_service_accounts, ["a@x"]);
}

#[test]
fn contract_3_6_labels_are_added_over_others_and_removed_by_key() {
    let stage = labelled();
    let edited = stage.edit_labels(
        &["env:dev", "tier:", "both:x"],
        &["team", "both", "absent", "env:dev"],
    );
    assert_eq!(edited, Ok(Vec::new()));
    assert_eq!(labels(&stage), ["env:dev", "tier:"]);
    stage.edit_labels(&[], &["env", "tier"]).unwrap();
    assert!(labels(&stage).is_empty());
}

#[test]
fn contract_3_6_an_edit_says_something() {
    let stage = Stage::ready();
    for (add, remove) in [(&[][..], &[][..]), (&["", " "], &[""])] {
        assert_eq!(stage.edit_accounts(add, remove), Err(EditError::Empty));
        assert_eq!(stage.edit_labels(add, remove), Err(EditError::Empty));
    }
    let nobody = stage
        .service
        .edit_labels(&stage.mount, "nobody", &ListEdit::default());
    assert_eq!(
        nobody,
        Err(EditError::Empty),
        "before the role is looked for"
    );
}

#[test]
fn d16_g18_a_role_that_does_not_exist_is_not_found_and_not_made() {
    let stage = Stage::bare();
    let something = edit(&["a:b"], &[]);
    let long = "n".repeat(300);
    for (name, shown) in [
        ("Nobody", "Nobody"),
        ("../x", "../x"),
        ("", ""),
        (&long, &long[..256]),
    ] {
        let expected = EditError::RoleNotFound(shown.to_owned());
        let accounts = stage
            .service
            .edit_service_accounts(&stage.mount, name, &something);
        assert_eq!(accounts.unwrap_err(), expected);
        let labels = stage.service.edit_labels(&stage.mount, name, &something);
        assert_eq!(labels.unwrap_err(), expected);
    }
    assert!(stage.store.keys().is_empty());
}

#[test]
fn g18_a_role_of_the_other_type_is_left_alone() {
    let stage = Stage::ready();
    let before = read(&stage);
    let expected = EditError::WrongType(RoleType::Iam);
    assert_eq!(
        stage.edit_labels(&["not a label"], &[]).unwrap_err(),
        expected
    );
    assert_eq!(read(&stage), before);
    let stage = labelled();
    let before = read(&stage);
    let expected = EditError::WrongType(RoleType::Gce);
    assert_eq!(stage.edit_accounts(&["a@x"], &[]).unwrap_err(), expected);
    assert_eq!(read(&stage), before);
}

#[test]
fn contract_3_6_an_edit_that_leaves_a_bad_role_stores_nothing() {
    let stage = Stage::ready();
    let before = read(&stage);
    for (add, remove, expected) in [
        (&[][..], &[EMAIL][..], RoleError::NoServiceAccounts),
        (&["*"], &[], RoleError::WildcardWithOthers),
    ] {
        assert_eq!(
            stage.edit_accounts(add, remove),
            Err(EditError::Role(expected))
        );
        assert_eq!(read(&stage), before);
    }
    let any = stage.edit_accounts(&["*"], &[EMAIL]).unwrap();
    assert_eq!(any, [RoleWarning::AnyServiceAccountOfAnyProject]);
    assert_eq!(read(&stage).bound_service_accounts, ["*"]);
    let stage = labelled();
    let bad = stage
        .edit_labels(&["a:b", "bad", "X:y"], &["env"])
        .unwrap_err();
    assert_eq!(
        bad,
        EditError::InvalidLabels(list(&["bad", "X:y"]).unwrap())
    );
    assert_eq!(labels(&stage), ["env:prod", "team:a"]);
    let trusting = Stage::bare();
    trusting.role(RoleChanges {
        live_checks: Some(false),
        ..gce()
    });
    let unchecked = trusting.edit_labels(&["a:b"], &[]).unwrap_err();
    let expected = RoleError::NeedsLiveChecks(vec!["bound_labels".into()]);
    assert_eq!(unchecked, EditError::Role(expected));
    assert!(labels(&trusting).is_empty());
}

#[test]
fn d17_g17_edits_and_deletes_fold_the_name() {
    let stage = Stage::ready();
    let keys = stage.store.keys();
    let added = edit(&["a@x"], &[]);
    stage
        .service
        .edit_service_accounts(&stage.mount, "DEV", &added)
        .unwrap();
    assert_eq!(stage.store.keys(), keys, "there is no second role");
    assert_eq!(read(&stage).bound_service_accounts, ["a@x", EMAIL]);
    let stage = labelled();
    let added = edit(&["tier:1"], &[]);
    stage
        .service
        .edit_labels(&stage.mount, "dEv", &added)
        .unwrap();
    assert_eq!(labels(&stage), ["env:prod", "team:a", "tier:1"]);
    assert_eq!(stage.keys(), ["m1/role/dev"]);
    stage.service.delete_role(&stage.mount, "DEV").unwrap();
    assert!(stage.keys().is_empty());
}

#[test]
fn contract_3_4_an_edit_that_meets_another_is_repeated_a_bounded_number_of_times() {
    let stage = Stage::ready();
    let conflict = || CommitError::Conflict("m1/role/dev".to_owned());
    stage.store.fail_next_commit(conflict());
    stage.edit_accounts(&["a@x"], &[]).unwrap();
    assert_eq!(read(&stage).bound_service_accounts, ["a@x", EMAIL]);
    for _ in 0..MAXIMUM_ATTEMPTS {
        stage.store.fail_next_commit(conflict());
    }
    let expected = EditError::Storage(StorageError::Contended(MAXIMUM_ATTEMPTS));
    assert_eq!(stage.edit_accounts(&["b@x"], &[]).unwrap_err(), expected);
    assert_eq!(read(&stage).bound_service_accounts, ["a@x", EMAIL]);
}

#[test]
fn contract_3_4_parallel_edits_lose_nothing() {
    let stage = Stage::ready();
    std::thread::scope(|scope| {
        for number in 0..4 {
            let stage = &stage;
            scope.spawn(move || {
                let account = format!("a{number}@x");
                stage.edit_accounts(&[&account], &[]).unwrap();
            });
        }
    });
    assert_eq!(
        read(&stage).bound_service_accounts,
        ["a0@x", "a1@x", "a2@x", "a3@x", EMAIL]
    );
}
