//! The differences that are meant, each with its reason.

/// A row: which requests, which part of their answers, what the reference says there, what we say, and why.
macro_rules! rows {
    ($($requests:expr, $part:expr, $reference:expr, $ours:expr, $because:expr;)*) => {
        &[$(Difference::new(&$requests, $part, $reference, $ours, $because)),*]
    };
}

mod openbao;
mod reasons;
mod table;
mod vault;

pub use self::vault::{OUR_LOGIN_TEXTS, OUR_ROLE_WARNINGS};

use serde_json::Value;

use crate::normalise::Mismatch;

/// The rows that are about OpenBao.
pub fn of_openbao() -> Vec<&'static Difference> {
    table::DIFFERENCES
        .iter()
        .chain(openbao::DIFFERENCES)
        .collect()
}

/// The rows that are about Vault.
pub fn of_vault() -> Vec<&'static Difference> {
    table::DIFFERENCES
        .iter()
        .chain(vault::DIFFERENCES)
        .collect()
}

/// A difference that is meant.
#[derive(Debug)]
pub struct Difference {
    /// The labels of the requests that it concerns; `*` stands for any text.
    requests: &'static [&'static str],
    /// The part of the answer that it concerns; `*` stands for any text.
    part: &'static str,
    reference: Seen,
    ours: Seen,
    /// Why, with the section of the contract and the number in its register.
    because: &'static str,
}

/// The value that a server gives there.
#[derive(Debug)]
enum Seen {
    Nothing,
    /// Whatever it is, but something.
    Something,
    /// Something or nothing.
    Anything,
    /// This JSON value.
    Is(&'static str),
    /// A value whose JSON text has this in it.
    Has(&'static str),
    /// A list of texts that begin with one of these, each.
    Begin(&'static [&'static str]),
}

impl Difference {
    const fn new(
        requests: &'static [&'static str],
        part: &'static str,
        reference: Seen,
        ours: Seen,
        because: &'static str,
    ) -> Self {
        Self {
            requests,
            part,
            reference,
            ours,
            because,
        }
    }

    /// True if this row is about what was seen in the answers to the request with this label.
    pub fn explains(&self, label: &str, mismatch: &Mismatch) -> bool {
        debug_assert!(!self.because.is_empty(), "a reason is needed");
        self.requests.iter().any(|pattern| matches(pattern, label))
            && matches(self.part, &mismatch.part)
            && self.reference.is(mismatch.reference.as_ref())
            && self.ours.is(mismatch.ours.as_ref())
    }
}

impl Seen {
    fn is(&self, value: Option<&Value>) -> bool {
        match (self, value) {
            (Self::Nothing, None) | (Self::Something, Some(_)) | (Self::Anything, _) => true,
            (Self::Is(text), Some(value)) => serde_json::from_str::<Value>(text).unwrap() == *value,
            (Self::Has(part), Some(value)) => value.to_string().contains(part),
            (Self::Begin(known), Some(Value::Array(texts))) => {
                let is_known = |text: &str| known.iter().any(|known| text.starts_with(known));
                !texts.is_empty() && texts.iter().all(|text| text.as_str().is_some_and(is_known))
            }
            _ => false,
        }
    }
}

/// True if a text is one that the pattern stands for.
fn matches(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = text.strip_prefix(pieces.next().unwrap_or_default()) else {
        return false;
    };
    let mut pieces: Vec<&str> = pieces.collect();
    let Some(last) = pieces.pop() else {
        return rest.is_empty();
    };
    for piece in pieces {
        let Some(at) = rest.find(piece) else {
            return false;
        };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

/// The numbers of differences in the register of the contract.
fn register() -> std::collections::BTreeSet<&'static str> {
    let contract = include_str!("../../../docs/contract/auth-method.md");
    let rows = contract.lines().filter_map(|line| line.strip_prefix("| D"));
    rows.filter_map(|row| row.split_once(" |"))
        .map(|(number, _)| number)
        .collect()
}

#[test]
fn each_reason_names_a_difference_of_the_register() {
    let register = register();
    assert!(register.len() > 80, "{register:?}");
    let number = regex::Regex::new(r"\bD(\d+)\b").unwrap();
    for difference in of_openbao().iter().chain(&of_vault()) {
        let named: Vec<&str> = number
            .captures_iter(difference.because)
            .filter_map(|found| found.get(1))
            .map(|number| number.as_str())
            .collect();
        assert!(!named.is_empty(), "no number: {difference:?}");
        for named in named {
            assert!(
                register.contains(named),
                "the register has no D{named}: {difference:?}"
            );
        }
    }
}
