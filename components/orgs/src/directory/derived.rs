//! What follows from a record and is kept beside it while the record is kept decoded.

use std::sync::OnceLock;

/// A value that is worked out from the record it is in, at its first use. The record must not be changed after that; a copy of it begins without
/// the value, so it may be.
#[derive(Debug)]
pub struct Derived<T>(OnceLock<T>);

impl<T> Derived<T> {
    pub const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// The value, which `work_out` tells where it is not known yet.
    ///
    /// # Errors
    ///
    /// Those of `work_out`.
    pub fn get<E>(&self, work_out: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        if let Some(known) = self.0.get() {
            return Ok(known);
        }
        let value = work_out()?;
        Ok(self.0.get_or_init(|| value))
    }
}

impl<T> Default for Derived<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Clone for Derived<T> {
    fn clone(&self) -> Self {
        Self::new()
    }
}

impl<T> PartialEq for Derived<T> {
    /// Equal in equal records, whether it has been worked out or not.
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl<T> Eq for Derived<T> {}
