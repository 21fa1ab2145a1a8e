//! The cost of lists and changes.

use std::ops::Range;

use gatehouse_ports::doubles::name_in_no_order;
use gatehouse_storage::RecordCache;

use super::*;

#[test]
fn what_is_pending_and_how_large_leaves_are_is_bounded() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store).with_directory_shape(SMALL);
    for number in 0..100 {
        create(&orgs, &format!("named-{:02}", number * 37 % 100));
        let keys = in_directory(&store);
        let pending = keys.iter().filter(|key| key.contains("/pending/")).count();
        assert!(pending <= SMALL.pending as usize, "{pending}");
    }
    let leaves = |store: &MemoryStore<_>| {
        let keys = in_directory(store).into_iter();
        keys.filter(|key| key.contains("/leaf/")).count()
    };
    assert!((25..=50).contains(&leaves(&store)));
    for number in 0..100 {
        assert_eq!(
            orgs.delete_named(&format!("named-{number:02}"), &installation()),
            Ok(true)
        );
    }
    for _ in 0..4 {
        orgs.maintain().unwrap();
    }
    // No name or address of the deleted organizations is left.
    let left = in_directory(&store);
    let (parts, others): (Vec<_>, Vec<_>) = left
        .iter()
        .partition(|key| key.starts_with("directory/parts/"));
    assert_eq!(
        others.len(),
        3,
        "a root, one empty leaf, and the state of the index of parts"
    );
    assert!(parts.len() <= 2 * SMALL_PARTS.worn as usize, "{parts:?}");
    for key in left {
        let entry = store.get(&[&key]).unwrap().remove(0).unwrap();
        let said = String::from_utf8_lossy(&entry.value);
        // Not the character alone: numbers are written in characters too.
        let is_told = said.contains("named-") || said.contains("@example");
        assert!(!is_told, "{said}");
    }
    assert_lists(&orgs, &Model::new());
    create(&orgs, "b");
    assert_lists(&orgs, &truth(&orgs));
}

#[test]
fn what_is_pending_is_bounded_though_only_one_in_some_writers_looks() {
    let world = World::new();
    let store = world.store();
    let shape = Shape {
        // Both more than the writers between two looks make, or no look ever catches up with them.
        pending: 64,
        step: 64,
        writers_per_look: Shape::USUAL.writers_per_look,
        ..SMALL
    };
    let orgs = world.orgs(&store).with_directory_shape(shape);
    let mut most = 0;
    for number in 0..500 {
        create(&orgs, &format!("named-{number:03}"));
        let keys = in_directory(&store);
        let pending = keys.iter().filter(|key| key.contains("/pending/")).count();
        most = most.max(pending);
    }
    assert!((64..128).contains(&most), "{most}");
    assert_lists(&orgs, &truth(&orgs));
}

#[test]
fn a_change_that_the_lists_do_not_show_leaves_the_directory_alone() {
    let world = World::new();
    let store = world.store();
    let orgs = world.orgs(&store).with_directory_shape(Shape {
        pending: 1,
        ..SMALL
    });
    create(&orgs, "acme");
    let commits = store.commits();
    let changes = OrganizationChanges {
        session_timeout: Attribute::Value(60),
        ..rename("ACME")
    };
    orgs.update_named("acme", &changes, &installation())
        .unwrap();
    assert_eq!(store.commits(), commits + 1);
    assert_lists(&orgs, &truth(&orgs));
}

#[test]
fn what_a_page_reads_does_not_grow_with_the_number_of_organizations() {
    let shape = Shape {
        leaf: 16,
        pending: 8,
        writers_per_look: 1,
        step: 100,
        leaves_per_read: 50,
        leaves_per_batch: 20,
        parts: PartsShape::USUAL,
    };
    let mut read = Vec::new();
    for count in [160_u32, 1600] {
        let world = World::new();
        let store = world.store();
        let orgs = world.orgs(&store).with_directory_shape(shape);
        for number in 0..count {
            create(&orgs, &format!("org-{number:05}"));
        }
        let counting = CountingStore::new(&store);
        let mut orgs = world.orgs(&counting).with_directory_shape(shape);
        // Every page reads its organizations anew.
        orgs.late = RecordCache::with_room_for(0);
        let rare = Filter {
            name: Some("00159".to_owned()),
            ..Filter::default()
        };
        let few = Viewer::Workload(Reach {
            prefixes: vec!["org-0014".to_owned()],
            ..Reach::default()
        });
        let bytes_of = |viewer: &Viewer, filter: &Filter, number| {
            counting.take_counts();
            let page = orgs.page_at(viewer, filter, number, 20);
            assert_ne!(page.unwrap().organizations, []);
            counting.take_counts().value_bytes
        };
        let everything = &Viewer::Everything;
        // The first search decodes the root and the leaves: its text is so short that all are looked through.
        let short = Filter {
            name: Some("15".to_owned()),
            ..Filter::default()
        };
        bytes_of(everything, &short, 1);
        bytes_of(everything, &rare, 1);
        read.push([
            bytes_of(everything, &Filter::default(), 1),
            bytes_of(everything, &Filter::default(), count / 40),
            bytes_of(everything, &Filter::default(), count / 20),
            bytes_of(everything, &rare, 1),
            bytes_of(&few, &Filter::default(), 1),
        ]);
    }
    for (few, many) in read[0].iter().zip(read[1]) {
        assert!(many < few + few / 10, "{read:?}");
    }
}

#[test]
fn a_page_that_was_read_before_reads_only_what_has_changed() {
    let world = World::new();
    let counting = CountingStore::new(world.store());
    let orgs = world.orgs(&counting);
    for number in 0..100 {
        create(&orgs, &format!("org-{number:02}"));
    }
    let everything = &Viewer::Everything;
    let rare = Filter {
        name: Some("g-4".to_owned()),
        ..Filter::default()
    };
    for filter in [Filter::default(), rare] {
        let read = || {
            counting.take_counts();
            let page = orgs.page_at(everything, &filter, 2, 5).unwrap();
            (page.organizations, counting.take_counts().value_bytes)
        };
        let (first, _) = read();
        let (before, of_pending) = read();
        assert_eq!(first, before);
        let changes = OrganizationChanges {
            session_timeout: Attribute::Value(60),
            ..OrganizationChanges::default()
        };
        let id = &before[2].external_id;
        orgs.update(id, &changes, &installation()).unwrap();
        let (after, bytes) = read();
        assert_eq!(after[2].external_id, *id);
        assert_eq!(after[2].settings.session_timeout, Some(60));
        // The record of one organization, of five on the page.
        assert!((500..1_500).contains(&(bytes - of_pending)), "{bytes}");
        assert_eq!(read().1, of_pending);
    }
}

#[test]
fn what_a_creation_among_many_writes_is_bounded() {
    let world = World::new();
    let store = CountingStore::new(world.store());
    let orgs = world.orgs(&store);
    let create_some = |numbers: Range<usize>| {
        let count = numbers.len();
        store.take_counts();
        for number in numbers {
            create(&orgs, &name_in_no_order(number));
        }
        store.take_counts().written_bytes / count
    };
    let first = create_some(0..1_000);
    create_some(1_000..11_000);
    // A new name is in no leaf that another new one is in, so each writes a leaf, and its part of the root.
    let leaf_and_root = create_some(11_000..12_000).saturating_sub(first);
    assert!(leaf_and_root < 5_000, "{leaf_and_root} after {first}");
}
