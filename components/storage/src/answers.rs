//! Checks that an answer of a host about its store fits the question.
//!
//! A host can be wrong about its store, and an embedder's first implementation often is. An answer that does not fit must not be used: with
//! an entry too few, a record would read as absent, and a page that makes no progress would be read indefinitely.

use gatehouse_ports::{Difference, HeldKey, Item, Page, StoreError};

fn no_answer(why: &str) -> StoreError {
    StoreError::Unavailable(format!("the host's store gave no answer: {why}"))
}

/// As many answers as there were keys.
pub fn of_each_key<T>(keys: usize, answers: Vec<T>) -> Result<Vec<T>, StoreError> {
    if answers.len() == keys {
        Ok(answers)
    } else {
        Err(no_answer("not one entry for each key"))
    }
}

/// The same, of which only entries that are held can be unchanged.
pub fn of_held_keys(
    keys: &[HeldKey],
    answers: Vec<Difference>,
) -> Result<Vec<Difference>, StoreError> {
    let answers = of_each_key(keys.len(), answers)?;
    let unknown = |(key, answer): (&HeldKey, &Difference)| {
        key.version.is_none() && *answer == Difference::Unchanged
    };
    if keys.iter().zip(&answers).any(unknown) {
        return Err(no_answer("an entry is unchanged that was not held"));
    }
    Ok(answers)
}

/// Entries of which each is one that was asked for, in their order, and at least one where more are promised.
pub fn of_scan(
    prefix: &str,
    after: Option<&str>,
    limit: u32,
    page: Page,
) -> Result<Page, StoreError> {
    if page.items.len() > usize::try_from(limit).unwrap_or(usize::MAX) {
        return Err(no_answer("a page with more entries than were asked for"));
    }
    if page.more && page.items.is_empty() {
        return Err(no_answer("an empty page with more to come"));
    }
    let mut before = after;
    for Item { key, .. } in &page.items {
        if !key.starts_with(prefix) {
            return Err(no_answer("an entry outside the prefix"));
        }
        if before.is_some_and(|before| key.as_str() <= before) {
            return Err(no_answer("entries out of order"));
        }
        before = Some(key);
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use gatehouse_ports::Entry;

    use super::*;

    fn page(keys: &[&str], more: bool) -> Page {
        let item = |key: &&str| Item {
            key: (*key).to_owned(),
            entry: Entry {
                value: Vec::new(),
                version: 1,
            },
        };
        Page {
            items: keys.iter().map(item).collect(),
            more,
        }
    }

    fn is_refused<T>(answer: Result<T, StoreError>) -> bool {
        matches!(answer, Err(StoreError::Unavailable(_)))
    }

    #[test]
    fn an_entry_too_many_or_too_few_is_no_answer() {
        assert_eq!(of_each_key(2, vec![1, 2]), Ok(vec![1, 2]));
        assert!(is_refused(of_each_key(2, vec![1])));
        assert!(is_refused(of_each_key(2, vec![1, 2, 3])));
    }

    #[test]
    fn nothing_is_unchanged_that_nobody_held() {
        let held = HeldKey {
            key: "a".into(),
            version: Some(1),
        };
        let unchanged = || vec![Difference::Unchanged];
        assert!(of_held_keys(std::slice::from_ref(&held), unchanged()).is_ok());
        assert!(is_refused(of_held_keys(
            &[HeldKey::unknown("a")],
            unchanged()
        )));
        assert!(is_refused(of_held_keys(&[held], Vec::new())));
    }

    #[test]
    fn a_page_holds_what_was_asked_for_in_order() {
        let answer = |after, limit, page| of_scan("a/", after, limit, page);
        assert!(answer(None, 2, page(&["a/1", "a/2"], true)).is_ok());
        assert!(answer(Some("a/1"), 2, page(&["a/2"], false)).is_ok());
        assert!(answer(None, 2, page(&[], false)).is_ok());
        for (why, after, items, more) in [
            ("outside", None, &["b/1"][..], false),
            ("out of order", None, &["a/2", "a/1"], false),
            ("twice", None, &["a/1", "a/1"], false),
            ("not after", Some("a/1"), &["a/1"], false),
            ("no progress", Some("a/1"), &[], true),
            ("too many", None, &["a/1", "a/2", "a/3"], false),
        ] {
            assert!(is_refused(answer(after, 2, page(items, more))), "{why}");
        }
    }
}
