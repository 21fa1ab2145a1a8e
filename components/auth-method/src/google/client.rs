//! Google, as one mount sees it.

use gatehouse_ports::{Cache, Clock, Http, Random};

use super::api_error::ApiError;
use super::credentials::Source;
use super::deadline::Deadline;
use super::endpoints::Endpoints;
use super::memory::MountMemory;
use super::retries::RetryBudget;
use super::settings::Settings;

/// Google, as one mount sees it during one login or renewal.
pub(crate) struct Google<'a, H, C, R> {
    pub(crate) http: &'a H,
    pub(crate) clock: &'a C,
    pub(crate) random: &'a R,
    pub(crate) settings: &'a Settings,
    pub(crate) endpoints: &'a Endpoints,
    /// The memory of this instance under the mount's present configuration.
    pub(crate) memory: &'a MountMemory,
    /// The memory that all instances share.
    pub(crate) cache: &'a dyn Cache,
    /// For all calls of this instance.
    pub(crate) retries: &'a RetryBudget,
    /// Finds the source of access tokens that is in force; it is seldom needed, since they last.
    pub(crate) credentials: &'a dyn Fn() -> Result<Source, ApiError>,
    /// When the login or renewal has taken too long.
    pub(crate) deadline: Deadline,
}

impl<H: Http, C: Clock, R: Random> Google<'_, H, C, R> {
    /// Seconds since 1970.
    pub(crate) fn now(&self) -> u64 {
        self.clock.now_seconds()
    }
}
