//! The ceremonies of the share holders on an unsealed server. In a ceremony, enough holders give their shares, to get a new root token or to replace
//! the shares.

use zeroize::Zeroizing;

use super::SealError;

pub use super::bindings::gatehouse::host::seal::{Ceremony, CeremonyError};

impl From<SealError> for CeremonyError {
    fn from(failure: SealError) -> Self {
        Self::Failure(failure)
    }
}

/// The result of giving a share for a root token.
pub struct RootProgress {
    /// The progress of the ceremony; without a nonce once the ceremony is over.
    pub ceremony: Ceremony,
    /// The one-time password from the beginning of the ceremony, once enough shares were given.
    pub one_time_password: Option<Zeroizing<Vec<u8>>>,
}

/// The result of giving a share for new shares.
pub struct RekeyProgress {
    /// The progress of the ceremony; without a nonce once the ceremony is over.
    pub ceremony: Ceremony,
    /// The new shares, once enough of the present ones were given.
    pub new_shares: Vec<Zeroizing<Vec<u8>>>,
}

/// The ceremonies of the share holders. The WIT interface describes each function; the errors are those of [`CeremonyError`].
pub trait Ceremonies {
    /// The progress of the ceremony for a root token.
    fn root_generation(&self) -> Result<Ceremony, CeremonyError>;

    /// Begins the ceremony for a root token, for a caller at `origin`.
    fn begin_root_generation(
        &self,
        one_time_password: &[u8],
        origin: &str,
    ) -> Result<Ceremony, CeremonyError>;

    /// Cancels the ceremony for a root token.
    fn cancel_root_generation(&self, origin: &str) -> Result<(), CeremonyError>;

    /// Gives one share for a root token.
    fn give_for_root(&self, share: &[u8], nonce: &str) -> Result<RootProgress, CeremonyError>;

    /// The progress of the ceremony for new shares.
    fn rekey(&self) -> Result<Ceremony, CeremonyError>;

    /// Begins the ceremony for new shares, for a caller at `origin`.
    fn begin_rekey(
        &self,
        shares: u32,
        threshold: u32,
        verification: bool,
        origin: &str,
    ) -> Result<Ceremony, CeremonyError>;

    /// Cancels the ceremony for new shares.
    fn cancel_rekey(&self, origin: &str) -> Result<(), CeremonyError>;

    /// Gives one of the present shares for new ones.
    fn give_for_rekey(&self, share: &[u8], nonce: &str) -> Result<RekeyProgress, CeremonyError>;

    /// The progress of the verification of new shares.
    fn rekey_verification(&self) -> Result<Ceremony, CeremonyError>;

    /// Gives one of the new shares, to verify it.
    fn verify_rekey(&self, share: &[u8], nonce: &str) -> Result<Ceremony, CeremonyError>;

    /// Discards the new shares that were given for verification.
    fn restart_rekey_verification(&self, origin: &str) -> Result<Ceremony, CeremonyError>;
}
