//! The index of parts finds the same as a walk over all organizations, at a cost that does not grow with their number.

use gatehouse_ports::doubles::StoreCounts;

use super::*;
use crate::search::{Barred, Matcher, Scope, Search};

type TestOrgs<'w> = Orgs<&'w MemoryStore<&'w ManualClock>, &'w ManualClock, &'w SeededRandom>;

fn search(filter: &Filter) -> Search {
    Search {
        scope: Scope::everything(),
        matcher: Matcher::new(filter),
        despite: Barred {
            disabled: true,
            user_tokens_off: true,
        },
    }
}

fn by_either(text: &str) -> Filter {
    Filter {
        name_or_email: Some(text.to_owned()),
        ..Filter::default()
    }
}

fn by_name(text: &str) -> Filter {
    Filter {
        name: Some(text.to_owned()),
        ..Filter::default()
    }
}

/// The names that the index finds; `None` where it cannot tell.
fn found(orgs: &TestOrgs<'_>, filter: &Filter) -> Option<Vec<String>> {
    orgs.directory().find(&search(filter)).unwrap()
}

/// The names that a walk over all organizations finds.
fn walked(model: &Model, filter: &Filter) -> Vec<String> {
    let wanted = model
        .iter()
        .filter(|(name, email)| is_wanted(filter, name, email));
    wanted.map(|(name, _)| name.clone()).collect()
}

fn keep_up_to_the_end(orgs: &TestOrgs<'_>) {
    for _ in 0..20 {
        orgs.maintain().unwrap();
    }
}

fn rows(store: &MemoryStore<&ManualClock>) -> usize {
    let keys = in_directory(store).into_iter();
    keys.filter(|key| key.starts_with("directory/parts/"))
        .count()
}

fn long_name() -> impl Strategy<Value = String> {
    "[ab]{1,3}-?[abC]{1,6}"
}

fn long_steps() -> impl Strategy<Value = Vec<Step>> {
    let email = || "[abÜ]{1,4}@[xY]{1,3}";
    let step = prop_oneof![
        8 => (long_name(), email()).prop_map(|(name, email)| Step::Create(name, email)),
        1 => (long_name(), long_name()).prop_map(|(old, new)| Step::Rename(old, new)),
        2 => (long_name(), email()).prop_map(|(name, email)| Step::Readdress(name, email)),
        2 => long_name().prop_map(Step::Delete),
        1 => Just(Step::List),
    ];
    prop::collection::vec(step, 1..80)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_index_finds_what_a_walk_finds(
        steps in long_steps(),
        texts in prop::collection::vec("[abC@xÜ-]{3,7}", 4),
    ) {
        let world = World::new();
        let store = world.store();
        let orgs = world.orgs(&store).with_directory_shape(SMALL);
        create(&orgs, "first");
        let mut model = truth(&orgs);
        for (number, step) in steps.iter().enumerate() {
            let expected = after(&model, step);
            prop_assert_eq!(apply(&orgs, step), Ok(expected.is_some()));
            model = expected.unwrap_or(model);
            // Both a full name and texts that may be anywhere are looked for.
            let whole = model.keys().nth(number % model.len().max(1));
            let texts = texts.iter().map(String::as_str).chain(whole.map(String::as_str));
            for text in texts {
                let both = Filter { email: Some("@x".to_owned()), ..by_name(text) };
                for filter in [by_either(text), by_name(text), both] {
                    if let Some(found) = found(&orgs, &filter) {
                        prop_assert_eq!(found, walked(&model, &filter), "{:?}", filter);
                    }
                }
            }
        }
        keep_up_to_the_end(&orgs);
        let rare = by_either("not-in-any-of-them");
        prop_assert_eq!(found(&orgs, &rare), Some(Vec::new()));
    }
}

#[test]
fn runs_are_merged_and_nothing_is_left_of_what_they_are_merged_from() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store).with_directory_shape(SMALL);
    let name = |number: u32| format!("{:04}-name", number * 7919 % 10_000);
    for number in 0..300 {
        create(&orgs, &name(number));
    }
    keep_up_to_the_end(&orgs);
    for number in 0..300 {
        let name = name(number);
        assert_eq!(found(&orgs, &by_either(&name)), Some(vec![name]));
    }
    // 300 blocks; a run of 256 with 128 rows, two of 16 with 8, and three of 4 with 2. While the index was being made, some documents
    // may have changed, and so have got two numbers.
    let expected = 300 + 128 + 2 * 8 + 3 * 2;
    assert!(
        (expected..expected + 8).contains(&rows(&store)),
        "{}",
        rows(&store)
    );
}

