//! The contents of lists, after any changes, stops and simultaneous writers.

use std::sync::Barrier;
use std::thread;

use gatehouse_ports::{OsRandom, SystemClock};

use super::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn lists_are_what_a_sorted_map_says(steps in steps(60), instances in prop::collection::vec(0..2_usize, 60)) {
        let world = World::new();
        let store = world.store();
        let orgs = [(); 2].map(|()| world.orgs(&store).with_directory_shape(SMALL));
        let mut model = Model::new();
        for (number, (step, instance)) in steps.iter().zip(instances).enumerate() {
            let expected = after(&model, step);
            prop_assert_eq!(apply(&orgs[instance], step), Ok(expected.is_some()));
            model = expected.unwrap_or(model);
            if number % 8 == 7 {
                assert_lists(&orgs[1 - instance], &model);
            }
        }
        prop_assert_eq!(truth(&orgs[0]), model.clone());
        for orgs in &orgs {
            assert_lists(orgs, &model);
        }
    }
}

#[test]
fn a_stop_after_any_commit_leaves_a_directory_that_tells_the_truth() {
    let steps = busy_steps();
    let mut stops = 0;
    loop {
        stops += 1;
        let world = World::new();
        let store = world.store();
        let faulty = FaultyStore::stopping_after(&store, stops);
        let orgs = world.orgs(&faulty).with_directory_shape(SMALL);
        let mut model = Model::new();
        let mut possible = vec![model.clone()];
        for step in &steps {
            let expected = after(&model, step).unwrap();
            possible.push(expected.clone());
            if let Err(failure) = apply(&orgs, step) {
                assert!(matches!(failure, ServiceError::Unavailable(_)));
                break;
            }
            model = expected;
            possible = vec![model.clone()];
        }
        let orgs = world.orgs(&store).with_directory_shape(SMALL);
        let truth = truth(&orgs);
        assert!(possible.contains(&truth), "{truth:?}");
        assert_lists(&orgs, &truth);
        // The directory also continues from there.
        create(&orgs, "new");
        assert_eq!(orgs.delete_named("new", &installation()), Ok(true));
        assert_lists(&orgs, &truth);
        if faulty.commits_left() > 0 {
            break;
        }
    }
    assert!(stops > 50, "{stops}");
}

#[test]
fn simultaneous_creates_all_succeed_and_each_is_listed_as_soon_as_it_is_made() {
    let store = MemoryStore::new(SystemClock);
    let orgs = [(); 2].map(|()| {
        Orgs::new(&store, SystemClock, OsRandom)
            .with_edition(Edition::Hosted)
            .with_directory_shape(SMALL)
    });
    let start = Barrier::new(50);
    thread::scope(|scope| {
        for number in 0..50 {
            let (orgs, start) = (&orgs[number % 2], &start);
            scope.spawn(move || {
                start.wait();
                let name = format!("org-{number:02}");
                create(orgs, &name);
                let filter = Filter {
                    name: Some(name.clone()),
                    ..Filter::default()
                };
                let found = orgs.page_at(&Viewer::Everything, &filter, 1, 20);
                assert_eq!(names(&found.unwrap().organizations), [name]);
                create(orgs, &format!("gone-{number:02}"));
                assert_eq!(
                    orgs.delete_named(&format!("gone-{number:02}"), &installation()),
                    Ok(true)
                );
            });
        }
    });
    let model = truth(&orgs[0]);
    assert_eq!(model.len(), 50);
    for orgs in &orgs {
        assert_lists(orgs, &model);
    }
}
