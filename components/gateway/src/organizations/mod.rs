//! The organizations protocol: JSON:API under `/api/v2/`, and the discovery document that leads there.
//!
//! A request meets the checks of contract 1.5 in their order: route, rate, token, media type, permission, query, body, document,
//! fields. What `access` and `orgs` answer in types becomes status, error object and text here and nowhere else.

mod absent_features;
mod account;
mod actions;
mod administration;
mod agent_pools;
mod attribute_fault;
mod attributes;
mod audit_trail;
mod caller;
mod document;
mod fields;
mod general_settings;
mod include;
mod input;
mod listing;
mod media_type;
mod memberships;
mod pagination;
mod parameters;
mod policy_paths;
mod policy_rights;
mod problem;
mod projects;
mod rate;
mod reach;
mod retention;
mod retention_kind;
mod route;
mod sharing;
mod subscriptions;
mod teams;
#[cfg(test)]
mod tests;
mod timestamp;
mod tokens;
mod transport;
pub mod untrusted;
mod users;

use std::cell::RefCell;

use gatehouse_access_api::Access;
use gatehouse_orgs_api::{self as orgs, Capability};

pub(crate) use listing::Place as ListPlace;
pub(crate) use problem::Problem;

use self::rate::RateLimiter;
use self::route::Route;
use crate::audit::Trail;
use crate::http::Method;
use crate::path::CanonicalPath;
use crate::{Gateway, Part, Request, Response, ResumeError, Settings};

/// Before every path of the API, without slashes at its ends.
const BASE_PATH: &str = "api/v2";
const DISCOVERY_PATH: &str = ".well-known/terraform.json";

/// Where to find what. Clients cut or resolve these paths, so each ends in a slash where the contract has one; the registries
/// are named because clients need the names, and do not exist.
const DISCOVERY: &[u8] = br#"{
  "modules.v1": "/api/registry/v1/modules/",
  "providers.v1": "/api/registry/v1/providers/",
  "motd.v1": "/api/terraform/motd",
  "state.v2": "/api/v2/",
  "tfe.v2": "/api/v2/",
  "tfe.v2.1": "/api/v2/",
  "tfe.v2.2": "/api/v2/"
}
"#;

/// Whether a request target, as it was sent, is a matter of this protocol, also if nothing is there.
pub(crate) fn concerns(raw_path: &str) -> bool {
    raw_path.starts_with("/api/")
}

/// Answers a request of this protocol. The path is decoded and has no leading slash.
pub(crate) fn handle<A, C: Access, O: Capability>(
    gateway: &Gateway<A, C, O>,
    request: &Request,
    path: &CanonicalPath,
) -> Response {
    let trail = match Trail::open(gateway, request) {
        Ok(trail) => RefCell::new(trail),
        Err(error) => {
            let problem = Problem::Internal(error.to_string());
            let response = told(gateway, request, None, &limiter(gateway), &problem);
            return without_body_for_head(request, response);
        }
    };
    let limiter = limiter(gateway);
    let own_id = own_request_id(gateway, trail.borrow().request_id());
    let handed_out = RefCell::new(None);
    let api = Api {
        access: &gateway.access,
        organizations: &gateway.organizations,
        settings: &gateway.settings,
        request,
        trail: &trail,
        request_id: own_id.as_deref().unwrap_or_default(),
        handed_out: &handed_out,
        limiter: &limiter,
    };
    let answer = Route::of(request.method, path).ok_or(Problem::NotFound);
    let answer = answer.and_then(|route| api.answer(route));
    // An answer that was given before a caller was identified tells the rate as well.
    limiter.settle(|| gateway.organizations.read_api_rate().ok());
    let mut trail = trail.borrow_mut();
    let response = match answer {
        Ok(response) => finished(gateway, request, own_id.as_deref(), &limiter, response),
        Err(problem) => told(gateway, request, own_id.as_deref(), &limiter, &problem),
    };
    recorded(gateway, request, &mut trail, &limiter, response).unwrap_or_else(|refusal| {
        if let Some(token) = handed_out.take() {
            take_back(gateway, &token);
        }
        refusal
    })
}

