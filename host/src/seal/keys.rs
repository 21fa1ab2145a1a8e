//! The keys of a store, as components see them.

use gatehouse_store::RotationPolicy as StorePolicy;

use super::store::Store;
use crate::runtime::services::{Answer, KeyStatus, Keys, RotationPolicy, SealError};

fn unavailable(error: &gatehouse_store::UnsealError) -> SealError {
    SealError::Unavailable(error.to_string())
}

impl Keys for Store {
    fn current(&self) -> Answer<'_, Result<KeyStatus, SealError>> {
        Box::pin(async {
            let status = self.key_status().await;
            let status = status.map_err(|error| unavailable(&error))?;
            Ok(KeyStatus {
                term: status.term.0,
                installed_at: status.installed_at,
                encryptions: status.encryptions,
            })
        })
    }

    fn rotate(&self) -> Answer<'_, Result<(), SealError>> {
        Box::pin(async {
            let term = self.rotate_key().await;
            let term = term.map_err(|error| unavailable(&error))?;
            tracing::info!(%term, "a new key seals the store: a caller asked for it");
            Ok(())
        })
    }

    fn policy(&self) -> Answer<'_, Result<RotationPolicy, SealError>> {
        Box::pin(async {
            let policy = self.rotation_policy().await;
            let policy = policy.map_err(|error| unavailable(&error))?;
            Ok(RotationPolicy {
                enabled: policy.enabled,
                max_operations: policy.max_operations,
                interval: policy.interval,
            })
        })
    }

    fn set_policy(&self, policy: RotationPolicy) -> Answer<'_, Result<(), SealError>> {
        let policy = StorePolicy {
            enabled: policy.enabled,
            max_operations: policy.max_operations,
            interval: policy.interval,
        };
        Box::pin(async move {
            let set = self.set_rotation_policy(policy).await;
            set.map_err(|error| unavailable(&error))
        })
    }
}
