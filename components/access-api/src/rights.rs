//! The interface `rights`: its functions.

use crate::{Capability, LookupError, ResultantAcl, TokenReference};

/// The rights of a token beyond one request.
pub trait Rights {
    /// For each of `paths`, in their order, whether a rule of the token grants something there or below, even if another denies it.
    ///
    /// # Errors
    ///
    /// When the token is not valid.
    fn has_rights_below(
        &self,
        reference: &TokenReference,
        paths: &[String],
    ) -> Result<Vec<bool>, LookupError>;

    /// The same of what is granted without conditions: a path whose rule looks at parameters or at wrapping gives `deny` alone.
    /// These decide what a caller owns.
    ///
    /// # Errors
    ///
    /// When the token is not valid.
    fn unconditional_capabilities(
        &self,
        reference: &TokenReference,
        paths: &[String],
    ) -> Result<Vec<Vec<Capability>>, LookupError>;

    /// The common grant of the policies of the token, for user interfaces.
    ///
    /// # Errors
    ///
    /// When the token is not valid.
    fn read_resultant_acl(&self, reference: &TokenReference) -> Result<ResultantAcl, LookupError>;
}
