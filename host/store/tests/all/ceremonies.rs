//! Ceremonies of holders of shares on an open store (SEC-K2, K4).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use gatehouse_ports::{Change, Check, CommitError, Difference, HeldKey, Page, StoreError};
use gatehouse_store::{
    Answer, Backend, CeremonyError, Given, KeyShare, MemoryBackend, Namespace, RekeyProgress,
    Verified,
};
use zeroize::Zeroizing;

use crate::shares::{Host, memory, sharing};

const PATIENT: Duration = Duration::from_secs(3600);
const ORIGIN: &str = "192.0.2.1";
const STRANGER: &str = "198.51.100.1";

fn bytes(share: &KeyShare) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(share.as_bytes().to_vec())
}

fn password() -> Zeroizing<Vec<u8>> {
    Zeroizing::new(b"one-time password".to_vec())
}

async fn open<B: Backend>(below: B) -> (Host<B>, Vec<KeyShare>) {
    let host = Host::start(below, PATIENT).await.unwrap();
    let shares = host.initialize(5, 3).await;
    for share in &shares[..3] {
        host.give(share).await.unwrap();
    }
    (host, shares)
}

async fn opens<B: Backend>(host: &Host<B>, shares: &[KeyShare]) -> bool {
    host.seal.seal().await;
    for share in shares {
        if let Ok(progress) = host.give(share).await
            && !progress.sealed
        {
            return true;
        }
    }
    host.seal.reset().await;
    false
}

/// Gives the old shares to a ceremony for new ones.
async fn rekey<B: Backend>(
    host: &Host<B>,
    old: &[KeyShare],
) -> Result<(Vec<KeyShare>, Option<String>), CeremonyError> {
    let nonce = host.seal.rekey().await?.nonce.unwrap();
    for share in old {
        let progress = host.seal.give_for_rekey(bytes(share), &nonce).await?;
        if let RekeyProgress::Made {
            shares,
            verification_nonce,
        } = progress
        {
            return Ok((shares, verification_nonce));
        }
    }
    panic!("there are too few shares");
}

#[tokio::test]
async fn k2_enough_shares_allow_a_root_token_and_no_fewer() {
    let (host, shares) = open(memory()).await;
    let none = host.seal.root_generation().await.unwrap();
    assert_eq!(
        (none.nonce.clone(), none.given, none.required),
        (None, 0, 3)
    );
    let early = host.seal.give_for_root(bytes(&shares[0]), "").await.err();
    assert_eq!(early, Some(CeremonyError::NotUnderWay));

    let begun = host.seal.begin_root_generation(password(), ORIGIN).await;
    let nonce = begun.unwrap().nonce.unwrap();
    let again = host.seal.begin_root_generation(password(), ORIGIN).await;
    assert_eq!(again.err(), Some(CeremonyError::UnderWay));
    let other = host.seal.give_for_root(bytes(&shares[0]), "other").await;
    assert_eq!(other.err(), Some(CeremonyError::OtherNonce(nonce.clone())));
    for (given, share) in shares[..2].iter().enumerate() {
        let more = host.seal.give_for_root(bytes(share), &nonce).await.unwrap();
        assert!(matches!(more, Given::More(progress) if progress.given == given + 1));
    }
    let twice = host.seal.give_for_root(bytes(&shares[1]), &nonce).await;
    assert_eq!(twice.err(), Some(CeremonyError::GivenBefore));
    let short = host.seal.give_for_root(Zeroizing::new(vec![1; 32]), &nonce);
    assert_eq!(short.await.err(), Some(CeremonyError::Malformed));
    match host.seal.give_for_root(bytes(&shares[4]), &nonce).await {
        Ok(Given::Enough {
            required: 3,
            one_time_password,
        }) => assert_eq!(one_time_password, password()),
        _ => panic!("three shares are enough"),
    }
    let after = host.seal.root_generation().await.unwrap();
    assert_eq!((after.nonce, after.given), (None, 0), "and it is over");
}

