//! How far a server has got, and the plain documents that say so.

use gatehouse_access_api::{Access, Cluster, Failure};
use serde::Serialize;

use super::errors::{ApiError, MEDIA_TYPE, without_content};
use crate::host::SealProgress;
use crate::http::Response;
use crate::vault::server::Server;

/// How far a server has got.
pub(super) enum Stage {
    Uninitialized,
    Sealed,
    Active(Cluster),
}

impl Stage {
    /// The stage of the server now.
    pub(super) fn current(server: &Server<'_>) -> Result<Self, ApiError> {
        let seal = server.host.seal.status()?;
        Self::with_seal(seal.as_ref(), server.access)
    }

    /// The stage of a server whose seal of shares, if it has one, is that far.
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
            Ok(None) | Err(Failure::NotInitialized) => Ok(Self::Uninitialized),
            Err(Failure::Sealed) => Ok(Self::Sealed),
            Err(failure) => Err(failure.into()),
        }
    }
}

/// A document without an envelope.
pub(super) fn answer(status: u16, body: &impl Serialize) -> Result<Response, ApiError> {
    let body = serde_json::to_vec(body)
        .map_err(|error| ApiError::internal(format!("an answer could not be written: {error}")))?;
    Ok(match status {
        // A load balancer may have asked for the status that has no body.
        204 => without_content(status),
        _ => Response::new(status, MEDIA_TYPE, body),
    })
}
