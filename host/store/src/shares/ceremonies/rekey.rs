//! The ceremony by which holders of shares replace them, and the verification of the new ones.

use gatehouse_barrier::{KeyShare, RootKey, Sharing, SplitError};
use gatehouse_ports::OsRandom;
use zeroize::Zeroizing;

use super::under_way::{Begun, Ceremonies, Ceremony, CeremonyError, Pending, Rekey, fresh_nonce};
use super::{add, share_of};
use crate::Backend;
use crate::shares::attempt::Attempt;
use crate::shares::{ShareSeal, State};

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

impl Ceremonies {
    pub(super) fn end_rekey(&mut self) {
        if let Some(it) = self.rekey.take() {
            it.begun.end(&mut self.of_rekeys);
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

impl<B: Backend> ShareSeal<B> {
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
        it.begun.check_nonce(nonce)?;
        let Some(attempt) = add(&mut it.attempt, share, sharing)? else {
            return Ok(RekeyProgress::More(ceremonies.of_rekey(sharing)));
        };
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

    /// Takes one of the new shares. Enough of them make all new ones count, and the old ones no more. If one is wrong, all that were given to
    /// the verification are forgotten, and it continues under another name.
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
        let Some(attempt) = add(&mut pending.attempt, share, sharing)? else {
            let given = pending.attempt.given();
            return Ok(Verified::More(Ceremony {
                given,
                required: sharing.threshold(),
                ..ceremonies.of_rekey(current_sharing)
            }));
        };
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

    /// Forgets the new shares that were given to the verification, which continues under another name.
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
