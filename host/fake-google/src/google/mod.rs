//! The running fake, as its owner holds it.

mod accounts;
mod credentials;
mod federation;
mod instances;
mod permissions;
mod signing;
mod watching;

use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::TcpListener;
use tokio::task::AbortHandle;

use crate::description::Description;
use crate::error::FakeGoogleError;
use crate::server::{self, Server};
use crate::start::{FakeGoogleOptions, initial_state};
use crate::state::SharedState;

/// A Google on loopback. Dropping it closes its listener and all its connections.
///
/// Accounts are named by email or unique ID, instances by name, number or path (`projects/p/zones/z/instances/n`).
/// Methods that make keys take a noticeable part of a second.
#[derive(Debug)]
pub struct FakeGoogle {
    address: SocketAddr,
    state: SharedState,
    server: AbortHandle,
}

impl FakeGoogle {
    /// Makes the keys and starts listening on a free port of `127.0.0.1`, on the current Tokio runtime.
    ///
    /// # Errors
    ///
    /// When there is no port or no key to be had, or the population names an account, an instance or a group twice.
    pub async fn start(options: FakeGoogleOptions) -> Result<Self, FakeGoogleError> {
        let state = SharedState::new(initial_state(options).await?);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .map_err(FakeGoogleError::Listen)?;
        let address = listener.local_addr().map_err(FakeGoogleError::Listen)?;
        let server = Server {
            state: state.clone(),
            base_url: base_url_at(address),
        };
        let server = tokio::spawn(server::serve(listener, server)).abort_handle();
        Ok(Self {
            address,
            state,
            server,
        })
    }

    /// Where it listens. As `GCE_METADATA_HOST`, its text leads to the metadata server.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Base URL of all APIs, without a trailing slash.
    #[must_use]
    pub fn base_url(&self) -> String {
        base_url_at(self.address)
    }

    /// URL of the token endpoint, and the audience that assertions have to name.
    #[must_use]
    pub fn token_url(&self) -> String {
        token_url_of(&self.base_url())
    }

    /// The whole of it for programs that sign for themselves. Holds private keys.
    ///
    /// # Errors
    ///
    /// When Google's own keys were all removed.
    pub fn description(&self) -> Result<Description, FakeGoogleError> {
        Description::from_state(&self.state.lock(), self.base_url())
    }
}

impl Drop for FakeGoogle {
    fn drop(&mut self) {
        self.server.abort();
    }
}

fn base_url_at(address: SocketAddr) -> String {
    format!("http://{address}")
}

/// The token endpoint of the fake with this base URL.
pub(crate) fn token_url_of(base_url: &str) -> String {
    format!("{base_url}/token")
}
