//! Lists, pages and filters.

use super::*;
use gatehouse_orgs::{Filter, Viewer};

fn listed(orgs: &impl Organizations, filter: &Filter) -> Vec<String> {
    let batch = orgs.list(&Viewer::Everything, filter, None, 500).unwrap();
    let page = orgs.page_at(&Viewer::Everything, filter, 1, 100).unwrap();
    assert_eq!(batch.organizations, page.organizations);
    assert_eq!(page.total, page.organizations.len() as u64);
    names(&batch.organizations)
        .into_iter()
        .map(str::to_owned)
        .collect()
}

#[test]
fn contract_3_1_filters_look_for_literal_text_without_case() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    for (name, email) in [
        ("Acme", "Ops@Example.com"),
        ("globex", "acme@globex.example"),
        ("under_score", "x@y"),
    ] {
        let changes = OrganizationChanges {
            email: text(email),
            ..named(name)
        };
        orgs.create(&changes, None, &installation()).unwrap();
    }
    let some = |text: &str| Some(text.to_owned());
    let by_either = |text| Filter {
        name_or_email: some(text),
        ..Filter::default()
    };
    let by_name = |text| Filter {
        name: some(text),
        ..Filter::default()
    };
    let by_email = |text| Filter {
        email: some(text),
        ..Filter::default()
    };
    let all = ["Acme", "globex", "under_score"];
    assert_eq!(listed(&orgs, &by_either("ACME")), ["Acme", "globex"]);
    assert_eq!(listed(&orgs, &by_either("")), all);
    assert_eq!(listed(&orgs, &by_name("acme")), ["Acme"]);
    assert_eq!(listed(&orgs, &by_email("EXAMPLE")), ["Acme", "globex"]);
    let both = Filter {
        email: some("ops"),
        ..by_name("acme")
    };
    assert_eq!(listed(&orgs, &both), ["Acme"]);
    let neither = Filter {
        email: some("globex"),
        ..by_name("acme")
    };
    assert_eq!(listed(&orgs, &neither), [""; 0]);
    for wildcard in ["*", "%", "a.*e", "?"] {
        assert_eq!(listed(&orgs, &by_either(wildcard)), [""; 0]);
    }
    assert_eq!(listed(&orgs, &by_name("r_s")), ["under_score"]);
}

#[test]
fn contract_3_2_lists_are_in_order_of_the_name_without_case() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    for name in ["beta", "Alpha", "ALPHA-2", "alpha_1", "Zeta", "10"] {
        create(&orgs, name);
    }
    let expected = ["10", "Alpha", "ALPHA-2", "alpha_1", "beta", "Zeta"];
    assert_eq!(listed(&orgs, &Filter::default()), expected);
}

#[test]
fn contract_3_3_pages_by_number_have_true_totals() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    for number in 0..25 {
        create(&orgs, &format!("org-{number:02}"));
    }
    let filter = Filter {
        name: Some("org".to_owned()),
        ..Filter::default()
    };
    for filter in [Filter::default(), filter] {
        for (number, size, first, count) in [
            (1, 20, Some("org-00"), 20),
            (2, 20, Some("org-20"), 5),
            (3, 20, None, 0),
            (25, 1, Some("org-24"), 1),
            (u32::MAX, 100, None, 0),
            (0, 0, Some("org-00"), 1),
            (1, 1000, Some("org-00"), 25),
        ] {
            let page = orgs
                .page_at(&Viewer::Everything, &filter, number, size)
                .unwrap();
            let found = names(&page.organizations);
            assert_eq!((found.first().copied(), found.len()), (first, count));
            assert_eq!(page.total, 25);
        }
    }
}

#[test]
fn s14_batches_go_through_everything_once_in_bounded_steps() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    for number in 0..1203 {
        create(&orgs, &format!("org-{number:04}"));
    }
    let with_a_seven = (0..1203)
        .filter(|number| number.to_string().contains('7'))
        .count();
    let rare = Filter {
        name: Some("7".to_owned()),
        ..Filter::default()
    };
    for (filter, expected) in [(Filter::default(), 1203), (rare, with_a_seven)] {
        let mut seen = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let batch = orgs
                .list(&Viewer::Everything, &filter, after.as_deref(), 100)
                .unwrap();
            assert!(batch.organizations.len() <= 100);
            seen.extend(batch.organizations.into_iter().map(|found| found.name));
            after = batch.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(seen.len(), expected);
        assert!(seen.is_sorted());
    }
    let deep = orgs
        .page_at(&Viewer::Everything, &Filter::default(), 13, 100)
        .unwrap();
    assert_eq!(
        names(&deep.organizations),
        ["org-1200", "org-1201", "org-1202"]
    );
}

#[test]
fn a_list_goes_on_behind_any_text() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store);
    create(&orgs, "acme");
    create(&orgs, "globex");
    let after = |after: &str| {
        let batch = orgs
            .list(&Viewer::Everything, &Filter::default(), Some(after), 10)
            .unwrap();
        batch.organizations.len()
    };
    assert_eq!(after(""), 2);
    assert_eq!(after("ACME"), 1);
    assert_eq!(after("beta"), 1);
    assert_eq!(after("globex"), 0);
    assert_eq!(after(&"é/".repeat(10_000)), 2);
}
