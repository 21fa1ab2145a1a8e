//! One request of this protocol, as its handlers see it.

use std::cell::RefCell;

use gatehouse_access_api::Access;
use gatehouse_orgs_api::{self as orgs, Capability, Identity};

use super::api_error::ApiError;
use super::media_type;
use super::rate::{RateKey, RateLimiter, name_of};
use super::route::Route;
use crate::audit::Trail;
use crate::http::Request;
use crate::settings::Settings;

/// One request, and everything that is needed to answer it.
pub(super) struct Api<'a, C, O> {
    pub(super) access: &'a C,
    pub(super) organizations: &'a O,
    pub(super) settings: &'a Settings,
    pub(super) request: &'a Request,
    /// The row of the table that serves the request.
    pub(super) route: &'static Route,
    /// The trail, shared by the successive steps of one request.
    pub(super) trail: &'a RefCell<Trail<'a>>,
    /// The server's identifier of the exchange.
    pub(super) request_id: &'a str,
    /// The token whose text is in the answer, once there is one.
    pub(super) handed_out: &'a RefCell<Option<HandedOut>>,
    pub(super) limiter: &'a RateLimiter<'a>,
}

impl<C: Access, O: Capability> Api<'_, C, O> {
    /// Notes that the answer contains the text of a token. The token is revoked where that answer cannot be recorded (SEC-L1).
    pub(super) fn hands_out(&self, issued: &orgs::IssuedToken, by: &orgs::Caller) {
        *self.handed_out.borrow_mut() = Some(HandedOut {
            id: issued.token.id.clone(),
            by: by.clone(),
        });
    }

    /// Refuses a body whose type cannot be read (contract 1.4).
    ///
    /// # Errors
    ///
    /// As [`media_type::check_media_type`].
    pub(super) fn check_media_type(&self) -> Result<(), ApiError> {
        media_type::check_media_type(self.request, self.settings.strict_media_type)
    }

    /// Counts the request for the caller, known by identity and accessor, or for the address where there is no caller. Where `rate` is not known, the
    /// capability is asked for it. A request beyond the limit is not recorded.
    ///
    /// # Errors
    ///
    /// [`ApiError::RateLimited`] if the request is beyond the limit.
    pub(super) fn admit_rate(
        &self,
        caller: Option<(&Identity, &str)>,
        rate: Option<orgs::ApiRate>,
    ) -> Result<(), ApiError> {
        self.limiter
            .settle(|| rate.or_else(|| self.organizations.read_api_rate().ok()));
        let name = caller.map(|(identity, accessor)| {
            let token = self.request.bearer_token().unwrap_or_default();
            name_of(&identity.principal, accessor, token)
        });
        let key = match &name {
            Some(name) => RateKey::Caller(name),
            None => RateKey::Address(self.request.peer),
        };
        self.count(key)
    }

    /// Counts a request for its address, by the server's settings alone. It is for answers that do not depend on the store.
    ///
    /// # Errors
    ///
    /// [`ApiError::RateLimited`] if the request is beyond the limit.
    pub(super) fn admit_rate_without_store(&self) -> Result<(), ApiError> {
        self.count(RateKey::Address(self.request.peer))
    }

    fn count(&self, key: RateKey<'_>) -> Result<(), ApiError> {
        let admitted = self.limiter.admit(key);
        if admitted.is_err() {
            self.trail.borrow_mut().leave_out();
        }
        admitted
    }
}

/// A token whose text is in an answer.
pub(super) struct HandedOut {
    pub(super) id: String,
    pub(super) by: orgs::Caller,
}
