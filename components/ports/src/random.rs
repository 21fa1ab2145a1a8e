//! Unpredictable bytes.

/// The source of randomness failed; nothing may be made from a fallback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the host's source of randomness failed")]
pub struct RandomError;

/// A cryptographically secure source of random bytes.
pub trait Random {
    /// Fills `bytes` completely.
    ///
    /// # Errors
    ///
    /// When the source fails; what is in `bytes` must then not be used.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError>;
}

/// The generator of the operating system, or of the WASI host.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsRandom;

impl Random for OsRandom {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        getrandom::fill(bytes).map_err(|_| RandomError)
    }
}
