//! The interface `rights`: its functions.

use crate::{Capability, LookupError, ResultantAcl, TokenReference};

/// The rights of a token beyond one request. The WIT interface is the specification.
pub trait Rights {
    /// For each of `paths`, in their order, whether a rule of the token grants something there or below, even if another denies it.
    fn has_rights_below(
        &self,
        reference: &TokenReference,
        paths: &[String],
    ) -> Result<Vec<bool>, LookupError>;

    /// The same of what is granted without conditions: a path whose rule looks at parameters or at wrapping gives `deny` alone.
    fn unconditional_capabilities(
        &self,
        reference: &TokenReference,
        paths: &[String],
    ) -> Result<Vec<Vec<Capability>>, LookupError>;

    /// The common grant of the policies of the token, for user interfaces.
    fn read_resultant_acl(&self, reference: &TokenReference) -> Result<ResultantAcl, LookupError>;
}
