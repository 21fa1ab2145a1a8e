//! The bounds of a policy by which data keys are replaced, for the code that takes it from a client and for the code that keeps it.

/// The largest number of records after which a key is replaced, and the default: nine tenths of 2^32, as clients of the protocol know it.
pub const MOST_OPERATIONS: u64 = 3_865_470_566;
/// The smallest such number.
pub const FEWEST_OPERATIONS: u64 = 1_000_000;
/// The shortest interval that is not 0, in seconds.
pub const SHORTEST_INTERVAL: u64 = 24 * 60 * 60;
