//! The ceremony by which holders of shares prove that they are enough for a new root token.

use gatehouse_barrier::Sharing;
use zeroize::Zeroizing;

use super::under_way::{Begun, Ceremonies, Ceremony, CeremonyError, RootGeneration};
use super::{add, share_of};
use crate::Backend;
use crate::shares::ShareSeal;
use crate::shares::attempt::Attempt;

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

impl Ceremonies {
    /// Ends the ceremony for a root token; answers its one-time password.
    pub(super) fn end_root_generation(&mut self) -> Option<Zeroizing<Vec<u8>>> {
        let it = self.root_generation.take()?;
        it.begun.end(&mut self.of_root_generations);
        Some(it.one_time_password)
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

    /// Takes one share for a root token. The ceremony is over once the shares yield the key; shares that do not are forgotten, and it goes on.
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
        it.begun.check_nonce(nonce)?;
        let Some(attempt) = add(&mut it.attempt, share, sharing)? else {
            return Ok(Given::More(ceremonies.of_root_generation(sharing)));
        };
        self.key_of(&attempt).await?;
        let one_time_password = ceremonies.end_root_generation();
        let one_time_password = one_time_password.ok_or(CeremonyError::NotUnderWay)?;
        Ok(Given::Enough {
            required: sharing.threshold(),
            one_time_password,
        })
    }
}