/// Goes on with the answer to a request for the list of organizations.
///
/// # Errors
///
/// When the request is another one, when whoever made it may not read the list any more, or when it cannot be read.
pub(crate) fn resume_list<A, C: Access, O: Capability>(
    gateway: &Gateway<A, C, O>,
    request: &Request,
    place: ListPlace,
) -> Result<Part, ResumeError> {
    let path = CanonicalPath::parse(&request.path).map_err(|_| ResumeError::Foreign)?;
    if Route::of(request.method, &path) != Some(Route::List) {
        return Err(ResumeError::Foreign);
    }
    let api = Api {
        access: &gateway.access,
        organizations: &gateway.organizations,
        settings: &gateway.settings,
        request,
        trail: &RefCell::new(Trail::of_part(request)),
        request_id: "",
        handed_out: &RefCell::new(None),
        limiter: &limiter(gateway),
    };
    api.resume_list(place)
        .map_err(|problem| match problem.for_operator() {
            Some(detail) => {
                gateway.tell_operator(detail);
                ResumeError::Failed
            }
            None => ResumeError::Refused,
        })
}

/// Answers a request of this protocol that is not served.
pub(crate) fn refuse<A, C, O>(
    gateway: &Gateway<A, C, O>,
    request: &Request,
    problem: &Problem,
) -> Response {
    let limiter = limiter(gateway);
    match Trail::open(gateway, request) {
        Ok(mut trail) => {
            let response = told(gateway, request, trail.request_id(), &limiter, problem);
            let recorded = recorded(gateway, request, &mut trail, &limiter, response);
            recorded.unwrap_or_else(|refusal| refusal)
        }
        Err(error) => {
            let problem = Problem::Internal(error.to_string());
            told(gateway, request, None, &limiter, &problem)
        }
    }
}

/// An answer that has been recorded.
///
/// # Errors
///
/// The answer that takes its place where it could not be recorded.
fn recorded<A, C, O>(
    gateway: &Gateway<A, C, O>,
    request: &Request,
    trail: &mut Trail<'_>,
    limiter: &RateLimiter<'_>,
    response: Response,
) -> Result<Response, Response> {
    match trail.answer(&response) {
        Ok(()) => Ok(without_body_for_head(request, response)),
        Err(failure) => {
            let problem = failure.into();
            let response = told(gateway, request, trail.request_id(), limiter, &problem);
            Err(without_body_for_head(request, response))
        }
    }
}

/// A token whose text stands in an answer.
struct HandedOut {
    id: String,
    by: orgs::Caller,
}

/// Ends a token whose answer must not leave, because it could not be recorded: nobody has it. One that it has replaced stays ended, as the
/// record of the request says: it cannot be told whether that was in the wrong hands.
fn take_back<A, C, O: Capability>(gateway: &Gateway<A, C, O>, token: &HandedOut) {
    if let Err(failure) = gateway.organizations.revoke_token(&token.id, &token.by) {
        gateway.tell_operator(&format!(
            "the API token {} stays valid although its answer could not be recorded, revoke it: {failure}",
            token.id
        ));
    }
}

/// What a client and the operator are told about a problem.
fn told<A, C, O>(
    gateway: &Gateway<A, C, O>,
    request: &Request,
    name: Option<&str>,
    limiter: &RateLimiter<'_>,
    problem: &Problem,
) -> Response {
    if let Some(detail) = problem.for_operator() {
        gateway.tell_operator(detail);
    }
    finished(gateway, request, name, limiter, problem.response())
}

/// What the server calls an exchange: as it is recorded, or anew. What the client calls it names nothing in records: it could be the name
/// of another exchange.
fn own_request_id<A, C, O>(gateway: &Gateway<A, C, O>, recorded: Option<&str>) -> Option<String> {
    // An exchange without a name is better than none.
    let id = recorded.map(str::to_owned);
    id.or_else(|| gateway.fresh_uuid().ok())
}

