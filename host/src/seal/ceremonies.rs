//! The ceremonies of holders of shares, as components see them.

use gatehouse_store::{
    Ceremony as StoreCeremony, CeremonyError as StoreError, Given,
    RekeyProgress as StoreRekeyProgress, Sharing, Verified,
};
use zeroize::Zeroizing;

use super::shares::HeldInShares;
use crate::runtime::services::{
    Answer, Ceremonies, Ceremony, CeremonyError, RekeyProgress, RootProgress, SealError,
};

fn ceremony(from: StoreCeremony) -> Ceremony {
    let sharing = from.sharing;
    Ceremony {
        nonce: from.nonce,
        given: u32::try_from(from.given).unwrap_or(u32::MAX),
        required: from.required.into(),
        shares: sharing.map_or(0, |sharing| sharing.shares().into()),
        threshold: sharing.map_or(0, |sharing| sharing.threshold().into()),
        verification: from.verification,
        verification_nonce: from.verification_nonce,
    }
}

fn over(required: u32, verification_nonce: Option<String>) -> Ceremony {
    Ceremony {
        nonce: None,
        given: 0,
        required,
        shares: 0,
        threshold: 0,
        verification: false,
        verification_nonce,
    }
}

fn refusal(error: StoreError) -> CeremonyError {
    match error {
        StoreError::Sealed => CeremonyError::Sealed,
        StoreError::NotInitialized => CeremonyError::NotInitialized,
        StoreError::UnderWay => CeremonyError::UnderWay,
        StoreError::NotUnderWay => CeremonyError::NotUnderWay,
        StoreError::OtherNonce(nonce) => CeremonyError::OtherNonce(nonce),
        StoreError::GivenBefore => CeremonyError::GivenBefore,
        StoreError::Malformed => CeremonyError::Malformed,
        StoreError::Wrong => {
            tracing::warn!("shares were given that do not yield the key of the store");
            CeremonyError::WrongShares
        }
        StoreError::OthersOwn => CeremonyError::OthersOwn,
        StoreError::VerificationDue(nonce) => CeremonyError::VerificationDue(nonce),
        StoreError::NothingToVerify => CeremonyError::NothingToVerify,
        error @ (StoreError::Split(_) | StoreError::Unseal(_)) => {
            CeremonyError::Failure(SealError::Unavailable(error.to_string()))
        }
    }
}

impl Ceremonies for HeldInShares {
    fn root_generation(&self) -> Answer<'_, Result<Ceremony, CeremonyError>> {
        Box::pin(async {
            let seen = self.seal().root_generation().await;
            seen.map(ceremony).map_err(refusal)
        })
    }

    fn begin_root_generation(
        &self,
        one_time_password: Zeroizing<Vec<u8>>,
        origin: String,
    ) -> Answer<'_, Result<Ceremony, CeremonyError>> {
        Box::pin(async move {
            let begun = self
                .seal()
                .begin_root_generation(one_time_password, &origin);
            let begun = begun.await.map_err(refusal)?;
            tracing::warn!(%origin, "an attempt to make a root token has begun; it needs enough shares");
            Ok(ceremony(begun))
        })
    }

    fn cancel_root_generation(&self, origin: String) -> Answer<'_, Result<(), CeremonyError>> {
        Box::pin(async move {
            let cancelled = self.seal().cancel_root_generation(&origin).await;
            cancelled.map_err(refusal)
        })
    }

    fn give_for_root(
        &self,
        share: Zeroizing<Vec<u8>>,
        nonce: String,
    ) -> Answer<'_, Result<RootProgress, CeremonyError>> {
        Box::pin(async move {
            match self.seal().give_for_root(share, &nonce).await {
                Ok(Given::More(progress)) => Ok(RootProgress {
                    ceremony: ceremony(progress),
                    one_time_password: None,
                }),
                Ok(Given::Enough {
                    required,
                    one_time_password,
                }) => Ok(RootProgress {
                    ceremony: over(required.into(), None),
                    one_time_password: Some(one_time_password.to_vec()),
                }),
                Err(error) => Err(refusal(error)),
            }
        })
    }

    fn rekey(&self) -> Answer<'_, Result<Ceremony, CeremonyError>> {
        Box::pin(async { self.seal().rekey().await.map(ceremony).map_err(refusal) })
    }

    fn begin_rekey(
        &self,
        shares: u32,
        threshold: u32,
        verification: bool,
        origin: String,
    ) -> Answer<'_, Result<Ceremony, CeremonyError>> {
        Box::pin(async move {
            let sharing = Sharing::new(shares, threshold);
            let sharing = sharing.map_err(|_| CeremonyError::InvalidNumbers)?;
            let begun = self.seal().begin_rekey(sharing, verification, &origin);
            let begun = begun.await.map_err(refusal)?;
            tracing::warn!(%origin, "an attempt to make new shares has begun; it needs enough of the present ones");
            Ok(ceremony(begun))
        })
    }

    fn cancel_rekey(&self, origin: String) -> Answer<'_, Result<(), CeremonyError>> {
        Box::pin(async move {
            let cancelled = self.seal().cancel_rekey(&origin).await;
            cancelled.map_err(refusal)
        })
    }

    fn give_for_rekey(
        &self,
        share: Zeroizing<Vec<u8>>,
        nonce: String,
    ) -> Answer<'_, Result<RekeyProgress, CeremonyError>> {
        Box::pin(async move {
            match self.seal().give_for_rekey(share, &nonce).await {
                Ok(StoreRekeyProgress::More(progress)) => Ok(RekeyProgress {
                    ceremony: ceremony(progress),
                    new_shares: Vec::new(),
                }),
                Ok(StoreRekeyProgress::Made {
                    shares,
                    verification_nonce,
                }) => {
                    match &verification_nonce {
                        Some(_) => tracing::info!("new shares were made; they are to be verified"),
                        None => tracing::warn!("new shares have replaced the old ones"),
                    }
                    Ok(RekeyProgress {
                        ceremony: over(0, verification_nonce),
                        new_shares: shares
                            .iter()
                            .map(|share| share.as_bytes().to_vec())
                            .collect(),
                    })
                }
                Err(error) => Err(refusal(error)),
            }
        })
    }

    fn rekey_verification(&self) -> Answer<'_, Result<Ceremony, CeremonyError>> {
        Box::pin(async {
            let seen = self.seal().verification().await;
            seen.map(ceremony).map_err(refusal)
        })
    }

    fn verify_rekey(
        &self,
        share: Zeroizing<Vec<u8>>,
        nonce: String,
    ) -> Answer<'_, Result<Ceremony, CeremonyError>> {
        Box::pin(async move {
            match self.seal().verify_rekey(share, &nonce).await {
                Ok(Verified::More(progress)) => Ok(ceremony(progress)),
                Ok(Verified::Done { nonce }) => {
                    tracing::warn!("new shares have replaced the old ones");
                    Ok(over(0, Some(nonce)))
                }
                Err(error) => Err(refusal(error)),
            }
        })
    }

    fn restart_rekey_verification(
        &self,
        origin: String,
    ) -> Answer<'_, Result<Ceremony, CeremonyError>> {
        Box::pin(async move {
            let restarted = self.seal().restart_verification(&origin).await;
            restarted.map(ceremony).map_err(refusal)
        })
    }
}
