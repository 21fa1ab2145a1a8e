//! The seal of shares, as components see it.

use gatehouse_store::{
    Backend, BeginError, Progress as StoreProgress, ShareError, ShareSeal, Sharing,
    UnsealError as StoreError,
};
use std::sync::Arc;
use zeroize::Zeroizing;

use super::following::order_seal;
use super::store::Store;
use super::witness::Witness;
use crate::runtime::services::{
    Answer, Ceremonies, InitializeError, Keys, Progress, Seal, SealError, UnsealError,
};

/// A [`ShareSeal`] behind the WIT interface; tells the log what happens to it.
pub(super) struct HeldInShares(ShareSeal<Arc<dyn Backend>>, Arc<Store>, Option<Witness>);

impl HeldInShares {
    pub(super) const fn new(
        seal: ShareSeal<Arc<dyn Backend>>,
        store: Arc<Store>,
        witness: Option<Witness>,
    ) -> Self {
        Self(seal, store, witness)
    }

    pub(super) const fn seal(&self) -> &ShareSeal<Arc<dyn Backend>> {
        &self.0
    }

    /// Seals a store again that has just been opened and proves to be an old copy.
    async fn check_witness(&self) -> Result<(), UnsealError> {
        let Some(witness) = &self.2 else {
            return Ok(());
        };
        let proven = match self.1.generation().await {
            Ok(generation) => witness.check(generation),
            Err(error) => Err(error.into()),
        };
        if let Err(error) = proven {
            self.0.seal().await;
            tracing::error!("the store was sealed again: {error:#}");
            let text = "the store is not the one that its witness has seen; see the server's log";
            return Err(UnsealError::Failure(SealError::Unavailable(
                text.to_owned(),
            )));
        }
        Ok(())
    }

    pub(super) async fn tell_operator_what_to_do(&self) {
        match self.0.progress().await.sharing {
            Some(sharing) => tracing::warn!(
                "the store is sealed until {} of its {} shares are given to sys/unseal",
                sharing.threshold(),
                sharing.shares()
            ),
            None => tracing::warn!("the store is new: initialize it at sys/init"),
        }
    }

    fn progress_of(progress: StoreProgress) -> Progress {
        let StoreProgress {
            sharing,
            sealed,
            given,
            nonce,
        } = progress;
        Progress {
            initialized: sharing.is_some(),
            sealed,
            shares: sharing.map_or(0, |sharing| sharing.shares().into()),
            threshold: sharing.map_or(0, |sharing| sharing.threshold().into()),
            given: u32::try_from(given).unwrap_or(u32::MAX),
            nonce,
        }
    }
}

fn unavailable(error: &StoreError) -> SealError {
    SealError::Unavailable(error.to_string())
}

impl Seal for HeldInShares {
    fn status(&self) -> Answer<'_, Result<Option<Progress>, SealError>> {
        Box::pin(async { Ok(Some(Self::progress_of(self.0.progress().await))) })
    }

    fn begin_initialization(
        &self,
        shares: u32,
        threshold: u32,
    ) -> Answer<'_, Result<Vec<Zeroizing<Vec<u8>>>, InitializeError>> {
        Box::pin(async move {
            let sharing = Sharing::new(shares, threshold);
            let sharing = sharing.map_err(|_| InitializeError::InvalidNumbers)?;
            let made = self.0.begin(sharing).await.map_err(|error| match error {
                BeginError::AlreadyInitialized => InitializeError::AlreadyInitialized,
                error => InitializeError::Failure(SealError::Unavailable(error.to_string())),
            })?;
            let bytes = |share: &gatehouse_store::KeyShare| share.as_bytes().to_vec().into();
            Ok(made.iter().map(bytes).collect())
        })
    }

    fn finish_initialization(&self) -> Answer<'_, Result<(), SealError>> {
        Box::pin(async {
            self.0.finish().await.map_err(|error| unavailable(&error))?;
            tracing::info!("the store is initialized, and sealed until its shares are given");
            Ok(())
        })
    }

    fn abandon_initialization(&self) -> Answer<'_, Result<(), SealError>> {
        Box::pin(async {
            self.0
                .abandon()
                .await
                .map_err(|error| unavailable(&error))?;
            tracing::warn!("an initialization failed and was undone");
            Ok(())
        })
    }

    fn unseal(&self, share: Zeroizing<Vec<u8>>) -> Answer<'_, Result<Progress, UnsealError>> {
        Box::pin(async move {
            let was_sealed = self.0.progress().await.sealed;
            match self.0.unseal(share).await {
                Ok(progress) => {
                    if was_sealed && !progress.sealed {
                        self.check_witness().await?;
                        tracing::info!("the store is unsealed");
                    }
                    Ok(Self::progress_of(progress))
                }
                Err(ShareError::NotInitialized) => Err(UnsealError::NotInitialized),
                Err(ShareError::Malformed) => Err(UnsealError::Malformed),
                Err(ShareError::Wrong) => {
                    tracing::warn!("shares were given that do not unseal the store");
                    Err(UnsealError::WrongShares)
                }
                Err(ShareError::Unseal(error)) => {
                    tracing::error!(%error, "the store stays sealed");
                    Err(UnsealError::Failure(unavailable(&error)))
                }
            }
        })
    }

    fn reset_unseal(&self) -> Answer<'_, Result<Progress, SealError>> {
        Box::pin(async { Ok(Self::progress_of(self.0.reset().await)) })
    }

    fn seal(&self) -> Answer<'_, Result<(), SealError>> {
        Box::pin(async {
            self.0.seal().await;
            tracing::warn!("the store was sealed by a caller");
            Ok(())
        })
    }

    fn seal_all(&self) -> Answer<'_, Result<(), SealError>> {
        Box::pin(async {
            order_seal(&self.1).await?;
            Seal::seal(self).await
        })
    }

    fn keys(&self) -> Option<&dyn Keys> {
        Some(&*self.1)
    }

    fn ceremonies(&self) -> Option<&dyn Ceremonies> {
        Some(self)
    }
}