/// An answer with what all of them carry. `name` is what the server calls the exchange already, if it does; the client is told its own
/// name for it where it gave one (contract section 7).
fn finished<A, C, O>(
    gateway: &Gateway<A, C, O>,
    request: &Request,
    name: Option<&str>,
    limiter: &RateLimiter<'_>,
    response: Response,
) -> Response {
    let response = transport::with_metadata(response, gateway.settings.edition);
    let response = limiter.with_headers(response);
    let client = request.client_request_id().map(str::to_owned);
    match client.or_else(|| own_request_id(gateway, name)) {
        Some(id) => response.with_header("x-request-id", id),
        None => response,
    }
}

fn limiter<A, C, O>(gateway: &Gateway<A, C, O>) -> RateLimiter<'_> {
    RateLimiter::new(&*gateway.host.rate_limits, &gateway.settings)
}

fn without_body_for_head(request: &Request, mut response: Response) -> Response {
    if request.method == Method::Head {
        response.body.clear();
        response.rest = None;
    }
    response
}

/// One request, and what it takes to answer it.
struct Api<'a, C, O> {
    access: &'a C,
    organizations: &'a O,
    settings: &'a Settings,
    request: &'a Request,
    /// Shared by the steps of one request, one after the other.
    trail: &'a RefCell<Trail<'a>>,
    /// What the server calls the exchange.
    request_id: &'a str,
    /// The token whose text the answer tells, once there is one.
    handed_out: &'a RefCell<Option<HandedOut>>,
    limiter: &'a RateLimiter<'a>,
}

impl<C: Access, O: Capability> Api<'_, C, O> {
    /// Says that the answer tells the text of a token. It ends again where that answer cannot be recorded (SEC-L1).
    fn hands_out(&self, issued: &orgs::IssuedToken, by: &orgs::Caller) {
        *self.handed_out.borrow_mut() = Some(HandedOut {
            id: issued.token.id.clone(),
            by: by.clone(),
        });
    }

    /// Refuses a body that is not of a type that can be read (contract 1.4).
    ///
    /// # Errors
    ///
    /// As [`media_type::check_media_type`].
    fn check_media_type(&self) -> Result<(), Problem> {
        media_type::check_media_type(self.request, self.settings.strict_media_type)
    }

    fn answer(&self, route: Route<'_>) -> Result<Response, Problem> {
        match route {
            Route::Discovery => Ok(Response::new(200, "application/json", DISCOVERY.to_vec())),
            Route::Ping => Ok(transport::no_content()),
            Route::List => self.list(),
            Route::Create => self.create(),
            Route::Show(name) => self.show(name),
            Route::Update(name) => self.update(name),
            Route::Delete(name) => self.delete(name),
            Route::EntitlementSetOf(name) => self.entitlement_set_of(name),
            Route::EntitlementSet(id) => self.entitlement_set(id),
            Route::Account(route) => self.answer_about_accounts(route),
            Route::AuditTrail(route) => self.answer_about_audit_trails(route),
            Route::Tokens(route) => self.answer_about_tokens(route),
            Route::Users(route) => self.answer_about_users(route),
            Route::AgentPools(route) => self.answer_about_agent_pools(route),
            Route::Subscriptions(route) => self.answer_about_subscriptions(route),
            Route::Projects(route) => self.answer_about_projects(route),
            Route::AbsentFeatures(route) => self.answer_about_absent_features(route),
            Route::Teams(route) => self.answer_about_teams(route),
            Route::Memberships(route) => self.answer_about_memberships(route),
            Route::Administration(route) => self.answer_about_administration(route),
            Route::GeneralSettings(route) => self.answer_about_general_settings(route),
            Route::Retention(route) => self.answer_about_retention(route),
            Route::Sharing(route) => self.answer_about_sharing(route),
        }
    }
}
