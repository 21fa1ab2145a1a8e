//! The record of each exchange: the request before anything is done about it, and the answer before it is sent (contract 6.5, SEC-L1).
//!
//! A [`Trail`] accompanies a request through its stages and collects what they find out. A handler calls [`Trail::ask`] before it does anything. A
//! handler that refuses before that need not call it, since [`Trail::answer`] records the request too. Both fail where the host cannot keep the
//! record, and the request fails with them.
//!
//! Reads that are open to every caller, frequent, and reveal nothing are not recorded: each protocol knows its own.

mod data;
mod facts;
mod record;
mod secrecy;

use std::cell::OnceCell;

use gatehouse_access_api::{Access, Admission, ClientToken, Operation, TokenReference, TokenView};
use gatehouse_ports::{Random, RandomError};

pub(crate) use self::secrecy::client_request_id;

use self::data::RequestData;
use self::facts::{Facts, operation_name, operation_of};
use self::record::{Parts, ResponseView};
use crate::cubbyhole_paths;
use crate::fresh_uuid::fresh_uuid;
use crate::host::{AuditEntry, AuditError, AuditLog, Side};
use crate::http::{Method, Request, Response};
use crate::path::UNWRAP_PATH;

/// The requests for a path that leave a record, where there is an audit log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recording {
    /// Every request.
    Always,
    /// Every request except a read: the path tells every caller about the state of the server or the places of its services, and ignores tokens.
    UnlessRead,
}

impl Recording {
    fn includes(self, request: &Request) -> bool {
        self == Self::Always || !matches!(request.method, Method::Get | Method::Head)
    }
}

/// The facts about one exchange, and the means to record them.
pub(crate) struct Trail<'g> {
    /// `None` where nothing is recorded.
    log: Option<&'g dyn AuditLog>,
    request: &'g Request,
    /// The host's name for the exchange, or a new one of the gateway; empty where neither is needed so far.
    id: String,
    /// The path of the route that serves the request.
    route: OnceCell<String>,
    is_asked: bool,
    facts: Facts,
    /// A root token that the answer hides (contract 6.1).
    root_token: Option<ClientToken>,
}

impl<'g> Trail<'g> {
    /// Begins the record of a request, if it is to be recorded. `log` is the log for the records; `None` for no log.
    ///
    /// # Errors
    ///
    /// When the randomness for a name is missing.
    pub(crate) fn open(
        log: Option<&'g dyn AuditLog>,
        random: &dyn Random,
        request: &'g Request,
        recording: Recording,
    ) -> Result<Self, RandomError> {
        let log = log.filter(|_| recording.includes(request));
        let id = match (&request.id, log) {
            (Some(id), _) => id.clone(),
            (None, Some(_)) => fresh_uuid(random)?,
            (None, None) => String::new(),
        };
        Ok(Self {
            log,
            request,
            id,
            route: OnceCell::new(),
            is_asked: false,
            facts: Facts::default(),
            root_token: None,
        })
    }

    /// The trail of a further part of an answer. It records nothing: the records of request and answer stand for all parts.
    pub(crate) fn of_part(request: &'g Request) -> Self {
        Self {
            log: None,
            request,
            id: String::new(),
            route: OnceCell::new(),
            is_asked: true,
            facts: Facts::default(),
            root_token: None,
        }
    }

    /// The name of the exchange in the logs and in its answer; `None` where it has none so far.
    pub(crate) fn request_id(&self) -> Option<&str> {
        Some(self.id.as_str()).filter(|id| !id.is_empty())
    }

    /// Sets the route that serves the request: its path from the root, with `{name}` in place of each segment that callers choose.
    pub(crate) fn takes_route(&self, route: String) {
        // One route serves a request; a second call changes nothing.
        let _ = self.route.set(route);
    }

    /// The route that serves the request.
    pub(crate) fn route(&self) -> Option<String> {
        self.route.get().cloned()
    }

    /// Sets the operation and the path of the request, and the lifetime of the wrapping that it asks for.
    pub(crate) fn concerns(&mut self, operation: Operation, path: &str, wrap_ttl: Option<u64>) {
        if self.log.is_some() {
            self.facts.operation = Some(operation_name(operation));
            self.facts.path = Some(path.to_owned());
            self.facts.wrap_ttl = wrap_ttl;
        }
    }

