//! Numbers that generated clients can read.

/// The largest number in an answer: generated clients read integers as 32 bits with a sign, and refuse a whole list for one that is
/// larger.
pub const LARGEST_NUMBER: u32 = 2_147_483_647;

/// A number as clients can read it: in stores that are older there are larger ones.
pub fn readable(number: Option<u64>) -> Option<u64> {
    number.map(|number| number.min(LARGEST_NUMBER.into()))
}
