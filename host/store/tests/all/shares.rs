//! The seal of shares: first start, unsealing, sealing (SEC-K2, A8).

use std::sync::Arc;
use std::time::Duration;

use gatehouse_ports::{Change, Put, StoreError, SystemClock};
use gatehouse_store::{
    Backend, BeginError, KeyShare, MemoryBackend, Namespace, PrivateStore, Progress, RedbBackend,
    SealedBackend, ShareError, ShareSeal, Sharing, UnsealError, Unsealed,
};
use zeroize::Zeroizing;

use crate::subject::{put, root_key, value};

/// Longer than any test.
const PATIENT: Duration = Duration::from_secs(3600);

type Memory = Arc<MemoryBackend>;

/// The seal of a server, and the store that it opens.
pub struct Host<B: Backend> {
    pub store: Arc<SealedBackend<B>>,
    pub seal: Arc<ShareSeal<B>>,
}

impl<B: Backend> Host<B> {
    /// Starts a server above `below`.
    pub async fn start(below: B, patience: Duration) -> Result<Self, UnsealError> {
        let store = Arc::new(SealedBackend::new(below, Arc::new(SystemClock)));
        let seal = ShareSeal::open(store.clone(), patience).await?;
        let seal = Arc::new(seal);
        Ok(Self { store, seal })
    }

    pub fn store(&self, namespace: Namespace) -> PrivateStore {
        PrivateStore::new(self.store.clone(), namespace)
    }

    fn access(&self) -> PrivateStore {
        self.store(Namespace::Access)
    }

    /// The whole first start.
    pub async fn initialize(&self, shares: u32, threshold: u32) -> Vec<KeyShare> {
        let made = self.seal.begin(sharing(shares, threshold)).await.unwrap();
        let first = vec![put("system", "first")];
        self.access().commit(vec![], first).await.unwrap();
        self.seal.finish().await.unwrap();
        made
    }

    pub async fn give(&self, share: &KeyShare) -> Result<Progress, ShareError> {
        self.give_bytes(share.as_bytes()).await
    }

    async fn give_bytes(&self, share: &[u8]) -> Result<Progress, ShareError> {
        self.seal.unseal(Zeroizing::new(share.to_vec())).await
    }

    async fn is_closed(&self) -> bool {
        let closed = self.access().get(&["system"]).await == Err(StoreError::Sealed);
        assert_eq!(self.seal.progress().await.sealed, closed);
        assert_eq!(self.store.is_sealed(), closed);
        closed
    }
}

pub fn sharing(shares: u32, threshold: u32) -> Sharing {
    Sharing::new(shares, threshold).unwrap()
}

pub fn memory() -> Memory {
    Arc::new(MemoryBackend::new(Arc::new(SystemClock)))
}

async fn empty() -> Host<Memory> {
    Host::start(memory(), PATIENT).await.unwrap()
}

fn given(progress: &Progress) -> (bool, usize) {
    assert_eq!(progress.nonce.is_empty(), progress.given == 0);
    (progress.sealed, progress.given)
}

#[tokio::test]
async fn k2_a_first_start_closes_the_store_and_its_shares_open_it() {
    let host = empty().await;
    let before = host.seal.progress().await;
    assert_eq!((before.sharing, given(&before)), (None, (true, 0)));
    assert!(host.store.is_sealed());
    let unknown = host.give_bytes(&[1; 33]).await;
    assert_eq!(unknown, Err(ShareError::NotInitialized));

    let shares = host.initialize(5, 3).await;
    assert_eq!(shares.len(), 5);
    assert!(host.is_closed().await);
    let after = host.seal.progress().await;
    assert_eq!(after.sharing, Some(sharing(5, 3)));

    let one = host.give(&shares[4]).await.unwrap();
    assert_eq!(given(&one), (true, 1));
    let again = host.give(&shares[4]).await.unwrap();
    assert_eq!(again, one, "a share that was given before counts once");
    let two = host.give(&shares[0]).await.unwrap();
    assert_eq!((given(&two), &two.nonce), ((true, 2), &one.nonce));
    assert!(host.is_closed().await);
    let open = host.give(&shares[2]).await.unwrap();
    assert_eq!(given(&open), (false, 0));
    assert!(!host.is_closed().await);
    assert_eq!(value(&host.access(), "system").await.unwrap(), "first");

    let more = host.give(&shares[1]).await.unwrap();
    assert_eq!(more, open, "nothing is collected on an open store");
}

