//! One list of requests, asked of the release server and of a dev server of OpenBao or of Vault: their answers are alike, but for the
//! differences that a table explains.

// Helpers of tests may do all that clippy allows in test functions.
#![allow(missing_docs)]

mod bundle;
mod differences;
mod google_proxy;
mod http;
mod normalise;
mod requests;
mod step;
mod worlds;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use gatehouse_fake_google::FakeGoogle;

use self::differences::{Difference, OUR_LOGIN_TEXTS, OUR_ROLE_WARNINGS, of_openbao, of_vault};
use self::google_proxy::google_proxy;
use self::normalise::{Mismatch, differences};
use self::step::{Kept, Step};
use self::worlds::{InProcess, Reference, Released, World};

/// How many requests the list has to have.
const LEAST_REQUESTS: usize = 650;

/// How many more of the method alone.
const LEAST_REQUESTS_OF_THE_METHOD: usize = 500;

/// The requests, and what is known before them.
struct Questions<'a> {
    steps: &'a [Step],
    /// Names of values in requests, and the values.
    facts: &'a [(String, String)],
    /// The Google that the steps change, if they change anything.
    google: Option<&'a FakeGoogle>,
}

/// Asks both servers everything, one request after the other, and reports whatever is not explained.
fn compare(
    reference: &dyn World,
    ours: &dyn World,
    questions: &Questions<'_>,
    table: &[&Difference],
) -> Result<(), String> {
    println!("{} requests", questions.steps.len());
    let facts = questions.facts;
    let (mut theirs, mut mine) = (
        Kept::known_before(reference, facts),
        Kept::known_before(ours, facts),
    );
    let mut used: BTreeSet<usize> = BTreeSet::new();
    let mut report = String::new();
    for step in questions.steps {
        let label = step.label();
        if let Some(google) = questions.google {
            step.change(google);
        }
        let answers = (step.ask(reference, &mut theirs), step.ask(ours, &mut mine));
        let mismatches = differences((&answers.0, &theirs), (&answers.1, &mine));
        let unexplained: Vec<&Mismatch> = mismatches
            .iter()
            .filter(|mismatch| {
                let explaining: Vec<usize> = (0..table.len())
                    .filter(|row| table[*row].explains(&label, mismatch))
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
    for (row, difference) in table.iter().enumerate() {
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

/// The list that needs no Google.
fn compare_without_google(
    reference: &dyn World,
    ours: &dyn World,
    table: &[&Difference],
) -> Result<(), String> {
    let steps = requests::all();
    assert!(steps.len() >= LEAST_REQUESTS, "only {}", steps.len());
    let questions = Questions {
        steps: &steps,
        facts: &[],
        google: None,
    };
    compare(reference, ours, &questions, table)
}

#[test]
fn the_release_server_answers_as_the_reference_does() {
    // Ours first: it may have to be built, and what both tell of their start is compared.
    let (ours, reference) = (Released::start(), Reference::openbao());
    if let Err(report) = compare_without_google(&reference, &ours, &of_openbao()) {
        panic!("unexplained:\n{report}");
    }
}

#[test]
fn the_gateway_alone_answers_as_the_reference_does() {
    let (reference, ours) = (Reference::openbao(), InProcess::start());
    if let Err(report) = compare_without_google(&reference, &ours, &of_openbao()) {
        panic!("unexplained:\n{report}");
    }
}

/// The requests where the reference has the method of Google Cloud.
fn steps_with_google() -> Vec<Step> {
    let method = requests::gcp::requests();
    assert!(
        method.len() >= LEAST_REQUESTS_OF_THE_METHOD,
        "only {}",
        method.len()
    );
    [requests::all(), requests::newer::requests(), method].concat()
}

/// The statements of Vault's table about our texts hold without Vault.
#[test]
fn our_refusals_of_logins_and_warnings_about_roles_begin_as_the_table_says() {
    let ours = Released::start();
    let google = ours.google();
    let mut kept = Kept::known_before(&ours, &requests::gcp::facts(google));
    let (mut refusals, mut warnings) = (0, 0);
    for step in steps_with_google() {
        step.change(google);
        let answer = step.ask(&ours, &mut kept);
        let label = step.label();
        let (member, known, seen) = if label.starts_with("POST auth/g/login ") {
            ("errors", OUR_LOGIN_TEXTS, &mut refusals)
        } else if label.starts_with("POST auth/g/role/") {
            ("warnings", OUR_ROLE_WARNINGS, &mut warnings)
        } else {
            continue;
        };
        let body: serde_json::Value = serde_json::from_str(&answer.body).unwrap_or_default();
        for text in body[member].as_array().into_iter().flatten() {
            *seen += 1;
            let text = text.as_str().unwrap();
            let is_known = known.iter().any(|known| text.starts_with(known));
            assert!(is_known, "{label}: {text}");
        }
    }
    assert!(refusals > 40, "only {refusals} refusals");
    assert!(warnings > 10, "only {warnings} warnings");
}

/// Everything, the method of Google Cloud included: both servers have the same Google.
#[test]
#[cfg_attr(
    not(with_vault),
    ignore = "no program of Vault is given: GATEHOUSE_VAULT (docs/contributing/references.md)"
)]
fn the_release_server_answers_as_vault_does() {
    let ours = Released::start();
    let google = ours.google();
    let proxy = google_proxy(google);
    let reference = Reference::vault(&proxy);
    let questions = Questions {
        steps: &steps_with_google(),
        facts: &requests::gcp::facts(google),
        google: Some(google),
    };
    if let Err(report) = compare(&reference, &ours, &questions, &of_vault()) {
        panic!("unexplained:\n{report}");
    }
}
