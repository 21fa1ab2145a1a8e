//! Judging what a request says about anything but an organization's own settings.

use crate::numbers::LARGEST_NUMBER;
use crate::{Attribute, AttributeIssue, ChangeError, Fault};

/// Longest text of an attribute that is kept as it was given, in characters.
const MAXIMUM_TEXT_CHARACTERS: u32 = 64;

/// Brings what a request says into what is stored, and collects what is wrong with it.
#[derive(Default)]
pub(crate) struct Issues(Vec<AttributeIssue>);

impl Issues {
    /// Notes a fault of the attribute of this dashed name.
    pub fn add(&mut self, attribute: &'static str, fault: Fault) {
        self.0.push(AttributeIssue::new(attribute, fault));
    }

    /// The value that was given, if any; something of a wrong type is this fault.
    pub fn given<T: Copy>(
        &mut self,
        attribute: &'static str,
        change: &Attribute<T>,
        wrong_type: Fault,
    ) -> Option<T> {
        match change {
            Attribute::Absent | Attribute::Null => None,
            Attribute::WrongType => {
                self.add(attribute, wrong_type);
                None
            }
            Attribute::Value(value) => Some(*value),
        }
    }

    /// A number that clients can read, if one was given.
    pub fn number(&mut self, attribute: &'static str, change: &Attribute<i64>) -> Option<i64> {
        let number = self.given(attribute, change, Fault::NotInteger)?;
        if number > i64::from(LARGEST_NUMBER) {
            self.add(attribute, Fault::TooLarge(LARGEST_NUMBER));
        } else if number < -i64::from(LARGEST_NUMBER) {
            self.add(attribute, Fault::Negative);
        }
        Some(number)
    }

    /// True or false; null resets it.
    pub fn flag(
        &mut self,
        attribute: &'static str,
        change: &Attribute<bool>,
        default: bool,
        stored: &mut bool,
    ) {
        match change {
            Attribute::Absent => {}
            Attribute::Null => *stored = default,
            Attribute::WrongType => self.add(attribute, Fault::NotBoolean),
            Attribute::Value(flag) => *stored = *flag,
        }
    }

    /// A number that is neither negative nor more than clients can read; null stands for no limit.
    pub fn limit(
        &mut self,
        attribute: &'static str,
        change: &Attribute<i64>,
        stored: &mut Option<u64>,
    ) {
        match change {
            Attribute::Absent => {}
            Attribute::Null => *stored = None,
            Attribute::WrongType => self.add(attribute, Fault::NotInteger),
            Attribute::Value(number) => match u64::try_from(*number) {
                Ok(number) if number > u64::from(LARGEST_NUMBER) => {
                    self.add(attribute, Fault::TooLarge(LARGEST_NUMBER));
                }
                Ok(number) => *stored = Some(number),
                Err(_) => self.add(attribute, Fault::Negative),
            },
        }
    }

    /// A number from 1 to `highest`; null resets it.
    pub fn bound(
        &mut self,
        attribute: &'static str,
        change: &Attribute<i64>,
        default: u32,
        highest: u32,
        stored: &mut u32,
    ) {
        match change {
            Attribute::Absent => {}
            Attribute::Null => *stored = default,
            Attribute::WrongType => self.add(attribute, Fault::NotInteger),
            Attribute::Value(number) if *number < 1 => self.add(attribute, Fault::NotPositive),
            Attribute::Value(number) => match u32::try_from(*number) {
                Ok(number) if number <= highest => *stored = number,
                _ => self.add(attribute, Fault::TooLarge(highest)),
            },
        }
    }

    /// A short text, kept as it is; null stands for none.
    pub fn short_text(
        &mut self,
        attribute: &'static str,
        change: &Attribute<String>,
        stored: &mut Option<String>,
    ) {
        match change {
            Attribute::Absent => {}
            Attribute::Null => *stored = None,
            Attribute::WrongType => self.add(attribute, Fault::NotText),
            Attribute::Value(text) if text.chars().count() > MAXIMUM_TEXT_CHARACTERS as usize => {
                self.add(attribute, Fault::TooLong(MAXIMUM_TEXT_CHARACTERS));
            }
            Attribute::Value(text) => *stored = Some(text.clone()),
        }
    }

    /// Refuses what has faults.
    ///
    /// # Errors
    ///
    /// [`ChangeError::Invalid`] with all of them, in the order in which they were found.
    pub fn none_or_refused(self) -> Result<(), ChangeError> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(ChangeError::Invalid(self.0))
        }
    }
}
