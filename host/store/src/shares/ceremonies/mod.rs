//! The joint actions of holders of shares on an open store: they prove that they are enough for a new root token,
//! and replace their shares.
//!
//! One of each kind is under way at most. Every caller may begin one; the shares alone give it force. So a caller that begins one cannot
//! be kept from it by others: for ten minutes of an hour only the origin that began it may cancel it, and nothing of it outlives an hour.

mod rekey;
mod root_generation;
mod under_way;

use gatehouse_barrier::{KeyShare, KeyringError, RootKey, Sharing};
use tokio::sync::MutexGuard;
use zeroize::Zeroizing;

use super::attempt::Attempt;
use super::{ShareSeal, State};
use crate::{Backend, UnsealError};

pub use rekey::{RekeyProgress, Verified};
pub use root_generation::Given;
pub use under_way::{Ceremonies, Ceremony, CeremonyError};

use under_way::no_randomness;

/// Adds a share to those that were given before. `None` while they are too few for `sharing`; then all of them, and the attempt is empty.
fn add(
    attempt: &mut Attempt,
    share: KeyShare,
    sharing: Sharing,
) -> Result<Option<Attempt>, CeremonyError> {
    let before = attempt.given();
    attempt.add(share).map_err(no_randomness)?;
    if attempt.given() == before {
        return Err(CeremonyError::GivenBefore);
    }
    let are_enough = attempt.given() >= usize::from(sharing.threshold());
    Ok(are_enough.then(|| std::mem::take(attempt)))
}

fn share_of(bytes: Zeroizing<Vec<u8>>, sharing: Sharing) -> Result<KeyShare, CeremonyError> {
    KeyShare::from_bytes(bytes, sharing).ok_or(CeremonyError::Malformed)
}

impl<B: Backend> ShareSeal<B> {
    /// The sharing and the ceremonies of an open store.
    async fn open_ceremonies(
        &self,
    ) -> Result<(Sharing, MutexGuard<'_, Ceremonies>), CeremonyError> {
        let sharing = self.sharing_of(&*self.state.lock().await)?;
        let mut ceremonies = self.ceremonies.lock().await;
        ceremonies.forget_old();
        Ok((sharing, ceremonies))
    }

    fn sharing_of(&self, state: &State) -> Result<Sharing, CeremonyError> {
        match state {
            State::Initialized { .. } if self.store.is_sealed() => Err(CeremonyError::Sealed),
            State::Initialized { record, .. } => Ok(record.sharing),
            _ => Err(CeremonyError::NotInitialized),
        }
    }

    /// The key that these shares yield, if it is that of the store.
    async fn key_of(&self, attempt: &Attempt) -> Result<RootKey, CeremonyError> {
        let key = attempt.combined().ok_or(CeremonyError::Wrong)?;
        match self.store.load_keyring(&key).await {
            Ok(Some(_)) => Ok(key),
            Ok(None) => Err(UnsealError::KeyringMissing.into()),
            Err(UnsealError::Keyring(KeyringError::WrongRootKey)) => Err(CeremonyError::Wrong),
            Err(error) => Err(error.into()),
        }
    }
}
