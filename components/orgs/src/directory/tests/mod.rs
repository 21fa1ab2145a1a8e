//! The directory agrees with the organizations themselves, after any changes, stops, damages and simultaneous writers.

mod cost;
mod damage;
mod parts;
mod truth;
mod viewers;

use std::collections::BTreeMap;

use gatehouse_ports::Clock;
use proptest::prelude::*;

use crate::directory::{PartsShape, Shape};
use crate::world::*;
use crate::{CreateError, Filter, Reach, ServiceError, UpdateError, Viewer};

/// So small that a dozen organizations split leaves.
const SMALL: Shape = Shape {
    leaf: 4,
    pending: 5,
    writers_per_look: 1,
    step: 4,
    leaves_per_read: 3,
    leaves_per_batch: 2,
    parts: SMALL_PARTS,
};

/// So small that a dozen organizations make runs of several levels, and a gram that half of them have is common.
const SMALL_PARTS: PartsShape = PartsShape {
    block: 1,
    rows: 2,
    told: 5,
    candidates: 6,
    step: 4,
    worn: 12,
};

const PAGE_SIZE: u32 = 3;

/// Folded names and addresses, in order.
type Model = BTreeMap<String, String>;

/// The names and addresses that the organizations themselves have.
fn truth(orgs: &impl Organizations) -> Model {
    let everything = Viewer::Everything;
    let batch = orgs.list(&everything, &Filter::default(), None, 500);
    let organizations = batch.unwrap().organizations.into_iter();
    organizations
        .map(|found| {
            (
                found.name.to_lowercase(),
                found.settings.email.to_lowercase(),
            )
        })
        .collect()
}

fn filters() -> Vec<Filter> {
    let some = |text: &str| Some(text.to_owned());
    let mut filters = vec![Filter::default()];
    for text in ["A", "b-", "Ü", "@X", "9", "B@x", "aB-", "C--", "üB@Y"] {
        filters.push(Filter {
            name_or_email: some(text),
            ..Filter::default()
        });
        filters.push(Filter {
            name: some(text),
            ..Filter::default()
        });
        filters.push(Filter {
            email: some(text),
            ..Filter::default()
        });
        filters.push(Filter {
            name: some("a"),
            email: some(text),
            ..Filter::default()
        });
    }
    filters
}

fn viewers() -> Vec<Viewer> {
    let named = |exact: &[&str], prefixes: &[&str]| {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Viewer::Workload(Reach {
            names: owned(exact),
            prefixes: owned(prefixes),
            user: None,
        })
    };
    vec![
        Viewer::Everything,
        Viewer::Nothing,
        named(&["B-", "a", "none"], &[]),
        named(&["ab"], &["A", "ab", "b-"]),
        named(&[], &["b", "c-c"]),
        named(&["a"], &["", "z"]),
    ]
}

fn is_seen(viewer: &Viewer, name: &str) -> bool {
    match viewer {
        Viewer::Everything => true,
        Viewer::Workload(reach) => {
            let exact = reach.names.iter().any(|exact| exact.to_lowercase() == name);
            let mut prefixes = reach.prefixes.iter().map(|prefix| prefix.to_lowercase());
            exact || prefixes.any(|prefix| name.starts_with(&prefix))
        }
        Viewer::Nothing | Viewer::Member(_) | Viewer::Only(_) => false,
    }
}

fn is_wanted(filter: &Filter, name: &str, email: &str) -> bool {
    let occurs = |wanted: &Option<String>, texts: &[&str]| {
        let wanted = wanted.as_ref().map(|text| text.to_lowercase());
        wanted.is_none_or(|wanted| texts.iter().any(|text| text.contains(&wanted)))
    };
    occurs(&filter.name_or_email, &[name, email])
        && occurs(&filter.name, &[name])
        && occurs(&filter.email, &[email])
}

fn folded(organizations: &[Organization]) -> Vec<String> {
    let names = organizations.iter().map(|found| found.name.to_lowercase());
    names.collect()
}

/// Asserts that each list, in pages and in batches, is what `model` says.
fn assert_lists(orgs: &impl Organizations, model: &Model) {
    for viewer in &viewers() {
        for filter in &filters() {
            let expected: Vec<&String> = model
                .iter()
                .filter(|(name, email)| is_seen(viewer, name) && is_wanted(filter, name, email))
                .map(|(name, _)| name)
                .collect();
            let mut pages: Vec<&[&String]> = expected.chunks(PAGE_SIZE as usize).collect();
            pages.push(&[]);
            for (number, expected_page) in (1..).zip(pages) {
                let page = orgs.page_at(viewer, filter, number, PAGE_SIZE);
                let page = page.unwrap();
                let found = folded(&page.organizations);
                assert_eq!(
                    found.iter().collect::<Vec<_>>(),
                    expected_page,
                    "{viewer:?} {filter:?} {number}"
                );
                assert_eq!(page.total, expected.len() as u64, "{viewer:?} {filter:?}");
            }
            let mut listed = Vec::new();
            let mut after: Option<String> = None;
            loop {
                let batch = orgs.list(viewer, filter, after.as_deref(), 2);
                let batch = batch.unwrap();
                listed.extend(folded(&batch.organizations));
                after = batch.next;
                if after.is_none() {
                    break;
                }
            }
            assert_eq!(
                listed.iter().collect::<Vec<_>>(),
                expected,
                "{viewer:?} {filter:?}"
            );
        }
    }
}

