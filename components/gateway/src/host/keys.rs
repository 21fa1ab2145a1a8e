//! The keys that seal the stored data (SEC-K4).

use super::SealError;

pub use super::bindings::gatehouse::host::seal::{KeyStatus, RotationPolicy};

/// The keys of the stores. The WIT interface is the specification.
pub trait Keys {
    /// The key that seals new data.
    fn current(&self) -> Result<KeyStatus, SealError>;

    /// Adds a key, which seals new data from now on.
    fn rotate(&self) -> Result<(), SealError>;

    /// The policy for the automatic rotation of the key.
    fn policy(&self) -> Result<RotationPolicy, SealError>;

    /// Replaces the policy.
    fn set_policy(&self, policy: RotationPolicy) -> Result<(), SealError>;
}
