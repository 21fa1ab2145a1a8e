//! The joint actions of holders of shares on an open store: they prove that they are enough for a new root token,
//! and replace their shares.
//!
//! One of each kind is under way at most. Every caller may begin one; the shares alone give it force. So a caller that begins one cannot
//! be kept from it by others: for ten minutes of an hour only the origin that began it may cancel it, and nothing of it outlives an hour.

use std::time::{Duration, Instant};

use gatehouse_barrier::{KeyShare, KeyringError, RootKey, Sharing, SplitError};
use gatehouse_ports::{OsRandom, Random as _, RandomError};
use tokio::sync::MutexGuard;
use zeroize::Zeroizing;

use super::attempt::Attempt;
use super::protection::Protection;
use super::{ShareSeal, State};
use crate::{Backend, UnsealError};

/// For how long a ceremony goes on without coming to an end: shares must not stay in memory for ever.
const LIFETIME: Duration = Duration::from_secs(60 * 60);

/// How far a ceremony is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ceremony {
    /// Names it; `None` where none is under way.
    pub nonce: Option<String>,
    /// How many different shares have been given to it.
    pub given: usize,
    /// How many it takes.
    pub required: u8,
    /// Into how many shares the key will be split; `None` where it stays as it is.
    pub sharing: Option<Sharing>,
    /// True if the new shares have to be given before they count.
    pub verification: bool,
    /// Names the verification; `None` before the new shares have been made.
    pub verification_nonce: Option<String>,
}

/// The outcome of giving a share for a root token.
pub enum Given {
    /// More are needed.
    More(Ceremony),
    /// They were enough: the one-time password that was given at the beginning. The ceremony is over.
    Enough {
        /// How many it took.
        required: u8,
        /// The password by which the token is to be hidden.
        one_time_password: Zeroizing<Vec<u8>>,
    },
}

/// The outcome of giving a share for new shares.
pub enum RekeyProgress {
    /// More are needed.
    More(Ceremony),
    /// They were enough: the new shares, which are never shown again.
    Made {
        /// The new shares.
        shares: Vec<KeyShare>,
        /// Names the verification that must follow before they count; `None` where they count now, and the old ones do not.
        verification_nonce: Option<String>,
    },
}

/// The outcome of giving a new share to show that its holder has it.
pub enum Verified {
    /// More are needed.
    More(Ceremony),
    /// They were enough: the new shares count from now on, and the old ones do not.
    Done {
        /// The name of the verification.
        nonce: String,
    },
}

