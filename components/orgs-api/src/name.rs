//! The rules about names of organizations (contract 2.7).

use std::fmt;

use gatehouse_storage::key_segment;

use crate::Fault;

/// Most characters in a name.
pub const MAXIMUM_NAME_CHARACTERS: u32 = 90;

/// A name as it is compared: lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoldedName(String);

impl FoldedName {
    /// `name` without its case; `None` where nothing can have that name.
    pub fn fold(name: &str) -> Option<Self> {
        faults(name)
            .next()
            .is_none()
            .then(|| Self(name.to_ascii_lowercase()))
    }

    /// Its text, which is safe in a key.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FoldedName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// `name` as all spellings of it are compared: in lower case. `None` where no organization can have that name.
///
/// For callers that name an organization elsewhere, such as in the path that a policy grants: two spellings of the same organization must
/// give the same text.
#[must_use]
pub fn folded_name(name: &str) -> Option<String> {
    FoldedName::fold(name).map(|folded| folded.0)
}

/// The faults that keep `name` from being a name, whether it is free or not.
pub fn faults(name: &str) -> impl Iterator<Item = Fault> + use<> {
    faults_unless(name, name.chars().all(is_allowed))
}

/// A name of a team as it is compared: lower case. Dots, slashes and, within it, blanks may stand in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoldedTeamName(String);

impl FoldedTeamName {
    /// `name` without its case; `None` where no team can have that name.
    pub fn fold(name: &str) -> Option<Self> {
        team_faults(name)
            .next()
            .is_none()
            .then(|| Self(name.to_ascii_lowercase()))
    }

    /// Its text made safe in a key.
    pub fn segment(&self) -> String {
        key_segment(&self.0)
    }
}

/// The faults that keep `name` from being the name of a team, whether it is free or not.
pub fn team_faults(name: &str) -> impl Iterator<Item = Fault> + use<> {
    let within = name
        .chars()
        .all(|it| is_allowed(it) || matches!(it, '.' | '/' | ' '));
    faults_unless(name, within && name.trim_matches(' ') == name)
}

const fn is_allowed(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '_')
}

fn faults_unless(name: &str, allowed: bool) -> impl Iterator<Item = Fault> + use<> {
    let too_long = Fault::TooLong(MAXIMUM_NAME_CHARACTERS);
    [
        (name.is_empty(), Fault::Blank),
        (!allowed, Fault::ForbiddenCharacter),
        (
            name.chars().nth(MAXIMUM_NAME_CHARACTERS as usize).is_some(),
            too_long,
        ),
    ]
    .into_iter()
    .filter_map(|(applies, fault)| applies.then_some(fault))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all_faults(name: &str) -> Vec<Fault> {
        faults(name).collect()
    }

    const TOO_LONG: Fault = Fault::TooLong(90);

    #[test]
    fn contract_2_7_letters_digits_dash_and_underscore_up_to_ninety_are_a_name() {
        for name in ["a", "ACME_corp-01", "-", "_", &"n".repeat(90)] {
            assert_eq!(all_faults(name), [], "{name}");
        }
    }

    #[test]
    fn contract_2_7_everything_else_is_not() {
        assert_eq!(all_faults(""), [Fault::Blank]);
        assert_eq!(all_faults(&"n".repeat(91)), [TOO_LONG]);
        for name in [
            " acme",
            "acme ",
            "a.b",
            "a/b",
            "acmé",
            "\u{212a}elvin",
            "a\0",
        ] {
            assert_eq!(all_faults(name), [Fault::ForbiddenCharacter], "{name}");
        }
        let both = "é".repeat(91);
        assert_eq!(all_faults(&both), [Fault::ForbiddenCharacter, TOO_LONG]);
    }

    #[test]
    fn contract_4_10_blanks_may_stand_within_the_name_of_a_team() {
        let folded = FoldedTeamName::fold("Foo  Bar").unwrap();
        assert_eq!(folded.segment(), "foo%20%20bar");
        assert_ne!(Some(folded), FoldedTeamName::fold("foo bar"));
        let plain = FoldedTeamName::fold("Ops_1-a").unwrap();
        assert_eq!(plain.segment(), "ops_1-a");
        for name in [
            " foo", "foo ", " ", "a\tb", "a%20b", "a\u{a0}b", "a\\b", "a+b",
        ] {
            let found: Vec<_> = team_faults(name).collect();
            assert_eq!(found, [Fault::ForbiddenCharacter], "{name}");
            assert_eq!(FoldedTeamName::fold(name), None);
        }
        assert_eq!(team_faults("").collect::<Vec<_>>(), [Fault::Blank]);
    }

    #[test]
    fn contract_4_10_dots_and_slashes_may_stand_in_the_name_of_a_team() {
        for name in ["team/name/with/slashes", "v1.2", "/", "..", "a//b"] {
            let folded = FoldedTeamName::fold(name).unwrap();
            assert!(!folded.segment().contains('/'), "{name}");
        }
        let segment = |name| FoldedTeamName::fold(name).unwrap().segment();
        assert_ne!(segment("a/b"), segment("a.b"));
        assert_eq!(segment("A/B"), segment("a/b"));
    }

    proptest! {
        #[test]
        fn names_that_differ_only_in_case_fold_to_one(name in "[A-Za-z0-9_-]{1,90}") {
            let folded = FoldedName::fold(&name).unwrap();
            prop_assert_eq!(&folded, &FoldedName::fold(&name.to_ascii_uppercase()).unwrap());
            prop_assert_eq!(FoldedName::fold(folded.as_str()), Some(folded));
        }

        #[test]
        fn what_is_no_name_folds_to_nothing(text in ".*") {
            prop_assert_eq!(FoldedName::fold(&text).is_none(), faults(&text).next().is_some());
        }
    }
}
