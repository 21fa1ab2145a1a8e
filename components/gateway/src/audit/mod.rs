//! The record of each exchange: what was asked before anything is done about it, what was answered before it leaves (contract 6.5,
//! SEC-L1).
//!
//! A [`Trail`] accompanies a request through its stages and learns what they find out. A handler that is about to do something calls
//! [`Trail::ask`] first; one that refuses before that need not care, since [`Trail::answer`] makes up for it. Both fail where the host
//! keeps no record, and the request with them.
//!
//! Reads that every caller may make all the time, and learns nothing by, are not recorded: each protocol knows its own.

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

/// Tells if a request leaves a record where there is an audit log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recording {
    /// It does.
    Always,
    /// It does unless it reads: a path that says how the server is or where things are, to every caller, and looks at no token.
    UnlessRead,
}

impl Recording {
    fn includes(self, request: &Request) -> bool {
        self == Self::Always || !matches!(request.method, Method::Get | Method::Head)
    }
}

/// All that is known about one exchange.
pub(crate) struct Trail<'g> {
    /// `None` where nothing is recorded.
    log: Option<&'g dyn AuditLog>,
    request: &'g Request,
    /// The host's name for the exchange, or one of the gateway's own; empty where neither is needed so far.
    id: String,
    /// The path of the route that takes the request.
    route: OnceCell<String>,
    is_asked: bool,
    facts: Facts,
    /// A root token that the answer hides (contract 6.1).
    root_token: Option<ClientToken>,
}

impl<'g> Trail<'g> {
    /// Begins the record of a request, if there is to be one. `log` is where exchanges are recorded; `None` for nowhere.
    ///
    /// # Errors
    ///
    /// When no name can be given to it.
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

    /// The trail of a further part of an answer. Nothing is recorded of it: the records of request and answer stand for all parts.
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

    /// The name of the exchange in the logs, which its answer carries too; `None` where it has none so far.
    pub(crate) fn request_id(&self) -> Option<&str> {
        Some(self.id.as_str()).filter(|id| !id.is_empty())
    }

    /// Says which route takes the request: its path from the root, with `{name}` in place of what callers choose.
    pub(crate) fn takes_route(&self, route: String) {
        // One route takes a request; a second call changes nothing.
        let _ = self.route.set(route);
    }

    /// The route that took the request.
    pub(crate) fn route(&self) -> Option<String> {
        self.route.get().cloned()
    }

    /// Says what is asked.
    pub(crate) fn concerns(&mut self, operation: Operation, path: &str, wrap_ttl: Option<u64>) {
        if self.log.is_some() {
            self.facts.operation = Some(operation_name(operation));
            self.facts.path = Some(path.to_owned());
            self.facts.wrap_ttl = wrap_ttl;
        }
    }

    /// Says that a root token was made for the answer, which does not show it as it is.
    pub(crate) fn hides_root_token(&mut self, root_token: ClientToken) {
        self.root_token = Some(root_token);
    }

    /// The root token that the answer hides.
    pub(crate) const fn root_token(&self) -> Option<&ClientToken> {
        self.root_token.as_ref()
    }

    /// Says whose service token a request brings.
    pub(crate) fn comes_from(&mut self, caller: Option<&TokenView>) {
        if self.log.is_some() {
            self.facts.caller = caller.cloned();
        }
    }

    /// Says whether what is asked is going to be done, for the caller that is known by `accessor`; and records it, if so.
    ///
    /// # Errors
    ///
    /// When that cannot be recorded; nothing may be done then.
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

    /// Says that access lets it pass, and records what is asked.
    ///
    /// # Errors
    ///
    /// When that cannot be recorded; nothing may be done then.
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

    /// Says that access does not let it pass. Who asked is looked up, where the token is valid.
    pub(crate) fn refused(&mut self, token: Option<&str>, access: &(impl Access + ?Sized)) {
        if self.log.is_none() {
            return;
        }
        self.facts.token = token.map(str::to_owned);
        let caller = token.map(|token| access.lookup_token(&TokenReference::Id(token.into())));
        self.facts.caller = caller.and_then(Result::ok);
        self.facts.allowed = Some(false);
    }

    /// Records nothing of this request, which is refused for being one of too many: a flood must not fill the log.
    pub(crate) fn leave_out(&mut self) {
        self.log = None;
    }

    /// Records what is asked, if it has not been recorded.
    ///
    /// # Errors
    ///
    /// When that cannot be recorded; nothing may be done then.
    pub(crate) fn ask(&mut self) -> Result<(), AuditError> {
        self.write_request(None)
    }

    /// Records what is answered, and before that what was asked, where that is not recorded yet.
    ///
    /// # Errors
    ///
    /// When that cannot be recorded; the answer must not leave then.
    pub(crate) fn answer(&mut self, response: &Response) -> Result<(), AuditError> {
        let Some(log) = self.log else {
            return Ok(());
        };
        let mut view = ResponseView::from_response(response);
        let path = self.facts.path.as_deref().unwrap_or_default();
        // The client that wrapped an answer or kept a secret may have chosen the names of its fields.
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