/// Why a ceremony did not go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CeremonyError {
    /// The store is closed.
    #[error("the store is sealed")]
    Sealed,
    /// There are no shares yet.
    #[error("the store is not initialized")]
    NotInitialized,
    /// There is one.
    #[error("one is under way")]
    UnderWay,
    /// There is none.
    #[error("none is under way")]
    NotUnderWay,
    /// The share is for another one. Names the one that is under way.
    #[error("another one is under way")]
    OtherNonce(String),
    /// The share was given before.
    #[error("the share was given before")]
    GivenBefore,
    /// It has another length than the shares that are asked for.
    #[error("a share has another length")]
    Malformed,
    /// One of the shares is wrong. All that were given to this ceremony were forgotten.
    #[error("the shares do not yield the key")]
    Wrong,
    /// Another origin began it, which is protected: at most for ten minutes of an hour.
    #[error("another one began it lately")]
    OthersOwn,
    /// The new shares have been made, and wait to be verified under this name.
    #[error("the new shares are to be verified")]
    VerificationDue(String),
    /// No new shares wait to be verified.
    #[error("nothing is to be verified")]
    NothingToVerify,
    /// No shares could be made.
    #[error(transparent)]
    Split(#[from] SplitError),
    /// The store failed.
    #[error(transparent)]
    Unseal(#[from] UnsealError),
}

/// The ceremonies that are under way.
#[derive(Default)]
pub struct Ceremonies {
    root_generation: Option<RootGeneration>,
    of_root_generations: Protection,
    rekey: Option<Rekey>,
    of_rekeys: Protection,
}

struct Begun {
    nonce: String,
    origin: String,
    at: Instant,
    /// For how long only the origin may cancel it.
    protected: Duration,
}

struct RootGeneration {
    begun: Begun,
    one_time_password: Zeroizing<Vec<u8>>,
    attempt: Attempt,
}

struct Rekey {
    begun: Begun,
    sharing: Sharing,
    verification: bool,
    attempt: Attempt,
    pending: Option<Pending>,
}

/// New shares that do not count yet.
struct Pending {
    current: RootKey,
    replacement: RootKey,
    nonce: String,
    attempt: Attempt,
}

impl Begun {
    fn now(origin: &str, protection: &mut Protection) -> Result<Self, CeremonyError> {
        let nonce = fresh_nonce()?;
        let at = Instant::now();
        Ok(Self {
            nonce,
            origin: origin.to_owned(),
            at,
            protected: protection.take(origin, at),
        })
    }

    fn end(self, protection: &mut Protection) {
        let unused = self.protected.saturating_sub(self.at.elapsed());
        protection.give_back(&self.origin, unused);
    }

    fn is_over(&self) -> bool {
        self.at.elapsed() >= LIFETIME
    }

    fn check_cancel(&self, origin: &str) -> Result<(), CeremonyError> {
        if self.origin == origin || self.at.elapsed() >= self.protected {
            return Ok(());
        }
        Err(CeremonyError::OthersOwn)
    }
}

impl Ceremonies {
    fn forget_old(&mut self) {
        if matches!(&self.root_generation, Some(it) if it.begun.is_over()) {
            self.end_root_generation();
        }
        if matches!(&self.rekey, Some(it) if it.begun.is_over()) {
            self.end_rekey();
        }
    }

    /// Ends the ceremony for a root token; answers its one-time password.
    fn end_root_generation(&mut self) -> Option<Zeroizing<Vec<u8>>> {
        let it = self.root_generation.take()?;
        it.begun.end(&mut self.of_root_generations);
        Some(it.one_time_password)
    }

    fn end_rekey(&mut self) {
        if let Some(it) = self.rekey.take() {
            it.begun.end(&mut self.of_rekeys);
        }
    }

    fn of_root_generation(&self, current: Sharing) -> Ceremony {
        let required = current.threshold();
        match &self.root_generation {
            None => Ceremony {
                required,
                ..Ceremony::default()
            },
            Some(it) => Ceremony {
                nonce: Some(it.begun.nonce.clone()),
                given: it.attempt.given(),
                required,
                ..Ceremony::default()
            },
        }
    }

    fn of_rekey(&self, current: Sharing) -> Ceremony {
        let required = current.threshold();
        match &self.rekey {
            None => Ceremony {
                required,
                ..Ceremony::default()
            },
            Some(it) => Ceremony {
                nonce: Some(it.begun.nonce.clone()),
                given: it.attempt.given(),
                required,
                sharing: Some(it.sharing),
                verification: it.verification,
                verification_nonce: it.pending.as_ref().map(|it| it.nonce.clone()),
            },
        }
    }
}

/// Adds a share to those that were given before.
fn add(attempt: &mut Attempt, share: KeyShare) -> Result<(), CeremonyError> {
    let before = attempt.given();
    attempt.add(share).map_err(no_randomness)?;
    if attempt.given() == before {
        return Err(CeremonyError::GivenBefore);
    }
    Ok(())
}

fn share_of(bytes: Zeroizing<Vec<u8>>, sharing: Sharing) -> Result<KeyShare, CeremonyError> {
    KeyShare::from_bytes(bytes, sharing).ok_or(CeremonyError::Malformed)
}

fn no_randomness(error: RandomError) -> UnsealError {
    KeyringError::from(error).into()
}

fn fresh_nonce() -> Result<String, UnsealError> {
    let mut bytes = [0; 16];
    OsRandom.fill(&mut bytes).map_err(no_randomness)?;
    let id = uuid::Builder::from_random_bytes(bytes).into_uuid();
    Ok(id.hyphenated().to_string())
}

impl<B: Backend> ShareSeal<B> {
    /// How far the ceremony for a root token is.
    ///
    /// # Errors
    ///
    /// When the store is sealed or has no shares yet.
    pub async fn root_generation(&self) -> Result<Ceremony, CeremonyError> {
        let (sharing, ceremonies) = self.open_ceremonies().await?;
        Ok(ceremonies.of_root_generation(sharing))
    }

    /// Begins the ceremony for a root token, which will be hidden by `one_time_password`.
    ///
    /// # Errors
    ///
    /// When the store is sealed or has no shares yet, and while another is under way.
    pub async fn begin_root_generation(
        &self,
        one_time_password: Zeroizing<Vec<u8>>,
        origin: &str,
    ) -> Result<Ceremony, CeremonyError> {
        let (sharing, mut ceremonies) = self.open_ceremonies().await?;
        if ceremonies.root_generation.is_some() {
            return Err(CeremonyError::UnderWay);
        }
        let begun = Begun::now(origin, &mut ceremonies.of_root_generations)?;
        ceremonies.root_generation = Some(RootGeneration {
            begun,
            one_time_password,
            attempt: Attempt::default(),
        });
        Ok(ceremonies.of_root_generation(sharing))
    }

    /// Gives up the ceremony for a root token. Without one it does nothing.
    ///
    /// # Errors
    ///
    /// When the store is sealed or has no shares yet, or another origin began it lately.
    pub async fn cancel_root_generation(&self, origin: &str) -> Result<(), CeremonyError> {
        let (_, mut ceremonies) = self.open_ceremonies().await?;
        if let Some(it) = &ceremonies.root_generation {
            it.begun.check_cancel(origin)?;
        }
        ceremonies.end_root_generation();
        Ok(())
    }

    /// Takes one share for a root token. With the one that completes the threshold the ceremony is over, whether it succeeds or not.
    ///
    /// # Errors
    ///
    /// When there is no such ceremony, it is not a share or was given before, or those that were given do not yield the key.
    pub async fn give_for_root(
        &self,
        share: Zeroizing<Vec<u8>>,
        nonce: &str,
    ) -> Result<Given, CeremonyError> {
        let (sharing, mut ceremonies) = self.open_ceremonies().await?;
        let share = share_of(share, sharing)?;
        let it = ceremonies.root_generation.as_mut();
        let it = it.ok_or(CeremonyError::NotUnderWay)?;
        if it.begun.nonce != nonce {
            return Err(CeremonyError::OtherNonce(it.begun.nonce.clone()));
        }
        add(&mut it.attempt, share)?;
        if it.attempt.given() < usize::from(sharing.threshold()) {
            return Ok(Given::More(ceremonies.of_root_generation(sharing)));
        }
        let attempt = std::mem::take(&mut it.attempt);
        self.key_of(&attempt).await?;
        let one_time_password = ceremonies.end_root_generation();
        let one_time_password = one_time_password.ok_or(CeremonyError::NotUnderWay)?;
        Ok(Given::Enough {
            required: sharing.threshold(),
            one_time_password,
        })
    }

    /// How far the ceremony for new shares is.
    ///
    /// # Errors
    ///
    /// When the store is sealed or has no shares yet.
    pub async fn rekey(&self) -> Result<Ceremony, CeremonyError> {
        let (sharing, ceremonies) = self.open_ceremonies().await?;
        Ok(ceremonies.of_rekey(sharing))
    }

    /// Begins the ceremony for new shares, which have to be verified if `verification` says so.
    ///
    /// # Errors
    ///
    /// When the store is sealed or has no shares yet, and while another is under way.
    pub async fn begin_rekey(
        &self,
        sharing: Sharing,
        verification: bool,
        origin: &str,
    ) -> Result<Ceremony, CeremonyError> {
        let (current, mut ceremonies) = self.open_ceremonies().await?;
        if ceremonies.rekey.is_some() {
            return Err(CeremonyError::UnderWay);
        }
        let begun = Begun::now(origin, &mut ceremonies.of_rekeys)?;
        ceremonies.rekey = Some(Rekey {
            begun,
            sharing,
            verification,
            attempt: Attempt::default(),
            pending: None,
        });
        Ok(ceremonies.of_rekey(current))
    }

    /// Gives up the ceremony for new shares, verification included: the present ones stay. Without one it does nothing.
    ///
    /// # Errors
    ///
    /// When the store is sealed or has no shares yet, or another origin began it lately.
    pub async fn cancel_rekey(&self, origin: &str) -> Result<(), CeremonyError> {
        let (_, mut ceremonies) = self.open_ceremonies().await?;
        if let Some(it) = &ceremonies.rekey {
            it.begun.check_cancel(origin)?;
        }
        ceremonies.end_rekey();
        Ok(())
    }

    /// Takes one of the present shares for new ones. The one that completes the threshold makes them. Without verification they count
    /// from then on, by one commit: after a crash either the old ones open the store or the new ones. If the store fails at that moment,
    /// the new ones are shown nevertheless, and have to be verified.
    ///
    /// # Errors
    ///
    /// When there is no such ceremony, it is not a share or was given before, those that were given do not yield the key, or the store fails.
    pub async fn give_for_rekey(
        &self,
        share: Zeroizing<Vec<u8>>,
        nonce: &str,
    ) -> Result<RekeyProgress, CeremonyError> {
        let mut state = self.state.lock().await;
        let sharing = self.sharing_of(&state)?;
        let mut ceremonies = self.ceremonies.lock().await;
        ceremonies.forget_old();
        let share = share_of(share, sharing)?;
        let it = ceremonies.rekey.as_mut();
        let it = it.ok_or(CeremonyError::NotUnderWay)?;
        if let Some(pending) = &it.pending {
            return Err(CeremonyError::VerificationDue(pending.nonce.clone()));
        }
        if it.begun.nonce != nonce {
            return Err(CeremonyError::OtherNonce(it.begun.nonce.clone()));
        }
        add(&mut it.attempt, share)?;
        if it.attempt.given() < usize::from(sharing.threshold()) {
            return Ok(RekeyProgress::More(ceremonies.of_rekey(sharing)));
        }
        let attempt = std::mem::take(&mut it.attempt);
        let current = self.key_of(&attempt).await?;
        let replacement = RootKey::generate(&OsRandom).map_err(SplitError::from)?;
        let shares = replacement.split(it.sharing, &OsRandom)?;
        let (made, verification) = (it.sharing, it.verification);
        if !verification {
            let replaced = self.replace_key(&mut state, &current, &replacement, made);
            if replaced.await.is_ok() {
                ceremonies.end_rekey();
                return Ok(RekeyProgress::Made {
                    shares,
                    verification_nonce: None,
                });
            }
            // It is not known which shares open the store now, so the new ones must be shown; giving them settles it.
        }
        let nonce = fresh_nonce()?;
        if let Some(it) = ceremonies.rekey.as_mut() {
            it.verification = true;
            it.pending = Some(Pending {
                current,
                replacement,
                nonce: nonce.clone(),
                attempt: Attempt::default(),
            });
        }
        Ok(RekeyProgress::Made {
            shares,
            verification_nonce: Some(nonce),
        })
    }

    /// Takes one of the new shares. Enough of them make all new ones count, and the old ones no more. If one is wrong, all that were
    /// given to the verification are forgotten, and it goes on under another name.
    ///
    /// # Errors
    ///
    /// When nothing is to be verified, it is not a share or was given before, those that were given are wrong, or the store fails.
    pub async fn verify_rekey(
        &self,
        share: Zeroizing<Vec<u8>>,
        nonce: &str,
    ) -> Result<Verified, CeremonyError> {
        let mut state = self.state.lock().await;
        let current_sharing = self.sharing_of(&state)?;
        let mut ceremonies = self.ceremonies.lock().await;
        ceremonies.forget_old();
        let it = ceremonies.rekey.as_mut();
        let it = it.ok_or(CeremonyError::NotUnderWay)?;
        let (sharing, pending) = (it.sharing, it.pending.as_mut());
        let pending = pending.ok_or(CeremonyError::NothingToVerify)?;
        let share = share_of(share, sharing)?;
        if pending.nonce != nonce {
            return Err(CeremonyError::OtherNonce(pending.nonce.clone()));
        }
        add(&mut pending.attempt, share)?;
        if pending.attempt.given() < usize::from(sharing.threshold()) {
            let given = pending.attempt.given();
            return Ok(Verified::More(Ceremony {
                given,
                required: sharing.threshold(),
                ..ceremonies.of_rekey(current_sharing)
            }));
        }
        let attempt = std::mem::take(&mut pending.attempt);
        let is_right = attempt
            .combined()
            .is_some_and(|key| key.is_same_as(&pending.replacement));
        if !is_right {
            pending.nonce = fresh_nonce()?;
            return Err(CeremonyError::Wrong);
        }
        let nonce = pending.nonce.clone();
        let (current, replacement) = (&pending.current, &pending.replacement);
        self.replace_key(&mut state, current, replacement, sharing)
            .await?;
        ceremonies.end_rekey();
        Ok(Verified::Done { nonce })
    }

    /// How far the verification of new shares is.
    ///
    /// # Errors
    ///
    /// When the store is sealed or has no shares yet, or no ceremony is under way.
    pub async fn verification(&self) -> Result<Ceremony, CeremonyError> {
        let (_, ceremonies) = self.open_ceremonies().await?;
        let it = ceremonies.rekey.as_ref();
        let it = it.ok_or(CeremonyError::NotUnderWay)?;
        let pending = it.pending.as_ref();
        Ok(Ceremony {
            nonce: Some(it.begun.nonce.clone()),
            given: pending.map_or(0, |pending| pending.attempt.given()),
            required: it.sharing.threshold(),
            sharing: Some(it.sharing),
            verification: it.verification,
            verification_nonce: pending.map(|pending| pending.nonce.clone()),
        })
    }

    /// Forgets the new shares that were given to the verification, which goes on under another name.
    ///
    /// # Errors
    ///
    /// When the store is sealed or has no shares yet, nothing is to be verified, or another origin began it lately.
    pub async fn restart_verification(&self, origin: &str) -> Result<Ceremony, CeremonyError> {
        {
            let (_, mut ceremonies) = self.open_ceremonies().await?;
            let it = ceremonies.rekey.as_mut();
            let it = it.ok_or(CeremonyError::NotUnderWay)?;
            it.begun.check_cancel(origin)?;
            let pending = it.pending.as_mut();
            let pending = pending.ok_or(CeremonyError::NothingToVerify)?;
            pending.nonce = fresh_nonce()?;
            pending.attempt = Attempt::default();
        }
        self.verification().await
    }

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

    async fn replace_key(
        &self,
        state: &mut State,
        current: &RootKey,
        replacement: &RootKey,
        sharing: Sharing,
    ) -> Result<(), CeremonyError> {
        if let Err(error) = self.store.split_key(current, replacement, sharing).await {
            // It may have been stored nevertheless, now or before.
            match self.store.load_keyring(replacement).await {
                Ok(Some((keyring, version))) => {
                    self.store.install(&keyring, replacement, version);
                }
                _ => return Err(error.into()),
            }
        }
        *state = State::load(&self.store).await?;
        Ok(())
    }
}
