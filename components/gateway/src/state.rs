//! The state of the front: the three capabilities, the settings and the environment.

use gatehouse_ports::{Clock, OsRandom, Random, RandomError, SystemClock};

use crate::fresh_uuid::fresh_uuid;
use crate::host::{AuditLog, Host};
use crate::settings::Settings;
use crate::vault::last_active::LastActive;

/// Both wire protocols over the three capabilities.
///
/// It keeps no state between requests that affects answers, so one gateway may serve any number of requests, in sequence or concurrently.
pub struct Gateway<A, C, O> {
    pub(crate) auth_method: A,
    pub(crate) access: C,
    pub(crate) organizations: O,
    pub(crate) settings: Settings,
    pub(crate) host: Host,
    /// True if the host records anything. The host does not change that.
    is_audited: bool,
    pub(crate) last_active: LastActive,
    pub(crate) clock: Box<dyn Clock + Send + Sync>,
    pub(crate) random: Box<dyn Random + Send + Sync>,
    pub(crate) operator: Box<dyn Fn(&str) + Send + Sync>,
}

impl<A, C, O> Gateway<A, C, O> {
    /// A gateway with the clock and the randomness of the system.
    #[must_use]
    pub fn new(auth_method: A, access: C, organizations: O, settings: Settings) -> Self {
        Self {
            auth_method,
            access,
            organizations,
            settings,
            host: Host::default(),
            is_audited: false,
            last_active: LastActive::default(),
            clock: Box::new(SystemClock),
            random: Box::new(OsRandom),
            operator: Box::new(|detail| eprintln!("gateway: {detail}")),
        }
    }

    /// The same with another clock and another source of randomness.
    #[must_use]
    pub fn with_surroundings(
        mut self,
        clock: impl Clock + Send + Sync + 'static,
        random: impl Random + Send + Sync + 'static,
    ) -> Self {
        self.clock = Box::new(clock);
        self.random = Box::new(random);
        self
    }

    /// The same on a host that offers these services.
    #[must_use]
    pub fn with_host(mut self, host: Host) -> Self {
        self.is_audited = host.audit.is_on();
        self.host = host;
        self
    }

    /// The same with another log for messages to the operator, instead of standard error: failures of the store, of Google, or of the mount's
    /// credentials. The messages never contain secrets.
    #[must_use]
    pub fn with_operator_log(mut self, log: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.operator = Box::new(log);
        self
    }

    pub(crate) fn tell_operator(&self, detail: &str) {
        (self.operator)(detail);
    }

    /// The log of exchanges; `None` where nothing is recorded.
    pub(crate) fn audit_log(&self) -> Option<&dyn AuditLog> {
        self.is_audited
            .then_some(&*self.host.audit as &dyn AuditLog)
    }

    /// A fresh random UUID in lower case.
    pub(crate) fn fresh_uuid(&self) -> Result<String, RandomError> {
        fresh_uuid(&*self.random)
    }
}
