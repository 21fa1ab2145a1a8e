//! The same checks for a login and for the explanation of one.
//!
//! A login ends with the first check that does not hold. An explanation records every check, and continues as long as the next checks
//! still mean something.

use crate::{Check, CheckReport, LoginError, Verdict};

/// The values that a check looked at, by their names.
pub(crate) type Inputs = Vec<(String, String)>;

/// A receiver of checks.
pub(crate) trait Trace {
    /// A check that later ones need: they are not made when it does not hold.
    fn require<T>(
        &mut self,
        check: Check,
        inputs: impl FnOnce() -> Inputs,
        outcome: Result<T, LoginError>,
    ) -> Result<T, LoginError>;

    /// A check that says nothing about later ones.
    fn judge(
        &mut self,
        check: Check,
        inputs: impl FnOnce() -> Inputs,
        outcome: Result<(), LoginError>,
    ) -> Result<(), LoginError>;
}

/// The trace of a login: the first check that does not hold ends it.
pub(crate) struct Decide;

impl Trace for Decide {
    fn require<T>(
        &mut self,
        _: Check,
        _: impl FnOnce() -> Inputs,
        outcome: Result<T, LoginError>,
    ) -> Result<T, LoginError> {
        outcome
    }

    fn judge(
        &mut self,
        _: Check,
        _: impl FnOnce() -> Inputs,
        outcome: Result<(), LoginError>,
    ) -> Result<(), LoginError> {
        outcome
    }
}

/// The trace of an explanation: it records every check.
#[derive(Debug, Default)]
pub(crate) struct Explain {
    reports: Vec<CheckReport>,
}

impl Explain {
    /// The reports so far, and after them those of `planned` that were not made.
    pub(crate) fn into_reports(mut self, planned: &[Check]) -> Vec<CheckReport> {
        for check in planned {
            if !self.reports.iter().any(|report| report.check == *check) {
                self.reports.push(CheckReport {
                    check: *check,
                    inputs: Vec::new(),
                    verdict: Verdict::NotRun,
                });
            }
        }
        self.reports
    }

    /// Records a check. A check that was recorded before is replaced if it held then.
    fn note(&mut self, check: Check, inputs: Inputs, verdict: Verdict) {
        let report = CheckReport {
            check,
            inputs,
            verdict,
        };
        match self.reports.iter_mut().find(|known| known.check == check) {
            None => self.reports.push(report),
            Some(known) if known.verdict == Verdict::Passed => *known = report,
            Some(_) => {}
        }
    }
}

impl Trace for Explain {
    fn require<T>(
        &mut self,
        check: Check,
        inputs: impl FnOnce() -> Inputs,
        outcome: Result<T, LoginError>,
    ) -> Result<T, LoginError> {
        let verdict = match &outcome {
            Ok(_) => Verdict::Passed,
            Err(error) => Verdict::Failed(error.clone()),
        };
        self.note(check, inputs(), verdict);
        outcome
    }

    fn judge(
        &mut self,
        check: Check,
        inputs: impl FnOnce() -> Inputs,
        outcome: Result<(), LoginError>,
    ) -> Result<(), LoginError> {
        // The next checks are made whatever the outcome; only the record is wanted.
        let _ = self.require(check, inputs, outcome);
        Ok(())
    }
}

/// A condition as the outcome of a check.
pub(crate) trait Condition {
    /// `Ok` when it holds, else `error`.
    fn otherwise(self, error: LoginError) -> Result<(), LoginError>;
    /// As [`Self::otherwise`], with the error made only when it is needed.
    fn otherwise_with(self, error: impl FnOnce() -> LoginError) -> Result<(), LoginError>;
}

impl Condition for bool {
    fn otherwise(self, error: LoginError) -> Result<(), LoginError> {
        self.otherwise_with(|| error)
    }

    fn otherwise_with(self, error: impl FnOnce() -> LoginError) -> Result<(), LoginError> {
        if self { Ok(()) } else { Err(error()) }
    }
}

/// One input of a check.
pub(crate) fn input(name: &'static str, value: impl std::fmt::Display) -> (String, String) {
    (name.to_owned(), value.to_string())
}

/// An input that is a list.
pub(crate) fn list(name: &'static str, values: &[String]) -> (String, String) {
    input(name, values.join(", "))
}
