//! One list of requests, asked of the release server and of an OpenBao dev server: their answers are alike, but for the
//! differences that a table explains.

// What clippy allows in test functions holds for their helpers as well.
#![allow(missing_docs)]

mod differences;
mod http;
mod normalise;
mod requests;
mod step;
mod worlds;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use self::differences::DIFFERENCES;
use self::normalise::{Mismatch, differences};
use self::step::{Kept, Step};
use self::worlds::{InProcess, Reference, Released, World};

/// How many requests the list has to have.
const LEAST_REQUESTS: usize = 300;

/// Asks both servers everything, one request after the other, and reports whatever is not explained.
fn compare(reference: &dyn World, ours: &dyn World, steps: &[Step]) -> Result<(), String> {
    let (mut theirs, mut mine) = (Kept::of(reference), Kept::of(ours));
    let mut used: BTreeSet<usize> = BTreeSet::new();
    let mut report = String::new();
    for step in steps {
        let label = step.label();
        let answers = (step.ask(reference, &mut theirs), step.ask(ours, &mut mine));
        let mismatches = differences((&answers.0, &theirs), (&answers.1, &mine));
        let unexplained: Vec<&Mismatch> = mismatches
            .iter()
            .filter(|mismatch| {
                let explaining: Vec<usize> = (0..DIFFERENCES.len())
                    .filter(|row| DIFFERENCES[*row].explains(&label, mismatch))
                    .collect();
                used.extend(&explaining);
                explaining.is_empty()
            })
            .collect();
        if !unexplained.is_empty() {
            let _ = writeln!(report, "{label}");
            for mismatch in unexplained {
                let _ = writeln!(report, "    {}", mismatch.part);
                let _ = writeln!(report, "        reference: {}", shown(&mismatch.reference));
                let _ = writeln!(report, "        ours:      {}", shown(&mismatch.ours));
            }
        }
    }
    for (row, difference) in DIFFERENCES.iter().enumerate() {
        if !used.contains(&row) {
            let _ = writeln!(report, "explains nothing: {difference:?}");
        }
    }
    if report.is_empty() {
        Ok(())
    } else {
        Err(report)
    }
}

fn shown(value: &Option<serde_json::Value>) -> String {
    value
        .as_ref()
        .map_or_else(|| "nothing".to_owned(), ToString::to_string)
}

#[test]
fn the_release_server_answers_as_the_reference_does() {
    let steps = requests::all();
    assert!(steps.len() >= LEAST_REQUESTS, "only {}", steps.len());
    if let Err(report) = compare(&Reference::start(), &Released::start(), &steps) {
        panic!("unexplained:\n{report}");
    }
}

#[test]
fn the_gateway_alone_answers_as_the_reference_does() {
    if let Err(report) = compare(&Reference::start(), &InProcess::start(), &requests::all()) {
        panic!("unexplained:\n{report}");
    }
}