#[tokio::test]
async fn k2_all_small_numbers_of_shares_open_with_the_threshold_and_not_before() {
    for number in 1..=6 {
        for threshold in if number == 1 { 1..=1 } else { 2..=number } {
            let host = empty().await;
            let shares = host.initialize(number, threshold).await;
            for (place, share) in shares.iter().rev().enumerate() {
                let progress = host.give(share).await.unwrap();
                let opened = place + 1 >= threshold as usize;
                assert_eq!(progress.sealed, !opened, "{threshold} of {number}");
            }
        }
    }
}

#[tokio::test]
async fn k2_wrong_shares_do_not_make_the_right_ones_be_forgotten() {
    let host = empty().await;
    let shares = host.initialize(4, 3).await;
    let foreign = empty().await.initialize(4, 3).await;
    let mut same_coordinate = shares[0].as_bytes().to_vec();
    same_coordinate[0] ^= 1;
    host.give(&shares[0]).await.unwrap();
    let two = host.give(&shares[1]).await.unwrap();
    for wrong in [foreign[1].as_bytes(), &[0; 33], &same_coordinate] {
        assert_eq!(host.give_bytes(wrong).await, Err(ShareError::Wrong));
        let progress = host.seal.progress().await;
        assert_eq!(progress, two, "one is missing still");
        let again = host.give(&shares[0]).await.unwrap();
        assert_eq!(again, two, "a right one is no fault");
    }
    assert!(!host.give(&shares[3]).await.unwrap().sealed);
    assert!(!host.is_closed().await);
}

#[tokio::test]
async fn k2_right_shares_open_whatever_strangers_gave_before_and_between() {
    for threshold in [2, 3, 5] {
        let host = empty().await;
        let shares = host.initialize(5, threshold).await;
        let foreign = empty().await.initialize(5, threshold).await;
        let _ = host.give(&foreign[0]).await;
        let _ = host.give(&foreign[1]).await;
        let threshold = threshold as usize;
        for share in &shares[..threshold - 1] {
            let _ = host.give(share).await;
        }
        let _ = host.give(&foreign[2]).await;
        let opened = host.give(&shares[threshold - 1]).await.unwrap();
        assert!(!opened.sealed, "{threshold}");
    }
}

#[tokio::test]
async fn k2_too_many_wrong_shares_make_all_be_forgotten_and_the_right_ones_work_afterwards() {
    let host = empty().await;
    let shares = host.initialize(3, 2).await;
    let first = host.give(&shares[0]).await.unwrap();
    for wrong in 1..=4 {
        let refused = host.give_bytes(&[wrong; 33]).await;
        assert_eq!(refused, Err(ShareError::Wrong));
    }
    assert_eq!(given(&host.seal.progress().await), (true, 0));
    let second = host.give(&shares[0]).await.unwrap();
    assert_ne!(first.nonce, second.nonce, "another attempt, another nonce");
    assert_eq!(given(&host.seal.reset().await), (true, 0));
    for share in &shares[1..] {
        host.give(share).await.unwrap();
    }
    assert!(!host.is_closed().await);
}

#[tokio::test]
async fn what_cannot_be_a_share_by_its_length_changes_nothing() {
    let host = empty().await;
    let shares = host.initialize(3, 2).await;
    let one = host.give(&shares[0]).await.unwrap();
    for length in [0, 1, 16, 31, 32, 34, 66, 10_000] {
        let refused = host.give_bytes(&vec![7; length]).await;
        assert_eq!(refused, Err(ShareError::Malformed));
        assert_eq!(host.seal.progress().await, one);
    }
}

