//! The ceremonies that holders of shares hold together on an open server: to prove that they are enough for a new root token, or to replace
//! their shares.

use zeroize::Zeroizing;

use super::SealError;

pub use super::bindings::gatehouse::host::seal::{Ceremony, CeremonyError};

impl From<SealError> for CeremonyError {
    fn from(failure: SealError) -> Self {
        Self::Failure(failure)
    }
}

/// The result of a share for a root token.
pub struct RootProgress {
    /// How far the ceremony is; without a name once it is over.
    pub ceremony: Ceremony,
    /// The one-time password of the beginning, where the shares were enough.
    pub one_time_password: Option<Zeroizing<Vec<u8>>>,
}

/// The result of a share for new shares.
pub struct RekeyProgress {
    /// How far the ceremony is; without a name once it is over.
    pub ceremony: Ceremony,
    /// The new shares, where those that were given were enough.
    pub new_shares: Vec<Zeroizing<Vec<u8>>>,
}

/// The ceremonies that holders of shares can hold together. The WIT interface says what each function does; their errors are those of
/// [`CeremonyError`].
pub trait Ceremonies {
    /// How far the ceremony for a root token is.
    fn root_generation(&self) -> Result<Ceremony, CeremonyError>;

    /// Begins the ceremony for a root token, for a caller at `origin`.
    fn begin_root_generation(
        &self,
        one_time_password: &[u8],
        origin: &str,
    ) -> Result<Ceremony, CeremonyError>;

    /// Gives up the ceremony for a root token.
    fn cancel_root_generation(&self, origin: &str) -> Result<(), CeremonyError>;

    /// Gives one share for a root token.
    fn give_for_root(&self, share: &[u8], nonce: &str) -> Result<RootProgress, CeremonyError>;

    /// How far the ceremony for new shares is.
    fn rekey(&self) -> Result<Ceremony, CeremonyError>;

    /// Begins the ceremony for new shares, for a caller at `origin`.
    fn begin_rekey(
        &self,
        shares: u32,
        threshold: u32,
        verification: bool,
        origin: &str,
    ) -> Result<Ceremony, CeremonyError>;

    /// Gives up the ceremony for new shares.
    fn cancel_rekey(&self, origin: &str) -> Result<(), CeremonyError>;

    /// Gives one of the present shares for new ones.
    fn give_for_rekey(&self, share: &[u8], nonce: &str) -> Result<RekeyProgress, CeremonyError>;

    /// How far the verification of new shares is.
    fn rekey_verification(&self) -> Result<Ceremony, CeremonyError>;

    /// Gives one of the new shares.
    fn verify_rekey(&self, share: &[u8], nonce: &str) -> Result<Ceremony, CeremonyError>;

    /// Forgets the new shares that were given.
    fn restart_rekey_verification(&self, origin: &str) -> Result<Ceremony, CeremonyError>;
}
