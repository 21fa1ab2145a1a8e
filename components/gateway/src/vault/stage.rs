//! The stage of a server: uninitialized, sealed or active.

use gatehouse_access_api::{Access, Cluster, ServiceError};

use super::errors::ApiError;
use crate::host::SealProgress;
use crate::vault::server::Server;

/// The stage that a server has reached.
pub(super) enum Stage {
    Uninitialized,
    Sealed,
    Active(Cluster),
}

impl Stage {
    /// The current stage of the server.
    pub(super) fn current(server: &Server<'_>) -> Result<Self, ApiError> {
        let seal = server.host.seal.status()?;
        Self::with_seal(seal.as_ref(), server.access)
    }

    /// The stage of the server a moment before `now`, in milliseconds since 1970, where the operator's settings allow that. It is only for frequent
    /// probes.
    pub(super) fn lately(server: &Server<'_>, now: u64) -> Result<Self, ApiError> {
        let Some(within) = server.settings.health_reuse else {
            return Self::current(server);
        };
        if let Some(cluster) = server.last_active.recall(within, now) {
            return Ok(Self::Active(cluster));
        }
        let stage = Self::current(server)?;
        if let Self::Active(cluster) = &stage {
            server.last_active.note(now, cluster);
        }
        Ok(stage)
    }

    /// The stage of a server with this progress of its unsealing by shares; `None` for an automatic seal.
    pub(super) fn with_seal(
        seal: Option<&SealProgress>,
        access: &dyn Access,
    ) -> Result<Self, ApiError> {
        match seal {
            Some(seal) if !seal.initialized => return Ok(Self::Uninitialized),
            Some(seal) if seal.sealed => return Ok(Self::Sealed),
            _ => {}
        }
        match access.current_cluster() {
            Ok(Some(cluster)) => Ok(Self::Active(cluster)),
            Ok(None) | Err(ServiceError::NotInitialized) => Ok(Self::Uninitialized),
            Err(ServiceError::Sealed) => Ok(Self::Sealed),
            Err(failure) => Err(failure.into()),
        }
    }
}
