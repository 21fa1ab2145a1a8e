//! An order to seal all hosts that share a store (SEC-A8).

use std::sync::Arc;

use gatehouse_ports::doubles::ManualClock;
use gatehouse_store::{MemoryBackend, SealedBackend};

use crate::several_hosts::Link;
use crate::subject::{START, root_key};

#[tokio::test]
async fn a8_an_order_to_seal_concerns_all_that_are_open_and_none_that_open_later() {
    let clock = Arc::new(ManualClock::at_seconds(START / 1000));
    let below = Arc::new(MemoryBackend::new(clock.clone()));
    let hosts = [(); 2].map(|()| SealedBackend::new(Link::to(&below), clock.clone()));
    for host in &hosts {
        host.unseal(&root_key()).await.unwrap();
        assert!(!host.is_seal_ordered().await.unwrap());
    }
    for _ in 0..2 {
        hosts[0].order_seal().await.unwrap();
        for host in &hosts {
            assert!(host.is_seal_ordered().await.unwrap());
            host.seal();
            assert!(!host.is_seal_ordered().await.unwrap());
            host.unseal(&root_key()).await.unwrap();
            assert!(!host.is_seal_ordered().await.unwrap());
        }
    }
}

#[tokio::test]
async fn a8_a_store_that_does_not_answer_is_no_order_to_seal() {
    let clock = Arc::new(ManualClock::at_seconds(START / 1000));
    let below = Arc::new(MemoryBackend::new(clock.clone()));
    let link = Link::to(&below);
    let host = SealedBackend::new(link.clone(), clock);
    host.unseal(&root_key()).await.unwrap();
    link.cut_off();
    assert!(host.is_seal_ordered().await.is_err());
    assert!(host.follow_others().await.is_err());
    assert!(!host.is_sealed());
}
