//! Name resolution that hands out permitted addresses only.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::vec;

use hyper_util::client::legacy::connect::dns::Name;
use tower_service::Service;

use super::policy::{DestinationError, Grant, Policy};

/// Resolves names by the operating system and drops the addresses that the policy refuses for this grant.
///
/// Literal addresses never come here; the first gate of the policy has checked those.
#[derive(Debug, Clone)]
pub(super) struct CheckedResolver {
    policy: Arc<Policy>,
    grant: Grant,
}

impl CheckedResolver {
    pub(super) fn new(policy: Arc<Policy>, grant: Grant) -> Self {
        Self { policy, grant }
    }

    fn check(&self, addresses: impl Iterator<Item = SocketAddr>) -> io::Result<Vec<SocketAddr>> {
        let mut refusal = None;
        let permitted: Vec<SocketAddr> = addresses
            .filter(|address| {
                let verdict = self.policy.admit_address(self.grant, address.ip());
                refusal = verdict.err().or(refusal);
                verdict.is_ok()
            })
            .collect();
        match refusal {
            Some(denial) if permitted.is_empty() => Err(refused(denial)),
            _ => Ok(permitted),
        }
    }
}

fn refused(denial: DestinationError) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, denial)
}

impl Service<Name> for CheckedResolver {
    type Response = vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let resolver = self.clone();
        Box::pin(async move {
            let addresses = tokio::net::lookup_host((name.as_str(), 0)).await?;
            Ok(resolver.check(addresses)?.into_iter())
        })
    }
}