#[tokio::test]
async fn k2_a_wrong_share_gives_no_root_token_and_the_ceremony_goes_on() {
    let (host, shares) = open(memory()).await;
    let (_, foreign) = open(memory()).await;
    let begun = host.seal.begin_root_generation(password(), ORIGIN).await;
    let nonce = begun.unwrap().nonce.unwrap();
    for share in [&shares[0], &shares[1]] {
        host.seal.give_for_root(bytes(share), &nonce).await.unwrap();
    }
    let wrong = host.seal.give_for_root(bytes(&foreign[2]), &nonce).await;
    assert_eq!(wrong.err(), Some(CeremonyError::Wrong));
    for share in &shares[..2] {
        host.seal.give_for_root(bytes(share), &nonce).await.unwrap();
    }
    let right = host.seal.give_for_root(bytes(&shares[2]), &nonce).await;
    assert!(matches!(right, Ok(Given::Enough { .. })));
}

#[tokio::test]
async fn k2_a_ceremony_that_uses_up_no_time_leaves_the_next_one_protected() {
    let (host, _) = open(memory()).await;
    for _ in 0..3 {
        let begun = host.seal.begin_root_generation(password(), ORIGIN).await;
        begun.unwrap();
        let strangers = host.seal.cancel_root_generation(STRANGER).await.err();
        assert_eq!(strangers, Some(CeremonyError::OthersOwn));
        host.seal.cancel_root_generation(ORIGIN).await.unwrap();
    }
}

#[tokio::test]
async fn a_ceremony_is_cancelled_by_whoever_began_it_and_ends_with_the_seal() {
    let (host, shares) = open(memory()).await;
    host.seal
        .begin_root_generation(password(), ORIGIN)
        .await
        .unwrap();
    let (new, verify) = (sharing(3, 2), false);
    host.seal.begin_rekey(new, verify, ORIGIN).await.unwrap();
    let others = Some(CeremonyError::OthersOwn);
    assert_eq!(
        host.seal.cancel_root_generation(STRANGER).await.err(),
        others
    );
    assert_eq!(host.seal.cancel_rekey(STRANGER).await.err(), others);
    host.seal.cancel_root_generation(ORIGIN).await.unwrap();
    host.seal.cancel_root_generation(STRANGER).await.unwrap();
    host.seal.cancel_rekey(ORIGIN).await.unwrap();
    assert_eq!(host.seal.root_generation().await.unwrap().nonce, None);

    host.seal
        .begin_root_generation(password(), ORIGIN)
        .await
        .unwrap();
    host.seal.seal().await;
    let sealed = host.seal.root_generation().await.err();
    assert_eq!(sealed, Some(CeremonyError::Sealed));
    for share in &shares[..3] {
        host.give(share).await.unwrap();
    }
    assert_eq!(host.seal.root_generation().await.unwrap().nonce, None);
    let empty = Host::start(memory(), PATIENT).await.unwrap();
    let refused = empty.seal.begin_rekey(new, verify, ORIGIN).await.err();
    assert_eq!(refused, Some(CeremonyError::NotInitialized));
}

#[tokio::test]
async fn k4_new_shares_replace_the_old_ones_at_once_and_after_a_restart() {
    let below = memory();
    let (host, old) = open(below.clone()).await;
    let begun = host.seal.begin_rekey(sharing(4, 2), false, ORIGIN).await;
    let begun = begun.unwrap();
    assert_eq!((begun.required, begun.sharing), (3, Some(sharing(4, 2))));
    let (new, verification) = rekey(&host, &old).await.unwrap();
    assert_eq!((new.len(), verification), (4, None));
    assert_eq!(host.seal.progress().await.sharing, Some(sharing(4, 2)));
    assert!(!host.store.is_sealed(), "calls go on");
    host.store.rotate_key().await.unwrap();
    while host.store.tend_keys().await.unwrap().more {}
    assert!(!opens(&host, &old).await);
    assert!(opens(&host, &new[2..]).await);
    let restarted = Host::start(below, PATIENT).await.unwrap();
    assert!(!opens(&restarted, &old).await);
    assert!(opens(&restarted, &new[..2]).await);
}

