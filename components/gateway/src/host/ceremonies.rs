//! The ceremonies that holders of shares hold together on an open server: to prove that they are enough for a new root token, or to replace
//! their shares.

use zeroize::Zeroizing;

use super::SealFailure;

pub use super::bindings::gatehouse::host::seal::Ceremony;

/// Why a ceremony did not go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CeremonyError {
    /// The stores are closed.
    #[error("the stores are sealed")]
    Sealed,
    /// No shares have been made yet.
    #[error("no shares have been made yet")]
    NotInitialized,
    /// One is under way.
    #[error("one is under way")]
    UnderWay,
    /// None is under way.
    #[error("none is under way")]
    NotUnderWay,
    /// The share is for another one; names the one that is under way.
    #[error("another one is under way")]
    OtherNonce(String),
    /// The share was given before.
    #[error("the share was given before")]
    GivenBefore,
    /// It is not a share, by its length.
    #[error("it is no share")]
    Malformed,
    /// The shares that were given do not yield the key. All were forgotten.
    #[error("the shares do not yield the key")]
    WrongShares,
    /// Numbers that no shares can have.
    #[error("there are 1 to 255 shares, of which 2 to all unseal, or 1 of 1")]
    InvalidNumbers,
    /// Another origin began it, which is protected: at most for ten minutes of an hour.
    #[error("another origin began it lately")]
    OthersOwn,
    /// The new shares have been made, and wait to be verified under this name.
    #[error("the new shares wait to be verified")]
    VerificationDue(String),
    /// No new shares wait to be verified.
    #[error("no new shares wait to be verified")]
    NothingToVerify,
    /// The seal does not work, or has no shares.
    #[error(transparent)]
    Failure(#[from] SealFailure),
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
#[allow(
    clippy::missing_errors_doc,
    reason = "every function fails as the type says, and said once is enough"
)]
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

/// Has no shares.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCeremonies;

fn none<T>() -> Result<T, CeremonyError> {
    Err(SealFailure::Automatic.into())
}

impl Ceremonies for NoCeremonies {
    fn root_generation(&self) -> Result<Ceremony, CeremonyError> {
        none()
    }

    fn begin_root_generation(&self, _: &[u8], _: &str) -> Result<Ceremony, CeremonyError> {
        none()
    }

    fn cancel_root_generation(&self, _: &str) -> Result<(), CeremonyError> {
        none()
    }

    fn give_for_root(&self, _: &[u8], _: &str) -> Result<RootProgress, CeremonyError> {
        none()
    }

    fn rekey(&self) -> Result<Ceremony, CeremonyError> {
        none()
    }

    fn begin_rekey(&self, _: u32, _: u32, _: bool, _: &str) -> Result<Ceremony, CeremonyError> {
        none()
    }

    fn cancel_rekey(&self, _: &str) -> Result<(), CeremonyError> {
        none()
    }

    fn give_for_rekey(&self, _: &[u8], _: &str) -> Result<RekeyProgress, CeremonyError> {
        none()
    }

    fn rekey_verification(&self) -> Result<Ceremony, CeremonyError> {
        none()
    }

    fn verify_rekey(&self, _: &[u8], _: &str) -> Result<Ceremony, CeremonyError> {
        none()
    }

    fn restart_rekey_verification(&self, _: &str) -> Result<Ceremony, CeremonyError> {
        none()
    }
}