#[derive(Debug, Clone)]
enum Step {
    Create(String, String),
    Rename(String, String),
    Readdress(String, String),
    Delete(String),
    List,
}

fn name() -> impl Strategy<Value = String> {
    "[a-cB][b-]{0,2}"
}

fn email() -> impl Strategy<Value = String> {
    "[aÜ][b9]{0,1}@[xY]"
}

fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (name(), email()).prop_map(|(name, email)| Step::Create(name, email)),
        2 => (name(), name()).prop_map(|(old, new)| Step::Rename(old, new)),
        2 => (name(), email()).prop_map(|(name, email)| Step::Readdress(name, email)),
        3 => name().prop_map(Step::Delete),
        1 => Just(Step::List),
    ];
    prop::collection::vec(step, 1..most)
}

/// The state of `model` after `step`; `None` where the step is refused.
fn after(model: &Model, step: &Step) -> Option<Model> {
    let mut after = model.clone();
    match step {
        Step::Create(name, email) => {
            let name = name.to_lowercase();
            after.insert(name, email.to_lowercase()).is_none()
        }
        Step::Rename(old, new) => {
            let email = after.remove(&old.to_lowercase())?;
            after.insert(new.to_lowercase(), email).is_none()
        }
        Step::Readdress(name, email) => {
            let name = name.to_lowercase();
            after.insert(name, email.to_lowercase()).is_some()
        }
        Step::Delete(name) => after.remove(&name.to_lowercase()).is_some(),
        Step::List => true,
    }
    .then_some(after)
}

/// Does `step`. Returns true if it was accepted, or the failure of the store.
fn apply(orgs: &impl Organizations, step: &Step) -> Result<bool, ServiceError> {
    let update = |name: &str, changes: &OrganizationChanges| match orgs.update_named(
        name,
        changes,
        &installation(),
    ) {
        Ok(_) => Ok(true),
        Err(UpdateError::Failed(failure)) => Err(failure),
        Err(UpdateError::NotFound | UpdateError::Invalid(_)) => Ok(false),
    };
    match step {
        Step::Create(name, email) => {
            let changes = OrganizationChanges {
                email: text(email),
                ..named(name)
            };
            match orgs.create(&changes, None, &installation()) {
                Ok(_) => Ok(true),
                Err(CreateError::Failed(failure)) => Err(failure),
                Err(CreateError::Invalid(_)) => Ok(false),
            }
        }
        Step::Rename(old, new) => update(old, &rename(new)),
        Step::Readdress(name, email) => {
            let changes = OrganizationChanges {
                email: text(email),
                ..OrganizationChanges::default()
            };
            update(name, &changes)
        }
        Step::Delete(name) => orgs.delete_named(name, &installation()),
        Step::List => {
            let filter = Filter {
                name: Some("b".to_owned()),
                ..Filter::default()
            };
            orgs.page_at(&Viewer::Everything, &filter, 1, 20)?;
            Ok(true)
        }
    }
}

/// Splits leaves, empties them, moves names between them, and lists in between.
fn busy_steps() -> Vec<Step> {
    let names: Vec<String> = ["a", "b", "c"]
        .iter()
        .flat_map(|first| ["", "b", "-", "bb", "b-"].map(|rest| format!("{first}{rest}")))
        .collect();
    let mut steps = Vec::new();
    for (number, name) in names.iter().enumerate() {
        steps.push(Step::Create(name.clone(), format!("a{number}@x")));
        if number == 9 {
            steps.push(Step::List);
        }
    }
    for name in names.iter().take(6) {
        steps.push(Step::Delete(name.clone()));
    }
    for name in names.iter().skip(6) {
        steps.push(Step::Rename(name.clone(), format!("{name}z")));
        steps.push(Step::Readdress(format!("{name}z"), "ü@x".to_owned()));
    }
    steps
}

fn in_directory<C: Clock>(store: &MemoryStore<C>) -> Vec<String> {
    let keys = store.keys().into_iter();
    keys.filter(|key| key.starts_with("directory/")).collect()
}
