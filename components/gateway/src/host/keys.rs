//! The keys that seal what is stored (SEC-K4).

use super::SealError;

pub use super::bindings::gatehouse::host::seal::{KeyStatus, RotationPolicy};

/// The keys of the stores. The WIT interface is the specification.
pub trait Keys {
    /// The key that seals what is stored now.
    fn current(&self) -> Result<KeyStatus, SealError>;

    /// Adds a key, which seals what is stored from now on.
    fn rotate(&self) -> Result<(), SealError>;

    /// The policy by which the key is replaced without a caller asking for it.
    fn policy(&self) -> Result<RotationPolicy, SealError>;

    /// Keeps another policy.
    fn set_policy(&self, policy: RotationPolicy) -> Result<(), SealError>;
}