#[test]
fn a_store_that_is_older_than_the_index_gets_one_in_steps_and_answers_meanwhile() {
    let world = World::new();
    let store = world.store();
    // Four leaves a step.
    let shape = Shape { step: 16, ..SMALL };
    let orgs = world.orgs(&store).with_directory_shape(shape);
    for number in 0..60 {
        create(&orgs, &format!("org-{:02}-old", number * 37 % 60));
    }
    let keys = in_directory(&store).into_iter();
    let keys = keys.filter(|key| key.starts_with("directory/parts"));
    let delete_all = keys.map(gatehouse_ports::Change::Delete);
    store.commit(Vec::new(), delete_all.collect()).unwrap();

    let mut rounds = 0;
    while found(&orgs, &by_name("org-59-old")).is_none() {
        // One name sorts before the existing ones, and one after them.
        create(&orgs, &format!("new-{rounds:02}"));
        create(&orgs, &format!("z-new-{rounds:02}"));
        let gone = format!("org-{rounds:02}-old");
        assert_eq!(orgs.delete_named(&gone, &installation()), Ok(true));
        let name = format!("renamed-{rounds:02}");
        let old = format!("org-{:02}-old", 59 - rounds);
        orgs.update_named(&old, &rename(&name), &installation())
            .unwrap();
        let model = truth(&orgs);
        for text in ["-old", "new", "renamed", &old, &gone, "org-3"] {
            let filter = by_either(text);
            let everything = Viewer::Everything;
            let page = orgs.page_at(&everything, &filter, 1, 100);
            let expected = walked(&model, &filter);
            assert_eq!(folded(&page.unwrap().organizations), expected, "{text}");
        }
        // One of the steps that a round of upkeep does.
        orgs.directory().advance_parts(1).unwrap();
        rounds += 1;
        assert!(rounds < 29, "it is never whole");
    }
    assert!(rounds > 3, "{rounds}");
    let model = truth(&orgs);
    let mut by_index = 0;
    for name in model.keys() {
        let filter = by_either(name);
        if let Some(found) = found(&orgs, &filter) {
            assert_eq!(found, walked(&model, &filter), "{name}");
            by_index += 1;
        }
    }
    assert!(by_index > model.len() / 2, "{by_index} of {}", model.len());
}

#[test]
fn hostile_names_that_share_all_their_parts_are_found_by_going_through_them() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store).with_directory_shape(SMALL);
    for number in 0..40 {
        create(
            &orgs,
            &format!("{}{}", "a".repeat(40), "b".repeat(number + 1)),
        );
    }
    create(&orgs, "other");
    keep_up_to_the_end(&orgs);
    for (text, count) in [("aaaa", 40), ("aabb", 39), ("bbbbbbbbbb", 31)] {
        let filter = by_name(text);
        assert_eq!(found(&orgs, &filter), None, "{text}");
        let page = orgs.page_at(&Viewer::Everything, &filter, 2, 10);
        let page = page.unwrap();
        assert_eq!((page.total, page.organizations.len()), (count, 10));
    }
    assert_eq!(
        found(&orgs, &by_name("othe")),
        Some(vec!["other".to_owned()])
    );
    // Each is still found by its whole name when it is removed.
    for number in 0..40 {
        let name = format!("{}{}", "a".repeat(40), "b".repeat(number + 1));
        assert_eq!(orgs.delete_named(&name, &installation()), Ok(true));
    }
    keep_up_to_the_end(&orgs);
    assert_eq!(found(&orgs, &by_name("aaaa")), Some(Vec::new()));
}

#[test]
fn an_index_most_of_which_is_gone_is_made_anew() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store).with_directory_shape(SMALL);
    create(&orgs, "name-000");
    create(&orgs, "stays");
    for number in 0..200 {
        let (old, new) = (
            format!("name-{number:03}"),
            format!("name-{:03}", number + 1),
        );
        orgs.update_named(&old, &rename(&new), &installation())
            .unwrap();
        if number % 20 == 0 {
            keep_up_to_the_end(&orgs);
        }
    }
    keep_up_to_the_end(&orgs);
    assert!(rows(&store) < 60, "{}", rows(&store));
    let last = Some(vec!["name-200".to_owned()]);
    assert_eq!(found(&orgs, &by_either("name-")), last);
    assert_eq!(
        found(&orgs, &by_either("stays")),
        Some(vec!["stays".to_owned()])
    );
}

#[test]
fn what_a_search_and_a_create_cost_does_not_grow_with_the_number_of_organizations() {
    let world = World::new();
    let store = CountingStore::new(world.store());
    let orgs = world.orgs(&store);
    let name = |number: u32| format!("{:08x}-{number:06}", number.wrapping_mul(0x9e37_79b1));
    let mut made = 0;
    let mut costs = Vec::new();
    for count in [1_000_u32, 20_000] {
        for number in made..count - 640 {
            create(&orgs, &name(number));
        }
        orgs.maintain().unwrap();
        store.take_counts();
        for number in count - 640..count {
            create(&orgs, &name(number));
        }
        made = count;
        let create = store.take_counts();
        for _ in 0..5 {
            orgs.maintain().unwrap();
        }
        let mut searches = Vec::new();
        for text in [&name(count / 2), "nobody-has-this", &name(7)[..8]] {
            // An instance that has read nothing yet.
            let orgs = world.orgs(&store);
            store.take_counts();
            let filter = by_either(text);
            let page = orgs.page_at(&Viewer::Everything, &filter, 1, 20);
            assert!(page.unwrap().total <= 1);
            searches.push(store.take_counts());
        }
        costs.push((create, searches));
    }
    let [(create_few, few), (create_many, many)] = costs.as_slice() else {
        panic!("two sizes");
    };
    assert!(create_many.commits <= create_few.commits + 30);
    // Among many, each is in a leaf of its own, which is written whole; each level of runs adds a few hundred bytes.
    let per_create = |counts: &StoreCounts| (counts.changes / 640, counts.written_bytes / 640);
    let costs = (per_create(create_few), per_create(create_many));
    let ((few_changes, _), (many_changes, many_bytes)) = costs;
    assert!(many_changes <= few_changes + 2, "{costs:?}");
    assert!(many_bytes <= 16 * 1024, "{costs:?}");
    assert!(create_many.reads() <= create_few.reads() + create_few.reads() / 4);
    for (few, many) in few.iter().zip(many) {
        // Each further level has three more runs, of four rows of some 1.5 KB each; four times as many organizations add one level.
        assert!(many.calls().0 <= few.calls().0 + 2, "{few:?} {many:?}");
        assert!(many.reads() <= few.reads() + 3 * 3 * 4, "{few:?} {many:?}");
        assert!(many.value_bytes < 128 * 1024, "{few:?} {many:?}");
    }
}