#[tokio::test]
async fn k4_new_shares_that_are_to_be_verified_count_only_then() {
    let (host, old) = open(memory()).await;
    let none = host.seal.verification().await.err();
    assert_eq!(none, Some(CeremonyError::NotUnderWay));
    host.seal
        .begin_rekey(sharing(3, 2), true, ORIGIN)
        .await
        .unwrap();
    let early = host.seal.verify_rekey(bytes(&old[0]), "").await.err();
    assert_eq!(early, Some(CeremonyError::NothingToVerify));
    let (new, nonce) = rekey(&host, &old).await.unwrap();
    let nonce = nonce.unwrap();
    let due = host.seal.give_for_rekey(bytes(&old[0]), "").await.err();
    assert_eq!(due, Some(CeremonyError::VerificationDue(nonce.clone())));
    assert_eq!(host.seal.progress().await.sharing, Some(sharing(5, 3)));

    let more = host.seal.verify_rekey(bytes(&new[0]), &nonce).await;
    assert!(matches!(more, Ok(Verified::More(progress)) if progress.given == 1));
    let wrong = host.seal.verify_rekey(bytes(&old[0]), &nonce).await.err();
    assert_eq!(wrong, Some(CeremonyError::Wrong));
    let seen = host.seal.verification().await.unwrap();
    assert_ne!(seen.verification_nonce, Some(nonce.clone()), "another name");
    assert_eq!(seen.given, 0);
    let stranger = host.seal.restart_verification(STRANGER).await.err();
    assert_eq!(stranger, Some(CeremonyError::OthersOwn));
    let nonce = host.seal.restart_verification(ORIGIN).await.unwrap();
    let nonce = nonce.verification_nonce.unwrap();
    host.seal
        .verify_rekey(bytes(&new[1]), &nonce)
        .await
        .unwrap();
    let done = host.seal.verify_rekey(bytes(&new[2]), &nonce).await;
    assert!(matches!(done, Ok(Verified::Done { .. })));
    assert!(!opens(&host, &old).await);
    assert!(opens(&host, &new).await);
}

/// A backend whose commits fail from some number on, with or without taking effect.
struct Failing {
    below: Arc<MemoryBackend>,
    left: AtomicU64,
    applies: bool,
}

impl Backend for Failing {
    fn get_changed<'a>(
        &'a self,
        namespace: Namespace,
        keys: &'a [HeldKey],
    ) -> Answer<'a, Result<Vec<Difference>, StoreError>> {
        self.below.get_changed(namespace, keys)
    }

    fn scan<'a>(
        &'a self,
        namespace: Namespace,
        prefix: &'a str,
        after: Option<&'a str>,
        limit: u32,
    ) -> Answer<'a, Result<Page, StoreError>> {
        self.below.scan(namespace, prefix, after, limit)
    }

    fn commit(
        &self,
        namespace: Namespace,
        checks: Vec<Check>,
        changes: Vec<Change>,
    ) -> Answer<'_, Result<(), CommitError>> {
        let left = self.left.load(Ordering::SeqCst);
        self.left.store(left.saturating_sub(1), Ordering::SeqCst);
        Box::pin(async move {
            if left > 0 || self.applies {
                self.below.commit(namespace, checks, changes).await?;
            }
            match left {
                0 => Err(StoreError::Unavailable("the disk is gone".to_owned()).into()),
                _ => Ok(()),
            }
        })
    }
}

#[tokio::test]
async fn k4_a_store_that_fails_while_shares_are_replaced_opens_with_the_old_or_the_new_ones() {
    for applies in [false, true] {
        let below = memory();
        let failing = Arc::new(Failing {
            below: below.clone(),
            left: AtomicU64::new(u64::MAX),
            applies,
        });
        let (host, old) = open(failing.clone()).await;
        host.seal
            .begin_rekey(sharing(3, 2), false, ORIGIN)
            .await
            .unwrap();
        failing.left.store(0, Ordering::SeqCst);
        let (new, verification) = rekey(&host, &old).await.unwrap();
        assert_eq!(verification.is_none(), applies, "what was stored counts");

        let restarted = Host::start(below.clone(), PATIENT).await.unwrap();
        assert_eq!(opens(&restarted, &old).await, !applies);
        assert_eq!(opens(&restarted, &new).await, applies);

        // The process lives on: the shares that were shown are not lost.
        failing.left.store(u64::MAX, Ordering::SeqCst);
        if let Some(nonce) = verification {
            for share in &new[..2] {
                host.seal.verify_rekey(bytes(share), &nonce).await.unwrap();
            }
        }
        let restarted = Host::start(below, PATIENT).await.unwrap();
        assert!(opens(&restarted, &new).await);
    }
}
