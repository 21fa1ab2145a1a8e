//! The keys of an open seal, and what holders of shares do together.

use zeroize::Zeroizing;

use super::Answer;
use super::bindings::gatehouse::host::seal as wit;

use wit::SealError;
pub use wit::{Ceremony, CeremonyError, KeyStatus, RekeyProgress, RootProgress, RotationPolicy};

/// The keys of the stores. The WIT interface is the specification.
pub trait Keys: Send + Sync {
    /// The key that seals what is stored now.
    fn current(&self) -> Answer<'_, Result<KeyStatus, SealError>>;

    /// Adds a key.
    fn rotate(&self) -> Answer<'_, Result<(), SealError>>;

    /// When the key is replaced without a request for it.
    fn policy(&self) -> Answer<'_, Result<RotationPolicy, SealError>>;

    /// Keeps another policy.
    fn set_policy(&self, policy: RotationPolicy) -> Answer<'_, Result<(), SealError>>;
}

/// The ceremonies of holders of shares. The WIT interface is the specification.
pub trait Ceremonies: Send + Sync {
    /// How far the ceremony for a root token is.
    fn root_generation(&self) -> Answer<'_, Result<Ceremony, CeremonyError>>;

    /// Begins one.
    fn begin_root_generation(
        &self,
        one_time_password: Zeroizing<Vec<u8>>,
        origin: String,
    ) -> Answer<'_, Result<Ceremony, CeremonyError>>;

    /// Gives it up.
    fn cancel_root_generation(&self, origin: String) -> Answer<'_, Result<(), CeremonyError>>;

    /// Gives one share to it.
    fn give_for_root(
        &self,
        share: Zeroizing<Vec<u8>>,
        nonce: String,
    ) -> Answer<'_, Result<RootProgress, CeremonyError>>;

    /// How far the ceremony for new shares is.
    fn rekey(&self) -> Answer<'_, Result<Ceremony, CeremonyError>>;

    /// Begins one.
    fn begin_rekey(
        &self,
        shares: u32,
        threshold: u32,
        verification: bool,
        origin: String,
    ) -> Answer<'_, Result<Ceremony, CeremonyError>>;

    /// Gives it up.
    fn cancel_rekey(&self, origin: String) -> Answer<'_, Result<(), CeremonyError>>;

    /// Gives one of the present shares to it.
    fn give_for_rekey(
        &self,
        share: Zeroizing<Vec<u8>>,
        nonce: String,
    ) -> Answer<'_, Result<RekeyProgress, CeremonyError>>;

    /// How far the verification of new shares is.
    fn rekey_verification(&self) -> Answer<'_, Result<Ceremony, CeremonyError>>;

    /// Gives one of the new shares.
    fn verify_rekey(
        &self,
        share: Zeroizing<Vec<u8>>,
        nonce: String,
    ) -> Answer<'_, Result<Ceremony, CeremonyError>>;

    /// Forgets the new shares that were given.
    fn restart_rekey_verification(
        &self,
        origin: String,
    ) -> Answer<'_, Result<Ceremony, CeremonyError>>;
}
