//! The failures of beats in a row, of which an operator is told each kind once.

use gatehouse_ports::StoreError;

/// How many kinds are told of one outage, so that no cause which comes and goes, or is worded anew each time, fills the log.
const KINDS: usize = 8;

/// The time from the first beat that failed to the next one that did not.
#[derive(Debug, Default)]
pub struct Outage {
    /// The kinds that were told.
    told: Vec<String>,
}

impl Outage {
    /// Notes a failure. True if it is of a kind that was not told since the outage began.
    pub fn is_news(&mut self, error: &StoreError) -> bool {
        let kind = kind(&error.to_string());
        let is_news = self.told.len() < KINDS && !self.told.contains(&kind);
        if is_news {
            self.told.push(kind);
        }
        is_news
    }

    /// Notes a beat that did not fail. True if it ends an outage.
    pub fn end(&mut self) -> bool {
        let told = std::mem::take(&mut self.told);
        !told.is_empty()
    }
}

/// The text of a failure without what may differ from one beat to the next: figures, and names in quotes. What it says and how it is mended
/// remain.
fn kind(text: &str) -> String {
    let unquoted = text.split('"').step_by(2);
    let words = unquoted.flat_map(str::chars);
    words.filter(|one| !one.is_ascii_digit()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(text: &str) -> StoreError {
        StoreError::Unavailable(text.to_owned())
    }

    #[test]
    fn each_kind_of_failure_is_told_once_in_an_outage_however_often_they_alternate() {
        let mut outage = Outage::default();
        let refused = failed("connection refused; start the database server");
        let password = failed("password authentication failed for user \"gatehouse\" (28P01)");
        assert!(outage.is_news(&refused));
        for _ in 0..3 {
            assert!(!outage.is_news(&refused));
        }
        assert!(outage.is_news(&password));
        for failure in [&refused, &password, &refused] {
            assert!(!outage.is_news(failure));
        }
        assert!(outage.end());
        assert!(!outage.end(), "it has ended");
        assert!(outage.is_news(&refused), "another one has begun");
    }

    #[test]
    fn a_failure_is_of_the_same_kind_with_another_figure_or_name() {
        let mut outage = Outage::default();
        let full = |file: &str| failed(&format!("could not extend file \"base/{file}\" (53100)"));
        assert!(outage.is_news(&full("1/2")));
        assert!(!outage.is_news(&full("1/other")));
        assert!(outage.is_news(&failed("no answer after 1900 ms")));
        assert!(!outage.is_news(&failed("no answer after 1901 ms")));
    }

    #[test]
    fn a_failure_that_is_always_worded_anew_does_not_fill_the_log() {
        let mut outage = Outage::default();
        let told = (0..100)
            .filter(|length| outage.is_news(&failed(&"x".repeat(*length))))
            .count();
        assert_eq!(told, KINDS);
    }
}