    /// Notes that a root token was made for the answer, which does not show it in clear.
    pub(crate) fn hides_root_token(&mut self, root_token: ClientToken) {
        self.root_token = Some(root_token);
    }

    /// The root token that the answer hides.
    pub(crate) const fn root_token(&self) -> Option<&ClientToken> {
        self.root_token.as_ref()
    }

    /// Sets the service token that the request presents.
    pub(crate) fn comes_from(&mut self, caller: Option<&TokenView>) {
        if self.log.is_some() {
            self.facts.caller = caller.cloned();
        }
    }

    /// Sets whether the request is allowed, for the caller with this `accessor`. An allowed request is recorded.
    ///
    /// # Errors
    ///
    /// When the request cannot be recorded. It must not be carried out then.
    pub(crate) fn decided(
        &mut self,
        token: Option<&str>,
        accessor: &str,
        allowed: bool,
    ) -> Result<(), AuditError> {
        if self.log.is_none() {
            return Ok(());
        }
        self.facts.operation = Some(match self.request.method {
            Method::Post => "create",
            method => operation_of(method),
        });
        self.facts.token = token.map(str::to_owned);
        self.facts.accessor = Some(accessor.to_owned());
        self.facts.allowed = Some(allowed);
        if allowed { self.ask() } else { Ok(()) }
    }

    /// Notes that access admits the request, and records the request.
    ///
    /// # Errors
    ///
    /// When the request cannot be recorded. It must not be carried out then.
    pub(crate) fn admitted(
        &mut self,
        token: Option<&str>,
        admission: &Admission,
    ) -> Result<(), AuditError> {
        if self.log.is_none() {
            return Ok(());
        }
        self.facts.token = token.map(str::to_owned);
        self.facts.caller.clone_from(&admission.caller);
        self.facts.mount.clone_from(&admission.mount);
        self.facts.allowed = Some(true);
        if admission.write.create && !admission.write.update {
            self.facts.operation = Some("create");
        }
        self.ask()
    }

    /// Notes that access refuses the request. The caller is looked up, where the token is valid.
    pub(crate) fn refused(&mut self, token: Option<&str>, access: &(impl Access + ?Sized)) {
        if self.log.is_none() {
            return;
        }
        self.facts.token = token.map(str::to_owned);
        let caller = token.map(|token| access.lookup_token(&TokenReference::Id(token.into())));
        self.facts.caller = caller.and_then(Result::ok);
        self.facts.allowed = Some(false);
    }

    /// Records nothing of this request, which is refused by a rate limit: a flood must not fill the log.
    pub(crate) fn leave_out(&mut self) {
        self.log = None;
    }

    /// Records the request, if it has not been recorded yet.
    ///
    /// # Errors
    ///
    /// When the request cannot be recorded. It must not be carried out then.
    pub(crate) fn ask(&mut self) -> Result<(), AuditError> {
        self.write_request(None)
    }

    /// Records the answer, and before it the request, if that has not been recorded yet.
    ///
    /// # Errors
    ///
    /// When a record cannot be written. The answer must not be sent then.
    pub(crate) fn answer(&mut self, response: &Response) -> Result<(), AuditError> {
        let Some(log) = self.log else {
            return Ok(());
        };
        let mut view = ResponseView::from_response(response);
        let path = self.facts.path.as_deref().unwrap_or_default();
        // The client that wrapped an answer or stored a secret may have chosen the names of its fields.
        if path == UNWRAP_PATH || cubbyhole_paths::below(path).is_some() {
            let content = &mut view.content;
            content.data = content.data.take().and_then(data::of_secret);
        }
        let error = view.error.clone();
        self.write_request(error.as_deref())?;
        let (document, clear) = self.parts().response(&view);
        log.write(AuditEntry {
            side: Side::Response,
            document,
            clear,
        })
    }

    fn write_request(&mut self, error: Option<&str>) -> Result<(), AuditError> {
        let Some(log) = self.log.filter(|_| !self.is_asked) else {
            return Ok(());
        };
        let (document, clear) = self.parts().request(error);
        log.write(AuditEntry {
            side: Side::Request,
            document,
            clear,
        })?;
        self.is_asked = true;
        Ok(())
    }

    fn parts(&self) -> Parts<'_> {
        Parts {
            id: &self.id,
            facts: &self.facts,
            request: self.request,
            data: RequestData::from_request(self.request),
        }
    }
}
