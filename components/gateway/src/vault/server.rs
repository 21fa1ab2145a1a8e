//! The capabilities and the environment of a server, as handlers use them.

use gatehouse_access_api::Access;
use gatehouse_auth_method_api::AuthMethod;
use gatehouse_ports::{Clock, Random, RandomError};

use super::last_active::LastActive;
use crate::fresh_uuid::fresh_uuid;
use crate::host::Host;
use crate::{Gateway, Settings};

/// A [`Gateway`] without its type parameters, so that one table can name the handlers of every gateway.
pub(crate) struct Server<'g> {
    pub(crate) access: &'g dyn Access,
    pub(crate) auth_method: &'g dyn AuthMethod,
    pub(crate) settings: &'g Settings,
    pub(crate) host: &'g Host,
    pub(crate) clock: &'g dyn Clock,
    pub(super) last_active: &'g LastActive,
    random: &'g dyn Random,
    operator: &'g dyn Fn(&str),
}

impl<'g, A: AuthMethod, C: Access, O> From<&'g Gateway<A, C, O>> for Server<'g> {
    fn from(gateway: &'g Gateway<A, C, O>) -> Self {
        Self {
            access: &gateway.access,
            auth_method: &gateway.auth_method,
            settings: &gateway.settings,
            host: &gateway.host,
            clock: &*gateway.clock,
            last_active: &gateway.last_active,
            random: &*gateway.random,
            operator: &*gateway.operator,
        }
    }
}

impl Server<'_> {
    /// Reports a text to the operator that is not for the client. It never contains secrets.
    pub(crate) fn tell_operator(&self, detail: &str) {
        (self.operator)(detail);
    }

    /// Fills `bytes` with random bytes.
    pub(crate) fn fill_randomly(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        self.random.fill(bytes)
    }

    /// A fresh random UUID in lower case.
    pub(crate) fn fresh_uuid(&self) -> Result<String, RandomError> {
        fresh_uuid(self.random)
    }
}