#[tokio::test]
async fn k2_a_sealed_store_answers_nobody_and_opens_again_without_a_restart() {
    let host = empty().await;
    let shares = host.initialize(3, 2).await;
    for _ in 0..3 {
        host.give(&shares[0]).await.unwrap();
        host.give(&shares[1]).await.unwrap();
        assert!(!host.is_closed().await);
        host.seal.seal().await;
        assert!(host.is_closed().await);
        let change = vec![put("system", "second")];
        let refused = host.access().commit(vec![], change).await.unwrap_err();
        assert_eq!(refused.to_string(), StoreError::Sealed.to_string());
    }
    host.seal.seal().await;
    host.give(&shares[1]).await.unwrap();
    let opened = host.give(&shares[2]).await.unwrap();
    assert!(!opened.sealed);
}

#[tokio::test]
async fn k2_a_restart_closes_the_store_and_forgets_half_an_attempt() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.redb");
    let start = || async {
        let file = RedbBackend::open(&path, Arc::new(SystemClock)).unwrap();
        Host::start(file, PATIENT).await.unwrap()
    };
    let shares = start().await.initialize(4, 2).await;
    for pair in shares.chunks(2) {
        let host = start().await;
        assert!(host.is_closed().await);
        assert_eq!(given(&host.give(&pair[0]).await.unwrap()), (true, 1));
        drop(host);
        let host = start().await;
        assert_eq!(given(&host.seal.progress().await), (true, 0));
        host.give(&pair[0]).await.unwrap();
        assert!(!host.give(&pair[1]).await.unwrap().sealed);
        assert_eq!(value(&host.access(), "system").await.unwrap(), "first");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a8_of_many_first_starts_at_once_exactly_one_gets_shares() {
    for _ in 0..20 {
        let host = empty().await;
        let starts: Vec<_> = (0..8)
            .map(|_| {
                let seal = host.seal.clone();
                tokio::spawn(async move { seal.begin(sharing(3, 2)).await })
            })
            .collect();
        let mut won = Vec::new();
        for start in starts {
            match start.await.unwrap() {
                Ok(shares) => won.push(shares),
                Err(error) => assert_eq!(error, BeginError::AlreadyInitialized),
            }
        }
        assert_eq!(won.len(), 1);
        host.seal.finish().await.unwrap();
        let late = host.seal.begin(sharing(3, 2)).await.err();
        assert_eq!(late, Some(BeginError::AlreadyInitialized));
        host.give(&won[0][0]).await.unwrap();
        assert!(!host.give(&won[0][2]).await.unwrap().sealed);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn k2_holders_who_give_their_shares_at_once_open_the_store() {
    for _ in 0..20 {
        let host = empty().await;
        let shares = host.initialize(8, 5).await;
        let givers: Vec<_> = shares
            .iter()
            .map(|share| {
                let (seal, share) = (host.seal.clone(), share.as_bytes().to_vec());
                tokio::spawn(async move { seal.unseal(Zeroizing::new(share)).await.unwrap() })
            })
            .collect();
        let mut still_sealed = 0;
        for giver in givers {
            still_sealed += usize::from(giver.await.unwrap().sealed);
        }
        assert_eq!(still_sealed, 4, "the fifth opens it");
        assert!(!host.is_closed().await);
    }
}

#[tokio::test]
async fn a_first_start_that_nobody_goes_on_with_makes_room_for_another() {
    let impatient = Host::start(memory(), Duration::ZERO).await.unwrap();
    let lost = impatient.seal.begin(sharing(3, 2)).await.unwrap();
    let left = vec![put("system", "left behind")];
    impatient.access().commit(vec![], left).await.unwrap();
    let before = impatient.seal.progress().await;
    assert_eq!((before.sharing, before.sealed), (None, true));

    let shares = impatient.seal.begin(sharing(2, 2)).await.unwrap();
    assert_eq!(value(&impatient.access(), "system").await, None);
    impatient.seal.finish().await.unwrap();
    for wrong in &lost[..2] {
        let given = impatient.give(wrong).await;
        assert!(given.is_ok_and(|given| given.sealed) || impatient.store.is_sealed());
    }
    impatient.seal.reset().await;
    for share in &shares {
        impatient.give(share).await.unwrap();
    }
    assert!(!impatient.is_closed().await);
}

#[tokio::test]
async fn a_first_start_that_is_given_up_leaves_an_empty_store() {
    let below = memory();
    let host = Host::start(below.clone(), PATIENT).await.unwrap();
    host.seal.begin(sharing(3, 2)).await.unwrap();
    for namespace in [Namespace::Access, Namespace::AuthMethod, Namespace::Orgs] {
        for number in 0..600 {
            let change = vec![put(&format!("record/{number}"), "left behind")];
            host.store(namespace).commit(vec![], change).await.unwrap();
        }
    }
    host.seal.abandon().await.unwrap();
    assert_eq!(below.held_entries(), 0);
    assert!(host.store.is_sealed());
    host.seal.finish().await.unwrap();
    assert_eq!(below.held_entries(), 0, "there is nothing to finish");

    let shares = host.initialize(3, 2).await;
    host.seal.abandon().await.unwrap();
    host.give(&shares[0]).await.unwrap();
    assert!(!host.give(&shares[1]).await.unwrap().sealed);
}

#[tokio::test]
async fn k1_what_the_store_says_about_its_shares_is_believed_only_with_its_keyring() {
    let below = memory();
    let host = Host::start(below.clone(), PATIENT).await.unwrap();
    let shares = host.initialize(5, 3).await;
    let stored = below.get(Namespace::Keyring, &["seal"]).await.unwrap();
    let mut altered = stored[0].as_ref().unwrap().value.clone();
    altered[1] = 4;
    let change = Change::Put(Put {
        key: "seal".into(),
        value: altered,
        expires_at: None,
    });
    let keyring = Namespace::Keyring;
    below.commit(keyring, vec![], vec![change]).await.unwrap();

    let host = Host::start(below, PATIENT).await.unwrap();
    host.give(&shares[0]).await.unwrap();
    host.give(&shares[1]).await.unwrap();
    let refused = host.give(&shares[2]).await;
    assert_eq!(refused, Err(UnsealError::AlteredSeal.into()));
    assert!(host.is_closed().await);
}

#[tokio::test]
async fn k2_a_store_is_opened_by_the_kind_of_seal_it_was_made_with() {
    let below = memory();
    let by_file = SealedBackend::new(below.clone(), Arc::new(SystemClock));
    assert_eq!(by_file.unseal(&root_key()).await, Ok(Unsealed::Created));
    let refused = Host::start(below, PATIENT).await.err();
    assert_eq!(refused, Some(UnsealError::KeyFileNeeded));

    let below = memory();
    let host = Host::start(below.clone(), PATIENT).await.unwrap();
    host.initialize(3, 2).await;
    let by_file = SealedBackend::new(below, Arc::new(SystemClock));
    let refused = by_file.unseal(&root_key()).await;
    assert_eq!(refused, Err(UnsealError::SharesNeeded));
    assert!(by_file.is_sealed());
}

#[tokio::test]
async fn k2_a_store_whose_keyring_or_seal_is_gone_is_not_taken_for_an_empty_one() {
    for lost in ["keyring", "seal"] {
        let below = memory();
        let host = Host::start(below.clone(), PATIENT).await.unwrap();
        host.initialize(3, 2).await;
        let delete = Change::Delete(lost.into());
        let namespace = Namespace::Keyring;
        below.commit(namespace, vec![], vec![delete]).await.unwrap();
        let refused = Host::start(below, PATIENT).await.err().unwrap();
        let missing = [UnsealError::KeyringMissing, UnsealError::KeyFileNeeded];
        assert!(missing.contains(&refused), "without {lost}: {refused}");
    }
}
