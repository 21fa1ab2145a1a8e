//! The way of a request to the protocol it belongs to.

use std::time::Duration;

use gatehouse_access_api::Access;
use gatehouse_auth_method_api::AuthMethod;
use gatehouse_orgs_api::Capability;
use gatehouse_ports::{Clock, OsRandom, Random, RandomError, SystemClock};

use crate::continuation::Continuation;
use crate::host::{AuditLog, Host};
use crate::http::{Request, Response};
use crate::organizations::ApiError;
use crate::parts::{Part, ResumeError};
use crate::path::{self, CanonicalPath, PathError};
use crate::settings::Settings;
use crate::vault::last_active::LastActive;
use crate::{organizations, vault};

/// How large a request body may be, in bytes (contract 1.1, rule 7). A host may refuse earlier, while it still reads.
pub const MAXIMUM_BODY_BYTES: usize = 1 << 20;

/// How long a request body may take to arrive where the host leaves it to the component to wait for it.
pub const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Both wire protocols over the three capabilities.
///
/// It keeps nothing between requests that answers depend on, so one may serve any number of them, one after another or at once.
pub struct Gateway<A, C, O> {
    pub(crate) auth_method: A,
    pub(crate) access: C,
    pub(crate) organizations: O,
    pub(crate) settings: Settings,
    pub(crate) host: Host,
    /// True if the host records anything; it does not change its mind.
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

    /// The same with another place for what concerns the operator and not the client, instead of standard error: failures of
    /// the store, of Google, or of the mount's credentials. Never secrets.
    #[must_use]
    pub fn with_operator_log(mut self, log: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.operator = Box::new(log);
        self
    }

    pub(crate) fn tell_operator(&self, detail: &str) {
        (self.operator)(detail);
    }

    /// Where exchanges are recorded; `None` for nowhere.
    pub(crate) fn audit_log(&self) -> Option<&dyn AuditLog> {
        self.is_audited
            .then_some(&*self.host.audit as &dyn AuditLog)
    }

    /// A fresh random UUID in lower case.
    pub(crate) fn fresh_uuid(&self) -> Result<String, RandomError> {
        fresh_uuid(&*self.random)
    }
}

/// A fresh random UUID in lower case.
pub(crate) fn fresh_uuid(random: &dyn Random) -> Result<String, RandomError> {
    let mut bytes = [0; 16];
    random.fill(&mut bytes)?;
    let id = uuid::Builder::from_random_bytes(bytes).into_uuid();
    Ok(id.hyphenated().to_string())
}

impl<A: AuthMethod, C: Access + 'static, O: Capability + 'static> Gateway<A, C, O> {
    /// Answers one request. Every request gets an answer; a fault of the server is a 5xx, never a panic.
    #[must_use]
    pub fn handle(&self, request: &Request) -> Response {
        let is_json_api = organizations::concerns(&request.path);
        if request.body.len() > MAXIMUM_BODY_BYTES {
            return if is_json_api {
                organizations::refuse(self, request, &ApiError::TooLarge)
            } else {
                let response = vault::error_response(413, "request body too large");
                vault::end(self, request, response)
            };
        }
        // Decoded once, here: routing and policies see the same bytes (SEC-A2).
        let path = match CanonicalPath::parse(&request.path) {
            Ok(path) => path,
            // A text that cannot be a path of that protocol does not exist there.
            Err(_) if is_json_api => {
                return organizations::refuse(self, request, &ApiError::NotFound);
            }
            Err(PathError::EmptySegment | PathError::DotSegment) => {
                let response = match path::plain_spelling(&request.path) {
                    Ok(plain) => redirected(plain, &request.query),
                    Err(error) => vault::error_response(400, &error.to_string()),
                };
                return vault::end(self, request, response);
            }
            Err(error) => {
                let response = vault::error_response(400, &error.to_string());
                return vault::end(self, request, response);
            }
        };
        match path.as_str().split_once('/') {
            Some(("v1", _)) => vault::handle(self, request, &path),
            // The resource that stands there has no name.
            None if path.as_str() == "v1" && path.has_trailing_slash() => {
                vault::handle(self, request, &path)
            }
            Some(("api", _)) => organizations::handle(self, request, &path),
            _ if is_json_api || path.as_str() == ".well-known/terraform.json" => {
                organizations::handle(self, request, &path)
            }
            _ => vault::not_found(),
        }
    }
}

impl<A: AuthMethod, C: Access + 'static, O: Capability + 'static> Gateway<A, C, O> {
    /// Goes on with the body of the answer to `request`, which the answer's [`crate::Rest`] tells where.
    ///
    /// The caller's rights are looked at anew. It takes no use of a token with a number of them, counts against no rate, and is not recorded:
    /// the records of request and answer stand for all parts.
    ///
    /// # Errors
    ///
    /// When the body does not go on; what has been sent of it must not look complete then.
    pub fn resume(&self, request: &Request, continuation: &[u8]) -> Result<Part, ResumeError> {
        match Continuation::read(continuation)? {
            Continuation::Organizations(place) => organizations::resume_list(self, request, place),
            Continuation::Log(place) => vault::resume_log(&self.into(), request, place),
            Continuation::Backup(place) => vault::resume_backup(&self.into(), request, place),
        }
    }
}

/// Sends the client to another path with the same method, query and body.
fn redirected(path: String, query: &str) -> Response {
    let mut target = path;
    if !query.is_empty() {
        target.push('?');
        target.push_str(query);
    }
    vault::without_content(307).with_header("location", target)
}
